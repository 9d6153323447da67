//! The inner products of attention.

use crate::cpu::kernels::columns::{self, Column};
use crate::cpu::kernels::{AttendColumns, AttendPage, body};
use crate::step::PAGE_TOKENS;
use std::arch::x86_64::*;

#[target_feature(enable = "avx2,fma,f16c")]
pub fn attend_page(page: &mut AttendPage<'_>) {
    body::attend_page::<true, Lanes8>(page);
}

#[target_feature(enable = "avx2,fma,f16c")]
pub fn attend_columns(page: &mut AttendColumns<'_>) {
    columns::attend_columns::<true, Lanes8>(page);
}

/// Inner products of attention on 8 lanes: 2 vectors × `R` rows of sums stay in registers.
struct Lanes8;

/// What a page is made of.
trait Number: Copy {
    /// # Safety
    /// 8 numbers at `at`; reached only through `attend_page` above, which has the features.
    unsafe fn load8(at: *const Self) -> __m256;
}

impl Number for f32 {
    #[inline(always)]
    unsafe fn load8(at: *const f32) -> __m256 {
        // SAFETY: by contract.
        unsafe { _mm256_loadu_ps(at) }
    }
}

impl Number for u16 {
    #[inline(always)]
    unsafe fn load8(at: *const u16) -> __m256 {
        // SAFETY: by contract.
        unsafe { _mm256_cvtph_ps(_mm_loadu_si128(at.cast())) }
    }
}

impl<T: Number> body::PageProducts<T> for Lanes8 {
    #[inline(always)]
    unsafe fn scores<const R: usize>(
        q: *const f32,
        k: *const T,
        dim: usize,
        t: usize,
        scores: &mut [[f32; PAGE_TOKENS]; R],
    ) {
        // SAFETY: by contract; reached only through `attend_page` above, which has the features.
        unsafe {
            let mut acc = [[_mm256_setzero_ps(); 2]; R];
            let mut k = k.add(t);
            for d in 0..dim {
                let (low, high) = (T::load8(k), T::load8(k.add(8)));
                for (r, acc) in acc.iter_mut().enumerate() {
                    let q = _mm256_broadcast_ss(&*q.add(r * dim + d));
                    acc[0] = _mm256_fmadd_ps(q, low, acc[0]);
                    acc[1] = _mm256_fmadd_ps(q, high, acc[1]);
                }
                k = k.add(PAGE_TOKENS);
            }
            for (acc, row) in acc.iter().zip(scores) {
                _mm256_storeu_ps(row.as_mut_ptr().add(t), acc[0]);
                _mm256_storeu_ps(row.as_mut_ptr().add(t + 8), acc[1]);
            }
        }
    }

    #[inline(always)]
    unsafe fn values<const R: usize>(
        p: &[[f32; PAGE_TOKENS]; R],
        v: *const T,
        dim: usize,
        d: usize,
        last: usize,
        keep: &[f32; R],
        out: *mut f32,
    ) {
        // SAFETY: by contract; reached only through `attend_page` above, which has the features.
        unsafe {
            // Loops instead of `from_fn` and `map`, which the compiler does not always inline here.
            let mut acc = [[_mm256_setzero_ps(); 2]; R];
            for (r, acc) in acc.iter_mut().enumerate() {
                let (from, keep) = (out.add(r * dim + d), _mm256_set1_ps(keep[r]));
                acc[0] = _mm256_mul_ps(_mm256_loadu_ps(from), keep);
                acc[1] = _mm256_mul_ps(_mm256_loadu_ps(from.add(8)), keep);
            }
            let mut v = v.add(d);
            for t in 0..last {
                let (low, high) = (T::load8(v), T::load8(v.add(8)));
                for (r, acc) in acc.iter_mut().enumerate() {
                    let p = _mm256_broadcast_ss(p.get_unchecked(r).get_unchecked(t));
                    acc[0] = _mm256_fmadd_ps(p, low, acc[0]);
                    acc[1] = _mm256_fmadd_ps(p, high, acc[1]);
                }
                v = v.add(dim);
            }
            for (r, acc) in acc.iter().enumerate() {
                _mm256_storeu_ps(out.add(r * dim + d), acc[0]);
                _mm256_storeu_ps(out.add(r * dim + d + 8), acc[1]);
            }
        }
    }
}

impl columns::ColumnProducts for Lanes8 {
    #[inline(always)]
    unsafe fn scores<const T: usize>(
        q: *const Column,
        k: *const f32,
        dim: usize,
        t: usize,
        scores: &mut [Column; PAGE_TOKENS],
    ) {
        // SAFETY: by contract; reached only through `attend_columns` above, which has the features.
        unsafe {
            let mut acc = [[_mm256_setzero_ps(); 2]; T];
            let mut k = k.add(t);
            for d in 0..dim {
                let q = q.add(d).cast::<f32>();
                let (low, high) = (_mm256_loadu_ps(q), _mm256_loadu_ps(q.add(8)));
                for (i, acc) in acc.iter_mut().enumerate() {
                    let k = _mm256_broadcast_ss(&*k.add(i));
                    acc[0] = _mm256_fmadd_ps(low, k, acc[0]);
                    acc[1] = _mm256_fmadd_ps(high, k, acc[1]);
                }
                k = k.add(PAGE_TOKENS);
            }
            for (acc, column) in acc.iter().zip(&mut scores[t..]) {
                _mm256_storeu_ps(column.as_mut_ptr(), acc[0]);
                _mm256_storeu_ps(column.as_mut_ptr().add(8), acc[1]);
            }
        }
    }

    #[inline(always)]
    unsafe fn values<const D: usize>(
        p: &[Column; PAGE_TOKENS],
        v: *const f32,
        dim: usize,
        d: usize,
        last: usize,
        keep: &Column,
        out: *mut Column,
    ) {
        // SAFETY: by contract; reached only through `attend_columns` above, which has the features.
        unsafe {
            let (keep_low, keep_high) = (
                _mm256_loadu_ps(keep.as_ptr()),
                _mm256_loadu_ps(keep.as_ptr().add(8)),
            );
            let out = out.add(d).cast::<f32>();
            let mut acc = [[_mm256_setzero_ps(); 2]; D];
            for (i, acc) in acc.iter_mut().enumerate() {
                acc[0] = _mm256_mul_ps(_mm256_loadu_ps(out.add(i * 16)), keep_low);
                acc[1] = _mm256_mul_ps(_mm256_loadu_ps(out.add(i * 16 + 8)), keep_high);
            }
            let mut v = v.add(d);
            for p in p.get_unchecked(..last) {
                let (low, high) = (
                    _mm256_loadu_ps(p.as_ptr()),
                    _mm256_loadu_ps(p.as_ptr().add(8)),
                );
                for (i, acc) in acc.iter_mut().enumerate() {
                    let v = _mm256_broadcast_ss(&*v.add(i));
                    acc[0] = _mm256_fmadd_ps(low, v, acc[0]);
                    acc[1] = _mm256_fmadd_ps(high, v, acc[1]);
                }
                v = v.add(dim);
            }
            for (i, acc) in acc.iter().enumerate() {
                _mm256_storeu_ps(out.add(i * 16), acc[0]);
                _mm256_storeu_ps(out.add(i * 16 + 8), acc[1]);
            }
        }
    }
}
