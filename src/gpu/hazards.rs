//! Which recorded node must come after which: from what they read and write.

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};

/// An access by a node to bytes `start..end` of an allocation.
#[derive(Debug, Clone, Copy)]
struct Access {
    start: u64,
    end: u64,
    node: u32,
    write: bool,
}

/// A part of an allocation: the address that names the allocation, and bytes in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Part {
    pub base: u64,
    pub start: u64,
    pub end: u64,
}

/// Finds the nodes that each new node must follow.
#[derive(Default)]
pub(super) struct Hazards {
    accesses: HashMap<u64, Vec<Access>, Addresses>,
    /// The nodes that each node follows, directly or not, as far as they are kept.
    ancestors: Vec<Ancestors>,
    /// Nodes that nothing follows yet.
    ends: Vec<u32>,
    /// The last node that everything later follows.
    barrier: Option<u32>,
    barrier_asked: bool,
}

/// A hash for addresses, which differ in their middle bits.
#[derive(Clone, Copy, Default)]
pub(super) struct Addresses;

impl BuildHasher for Addresses {
    type Hasher = AddressHasher;

    fn build_hasher(&self) -> AddressHasher {
        AddressHasher(0)
    }
}

pub(super) struct AddressHasher(u64);

impl Hasher for AddressHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64((*byte).into()));
    }

    fn write_u64(&mut self, value: u64) {
        // The golden ratio spreads the bits; the table uses the highest and the lowest.
        let spread = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = spread ^ (spread >> 32);
    }
}

/// Words of the ancestors that are kept: edges from nodes further back may be implied by others.
const WORDS: usize = 16;

/// Which of the last nodes before a node it follows: a bit a node, from word `first` on.
#[derive(Clone, Copy)]
struct Ancestors {
    first: usize,
    bits: [u64; WORDS],
}

impl Ancestors {
    fn before(node: usize) -> Self {
        Ancestors {
            first: (node / 64 + 1).saturating_sub(WORDS),
            bits: [0; WORDS],
        }
    }

    fn slot(&mut self, node: u32) -> Option<(&mut u64, u64)> {
        let place = (node as usize / 64).checked_sub(self.first)?;
        Some((self.bits.get_mut(place)?, 1 << (node % 64)))
    }

    /// Adds the ancestors of an ancestor, whose words begin earlier or at the same place.
    fn join(&mut self, other: &Ancestors) {
        let skip = self.first.saturating_sub(other.first);
        let theirs = other.bits.iter().skip(skip);
        self.bits.iter_mut().zip(theirs).for_each(|(a, b)| *a |= b);
    }
}

impl Hazards {
    /// The next node follows all before it, and all after it follow it.
    pub fn barrier(&mut self) {
        self.barrier_asked = true;
    }

    /// Adds a node; returns the nodes that it follows directly, in order. A node that declares nothing
    /// may touch anything: it is a barrier.
    pub fn add(&mut self, reads: &[Part], writes: &[Part]) -> Vec<u32> {
        let node = u32::try_from(self.ancestors.len()).unwrap_or(u32::MAX);
        let all =
            std::mem::take(&mut self.barrier_asked) || (reads.is_empty() && writes.is_empty());
        let mut after: Vec<u32> = self.barrier.into_iter().collect();
        if all {
            after.extend(&self.ends);
            self.accesses.clear();
            self.barrier = Some(node);
        }
        for (parts, write) in [(reads, false), (writes, true)] {
            for part in parts.iter().filter(|part| part.start < part.end) {
                self.access(*part, node, write, &mut after);
            }
        }
        after.sort_unstable_by(|a, b| b.cmp(a));
        after.dedup();
        self.reduce(&mut after);
        self.ends.retain(|end| !after.contains(end));
        self.ends.push(node);
        after.reverse();
        after
    }

    fn access(&mut self, part: Part, node: u32, write: bool, after: &mut Vec<u32>) {
        let accesses = self.accesses.entry(part.base).or_default();
        let overlaps = |old: &Access| old.start < part.end && part.start < old.end;
        after.extend(
            accesses
                .iter()
                .filter(|old| overlaps(old) && (old.write || write) && old.node != node)
                .map(|old| old.node),
        );
        if write {
            // Later nodes that would follow these follow this one, which follows them.
            accesses.retain(|old| old.node == node || old.start < part.start || part.end < old.end);
        }
        accesses.push(Access {
            start: part.start,
            end: part.end,
            node,
            write,
        });
    }

