//! Activations to 16-bit integers.

use crate::cpu::activations::{BlockMeta, Bytes, FourRowsTarget, LARGEST, RowTarget, SPAN};
use crate::cpu::packed::BLOCK;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,fma,f16c")]
pub fn quantize_row(x: &[f32], mut out: RowTarget<'_>) {
    let (blocks, rest) = x.as_chunks::<BLOCK>();
    assert!(rest.is_empty(), "activation rows are whole blocks");
    for (s, span) in blocks.chunks(SPAN).enumerate() {
        let (inverse, scale) = scale_of(span);
        for (b, block) in span.iter().enumerate() {
            let (ints, [low, high]) = block_ints(block, inverse);
            let mut pairs = [0u32; BLOCK / 2];
            for (h, &ints) in ints.iter().enumerate() {
                // SAFETY: room for 8 pairs of 16.
                unsafe { _mm256_storeu_si256(pairs.as_mut_ptr().add(8 * h).cast(), ints) };
            }
            let block = s * SPAN + b;
            if let Some(to) = out.bytes(block) {
                put_bytes(ints, to);
            }
            let meta = BlockMeta::new(scale, horizontal_sum(low), horizontal_sum(high));
            out.put(block, &pairs, meta);
        }
    }
}

/// Rows side by side: a panel's places are written 16 bytes at a time.
#[target_feature(enable = "avx2,fma,f16c")]
pub fn quantize_four(x: [&[f32]; 4], mut out: FourRowsTarget<'_>) {
    let blocks = x.map(|x| {
        let (blocks, rest) = x.as_chunks::<BLOCK>();
        assert!(rest.is_empty(), "activation rows are whole blocks");
        blocks
    });
    let count = blocks[0].len();
    assert!(blocks.iter().all(|b| b.len() == count), "rows of one width");
    for first in (0..count).step_by(SPAN) {
        let span = first..(first + SPAN).min(count);
        let mut scales = [(_mm256_setzero_ps(), 0.0); 4];
        for (scale, blocks) in scales.iter_mut().zip(&blocks) {
            *scale = scale_of(&blocks[span.clone()]);
        }
        for b in span {
            let mut ints = [[_mm256_setzero_si256(); 2]; 4];
            let mut sums = ints;
            for r in 0..4 {
                (ints[r], sums[r]) = block_ints(&blocks[r][b], scales[r].0);
            }
            // Written out: `map` with closures is not always inlined here.
            let halves = [
                [ints[0][0], ints[1][0], ints[2][0], ints[3][0]],
                [ints[0][1], ints[1][1], ints[2][1], ints[3][1]],
            ];
            let mut pairs = [[0u32; 4]; BLOCK / 2];
            for (h, &rows) in halves.iter().enumerate() {
                let to = pairs[8 * h..][..8].as_mut_ptr();
                for (i, two) in interleave(rows).into_iter().enumerate() {
                    // SAFETY: two pairs of four rows each, of eight.
                    unsafe { _mm256_storeu_si256(to.add(2 * i).cast(), two) };
                }
            }
            let low = horizontal_sums([sums[0][0], sums[1][0], sums[2][0], sums[3][0]]);
            let high = horizontal_sums([sums[0][1], sums[1][1], sums[2][1], sums[3][1]]);
            let meta = |r: usize| BlockMeta::new(scales[r].1, low[r], high[r]);
            out.put(b, &pairs, [meta(0), meta(1), meta(2), meta(3)]);
        }
    }
}

/// What to multiply a span's numbers with to get ints, and what the ints with to get numbers.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn scale_of(span: &[[f32; BLOCK]]) -> (__m256, f32) {
    let (sign, zero) = (_mm256_set1_ps(-0.0), _mm256_setzero_ps());
    let (mut max, mut poison) = ([zero; 4], [zero; 4]);
    for block in span {
        let v = load(block);
        for i in 0..4 {
            max[i] = _mm256_max_ps(_mm256_andnot_ps(sign, v[i]), max[i]);
            poison[i] = _mm256_fmadd_ps(v[i], zero, poison[i]);
        }
    }
    let max = _mm256_max_ps(_mm256_max_ps(max[0], max[1]), _mm256_max_ps(max[2], max[3]));
    let max = horizontal_max(max);
    let poison = _mm256_add_ps(
        _mm256_add_ps(poison[0], poison[1]),
        _mm256_add_ps(poison[2], poison[3]),
    );
    let poison = _mm256_movemask_ps(_mm256_cmp_ps::<_CMP_UNORD_Q>(poison, poison));
    let inverse = if max > 0.0 { LARGEST / max } else { 0.0 };
    let scale = if poison != 0 { f32::NAN } else { max / LARGEST };
    (_mm256_set1_ps(inverse), scale)
}

