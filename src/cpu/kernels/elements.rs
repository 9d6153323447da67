//! Functions of the elements and of the rows of f32 arrays.

use super::body::{LANES, exp, fma, sum};
use crate::step::Function;

/// What a function takes.
#[derive(Clone, Copy)]
pub enum Side<'a> {
    /// As many numbers as there are results.
    Numbers(&'a [f32]),
    /// One for all.
    Number(f32),
}

/// `out = function(a, b)` of each element; functions of one element do not look at b.
#[inline(always)]
pub fn elements<const F: bool>(function: Function, a: Side<'_>, b: Side<'_>, out: &mut [f32]) {
    match function {
        Function::Add => pairs(a, b, out, |x, y| x + y),
        Function::Subtract => pairs(a, b, out, |x, y| x - y),
        Function::Multiply => pairs(a, b, out, |x, y| x * y),
        Function::Divide => pairs(a, b, out, |x, y| x / y),
        Function::Maximum => pairs(a, b, out, |x, y| if x > y || x.is_nan() { x } else { y }),
        Function::Minimum => pairs(a, b, out, |x, y| if x < y || x.is_nan() { x } else { y }),
        Function::Exp => each(a, out, exp::<F>),
        Function::Expm1 => each(a, out, expm1::<F>),
        Function::Negative => each(a, out, |x| -x),
        Function::Sigmoid => each(a, out, |x| 1.0 / (1.0 + exp::<F>(-x))),
        Function::Square => each(a, out, |x| x * x),
        Function::Tanh => each(a, out, f32::tanh),
    }
}

#[inline(always)]
fn each(a: Side<'_>, out: &mut [f32], function: impl Fn(f32) -> f32) {
    match a {
        Side::Numbers(a) => {
            for (out, &x) in out.iter_mut().zip(a) {
                *out = function(x);
            }
        }
        Side::Number(x) => out.fill(function(x)),
    }
}

#[inline(always)]
fn pairs(a: Side<'_>, b: Side<'_>, out: &mut [f32], function: impl Fn(f32, f32) -> f32) {
    match (a, b) {
        (Side::Numbers(a), Side::Numbers(b)) => {
            for ((out, &x), &y) in out.iter_mut().zip(a).zip(b) {
                *out = function(x, y);
            }
        }
        (Side::Numbers(a), Side::Number(y)) => each(Side::Numbers(a), out, |x| function(x, y)),
        (Side::Number(x), b) => each(b, out, |y| function(x, y)),
    }
}

/// `e^x − 1`, near 0 by its series, where the difference would lose digits.
#[inline(always)]
fn expm1<const F: bool>(x: f32) -> f32 {
    let mut series = 1.0 / 5040.0;
    for c in [1.0 / 720.0, 1.0 / 120.0, 1.0 / 24.0, 1.0 / 6.0, 0.5, 1.0] {
        series = fma::<F>(series, x, c);
    }
    if x.abs() < 0.3 {
        series * x
    } else {
        exp::<F>(x) - 1.0
    }
}

/// `Σ` of terms of a row in lanes, in a fixed order.
#[inline(always)]
fn total(x: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let mut lanes = [0.0f32; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (lane, &x) in lanes.iter_mut().zip(chunk) {
            *lane = term(x, *lane);
        }
    }
    for (lane, &x) in lanes.iter_mut().zip(rest) {
        *lane = term(x, *lane);
    }
    sum(&lanes)
}

/// `(x − mean) · rsqrt(variance + eps) · weight + bias` of a row.
#[inline(always)]
pub fn layer_norm<const F: bool>(
    x: &[f32],
    weight: &[f32],
    bias: &[f32],
    eps: f32,
    out: &mut [f32],
) {
    let count = x.len() as f32;
    let mean = total(x, |x, sum| sum + x) / count;
    let squares = total(x, |x, sum| fma::<F>(x - mean, x - mean, sum));
    let scale = 1.0 / (squares / count + eps).sqrt();
    for (((out, &x), &weight), &bias) in out.iter_mut().zip(x).zip(weight).zip(bias) {
        *out = fma::<F>((x - mean) * scale, weight, bias);
    }
}

/// A row to its softmax.
#[inline(always)]
pub fn softmax<const F: bool>(x: &mut [f32]) {
    let mut most = [f32::NEG_INFINITY; LANES];
    let (chunks, rest) = x.as_chunks::<LANES>();
    for chunk in chunks {
        for (most, &x) in most.iter_mut().zip(chunk) {
            *most = if x > *most { x } else { *most };
        }
    }
    let most = most.iter().chain(rest).copied();
    let most = most.fold(f32::NEG_INFINITY, f32::max);
    for x in x.iter_mut() {
        *x = exp::<F>(*x - most);
    }
    let scale = 1.0 / total(x, |x, sum| sum + x);
    for x in x {
        *x *= scale;
    }
}
