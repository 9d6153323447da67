//! The product of one token row with codes that stand for other numbers.

use super::flush;
use super::values::{Planes, integers};
use crate::cpu::activations::{Group, SPAN, ends_span};
use crate::cpu::kernels::avx2;
use crate::cpu::kernels::{STREAMS, ScaleEntry, SpanScales, Tile, Words};
use crate::cpu::packed::{BLOCK, TILE_ROWS, block_bytes};
use crate::formats::{Grid, GroupForm, Table, Values};
use std::arch::x86_64::*;

/// Tiles of one form, up to [`STREAMS`], times one token row.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
pub fn values_row(
    tiles: &[Tile<'_>],
    scales: &mut SpanScales,
    words: &mut Words,
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let Some(form) = tiles.first().map(|tile| tile.form) else {
        return;
    };
    macro_rules! planes {
        ($columns:literal, $high:literal, $one_sign:literal, $table:expr) => {
            planes::<$columns, $high, $one_sign>(form, $table, tiles, scales, x, out)
        };
    }
    match form.values {
        Values::Code | Values::E4M3 => floats(tiles, scales, words, x, out),
        Values::Table(table) => planes!(0, 0, false, table),
        Values::Grid(grid) => match grid {
            Grid::Iq2Xxs => planes!(8, 0, false, grid.table()),
            Grid::Iq2Xs => planes!(8, 1, false, grid.table()),
            Grid::Iq2S => planes!(8, 2, false, grid.table()),
            Grid::Iq3Xxs => planes!(4, 0, false, grid.table()),
            Grid::Iq3S => planes!(4, 1, false, grid.table()),
            Grid::Iq1 => planes!(8, 4, true, grid.table()),
        },
    }
}

/// Four-bit codes, looked up and multiplied in registers.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn planes<const COLUMNS: usize, const HIGH: usize, const ONE_SIGN: bool>(
    form: GroupForm,
    table: Table,
    tiles: &[Tile<'_>],
    scales: &mut SpanScales,
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let planes = Planes::<COLUMNS, HIGH, ONE_SIGN>::new(form, table);
    let halves = tiles[0].halves();
    let moved = _mm512_set1_epi32(-128);
    // `128·Σx`, an exact integer, is taken off again.
    let centered = |ints: __m512i, sum: f32| {
        let sum = _mm512_cvtps_epi32(_mm512_set1_ps(sum));
        _mm512_add_epi32(ints, _mm512_mullo_epi32(sum, moved))
    };
    assert!(x.bytes.len() >= x.blocks);
    each_block(tiles, scales, x, out, |b, block, entry, acc| {
        let (bytes, meta) = (&x.bytes[b], &x.meta[b]);
        // SAFETY: `block` is a whole one of the form.
        unsafe {
            if halves {
                let first = planes.dot::<2>(block.as_ptr(), bytes, 0);
                let acc = add(
                    acc,
                    &entry[0],
                    centered(first, meta.sum_low),
                    meta.sum_low,
                    1.0,
                );
                let last = planes.dot::<2>(block.as_ptr(), bytes, 2);
                add(
                    acc,
                    &entry[1],
                    centered(last, meta.sum_high),
                    meta.sum_high,
                    1.0,
                )
            } else {
                let ints = planes.dot::<4>(block.as_ptr(), bytes, 0);
                add(acc, &entry[0], centered(ints, meta.sum), meta.sum, 1.0)
            }
        }
    });
}

/// 8-bit floats: a block's integers are made in memory (1 KiB, L1), twice, then multiplied.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
fn floats(
    tiles: &[Tile<'_>],
    scales: &mut SpanScales,
    words: &mut Words,
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
) {
    let form = tiles[0].form;
    assert!(x.ints.len() >= x.blocks * BLOCK && !tiles[0].halves());
    each_block(tiles, scales, x, out, |b, block, entry, acc| {
        // SAFETY: 16 pairs of `x`, whose length was checked, and of `words`.
        unsafe {
            let x_pairs = x.ints.as_ptr().add(b * BLOCK).cast::<i32>();
            integers(form, true, block, words);
            let high = dot(x_pairs, words.0.as_ptr());
            let acc = add(acc, &entry[0], high, 0.0, 256.0);
            integers(form, false, block, words);
            let low = dot(x_pairs, words.0.as_ptr());
            add(acc, &entry[0], low, x.meta[b].sum, 1.0)
        }
    });
}

/// `acc` and a group's products.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn add(acc: __m512, entry: &ScaleEntry, ints: __m512i, sum: f32, unit: f32) -> __m512 {
    // SAFETY: rows of 16.
    let [scale, bias] = [0, 1].map(|i| unsafe { _mm512_loadu_ps(entry[i].as_ptr()) });
    let scale = _mm512_mul_ps(scale, _mm512_set1_ps(unit));
    flush(acc, ints, scale, bias, sum)
}

/// Goes through the blocks, of each tile in turn: `sum(block, its bytes, its scales, sums so far)` gives the
/// sums of a span of activations.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
fn each_block(
    tiles: &[Tile<'_>],
    scales: &mut SpanScales,
    x: &Group<'_>,
    out: &mut [[f32; TILE_ROWS]],
    mut sum: impl FnMut(usize, &[u8], &[ScaleEntry], __m512) -> __m512,
) {
    let (blocks, size) = (x.blocks, block_bytes(tiles[0].form));
    let entries = if tiles[0].halves() { 2 } else { 1 };
    let ahead = avx2::Ahead::new(tiles, blocks);
    assert!(tiles.len() <= STREAMS && x.rows == 1 && x.meta.len() >= blocks);
    let mut total = [_mm512_setzero_ps(); STREAMS];
    let mut acc = total;
    for b in 0..blocks {
        for (t, (tile, acc)) in tiles.iter().zip(&mut acc).enumerate() {
            if b % SPAN == 0 {
                let count = SPAN.min(blocks - b) * entries;
                avx2::expand_span(tile, b, &mut scales[t][..count]);
            }
            let block = &tile.codes[b * size..(b + 1) * size];
            ahead.ask(tile, b, ahead.lines());
            let entry = &scales[t][b % SPAN * entries..][..entries];
            *acc = sum(b, block, entry, *acc);
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

/// A block of words times one row's pairs.
///
/// # Safety
/// `x` holds 16 pairs, `words` 512 words, 64-byte aligned.
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512vnni,avx2,fma,f16c")]
#[inline]
unsafe fn dot(x: *const i32, words: *const i16) -> __m512i {
    // Two chains hide the latency of the multiply-add.
    let mut ints = [_mm512_setzero_si512(); 2];
    for j in 0..16 {
        // SAFETY: by contract.
        unsafe {
            let pairs = _mm512_load_si512(words.add(j * 32).cast());
            let x = _mm512_set1_epi32(x.add(j).read_unaligned());
            ints[j % 2] = _mm512_dpwssd_epi32(ints[j % 2], pairs, x);
        }
    }
    _mm512_add_epi32(ints[0], ints[1])
}
