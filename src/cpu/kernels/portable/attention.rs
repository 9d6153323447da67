//! Attention, plainly.

use super::super::{
    AttendColumns, AttendPage, body,
    columns::{self, Column},
};
use crate::step::PAGE_TOKENS;
use half::f16;

pub(super) fn attend_page(page: &mut AttendPage<'_>) {
    body::attend_page::<false, Plain>(page);
}

pub(super) fn attend_columns(page: &mut AttendColumns<'_>) {
    columns::attend_columns::<false, Plain>(page);
}

struct Plain;

impl columns::ColumnProducts for Plain {
    unsafe fn scores<const T: usize>(
        q: *const Column,
        k: *const f32,
        dim: usize,
        t: usize,
        scores: &mut [Column; PAGE_TOKENS],
    ) {
        for (i, column) in scores[t..t + T].iter_mut().enumerate() {
            column.fill(0.0);
            for d in 0..dim {
                // SAFETY: by contract.
                let (q, k) = unsafe { (&*q.add(d), *k.add(d * PAGE_TOKENS + t + i)) };
                column.iter_mut().zip(q).for_each(|(s, q)| *s += q * k);
            }
        }
    }

    unsafe fn values<const D: usize>(
        p: &[Column; PAGE_TOKENS],
        v: *const f32,
        dim: usize,
        d: usize,
        last: usize,
        keep: &Column,
        out: *mut Column,
    ) {
        for i in d..d + D {
            // SAFETY: by contract.
            let out = unsafe { &mut *out.add(i) };
            out.iter_mut().zip(keep).for_each(|(o, keep)| *o *= keep);
            for (t, p) in p[..last].iter().enumerate() {
                // SAFETY: by contract.
                let v = unsafe { *v.add(t * dim + i) };
                out.iter_mut().zip(p).for_each(|(o, p)| *o += p * v);
            }
        }
    }
}

/// What a page is made of.
trait Number: Copy {
    fn wide(self) -> f32;
}

impl Number for f32 {
    fn wide(self) -> f32 {
        self
    }
}

impl Number for u16 {
    fn wide(self) -> f32 {
        f16::from_bits(self).to_f32()
    }
}

impl<T: Number> body::PageProducts<T> for Plain {
    unsafe fn scores<const R: usize>(
        q: *const f32,
        k: *const T,
        dim: usize,
        t: usize,
        scores: &mut [[f32; PAGE_TOKENS]; R],
    ) {
        for (r, row) in scores.iter_mut().enumerate() {
            row[t..t + 16].fill(0.0);
            for d in 0..dim {
                for (i, score) in row[t..t + 16].iter_mut().enumerate() {
                    // SAFETY: by contract.
                    let k = unsafe { (*k.add(d * PAGE_TOKENS + t + i)).wide() };
                    // SAFETY: as above.
                    *score += unsafe { *q.add(r * dim + d) } * k;
                }
            }
        }
    }

    unsafe fn values<const R: usize>(
        p: &[[f32; PAGE_TOKENS]; R],
        v: *const T,
        dim: usize,
        d: usize,
        last: usize,
        keep: &[f32; R],
        out: *mut f32,
    ) {
        for (r, row) in p.iter().enumerate() {
            for i in d..d + 16 {
                // SAFETY: by contract.
                unsafe {
                    let out = out.add(r * dim + i);
                    *out *= keep[r];
                    for (t, p) in row[..last].iter().enumerate() {
                        *out += p * (*v.add(t * dim + i)).wide();
                    }
                }
            }
        }
    }
}
