//! Functions of floats as vector instructions have them: denormals, signs of zeros and what NaN gives.

use super::half::{f16_from_f64, f16_to_f32};
use super::wave::Row64;

/// The number when one is NaN; -0 is below +0.
#[inline(always)]
pub fn min_num(a: f32, b: f32) -> f32 {
    if a < b || b.is_nan() || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

#[inline(always)]
pub fn max_num(a: f32, b: f32) -> f32 {
    if a > b || b.is_nan() || (a == b && a.is_sign_positive()) {
        a
    } else {
        b
    }
}

/// NaN when one is NaN (gfx12 `minimum` and `maximum`).
#[inline(always)]
pub fn minimum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else {
        min_num(a, b)
    }
}

#[inline(always)]
pub fn maximum(a: f32, b: f32) -> f32 {
    if a.is_nan() || b.is_nan() {
        f32::NAN
    } else {
        max_num(a, b)
    }
}

#[inline(always)]
pub(super) fn med3(a: f32, b: f32, c: f32) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min_num(min_num(a, b), c);
    }
    max_num(min_num(a, b), min_num(max_num(a, b), c))
}

/// Denormals become zero of the same sign.
#[inline(always)]
pub(super) fn flush(v: f32) -> f32 {
    if v.is_subnormal() {
        0f32.copysign(v)
    } else {
        v
    }
}

#[inline]
pub(super) fn rsq(v: f32) -> f32 {
    (1.0 / f64::from(v).sqrt()) as f32
}

/// sin of turns; out of range as f64 allows.
#[inline]
pub(super) fn sin_turns(v: f32) -> f32 {
    (f64::from(v).fract() * std::f64::consts::TAU).sin() as f32
}

#[inline]
pub(super) fn cos_turns(v: f32) -> f32 {
    (f64::from(v).fract() * std::f64::consts::TAU).cos() as f32
}

/// `a * 2^e` with one rounding.
#[inline(always)]
pub fn ldexp(a: f32, e: i32) -> f32 {
    let e = e.clamp(-300, 300);
    (f64::from(a) * f64::from_bits(((1023 + e) as u64) << 52)) as f32
}

#[inline]
pub fn ldexp64(a: f64, e: i32) -> f64 {
    let mut v = a;
    let mut e = e.clamp(-4200, 4200);
    // Large steps first; only the last one may round.
    while e > 1000 {
        v *= f64::from_bits(2023 << 52);
        e -= 1000;
    }
    while e < -900 && v.abs() > f64::MIN_POSITIVE * 1e200 {
        v *= f64::from_bits((1023 - 500) << 52);
        e += 500;
    }
    while e < -1000 {
        v *= f64::from_bits(23 << 52);
        e += 1000;
    }
    v * f64::from_bits(((1023 + e) as u64) << 52)
}

#[inline]
pub(super) fn frexp_exp(v: f32) -> i32 {
    if v == 0.0 || !v.is_finite() {
        return 0;
    }
    let wide = f64::from(v).to_bits();
    (wide >> 52 & 0x7ff) as i32 - 1022
}

#[inline]
pub(super) fn frexp_mant(v: f32) -> f32 {
    if v == 0.0 || !v.is_finite() {
        v
    } else {
        ldexp(v, -frexp_exp(v))
    }
}

#[inline]
pub(super) fn exponent64(v: f64) -> i32 {
    let bits = v.to_bits();
    let e = (bits >> 52 & 0x7ff) as i32;
    if e == 0 {
        -((bits << 12).leading_zeros() as i32)
    } else {
        e
    }
}

#[inline]
pub(super) fn frexp_exp64(v: f64) -> i32 {
    if v == 0.0 || !v.is_finite() {
        return 0;
    }
    let e = (v.to_bits() >> 52 & 0x7ff) as i32;
    if e == 0 {
        frexp_exp64(v * f64::from_bits((1023 + 64) << 52)) - 64
    } else {
        e - 1022
    }
}

#[inline]
pub(super) fn frexp_mant64(v: f64) -> f64 {
    if v == 0.0 || !v.is_finite() {
        v
    } else {
        ldexp64(v, -frexp_exp64(v))
    }
}

/// Below 1 even where the subtraction rounds up to it; NaN for infinities.
#[inline(always)]
pub(super) fn fract(v: f32, below_one: f32) -> f32 {
    let rest = v - v.floor();
    if rest > below_one { below_one } else { rest }
}

