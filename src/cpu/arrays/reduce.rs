//! Reductions of floats along neighbouring axes: of rows in lanes, of columns side by side. Sums and products are made
//! in f64, in pieces of fixed size that are joined in order.

use super::blocks::{BLOCK, Narrow, parts, singles};
use super::level::{Float, Level, Work, at_best};
use super::source::Source;
use crate::cpu::ops::{Out, View, behind};
use crate::cpu::shared::SharedSlice;
use crate::cpu::threads::{ThreadPool, spread};
use crate::ir::{Dtype, Op, Reduce};
use half::{bf16, f16};
use std::borrow::Cow;

/// Elements of a piece.
const PIECE: usize = 1 << 16;
/// Columns that are reduced side by side.
const COLUMNS: usize = 256;
/// Lanes of a row.
const LANES: usize = 32;

/// What becomes of elements: f64 for sums and products, which is without loss for the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Sum,
    Product,
    Least,
    Most,
}

impl Kind {
    fn of(reduce: Reduce) -> Option<Kind> {
        match reduce {
            Reduce::Sum => Some(Kind::Sum),
            Reduce::Prod => Some(Kind::Product),
            Reduce::Min => Some(Kind::Least),
            Reduce::Max => Some(Kind::Most),
            _ => None,
        }
    }

    /// What changes nothing.
    fn neutral(self) -> f64 {
        match self {
            Kind::Sum => 0.0,
            Kind::Product => 1.0,
            Kind::Least => f64::INFINITY,
            Kind::Most => f64::NEG_INFINITY,
        }
    }

    fn join(self, a: f64, b: f64) -> f64 {
        match self {
            Kind::Sum => a + b,
            Kind::Product => a * b,
            Kind::Least => least(a, b),
            Kind::Most => most(a, b),
        }
    }
}

// NaN if one is.

#[inline(always)]
fn least<T: PartialOrd>(a: T, b: T) -> T {
    #[allow(clippy::eq_op)] // NaN
    if a < b || a != a { a } else { b }
}

#[inline(always)]
fn most<T: PartialOrd>(a: T, b: T) -> T {
    #[allow(clippy::eq_op)] // NaN
    if a > b || a != a { a } else { b }
}

/// A row, or a piece of one, in lanes.
struct Row<'a>(Kind, &'a [f32]);

#[inline(always)]
fn lanes<A: Copy>(x: &[f32], start: A, join: impl Fn(A, f32) -> A) -> [A; LANES] {
    let mut lanes = [start; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = join(*lane, x);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = join(*lane, x);
    }
    lanes
}

#[inline(always)]
fn fold<A: Copy>(lanes: [A; LANES], join: impl Fn(A, A) -> A) -> A {
    let mut lanes = lanes;
    let mut n = LANES / 2;
    while n > 0 {
        for i in 0..n {
            lanes[i] = join(lanes[i], lanes[i + n]);
        }
        n /= 2;
    }
    lanes[0]
}

impl Work for Row<'_> {
    type Out = f64;
    #[inline(always)]
    fn run<L: Level>(self) -> f64 {
        let x = self.1;
        match self.0 {
            Kind::Sum => fold(lanes(x, 0.0, |a: f64, x| a + f64::from(x)), |a, b| a + b),
            Kind::Product => fold(lanes(x, 1.0, |a: f64, x| a * f64::from(x)), |a, b| a * b),
            Kind::Least => f64::from(fold(lanes(x, f32::INFINITY, least), least)),
            Kind::Most => f64::from(fold(lanes(x, f32::NEG_INFINITY, most), most)),
        }
    }
}

/// Rows of elements joined with totals of their columns, `N` rows at a time.
struct Columns<'a, const N: usize>(Kind, [&'a [f32]; N], &'a mut [f64]);

impl<const N: usize> Work for Columns<'_, N> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        let Columns(kind, rows, totals) = self;
        let rows = rows.map(|row| &row[..totals.len()]);
        macro_rules! each {
            ($join:expr) => {
                for (column, total) in totals.iter_mut().enumerate() {
                    let mut sum = *total;
                    for row in &rows {
                        sum = $join(sum, f64::from(row[column]));
                    }
                    *total = sum;
                }
            };
        }
        match kind {
            Kind::Sum => each!(|a: f64, b: f64| a + b),
            Kind::Product => each!(|a: f64, b: f64| a * b),
            Kind::Least => each!(least),
            Kind::Most => each!(most),
        }
    }
}

/// `[outer, run, inner]` of the sizes of an array whose reduced axes are neighbours.
fn shape(sizes: &[usize], axes: &[usize]) -> Option<[usize; 3]> {
    let reduced = |axis: usize| axes.contains(&axis);
    let mut shape = [1; 3];
    let mut part = 0;
    for (axis, &size) in sizes.iter().enumerate().filter(|(_, size)| **size != 1) {
        let wanted = match (reduced(axis), part) {
            (true, 0) => 1,
            (false, 1) => 2,
            (true, 2) => return None,
            (_, part) => part,
        };
        part = wanted;
        shape[part] *= size;
    }
    Some(shape)
}

