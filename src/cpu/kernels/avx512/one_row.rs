//! The quantized product of one token row (decode): codes are unpacked in registers, a block of each
//! tile in turn; `avx2::one_row` says why.

use super::flush;
use super::values_row::values_row;
use crate::cpu::activations::{Bytes, Group, SPAN, ends_span};
use crate::cpu::kernels::avx2::{
    self, EXPANDED, RowPlan, STORED_BF16, STORED_F16, SUPER_MIN, SUPER_ZERO, ZERO_F16, for_pairs,
    of_form, scales_of,
};
use crate::cpu::kernels::{STREAMS, SpanScales, Tile, TileScratch};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use crate::formats::Values;
use std::arch::x86_64::*;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub fn row_tiles(
    tiles: &[Tile<'_>],
    x: &Group<'_>,
    scratch: &mut TileScratch,
    out: &mut [[f32; TILE_ROWS]],
) {
    let (scales, words) = scratch.row_parts();
    avx2::by_form(tiles, out, |tiles, out| {
        if tiles[0].form.values != Values::Code {
            return values_row(tiles, scales, words, x, out);
        }
        of_form!(tiles[0].form, one, (tiles, scales, x, out));
    });
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn one<const BITS: usize, const HALVES: bool, const SCALES: u8>(
    tiles: &[Tile<'_>],
    scales: &mut SpanScales,
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let blocks = x.blocks;
    let RowPlan {
        entries,
        shared,
        unit,
        zero,
        ahead,
    } = RowPlan::new::<BITS, HALVES, SCALES>(tiles, x, out);
    let mut total = [_mm512_setzero_ps(); STREAMS];
    let mut acc = total;
    for b in 0..blocks {
        if SCALES == EXPANDED && b % SPAN == 0 {
            let count = SPAN.min(blocks - b) * entries;
            for (tile, scales) in tiles.iter().zip(&mut *scales) {
                avx2::expand_span(tile, b, &mut scales[..count]);
            }
        }
        for (t, (tile, acc)) in tiles.iter().zip(&mut acc).enumerate() {
            // SAFETY: all offsets stay inside the lengths that the plan asserts.
            unsafe {
                let x_pairs = x.ints.as_ptr().cast::<i32>().add(b * BLOCK / 2);
                let meta = x.meta.get_unchecked(b);
                let codes = tile.codes.as_ptr().add(b * BITS * 64);
                ahead.ask(tile, b, BITS + 1);
                for half in 0..entries {
                    let (from, to) = if HALVES {
                        (half * 8, half * 8 + 8)
                    } else {
                        (0, 16)
                    };
                    let ints = if BITS == 4 {
                        four_bits(codes, x.bytes.get_unchecked(b))
                    } else {
                        // Two chains hide the latency of the multiply-add.
                        let mut ints = [_mm512_setzero_si512(); 2];
                        for_pairs!(from, to, J, {
                            let x = _mm512_set1_epi32(x_pairs.add(J).read_unaligned());
                            let pair = code_pair!(BITS, codes, J);
                            ints[J % 2] = _mm512_dpwssd_epi32(ints[J % 2], pair, x);
                        });
                        _mm512_add_epi32(ints[0], ints[1])
                    };
                    let sum = match (HALVES, half) {
                        (false, _) => meta.sum,
                        (true, 0) => meta.sum_low,
                        (true, _) => meta.sum_high,
                    };
                    let unit = tile.section.as_ptr().add((b >> shared) * unit);
                    let (first, second) = (unit.cast(), unit.wrapping_add(32).cast());
                    let (scale, bias) = match SCALES {
                        STORED_F16 => (
                            _mm512_cvtph_ps(_mm256_loadu_si256(first)),
                            _mm512_cvtph_ps(_mm256_loadu_si256(second)),
                        ),
                        STORED_BF16 => (
                            widen(_mm256_loadu_si256(first)),
                            widen(_mm256_loadu_si256(second)),
                        ),
                        ZERO_F16 => {
                            let scale = _mm512_cvtph_ps(_mm256_loadu_si256(first));
                            (scale, _mm512_mul_ps(scale, _mm512_set1_ps(zero)))
                        }
                        SUPER_MIN => {
                            let d = _mm512_cvtph_ps(_mm256_loadu_si256(first));
                            let least = _mm512_cvtph_ps(_mm256_loadu_si256(second));
                            let least = _mm512_mul_ps(least, _mm512_set1_ps(-1.0));
                            let sub = unit.add(64 + (b % SPAN * entries + half) * 32);
                            let factor = _mm512_cvtepu8_epi32(_mm_loadu_si128(sub.cast()));
                            let minimum = _mm512_cvtepu8_epi32(_mm_loadu_si128(sub.add(16).cast()));
                            (
                                _mm512_mul_ps(d, _mm512_cvtepi32_ps(factor)),
                                _mm512_mul_ps(least, _mm512_cvtepi32_ps(minimum)),
                            )
                        }
                        SUPER_ZERO => {
                            let d = _mm512_cvtph_ps(_mm256_loadu_si256(first));
                            let sub = unit.add(32 + (b % SPAN * entries + half) * 16);
                            let factor = _mm512_cvtepi8_epi32(_mm_loadu_si128(sub.cast()));
                            let scale = _mm512_mul_ps(d, _mm512_cvtepi32_ps(factor));
                            (scale, _mm512_mul_ps(scale, _mm512_set1_ps(zero)))
                        }
                        _ => {
                            let [scale, bias] = &scales[t][b % SPAN * entries + half];
                            (
                                _mm512_loadu_ps(scale.as_ptr()),
                                _mm512_loadu_ps(bias.as_ptr()),
                            )
                        }
                    };
                    *acc = flush(*acc, ints, scale, bias, sum);
                }
            }
        }
        if ends_span(b, blocks) {
            let scale = _mm512_set1_ps(x.meta[b].scale);
            for (total, acc) in total.iter_mut().zip(&mut acc) {
                *total = _mm512_fmadd_ps(*acc, scale, *total);
                *acc = _mm512_setzero_ps();
            }
        }
    }
    for (total, out) in total.iter().zip(out) {
        // SAFETY: rows of 16.
        unsafe { _mm512_storeu_ps(out.as_mut_ptr(), *total) };
    }
}

/// bf16 to f32.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn widen(bf16: __m256i) -> __m512 {
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(bf16)))
}

