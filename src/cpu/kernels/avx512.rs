//! AVX-512 VNNI form of the quantized product (`vpdpwssd`: multiply 16-bit pairs and add, exact);
//! everything else is the AVX2 form.

use super::avx2::{self, EXPANDED, Part, STORED_F16, ZERO_F16, for_pairs, of_form, scales_of};
use super::{Kernels, STREAMS, ScaleEntry, SimdLevel, Tile, TileParts, TileScratch};
use crate::cpu::activations::{BlockMeta, Group, SPAN, ends_span};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use crate::formats::ScaleForm;
use std::arch::x86_64::*;

pub static KERNELS: Kernels = Kernels {
    level: SimdLevel::Avx512,
    panel: 12,
    matmul_tile,
    row_tiles,
    ..avx2::KERNELS
};

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
    x: &Group<'_>,
    scratch: &mut TileScratch,
    out: &mut [[f32; TILE_ROWS]],
) {
    let parts = scratch.parts(tile, x);
    avx2::expand_scales(tile.form, tile.section, parts.scales);
    match tile.form.bits {
        2 => several::<2>(tile, parts, x, out),
        3 => several::<3>(tile, parts, x, out),
        4 => several::<4>(tile, parts, x, out),
        5 => several::<5>(tile, parts, x, out),
        6 => several::<6>(tile, parts, x, out),
        _ => several::<8>(tile, parts, x, out),
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn row_tiles(
    tiles: &[Tile<'_>],
    x: &Group<'_>,
    scratch: &mut TileScratch,
    out: &mut [[f32; TILE_ROWS]],
) {
    let mut rest = tiles;
    let mut out = out;
    while let [first, ..] = rest {
        let same = rest.iter().take_while(|t| t.form == first.form).count();
        let (tiles, others) = rest.split_at(same.min(STREAMS));
        let (to, other_rows) = out.split_at_mut(tiles.len());
        let scales = avx2::expanded(tiles, x, scratch);
        of_form!(first.form, one, (tiles, scales, x, to));
        (rest, out) = (others, other_rows);
    }
}

/// `acc + bias·x_sum + float(ints)·scale`: in units of the activations' scale.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn flush(acc: __m512, ints: __m512i, scale: __m512, bias: __m512, sum: f32) -> __m512 {
    let acc = _mm512_fmadd_ps(bias, _mm512_set1_ps(sum), acc);
    _mm512_fmadd_ps(_mm512_cvtepi32_ps(ints), scale, acc)
}

/// One token row (decode): codes unpacked in registers, a block of each tile in turn.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn one<const BITS: usize, const HALVES: bool, const SCALES: u8>(
    tiles: &[Tile<'_>],
    scales: &[ScaleEntry],
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let blocks = x.blocks;
    let entries = if HALVES { 2 } else { 1 };
    assert!(tiles.len() <= STREAMS && out.len() == tiles.len() && x.rows == 1);
    assert!(x.ints.len() >= blocks * BLOCK && x.meta.len() >= blocks);
    assert!(SCALES != EXPANDED || scales.len() >= tiles.len() * blocks * entries);
    let mut zero = 0.0;
    for tile in tiles {
        assert!(tile.codes.len() >= blocks * BITS * 64);
        assert!(SCALES != STORED_F16 || tile.section.len() >= blocks * 64);
        assert!(SCALES != ZERO_F16 || tile.section.len() >= blocks * 32);
        if let ScaleForm::Zero(_, z) = tile.form.scale {
            zero = -f32::from(z);
        }
    }
    let ahead = if tiles.len() == 1 { 2048 } else { 1024 };
    let mut total = [_mm512_setzero_ps(); STREAMS];
    let mut acc = total;
    for b in 0..blocks {
        for (t, (tile, acc)) in tiles.iter().zip(&mut acc).enumerate() {
            // SAFETY: all offsets stay inside the lengths asserted above; prefetches may point
            // anywhere.
            unsafe {
                let x_pairs = x.ints.as_ptr().cast::<i32>().add(b * BLOCK / 2);
                let meta = x.meta.get_unchecked(b);
                let codes = tile.codes.as_ptr().add(b * BITS * 64);
                for line in 0..BITS {
                    _mm_prefetch::<_MM_HINT_T0>(codes.wrapping_add(ahead + line * 64).cast());
                }
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
                        let pair = code_pair!(BITS, codes, J);
                        ints[J % 2] = _mm512_dpwssd_epi32(ints[J % 2], pair, x);
                    });
                    let sum = match (HALVES, half) {
                        (false, _) => meta.sum,
                        (true, 0) => meta.sum_low,
                        (true, _) => meta.sum_high,
                    };
                    let halves = |at: usize| {
                        let at = tile.section.as_ptr().add(at);
                        _mm512_cvtph_ps(_mm256_loadu_si256(at.cast()))
                    };
                    let (scale, bias) = match SCALES {
                        STORED_F16 => (halves(b * 64), halves(b * 64 + 32)),
                        ZERO_F16 => {
                            let scale = halves(b * 32);
                            (scale, _mm512_mul_ps(scale, _mm512_set1_ps(zero)))
                        }
                        _ => {
                            let [scale, bias] =
                                scales.get_unchecked((t * blocks + b) * entries + half);
                            (
                                _mm512_loadu_ps(scale.as_ptr()),
                                _mm512_loadu_ps(bias.as_ptr()),
                            )
                        }
                    };
                    let ints = _mm512_add_epi32(ints[0], ints[1]);
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

/// Several token rows: each block is unpacked once and used by all of them.
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
    assert!(tile.codes.len() >= x.blocks * BITS * 64 && scales.len() >= x.blocks * parts);
    for b in 0..x.blocks {
        // SAFETY: block `b` lies inside the codes; `words` holds 16 pairs of 16 rows.
        unsafe {
            let codes = tile.codes.as_ptr().add(b * BITS * 64);
            for_pairs!(0, 16, J, {
                let to = words.0.as_mut_ptr().add(J * 32);
                _mm512_store_si512(to.cast(), code_pair!(BITS, codes, J));
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
