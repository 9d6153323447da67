//! Which global memory a launch touched, as address ranges.

// Kinds of touches; the parts are accesses of less than a dword, which neighbours may share.
/// Reads of whole dwords.
pub const READ: usize = 0;
/// Writes of whole dwords.
pub const WRITE: usize = 1;
/// Reads of a part of a dword.
pub const PART_READ: usize = 2;
/// Writes of a part of a dword.
pub const PART_WRITE: usize = 3;

/// Address ranges by kind of touch; each list is sorted and its ranges do not meet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Footprint {
    ranges: [Vec<(u64, u64)>; 4],
}

impl Footprint {
    /// Adds `[start, end)`; the starts of a kind must come in ascending order.
    pub fn add(&mut self, kind: usize, start: u64, end: u64) {
        let Some(list) = self.ranges.get_mut(kind) else {
            return;
        };
        match list.last_mut() {
            Some(last) if last.1 >= start => last.1 = last.1.max(end),
            _ => list.push((start, end)),
        }
    }

    /// The ranges that were written.
    pub fn written(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.ranges[WRITE]
            .iter()
            .chain(&self.ranges[PART_WRITE])
            .copied()
    }

    /// Whether nothing was touched.
    pub fn is_empty(&self) -> bool {
        self.ranges.iter().all(Vec::is_empty)
    }

    /// Keeps the ranges whose start `keep` accepts.
    pub fn retain(&mut self, mut keep: impl FnMut(u64) -> bool) {
        for list in &mut self.ranges {
            list.retain(|range| keep(range.0));
        }
    }

    /// An address that both touch and at least one of them writes; and whether both write it.
    /// Two parts of one dword do not meet: they may be neighbours.
    pub fn conflict(&self, other: &Footprint) -> Option<(u64, bool)> {
        let pairs = [
            (WRITE, WRITE),
            (WRITE, PART_WRITE),
            (PART_WRITE, WRITE),
            (WRITE, READ),
            (WRITE, PART_READ),
            (PART_WRITE, READ),
            (READ, WRITE),
            (PART_READ, WRITE),
            (READ, PART_WRITE),
        ];
        pairs.iter().find_map(|(mine, theirs)| {
            let address = meet(self.ranges.get(*mine)?, other.ranges.get(*theirs)?)?;
            let reads = |kind: &usize| matches!(*kind, READ | PART_READ);
            Some((address, !reads(mine) && !reads(theirs)))
        })
    }
}

/// The first address that two sorted lists of ranges share.
fn meet(one: &[(u64, u64)], two: &[(u64, u64)]) -> Option<u64> {
    let (mut one, mut two) = (one.iter().peekable(), two.iter().peekable());
    while let (Some(a), Some(b)) = (one.peek(), two.peek()) {
        if a.0 < b.1 && b.0 < a.1 {
            return Some(a.0.max(b.0));
        }
        if a.1 <= b.1 {
            one.next();
        } else {
            two.next();
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_join_and_conflicts_need_a_write() {
        let mut a = Footprint::default();
        a.add(READ, 0, 4);
        a.add(READ, 4, 8);
        a.add(READ, 12, 16);
        let mut b = Footprint::default();
        b.add(READ, 0, 100);
        assert_eq!(a.conflict(&b), None);
        b.add(WRITE, 8, 12);
        assert_eq!(a.conflict(&b), None);
        b.add(WRITE, 12, 13);
        assert_eq!(a.conflict(&b), Some((12, false)));
        assert_eq!(b.conflict(&a), Some((12, false)));
        let mut c = Footprint::default();
        c.add(PART_WRITE, 4, 8);
        let mut d = Footprint::default();
        d.add(PART_WRITE, 4, 8);
        d.add(PART_READ, 4, 8);
        assert_eq!(c.conflict(&d), None);
        d.add(WRITE, 0, 8);
        assert_eq!(c.conflict(&d), Some((4, true)));
        a.retain(|start| start < 12);
        assert_eq!(a.ranges[READ], [(0, 8)]);
    }
}
