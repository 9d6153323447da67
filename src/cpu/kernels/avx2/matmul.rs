//! The quantized product: 16-bit pairs multiplied (`vpmaddwd`) and added in 32 bits, exact, then
//! scaled per group in f32. A block is unpacked to pairs once (1 KiB, L1) and used by all token rows.

use super::codes::shift;
use super::panels::{Part, panels};
use super::scales::expand_scales;
use super::values::integers;
use crate::cpu::activations::{Group, SPAN, ends_span};
use crate::cpu::kernels::{Tile, TileParts, TileScratch};
use crate::cpu::packed::{BLOCK, TILE_ROWS, block_bytes};
use crate::formats::Values;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,fma,f16c")]
pub fn matmul_tile(
    tile: &Tile<'_>,
    x: &Group<'_>,
    scratch: &mut TileScratch,
    out: &mut [[f32; TILE_ROWS]],
) {
    let parts = scratch.parts(tile, x);
    expand_scales(tile.form, tile.section, parts.scales);
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

/// Several token rows: each block is unpacked once and used by all of them. `BITS`: 0 of codes that
/// stand for other numbers.
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
                    _mm256_store_si256(to.cast(), code_pair!(BITS, codes, J));
                    _mm256_store_si256(to.add(16).cast(), code_pair!(BITS, codes.add(32), J));
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
