//! AVX-512 VNNI form of the quantized product (`vpdpwssd`: multiply 16-bit pairs and add, exact);
//! everything else is the AVX2 form.

use super::{Kernels, SimdLevel, Tile, Words, avx2};
use crate::cpu::activations::Panel;
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use std::arch::x86_64::*;

pub static KERNELS: Kernels = Kernels {
    level: SimdLevel::Avx512,
    panel: 12,
    matmul_tile,
    ..avx2::KERNELS
};

/// Bytes ahead of the codes in use that `one` asks for.
const PREFETCH: usize = 2048;

/// Repeats a body for the 16 pairs of a block with a literal index, so that shifts are immediates.
macro_rules! for_pairs {
    ($from:expr, $to:expr, $j:ident, $body:block) => {
        for_pairs!(@ $from, $to, $j, $body, 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15)
    };
    (@ $from:expr, $to:expr, $j:ident, $body:block, $($n:literal)*) => {
        $({ const $j: usize = $n; if $j >= $from && $j < $to $body })*
    };
}

/// Pair `J` of one plane for 16 lanes.
macro_rules! plane_pair {
    ($bits:literal, $plane:expr, $j:expr) => {{
        const PAIRS: usize = 16 / $bits;
        const MASK: i32 = ((1 << $bits) - 1) * 0x0001_0001;
        let vector = _mm512_loadu_si512($plane.add($j / PAIRS * 64).cast());
        _mm512_and_si512(
            _mm512_srli_epi32::<{ ($bits * ($j % PAIRS)) as u32 }>(vector),
            _mm512_set1_epi32(MASK),
        )
    }};
}

/// The 16-bit pairs `J` of the 16 lanes of a block.
macro_rules! code_pair {
    ($bits:expr, $block:expr, $j:expr) => {
        match $bits {
            2 => plane_pair!(2, $block, $j),
            3 => _mm512_or_si512(
                plane_pair!(2, $block, $j),
                _mm512_slli_epi32::<2>(plane_pair!(1, $block.add(128), $j)),
            ),
            4 => plane_pair!(4, $block, $j),
            5 => _mm512_or_si512(
                plane_pair!(4, $block, $j),
                _mm512_slli_epi32::<4>(plane_pair!(1, $block.add(256), $j)),
            ),
            6 => _mm512_or_si512(
                plane_pair!(4, $block, $j),
                _mm512_slli_epi32::<4>(plane_pair!(2, $block.add(256), $j)),
            ),
            _ => plane_pair!(8, $block, $j),
        }
    };
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn matmul_tile(
    tile: &Tile<'_>,
    panels: &[Panel<'_>],
    words: &mut Words,
    out: &mut [[f32; TILE_ROWS]],
) {
    debug_assert_eq!(out.len(), panels.iter().map(|p| p.rows).sum::<usize>());
    let one_row = panels.len() == 1 && panels[0].rows == 1;
    match (tile.bits, one_row, tile.halves) {
        (2, true, false) => one::<2, false>(tile, &panels[0], out),
        (2, true, true) => one::<2, true>(tile, &panels[0], out),
        (3, true, false) => one::<3, false>(tile, &panels[0], out),
        (3, true, true) => one::<3, true>(tile, &panels[0], out),
        (4, true, _) => one::<4, false>(tile, &panels[0], out),
        (5, true, _) => one::<5, false>(tile, &panels[0], out),
        (6, true, false) => one::<6, false>(tile, &panels[0], out),
        (6, true, true) => one::<6, true>(tile, &panels[0], out),
        (_, true, _) => one::<8, false>(tile, &panels[0], out),
        (2, ..) => several::<2>(tile, panels, words, out),
        (3, ..) => several::<3>(tile, panels, words, out),
        (4, ..) => several::<4>(tile, panels, words, out),
        (5, ..) => several::<5>(tile, panels, words, out),
        (6, ..) => several::<6>(tile, panels, words, out),
        _ => several::<8>(tile, panels, words, out),
    }
}

/// `acc += (float(ints)·scale + bias·sum)·x_scale`.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn flush(acc: __m512, ints: __m512i, entry: &[[f32; 16]; 2], sum: f32, x: f32) -> __m512 {
    // SAFETY: rows of 16.
    let [scale, bias] = unsafe { [0, 1].map(|i: usize| _mm512_loadu_ps(entry[i].as_ptr())) };
    let value = _mm512_mul_ps(_mm512_cvtepi32_ps(ints), scale);
    let value = _mm512_fmadd_ps(bias, _mm512_set1_ps(sum), value);
    _mm512_fmadd_ps(value, _mm512_set1_ps(x), acc)
}

/// One token row (decode): codes unpacked in registers.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn one<const BITS: usize, const HALVES: bool>(
    tile: &Tile<'_>,
    x: &Panel<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let blocks = x.meta.len();
    let entries = if HALVES { 2 } else { 1 };
    assert!(tile.codes.len() >= blocks * BITS * 64 && x.ints.len() >= blocks * BLOCK);
    assert!(tile.scales.len() >= blocks * entries);
    let mut acc = _mm512_setzero_ps();
    for b in 0..blocks {
        // SAFETY: all offsets stay inside the lengths asserted above; prefetches may point anywhere.
        unsafe {
            let codes = tile.codes.as_ptr().add(b * BITS * 64);
            for line in 0..BITS {
                _mm_prefetch::<_MM_HINT_T0>(codes.wrapping_add(PREFETCH + line * 64).cast());
            }
            let x_pairs = x.ints.as_ptr().cast::<i32>().add(b * BLOCK / 2);
            let meta = x.meta.get_unchecked(b);
            for half in 0..entries {
                let (from, to) = if HALVES {
                    (half * 8, half * 8 + 8)
                } else {
                    (0, 16)
                };
                // Two chains hide the latency of the multiply-add.
                let mut ints = [_mm512_setzero_si512(); 2];
                for_pairs!(from, to, J, {
                    let x = _mm512_set1_epi32(x_pairs.add(J).read_unaligned());
                    ints[J % 2] = _mm512_dpwssd_epi32(ints[J % 2], code_pair!(BITS, codes, J), x);
                });
                let sum = match (HALVES, half) {
                    (false, _) => meta.sum,
                    (true, 0) => meta.sum_low,
                    (true, _) => meta.sum_high,
                };
                let entry = tile.scales.get_unchecked(b * entries + half);
                let ints = _mm512_add_epi32(ints[0], ints[1]);
                acc = flush(acc, ints, entry, sum, meta.scale);
            }
        }
    }
    // SAFETY: `out` has one row of 16.
    unsafe { _mm512_storeu_ps(out[0].as_mut_ptr(), acc) };
}

