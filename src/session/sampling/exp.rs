//! Exponentials and their sums over a whole vocabulary, written so that the compiler vectorises
//! them: the C library's `expf` would take longer than everything else in sampling together.

/// Below this the result counts as zero (e^-87 ≈ 1.6e-38, the smallest normal number).
const SMALLEST: f32 = -87.0;
/// Adding 1.5·2^23 rounds to an integer and leaves it in the low bits of the mantissa.
const MAGIC: f32 = 12_582_912.0;
/// Independent sums: as many as vector registers hold without a dependency between them.
const LANES: usize = 16;

/// e^x for x ≤ 0 within 3e-7 of the value, 0 below −87.
///
/// `x = n·ln2 + r` with `|r| ≤ ln2/2`; `e^r` by its Taylor series to the seventh power (remainder
/// 6e-9), `2^n` by the exponent bits.
#[inline(always)]
pub(super) fn exp_nonpositive(x: f32) -> f32 {
    // ln 2 in two parts: n·LN2_HIGH is exact.
    const LN2_HIGH: f32 = 0.693_359_4;
    const LN2_LOW: f32 = -2.121_944_4e-4;
    let clamped = if x > SMALLEST { x } else { SMALLEST };
    let shifted = clamped * std::f32::consts::LOG2_E + MAGIC;
    let n = shifted - MAGIC;
    let r = clamped - n * LN2_HIGH - n * LN2_LOW;
    let mut e = 1.0 / 5040.0;
    for c in [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ] {
        e = e * r + c;
    }
    let exponent = shifted.to_bits().wrapping_sub(MAGIC.to_bits());
    let power = f32::from_bits(exponent.wrapping_add(127) << 23);
    if x >= SMALLEST { e * power } else { 0.0 }
}

/// A weight of at most 1 in units of 2^-40. Sums of these do not depend on their order, so that devices
/// can come to the same ones.
#[inline(always)]
pub(super) fn units(weight: f32) -> u64 {
    (weight * (1u64 << 40) as f32) as u64
}

/// Σ e^((l − max) / temperature), for `max` the largest of `logits`.
pub(super) fn sum_exp(logits: &[f32], max: f32, temperature: f32) -> f64 {
    let mut total = 0.0f64;
    // Short f32 sums, added in f64: the error stays at the level of one exponential.
    for block in logits.chunks(1024) {
        let mut lanes = [0.0f32; LANES];
        let mut groups = block.chunks_exact(LANES);
        for group in &mut groups {
            for (sum, &l) in lanes.iter_mut().zip(group) {
                *sum += exp_nonpositive((l - max) / temperature);
            }
        }
        for (sum, &l) in lanes.iter_mut().zip(groups.remainder()) {
            *sum += exp_nonpositive((l - max) / temperature);
        }
        total += lanes.iter().map(|&s| f64::from(s)).sum::<f64>();
    }
    total
}

/// The weights e^((l − max) / temperature), one for each logit, into `weights`.
pub(super) fn weights(logits: &[f32], max: f32, temperature: f32, weights: &mut Vec<f32>) {
    weights.clear();
    weights.extend(
        logits
            .iter()
            .map(|&l| exp_nonpositive((l - max) / temperature)),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exp_matches_f64() {
        for i in 0..=870_000 {
            let x = -(i as f32) * 1e-4;
            let want = f64::from(x).exp();
            let error = (f64::from(exp_nonpositive(x)) - want).abs() / want;
            assert!(error < 3e-7, "e^{x}: relative error {error:e}");
        }
        assert_eq!(exp_nonpositive(0.0), 1.0);
        assert_eq!(exp_nonpositive(-88.0), 0.0);
        assert_eq!(exp_nonpositive(f32::NEG_INFINITY), 0.0);
        assert_eq!(exp_nonpositive(f32::MIN), 0.0);
    }

    #[test]
    fn sums_match_f64() {
        for n in [1, 15, 16, 17, 1023, 1025, 49_152] {
            let logits: Vec<f32> = (0..n)
                .map(|i| ((i * 7919) % 1000) as f32 * 0.02 - 9.0)
                .collect();
            let max = logits.iter().copied().fold(f32::MIN, f32::max);
            for t in [1.0f32, 0.3, 2.0] {
                let want: f64 = logits
                    .iter()
                    .map(|&l| ((f64::from(l) - f64::from(max)) / f64::from(t)).exp())
                    .sum();
                let got = sum_exp(&logits, max, t);
                assert!((got - want).abs() / want < 2e-6, "{n} at {t}: {got} {want}");
                let mut w = Vec::new();
                weights(&logits, max, t, &mut w);
                let sum: f64 = w.iter().map(|&w| f64::from(w)).sum();
                assert!((sum - want).abs() / want < 2e-6);
            }
        }
    }
}