    /// Drops those of `after` (latest first) that another one of them follows.
    fn reduce(&mut self, after: &mut Vec<u32>) {
        let mut own = Ancestors::before(self.ancestors.len());
        after.retain(|node| {
            if let Some((bits, bit)) = own.slot(*node) {
                if *bits & bit != 0 {
                    return false;
                }
                *bits |= bit;
            }
            if let Some(theirs) = self.ancestors.get(*node as usize) {
                own.join(theirs);
            }
            true
        });
        self.ancestors.push(own);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(base: u64, start: u64, end: u64) -> Part {
        Part { base, start, end }
    }

    #[test]
    fn reads_and_writes_order_nodes() {
        let mut hazards = Hazards::default();
        let (a, b) = (part(1, 0, 100), part(2, 0, 100));
        assert_eq!(hazards.add(&[], &[a]), [] as [u32; 0]); // 0 writes a
        assert_eq!(hazards.add(&[], &[b]), [] as [u32; 0]); // 1 writes b
        assert_eq!(hazards.add(&[a], &[]), [0]); // 2 reads a
        assert_eq!(hazards.add(&[a], &[part(3, 0, 1)]), [0]); // 3 reads a
        assert_eq!(hazards.add(&[b], &[a]), [1, 2, 3]); // 4 writes a: after its readers
        assert_eq!(hazards.add(&[a, b], &[]), [4]); // 5: 1 is implied
        assert_eq!(hazards.add(&[part(1, 100, 200)], &[]), [] as [u32; 0]); // 6: beside
    }

    #[test]
    fn parts_that_do_not_meet_are_free() {
        let mut hazards = Hazards::default();
        hazards.add(&[], &[part(1, 0, 64)]);
        assert!(hazards.add(&[], &[part(1, 64, 128)]).is_empty());
        assert_eq!(hazards.add(&[part(1, 60, 70)], &[]), [0, 1]);
        // A write over a part of an old one leaves the rest of it.
        assert_eq!(hazards.add(&[], &[part(1, 0, 32)]), [0]);
        assert_eq!(hazards.add(&[part(1, 32, 40)], &[]), [0]);
        // One node that reads and writes the same does not follow itself.
        assert_eq!(
            hazards.add(&[part(1, 0, 128)], &[part(1, 0, 128)]),
            [2, 3, 4]
        );
    }

    #[test]
    fn a_node_that_declares_nothing_is_a_barrier() {
        let mut hazards = Hazards::default();
        let (a, b) = (part(1, 0, 8), part(2, 0, 8));
        hazards.add(&[], &[a]);
        hazards.add(&[], &[b]);
        assert_eq!(hazards.add(&[], &[]), [0, 1]);
        assert_eq!(hazards.add(&[a], &[]), [2]);
        assert_eq!(hazards.add(&[], &[part(3, 0, 8)]), [2]);
        hazards.barrier();
        assert_eq!(hazards.add(&[b], &[]), [3, 4]);
        assert_eq!(hazards.add(&[b], &[]), [5]);
    }

    #[test]
    fn long_programs_keep_their_chains() {
        let mut hazards = Hazards::default();
        let a = [part(1, 0, 8)];
        for i in 0..5000_u32 {
            let expected: Vec<u32> = i.checked_sub(1).into_iter().collect();
            assert_eq!(hazards.add(&a, &a), expected);
        }
        // From far back: also where others imply it.
        let mut hazards = Hazards::default();
        hazards.add(&[], &[part(2, 0, 8)]);
        (0..4000).for_each(|_| drop(hazards.add(&[part(2, 0, 8)], &a)));
        let after = hazards.add(&[part(2, 0, 8), a[0]], &[]);
        assert!(after.contains(&4000), "{after:?}");
    }

    /// Every pair that conflicts is ordered, by edges or their chains, in random programs.
    #[test]
    fn all_conflicts_are_ordered_and_no_edge_is_implied() {
        let mut state = 1_u64;
        let mut random = move |n: u64| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1);
            (state >> 33) % n
        };
        for _ in 0..200 {
            let mut hazards = Hazards::default();
            let mut nodes: Vec<(Vec<Part>, Vec<Part>)> = Vec::new();
            let mut follows: Vec<Vec<bool>> = Vec::new();
            for i in 0..40_usize {
                let mut parts = |n: u64| -> Vec<Part> {
                    (0..random(n))
                        .map(|_| {
                            let start = random(16);
                            part(random(3), start, start + 1 + random(8))
                        })
                        .collect()
                };
                let (reads, writes) = (parts(3), parts(3));
                let after = hazards.add(&reads, &writes);
                let mut reach = vec![false; i];
                for edge in &after {
                    let edge = *edge as usize;
                    reach[edge] = true;
                    (0..edge).for_each(|k| reach[k] |= follows[edge][k]);
                }
                for edge in &after {
                    let implied = after
                        .iter()
                        .any(|o| *o > *edge && follows[*o as usize][*edge as usize]);
                    assert!(!implied, "edge {edge} -> {i} is implied");
                }
                follows.push(reach);
                let nothing = reads.is_empty() && writes.is_empty();
                let meet = |a: &[Part], b: &[Part]| {
                    a.iter().any(|a| {
                        b.iter()
                            .any(|b| a.base == b.base && a.start < b.end && b.start < a.end)
                    })
                };
                for (k, (r, w)) in nodes.iter().enumerate() {
                    let conflict = nothing
                        || (r.is_empty() && w.is_empty())
                        || meet(&writes, r)
                        || meet(&writes, w)
                        || meet(&reads, w);
                    assert!(!conflict || follows[i][k], "{k} and {i} are not ordered");
                }
                nodes.push((reads, writes));
            }
        }
    }
}
