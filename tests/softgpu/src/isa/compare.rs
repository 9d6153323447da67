//! Vector comparisons.

use super::decode::Target;
use super::disassembly::Text;
use super::half::f16_to_f32;
use super::lanes::{C2, CD2, c2, cd2};
use super::operand::Ty::{self, B16, B32, B64, F16, F32, F64, I64};
use super::valu::{Fun, Op};

#[inline(always)]
fn f(v: u32) -> f32 {
    f32::from_bits(v)
}

#[inline(always)]
fn h(v: u32) -> f32 {
    f16_to_f32(v & 0xffff)
}

fn d(v: u64) -> f64 {
    f64::from_bits(v)
}

/// The comparisons of a float type, given how to read a lane.
macro_rules! floats {
    ($make:ident, $name:expr, $read:ident) => {
        match $name {
            "f" => $make(|_, _| false),
            "lt" => $make(|a, b| $read(a) < $read(b)),
            "eq" => $make(|a, b| $read(a) == $read(b)),
            "le" => $make(|a, b| $read(a) <= $read(b)),
            "gt" => $make(|a, b| $read(a) > $read(b)),
            "lg" => $make(|a, b| $read(a) < $read(b) || $read(a) > $read(b)),
            "ge" => $make(|a, b| $read(a) >= $read(b)),
            "o" => $make(|a, b| !$read(a).is_nan() && !$read(b).is_nan()),
            "u" => $make(|a, b| $read(a).is_nan() || $read(b).is_nan()),
            "nge" => $make(|a, b| !($read(a) >= $read(b))),
            "nlg" => $make(|a, b| !($read(a) < $read(b) || $read(a) > $read(b))),
            "ngt" => $make(|a, b| !($read(a) > $read(b))),
            "nle" => $make(|a, b| !($read(a) <= $read(b))),
            "neq" => $make(|a, b| !($read(a) == $read(b))),
            "nlt" => $make(|a, b| !($read(a) < $read(b))),
            "t" | "tru" => $make(|_, _| true),
            _ => return None,
        }
    };
}

macro_rules! integers {
    ($make:ident, $name:expr, $ty:ty) => {
        match $name {
            "f" => $make(|_, _| false),
            "lt" => $make(|a, b| (a as $ty) < b as $ty),
            "eq" => $make(|a, b| a as $ty == b as $ty),
            "le" => $make(|a, b| a as $ty <= b as $ty),
            "gt" => $make(|a, b| a as $ty > b as $ty),
            "ne" => $make(|a, b| a as $ty != b as $ty),
            "ge" => $make(|a, b| a as $ty >= b as $ty),
            "t" => $make(|_, _| true),
            _ => return None,
        }
    };
}

#[allow(clippy::neg_cmp_op_on_partial_ord, clippy::nonminimal_bool)]
fn narrow(op: &str, ty: &str) -> Option<(C2, Ty)> {
    Some(match ty {
        "f32" => (floats!(c2, op, f), F32),
        "f16" => (floats!(c2, op, h), F16),
        "i32" => (integers!(c2, op, i32), B32),
        "u32" => (integers!(c2, op, u32), B32),
        "i16" => (integers!(c2, op, i16), B16),
        "u16" => (integers!(c2, op, u16), B16),
        _ => return None,
    })
}

#[allow(clippy::neg_cmp_op_on_partial_ord, clippy::nonminimal_bool)]
fn broad(op: &str, ty: &str) -> Option<(CD2, Ty)> {
    Some(match ty {
        "f64" => (floats!(cd2, op, d), F64),
        "i64" => (integers!(cd2, op, i64), I64),
        "u64" => (integers!(cd2, op, u64), B64),
        _ => return None,
    })
}

/// Which of the ten class bits a number has: sNaN, qNaN, -inf, -normal, -denormal, -0, +0, ...
fn class_bit(negative: bool, category: std::num::FpCategory, quiet: bool) -> u32 {
    use std::num::FpCategory::{Infinite, Nan, Normal, Subnormal, Zero};
    1 << match (category, negative) {
        (Nan, _) => u32::from(quiet),
        (Infinite, true) => 2,
        (Normal, true) => 3,
        (Subnormal, true) => 4,
        (Zero, true) => 5,
        (Zero, false) => 6,
        (Subnormal, false) => 7,
        (Normal, false) => 8,
        (Infinite, false) => 9,
    }
}

fn class32(a: u32, b: u32) -> bool {
    let v = f(a);
    b & class_bit(v.is_sign_negative(), v.classify(), a & 0x0040_0000 != 0) != 0
}

fn class16(a: u32, b: u32) -> bool {
    use std::num::FpCategory::{Infinite, Nan, Normal, Subnormal, Zero};
    let (exponent, mantissa) = (a >> 10 & 31, a & 0x3ff);
    let category = match (exponent, mantissa) {
        (0, 0) => Zero,
        (0, _) => Subnormal,
        (31, 0) => Infinite,
        (31, _) => Nan,
        _ => Normal,
    };
    b & class_bit(a & 0x8000 != 0, category, a & 0x200 != 0) != 0
}

fn class64(a: u64, b: u64) -> bool {
    let v = d(a);
    b as u32 & class_bit(v.is_sign_negative(), v.classify(), a >> 51 & 1 != 0) != 0
}

/// `v_cmp_<op>_<type>` and `v_cmpx_..`.
pub fn find(t: &Text, _target: &Target) -> Result<Option<Op>, String> {
    let Some(rest) = t
        .name
        .strip_prefix("v_cmp_")
        .or(t.name.strip_prefix("v_cmpx_"))
    else {
        return Ok(None);
    };
    let Some((op, ty)) = rest.split_once('_') else {
        return Ok(None);
    };
    if op == "class" {
        return Ok(match ty {
            "f32" => Some(Op::new(Fun::C(c2(class32)), F32).src(F32, B32, B32)),
            "f16" => Some(Op::new(Fun::C(c2(class16)), F16).src(F16, B16, B32)),
            "f64" => Some(Op::new(Fun::CD(cd2(class64)), F64).src(F64, B32, B32)),
            _ => None,
        });
    }
    if let Some((f, ty)) = narrow(op, ty) {
        return Ok(Some(Op::new(Fun::C(f), ty).dst(B32)));
    }
    Ok(broad(op, ty).map(|(f, ty)| Op::new(Fun::CD(f), ty).dst(B32)))
}
