//! Functions of f32 numbers, computed in f64 without branches so that the compiler finds the vectors: what is rounded
//! to f32 at the end is within 0.501 units of the last place of the true value.

// Taylor's terms of an order are written as the quotients that they are.
#![allow(clippy::excessive_precision)]

use std::f64::consts::{LN_2, LOG2_E};

/// `a·b + c`.
#[inline(always)]
fn fma<const F: bool>(a: f64, b: f64, c: f64) -> f64 {
    if F { a.mul_add(b, c) } else { a * b + c }
}

/// `c[0] + c[1]·x + …`
#[inline(always)]
fn polynomial<const F: bool, const N: usize>(x: f64, c: [f64; N]) -> f64 {
    let mut sum = c[N - 1];
    for k in (0..N - 1).rev() {
        sum = fma::<F>(sum, x, c[k]);
    }
    sum
}

/// 1.5·2^52: adding it rounds to an integer, which then stands in the low bits.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// e^x; beyond ±200 as of ±200, which no f32 holds either.
#[inline(always)]
pub fn exp<const F: bool>(x: f64) -> f64 {
    let x = if x > 200.0 { 200.0 } else { x };
    let x = if x < -200.0 { -200.0 } else { x };
    let shifted = fma::<F>(x, LOG2_E, MAGIC);
    let r = fma::<F>(shifted - MAGIC, -LN_2, x);
    let p = polynomial::<F, 12>(
        r,
        [
            1.0,
            1.0,
            1.0 / 2.0,
            1.0 / 6.0,
            1.0 / 24.0,
            1.0 / 120.0,
            1.0 / 720.0,
            1.0 / 5040.0,
            1.0 / 40_320.0,
            1.0 / 362_880.0,
            1.0 / 3_628_800.0,
            1.0 / 39_916_800.0,
        ],
    );
    p * f64::from_bits((shifted.to_bits() << 52).wrapping_add(1023 << 52))
}

/// e^x − 1 of an f32.
#[inline(always)]
pub fn expm1<const F: bool>(x: f64) -> f64 {
    let series = x * polynomial::<F, 4>(x, [1.0, 1.0 / 2.0, 1.0 / 6.0, 1.0 / 24.0]);
    let far = exp::<F>(x) - 1.0;
    if x.abs() < 1e-3 { series } else { far }
}

/// 1 / (1 + e^−x).
#[inline(always)]
pub fn sigmoid<const F: bool>(x: f64) -> f64 {
    1.0 / (1.0 + exp::<F>(-x))
}

/// Hyperbolic sine of an f32.
#[inline(always)]
pub fn sinh<const F: bool>(x: f64) -> f64 {
    let e = exp::<F>(x);
    let far = 0.5 * (e - 1.0 / e);
    let series = x * fma::<F>(x * x, 1.0 / 6.0, 1.0);
    if x.abs() < 1e-3 { series } else { far }
}

/// Hyperbolic cosine.
#[inline(always)]
pub fn cosh<const F: bool>(x: f64) -> f64 {
    let e = exp::<F>(x);
    0.5 * (e + 1.0 / e)
}

/// Hyperbolic tangent of an f32.
#[inline(always)]
pub fn tanh<const F: bool>(x: f64) -> f64 {
    let e = exp::<F>(-2.0 * x.abs());
    let far = ((1.0 - e) / (1.0 + e)).copysign(x);
    let series = x * fma::<F>(x * x, -1.0 / 3.0, 1.0);
    if x.abs() < 1e-3 { series } else { far }
}

/// The natural logarithm of an f32.
#[inline(always)]
pub fn ln<const F: bool>(x: f64) -> f64 {
    // x = 2^e · m, m from √½ to √2. Of what has no logarithm the bits give some number.
    const HALF_ROOT: u64 = 0x3fe6_a09e_667f_3bcd;
    let shifted = x.to_bits().wrapping_sub(HALF_ROOT);
    // The exponent as a number: its 12 bits (with a sign) below those of 1.5·2^52.
    let high = (shifted as i64 >> 52) as u64;
    let e = f64::from_bits(high.wrapping_add(MAGIC.to_bits())) - MAGIC;
    let m = f64::from_bits((shifted & 0xf_ffff_ffff_ffff).wrapping_add(HALF_ROOT));
    let s = (m - 1.0) / (m + 1.0);
    let p = polynomial::<F, 9>(
        s * s,
        [
            2.0,
            2.0 / 3.0,
            2.0 / 5.0,
            2.0 / 7.0,
            2.0 / 9.0,
            2.0 / 11.0,
            2.0 / 13.0,
            2.0 / 15.0,
            2.0 / 17.0,
        ],
    );
    let value = fma::<F>(e, LN_2, s * p);
    let value = if x == 0.0 { f64::NEG_INFINITY } else { value };
    let value = if x == f64::INFINITY { x } else { value };
    // Negative numbers and NaN.
    if x >= 0.0 { value } else { f64::NAN }
}

/// ln(1 + x) of an f32.
#[inline(always)]
pub fn ln_1p<const F: bool>(x: f64) -> f64 {
    let series = x * polynomial::<F, 4>(x, [1.0, -1.0 / 2.0, 1.0 / 3.0, -1.0 / 4.0]);
    let far = ln::<F>(1.0 + x);
    if x.abs() < 1e-4 { series } else { far }
}

