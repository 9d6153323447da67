//! The recorded programs of a forward state, by their buckets. There are as many buckets as sizes of batches times
//! lengths of sequences, so those that were not used for long make room for others.

use super::inputs::Bucket;
use super::recorded::Recorded;
use std::collections::HashMap;

/// The most programs that are kept. A program of a large model takes about a megabyte, and a session at work
/// comes by a few of each output's.
const MOST: usize = 48;

/// Programs with the turn of their last use.
pub struct Programs<P = Recorded> {
    kept: HashMap<Bucket, (P, u64)>,
    turn: u64,
}

impl<P> Default for Programs<P> {
    fn default() -> Self {
        Programs {
            kept: HashMap::new(),
            turn: 0,
        }
    }
}

impl<P> Programs<P> {
    pub fn get(&self, bucket: Bucket) -> Option<&P> {
        self.kept.get(&bucket).map(|(program, _)| program)
    }

    /// Whether a bucket's program is there; it counts as used now.
    pub fn renew(&mut self, bucket: Bucket) -> bool {
        self.turn += 1;
        let turn = self.turn;
        let found = self.kept.get_mut(&bucket);
        found.map(|(_, used)| *used = turn).is_some()
    }

    /// Keeps a program, in place of the one that was not used for longest if there are too many.
    pub fn insert(&mut self, bucket: Bucket, program: P) {
        if self.kept.len() >= MOST {
            let oldest = self.kept.iter().min_by_key(|(_, (_, used))| *used);
            if let Some(oldest) = oldest.map(|(bucket, _)| *bucket) {
                self.kept.remove(&oldest);
            }
        }
        self.turn += 1;
        self.kept.insert(bucket, (program, self.turn));
    }

    pub fn values(&self) -> impl Iterator<Item = &P> {
        self.kept.values().map(|(program, _)| program)
    }

    pub fn retain(&mut self, keep: impl Fn(&P) -> bool) {
        self.kept.retain(|_, (program, _)| keep(program));
    }

    pub fn clear(&mut self) {
        self.kept.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::super::inputs::Output;
    use super::*;

    #[test]
    fn those_not_used_for_longest_make_room() {
        let bucket = |rows: usize| Bucket {
            rows,
            slots: 1,
            wanted: 1,
            pages: 4,
            tiled: false,
            singles: rows,
            decode: false,
            recurrent: false,
            output: Output::Logits,
            turn: None,
        };
        let mut programs = Programs::default();
        for rows in 0..MOST {
            programs.insert(bucket(rows), rows);
        }
        assert!(programs.renew(bucket(0)) && !programs.renew(bucket(MOST)));
        programs.insert(bucket(MOST), MOST);
        let there = |rows: usize| programs.get(bucket(rows)) == Some(&rows);
        assert!(there(0) && !there(1) && there(2) && there(MOST));
        assert_eq!(programs.values().count(), MOST);
    }
}
