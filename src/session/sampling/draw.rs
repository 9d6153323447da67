//! The draw: what top-k, top-p and min-p leave, and which of it a random number falls on.

use super::exp::{exp_nonpositive, units, weights};
use super::sampler::{Sampler, Scratch};
use super::select::{Candidate, at_least, best_first, first_of, top_k};
use crate::session::Sampling;
use crate::step::top_p_bits;

/// Most nuclei (top-p) of a language model hold no more tokens than this; sorting them is cheapest.
const SMALL_NUCLEUS: usize = 64;
/// Larger ones are found by a histogram of the distance from the best logit: buckets of one
/// logit / `STEPS`, the last for all the rest.
const STEPS: f32 = 64.0;
const BUCKETS: usize = 2048;

impl Sampler {
    /// Steps 4 to 8. Top-k, top-p and min-p each keep the best of what was there before, so they
    /// only shorten one list. The draw goes through it in the order of the vocabulary, as devices do.
    pub(super) fn draw(&self, logits: &[f32], max: f32, random: u64, scratch: &mut Scratch) -> u32 {
        let Sampling {
            temperature, min_p, ..
        } = self.params;
        let k = self.params.top_k as usize;
        // The share of a mass that the nucleus has.
        let top_p = top_p_bits(self.params.top_p);
        let goal = |top_p: u32, total: u64| {
            (((u128::from(total) * u128::from(top_p)) >> 32) as u64).max(1)
        };
        let Scratch {
            maxima,
            floats,
            candidates,
            sums,
            edge,
            ..
        } = scratch;
        if k > 0 && k < logits.len() {
            top_k(logits, maxima, k, candidates, floats);
            if let Some(top_p) = top_p {
                let total = candidates.iter().map(|c| mass(c, max)).sum();
                if let Some(n) = reach(candidates, max, goal(top_p, total)) {
                    candidates.truncate(n);
                }
            }
        } else if let Some(top_p) = top_p {
            weights(logits, max, 1.0, floats);
            let goal = goal(top_p, floats.iter().map(|&w| units(w)).sum());
            top_k(logits, maxima, SMALL_NUCLEUS, candidates, floats);
            match reach(candidates, max, goal) {
                Some(n) => candidates.truncate(n),
                None => large_nucleus(logits, max, goal, candidates, floats, sums, edge),
            }
        } else if min_p > 0.0 {
            at_least(logits, maxima, max + min_p.ln(), candidates);
        } else {
            weights(logits, max, temperature, floats);
            return pick(floats, random, sums) as u32;
        }
        if min_p > 0.0 {
            let threshold = max + min_p.ln();
            candidates.retain(|c| c.0 >= threshold);
        }
        candidates.sort_unstable_by_key(|c| c.1);
        floats.clear();
        floats.extend(
            candidates
                .iter()
                .map(|c| exp_nonpositive((c.0 - max) / temperature)),
        );
        // Rounding may leave nothing of a min-p of almost 1: then the best.
        let chosen = candidates.get(pick(floats, random, sums)).map(|c| c.1);
        chosen.unwrap_or_else(|| first_of(logits, maxima, max) as u32)
    }
}

fn mass(candidate: &Candidate, max: f32) -> u64 {
    units(exp_nonpositive(candidate.0 - max))
}

/// How many candidates from the front have the mass `goal` together.
fn reach(candidates: &[Candidate], max: f32, goal: u64) -> Option<usize> {
    let mut sum = 0;
    for (i, candidate) in candidates.iter().enumerate() {
        sum += mass(candidate, max);
        if sum >= goal {
            return Some(i + 1);
        }
    }
    None
}

/// The fewest largest logits that have the mass `goal` together, in order of id, when they are many.
///
/// The masses of the buckets tell in which bucket the edge lies: all before it are in, and only the
/// edge itself is sorted.
fn large_nucleus(
    logits: &[f32],
    max: f32,
    goal: u64,
    out: &mut Vec<Candidate>,
    floats: &mut Vec<f32>,
    masses: &mut Vec<u64>,
    edge: &mut Vec<Candidate>,
) {
    // A cast of a float to an integer saturates.
    let bucket = |l: f32| (((max - l) * STEPS) as usize).min(BUCKETS - 1);
    masses.clear();
    masses.resize(BUCKETS, 0);
    weights(logits, max, 1.0, floats);
    for (&l, &mass) in logits.iter().zip(floats.iter()) {
        if let Some(sum) = masses.get_mut(bucket(l)) {
            *sum += units(mass);
        }
    }
    let mut before = 0;
    let mut last = BUCKETS - 1;
    for (i, &m) in masses.iter().enumerate() {
        if before + m >= goal {
            last = i;
            break;
        }
        before += m;
    }
    let all = || (0..).zip(logits).map(|(id, &l)| (l, id));
    edge.clear();
    edge.extend(all().filter(|c| bucket(c.0) == last));
    edge.sort_unstable_by(best_first);
    let n = reach(edge, max, goal - before).unwrap_or(edge.len());
    let worst = edge.get(n.saturating_sub(1)).copied();
    let is_in = |c: &Candidate| match bucket(c.0) {
        at if at == last => worst.is_some_and(|worst| best_first(c, &worst).is_le()),
        at => at < last,
    };
    out.clear();
    out.extend(all().filter(is_in));
}

/// The index that `random`, of 2^64, falls on when every index is as wide as its weight. `sums` is used.
fn pick(weights: &[f32], random: u64, sums: &mut Vec<u64>) -> usize {
    const BLOCK: usize = 256;
    let sum = |block: &[f32]| block.iter().map(|&w| units(w)).sum::<u64>();
    sums.clear();
    sums.extend(weights.chunks(BLOCK).map(sum));
    let total: u64 = sums.iter().sum();
    let mut left = ((u128::from(random) * u128::from(total)) >> 64) as u64;
    for ((index, block), width) in weights.chunks(BLOCK).enumerate().zip(sums) {
        if left >= *width {
            left -= *width;
            continue;
        }
        for (i, &w) in block.iter().enumerate() {
            let width = units(w);
            if left < width {
                return index * BLOCK + i;
            }
            left -= width;
        }
    }
    // Nothing has a weight.
    0
}
