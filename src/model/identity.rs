//! What a model is known by: a hash of its weights and of the numbers that its forward pass is made of. It tells
//! models apart that were mixed up; it is no protection against somebody who makes another model with the same hash.

use super::Config;
use super::bind::Bound;
use crate::Result;
use crate::formats::{Bytes, Weight};
use crate::step::Schedule;
use parking_lot::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A model's hash.
pub type Identity = [u8; 16];

/// What a model's hash is made of: only who saves or loads states needs it, and all weights are read for it.
/// Internally locked: any thread.
pub struct Hashed {
    /// Of all but the weights.
    head: Hash,
    /// In the files, which stay mapped.
    weights: Vec<Weight>,
    known: Mutex<Option<Identity>>,
}

impl Hashed {
    /// Of a model that is being loaded.
    pub fn new(config: &Config, schedule: &Schedule, bound: &Bound) -> Hashed {
        let mut head = Hash::default();
        // What results depend on besides weights, vectors and token ids.
        let numbers = (config.layers, config.heads, config.norm_eps.to_bits());
        let text = format!(
            "{} {numbers:?} {:?} {:?} {:?}",
            config.family.name, schedule.states, schedule.recurrent, schedule.ropes
        );
        head.add(text.as_bytes());
        for vector in &bound.vectors {
            head.add(bytemuck::cast_slice(vector));
        }
        Hashed {
            head,
            weights: bound.matrices.clone(),
            known: Mutex::new(None),
        }
    }

    /// The hash. The first call reads all weights once, on so many threads (0: one per CPU).
    ///
    /// # Errors
    /// `InvalidFile` if a file was cut since it was mapped.
    pub fn identity(&self, threads: usize) -> Result<Identity> {
        let mut known = self.known.lock();
        if let Some(identity) = *known {
            return Ok(identity);
        }
        for part in self.weights.iter().flat_map(parts) {
            part.check()?;
        }
        let mut all = self.head;
        for hash in of_weights(&self.weights, threads) {
            all.add(&hash);
        }
        Ok(*known.insert(all.end()))
    }
}

/// Where a weight lies.
fn parts(weight: &Weight) -> impl Iterator<Item = &Bytes> {
    let weights = [Some(weight), weight.more.as_deref()];
    let parts = weights.into_iter().flatten().flat_map(|weight| {
        [
            Some(&weight.data),
            weight.scales.as_ref(),
            weight.biases.as_ref(),
        ]
    });
    parts.flatten()
}

/// The hash of each weight.
fn of_weights(weights: &[Weight], threads: usize) -> Vec<Identity> {
    let threads = match threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let (next, hashes) = (
        AtomicUsize::new(0),
        Mutex::new(vec![[0; 16]; weights.len()]),
    );
    let work = || {
        while let Some((place, weight)) = {
            let place = next.fetch_add(1, Ordering::Relaxed);
            weights.get(place).map(|weight| (place, weight))
        } {
            let hash = of_weight(weight);
            hashes.lock()[place] = hash;
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.min(weights.len()) {
            scope.spawn(work);
        }
        work();
    });
    hashes.into_inner()
}

fn of_weight(weight: &Weight) -> Identity {
    let mut hash = Hash::default();
    let form = format!(
        "{} {} {} {}",
        weight.format, weight.stack, weight.rows, weight.cols
    );
    hash.add(form.as_bytes());
    if weight.turns != 1 {
        let turn = format!("{} of {} of {}", weight.turn, weight.turns, weight.run);
        hash.add(turn.as_bytes());
    }
    for part in parts(weight) {
        hash.add(part);
        part.release();
    }
    hash.end()
}

/// Four lanes, each multiplied with what comes; as fast as memory is read.
#[derive(Clone, Copy)]
struct Hash([u64; 4]);

const FACTORS: [u64; 4] = [
    0x9e37_79b9_7f4a_7c15,
    0xbf58_476d_1ce4_e5b9,
    0x94d0_49bb_1331_11eb,
    0xd6e8_feb8_6659_fd93,
];

impl Default for Hash {
    fn default() -> Self {
        Hash(FACTORS)
    }
}

/// Both halves of the product.
fn folded(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

impl Hash {
    fn mix(&mut self, words: [u64; 4]) {
        for ((lane, word), factor) in self.0.iter_mut().zip(words).zip(FACTORS) {
            // The second term keeps what came before where the product is 0.
            *lane = folded(*lane ^ word, factor).wrapping_add(lane.rotate_left(29));
        }
    }

    /// Adds bytes and their number.
    fn add(&mut self, bytes: &[u8]) {
        let (blocks, rest) = bytes.as_chunks::<32>();
        for block in blocks {
            self.mix(words(block));
        }
        let mut last = [0; 32];
        last[..rest.len()].copy_from_slice(rest);
        self.mix(words(&last));
        self.mix([bytes.len() as u64; 4]);
    }

    fn end(mut self) -> Identity {
        for _ in 0..4 {
            let [a, b, c, d] = self.0;
            self.mix([b, c, d, a]);
        }
        let [a, b, c, d] = self.0;
        let both = u128::from(a ^ c) | u128::from(b ^ d) << 64;
        both.to_le_bytes()
    }
}

fn words(block: &[u8; 32]) -> [u64; 4] {
    let (words, _) = block.as_chunks::<8>();
    [0, 1, 2, 3].map(|i| u64::from_le_bytes(words[i]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_bit_and_length_counts() {
        let of = |parts: &[&[u8]]| {
            let mut hash = Hash::default();
            parts.iter().for_each(|part| hash.add(part));
            hash.end()
        };
        let mut seen = HashSet::new();
        for length in 0..100 {
            let zeros = vec![0u8; length];
            assert!(seen.insert(of(&[&zeros])), "{length} zeros");
            for bit in 0..length * 8 {
                let mut one = zeros.clone();
                one[bit / 8] |= 1 << (bit % 8);
                assert!(seen.insert(of(&[&one])), "bit {bit} of {length} bytes");
            }
        }
        assert_ne!(of(&[b"ab", b"c"]), of(&[b"a", b"bc"]));
        assert_eq!(of(&[b"ab"]), of(&[b"ab"]));
    }
}