/// Like [`min_num`] and [`max_num`].
#[inline(always)]
pub(super) fn min_num64(a: f64, b: f64) -> f64 {
    if a < b || b.is_nan() || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

#[inline]
pub(super) fn exp_bits(v: f32) -> i32 {
    (v.to_bits() >> 23 & 0xff) as i32
}

/// `v_div_scale_f32`: source 0 scaled (or not), and whether the quotient must be scaled back.
#[inline]
pub(super) fn scale32(s0: f32, s1: f32, s2: f32) -> (f32, bool) {
    let quotient_small = (s2 / s1).is_subnormal();
    let reciprocal_small = (1.0 / s1).is_subnormal();
    if s2 == 0.0 || s1 == 0.0 {
        (f32::NAN, false)
    } else if exp_bits(s2) - exp_bits(s1) >= 96 {
        (
            if s0.to_bits() == s1.to_bits() {
                ldexp(s0, 64)
            } else {
                s0
            },
            true,
        )
    } else if s1.is_subnormal() {
        (ldexp(s0, 64), false)
    } else if reciprocal_small && quotient_small {
        // The manuals print a scale up, which would make infinity of every divisor this is for.
        (
            if s0.to_bits() == s1.to_bits() {
                ldexp(s0, -64)
            } else {
                s0
            },
            true,
        )
    } else if reciprocal_small {
        (ldexp(s0, -64), false)
    } else if quotient_small {
        (
            if s0.to_bits() == s2.to_bits() {
                ldexp(s0, 64)
            } else {
                s0
            },
            true,
        )
    } else if exp_bits(s2) <= 23 {
        (ldexp(s0, 64), false)
    } else {
        (s0, false)
    }
}

#[inline]
pub(super) fn scale64(s0: f64, s1: f64, s2: f64) -> (f64, bool) {
    let exp = |v: f64| (v.to_bits() >> 52 & 0x7ff) as i32;
    let quotient_small = (s2 / s1).is_subnormal();
    let reciprocal_small = (1.0 / s1).is_subnormal();
    if s2 == 0.0 || s1 == 0.0 {
        (f64::NAN, false)
    } else if exp(s2) - exp(s1) >= 768 {
        (
            if s0.to_bits() == s1.to_bits() {
                ldexp64(s0, 128)
            } else {
                s0
            },
            true,
        )
    } else if s1.is_subnormal() {
        (ldexp64(s0, 128), false)
    } else if reciprocal_small && quotient_small {
        // The manuals print a scale up, which would make infinity of every divisor this is for.
        (
            if s0.to_bits() == s1.to_bits() {
                ldexp64(s0, -128)
            } else {
                s0
            },
            true,
        )
    } else if reciprocal_small {
        (ldexp64(s0, -128), false)
    } else if quotient_small {
        (
            if s0.to_bits() == s2.to_bits() {
                ldexp64(s0, 128)
            } else {
                s0
            },
            true,
        )
    } else if exp(s2) <= 53 {
        (ldexp64(s0, 128), false)
    } else {
        (s0, false)
    }
}

#[inline]
pub(super) fn scale_rows32(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) -> u32 {
    let f = |v: u64| f32::from_bits(v as u32);
    let mut mask = 0;
    for i in 0..32 {
        let (v, m) = scale32(f(a[i]), f(b[i]), f(c[i]));
        out[i] = u64::from(v.to_bits());
        mask |= u32::from(m) << i;
    }
    mask
}

#[inline]
pub(super) fn scale_rows64(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) -> u32 {
    let mut mask = 0;
    for i in 0..32 {
        let (v, m) = scale64(
            f64::from_bits(a[i]),
            f64::from_bits(b[i]),
            f64::from_bits(c[i]),
        );
        out[i] = v.to_bits();
        mask |= u32::from(m) << i;
    }
    mask
}

#[inline]
pub(super) fn fmas32(a: u64, b: u64, c: u64, scaled: bool) -> u64 {
    let f = |v: u64| f32::from_bits(v as u32);
    let v = f(a).mul_add(f(b), f(c));
    let v = match scaled {
        true if exp_bits(f(c)) > 127 => ldexp(v, 64),
        true => ldexp(v, -64),
        false => v,
    };
    u64::from(v.to_bits())
}

#[inline]
pub(super) fn fmas64(a: u64, b: u64, c: u64, scaled: bool) -> u64 {
    let v = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
    let v = match scaled {
        true if c >> 52 & 0x7ff > 1023 => ldexp64(v, 128),
        true => ldexp64(v, -128),
        false => v,
    };
    v.to_bits()
}

/// `v_div_fixup`: special cases of quotient q = n / d.
#[inline]
pub(super) fn fixup32(q: f32, d: f32, n: f32) -> f32 {
    let sign = if d.is_sign_negative() ^ n.is_sign_negative() {
        -1.0
    } else {
        1.0
    };
    if n.is_nan() {
        f32::from_bits(n.to_bits() | 0x0040_0000)
    } else if d.is_nan() {
        f32::from_bits(d.to_bits() | 0x0040_0000)
    } else if (d == 0.0 && n == 0.0) || (d.is_infinite() && n.is_infinite()) {
        f32::from_bits(0xffc0_0000)
    } else if d == 0.0 || n.is_infinite() {
        f32::INFINITY * sign
    } else if d.is_infinite() || n == 0.0 || exp_bits(n) - exp_bits(d) < -150 {
        0.0 * sign
    } else if q.is_nan() {
        // The iteration met infinities on its way to a quotient too large.
        f32::INFINITY * sign
    } else {
        q.abs() * sign
    }
}

#[inline]
pub(super) fn fixup64(q: f64, d: f64, n: f64) -> f64 {
    let sign = if d.is_sign_negative() ^ n.is_sign_negative() {
        -1.0
    } else {
        1.0
    };
    if n.is_nan() {
        n
    } else if d.is_nan() {
        d
    } else if (d == 0.0 && n == 0.0) || (d.is_infinite() && n.is_infinite()) {
        f64::from_bits(0xfff8 << 48)
    } else if d == 0.0 || n.is_infinite() {
        f64::INFINITY * sign
    } else if d.is_infinite() || n == 0.0 || exponent64(n) - exponent64(d) < -1075 {
        0.0 * sign
    } else if q.is_nan() {
        f64::INFINITY * sign
    } else {
        q.abs() * sign
    }
}

#[inline(always)]
pub(super) fn fma16(a: u32, b: u32, c: u32) -> u32 {
    // The product of two f16 is exact in f64 and the sum of it with an f16 nearly always;
    // where it is not, the lost bits lie far below f16's halfway points.
    let f = |v: u32| f64::from(f16_to_f32(v & 0xffff));
    u32::from(f16_from_f64(f(a) * f(b) + f(c)))
}
