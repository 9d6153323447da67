//! Philox4x32-10: a counter-based random generator.
//!
//! Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). Ten rounds
//! of two 32×32→64 bit products; any number of the stream is computed from its counter alone.

const MULTIPLIER: [u32; 2] = [0xD251_1F53, 0xCD9E_8D57];
const WEYL: [u32; 2] = [0x9E37_79B9, 0xBB67_AE85];

/// The four words of `counter` under `key`.
pub fn philox4x32(counter: [u32; 4], key: [u32; 2]) -> [u32; 4] {
    let [mut c0, mut c1, mut c2, mut c3] = counter;
    let [mut k0, mut k1] = key;
    for _ in 0..10 {
        let a = u64::from(MULTIPLIER[0]) * u64::from(c0);
        let b = u64::from(MULTIPLIER[1]) * u64::from(c2);
        (c0, c1, c2, c3) = (
            (b >> 32) as u32 ^ c1 ^ k0,
            b as u32,
            (a >> 32) as u32 ^ c3 ^ k1,
            a as u32,
        );
        k0 = k0.wrapping_add(WEYL[0]);
        k1 = k1.wrapping_add(WEYL[1]);
    }
    [c0, c1, c2, c3]
}

/// 53 random bits, the high ones of 64, for token `position` of the generation with `seed`.
pub fn random_bits(seed: u64, position: u64) -> u64 {
    let words = philox4x32(
        [position as u32, (position >> 32) as u32, 0, 0],
        [seed as u32, (seed >> 32) as u32],
    );
    (u64::from(words[0]) << 32 | u64::from(words[1])) >> 11 << 11
}

/// The same as a number in `[0, 1)`.
#[cfg(test)]
pub fn uniform(seed: u64, position: u64) -> f64 {
    (random_bits(seed, position) >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The known answers that the authors publish with Random123.
    #[test]
    fn known_answers() {
        assert_eq!(
            philox4x32([0; 4], [0; 2]),
            [0x6627_e8d5, 0xe169_c58d, 0xbc57_ac4c, 0x9b00_dbd8]
        );
        assert_eq!(
            philox4x32([u32::MAX; 4], [u32::MAX; 2]),
            [0x408f_276d, 0x41c8_3b0e, 0xa20b_c7c6, 0x6d54_51fd]
        );
        assert_eq!(
            philox4x32(
                [0x243f_6a88, 0x85a3_08d3, 0x1319_8a2e, 0x0370_7344],
                [0xa409_3822, 0x299f_31d0]
            ),
            [0xd16c_fe09, 0x94fd_cceb, 0x5001_e420, 0x2412_6ea1]
        );
    }

    #[test]
    fn uniform_is_uniform() {
        let n = 20_000;
        let mut bins = [0usize; 10];
        let mut sum = 0.0;
        for i in 0..n {
            let u = uniform(7, i);
            assert!((0.0..1.0).contains(&u));
            bins[(u * 10.0) as usize] += 1;
            sum += u;
        }
        assert!((sum / n as f64 - 0.5).abs() < 0.01);
        // Standard deviation of a bin is 42.
        assert!(
            bins.iter().all(|&b| (1790..2210).contains(&b)),
            "bins {bins:?}"
        );
        assert_ne!(uniform(7, 0), uniform(8, 0));
        assert_ne!(uniform(7, 0), uniform(7 | 1 << 40, 0));
        assert_ne!(uniform(7, 0), uniform(7, 1 << 40));
    }
}
