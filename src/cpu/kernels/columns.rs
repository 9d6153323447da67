//! Attention of many query rows, rows in lanes: maxima, exponentials and sums of the softmax need no
//! work across lanes, and keys and values are broadcast.
//!
//! Each row's operations and their order are those of `body::attend_page`, so that a row gives the
//! same bits in either.

use super::AttendColumns;
use super::body::{exp, fma, soft_cap};
use crate::step::PAGE_TOKENS;

/// Query rows of one call.
pub const COLUMNS: usize = 16;

/// A value of every row.
pub type Column = [f32; COLUMNS];

/// Up to 16 rows `[rows][dim]` to columns `[dim]`; lanes without a row become 0.
pub fn to_columns(rows: &[f32], columns: &mut [Column]) {
    let dim = columns.len();
    for (d, column) in columns.iter_mut().enumerate() {
        column.fill(0.0);
        for (to, row) in column.iter_mut().zip(rows.chunks_exact(dim)) {
            *to = row[d];
        }
    }
}

/// Columns `[dim]` to up to 16 rows `[rows][dim]`.
pub fn to_rows(columns: &[Column], rows: &mut [f32]) {
    for (lane, row) in rows.chunks_exact_mut(columns.len()).enumerate() {
        for (to, column) in row.iter_mut().zip(columns) {
            *to = column[lane];
        }
    }
}

/// The two inner products of attention, of one SIMD level.
pub trait ColumnProducts {
    /// `scores[t] = Σ_d q[d]·k[d][t]` for the `T` tokens from `t`.
    ///
    /// # Safety
    /// `q` `[dim]`, `k` `[dim][PAGE_TOKENS]`, `t + T ≤ PAGE_TOKENS`.
    unsafe fn scores<const T: usize>(
        q: *const Column,
        k: *const f32,
        dim: usize,
        t: usize,
        scores: &mut [Column; PAGE_TOKENS],
    );

    /// `out[d] = out[d]·keep + Σ_t p[t]·v[t][d]` for the `D` dimensions from `d`, `t < last`.
    ///
    /// # Safety
    /// `out` `[dim]`, `v` `[PAGE_TOKENS][dim]`, `d + D ≤ dim`, `last ≤ PAGE_TOKENS`.
    unsafe fn values<const D: usize>(
        p: &[Column; PAGE_TOKENS],
        v: *const f32,
        dim: usize,
        d: usize,
        last: usize,
        keep: &Column,
        out: *mut Column,
    );
}

/// `0..n`, a multiple of 16, in steps of 6, the last ones of 4: `(from, step is 6)`.
fn steps(n: usize) -> impl Iterator<Item = (usize, bool)> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let left = n - from;
        let six = left >= 6 && left != 8;
        let step = (from, six);
        from += if six { 6 } else { 4 };
        (left > 0).then_some(step)
    })
}

/// One page of flash attention; the formulas are at `body::attend_page`.
#[inline(always)]
pub fn attend_columns<const F: bool, P: ColumnProducts>(page: &mut AttendColumns<'_>) {
    const N: usize = PAGE_TOKENS;
    let dim = page.q.len();
    let (k, v, seen) = (page.k, page.v, page.seen);
    let last = seen.iter().map(|s| s.1).max().unwrap_or(0);
    assert!(dim.is_multiple_of(16) && page.out.len() >= dim && last <= N);
    assert!(k.len() >= dim * N && v.len() >= dim * N);
    let mut scores = [[0.0f32; COLUMNS]; N];
    for (t, six) in steps(last.next_multiple_of(16)) {
        let q = page.q.as_ptr();
        // SAFETY: the lengths asserted above.
        unsafe {
            if six {
                P::scores::<6>(q, k.as_ptr(), dim, t, &mut scores);
            } else {
                P::scores::<4>(q, k.as_ptr(), dim, t, &mut scores);
            }
        }
    }
    if page.cap > 0.0 {
        for scores in &mut scores[..last] {
            soft_cap::<F>(scores, page.cap);
        }
    }
    // Tokens that some row does not see.
    let from = seen.iter().map(|s| s.0).max().unwrap_or(0);
    let to = seen.iter().map(|s| s.1).min().unwrap_or(0);
    let partly = |t: &usize| *t < from || *t >= to;
    for t in (0..last).filter(partly) {
        hide(seen, t, f32::NEG_INFINITY, &mut scores[t]);
    }
    let [maxima, sums] = &mut *page.state;
    let mut max = *maxima;
    for scores in &scores[..last] {
        for (max, &s) in max.iter_mut().zip(scores) {
            *max = if s > *max { s } else { *max };
        }
    }
    let mut keep: Column = std::array::from_fn(|i| exp::<F>(maxima[i] - max[i]));
    for i in 0..COLUMNS {
        if maxima[i] == f32::NEG_INFINITY {
            // A row that has seen nothing yet keeps nothing, one that still has not, its zeros.
            keep[i] = if max[i] == f32::NEG_INFINITY {
                1.0
            } else {
                0.0
            };
        }
    }
    for scores in &mut scores[..last] {
        for (s, &max) in scores.iter_mut().zip(&max) {
            *s = exp::<F>(*s - max);
        }
    }
    for t in (0..last).filter(partly) {
        hide(seen, t, 0.0, &mut scores[t]);
    }
    scores[last..].fill([0.0; COLUMNS]);
    let total = sum(&scores);
    *maxima = max;
    for (i, sum) in sums.iter_mut().enumerate() {
        *sum = fma::<F>(*sum, keep[i], total[i]);
    }
    for (d, six) in steps(dim) {
        let (v, out) = (v.as_ptr(), page.out.as_mut_ptr());
        // SAFETY: the lengths asserted above.
        unsafe {
            if six {
                P::values::<6>(&scores, v, dim, d, last, &keep, out);
            } else {
                P::values::<4>(&scores, v, dim, d, last, &keep, out);
            }
        }
    }
}

/// Puts `value` where a row does not see token `t`.
#[inline(always)]
fn hide(seen: &[(usize, usize); COLUMNS], t: usize, value: f32, column: &mut Column) {
    for (x, &(from, to)) in column.iter_mut().zip(seen) {
        *x = if from <= t && t < to { *x } else { value };
    }
}

/// `Σ` over the tokens, in the order of `body::sum`.
#[inline(always)]
fn sum(columns: &[Column; PAGE_TOKENS]) -> Column {
    let mut sums = *columns;
    let mut n = PAGE_TOKENS / 2;
    while n > 0 {
        let (low, high) = sums.split_at_mut(n);
        for (low, high) in low.iter_mut().zip(&high[..n]) {
            for (low, &high) in low.iter_mut().zip(high) {
                *low += high;
            }
        }
        n /= 2;
    }
    sums[0]
}
