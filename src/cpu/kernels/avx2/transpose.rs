//! Rows to lanes and back.

use crate::cpu::kernels::columns::{self, COLUMNS, Column};
use std::arch::x86_64::*;

/// Rows and columns of a square.
const N: usize = 8;

#[target_feature(enable = "avx2,fma,f16c")]
pub fn to_columns(rows: &[f32], columns: &mut [Column]) {
    let dim = columns.len();
    if !dim.is_multiple_of(N) {
        return columns::to_columns(rows, columns);
    }
    let count = rows.len() / dim;
    for (d, columns) in columns.chunks_exact_mut(N).enumerate() {
        for half in 0..COLUMNS / N {
            let mut square = [_mm256_setzero_ps(); N];
            let taken = count.saturating_sub(half * N);
            for (r, row) in square.iter_mut().enumerate().take(taken) {
                // SAFETY: inside row `half · N + r`.
                *row = unsafe { _mm256_loadu_ps(rows.as_ptr().add((half * N + r) * dim + d * N)) };
            }
            for (column, values) in columns.iter_mut().zip(transpose(square)) {
                // SAFETY: 8 of 16 lanes.
                unsafe { _mm256_storeu_ps(column.as_mut_ptr().add(half * N), values) };
            }
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
pub fn to_rows(columns: &[Column], rows: &mut [f32]) {
    let dim = columns.len();
    if !dim.is_multiple_of(N) {
        return columns::to_rows(columns, rows);
    }
    let count = rows.len() / dim;
    for (d, columns) in columns.chunks_exact(N).enumerate() {
        for half in 0..COLUMNS / N {
            let mut square = [_mm256_setzero_ps(); N];
            for (values, column) in square.iter_mut().zip(columns) {
                // SAFETY: 8 of 16 lanes.
                *values = unsafe { _mm256_loadu_ps(column.as_ptr().add(half * N)) };
            }
            let taken = count.saturating_sub(half * N);
            for (r, row) in transpose(square).into_iter().enumerate().take(taken) {
                let at = (half * N + r) * dim + d * N;
                // SAFETY: inside row `half · N + r`.
                unsafe { _mm256_storeu_ps(rows.as_mut_ptr().add(at), row) };
            }
        }
    }
}

#[target_feature(enable = "avx2,fma,f16c")]
#[inline]
fn transpose(r: [__m256; N]) -> [__m256; N] {
    let pair = |a, b| [_mm256_unpacklo_ps(a, b), _mm256_unpackhi_ps(a, b)];
    let [a0, a1] = pair(r[0], r[1]);
    let [b0, b1] = pair(r[2], r[3]);
    let [c0, c1] = pair(r[4], r[5]);
    let [d0, d1] = pair(r[6], r[7]);
    let quad = |a, b| {
        [
            _mm256_shuffle_ps::<0b01_00_01_00>(a, b),
            _mm256_shuffle_ps::<0b11_10_11_10>(a, b),
        ]
    };
    let ([e0, e1], [e2, e3]) = (quad(a0, b0), quad(a1, b1));
    let ([f0, f1], [f2, f3]) = (quad(c0, d0), quad(c1, d1));
    let low = |a, b| _mm256_permute2f128_ps::<0x20>(a, b);
    let high = |a, b| _mm256_permute2f128_ps::<0x31>(a, b);
    [
        low(e0, f0),
        low(e1, f1),
        low(e2, f2),
        low(e3, f3),
        high(e0, f0),
        high(e1, f1),
        high(e2, f2),
        high(e3, f3),
    ]
}
