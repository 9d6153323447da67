//! Vector floating point: f16, f32 and f64 arithmetic and transcendentals.
//!
//! f32 denormals are kept by arithmetic (the mode compilers ask for) and flushed by the
//! transcendental instructions, as the manuals say; those are exact here where hardware has 1 ulp.

use super::decode::Target;
use super::disassembly::Text;
use super::half::{f16_from_f32, f16_from_f64, f16_to_f32};
use super::lanes::{d3, df3, f1, f2, f3, h1, h2, h3, l1, l2, l3};
use super::operand::Ty::{B16, B32, F16, F32, F64};
use super::valu::{Fun, Op, a1, a2, a3, wide};
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
fn med3(a: f32, b: f32, c: f32) -> f32 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min_num(min_num(a, b), c);
    }
    max_num(min_num(a, b), min_num(max_num(a, b), c))
}

/// Denormals become zero of the same sign.
#[inline(always)]
fn flush(v: f32) -> f32 {
    if v.is_subnormal() {
        0f32.copysign(v)
    } else {
        v
    }
}

fn rsq(v: f32) -> f32 {
    (1.0 / f64::from(v).sqrt()) as f32
}

/// sin of turns; out of range as f64 allows.
fn sin_turns(v: f32) -> f32 {
    (f64::from(v).fract() * std::f64::consts::TAU).sin() as f32
}

fn cos_turns(v: f32) -> f32 {
    (f64::from(v).fract() * std::f64::consts::TAU).cos() as f32
}

/// `a * 2^e` with one rounding.
#[inline(always)]
pub fn ldexp(a: f32, e: i32) -> f32 {
    let e = e.clamp(-300, 300);
    (f64::from(a) * f64::from_bits(((1023 + e) as u64) << 52)) as f32
}

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

fn frexp_exp(v: f32) -> i32 {
    if v == 0.0 || !v.is_finite() {
        return 0;
    }
    let wide = f64::from(v).to_bits();
    (wide >> 52 & 0x7ff) as i32 - 1022
}

fn frexp_mant(v: f32) -> f32 {
    if v == 0.0 || !v.is_finite() {
        v
    } else {
        ldexp(v, -frexp_exp(v))
    }
}

fn exponent64(v: f64) -> i32 {
    let bits = v.to_bits();
    let e = (bits >> 52 & 0x7ff) as i32;
    if e == 0 {
        -((bits << 12).leading_zeros() as i32)
    } else {
        e
    }
}

