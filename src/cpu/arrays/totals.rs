//! Running sums: rows by turns, columns side by side, in the elements' own arithmetic and order.

use super::blocks::parts;
use super::order::all;
use crate::cpu::ops::{Out, View};
use crate::cpu::shared::SharedSlice;
use crate::cpu::threads::{ThreadPool, spread};
use crate::ir::{Dtype, Op};
use bytemuck::Pod;

/// Columns whose running totals are made side by side.
const COLUMNS: usize = 1024;
/// Rows whose running totals are made by turns, so that one's sum need not wait for another's.
const SIDE_BY_SIDE: usize = 8;

fn totals<T: Pod + Send + Sync>(
    x: &[T],
    [outer, len, inner]: [usize; 3],
    (reverse, inclusive): (bool, bool),
    start: T,
    join: impl Fn(T, T) -> T + Sync,
    out: &mut [T],
    pool: Option<&mut ThreadPool>,
) {
    let place = |i: usize| if reverse { len - 1 - i } else { i };
    if inner == 1 {
        let group = ((1 << 15) / len).max(1).next_multiple_of(SIDE_BY_SIDE) * len;
        return parts(out, len, group, pool, &|first, out| {
            let (all, few) = (SIDE_BY_SIDE * len, out.len() % (SIDE_BY_SIDE * len));
            let (x, many) = (&x[first..][..out.len()], out.len() - few);
            let (out, few_out) = out.split_at_mut(many);
            for (x, out) in x.chunks_exact(all).zip(out.chunks_exact_mut(all)) {
                // By turns: a row's next sum need not wait for the one before.
                let mut totals = [start; SIDE_BY_SIDE];
                let mut outs = out.chunks_exact_mut(len);
                let outs: [&mut [T]; SIDE_BY_SIDE] =
                    std::array::from_fn(|_| outs.next().unwrap_or_default());
                let rows: [&[T]; SIDE_BY_SIDE] = std::array::from_fn(|row| &x[row * len..][..len]);
                for i in (0..len).map(place) {
                    for row in 0..SIDE_BY_SIDE {
                        let joined = join(totals[row], rows[row][i]);
                        outs[row][i] = if inclusive { joined } else { totals[row] };
                        totals[row] = joined;
                    }
                }
            }
            for (x, out) in x[many..]
                .chunks_exact(len)
                .zip(few_out.chunks_exact_mut(len))
            {
                let mut total = start;
                for i in (0..len).map(place) {
                    let joined = join(total, x[i]);
                    out[i] = if inclusive { joined } else { total };
                    total = joined;
                }
            }
        });
    }
    let blocks = inner.div_ceil(COLUMNS);
    let out = SharedSlice::new(out);
    spread(pool, outer * blocks, &|_, chunk| {
        let (at, block) = (chunk / blocks * len * inner, chunk % blocks);
        let columns = block * COLUMNS..((block + 1) * COLUMNS).min(inner);
        let mut totals = vec![start; columns.len()];
        for i in 0..len {
            let at = at + place(i) * inner;
            let range = at + columns.start..at + columns.end;
            // SAFETY: columns of a row are one worker's.
            let out = unsafe { out.part(range.clone()).write() };
            for ((to, total), &x) in out.iter_mut().zip(&mut totals).zip(&x[range]) {
                let joined = join(*total, x);
                *to = if inclusive { joined } else { *total };
                *total = joined;
            }
        }
    });
}

/// Running sums of f32 and of integers, in their own arithmetic; false: there is no fast form of it.
pub fn run(
    op: &Op,
    inputs: &[View<'_>],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> bool {
    let (
        Some(x),
        Op::Scan {
            kind: crate::ir::Scan::Sum,
            axis,
            reverse,
            inclusive,
        },
    ) = (inputs.first(), op)
    else {
        return false;
    };
    if x.dtype() != out.dtype() {
        return false;
    }
    let sizes = x.sizes();
    let outer = sizes[..*axis].iter().product();
    let inner = sizes[*axis + 1..].iter().product();
    let shape = [outer, sizes[*axis], inner];
    let how = (*reverse, *inclusive);
    macro_rules! of {
        ($t:ty, $join:expr) => {{
            let Some(x) = all::<$t>(x, pool.as_deref_mut()) else {
                return false;
            };
            totals(&x, shape, how, 0 as $t, $join, out.values::<$t>(), pool);
            true
        }};
    }
    match x.dtype() {
        Dtype::F32 => of!(f32, |a, b| a + b),
        Dtype::I32 => of!(i32, i32::wrapping_add),
        Dtype::U32 => of!(u32, u32::wrapping_add),
        Dtype::I64 => of!(i64, i64::wrapping_add),
        _ => false,
    }
}
