//! AVX-512 VNNI form of the quantized product (`vpdpwssd`: multiply 16-bit pairs and add, exact) and the
//! kernels of f32 arrays; everything else is the AVX2 form.

mod arrays;
#[macro_use]
mod codes;
mod few_rows;
mod values;
mod values_row;

use super::avx2::{self, Part, for_pairs};
use super::gemm::GEMM_ROWS;
use super::{GEMM_ROWS_MOST, Kernels, ScaleEntry, SimdLevel, Tile, TileParts, TileScratch};
use crate::cpu::activations::{BlockMeta, Group, SPAN, ends_span};
use crate::cpu::packed::{BLOCK, TILE_ROWS, block_bytes};
use crate::formats::Values;
use std::arch::x86_64::*;
use values::integers;

pub static KERNELS: Kernels = Kernels {
    level: SimdLevel::Avx512,
    panel: 12,
    matmul_tile,
    rows_tiles: few_rows::rows_tiles,
    gemm_rows: [GEMM_ROWS_MOST, GEMM_ROWS, 3],
    gemm_tile: arrays::gemm_tile,
    winograd_input: arrays::winograd_input,
    winograd_output: arrays::winograd_output,
    elements: arrays::elements,
    layer_norm: arrays::layer_norm,
    softmax: arrays::softmax,
    ..avx2::KERNELS
};

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn matmul_tile(
    tile: &Tile<'_>,
    x: &Group<'_>,
    scratch: &mut TileScratch,
    out: &mut [[f32; TILE_ROWS]],
) {
    let parts = scratch.parts(tile, x);
    avx2::expand_scales(tile.form, tile.section, parts.scales);
    if tile.form.values != Values::Code {
        return several::<0>(tile, parts, x, out);
    }
    match tile.form.bits {
        2 => several::<2>(tile, parts, x, out),
        3 => several::<3>(tile, parts, x, out),
        4 => several::<4>(tile, parts, x, out),
        5 => several::<5>(tile, parts, x, out),
        6 => several::<6>(tile, parts, x, out),
        _ => several::<8>(tile, parts, x, out),
    }
}

/// `acc + bias·x_sum + float(ints)·scale`: in units of the activations' scale.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn flush(acc: __m512, ints: __m512i, scale: __m512, bias: __m512, sum: f32) -> __m512 {
    let acc = _mm512_fmadd_ps(bias, _mm512_set1_ps(sum), acc);
    _mm512_fmadd_ps(_mm512_cvtepi32_ps(ints), scale, acc)
}

/// Several token rows: each block is unpacked once and used by all of them. `BITS`: 0 of codes that
/// stand for other numbers.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
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
    let size = match BITS {
        0 => block_bytes(tile.form),
        bits => bits * 64,
    };
    assert!(tile.codes.len() >= x.blocks * size && scales.len() >= x.blocks * parts);
    for b in 0..x.blocks {
        let block = &tile.codes[b * size..(b + 1) * size];
        let ints = &x.ints[b * x.rows * BLOCK..][..x.rows * BLOCK];
        let meta = &x.meta[b * x.rows..][..x.rows];
        let scales = &scales[b * parts..][..parts];
        let (mut begins, ends) = (b % SPAN == 0, ends_span(b, x.blocks));
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
        if BITS == 0 {
            if tile.form.values == Values::E4M3 {
                integers(tile.form, true, block, words);
                let wide = [scales[0][0].map(|scale| scale * 256.0), [0.0; TILE_ROWS]];
                let mut high = part!(0, 0, begins, false);
                high.entry = &wide;
                panels::<16>(high);
                begins = false;
            }
            integers(tile.form, false, block, words);
        } else {
            // SAFETY: block `b` lies inside the codes; `words` holds 16 pairs of 16 rows.
            unsafe {
                let codes = block.as_ptr();
                for_pairs!(0, 16, J, {
                    let to = words.0.as_mut_ptr().add(J * 32);
                    _mm512_store_si512(to.cast(), code_pair!(BITS, codes, J));
                });
            }
        }
        if tile.halves() {
            panels::<8>(part!(0, 0, begins, false));
            panels::<8>(part!(8, 1, false, ends));
        } else {
            panels::<16>(part!(0, 0, begins, ends));
        }
    }
}

