//! Many elements become one. Sums of fractions are made in f64, whatever the dtype.

use super::arithmetic::{Arithmetic, larger, smaller};
use super::cast::{Element, Wide};
use super::{Out, View, input, missing, output, with_type};
use crate::Result;
use crate::ir::{ArgReduce, Binary, Dtype, Layout, Op, Reduce};
use num_complex::Complex;
use std::cmp::Ordering;

/// Reductions, softmax and counts.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    match op {
        Op::Reduce(kind, axes) => {
            let (x, run) = behind(x, axes);
            with_type!(x.dtype(), T => reduce::<T>(op, *kind, &x.values::<T>(), run, out)?);
        }
        Op::ArgReduce(kind, axis) => {
            let (x, run) = behind(x, &[*axis]);
            let wanted = match kind {
                ArgReduce::Min => Ordering::Less,
                ArgReduce::Max => Ordering::Greater,
            };
            with_type!(x.dtype(), T => {
                let x = x.values::<T>();
                let rows = x.chunks_exact(run.max(1));
                for (to, row) in out.values::<u32>().iter_mut().zip(rows) {
                    *to = first(row, wanted) as u32;
                }
            });
        }
        Op::Softmax { .. } => {
            let run = x.sizes().last().copied().unwrap_or(1).max(1);
            with_type!(x.dtype(), T => {
                let x = x.values::<T>();
                for (row, to) in x.chunks_exact(run).zip(out.values::<T>().chunks_exact_mut(run)) {
                    softmax(row, to);
                }
            });
        }
        Op::NumberOfElements { axes, inverted } => {
            let count = axes.iter().map(|&axis| x.sizes()[axis] as f64);
            let count: f64 = count.product();
            let number = if *inverted { 1.0 / count } else { count };
            let bytes = super::number_bytes(number, out.dtype());
            out.bytes().copy_from_slice(&bytes);
        }
        op => return Err(missing(op)),
    }
    Ok(())
}

/// The array with these axes behind the others, and how many elements they have.
pub fn behind<'a>(x: &View<'a>, axes: &[usize]) -> (View<'a>, usize) {
    let layout = x.layout();
    let kept = (0..x.sizes().len()).filter(|axis| !axes.contains(axis));
    let order: Vec<usize> = kept.chain(axes.iter().copied()).collect();
    let run = axes.iter().map(|&axis| layout.sizes[axis]).product();
    let turned = Layout {
        sizes: order.iter().map(|&axis| layout.sizes[axis]).collect(),
        strides: order.iter().map(|&axis| layout.strides[axis]).collect(),
        offset: layout.offset,
    };
    (x.with(turned), run)
}

fn reduce<T: Arithmetic + Element>(
    op: &Op,
    kind: Reduce,
    x: &[T],
    run: usize,
    out: &mut Out<'_>,
) -> Result<()> {
    if let Reduce::LogSumExp = kind {
        return log_sum_exp(x, run, out);
    }
    let truths = out.dtype() == Dtype::Bool;
    let mut rows = x.chunks_exact(run.max(1));
    for to in out.values::<T>() {
        let row = match run {
            0 => &[],
            _ => rows.next().unwrap_or_default(),
        };
        *to = match kind {
            Reduce::All => T::narrow(Wide::Integer(row.iter().all(|x| is_true(*x)).into())),
            Reduce::Any => T::narrow(Wide::Integer(row.iter().any(|x| is_true(*x)).into())),
            Reduce::Sum => total(row, Binary::Add, 0).ok_or_else(|| missing(op))?,
            Reduce::Prod => total(row, Binary::Multiply, 1).ok_or_else(|| missing(op))?,
            Reduce::Min => row
                .iter()
                .copied()
                .reduce(smaller)
                .ok_or_else(|| missing(op))?,
            _ => row
                .iter()
                .copied()
                .reduce(larger)
                .ok_or_else(|| missing(op))?,
        };
    }
    if truths {
        out.truths();
    }
    Ok(())
}

fn is_true<T: Element>(x: T) -> bool {
    match x.widen() {
        Wide::Integer(i) => i != 0,
        Wide::Real(x) => x != 0.0,
        Wide::Complex(z) => z.re != 0.0 || z.im != 0.0,
    }
}