/// The ints of a block in their order, and eight parts of the sum of each half.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn block_ints(block: &[f32; BLOCK], inverse: __m256) -> ([__m256i; 2], [__m256i; 2]) {
    let mut q = [_mm256_setzero_si256(); 4];
    for (q, v) in q.iter_mut().zip(load(block)) {
        *q = _mm256_cvtps_epi32(_mm256_mul_ps(v, inverse));
    }
    let mut ints = [_mm256_setzero_si256(); 2];
    for (h, ints) in ints.iter_mut().enumerate() {
        let packed = _mm256_packs_epi32(q[2 * h], q[2 * h + 1]);
        *ints = _mm256_permute4x64_epi64::<0b11_01_10_00>(packed);
    }
    let sums = [_mm256_add_epi32(q[0], q[1]), _mm256_add_epi32(q[2], q[3])];
    (ints, sums)
}

/// Lane `i` of four rows side by side, for `i` in order, two a vector.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn interleave(rows: [__m256i; 4]) -> [__m256i; 4] {
    let [a, b, c, d] = rows;
    let (ab, ab_high) = (_mm256_unpacklo_epi32(a, b), _mm256_unpackhi_epi32(a, b));
    let (cd, cd_high) = (_mm256_unpacklo_epi32(c, d), _mm256_unpackhi_epi32(c, d));
    // Lanes 0 and 4, 1 and 5, 2 and 6, 3 and 7.
    let lanes = [
        _mm256_unpacklo_epi64(ab, cd),
        _mm256_unpackhi_epi64(ab, cd),
        _mm256_unpacklo_epi64(ab_high, cd_high),
        _mm256_unpackhi_epi64(ab_high, cd_high),
    ];
    [
        _mm256_permute2x128_si256::<0x20>(lanes[0], lanes[1]),
        _mm256_permute2x128_si256::<0x20>(lanes[2], lanes[3]),
        _mm256_permute2x128_si256::<0x31>(lanes[0], lanes[1]),
        _mm256_permute2x128_si256::<0x31>(lanes[2], lanes[3]),
    ]
}

/// Each 8 columns, those of one vector of 4-bit codes, as `[low, high][nibble][4]` bytes: the low
/// nibbles of a lane's bytes are columns 0, 4, 1, 5, the high ones 2, 6, 3, 7.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn put_bytes(ints: [__m256i; 2], to: &mut Bytes) {
    // Of 16-bit columns the low bytes to the first 8 bytes, the high bytes to the last 8.
    let low = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        0, 8, 2, 10, 4, 12, 6, 14, -1, -1, -1, -1, -1, -1, -1, -1,
    ));
    let high = _mm256_broadcastsi128_si256(_mm_setr_epi8(
        -1, -1, -1, -1, -1, -1, -1, -1, 1, 9, 3, 11, 5, 13, 7, 15,
    ));
    for (h, ints) in ints.into_iter().enumerate() {
        let rounded = _mm256_add_epi16(ints, _mm256_set1_epi16(128));
        let bytes = _mm256_or_si256(
            _mm256_shuffle_epi8(ints, low),
            _mm256_shuffle_epi8(rounded, high),
        );
        // SAFETY: 64 bytes.
        unsafe { _mm256_storeu_si256(to.0.as_mut_ptr().add(32 * h).cast(), bytes) };
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn load(block: &[f32; BLOCK]) -> [__m256; 4] {
    let mut v = [_mm256_setzero_ps(); 4];
    for (i, v) in v.iter_mut().enumerate() {
        // SAFETY: 32 floats.
        *v = unsafe { _mm256_loadu_ps(block.as_ptr().add(8 * i)) };
    }
    v
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
fn horizontal_sums(v: [__m256i; 4]) -> [i32; 4] {
    let pairs = |a, b| _mm256_hadd_epi32(a, b);
    let sums = pairs(pairs(v[0], v[1]), pairs(v[2], v[3]));
    let sums = _mm_add_epi32(
        _mm256_castsi256_si128(sums),
        _mm256_extracti128_si256::<1>(sums),
    );
    let mut out = [0; 4];
    // SAFETY: four of four.
    unsafe { _mm_storeu_si128(out.as_mut_ptr().cast(), sums) };
    out
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn horizontal_max(v: __m256) -> f32 {
    let v = _mm_max_ps(_mm256_castps256_ps128(v), _mm256_extractf128_ps::<1>(v));
    let v = _mm_max_ps(v, _mm_movehl_ps(v, v));
    _mm_cvtss_f32(_mm_max_ss(v, _mm_shuffle_ps::<1>(v, v)))
}
