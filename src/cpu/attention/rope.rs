//! Rotary position embeddings of a batch.

use crate::step::{Rope, Slice};

/// cos and sin of every token of a batch: `[tokens][pairs]`.
#[derive(Debug, Default)]
pub struct RopeTable {
    cos: Vec<f32>,
    sin: Vec<f32>,
    pairs: usize,
    interleaved: bool,
}

impl RopeTable {
    /// Fills the table for the positions of the batch.
    pub fn fill(&mut self, rope: &Rope, slices: &[Slice<'_>]) {
        self.pairs = rope.inv_freq.len();
        self.interleaved = rope.interleaved;
        self.cos.clear();
        self.sin.clear();
        for slice in slices {
            for position in slice.start..slice.start + slice.tokens.len() {
                for &frequency in &rope.inv_freq {
                    // In f64: positions times frequencies lose digits in f32.
                    let (sin, cos) = (position as f64 * f64::from(frequency)).sin_cos();
                    self.cos.push(cos as f32 * rope.magnitude);
                    self.sin.push(sin as f32 * rope.magnitude);
                }
            }
        }
    }

    /// Rotates one head of the batch's token `row` in place.
    pub(super) fn rotate(&self, row: usize, head: &mut [f32]) {
        let n = self.pairs;
        let cos = &self.cos[row * n..][..n];
        let sin = &self.sin[row * n..][..n];
        if self.interleaved {
            for ((pair, c), s) in head[..2 * n].chunks_exact_mut(2).zip(cos).zip(sin) {
                let (a, b) = (pair[0], pair[1]);
                (pair[0], pair[1]) = (a * c - b * s, a * s + b * c);
            }
        } else {
            let (low, high) = head[..2 * n].split_at_mut(n);
            for (((a, b), c), s) in low.iter_mut().zip(high).zip(cos).zip(sin) {
                (*a, *b) = (*a * c - *b * s, *a * s + *b * c);
            }
        }
    }
}
