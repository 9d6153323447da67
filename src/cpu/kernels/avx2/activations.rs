//! Activations to 16-bit integers.

use crate::cpu::activations::{BlockMeta, RowTarget};
use crate::cpu::packed::BLOCK;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,fma,f16c")]
pub fn quantize_row(x: &[f32], mut out: RowTarget<'_>) {
    let (chunks, rest) = x.as_chunks::<BLOCK>();
    assert!(rest.is_empty(), "activation rows are whole blocks");
    for (b, block) in chunks.iter().enumerate() {
        // SAFETY: `block` holds 32 floats.
        unsafe {
            let v: [__m256; 4] =
                std::array::from_fn(|i| _mm256_loadu_ps(block.as_ptr().add(8 * i)));
            let sign = _mm256_set1_ps(-0.0);
            let abs = v.map(|v| _mm256_andnot_ps(sign, v));
            let max = _mm256_max_ps(_mm256_max_ps(abs[0], abs[1]), _mm256_max_ps(abs[2], abs[3]));
            let max = horizontal_max(max);
            let zero = _mm256_setzero_ps();
            let poison = v.iter().fold(zero, |a, &v| _mm256_fmadd_ps(v, zero, a));
            let poison = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(poison, poison));
            let inverse = _mm256_set1_ps(if max > 0.0 { 32767.0 / max } else { 0.0 });
            let q = v.map(|v| _mm256_cvtps_epi32(_mm256_mul_ps(v, inverse)));
            let low = horizontal_sum(_mm256_add_epi32(q[0], q[1]));
            let high = horizontal_sum(_mm256_add_epi32(q[2], q[3]));
            let mut pairs = [0u32; BLOCK / 2];
            for h in 0..2 {
                let packed = _mm256_packs_epi32(q[2 * h], q[2 * h + 1]);
                let ordered = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
                _mm256_storeu_si256(pairs.as_mut_ptr().add(8 * h).cast(), ordered);
            }
            let scale = if poison != 0 { f32::NAN } else { max / 32767.0 };
            out.put(b, &pairs, BlockMeta::new(scale, low, high));
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn horizontal_sum(v: __m256i) -> i32 {
    let v = _mm_add_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256::<1>(v));
    let v = _mm_add_epi32(v, _mm_shuffle_epi32::<0b01_00_11_10>(v));
    _mm_cvtsi128_si32(_mm_add_epi32(v, _mm_shuffle_epi32::<0b00_00_00_01>(v)))
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn horizontal_max(v: __m256) -> f32 {
    let v = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
    let v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    _mm_cvtss_f32(_mm_max_ss(v, _mm_shuffle_ps::<1>(v, v)))
}
