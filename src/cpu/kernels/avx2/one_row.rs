//! The quantized product of one token row (decode): codes are unpacked in registers.
//!
//! Up to [`STREAMS`] tiles are multiplied at once, a block of each in turn. They come from places far
//! apart, and a core reads several streams faster than one: 37 GB/s against 25 on the machine where
//! this was measured. Each stream's bytes are asked for as they lie in memory, scales too, 4 KiB ahead and into the L2
//! cache: asked for into L1 a token took 1.4 times as long on a Zen 4.

use super::codes::shift;
use super::panels::flush;
use super::scales::{
    EXPANDED, STORED_BF16, STORED_F16, SUPER_MIN, SUPER_ZERO, ZERO_F16, direct_scales, expand_span,
    scales_of, units,
};
use super::values_row::values_row;
use crate::cpu::activations::{Bytes, Group, SPAN, ends_span};
use crate::cpu::kernels::{RowOut, STREAMS, SpanScales, Tile, TileScratch};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use crate::formats::{GroupForm, ScaleForm, Values};
use std::arch::x86_64::*;
use std::ops::Range;

/// Calls a kernel's body for tiles of a form.
macro_rules! of_form {
    ($form:expr, $one:ident, $args:tt) => {
        match ($form.bits, scales_of($form)) {
            (4, STORED_F16) => $one::<4, false, STORED_F16> $args,
            (5, STORED_F16) => $one::<5, false, STORED_F16> $args,
            (8, STORED_F16) => $one::<8, false, STORED_F16> $args,
            (4, STORED_BF16) => $one::<4, false, STORED_BF16> $args,
            (5, STORED_BF16) => $one::<5, false, STORED_BF16> $args,
            (8, STORED_BF16) => $one::<8, false, STORED_BF16> $args,
            (4, ZERO_F16) => $one::<4, false, ZERO_F16> $args,
            (5, ZERO_F16) => $one::<5, false, ZERO_F16> $args,
            (8, ZERO_F16) => $one::<8, false, ZERO_F16> $args,
            (2, SUPER_MIN) => $one::<2, true, SUPER_MIN> $args,
            (4, SUPER_MIN) => $one::<4, false, SUPER_MIN> $args,
            (5, SUPER_MIN) => $one::<5, false, SUPER_MIN> $args,
            (3, SUPER_ZERO) => $one::<3, true, SUPER_ZERO> $args,
            (6, SUPER_ZERO) => $one::<6, true, SUPER_ZERO> $args,
            (2, _) => $one::<2, false, EXPANDED> $args,
            (3, _) => $one::<3, false, EXPANDED> $args,
            (4, _) => $one::<4, false, EXPANDED> $args,
            (5, _) => $one::<5, false, EXPANDED> $args,
            (6, _) => $one::<6, false, EXPANDED> $args,
            _ => $one::<8, false, EXPANDED> $args,
        }
    };
}
pub(in crate::cpu::kernels) use of_form;

