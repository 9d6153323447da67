//! The quantized product: 16-bit pairs multiplied (`vpmaddwd`) and added in 32 bits, exact, then
//! scaled per group in f32.
//!
//! Several token rows: a block is unpacked to pairs once (1 KiB, L1) and used by all of them. One
//! token row: codes are unpacked in registers.

use super::panels::{Part, panels};
use super::scales::{expand_scales, load16, scaled};
use crate::cpu::activations::{Group, SPAN, ends_span};
use crate::cpu::kernels::{ScaleEntry, Tile, TileParts, TileScratch};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use crate::formats::{ScalarType, ScaleForm};
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

/// Logical shift right of 32-bit lanes; a constant count becomes an immediate.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn shift<const N: i32>(v: __m256i) -> __m256i {
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

#[target_feature(enable = "avx2,fma,f16c")]
pub fn matmul_tile(
    tile: &Tile<'_>,
    x: &Group<'_>,
    scratch: &mut TileScratch,
    out: &mut [[f32; TILE_ROWS]],
) {
    let direct = match tile.form.scale {
        ScaleForm::Stored(ScalarType::F16) if tile.form.group == BLOCK => STORED_F16,
        ScaleForm::Zero(ScalarType::F16, _) if tile.form.group == BLOCK => ZERO_F16,
        _ => EXPANDED,
    };
    let one_row = x.rows == 1;
    let parts = scratch.parts(tile, x);
    let scales = &mut *parts.scales;
    if !one_row || direct == EXPANDED {
        expand_scales(tile.form, tile.section, scales);
    }
    match (tile.form.bits, one_row, tile.halves(), direct) {
        (4, true, _, STORED_F16) => one::<4, false, STORED_F16>(tile, scales, x, out),
        (5, true, _, STORED_F16) => one::<5, false, STORED_F16>(tile, scales, x, out),
        (4, true, _, ZERO_F16) => one::<4, false, ZERO_F16>(tile, scales, x, out),
        (5, true, _, ZERO_F16) => one::<5, false, ZERO_F16>(tile, scales, x, out),
        (8, true, _, ZERO_F16) => one::<8, false, ZERO_F16>(tile, scales, x, out),
        (bits, true, halves, direct) => {
            if direct != EXPANDED {
                expand_scales(tile.form, tile.section, scales);
            }
            match (bits, halves) {
                (2, false) => one::<2, false, EXPANDED>(tile, scales, x, out),
                (2, true) => one::<2, true, EXPANDED>(tile, scales, x, out),
                (3, false) => one::<3, false, EXPANDED>(tile, scales, x, out),
                (3, true) => one::<3, true, EXPANDED>(tile, scales, x, out),
                (4, _) => one::<4, false, EXPANDED>(tile, scales, x, out),
                (5, _) => one::<5, false, EXPANDED>(tile, scales, x, out),
                (6, false) => one::<6, false, EXPANDED>(tile, scales, x, out),
                (6, true) => one::<6, true, EXPANDED>(tile, scales, x, out),
                _ => one::<8, false, EXPANDED>(tile, scales, x, out),
            }
        }
        (2, ..) => several::<2>(tile, parts, x, out),
        (3, ..) => several::<3>(tile, parts, x, out),
        (4, ..) => several::<4>(tile, parts, x, out),
        (5, ..) => several::<5>(tile, parts, x, out),
        (6, ..) => several::<6>(tile, parts, x, out),
        _ => several::<8>(tile, parts, x, out),
    }
}

/// `acc + bias·x_sum + float(ints)·scale`: in units of the activations' scale.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub fn flush(acc: __m256, ints: __m256i, scale: __m256, bias: __m256, sum: f32) -> __m256 {
    let acc = _mm256_fmadd_ps(bias, _mm256_set1_ps(sum), acc);
    _mm256_fmadd_ps(_mm256_cvtepi32_ps(ints), scale, acc)
}