/// All token rows × `PAIRS` pairs of a block, in panels of twelve.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn panels<const PAIRS: usize>(part: Part<'_>) {
    let Part {
        ints,
        words,
        from,
        meta,
        entry,
        begins,
        ends,
        sums,
        out,
    } = part;
    let rows = meta.len();
    assert!(ints.len() >= rows * BLOCK && from + PAIRS <= 16 && sums.len() >= rows);
    // The sum of a whole block, of its first or of its last half.
    let sum = |meta: &BlockMeta| match (PAIRS, from) {
        (16, _) => meta.sum,
        (_, 0) => meta.sum_low,
        _ => meta.sum_high,
    };
    let mut row = 0;
    while row < rows {
        let n = (rows - row).min(12);
        // SAFETY: offsets stay inside the lengths asserted above; `words` is 64-byte aligned.
        unsafe {
            let words = words.0.as_ptr().add(from * 32);
            let x = ints.as_ptr().add(row * BLOCK + from * 2 * n).cast::<i32>();
            let rows = PanelRows {
                meta: &meta[row..row + n],
                entry,
                begins,
                sums: &mut sums[row..row + n],
            };
            match n {
                1 => rows_part::<1, PAIRS>(x, words, &sum, rows),
                2 => rows_part::<2, PAIRS>(x, words, &sum, rows),
                3 => rows_part::<3, PAIRS>(x, words, &sum, rows),
                4 => rows_part::<4, PAIRS>(x, words, &sum, rows),
                5 => rows_part::<5, PAIRS>(x, words, &sum, rows),
                6 => rows_part::<6, PAIRS>(x, words, &sum, rows),
                7 => rows_part::<7, PAIRS>(x, words, &sum, rows),
                8 => rows_part::<8, PAIRS>(x, words, &sum, rows),
                9 => rows_part::<9, PAIRS>(x, words, &sum, rows),
                10 => rows_part::<10, PAIRS>(x, words, &sum, rows),
                11 => rows_part::<11, PAIRS>(x, words, &sum, rows),
                _ => rows_part::<12, PAIRS>(x, words, &sum, rows),
            }
        }
        row += n;
    }
    if ends {
        avx2::settle(meta, sums, out);
    }
}

/// What a panel's integer sums go to.
struct PanelRows<'a> {
    meta: &'a [BlockMeta],
    entry: &'a ScaleEntry,
    begins: bool,
    sums: &'a mut [[f32; TILE_ROWS]],
}

/// `R` token rows × `PAIRS` pairs: the inner loop of prefill.
///
/// # Safety
/// `x` holds `R·PAIRS` pairs, `words` `PAIRS·32` words, 64-byte aligned; `rows` are `R`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
unsafe fn rows_part<const R: usize, const PAIRS: usize>(
    x: *const i32,
    words: *const i16,
    sum: impl Fn(&BlockMeta) -> f32,
    rows: PanelRows<'_>,
) {
    let mut ints = [_mm512_setzero_si512(); R];
    // SAFETY: by contract.
    unsafe {
        for j in 0..PAIRS {
            let pairs = _mm512_load_si512(words.add(j * 32).cast());
            for (r, ints) in ints.iter_mut().enumerate() {
                let x = _mm512_set1_epi32(x.add(j * R + r).read_unaligned());
                *ints = _mm512_dpwssd_epi32(*ints, pairs, x);
            }
        }
        let scale = _mm512_loadu_ps(rows.entry[0].as_ptr());
        let bias = _mm512_loadu_ps(rows.entry[1].as_ptr());
        for (r, ints) in ints.iter().enumerate() {
            let meta = rows.meta.get_unchecked(r);
            let at = rows.sums.get_unchecked_mut(r).as_mut_ptr();
            let mut acc = _mm512_setzero_ps();
            if !rows.begins {
                acc = _mm512_loadu_ps(at);
            }
            _mm512_storeu_ps(at, flush(acc, *ints, scale, bias, sum(meta)));
        }
    }
}