/// One total for each `[outer, inner]`.
fn reduce<T: Float>(
    kind: Kind,
    x: &[T],
    [outer, run, inner]: [usize; 3],
    out: &mut [T],
    mut pool: Option<&mut ThreadPool>,
) {
    let pieces = match inner {
        1 => run.div_ceil(PIECE),
        _ => (run * inner.min(COLUMNS)).div_ceil(PIECE),
    };
    let rows = run.div_ceil(pieces.max(1)).max(1);
    let pieces = run.div_ceil(rows).max(1);
    let blocks = if inner == 1 {
        1
    } else {
        inner.div_ceil(COLUMNS)
    };
    // Short rows are a worker's by the thousand.
    let many = (PIECE / 2 / run.max(1)).max(1);
    if inner == 1 && pieces == 1 {
        return parts(out, 1, many, pool, &|start, out| {
            let mut room = [0f32; BLOCK];
            totals_to(out, |place| {
                of_row(kind, &x[(start + place) * run..][..run], &mut room)
            });
        });
    }
    // Totals of each piece: `[piece][outer][inner]`.
    let mut totals = vec![kind.neutral(); pieces * outer * inner];
    let shared = SharedSlice::new(&mut totals);
    let group = match (run * COLUMNS.min(inner)).checked_div(pieces) {
        Some(of_piece) if inner > 1 => (PIECE / 4 / of_piece.max(1)).max(1),
        _ => 1,
    };
    let count = pieces * outer * blocks;
    spread(pool.as_deref_mut(), count.div_ceil(group), &|_, chunk| {
        let mut room = [0f32; BLOCK];
        for place in chunk * group..((chunk + 1) * group).min(count) {
            let (piece, left) = (place / (outer * blocks), place % (outer * blocks));
            let (outer_at, block) = (left / blocks, left % blocks);
            let first = piece * rows;
            let rows = rows.min(run - first);
            let columns = block * COLUMNS..((block + 1) * COLUMNS).min(inner);
            let at = (piece * outer + outer_at) * inner;
            // SAFETY: the totals of a block of columns of a piece are one worker's.
            let totals = unsafe { shared.part(at + columns.start..at + columns.end).write() };
            let x = &x[(outer_at * run + first) * inner..][..rows * inner];
            if inner == 1 {
                totals[0] = of_row(kind, x, &mut room);
                continue;
            }
            let mut rooms = [[0f32; COLUMNS]; 4];
            for rows in x.chunks(4 * inner) {
                let mut rooms = rooms.iter_mut();
                let mut row = |at: usize| {
                    let row = &rows[at * inner..][columns.clone()];
                    rooms.next().map_or(&[][..], |room| singles(row, room))
                };
                if rows.len() == 4 * inner {
                    let rows = [row(0), row(1), row(2), row(3)];
                    at_best(Columns(kind, rows, totals));
                    continue;
                }
                for at in 0..rows.len() / inner {
                    at_best(Columns(kind, [row(at)], totals));
                }
            }
        }
    });
    let of_one = outer * inner;
    parts(out, 1, PIECE, pool, &|start, out| {
        totals_to(out, |place| {
            let at = (0..pieces).map(|piece| totals[piece * of_one + start + place]);
            at.reduce(|a, b| kind.join(a, b)).unwrap_or_default()
        });
    });
}

fn of_row<T: Float>(kind: Kind, x: &[T], room: &mut [f32; BLOCK]) -> f64 {
    if let Some(x) = T::as_singles(x) {
        return at_best(Row(kind, x));
    }
    let blocks = x
        .chunks(BLOCK)
        .map(|x| at_best(Row(kind, singles(x, room))));
    blocks
        .reduce(|a, b| kind.join(a, b))
        .unwrap_or(kind.neutral())
}

/// Elements of the totals that `total` makes for each place.
fn totals_to<T: Float>(out: &mut [T], mut total: impl FnMut(usize) -> f64) {
    let mut numbers = [0f32; BLOCK];
    for (block, out) in out.chunks_mut(BLOCK).enumerate() {
        let numbers = &mut numbers[..out.len()];
        for (place, number) in numbers.iter_mut().enumerate() {
            *number = total(block * BLOCK + place) as f32;
        }
        at_best(Narrow(numbers, out));
    }
}

/// The elements with the reduced axes as neighbours: `[outer, run, inner]`.
fn together<'a, T: Float>(
    x: &View<'a>,
    axes: &[usize],
    pool: Option<&mut ThreadPool>,
) -> Option<(Cow<'a, [T]>, [usize; 3])> {
    let source = Source::<T>::of(x)?;
    if let (Some(rows), Some(shape)) = (source.rows(), shape(x.sizes(), axes)) {
        return Some((Cow::Borrowed(rows), shape));
    }
    let (view, run) = behind(x, axes);
    let source = Source::<T>::of(&view)?;
    let count = view.layout().count();
    let mut rows = vec![T::zeroed(); count];
    super::copies::copy(&source, &mut rows, pool);
    Some((Cow::Owned(rows), [count / run.max(1), run, 1]))
}

/// Sums, products, least and most of floats; false: there is no fast form of it.
pub fn run(
    op: &Op,
    inputs: &[View<'_>],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> bool {
    let (Op::Reduce(kind, axes), [x]) = (op, inputs) else {
        return false;
    };
    let Some(kind) = Kind::of(*kind).filter(|_| x.dtype() == out.dtype()) else {
        return false;
    };
    if x.sizes().contains(&0) {
        return false;
    }
    macro_rules! of {
        ($t:ty) => {{
            let Some((x, shape)) = together::<$t>(x, axes, pool.as_deref_mut()) else {
                return false;
            };
            reduce::<$t>(kind, &x, shape, out.values::<$t>(), pool);
            true
        }};
    }
    match x.dtype() {
        Dtype::F32 => of!(f32),
        Dtype::F16 => of!(f16),
        Dtype::Bf16 => of!(bf16),
        _ => false,
    }
}