/// How far from 0 sines and cosines are computed here.
pub const TURNS: f32 = 1e6;

/// Sine and cosine of up to ±[`TURNS`].
#[inline(always)]
pub fn sin_cos<const F: bool>(x: f64) -> (f64, f64) {
    // π/2 in parts of 33 bits, so that products with up to 20 bits are exact.
    const PARTS: [f64; 3] = [
        1.570_796_326_734_125_614_17,
        6.077_100_506_303_965_976_60e-11,
        2.022_266_248_795_950_631_54e-21,
    ];
    let shifted = fma::<F>(x, std::f64::consts::FRAC_2_PI, MAGIC);
    let n = shifted - MAGIC;
    let r = fma::<F>(n, -PARTS[0], x);
    let r = fma::<F>(n, -PARTS[1], r);
    let r = fma::<F>(n, -PARTS[2], r);
    let square = r * r;
    let sin = r * polynomial::<F, 7>(
        square,
        [
            1.0,
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
            1.0 / 6_227_020_800.0,
        ],
    );
    let cos = polynomial::<F, 8>(
        square,
        [
            1.0,
            -1.0 / 2.0,
            1.0 / 24.0,
            -1.0 / 720.0,
            1.0 / 40_320.0,
            -1.0 / 3_628_800.0,
            1.0 / 479_001_600.0,
            -1.0 / 87_178_291_200.0,
        ],
    );
    let quarter = shifted.to_bits();
    let odd = quarter & 1 != 0;
    let (a, b) = (if odd { cos } else { sin }, if odd { sin } else { cos });
    // The sine turns its sign after two quarters, the cosine between one and three.
    let sign = |of: f64, turned: u64| f64::from_bits(of.to_bits() ^ (turned >> 1 & 1) << 63);
    (sign(a, quarter), sign(b, quarter.wrapping_add(1)))
}

/// The error function of an f32: an odd polynomial up to where it is 1.
#[inline(always)]
pub fn erf<const F: bool>(x: f64) -> f64 {
    const END: f64 = 3.95;
    let t = if x > END { END } else { x };
    let t = if t < -END { -END } else { t };
    let u = fma::<F>(t * t, 2.0 / (END * END), -1.0);
    t * polynomial::<F, 23>(
        u,
        [
            0.35800076959385246,
            -0.17876950537123007,
            0.13317655496380656,
            -0.10863859450414204,
            0.09049139610103137,
            -0.07431601513707484,
            0.05885740952433536,
            -0.04432707538221237,
            0.031487006125802935,
            -0.02100963856126251,
            0.013149758586237898,
            -0.0077214966511295795,
            0.004260946945310198,
            -0.0022168187599973617,
            0.0010860439960027855,
            -0.0004972177931748949,
            0.0002186712361387484,
            -9.788394337961279e-05,
            3.857463559451504e-05,
            -9.899386025705768e-06,
            3.700153969884132e-06,
            -3.162515862856764e-06,
            1.0272278477922462e-06,
        ],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" {
        #[link_name = "erf"]
        safe fn c_erf(x: f64) -> f64;
    }

    /// Every f32 of a stride of bits is within 0.501 units of the last place; special ones are what they should be.
    #[test]
    fn functions_are_those_of_the_c_library() {
        type Pair = (fn(f64) -> f64, fn(f64) -> f64);
        let functions: [Pair; 11] = [
            (exp::<true>, f64::exp),
            (expm1::<true>, f64::exp_m1),
            (sigmoid::<true>, |x| 1.0 / (1.0 + (-x).exp())),
            (sinh::<true>, f64::sinh),
            (cosh::<false>, f64::cosh),
            (tanh::<true>, f64::tanh),
            (tanh::<false>, f64::tanh),
            (ln::<true>, f64::ln),
            (ln_1p::<true>, f64::ln_1p),
            (erf::<true>, |x| c_erf(x)),
            (exp::<false>, f64::exp),
        ];
        for (which, (ours, theirs)) in functions.into_iter().enumerate() {
            for bits in (0..=u32::MAX).step_by(9973) {
                let x = f32::from_bits(bits);
                let (a, b) = (ours(x.into()), theirs(x.into()));
                let wanted = b as f32;
                if (a as f32).to_bits() == wanted.to_bits() || (a.is_nan() && b.is_nan()) {
                    continue;
                }
                let unit = f64::from(f32::from_bits(wanted.to_bits() ^ 1)) - f64::from(wanted);
                let off = (f64::from(a as f32) - b).abs() / unit.abs();
                assert!(off <= 0.501, "function {which} of {x}: {a} {b}, {off}");
            }
        }
        for bits in (0..TURNS.to_bits()).step_by(997) {
            for x in [f32::from_bits(bits), -f32::from_bits(bits)] {
                for (sin, cos) in [sin_cos::<true>(x.into()), sin_cos::<false>(x.into())] {
                    let (s, c) = f64::from(x).sin_cos();
                    let close = |a: f64, b: f64| (a - b).abs() <= b.abs() * 1e-9;
                    assert!(close(sin, s) && close(cos, c), "{x}: {sin} {s}, {cos} {c}");
                }
            }
        }
    }
}
