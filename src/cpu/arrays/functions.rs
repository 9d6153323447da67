//! Functions of blocks of f32 elements.

use super::level::{Level, Work};
use super::math;
use crate::cpu::ops::{one_single, two_singles};
use crate::ir::{Binary, Unary};

/// A function of one element or of two.
#[derive(Debug, Clone, Copy)]
pub enum Function {
    /// Looks at the first side only.
    One(Unary),
    /// Of both.
    Two(Binary),
}

impl Function {
    /// Whether there is such a function from f32 to f32.
    pub fn is_known(self) -> bool {
        match self {
            Function::One(kind) => one_single(kind).is_some(),
            Function::Two(kind) => two_singles(kind).is_some(),
        }
    }
}

/// `out = function(a, b)` of each element.
pub struct Apply<'a> {
    pub function: Function,
    pub a: &'a [f32],
    /// Any of functions of one element.
    pub b: &'a [f32],
    pub out: &'a mut [f32],
}

impl Work for Apply<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        match self.function {
            Function::One(kind) => one::<L>(kind, self.a, self.out),
            Function::Two(kind) => two::<L>(kind, self.a, self.b, self.out),
        }
    }
}

#[inline(always)]
fn each(x: &[f32], out: &mut [f32], function: impl Fn(f32) -> f32) {
    for (to, &x) in out.iter_mut().zip(x) {
        *to = function(x);
    }
}

/// By way of f64.
#[inline(always)]
fn wide(x: &[f32], out: &mut [f32], function: impl Fn(f64) -> f64) {
    for (to, &x) in out.iter_mut().zip(x) {
        *to = function(f64::from(x)) as f32;
    }
}

#[inline(always)]
fn pairs(a: &[f32], b: &[f32], out: &mut [f32], function: impl Fn(f32, f32) -> f32) {
    for ((to, &a), &b) in out.iter_mut().zip(a).zip(b) {
        *to = function(a, b);
    }
}

/// What is too far from 0 for the function here, or infinite, by the standard library's.
#[inline(always)]
fn turns(x: &[f32], out: &mut [f32], ours: impl Fn(f64) -> f64, other: fn(f32) -> f32) {
    wide(x, out, ours);
    if x.iter().all(|x| x.abs() <= math::TURNS) {
        return;
    }
    for (to, &x) in out.iter_mut().zip(x) {
        if x.is_nan() || x.abs() > math::TURNS {
            *to = other(x);
        }
    }
}

#[inline(always)]
fn one<L: Level>(kind: Unary, x: &[f32], out: &mut [f32]) {
    macro_rules! wide {
        ($function:ident) => {
            match L::FUSED {
                true => wide(x, out, math::$function::<true>),
                false => wide(x, out, math::$function::<false>),
            }
        };
    }
    macro_rules! turns {
        ($ours:expr, $other:path) => {
            match L::FUSED {
                true => turns(x, out, |x| $ours(math::sin_cos::<true>(x)), $other),
                false => turns(x, out, |x| $ours(math::sin_cos::<false>(x)), $other),
            }
        };
    }
    match kind {
        Unary::Abs => each(x, out, f32::abs),
        Unary::Ceil => each(x, out, f32::ceil),
        Unary::Cos => turns!(|(_, cos)| cos, f32::cos),
        Unary::Cosh => wide!(cosh),
        Unary::Erf => wide!(erf),
        Unary::Exp => wide!(exp),
        Unary::Expm1 => wide!(expm1),
        Unary::Floor => each(x, out, f32::floor),
        Unary::Log => wide!(ln),
        Unary::Log2 => match L::FUSED {
            true => wide(x, out, |x| math::ln::<true>(x) * std::f64::consts::LOG2_E),
            false => wide(x, out, |x| math::ln::<false>(x) * std::f64::consts::LOG2_E),
        },
        Unary::Log10 => match L::FUSED {
            true => wide(x, out, |x| math::ln::<true>(x) * std::f64::consts::LOG10_E),
            false => wide(x, out, |x| math::ln::<false>(x) * std::f64::consts::LOG10_E),
        },
        Unary::Log1p => wide!(ln_1p),
        Unary::Negative => each(x, out, |x| -x),
        Unary::Round => each(x, out, f32::round_ties_even),
        Unary::Rsqrt => each(x, out, |x| 1.0 / x.sqrt()),
        Unary::Sigmoid => wide!(sigmoid),
        Unary::Sign => each(x, out, |x| {
            f32::from(u8::from(x > 0.0)) - f32::from(u8::from(x < 0.0))
        }),
        Unary::Sin => turns!(|(sin, _)| sin, f32::sin),
        Unary::Sinh => wide!(sinh),
        Unary::Sqrt => each(x, out, f32::sqrt),
        Unary::Square => each(x, out, |x| x * x),
        Unary::Tan => turns!(|(sin, cos): (f64, f64)| sin / cos, f32::tan),
        Unary::Tanh => wide!(tanh),
        kind => {
            if let Some(function) = one_single(kind) {
                each(x, out, function);
            }
        }
    }
}

#[inline(always)]
fn two<L: Level>(kind: Binary, a: &[f32], b: &[f32], out: &mut [f32]) {
    match kind {
        Binary::Add => pairs(a, b, out, |a, b| a + b),
        Binary::Subtract => pairs(a, b, out, |a, b| a - b),
        Binary::Multiply => pairs(a, b, out, |a, b| a * b),
        Binary::Divide => pairs(a, b, out, |a, b| a / b),
        Binary::FloorDivide => pairs(a, b, out, |a, b| (a / b).floor()),
        // NaN if one is.
        Binary::Maximum => pairs(a, b, out, |a, b| if a > b || a.is_nan() { a } else { b }),
        Binary::Minimum => pairs(a, b, out, |a, b| if a < b || a.is_nan() { a } else { b }),
        kind => {
            if let Some(function) = two_singles(kind) {
                pairs(a, b, out, function);
            }
        }
    }
}