/// A block of 4-bit codes times one token row's bytes: `Σ codes·(256·high + low)`, four columns a
/// multiply-add (`vpdpbusd`), exact.
///
/// # Safety
/// `codes` holds 256 bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
unsafe fn four_bits(codes: *const u8, x: &Bytes) -> __m512i {
    let mask = _mm512_set1_epi8(15);
    let mut low = [_mm512_setzero_si512(); 2];
    let mut high = low;
    for v in 0..4 {
        // SAFETY: 64 bytes of codes and 16 of `x` for each vector.
        unsafe {
            let bytes = _mm512_loadu_si512(codes.add(64 * v).cast());
            let nibbles = [
                _mm512_and_si512(bytes, mask),
                _mm512_and_si512(_mm512_srli_epi32::<4>(bytes), mask),
            ];
            let x = x.0.as_ptr().add(16 * v).cast::<i32>();
            for (n, &codes) in nibbles.iter().enumerate() {
                let (x_low, x_high) = (x.add(n).read(), x.add(2 + n).read());
                low[n] = _mm512_dpbusd_epi32(low[n], codes, _mm512_set1_epi32(x_low));
                high[n] = _mm512_dpbusd_epi32(high[n], codes, _mm512_set1_epi32(x_high));
            }
        }
    }
    let low = _mm512_add_epi32(low[0], low[1]);
    let high = _mm512_add_epi32(high[0], high[1]);
    _mm512_add_epi32(_mm512_slli_epi32::<8>(high), low)
}
