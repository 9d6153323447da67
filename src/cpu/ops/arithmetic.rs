//! What two elements of a dtype give: integers wrap, 16-bit numbers are computed as f32, complex ones as
//! pairs of f64 and ordered by their real, then their imaginary part.

use crate::ir::Binary;
use bytemuck::Pod;
use half::{bf16, f16};
use num_complex::Complex;
use std::cmp::Ordering;

/// A dtype whose elements can be joined and compared.
pub trait Arithmetic: Pod {
    /// A function of two elements; `None` if there is no such function of the dtype.
    fn function(kind: Binary) -> Option<fn(Self, Self) -> Self>;
    /// Which of two is larger; `None` if one is NaN.
    fn order(a: Self, b: Self) -> Option<Ordering>;
    /// Whether it is not a number.
    fn is_nan(self) -> bool {
        false
    }
}

/// Whether a comparison holds.
pub fn holds<T: Arithmetic>(kind: Binary, a: T, b: T) -> bool {
    let order = T::order(a, b);
    match kind {
        Binary::Equal => order == Some(Ordering::Equal),
        Binary::NotEqual => order != Some(Ordering::Equal),
        Binary::NanEqual => order == Some(Ordering::Equal) || (a.is_nan() && b.is_nan()),
        Binary::Greater => order == Some(Ordering::Greater),
        Binary::GreaterEqual => matches!(order, Some(Ordering::Greater | Ordering::Equal)),
        Binary::Less => order == Some(Ordering::Less),
        _ => matches!(order, Some(Ordering::Less | Ordering::Equal)),
    }
}

/// The larger; NaN if one is.
pub fn larger<T: Arithmetic>(a: T, b: T) -> T {
    if a.is_nan() || T::order(a, b) == Some(Ordering::Greater) {
        a
    } else {
        b
    }
}

/// The smaller; NaN if one is.
pub fn smaller<T: Arithmetic>(a: T, b: T) -> T {
    if a.is_nan() || T::order(a, b) == Some(Ordering::Less) {
        a
    } else {
        b
    }
}

macro_rules! integers {
    ($($t:ty),*) => {$(
        impl Arithmetic for $t {
            // Signs are asked of unsigned numbers too.
            #[allow(unused_comparisons)]
            fn function(kind: Binary) -> Option<fn($t, $t) -> $t> {
                Some(match kind {
                    Binary::Add => <$t>::wrapping_add,
                    Binary::Subtract => <$t>::wrapping_sub,
                    Binary::Multiply => <$t>::wrapping_mul,
                    Binary::FloorDivide => |a, b| {
                        if b == 0 {
                            return 0;
                        }
                        let (quotient, rest) = (a.wrapping_div(b), a.wrapping_rem(b));
                        match rest != 0 && (rest < 0) != (b < 0) {
                            true => quotient - 1,
                            false => quotient,
                        }
                    },
                    Binary::Remainder => |a, b| {
                        if b == 0 {
                            return 0;
                        }
                        let rest = a.wrapping_rem(b);
                        if rest != 0 && (rest < 0) != (b < 0) { rest + b } else { rest }
                    },
                    Binary::Power => |mut base, mut exponent| {
                        if exponent < 0 {
                            let odd = exponent & 1 != 0;
                            return match base.wrapping_add(1) {
                                2 => 1,
                                0 if odd => base,
                                0 => 1,
                                _ => 0,
                            };
                        }
                        let mut power: $t = 1;
                        while exponent != 0 {
                            if exponent & 1 != 0 {
                                power = power.wrapping_mul(base);
                            }
                            exponent >>= 1;
                            base = base.wrapping_mul(base);
                        }
                        power
                    },
                    Binary::BitwiseAnd => |a, b| a & b,
                    Binary::BitwiseOr => |a, b| a | b,
                    Binary::BitwiseXor => |a, b| a ^ b,
                    Binary::LeftShift => |a, b| {
                        u32::try_from(b).ok().and_then(|b| a.checked_shl(b)).unwrap_or(0)
                    },
                    Binary::RightShift => |a, b| {
                        let all = if a < 0 { !0 } else { 0 };
                        u32::try_from(b).ok().and_then(|b| a.checked_shr(b)).unwrap_or(all)
                    },
                    Binary::Maximum => |a, b| a.max(b),
                    Binary::Minimum => |a, b| a.min(b),
                    _ => return None,
                })
            }
            fn order(a: $t, b: $t) -> Option<Ordering> {
                Some(a.cmp(&b))
            }
        }
    )*};
}
integers!(u8, u16, u32, u64, i8, i16, i32, i64);

macro_rules! reals {
    ($($t:ty),*) => {$(
        impl Arithmetic for $t {
            fn function(kind: Binary) -> Option<fn($t, $t) -> $t> {
                Some(match kind {
                    Binary::Add => |a, b| a + b,
                    Binary::Subtract => |a, b| a - b,
                    Binary::Multiply => |a, b| a * b,
                    Binary::Divide => |a, b| a / b,
                    Binary::FloorDivide => |a, b| (a / b).floor(),
                    Binary::Remainder => |a, b| {
                        let rest = a % b;
                        if rest != 0.0 && (rest < 0.0) != (b < 0.0) { rest + b } else { rest }
                    },
                    Binary::Power => <$t>::powf,
                    Binary::ArcTan2 => <$t>::atan2,
                    Binary::Maximum => larger,
                    Binary::Minimum => smaller,
                    Binary::LogAddExp => |a, b| {
                        if a.is_nan() || b.is_nan() {
                            return <$t>::NAN;
                        }
                        let (low, high) = if a < b { (a, b) } else { (b, a) };
                        match low == <$t>::NEG_INFINITY || high == <$t>::INFINITY {
                            true => high,
                            false => high + (low - high).exp().ln_1p(),
                        }
                    },
                    _ => return None,
                })
            }
            fn order(a: $t, b: $t) -> Option<Ordering> {
                a.partial_cmp(&b)
            }
            fn is_nan(self) -> bool {
                self.is_nan()
            }
        }
    )*};
}
reals!(f32, f64);