/// Several token rows: each block is unpacked once and used by all of them.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn several<const BITS: usize>(
    tile: &Tile<'_>,
    panels: &[Panel<'_>],
    words: &mut Words,
    out: &mut [[f32; TILE_ROWS]],
) {
    out.fill([0.0; TILE_ROWS]);
    let blocks = tile.codes.len() / (BITS * 64);
    for b in 0..blocks {
        // SAFETY: block `b` lies inside the codes; `words` holds 16 pairs of 16 rows.
        unsafe {
            let codes = tile.codes.as_ptr().add(b * BITS * 64);
            for_pairs!(0, 16, J, {
                let to = words.0.as_mut_ptr().add(J * 32);
                _mm512_store_si512(to.cast(), code_pair!(BITS, codes, J));
            });
        }
        let mut first = 0;
        for panel in panels {
            let out = &mut out[first..first + panel.rows];
            match panel.rows {
                1 => rows::<1>(tile, panel, words, b, out),
                2 => rows::<2>(tile, panel, words, b, out),
                3 => rows::<3>(tile, panel, words, b, out),
                4 => rows::<4>(tile, panel, words, b, out),
                5 => rows::<5>(tile, panel, words, b, out),
                6 => rows::<6>(tile, panel, words, b, out),
                7 => rows::<7>(tile, panel, words, b, out),
                8 => rows::<8>(tile, panel, words, b, out),
                9 => rows::<9>(tile, panel, words, b, out),
                10 => rows::<10>(tile, panel, words, b, out),
                11 => rows::<11>(tile, panel, words, b, out),
                _ => rows::<12>(tile, panel, words, b, out),
            }
            first += panel.rows;
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn rows<const R: usize>(
    tile: &Tile<'_>,
    panel: &Panel<'_>,
    words: &Words,
    block: usize,
    out: &mut [[f32; TILE_ROWS]],
) {
    let x = &panel.ints[block * BLOCK * R..][..BLOCK * R];
    let meta = &panel.meta[block * R..][..R];
    if tile.halves {
        let [low, high] = [&tile.scales[2 * block], &tile.scales[2 * block + 1]];
        rows_part::<R, 8>(x, words, 0, out, |r| (meta[r].sum_low, meta[r].scale), low);
        rows_part::<R, 8>(
            x,
            words,
            8,
            out,
            |r| (meta[r].sum_high, meta[r].scale),
            high,
        );
    } else {
        let entry = &tile.scales[block];
        rows_part::<R, 16>(x, words, 0, out, |r| (meta[r].sum, meta[r].scale), entry);
    }
}

/// `R` token rows × `PAIRS` pairs from pair `from`: the inner loop of prefill.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn rows_part<const R: usize, const PAIRS: usize>(
    x: &[i16],
    words: &Words,
    from: usize,
    out: &mut [[f32; TILE_ROWS]],
    facts: impl Fn(usize) -> (f32, f32),
    entry: &[[f32; 16]; 2],
) {
    assert!(x.len() >= (from + PAIRS) * 2 * R && from + PAIRS <= 16 && out.len() >= R);
    let mut ints = [_mm512_setzero_si512(); R];
    // SAFETY: offsets stay inside the lengths asserted above; `words` is 64-byte aligned.
    unsafe {
        let x = x.as_ptr().cast::<i32>().add(from * R);
        let words = words.0.as_ptr().add(from * 32);
        for j in 0..PAIRS {
            let pairs = _mm512_load_si512(words.add(j * 32).cast());
            for (r, ints) in ints.iter_mut().enumerate() {
                let x = _mm512_set1_epi32(x.add(j * R + r).read_unaligned());
                *ints = _mm512_dpwssd_epi32(*ints, pairs, x);
            }
        }
        for (r, ints) in ints.iter().enumerate() {
            let (sum, x_scale) = facts(r);
            let to = out.get_unchecked_mut(r).as_mut_ptr();
            let acc = _mm512_loadu_ps(to);
            _mm512_storeu_ps(to, flush(acc, *ints, entry, sum, x_scale));
        }
    }
}
