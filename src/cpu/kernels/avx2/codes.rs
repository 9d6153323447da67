//! Packed codes to 16-bit pairs, in registers.

use std::arch::x86_64::*;

/// Repeats a body for the 16 pairs of a block with a literal index, so that shifts are immediates.
macro_rules! for_pairs {
    ($from:expr, $to:expr, $j:ident, $body:block) => {
        for_pairs!(@ $from, $to, $j, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $from:expr, $to:expr, $j:ident, $body:block, $($n:literal)*) => {
        $({ const $j: usize = $n; if ($from..$to).contains(&$j) $body })*
    };
}

pub(in crate::cpu::kernels) use for_pairs;

/// Logical shift right of 32-bit lanes; a constant count becomes an immediate.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub fn shift<const N: i32>(v: __m256i) -> __m256i {
    if N == 0 { v } else { _mm256_srli_epi32::<N>(v) }
}

/// Pair `J` of one plane for 8 lanes; `plane` points at lane 0 of these 8 lanes in vector 0.
macro_rules! plane_pair {
    ($bits:literal, $plane:expr, $j:expr) => {{
        const PAIRS: usize = 16 / $bits;
        const MASK: i32 = ((1 << $bits) - 1) * 0x0001_0001;
        let vector = _mm256_loadu_si256($plane.add($j / PAIRS * 64).cast());
        _mm256_and_si256(
            shift::<{ ($bits * ($j % PAIRS)) as i32 }>(vector),
            _mm256_set1_epi32(MASK),
        )
    }};
}

/// The 16-bit pairs `J` of 8 lanes of a block.
macro_rules! code_pair {
    ($bits:expr, $block:expr, $j:expr) => {
        match $bits {
            2 => plane_pair!(2, $block, $j),
            3 => _mm256_or_si256(
                plane_pair!(2, $block, $j),
                _mm256_slli_epi32::<2>(plane_pair!(1, $block.add(128), $j)),
            ),
            4 => plane_pair!(4, $block, $j),
            5 => _mm256_or_si256(
                plane_pair!(4, $block, $j),
                _mm256_slli_epi32::<4>(plane_pair!(1, $block.add(256), $j)),
            ),
            6 => _mm256_or_si256(
                plane_pair!(4, $block, $j),
                _mm256_slli_epi32::<4>(plane_pair!(2, $block.add(256), $j)),
            ),
            _ => plane_pair!(8, $block, $j),
        }
    };
}
