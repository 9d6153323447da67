//! The inner products of several token rows: a block's words, unpacked before, times panels of rows.

use super::four_rows::FlushTo;
use crate::cpu::activations::BlockMeta;
use crate::cpu::kernels::{ScaleEntry, Words};
use crate::cpu::packed::{BLOCK, TILE_ROWS};
use std::arch::x86_64::*;
use std::mem::offset_of;

/// The pairs of a block's part and where their products go.
pub struct Part<'a> {
    /// The block's pairs of all token rows.
    pub ints: &'a [i16],
    pub words: &'a Words,
    /// The first pair.
    pub from: usize,
    /// The block's facts of all token rows.
    pub meta: &'a [BlockMeta],
    pub entry: &'a ScaleEntry,
    /// Whether it is the first of a span and begins its sums.
    pub begins: bool,
    /// Whether it is the last of a span, whose sums then go to `out`.
    pub ends: bool,
    pub sums: &'a mut [[f32; TILE_ROWS]],
    pub out: &'a mut [[f32; TILE_ROWS]],
}

/// `acc + bias·x_sum + float(ints)·scale`: in units of the activations' scale.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub fn flush(acc: __m256, ints: __m256i, scale: __m256, bias: __m256, sum: f32) -> __m256 {
    let acc = _mm256_fmadd_ps(bias, _mm256_set1_ps(sum), acc);
    _mm256_fmadd_ps(_mm256_cvtepi32_ps(ints), scale, acc)
}

/// All token rows × `PAIRS` pairs of a block, in panels of four.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub fn panels<const PAIRS: usize>(part: Part<'_>) {
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
    assert!(ints.len() >= rows * BLOCK && from + PAIRS <= 16);
    assert!(sums.len() >= rows && out.len() >= rows);
    // The sum of a whole block, of its first or of its last half.
    let sum = match (PAIRS, from) {
        (16, _) => offset_of!(BlockMeta, sum),
        (_, 0) => offset_of!(BlockMeta, sum_low),
        _ => offset_of!(BlockMeta, sum_high),
    };
    let mut row = 0;
    // SAFETY: offsets stay inside the lengths asserted above; `words` is 64-byte aligned.
    unsafe {
        let words = words.0.as_ptr().add(from * 32);
        while row + 4 <= rows {
            let x = ints.as_ptr().add(row * BLOCK + from * 8).cast::<i32>();
            let scale = meta.as_ptr().add(row);
            let to = FlushTo {
                sum: scale.byte_add(sum),
                scale,
                entry: entry.as_ptr(),
                sums: sums.as_mut_ptr().add(row),
                out: out.as_mut_ptr().add(row),
            };
            if begins {
                panel_of!(begin, PAIRS, x, words, to);
                if ends {
                    settle(&meta[row..row + 4], &sums[row..], &mut out[row..]);
                }
            } else if ends {
                panel_of!(end, PAIRS, x, words, to);
            } else {
                panel_of!(middle, PAIRS, x, words, to);
            }
            row += 4;
        }
        let x = |rest: usize| {
            ints.as_ptr()
                .add(row * BLOCK + from * 2 * rest)
                .cast::<i32>()
        };
        let mut flush_row = |r: usize, ints: &[__m256i; 2]| {
            let row = row + r;
            let sum = *meta.as_ptr().add(row).byte_add(sum).cast::<f32>();
            for (h, &ints) in ints.iter().enumerate() {
                let at = sums[row].as_mut_ptr().add(8 * h);
                let [scale, bias] = [entry[0].as_ptr().add(8 * h), entry[1].as_ptr().add(8 * h)];
                let mut acc = _mm256_setzero_ps();
                if !begins {
                    acc = _mm256_loadu_ps(at);
                }
                let (scale, bias) = (_mm256_loadu_ps(scale), _mm256_loadu_ps(bias));
                _mm256_storeu_ps(at, flush(acc, ints, scale, bias, sum));
            }
        };
        match rows - row {
            1 => {
                let ints = few_rows::<1, PAIRS>(x(1), words);
                flush_row(0, &ints[0]);
            }
            2 => {
                let ints = few_rows::<2, PAIRS>(x(2), words);
                (0..2).for_each(|r| flush_row(r, &ints[r]));
            }
            3 => {
                let ints = few_rows::<3, PAIRS>(x(3), words);
                (0..3).for_each(|r| flush_row(r, &ints[r]));
            }
            _ => {}
        }
    }
    if ends {
        settle(&meta[row..], &sums[row..], &mut out[row..]);
    }
}

/// `out += sums · scale`: the end of a span.
#[target_feature(enable = "avx2,fma,f16c")]
pub fn settle(meta: &[BlockMeta], sums: &[[f32; TILE_ROWS]], out: &mut [[f32; TILE_ROWS]]) {
    for ((meta, sums), out) in meta.iter().zip(sums).zip(out) {
        let scale = _mm256_set1_ps(meta.scale);
        for h in 0..2 {
            // SAFETY: rows of 16.
            unsafe {
                let sum = _mm256_loadu_ps(sums.as_ptr().add(8 * h));
                let to = out.as_mut_ptr().add(8 * h);
                _mm256_storeu_ps(to, _mm256_fmadd_ps(sum, scale, _mm256_loadu_ps(to)));
            }
        }
    }
}

/// `R` token rows × `PAIRS` pairs.
///
/// # Safety
/// `x` holds `R·PAIRS` pairs, `words` `PAIRS·32` words, 32-byte aligned.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
pub unsafe fn few_rows<const R: usize, const PAIRS: usize>(
    x: *const i32,
    words: *const i16,
) -> [[__m256i; 2]; R] {
    let mut ints = [[_mm256_setzero_si256(); 2]; R];
    for j in 0..PAIRS {
        // SAFETY: by contract.
        unsafe {
            let low = _mm256_load_si256(words.add(j * 32).cast());
            let high = _mm256_load_si256(words.add(j * 32 + 16).cast());
            for (r, ints) in ints.iter_mut().enumerate() {
                let x = _mm256_set1_epi32(x.add(j * R + r).read_unaligned());
                ints[0] = _mm256_add_epi32(ints[0], _mm256_madd_epi16(low, x));
                ints[1] = _mm256_add_epi32(ints[1], _mm256_madd_epi16(high, x));
            }
        }
    }
    ints
}