fn frexp_exp64(v: f64) -> i32 {
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

fn frexp_mant64(v: f64) -> f64 {
    if v == 0.0 || !v.is_finite() {
        v
    } else {
        ldexp64(v, -frexp_exp64(v))
    }
}

/// Below 1 even where the subtraction rounds up to it; NaN for infinities.
#[inline(always)]
fn fract(v: f32, below_one: f32) -> f32 {
    let rest = v - v.floor();
    if rest > below_one { below_one } else { rest }
}

/// Like [`min_num`] and [`max_num`].
#[inline(always)]
fn min_num64(a: f64, b: f64) -> f64 {
    if a < b || b.is_nan() || (a == b && a.is_sign_negative()) {
        a
    } else {
        b
    }
}

fn exp_bits(v: f32) -> i32 {
    (v.to_bits() >> 23 & 0xff) as i32
}

/// `v_div_scale_f32`: source 0 scaled (or not), and whether the quotient must be scaled back.
fn scale32(s0: f32, s1: f32, s2: f32) -> (f32, bool) {
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

fn scale64(s0: f64, s1: f64, s2: f64) -> (f64, bool) {
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

fn scale_rows32(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) -> u32 {
    let f = |v: u64| f32::from_bits(v as u32);
    let mut mask = 0;
    for i in 0..32 {
        let (v, m) = scale32(f(a[i]), f(b[i]), f(c[i]));
        out[i] = u64::from(v.to_bits());
        mask |= u32::from(m) << i;
    }
    mask
}

fn scale_rows64(a: &Row64, b: &Row64, c: &Row64, out: &mut Row64) -> u32 {
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

fn fmas32(a: u64, b: u64, c: u64, scaled: bool) -> u64 {
    let f = |v: u64| f32::from_bits(v as u32);
    let v = f(a).mul_add(f(b), f(c));
    let v = match scaled {
        true if exp_bits(f(c)) > 127 => ldexp(v, 64),
        true => ldexp(v, -64),
        false => v,
    };
    u64::from(v.to_bits())
}

fn fmas64(a: u64, b: u64, c: u64, scaled: bool) -> u64 {
    let v = f64::from_bits(a).mul_add(f64::from_bits(b), f64::from_bits(c));
    let v = match scaled {
        true if c >> 52 & 0x7ff > 1023 => ldexp64(v, 128),
        true => ldexp64(v, -128),
        false => v,
    };
    v.to_bits()
}

/// `v_div_fixup`: special cases of quotient q = n / d.
fn fixup32(q: f32, d: f32, n: f32) -> f32 {
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

fn fixup64(q: f64, d: f64, n: f64) -> f64 {
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
fn fma16(a: u32, b: u32, c: u32) -> u32 {
    // The product of two f16 is exact in f64 and the sum of it with an f16 nearly always;
    // where it is not, the lost bits lie far below f16's halfway points.
    let f = |v: u32| f64::from(f16_to_f32(v & 0xffff));
    u32::from(f16_from_f64(f(a) * f(b) + f(c)))
}

/// The operation of this name.
pub fn find(t: &Text, target: &Target) -> Result<Option<Op>, String> {
    let name = t.name.as_str();
    Ok(single(name)
        .or_else(|| transcendental(name))
        .or_else(|| half(name, target))
        .or_else(|| double(name)))
}

fn single(name: &str) -> Option<Op> {
    Some(match name {
        "v_add_f32" => a2(F32, f2(|a, b| a + b)),
        "v_sub_f32" => a2(F32, f2(|a, b| a - b)),
        "v_subrev_f32" => a2(F32, f2(|a, b| b - a)),
        "v_mul_f32" => a2(F32, f2(|a, b| a * b)),
        "v_mul_legacy_f32" | "v_mul_dx9_zero_f32" => a2(
            F32,
            f2(|a, b| if a == 0.0 || b == 0.0 { 0.0 } else { a * b }),
        ),
        "v_fma_f32" => a3(F32, f3(f32::mul_add)),
        "v_fmac_f32" => a3(F32, f3(f32::mul_add)).acc(),
        "v_fmaak_f32" | "v_fmamk_f32" => a3(F32, f3(f32::mul_add)),
        "v_mad_f32" | "v_madak_f32" | "v_madmk_f32" => {
            a3(F32, f3(|a, b, c| flush(flush(a) * flush(b)) + flush(c)))
        }
        "v_mac_f32" => a3(F32, f3(|a, b, c| flush(flush(a) * flush(b)) + flush(c))).acc(),
        "v_min_f32" | "v_min_num_f32" => a2(F32, f2(min_num)),
        "v_max_f32" | "v_max_num_f32" => a2(F32, f2(max_num)),
        "v_minimum_f32" => a2(F32, f2(minimum)),
        "v_maximum_f32" => a2(F32, f2(maximum)),
        "v_min3_f32" | "v_min3_num_f32" => a3(F32, f3(|a, b, c| min_num(min_num(a, b), c))),
        "v_max3_f32" | "v_max3_num_f32" => a3(F32, f3(|a, b, c| max_num(max_num(a, b), c))),
        "v_minimum3_f32" => a3(F32, f3(|a, b, c| minimum(minimum(a, b), c))),
        "v_maximum3_f32" => a3(F32, f3(|a, b, c| maximum(maximum(a, b), c))),
        "v_med3_f32" | "v_med3_num_f32" => a3(F32, f3(med3)),
        "v_maxmin_f32" | "v_maxmin_num_f32" => a3(F32, f3(|a, b, c| min_num(max_num(a, b), c))),
        "v_minmax_f32" | "v_minmax_num_f32" => a3(F32, f3(|a, b, c| max_num(min_num(a, b), c))),
        "v_minimummaximum_f32" => a3(F32, f3(|a, b, c| maximum(minimum(a, b), c))),
        "v_maximumminimum_f32" => a3(F32, f3(|a, b, c| minimum(maximum(a, b), c))),
        "v_trunc_f32" => a1(F32, f1(f32::trunc)),
        "v_ceil_f32" => a1(F32, f1(f32::ceil)),
        "v_floor_f32" => a1(F32, f1(f32::floor)),
        "v_rndne_f32" => a1(F32, f1(f32::round_ties_even)),
        "v_fract_f32" => a1(F32, f1(|v| fract(v, f32::from_bits(0x3f7f_ffff)))),
        "v_ldexp_f32" => {
            a2(F32, l2(|a, b| ldexp(f32::from_bits(a), b as i32).to_bits())).src(F32, B32, B32)
        }
        "v_frexp_mant_f32" => a1(F32, f1(frexp_mant)),
        "v_frexp_exp_i32_f32" => a1(F32, l1(|a| frexp_exp(f32::from_bits(a)) as u32)).dst(B32),
        "v_div_fixup_f32" => a3(F32, f3(fixup32)),
        "v_div_fmas_f32" => Op::new(Fun::Fmas(fmas32), F32),
        "v_div_scale_f32" => Op::new(Fun::Scale(scale_rows32), F32),
        _ => return None,
    })
}

fn transcendental(name: &str) -> Option<Op> {
    Some(match name {
        "v_rcp_f32" | "v_rcp_iflag_f32" => a1(F32, f1(|a| flush(1.0 / flush(a)))),
        "v_rsq_f32" => a1(F32, f1(|a| rsq(flush(a)))),
        "v_sqrt_f32" => a1(F32, f1(|a| flush(a).sqrt())),
        "v_exp_f32" => a1(F32, f1(|a| flush(flush(a).exp2()))),
        "v_log_f32" => a1(F32, f1(|a| flush(a).log2())),
        "v_sin_f32" => a1(F32, f1(sin_turns)),
        "v_cos_f32" => a1(F32, f1(cos_turns)),
        "v_rcp_f16" => a1(F16, h1(|a| 1.0 / a)),
        "v_rsq_f16" => a1(F16, h1(rsq)),
        "v_sqrt_f16" => a1(F16, h1(f32::sqrt)),
        "v_exp_f16" => a1(F16, h1(f32::exp2)),
        "v_log_f16" => a1(F16, h1(f32::log2)),
        "v_sin_f16" => a1(F16, h1(sin_turns)),
        "v_cos_f16" => a1(F16, h1(cos_turns)),
        _ => return None,
    })
}

fn half(name: &str, target: &Target) -> Option<Op> {
    let op = match name {
        "v_add_f16" => a2(F16, h2(|a, b| a + b)),
        "v_sub_f16" => a2(F16, h2(|a, b| a - b)),
        "v_subrev_f16" => a2(F16, h2(|a, b| b - a)),
        "v_mul_f16" => a2(F16, h2(|a, b| a * b)),
        "v_fma_f16" => a3(F16, l3(fma16)).keeps(),
        "v_fma_legacy_f16" => a3(F16, l3(fma16)),
        "v_fmac_f16" => a3(F16, l3(fma16)).acc().keeps(),
        "v_fmaak_f16" | "v_fmamk_f16" => a3(F16, l3(fma16)).keeps(),
        "v_mad_f16" => a3(F16, h3(|a, b, c| f16_to_f32(f16_from_f32(a * b)) + c)).keeps(),
        "v_mad_legacy_f16" => a3(F16, h3(|a, b, c| f16_to_f32(f16_from_f32(a * b)) + c)),
        "v_madak_f16" | "v_madmk_f16" => {
            a3(F16, h3(|a, b, c| f16_to_f32(f16_from_f32(a * b)) + c)).keeps()
        }
        "v_mac_f16" => a3(F16, h3(|a, b, c| f16_to_f32(f16_from_f32(a * b)) + c))
            .acc()
            .keeps(),
        "v_min_f16" | "v_min_num_f16" => a2(F16, h2(min_num)),
        "v_max_f16" | "v_max_num_f16" => a2(F16, h2(max_num)),
        "v_minimum_f16" => a2(F16, h2(minimum)),
        "v_maximum_f16" => a2(F16, h2(maximum)),
        "v_min3_f16" | "v_min3_num_f16" => a3(F16, h3(|a, b, c| min_num(min_num(a, b), c))).keeps(),
        "v_max3_f16" | "v_max3_num_f16" => a3(F16, h3(|a, b, c| max_num(max_num(a, b), c))).keeps(),
        "v_med3_f16" | "v_med3_num_f16" => a3(F16, h3(med3)).keeps(),
        "v_maxmin_f16" | "v_maxmin_num_f16" => a3(F16, h3(|a, b, c| min_num(max_num(a, b), c))),
        "v_minmax_f16" | "v_minmax_num_f16" => a3(F16, h3(|a, b, c| max_num(min_num(a, b), c))),
        "v_trunc_f16" => a1(F16, h1(f32::trunc)),
        "v_ceil_f16" => a1(F16, h1(f32::ceil)),
        "v_floor_f16" => a1(F16, h1(f32::floor)),
        "v_rndne_f16" => a1(F16, h1(f32::round_ties_even)),
        "v_fract_f16" => a1(F16, h1(|v| fract(v, 0.999_511_7))),
        "v_ldexp_f16" => a2(
            F16,
            l2(|a, b| f16_from_f32(ldexp(f16_to_f32(a & 0xffff), i32::from(b as i16)))),
        )
        .src(F16, B16, B16),
        "v_frexp_mant_f16" => a1(F16, h1(frexp_mant)),
        "v_frexp_exp_i16_f16" => a1(
            F16,
            l1(|a| frexp_exp(f16_to_f32(a & 0xffff)) as u32 & 0xffff),
        )
        .dst(B16),
        "v_div_fixup_f16" => a3(F16, h3(fixup32)).keeps(),
        _ => return None,
    };
    let _ = target;
    Some(op)
}

fn double(name: &str) -> Option<Op> {
    Some(match name {
        "v_add_f64" => wide(2, F64, df3(|a, b, _| a + b)),
        "v_mul_f64" => wide(2, F64, df3(|a, b, _| a * b)),
        "v_fma_f64" => wide(3, F64, df3(f64::mul_add)),
        "v_fmac_f64" => wide(3, F64, df3(f64::mul_add)).acc(),
        "v_min_f64" | "v_min_num_f64" => wide(2, F64, df3(|a, b, _| min_num64(a, b))),
        "v_max_f64" | "v_max_num_f64" => wide(2, F64, df3(|a, b, _| -min_num64(-a, -b))),
        "v_trunc_f64" => wide(1, F64, df3(|a, _, _| a.trunc())),
        "v_ceil_f64" => wide(1, F64, df3(|a, _, _| a.ceil())),
        "v_floor_f64" => wide(1, F64, df3(|a, _, _| a.floor())),
        "v_rndne_f64" => wide(1, F64, df3(|a, _, _| a.round_ties_even())),
        "v_fract_f64" => wide(
            1,
            F64,
            df3(|a, _, _| {
                let (rest, below_one) = (a - a.floor(), 1.0 - f64::EPSILON / 2.0);
                if rest > below_one { below_one } else { rest }
            }),
        ),
        "v_rcp_f64" => wide(1, F64, df3(|a, _, _| 1.0 / a)),
        "v_rsq_f64" => wide(1, F64, df3(|a, _, _| 1.0 / a.sqrt())),
        "v_sqrt_f64" => wide(1, F64, df3(|a, _, _| a.sqrt())),
        "v_ldexp_f64" => wide(
            2,
            F64,
            d3(|a, b, _| ldexp64(f64::from_bits(a), b as i32).to_bits()),
        )
        .src(F64, B32, B32),
        "v_frexp_mant_f64" => wide(1, F64, df3(|a, _, _| frexp_mant64(a))),
        "v_frexp_exp_i32_f64" => wide(
            1,
            F64,
            d3(|a, _, _| u64::from(frexp_exp64(f64::from_bits(a)) as u32)),
        )
        .dst(B32),
        "v_div_fixup_f64" => wide(3, F64, df3(fixup64)),
        "v_div_fmas_f64" => Op::new(Fun::Fmas(fmas64), F64),
        "v_div_scale_f64" => Op::new(Fun::Scale(scale_rows64), F64),
        _ => return None,
    })
}