/// One token row (decode): codes unpacked in registers.
#[target_feature(enable = "avx2,fma,f16c")]
fn one<const BITS: usize, const HALVES: bool, const SCALES: u8>(
    tile: &Tile<'_>,
    scales: &[ScaleEntry],
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let blocks = x.blocks;
    let entries = if HALVES { 2 } else { 1 };
    assert!(tile.codes.len() >= blocks * BITS * 64 && x.ints.len() >= blocks * BLOCK);
    assert!(SCALES != EXPANDED || scales.len() >= blocks * entries);
    assert!(SCALES != STORED_F16 || tile.section.len() >= blocks * 64);
    assert!(SCALES != ZERO_F16 || tile.section.len() >= blocks * 32);
    let zero = match tile.form.scale {
        ScaleForm::Zero(_, zero) => -f32::from(zero),
        _ => 0.0,
    };
    let mut total = [_mm256_setzero_ps(); 2];
    let mut acc = total;
    for b in 0..blocks {
        // SAFETY: all offsets stay inside the lengths asserted above.
        unsafe {
            let codes = tile.codes.as_ptr().add(b * BITS * 64);
            _mm_prefetch::<_MM_HINT_T0>(codes.add(PREFETCH).cast());
            if BITS > 1 {
                _mm_prefetch::<_MM_HINT_T0>(codes.add(PREFETCH + 64).cast());
            }
            if BITS > 2 {
                _mm_prefetch::<_MM_HINT_T0>(codes.add(PREFETCH + 128).cast());
            }
            if BITS > 3 {
                _mm_prefetch::<_MM_HINT_T0>(codes.add(PREFETCH + 192).cast());
            }
            let x_pairs = x.ints.as_ptr().cast::<i32>().add(b * BLOCK / 2);
            let meta = x.meta.get_unchecked(b);
            for half in 0..entries {
                let (from, to) = if HALVES {
                    (half * 8, half * 8 + 8)
                } else {
                    (0, 16)
                };
                let mut ints = [_mm256_setzero_si256(); 2];
                for_pairs!(from, to, J, {
                    let x = _mm256_set1_epi32(x_pairs.add(J).read_unaligned());
                    let low = code_pair!(BITS, codes, J);
                    let high = code_pair!(BITS, codes.add(32), J);
                    ints[0] = _mm256_add_epi32(ints[0], _mm256_madd_epi16(low, x));
                    ints[1] = _mm256_add_epi32(ints[1], _mm256_madd_epi16(high, x));
                });
                let sum = match (HALVES, half) {
                    (false, _) => meta.sum,
                    (true, 0) => meta.sum_low,
                    (true, _) => meta.sum_high,
                };
                let (scale, bias) = match SCALES {
                    STORED_F16 => {
                        let unit = tile.section.get_unchecked(b * 64..);
                        let f16 = ScalarType::F16;
                        (load16(f16, unit), load16(f16, unit.get_unchecked(32..)))
                    }
                    ZERO_F16 => {
                        let unit = tile.section.get_unchecked(b * 32..);
                        let scale = load16(ScalarType::F16, unit);
                        (scale, scaled(scale, zero))
                    }
                    _ => {
                        let at = scales
                            .get_unchecked(b * entries + half)
                            .as_ptr()
                            .cast::<f32>();
                        let row = |i| [_mm256_loadu_ps(at.add(i)), _mm256_loadu_ps(at.add(i + 8))];
                        (row(0), row(16))
                    }
                };
                for h in 0..2 {
                    acc[h] = flush(acc[h], ints[h], scale[h], bias[h], sum);
                }
            }
            if ends_span(b, blocks) {
                let scale = _mm256_set1_ps(meta.scale);
                for h in 0..2 {
                    total[h] = _mm256_fmadd_ps(acc[h], scale, total[h]);
                    acc[h] = _mm256_setzero_ps();
                }
            }
        }
    }
    // SAFETY: `out` has one row of 16.
    unsafe {
        _mm256_storeu_ps(out[0].as_mut_ptr(), total[0]);
        _mm256_storeu_ps(out[0].as_mut_ptr().add(8), total[1]);
    }
}

/// Where `one` takes its scales from: entries that were expanded before, or the section itself.
pub const EXPANDED: u8 = 0;
/// f16 scale and bias for each block (Q4_1, Q5_1, MLX group 32 in f16).
pub const STORED_F16: u8 = 1;
/// f16 scale for each block, fixed zero point (Q4_0, Q5_0, Q8_0).
pub const ZERO_F16: u8 = 2;

/// Bytes ahead of the codes in use that `one` asks for.
const PREFETCH: usize = 2048;

/// Several token rows: each block is unpacked once and used by all of them.
#[target_feature(enable = "avx2,fma,f16c")]
fn several<const BITS: usize>(
    tile: &Tile<'_>,
    parts: TileParts<'_>,
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let TileParts {
        scales,
        words,
        sums,
    } = parts;
    out.fill([0.0; TILE_ROWS]);
    let parts = if tile.halves() { 2 } else { 1 };
    assert!(tile.codes.len() >= x.blocks * BITS * 64 && scales.len() >= x.blocks * parts);
    for b in 0..x.blocks {
        // SAFETY: block `b` lies inside the codes; `words` holds 16 pairs of 16 rows.
        unsafe {
            let codes = tile.codes.as_ptr().add(b * BITS * 64);
            for_pairs!(0, 16, J, {
                let to = words.0.as_mut_ptr().add(J * 32);
                _mm256_store_si256(to.cast(), code_pair!(BITS, codes, J));
                _mm256_store_si256(to.add(16).cast(), code_pair!(BITS, codes.add(32), J));
            });
        }
        let ints = &x.ints[b * x.rows * BLOCK..][..x.rows * BLOCK];
        let meta = &x.meta[b * x.rows..][..x.rows];
        let scales = &scales[b * parts..][..parts];
        let (begins, ends) = (b % SPAN == 0, ends_span(b, x.blocks));
        macro_rules! part {
            ($from:expr, $entry:expr, $begins:expr, $ends:expr) => {
                Part {
                    ints,
                    words,
                    from: $from,
                    meta,
                    entry: &scales[$entry],
                    begins: $begins,
                    ends: $ends,
                    sums,
                    out,
                }
            };
        }
        if tile.halves() {
            panels::<8>(part!(0, 0, begins, false));
            panels::<8>(part!(8, 1, false, ends));
        } else {
            panels::<16>(part!(0, 0, begins, ends));
        }
    }
}