#[target_feature(enable = "avx2,fma,f16c")]
pub fn rows_tiles(
    tiles: &[Tile<'_>],
    rows: &[Group<'_>],
    scratch: &mut TileScratch,
    out: &mut [RowOut],
) {
    let (scales, words) = scratch.row_parts();
    for same in by_form(tiles) {
        let tiles = &tiles[same.clone()];
        for (x, out) in rows.iter().zip(&mut *out) {
            let out = &mut out[same.clone()];
            if tiles[0].form.values != Values::Code {
                values_row(tiles, scales, words, x, out);
            } else {
                of_form!(tiles[0].form, one, (tiles, scales, x, out));
            }
        }
    }
}

/// Neighbours of one form, of up to [`STREAMS`] tiles.
#[inline(always)]
pub fn by_form(tiles: &[Tile<'_>]) -> impl Iterator<Item = Range<usize>> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let form = tiles.get(from)?.form;
        let same = tiles[from..].iter().take_while(|tile| tile.form == form);
        let found = from..from + same.count();
        from = found.end;
        Some(found)
    })
}

/// Bytes of a tile that come next, asked for as they lie in memory: the tile's own, then those of the tile behind it.
#[derive(Clone, Copy)]
pub struct Ahead {
    /// From the tile's first byte.
    bytes: usize,
    /// Bytes of a block and of its share of the scales.
    stride: usize,
}

impl Ahead {
    /// For tiles of one form, at least one.
    #[inline(always)]
    pub fn new(tiles: &[Tile<'_>], blocks: usize) -> Ahead {
        let (section, codes) = (tiles[0].section.len(), tiles[0].codes.len());
        Ahead {
            bytes: if tiles.len() == 1 { 8192 } else { 4096 },
            stride: (section + codes) / blocks.max(1),
        }
    }

    /// Cache lines of a block and of its share of the scales.
    #[inline(always)]
    pub fn lines(&self) -> usize {
        self.stride.div_ceil(64)
    }

    /// Asks for so many lines while block `b` of a tile is multiplied.
    #[inline(always)]
    pub fn ask(&self, tile: &Tile<'_>, b: usize, lines: usize) {
        let at = tile
            .section
            .as_ptr()
            .wrapping_add(self.bytes + b * self.stride);
        for line in 0..lines {
            // SAFETY: prefetches may point anywhere.
            unsafe { _mm_prefetch::<_MM_HINT_T1>(at.wrapping_add(line * 64).cast()) };
        }
    }
}

/// What is the same in all blocks of `one`.
pub struct RowPlan {
    /// Groups of a block.
    pub entries: usize,
    /// Blocks that share a unit of the scale section, as a power of two.
    pub shared: u32,
    /// Bytes of a unit.
    pub unit: usize,
    /// The negative of a fixed zero point.
    pub zero: f32,
    /// What is asked for while a block is multiplied.
    pub ahead: Ahead,
}

impl RowPlan {
    /// For tiles of one form and rows, at least one of each; panics where the operands are not as long as `one` reads.
    #[inline(always)]
    pub fn new<const BITS: usize, const HALVES: bool, const SCALES: u8>(
        tiles: &[Tile<'_>],
        rows: &[Group<'_>],
    ) -> RowPlan {
        let GroupForm { group, scale, .. } = tiles[0].form;
        let blocks = rows[0].blocks;
        let entries = if HALVES { 2 } else { 1 };
        assert!(tiles.len() <= STREAMS);
        for x in rows {
            assert!(x.rows == 1 && x.blocks == blocks);
            assert!(x.ints.len() >= blocks * BLOCK && x.meta.len() >= blocks);
            assert!(BITS != 4 || x.bytes.len() >= blocks);
        }
        assert!(group < BLOCK && HALVES || group.is_power_of_two() && !HALVES);
        let (shared, unit) = units::<SCALES>(group, entries);
        for tile in tiles {
            assert!(tile.codes.len() >= blocks * BITS * 64);
            assert!(tile.section.len() >= blocks.div_ceil(1 << shared) * unit);
        }
        RowPlan {
            entries,
            shared,
            unit,
            zero: match scale {
                ScaleForm::Zero(_, zero) | ScaleForm::SuperZero(zero) => -f32::from(zero),
                _ => 0.0,
            },
            ahead: Ahead::new(tiles, blocks),
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
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
    } = RowPlan::new::<BITS, HALVES, SCALES>(tiles, std::slice::from_ref(x));
    let mut total = [[_mm256_setzero_ps(); 2]; STREAMS];
    let mut acc = total;
    for b in 0..blocks {
        if SCALES == EXPANDED && b % SPAN == 0 {
            let count = SPAN.min(blocks - b) * entries;
            for (tile, scales) in tiles.iter().zip(&mut *scales) {
                expand_span(tile, b, &mut scales[..count]);
            }
        }
        // The loop over tiles stays one: unrolled, the compiler works on all at once and runs out of
        // registers.
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
                    let mut ints = [_mm256_setzero_si256(); 2];
                    if BITS == 4 {
                        ints = four_bits(codes, x.bytes.get_unchecked(b));
                    } else {
                        for_pairs!(from, to, J, {
                            let x = _mm256_set1_epi32(x_pairs.add(J).read_unaligned());
                            let low = code_pair!(BITS, codes, J);
                            let high = code_pair!(BITS, codes.add(32), J);
                            ints[0] = _mm256_add_epi32(ints[0], _mm256_madd_epi16(low, x));
                            ints[1] = _mm256_add_epi32(ints[1], _mm256_madd_epi16(high, x));
                        });
                    }
                    let sum = match (HALVES, half) {
                        (false, _) => meta.sum,
                        (true, 0) => meta.sum_low,
                        (true, _) => meta.sum_high,
                    };
                    for h in 0..2 {
                        let (scale, bias) = if SCALES == EXPANDED {
                            let [scale, bias] = &scales[t][b % SPAN * entries + half];
                            (
                                _mm256_loadu_ps(scale.as_ptr().add(8 * h)),
                                _mm256_loadu_ps(bias.as_ptr().add(8 * h)),
                            )
                        } else {
                            let unit = tile.section.as_ptr().add((b >> shared) * unit);
                            direct_scales::<SCALES>(unit, b % SPAN * entries + half, h, zero)
                        };
                        acc[h] = flush(acc[h], ints[h], scale, bias, sum);
                    }
                }
            }
        }
        if ends_span(b, blocks) {
            let scale = _mm256_set1_ps(x.meta[b].scale);
            for (total, acc) in total.iter_mut().zip(&mut acc) {
                for h in 0..2 {
                    total[h] = _mm256_fmadd_ps(acc[h], scale, total[h]);
                    acc[h] = _mm256_setzero_ps();
                }
            }
        }
    }
    for (total, out) in total.iter().zip(out) {
        // SAFETY: rows of 16.
        unsafe {
            _mm256_storeu_ps(out.as_mut_ptr(), total[0]);
            _mm256_storeu_ps(out.as_mut_ptr().add(8), total[1]);
        }
    }
}

/// Eight rows of a vector of codes: both nibbles times the low and the high bytes of their columns.
macro_rules! asm_codes {
    ($v:literal, $half:literal, $low:literal, $high:literal) => {
        concat!(
            "vmovdqu {n1}, ymmword ptr [{c} + 64 * ",
            $v,
            " + ",
            $half,
            "]\n",
            "vpand {n0}, {n1}, {mask}\n",
            "vpsrlw {n1}, {n1}, 4\n",
            "vpand {n1}, {n1}, {mask}\n",
            "vpmaddubsw {p0}, {n0}, {low0}\n",
            "vpmaddubsw {n0}, {n0}, {high0}\n",
            "vpmaddubsw {p1}, {n1}, {low1}\n",
            "vpmaddubsw {n1}, {n1}, {high1}\n",
            "vpaddw {",
            $low,
            "}, {",
            $low,
            "}, {p0}\n",
            "vpaddw {",
            $high,
            "}, {",
            $high,
            "}, {n0}\n",
            "vpaddw {",
            $low,
            "}, {",
            $low,
            "}, {p1}\n",
            "vpaddw {",
            $high,
            "}, {",
            $high,
            "}, {n1}\n",
        )
    };
}

/// Eight columns: a vector of codes for each eight rows.
macro_rules! asm_columns {
    ($v:literal) => {
        concat!(
            "vpbroadcastd {low0}, dword ptr [{x} + 16 * ",
            $v,
            "]\n",
            "vpbroadcastd {low1}, dword ptr [{x} + 16 * ",
            $v,
            " + 4]\n",
            "vpbroadcastd {high0}, dword ptr [{x} + 16 * ",
            $v,
            " + 8]\n",
            "vpbroadcastd {high1}, dword ptr [{x} + 16 * ",
            $v,
            " + 12]\n",
            asm_codes!($v, "0", "l0", "h0"),
            asm_codes!($v, "32", "l1", "h1"),
        )
    };
}

/// A block of 4-bit codes times one token row's bytes: `Σ codes·(256·high + low)`, exact. Four columns
/// a multiply (`vpmaddubsw`) instead of two, at the price of two multiplies; fewer instructions
/// altogether, as one mask serves four columns. In assembly because the compiler puts the additions
/// in one chain and the sums on the stack.
///
/// # Safety
/// `codes` holds 256 bytes.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
unsafe fn four_bits(codes: *const u8, x: &Bytes) -> [__m256i; 2] {
    // No sum leaves 16 bits: 8 · 2 · 15 · 128.
    let mut low = [_mm256_setzero_si256(); 2];
    let mut high = low;
    // SAFETY: reads 256 bytes of codes and the 64 of `x`.
    unsafe {
        std::arch::asm!(
            asm_columns!("0"),
            asm_columns!("1"),
            asm_columns!("2"),
            asm_columns!("3"),
            c = in(reg) codes,
            x = in(reg) x,
            mask = in(ymm_reg) _mm256_set1_epi8(15),
            l0 = inout(ymm_reg) low[0], h0 = inout(ymm_reg) high[0],
            l1 = inout(ymm_reg) low[1], h1 = inout(ymm_reg) high[1],
            n0 = out(ymm_reg) _, n1 = out(ymm_reg) _,
            p0 = out(ymm_reg) _, p1 = out(ymm_reg) _,
            low0 = out(ymm_reg) _, low1 = out(ymm_reg) _,
            high0 = out(ymm_reg) _, high1 = out(ymm_reg) _,
            options(nostack, readonly, preserves_flags),
        );
    }
    std::array::from_fn(|h| {
        let high = _mm256_madd_epi16(high[h], _mm256_set1_epi16(256));
        _mm256_add_epi32(high, _mm256_madd_epi16(low[h], _mm256_set1_epi16(1)))
    })
}
