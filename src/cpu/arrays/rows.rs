//! What looks at a whole row of floats: softmax, the logarithm of a sum of exponentials, norms, the place of the
//! largest. A row at a time, sums in f64.

use super::blocks::{Narrow, parts, round, singles};
use super::copies;
use super::level::{Float, Level, Work, at_best};
use super::math;
use super::source::Source;
use crate::cpu::ops::{Out, View, behind};
use crate::cpu::threads::ThreadPool;
use crate::ir::{ArgReduce, Dtype, Op, Reduce};
use half::{bf16, f16};
use std::borrow::Cow;

/// Elements of a worker's share of rows.
const SHARE: usize = 1 << 15;
/// Lanes of a row's sums.
const LANES: usize = 16;

#[inline(always)]
fn sum(x: impl ExactSizeIterator<Item = f64>, lanes: &mut [f64; LANES]) {
    for (at, x) in x.enumerate() {
        lanes[at % LANES] += x;
    }
}

#[inline(always)]
fn total(lanes: [f64; LANES]) -> f64 {
    let mut lanes = lanes;
    let mut n = LANES / 2;
    while n > 0 {
        for i in 0..n {
            lanes[i] += lanes[i + n];
        }
        n /= 2;
    }
    lanes[0]
}

/// The sum of a term of each element.
#[inline(always)]
fn sum_of(x: &[f32], term: impl Fn(f64) -> f64) -> f64 {
    let mut lanes = [0f64; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane += term(f64::from(x));
        }
    }
    sum(rest.iter().map(|&x| term(f64::from(x))), &mut lanes);
    total(lanes)
}

/// The largest; NaN may be passed over.
#[inline(always)]
fn largest(x: &[f32]) -> f32 {
    let mut lanes = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = if x > *lane { x } else { *lane };
        }
    }
    let all = lanes.iter().chain(rest).copied();
    all.fold(f32::NEG_INFINITY, |most, x| if x > most { x } else { most })
}

/// `e^(x − most)` of a row to `to`, and their sum.
#[inline(always)]
fn exponentials<const F: bool>(x: &[f32], most: f32, to: &mut [f64]) -> f64 {
    let mut lanes = [0f64; LANES];
    let most = f64::from(most);
    let (chunks, rest) = x.as_chunks::<LANES>();
    let (to, to_rest) = to[..x.len()].as_chunks_mut::<LANES>();
    for (chunk, to) in chunks.iter().zip(to) {
        for (to, &x) in to.iter_mut().zip(chunk) {
            *to = math::exp::<F>(f64::from(x) - most);
        }
        for (lane, x) in lanes.iter_mut().zip(to) {
            *lane += *x;
        }
    }
    for ((lane, to), &x) in lanes.iter_mut().zip(to_rest).zip(rest) {
        *to = math::exp::<F>(f64::from(x) - most);
        *lane += *to;
    }
    total(lanes)
}

/// A row to its softmax; `scratch` has as many numbers.
pub struct Softmax<'a>(pub &'a [f32], pub &'a mut [f64], pub &'a mut [f32]);

impl Work for Softmax<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        let Softmax(x, scratch, out) = self;
        let most = largest(x);
        let sum = match L::FUSED {
            true => exponentials::<true>(x, most, scratch),
            false => exponentials::<false>(x, most, scratch),
        };
        let factor = 1.0 / sum;
        for (to, x) in out.iter_mut().zip(scratch) {
            *to = (*x * factor) as f32;
        }
    }
}

/// The logarithm of a row's sum of exponentials.
struct LogSumExp<'a>(&'a [f32], &'a mut [f64]);

impl Work for LogSumExp<'_> {
    type Out = f32;
    #[inline(always)]
    fn run<L: Level>(self) -> f32 {
        let LogSumExp(x, scratch) = self;
        let most = largest(x);
        let sum = match L::FUSED {
            true => exponentials::<true>(x, most, scratch),
            false => exponentials::<false>(x, most, scratch),
        };
        // Infinities are their own logarithm; a NaN beside them is in the sum either way.
        match most.is_infinite() && !x.iter().any(|x| x.is_nan()) {
            true => most,
            false => (f64::from(most) + sum.ln()) as f32,
        }
    }
}

/// `(x − mean) · factor` of a row, with `factor = rsqrt(mean((x − mean)²) + eps)`.
struct Norm<'a> {
    x: &'a [f32],
    eps: f64,
    centred: bool,
    out: &'a mut [f32],
}

impl Work for Norm<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        let count = self.x.len() as f64;
        let mean = match self.centred {
            true => sum_of(self.x, |x| x) / count,
            false => 0.0,
        };
        let squares = sum_of(self.x, |x| (x - mean) * (x - mean)) / count;
        let factor = 1.0 / (squares + self.eps).sqrt();
        for (to, &x) in self.out.iter_mut().zip(self.x) {
            *to = ((f64::from(x) - mean) * factor) as f32;
        }
    }
}

/// `y = y · weight`, or `y + bias`.
struct Meet<'a>(&'a mut [f32], &'a [f32], bool);

impl Work for Meet<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        for (y, &x) in self.0.iter_mut().zip(self.1) {
            *y = if self.2 { *y * x } else { *y + x };
        }
    }
}

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

/// Calls `work(row in f32, result in f32)` for each row; both are then as wide.
fn each<T: Float>(
    x: &[T],
    width: usize,
    out: &mut [T],
    pool: Option<&mut ThreadPool>,
    work: &(dyn Fn(&[f32], &mut [f64], &mut [f32]) + Sync),
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

/// The place of the first NaN, or of the first of the largest (or smallest) numbers.
struct First<'a>(&'a [f32], bool);

impl Work for First<'_> {
    type Out = u32;
    #[inline(always)]
    fn run<L: Level>(self) -> u32 {
        let First(x, most) = self;
        let mut lanes = [x[0]; LANES];
        let mut nan = [false; LANES];
        let (chunks, rest) = x.as_chunks::<LANES>();
        for chunk in chunks {
            for ((lane, nan), &x) in lanes.iter_mut().zip(&mut nan).zip(chunk) {
                let better = if most { x > *lane } else { x < *lane };
                *lane = if better { x } else { *lane };
                *nan |= x.is_nan();
            }
        }
        let all = lanes.iter().chain(rest).copied();
        let best = all.reduce(|a, b| if (b > a) == most && a != b { b } else { a });
        let found = match nan.contains(&true) || rest.iter().any(|x| x.is_nan()) {
            true => x.iter().position(|x| x.is_nan()),
            false => x.iter().position(|&x| Some(x) == best),
        };
        found.unwrap_or(0) as u32
    }
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
