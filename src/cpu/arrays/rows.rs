//! What looks at a whole row of floats: softmax, the logarithm of a sum of exponentials, norms, the place of the
//! largest. A row at a time, sums in f64.

use super::blocks::{Narrow, parts, round, singles};
use super::copies;
use super::level::{Float, at_best};
use super::row_work::{First, LogSumExp, Meet, Norm, Softmax};
use super::source::Source;
use crate::cpu::ops::{Out, View, behind};
use crate::cpu::threads::ThreadPool;
use crate::ir::{ArgReduce, Dtype, Op, Reduce};
use half::{bf16, f16};
use std::borrow::Cow;

/// Elements of a worker's share of rows.
const SHARE: usize = 1 << 15;
/// Rows of an array, where they lie or copied.
fn rows<'a, T: Float>(x: &View<'a>, pool: Option<&mut ThreadPool>) -> Option<Cow<'a, [T]>> {
    let source = Source::<T>::of(x)?;
    if let Some(rows) = source.rows() {
        return Some(Cow::Borrowed(rows));
    }
    let mut rows = vec![T::zeroed(); x.layout().count()];
    copies::copy(&source, &mut rows, pool);
    Some(Cow::Owned(rows))
}

/// What is done to a row: its numbers, room as wide as it, its result.
type Work<'a> = dyn Fn(&[f32], &mut [f64], &mut [f32]) + Sync + 'a;

/// Calls `work` for each row, in f32 whatever the rows are of.
fn each<T: Float>(
    x: &[T],
    width: usize,
    out: &mut [T],
    pool: Option<&mut ThreadPool>,
    work: &Work<'_>,
) {
    parts(out, width, SHARE, pool, &|start, out| {
        let mut scratch = vec![0f64; width];
        let (mut from, mut to) = match T::as_singles(&[]) {
            Some(_) => (Vec::new(), Vec::new()),
            None => (vec![0f32; width], vec![0f32; width]),
        };
        let rows = x[start..][..out.len()].chunks_exact(width);
        for (x, out) in rows.zip(out.chunks_exact_mut(width)) {
            let x = singles(x, &mut from);
            if let Some(out) = T::as_singles_mut(out) {
                work(x, &mut scratch, out);
                continue;
            }
            work(x, &mut scratch, &mut to);
            at_best(Narrow(&to, out));
        }
    });
}

/// One number for each row.
fn one_each<T: Float, R: bytemuck::Pod + Send + Sync>(
    x: &[T],
    width: usize,
    out: &mut [R],
    pool: Option<&mut ThreadPool>,
    work: &(dyn Fn(&[f32], &mut [f64]) -> R + Sync),
) {
    parts(out, 1, SHARE / width, pool, &|start, out| {
        let mut scratch = vec![0f64; width];
        let mut room = match T::as_singles(&[]) {
            Some(_) => Vec::new(),
            None => vec![0f32; width],
        };
        for (place, to) in out.iter_mut().enumerate() {
            let x = &x[(start + place) * width..][..width];
            *to = work(singles(x, &mut room), &mut scratch);
        }
    });
}

fn norm<T: Float>(
    x: &View<'_>,
    eps: f64,
    centred: bool,
    meet: [Option<&View<'_>>; 2],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> bool {
    let width = x.sizes().last().copied().unwrap_or(1);
    let number = |view: &View<'_>| -> Option<Vec<f32>> {
        if view.dtype() != x.dtype() || view.layout().count() != width {
            return None;
        }
        let elements = rows::<T>(view, None)?;
        let mut numbers = vec![0f32; width];
        let numbers_read = singles(&elements, &mut numbers).to_vec();
        Some(numbers_read)
    };
    let mut numbers: [Option<Vec<f32>>; 2] = [None, None];
    for (to, view) in numbers.iter_mut().zip(meet) {
        if let Some(view) = view {
            match number(view) {
                Some(found) => *to = Some(found),
                None => return false,
            }
        }
    }
    let Some(x) = rows::<T>(x, pool.as_deref_mut()) else {
        return false;
    };
    let [weight, bias] = numbers;
    each(&x, width, out.values::<T>(), pool, &|x, _, out| {
        at_best(Norm {
            x,
            eps,
            centred,
            out,
        });
        // As in MLX each step rounds to the dtype.
        if let Some(weight) = &weight {
            round::<T>(out);
            at_best(Meet(out, weight, true));
        }
        if let Some(bias) = &bias {
            round::<T>(out);
            at_best(Meet(out, bias, false));
        }
    });
    true
}

fn float<T: Float>(
    op: &Op,
    inputs: &[View<'_>],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> bool {
    let Some(x) = inputs.first() else {
        return false;
    };
    let width = x.sizes().last().copied().unwrap_or(1);
    match op {
        Op::Softmax { .. } => {
            let Some(x) = rows::<T>(x, pool.as_deref_mut()) else {
                return false;
            };
            each(&x, width, out.values::<T>(), pool, &|x, scratch, out| {
                at_best(Softmax(x, scratch, out));
            });
            true
        }
        Op::RmsNorm(eps) => norm::<T>(x, eps.get(), false, [inputs.get(1), None], out, pool),
        Op::LayerNorm { eps, weight, bias } => {
            let of_weight = inputs.get(1).filter(|_| *weight);
            let of_bias = inputs.get(1 + usize::from(*weight)).filter(|_| *bias);
            norm::<T>(x, eps.get(), true, [of_weight, of_bias], out, pool)
        }
        Op::Reduce(Reduce::LogSumExp, axes) => {
            let (x, width) = behind(x, axes);
            let Some(x) = rows::<T>(&x, pool.as_deref_mut()) else {
                return false;
            };
            let out = out.values::<T>();
            one_each(&x, width, out, pool, &|x, scratch| {
                let mut element = [T::zeroed()];
                let value = at_best(LogSumExp(x, scratch));
                at_best(Narrow(&[value], &mut element));
                element[0]
            });
            true
        }
        Op::ArgReduce(kind, axis) => {
            let (x, width) = behind(x, &[*axis]);
            let Some(x) = rows::<T>(&x, pool.as_deref_mut()) else {
                return false;
            };
            let most = *kind == ArgReduce::Max;
            one_each(&x, width, out.values::<u32>(), pool, &|x, _| {
                at_best(First(x, most))
            });
            true
        }
        _ => false,
    }
}

/// Runs an operation on rows of floats; false: there is no fast form of it.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    let Some(x) = inputs.first().filter(|x| !x.sizes().contains(&0)) else {
        return false;
    };
    let fits = match op {
        Op::Softmax { .. }
        | Op::RmsNorm(_)
        | Op::LayerNorm { .. }
        | Op::Reduce(Reduce::LogSumExp, _) => out.dtype() == x.dtype(),
        Op::ArgReduce(..) => true,
        _ => false,
    };
    fits && match x.dtype() {
        Dtype::F32 => float::<f32>(op, inputs, out, pool),
        Dtype::F16 => float::<f16>(op, inputs, out, pool),
        Dtype::Bf16 => float::<bf16>(op, inputs, out, pool),
        _ => false,
    }
}
