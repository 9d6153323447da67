//! The largest of many logits without sorting them.

use std::cmp::Ordering;

/// Logits summarised by one maximum. Small enough that top-k looks at few logits, large enough
/// that the maxima themselves are few.
const BLOCK: usize = 32;
const LANES: usize = 16;

/// A candidate: logit and token.
pub(super) type Candidate = (f32, u32);

/// Best first: larger logit, then lower id. Logits are finite.
pub(super) fn best_first(a: &Candidate, b: &Candidate) -> Ordering {
    b.0.partial_cmp(&a.0)
        .unwrap_or(Ordering::Equal)
        .then(a.1.cmp(&b.1))
}

fn falling(a: &f32, b: &f32) -> Ordering {
    b.partial_cmp(a).unwrap_or(Ordering::Equal)
}

/// Writes the maximum of each block of 32 logits to `maxima`. Returns the largest of all, or the
/// index of the first logit that is not finite.
#[expect(clippy::eq_op, reason = "x − x tells whether x is finite")]
pub(super) fn block_maxima(logits: &[f32], maxima: &mut Vec<f32>) -> Result<f32, usize> {
    maxima.clear();
    maxima.reserve(logits.len().div_ceil(BLOCK));
    // x − x is +0 for finite x and NaN otherwise, so the OR of the bits tells.
    let mut not_finite = [0u32; LANES];
    let mut largest = f32::NEG_INFINITY;
    let mut blocks = logits.chunks_exact(BLOCK);
    for block in &mut blocks {
        let mut lanes = [f32::NEG_INFINITY; LANES];
        for group in block.chunks_exact(LANES) {
            for ((max, bad), &x) in lanes.iter_mut().zip(&mut not_finite).zip(group) {
                *max = if x > *max { x } else { *max };
                *bad |= (x - x).to_bits();
            }
        }
        let mut width = LANES / 2;
        while width > 0 {
            for i in 0..width {
                lanes[i] = if lanes[i + width] > lanes[i] {
                    lanes[i + width]
                } else {
                    lanes[i]
                };
            }
            width /= 2;
        }
        largest = largest.max(lanes[0]);
        maxima.push(lanes[0]);
    }
    let rest = blocks.remainder();
    if !rest.is_empty() {
        let mut max = f32::NEG_INFINITY;
        for &x in rest {
            max = max.max(x);
            not_finite[0] |= (x - x).to_bits();
        }
        largest = largest.max(max);
        maxima.push(max);
    }
    if not_finite.iter().any(|&bits| bits != 0) {
        return Err(logits.iter().position(|x| !x.is_finite()).unwrap_or(0));
    }
    Ok(largest)
}

/// The lowest index whose logit is `max`, given the block maxima.
pub(super) fn first_of(logits: &[f32], maxima: &[f32], max: f32) -> usize {
    let block = maxima.iter().position(|&m| m == max).unwrap_or(0);
    let start = block * BLOCK;
    logits
        .iter()
        .skip(start)
        .position(|&x| x == max)
        .map_or(0, |i| start + i)
}

/// All logits of at least `threshold`, in order of id.
pub(super) fn at_least(logits: &[f32], maxima: &[f32], threshold: f32, out: &mut Vec<Candidate>) {
    out.clear();
    for (index, (block, &max)) in logits.chunks(BLOCK).zip(maxima).enumerate() {
        if max >= threshold {
            let first = (index * BLOCK) as u32;
            for (id, &x) in (first..).zip(block) {
                if x >= threshold {
                    out.push((x, id));
                }
            }
        }
    }
}

/// The `k` best, best first.
///
/// The k-th largest block maximum is a lower bound of the k-th largest logit: only blocks that
/// reach it, about `k` of them, are looked into.
pub(super) fn top_k(
    logits: &[f32],
    maxima: &[f32],
    k: usize,
    out: &mut Vec<Candidate>,
    scratch: &mut Vec<f32>,
) {
    let k = k.min(logits.len());
    if k == 0 {
        out.clear();
        return;
    }
    let threshold = if k < maxima.len() {
        scratch.clear();
        scratch.extend_from_slice(maxima);
        *scratch.select_nth_unstable_by(k - 1, falling).1
    } else {
        f32::NEG_INFINITY
    };
    at_least(logits, maxima, threshold, out);
    if out.len() > k {
        out.select_nth_unstable_by(k - 1, best_first);
        out.truncate(k);
    }
    out.sort_unstable_by(best_first);
}

#[cfg(test)]
mod tests {
    use super::super::philox::uniform;
    use super::*;

    fn logits(n: usize, seed: u64, levels: Option<f64>) -> Vec<f32> {
        (0..n as u64)
            .map(|i| {
                let u = uniform(seed, i);
                match levels {
                    Some(levels) => (u * levels).floor() as f32,
                    None => (u * 40.0 - 20.0) as f32,
                }
            })
            .collect()
    }

    #[test]
    fn equal_to_a_full_sort() {
        let (mut maxima, mut out, mut scratch) = (Vec::new(), Vec::new(), Vec::new());
        for (seed, n) in [1, 2, 31, 32, 33, 64, 100, 1000, 4099]
            .into_iter()
            .enumerate()
        {
            for levels in [None, Some(1.0), Some(5.0)] {
                let row = logits(n, seed as u64, levels);
                let max = block_maxima(&row, &mut maxima).unwrap();
                let mut sorted: Vec<Candidate> = row.iter().copied().zip(0..).collect();
                sorted.sort_by(best_first);
                assert_eq!(max, sorted[0].0);
                assert_eq!(first_of(&row, &maxima, max), sorted[0].1 as usize);
                for k in [1, 2, 3, 40, 130, n, n + 5] {
                    top_k(&row, &maxima, k, &mut out, &mut scratch);
                    assert_eq!(out, sorted[..k.min(n)], "n {n} k {k}");
                }
                let threshold = sorted[n / 2].0;
                at_least(&row, &maxima, threshold, &mut out);
                let want: Vec<Candidate> = row
                    .iter()
                    .copied()
                    .zip(0..)
                    .filter(|c| c.0 >= threshold)
                    .collect();
                assert_eq!(out, want);
            }
        }
    }

    #[test]
    fn not_finite_is_found() {
        let mut maxima = Vec::new();
        for n in [5, 32, 70, 1000] {
            for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
                for at in [0, n / 2, n - 1] {
                    let mut row = logits(n, 3, None);
                    row[at] = bad;
                    assert_eq!(block_maxima(&row, &mut maxima), Err(at));
                }
            }
        }
    }
}
