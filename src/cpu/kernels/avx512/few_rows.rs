//! The quantized product of few token rows (decode): codes are unpacked in registers, a block of each
//! tile in turn; `avx2::one_row` says why.

use super::flush;
use super::values_row::values_row;
use crate::cpu::activations::{BlockMeta, Bytes, Group, SPAN, ends_span};
use crate::cpu::kernels::avx2::{
    self, EXPANDED, RowPlan, STORED_BF16, STORED_F16, SUPER_MIN, SUPER_ZERO, ZERO_F16, for_pairs,
    of_form, scales_of,
};
use crate::cpu::kernels::{RowOut, STREAMS, SpanScales, Tile, TileScratch};
use crate::cpu::packed::BLOCK;
use crate::formats::Values;
use std::arch::x86_64::*;

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub fn rows_tiles(
    tiles: &[Tile<'_>],
    rows: &[Group<'_>],
    scratch: &mut TileScratch,
    out: &mut [RowOut],
) {
    let (scales, words) = scratch.row_parts();
    for same in avx2::by_form(tiles) {
        let (tiles, place) = (&tiles[same.clone()], same.start);
        if tiles[0].form.values != Values::Code {
            for (x, out) in rows.iter().zip(&mut *out) {
                values_row(tiles, scales, words, x, &mut out[same.clone()]);
            }
            continue;
        }
        let (mut rows, mut out) = (rows, &mut *out);
        // As many as share what is done for a block.
        while let Some((x, rest)) = rows.split_first_chunk() {
            let (to, rest_of_out) = out.split_at_mut(x.len());
            of_form!(tiles[0].form, four, (tiles, scales, x, to, place));
            (rows, out) = (rest, rest_of_out);
        }
        while let Some((x, rest)) = rows.split_first_chunk() {
            let (to, rest_of_out) = out.split_at_mut(x.len());
            of_form!(tiles[0].form, two, (tiles, scales, x, to, place));
            (rows, out) = (rest, rest_of_out);
        }
        for (x, out) in rows.iter().zip(out.chunks_mut(1)) {
            let x = std::array::from_ref(x);
            of_form!(tiles[0].form, one, (tiles, scales, x, out, place));
        }
    }
}

/// `some` with so many rows.
macro_rules! of_rows {
    ($($name:ident $rows:literal)*) => {$(
        #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
        fn $name<const BITS: usize, const HALVES: bool, const SCALES: u8>(
            tiles: &[Tile<'_>],
            scales: &mut SpanScales,
            x: &[Group<'_>; $rows],
            out: &mut [RowOut],
            place: usize,
        ) {
            some::<BITS, HALVES, SCALES, $rows>(tiles, scales, x, out, place);
        }
    )*};
}

of_rows! { one 1 two 2 four 4 }

/// Tiles of one form times `R` rows: what comes from memory, and scales, are made ready once for all of them. The results of
/// the first tile are those of `place` in each of `out`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn some<const BITS: usize, const HALVES: bool, const SCALES: u8, const R: usize>(
    tiles: &[Tile<'_>],
    scales: &mut SpanScales,
    x: &[Group<'_>; R],
    out: &mut [RowOut],
    place: usize,
) {
    let blocks = x[0].blocks;
    let RowPlan {
        entries,
        shared,
        unit,
        zero,
        ahead,
    } = RowPlan::new::<BITS, HALVES, SCALES>(tiles, x);
    let mut total = [[_mm512_setzero_ps(); R]; STREAMS];
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
                let x_pairs = x
                    .each_ref()
                    .map(|x| x.ints.as_ptr().cast::<i32>().add(b * BLOCK / 2));
                let meta = x.each_ref().map(|x| x.meta.get_unchecked(b));
                let codes = tile.codes.as_ptr().add(b * BITS * 64);
                ahead.ask(tile, b, BITS + 1);
                for half in 0..entries {
                    let (from, to) = if HALVES {
                        (half * 8, half * 8 + 8)
                    } else {
                        (0, 16)
                    };
                    let ints = if BITS == 4 {
                        four_bits(codes, x.each_ref().map(|x| x.bytes.get_unchecked(b)))
                    } else {
                        // Two chains hide the latency of the multiply-add.
                        let mut ints = [[_mm512_setzero_si512(); 2]; R];
                        for_pairs!(from, to, J, {
                            let pair = code_pair!(BITS, codes, J);
                            for (ints, x) in ints.iter_mut().zip(x_pairs) {
                                let x = _mm512_set1_epi32(x.add(J).read_unaligned());
                                ints[J % 2] = _mm512_dpwssd_epi32(ints[J % 2], pair, x);
                            }
                        });
                        ints.map(|ints| _mm512_add_epi32(ints[0], ints[1]))
                    };
                    let sum = |meta: &BlockMeta| match (HALVES, half) {
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
                    for ((acc, ints), meta) in acc.iter_mut().zip(ints).zip(meta) {
                        *acc = flush(*acc, ints, scale, bias, sum(meta));
                    }
                }
            }
        }
        if ends_span(b, blocks) {
            let scales = x.each_ref().map(|x| _mm512_set1_ps(x.meta[b].scale));
            for (total, acc) in total.iter_mut().zip(&mut acc) {
                for ((total, acc), scale) in total.iter_mut().zip(acc).zip(scales) {
                    *total = _mm512_fmadd_ps(*acc, scale, *total);
                    *acc = _mm512_setzero_ps();
                }
            }
        }
    }
    for (r, out) in out.iter_mut().enumerate() {
        for (total, out) in total.iter().zip(&mut out[place..place + tiles.len()]) {
            // SAFETY: rows of 16.
            unsafe { _mm512_storeu_ps(out.as_mut_ptr(), total[r]) };
        }
    }
}

/// bf16 to f32.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn widen(bf16: __m256i) -> __m512 {
    _mm512_castsi512_ps(_mm512_slli_epi32::<16>(_mm512_cvtepu16_epi32(bf16)))
}

/// A block of 4-bit codes times the bytes of each token row: `Σ codes·(256·high + low)`, four columns a
/// multiply-add (`vpdpbusd`), exact.
///
/// # Safety
/// `codes` holds 256 bytes.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
unsafe fn four_bits<const R: usize>(codes: *const u8, x: [&Bytes; R]) -> [__m512i; R] {
    let mask = _mm512_set1_epi8(15);
    // Two chains of each hide the latency of the multiply-add.
    let mut low = [[_mm512_setzero_si512(); 2]; R];
    let mut high = low;
    for v in 0..4 {
        // SAFETY: 64 bytes of codes and 16 of `x` for each vector.
        unsafe {
            let bytes = _mm512_loadu_si512(codes.add(64 * v).cast());
            let nibbles = [
                _mm512_and_si512(bytes, mask),
                _mm512_and_si512(_mm512_srli_epi32::<4>(bytes), mask),
            ];
            for r in 0..R {
                let x = x[r].0.as_ptr().add(16 * v).cast::<i32>();
                for (n, &codes) in nibbles.iter().enumerate() {
                    // More rows are chains enough.
                    let chain = if R > 2 { 0 } else { n };
                    let (x_low, x_high) = (x.add(n).read(), x.add(2 + n).read());
                    let (low, high) = (&mut low[r][chain], &mut high[r][chain]);
                    *low = _mm512_dpbusd_epi32(*low, codes, _mm512_set1_epi32(x_low));
                    *high = _mm512_dpbusd_epi32(*high, codes, _mm512_set1_epi32(x_high));
                }
            }
        }
    }
    std::array::from_fn(|r| {
        let low = _mm512_add_epi32(low[r][0], low[r][1]);
        let high = _mm512_add_epi32(high[r][0], high[r][1]);
        _mm512_add_epi32(_mm512_slli_epi32::<8>(high), low)
    })
}
