//! The product of one token row with codes that stand for other numbers: a block's integers are made in
//! memory (1 KiB, L1), then multiplied.

use super::one_row::Ahead;
use super::panels::{few_rows, flush};
use super::scales::expand_span;
use super::values::integers;
use crate::cpu::activations::{Group, SPAN, ends_span};
use crate::cpu::kernels::{STREAMS, SpanScales, Tile, Words};
use crate::cpu::packed::{BLOCK, TILE_ROWS, block_bytes};
use crate::formats::Values;
use std::arch::x86_64::*;

/// Tiles of one form, up to [`STREAMS`].
#[target_feature(enable = "avx2,fma,f16c")]
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
    let (blocks, size) = (x.blocks, block_bytes(form));
    let (halves, floats) = (tiles[0].halves(), form.values == Values::E4M3);
    let entries = if halves { 2 } else { 1 };
    let ahead = Ahead::new(tiles, blocks);
    assert!(tiles.len() <= STREAMS && x.rows == 1);
    assert!(x.ints.len() >= blocks * BLOCK && x.meta.len() >= blocks);
    let mut total = [[_mm256_setzero_ps(); 2]; STREAMS];
    let mut acc = total;
    for b in 0..blocks {
        let meta = &x.meta[b];
        for (t, (tile, acc)) in tiles.iter().zip(&mut acc).enumerate() {
            if b % SPAN == 0 {
                let count = SPAN.min(blocks - b) * entries;
                expand_span(tile, b, &mut scales[t][..count]);
            }
            let block = &tile.codes[b * size..(b + 1) * size];
            ahead.ask(tile, b, ahead.lines());
            let entry = &scales[t][b % SPAN * entries..][..entries];
            let mut add = |entry: &[[f32; TILE_ROWS]; 2], ints: [__m256i; 2], sum, unit| {
                for h in 0..2 {
                    // SAFETY: rows of 16.
                    unsafe {
                        let scale = _mm256_loadu_ps(entry[0].as_ptr().add(8 * h));
                        let bias = _mm256_loadu_ps(entry[1].as_ptr().add(8 * h));
                        let scale = _mm256_mul_ps(scale, _mm256_set1_ps(unit));
                        acc[h] = flush(acc[h], ints[h], scale, bias, sum);
                    }
                }
            };
            // SAFETY: 16 pairs of `x`, whose length was checked, and of `words`.
            unsafe {
                let x = x.ints.as_ptr().add(b * BLOCK).cast::<i32>();
                if floats {
                    integers(form, true, block, words);
                    let ints = few_rows::<1, 16>(x, words.0.as_ptr())[0];
                    add(&entry[0], ints, 0.0, 256.0);
                }
                integers(form, false, block, words);
                if halves {
                    let ints = few_rows::<1, 8>(x, words.0.as_ptr())[0];
                    add(&entry[0], ints, meta.sum_low, 1.0);
                    let ints = few_rows::<1, 8>(x.add(8), words.0.as_ptr().add(256))[0];
                    add(&entry[1], ints, meta.sum_high, 1.0);
                } else {
                    let ints = few_rows::<1, 16>(x, words.0.as_ptr())[0];
                    add(&entry[0], ints, meta.sum, 1.0);
                }
            }
        }
        if ends_span(b, blocks) {
            let scale = _mm256_set1_ps(meta.scale);
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