/// 16-bit numbers, by way of f32.
macro_rules! halves {
    ($($t:ty: $($kind:ident)*;)*) => {$(
        impl Arithmetic for $t {
            fn function(kind: Binary) -> Option<fn($t, $t) -> $t> {
                Some(match kind {
                    $(Binary::$kind => |a, b| {
                        // Known while this is compiled: one function of f32 each.
                        let function = f32::function(Binary::$kind);
                        function.map_or(a, |f| <$t>::from_f32(f(a.to_f32(), b.to_f32())))
                    },)*
                    // The quotient is one of 16 bits before it is rounded down.
                    Binary::FloorDivide => |a, b| {
                        let quotient = <$t>::from_f32(a.to_f32() / b.to_f32());
                        <$t>::from_f32(quotient.to_f32().floor())
                    },
                    _ => return None,
                })
            }
            fn order(a: $t, b: $t) -> Option<Ordering> {
                a.to_f32().partial_cmp(&b.to_f32())
            }
            fn is_nan(self) -> bool {
                <$t>::is_nan(self)
            }
        }
    )*};
}
halves! {
    f16: Add Subtract Multiply Divide Remainder Power ArcTan2 Maximum Minimum LogAddExp;
    bf16: Add Subtract Multiply Divide Remainder Power ArcTan2 Maximum Minimum LogAddExp;
}

fn wide(z: Complex<f32>) -> Complex<f64> {
    Complex::new(z.re.into(), z.im.into())
}

fn narrow(z: Complex<f64>) -> Complex<f32> {
    Complex::new(z.re as f32, z.im as f32)
}

/// The quotient, also where infinities or a divisor of 0 make parts of it NaN (C's annex G).
fn quotient(a: Complex<f64>, b: Complex<f64>) -> Complex<f64> {
    let quotient = a / b;
    if !(quotient.re.is_nan() && quotient.im.is_nan()) {
        return quotient;
    }
    // 1 with the sign for infinite parts, 0 for others.
    let side = |x: f64| f64::from(u8::from(x.is_infinite())).copysign(x);
    let infinite = |z: Complex<f64>| z.re.is_infinite() || z.im.is_infinite();
    if b.re == 0.0 && b.im == 0.0 && !(a.re.is_nan() && a.im.is_nan()) {
        let infinity = f64::INFINITY.copysign(b.re);
        Complex::new(infinity * a.re, infinity * a.im)
    } else if infinite(a) && b.is_finite() {
        let a = Complex::new(side(a.re), side(a.im));
        f64::INFINITY * (a * b.conj())
    } else if infinite(b) && a.is_finite() {
        let b = Complex::new(side(b.re), side(b.im));
        0.0 * (a * b.conj())
    } else {
        quotient
    }
}

impl Arithmetic for Complex<f32> {
    fn function(kind: Binary) -> Option<fn(Self, Self) -> Self> {
        Some(match kind {
            Binary::Add => |a, b| a + b,
            Binary::Subtract => |a, b| a - b,
            Binary::Multiply => |a, b| narrow(wide(a) * wide(b)),
            // MLX rounds no complex quotient.
            Binary::Divide | Binary::FloorDivide => |a, b| narrow(quotient(wide(a), wide(b))),
            Binary::Power => {
                |a, b| match (a.re == 0.0 && a.im == 0.0, b.re == 0.0 && b.im == 0.0) {
                    (_, true) => Complex::new(1.0, 0.0),
                    (true, _) if b.re > 0.0 => Complex::new(0.0, 0.0),
                    (true, _) => Complex::new(f32::NAN, f32::NAN),
                    _ => narrow(wide(a).powc(wide(b))),
                }
            }
            Binary::Maximum => larger,
            Binary::Minimum => smaller,
            Binary::LogAddExp => |a, b| {
                if Arithmetic::is_nan(a) || Arithmetic::is_nan(b) {
                    return Complex::new(f32::NAN, f32::NAN);
                }
                let (low, high) = (wide(smaller(a, b)), wide(larger(a, b)));
                match low.re == f64::NEG_INFINITY || high.re == f64::INFINITY {
                    true => narrow(high),
                    false => narrow(high + ((low - high).exp() + 1.0).ln()),
                }
            },
            _ => return None,
        })
    }
    fn order(a: Self, b: Self) -> Option<Ordering> {
        match a.re.partial_cmp(&b.re)? {
            Ordering::Equal => a.im.partial_cmp(&b.im),
            order => {
                // With a NaN nothing is larger.
                a.im.partial_cmp(&b.im).map(|_| order)
            }
        }
    }
    fn is_nan(self) -> bool {
        self.re.is_nan() || self.im.is_nan()
    }
}
