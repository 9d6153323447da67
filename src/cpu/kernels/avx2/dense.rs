//! Products of unquantized weights, lanes along the columns.

use crate::cpu::kernels::{DenseTile, portable};
use crate::cpu::packed::TILE_ROWS;
use crate::formats::ScalarType;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,fma,f16c")]
pub fn dense_tile(tile: &DenseTile<'_>, x: &[f32], out: &mut [[f32; TILE_ROWS]]) {
    out.fill([0.0; TILE_ROWS]);
    let pairs = x.chunks(2 * tile.cols).zip(out.chunks_mut(2));
    for (x, out) in pairs {
        for r in (0..tile.rows).step_by(4) {
            let n = (tile.rows - r).min(4);
            match (n, out.len()) {
                (4, 2) => dense_dot::<4, 2>(tile, r, x, out),
                (4, _) => dense_dot::<4, 1>(tile, r, x, out),
                _ => {
                    for i in r..r + n {
                        for (x, out) in x.chunks_exact(tile.cols).zip(out.iter_mut()) {
                            dense_dot::<1, 1>(tile, i, x, std::slice::from_mut(out));
                        }
                    }
                }
            }
        }
    }
}

/// `R` weight rows × `C` token rows, lanes along the columns.
#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn dense_dot<const R: usize, const C: usize>(
    tile: &DenseTile<'_>,
    first: usize,
    x: &[f32],
    out: &mut [[f32; TILE_ROWS]],
) {
    let cols = tile.cols;
    let size = if tile.ty == ScalarType::F32 { 4 } else { 2 };
    assert!(tile.data.len() >= (first + R) * cols * size && x.len() >= C * cols);
    let mut acc = [[_mm256_setzero_ps(); C]; R];
    let whole = cols / 8 * 8;
    let data = tile.data.as_ptr();
    for k in (0..whole).step_by(8) {
        // SAFETY: rows `first..first + R` of `cols` values lie inside `data`, C rows inside `x`.
        unsafe {
            let x: [__m256; C] =
                std::array::from_fn(|c| _mm256_loadu_ps(x.as_ptr().add(c * cols + k)));
            for (r, acc) in acc.iter_mut().enumerate() {
                let at = data.add(((first + r) * cols + k) * size);
                let w = match tile.ty {
                    ScalarType::F32 => _mm256_loadu_ps(at.cast()),
                    ScalarType::F16 => _mm256_cvtph_ps(_mm_loadu_si128(at.cast())),
                    ScalarType::BF16 => {
                        let wide = _mm256_cvtepu16_epi32(_mm_loadu_si128(at.cast()));
                        _mm256_castsi256_ps(_mm256_slli_epi32::<16>(wide))
                    }
                };
                for c in 0..C {
                    acc[c] = _mm256_fmadd_ps(w, x[c], acc[c]);
                }
            }
        }
    }
    for (r, acc) in acc.iter().enumerate() {
        for (c, acc) in acc.iter().enumerate() {
            let mut lanes = [0.0f32; 8];
            // SAFETY: 8 lanes.
            unsafe { _mm256_storeu_ps(lanes.as_mut_ptr(), *acc) };
            let mut sum = lanes.iter().sum::<f32>();
            for k in whole..cols {
                let row = &tile.data[(first + r) * cols * size..];
                sum += portable::scalar(tile.ty, row, k) * x[c * cols + k];
            }
            out[c][first + r] = sum;
        }
    }
}