/// Sum or product: of integers by their own function, of others in f64.
fn total<T: Arithmetic + Element>(row: &[T], function: Binary, begin: i128) -> Option<T> {
    let start = T::narrow(Wide::Integer(begin));
    let join = T::function(function)?;
    match start.widen() {
        Wide::Integer(_) => Some(row.iter().fold(start, |sum, &x| join(sum, x))),
        Wide::Real(start) => {
            let join = f64::function(function)?;
            let sum = row.iter().fold(start, |sum, &x| join(sum, real(x)));
            Some(T::narrow(Wide::Real(sum)))
        }
        Wide::Complex(start) => {
            let mut sum = wide(start);
            for &x in row {
                let Wide::Complex(x) = x.widen() else {
                    continue;
                };
                match function {
                    Binary::Add => sum += wide(x),
                    _ => sum *= wide(x),
                }
            }
            let sum = Complex::new(sum.re as f32, sum.im as f32);
            Some(T::narrow(Wide::Complex(sum)))
        }
    }
}

fn wide(z: Complex<f32>) -> Complex<f64> {
    Complex::new(z.re.into(), z.im.into())
}

/// A real element.
pub(super) fn real<T: Element>(x: T) -> f64 {
    match x.widen() {
        Wide::Integer(i) => i as f64,
        Wide::Real(x) => x,
        Wide::Complex(z) => z.re.into(),
    }
}

fn log_sum_exp<T: Arithmetic + Element>(x: &[T], run: usize, out: &mut Out<'_>) -> Result<()> {
    let complex = out.dtype() == Dtype::C64;
    let mut rows = x.chunks_exact(run.max(1));
    for to in out.values::<T>() {
        let row = if run == 0 {
            &[]
        } else {
            rows.next().unwrap_or_default()
        };
        let Some(most) = row.iter().copied().reduce(larger) else {
            *to = T::narrow(Wide::Real(f64::NEG_INFINITY));
            continue;
        };
        *to = match (complex, most.widen()) {
            (true, Wide::Complex(most)) => {
                let most = wide(most);
                let each = row.iter().map(|x| match x.widen() {
                    Wide::Complex(z) => (wide(z) - most).exp(),
                    _ => Complex::new(0.0, 0.0),
                });
                let sum = most + each.sum::<Complex<f64>>().ln();
                T::narrow(Wide::Complex(Complex::new(sum.re as f32, sum.im as f32)))
            }
            _ => {
                let most = real(most);
                let sum: f64 = row.iter().map(|&x| (real(x) - most).exp()).sum();
                // Infinities are their own logarithm.
                let value = if most.is_infinite() {
                    most
                } else {
                    most + sum.ln()
                };
                T::narrow(Wide::Real(value))
            }
        };
    }
    Ok(())
}

/// The place of the smallest or largest: the first of equal ones, the first NaN if there is one.
fn first<T: Arithmetic>(row: &[T], wanted: Ordering) -> usize {
    let mut best = 0;
    for (place, &x) in row.iter().enumerate() {
        if row[best].is_nan() {
            break;
        }
        if x.is_nan() || T::order(x, row[best]) == Some(wanted) {
            best = place;
        }
    }
    best
}

fn softmax<T: Arithmetic + Element>(row: &[T], to: &mut [T]) {
    let Some(most) = row.iter().copied().reduce(larger) else {
        return;
    };
    if let Wide::Complex(most) = most.widen() {
        let each = row.iter().map(|x| match x.widen() {
            Wide::Complex(z) => (wide(z) - wide(most)).exp(),
            _ => Complex::new(0.0, 0.0),
        });
        let each: Vec<Complex<f64>> = each.collect();
        let sum: Complex<f64> = each.iter().sum();
        for (to, x) in to.iter_mut().zip(each) {
            let z = x / sum;
            *to = T::narrow(Wide::Complex(Complex::new(z.re as f32, z.im as f32)));
        }
        return;
    }
    let most = real(most);
    let sum: f64 = row.iter().map(|&x| (real(x) - most).exp()).sum();
    for (to, &x) in to.iter_mut().zip(row) {
        *to = T::narrow(Wide::Real((real(x) - most).exp() / sum));
    }
}
