//! Vector f32 and f64 arithmetic (manuals: VOP1, VOP2, VOP3).

use crate::harness::Case;
use crate::numbers::Kind::{self, F32, F64, U32};
use crate::numbers::{d, f};
use crate::tables::{lanes, text, vector};

const ONE: &[Kind] = &[F32];
const TWO: &[Kind] = &[F32, F32];
const THREE: &[Kind] = &[F32, F32, F32];
const ONE64: &[Kind] = &[F64];
const TWO64: &[Kind] = &[F64, F64];
const THREE64: &[Kind] = &[F64, F64, F64];

pub fn bits(v: f32) -> u64 {
    u64::from(v.to_bits())
}

/// The other number beside a NaN; -0 is less than +0.
pub fn min(a: f64, b: f64) -> f64 {
    match (a.is_nan(), b.is_nan()) {
        (true, _) => b,
        (_, true) => a,
        _ if a == b => {
            if a.is_sign_negative() {
                a
            } else {
                b
            }
        }
        _ => {
            if a < b {
                a
            } else {
                b
            }
        }
    }
}

pub fn max(a: f64, b: f64) -> f64 {
    -min(-a, -b)
}

/// NaN beside a NaN (RDNA 4 MINIMUM and MAXIMUM).
pub fn minimum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        min(a, b)
    }
}

pub fn maximum(a: f64, b: f64) -> f64 {
    if a.is_nan() || b.is_nan() {
        f64::NAN
    } else {
        max(a, b)
    }
}

pub fn med3(a: f64, b: f64, c: f64) -> f64 {
    if a.is_nan() || b.is_nan() || c.is_nan() {
        return min(min(a, b), c);
    }
    let top = max(max(a, b), c);
    if top == a {
        max(b, c)
    } else if top == b {
        max(a, c)
    } else {
        max(a, b)
    }
}

pub fn flush(v: f32) -> f32 {
    if v.abs() < f32::MIN_POSITIVE {
        v * 0.0
    } else {
        v
    }
}

/// `a * b + c` of the old MAD: denormals are zero everywhere, the product is rounded.
fn mad(a: f32, b: f32, c: f32) -> f32 {
    flush(flush(flush(a) * flush(b)) + flush(c))
}

pub fn w(v: u64) -> f64 {
    f64::from(f(v))
}

fn single(cases: &mut Vec<Case>) {
    let mut one = |name: &str, g: fn(f32) -> f32| {
        cases.push(vector(name, F32, ONE, move |s| bits(g(f(s[0])))));
    };
    one("v_trunc_f32", |v| {
        if v.abs() < 8_388_608.0 {
            (v as i32 as f32).copysign(v)
        } else {
            v
        }
    });
    one("v_ceil_f32", |v| -(-v).floor());
    one("v_floor_f32", f32::floor);
    one("v_rndne_f32", |v| {
        // Adding and taking away 2^23 rounds to an integer, ties to even.
        if v.abs() < 8_388_608.0 {
            ((v.abs() + 8_388_608.0) - 8_388_608.0).copysign(v)
        } else {
            v
        }
    });
    one("v_fract_f32", |v| {
        let rest = v - v.floor();
        if rest >= 1.0 {
            f32::from_bits(0x3f7f_ffff)
        } else {
            rest
        }
    });
    one("v_frexp_mant_f32", |v| {
        if v == 0.0 || v.is_nan() || v.is_infinite() {
            return v;
        }
        let mut m = f64::from(v);
        while m.abs() >= 1.0 {
            m /= 2.0;
        }
        while m.abs() < 0.5 {
            m *= 2.0;
        }
        m as f32
    });
    cases.push(vector("v_frexp_exp_i32_f32", U32, ONE, |s| {
        u64::from(frexp(w(s[0])) as u32)
    }));
    let mut two = |name: &str, g: fn(f64, f64) -> f64| {
        cases.push(vector(name, F32, TWO, move |s| {
            bits(g(w(s[0]), w(s[1])) as f32)
        }));
    };
    // f64 holds sums and products of f32 well enough for one rounding to be the right one.
    two("v_add_f32", |a, b| a + b);
    two("v_sub_f32", |a, b| a - b);
    two("v_subrev_f32", |a, b| b - a);
    two("v_mul_f32", |a, b| a * b);
    for name in ["v_mul_legacy_f32", "v_mul_dx9_zero_f32"] {
        two(name, |a, b| if a == 0.0 || b == 0.0 { 0.0 } else { a * b });
    }
    for name in ["v_min_f32", "v_min_num_f32"] {
        two(name, min);
    }
    for name in ["v_max_f32", "v_max_num_f32"] {
        two(name, max);
    }
    two("v_minimum_f32", minimum);
    two("v_maximum_f32", maximum);
    let mut three = |name: &str, g: fn(f64, f64, f64) -> f64| {
        cases.push(vector(name, F32, THREE, move |s| {
            bits(g(w(s[0]), w(s[1]), w(s[2])) as f32)
        }));
    };
    for tail in ["", "_num"] {
        three(&format!("v_min3{tail}_f32"), |a, b, c| min(min(a, b), c));
        three(&format!("v_max3{tail}_f32"), |a, b, c| max(max(a, b), c));
        three(&format!("v_med3{tail}_f32"), med3);
        three(&format!("v_maxmin{tail}_f32"), |a, b, c| min(max(a, b), c));
        three(&format!("v_minmax{tail}_f32"), |a, b, c| max(min(a, b), c));
    }
    three("v_minimum3_f32", |a, b, c| minimum(minimum(a, b), c));
    three("v_maximum3_f32", |a, b, c| maximum(maximum(a, b), c));
    three("v_minimummaximum_f32", |a, b, c| maximum(minimum(a, b), c));
    three("v_maximumminimum_f32", |a, b, c| minimum(maximum(a, b), c));
    let scaled: &[Kind] = &[F32, U32];
    cases.push(vector("v_ldexp_f32", F32, scaled, |s| {
        let e = (s[1] as u32 as i32).clamp(-400, 400);
        bits((w(s[0]) * 2f64.powi(e)) as f32)
    }));
}

/// The exponent e of v = m 2^e with 0.5 <= |m| < 1; 0 for zeros, infinities and NaNs.
fn frexp(v: f64) -> i32 {
    if v == 0.0 || !v.is_finite() {
        return 0;
    }
    let (mut v, mut e) = (v.abs(), 0);
    while v >= 1.0 {
        (v, e) = (v / 2.0, e + 1);
    }
    while v < 0.5 {
        (v, e) = (v * 2.0, e - 1);
    }
    e
}

/// Fused multiply-adds, and the old ones that flush denormals.
fn multiply_add(cases: &mut Vec<Case>) {
    cases.push(vector("v_fma_f32", F32, THREE, |s| {
        bits(f(s[0]).mul_add(f(s[1]), f(s[2])))
    }));
    cases.push(vector("v_fmac_f32", F32, TWO, |s| {
        bits(f(s[0]).mul_add(f(s[1]), f(s[2])))
    }));
    cases.push(vector("v_mad_f32", F32, THREE, |s| {
        bits(mad(f(s[0]), f(s[1]), f(s[2])))
    }));
    cases.push(vector("v_mac_f32", F32, TWO, |s| {
        bits(mad(f(s[0]), f(s[1]), f(s[2])))
    }));
    for k in [0x4049_0fdbu32, 0xc000_0001] {
        let factor = f32::from_bits(k);
        let add = format!(", {k:#x}");
        cases.push(lanes(
            text("v_fmaak_f32", F32, TWO, &add),
            F32,
            TWO,
            false,
            move |s| bits(f(s[0]).mul_add(f(s[1]), factor)),
        ));
        cases.push(lanes(
            text("v_madak_f32", F32, TWO, &add),
            F32,
            TWO,
            false,
            move |s| bits(mad(f(s[0]), f(s[1]), factor)),
        ));
        cases.push(lanes(
            format!("v_fmamk_f32 v0, v2, {k:#x}, v4"),
            F32,
            TWO,
            false,
            move |s| bits(f(s[0]).mul_add(factor, f(s[1]))),
        ));
        cases.push(lanes(
            format!("v_madmk_f32 v0, v2, {k:#x}, v4"),
            F32,
            TWO,
            false,
            move |s| bits(mad(f(s[0]), factor, f(s[1]))),
        ));
    }
}

fn double(cases: &mut Vec<Case>) {
    let mut add = |name: &str, src: &'static [Kind], g: fn(&[f64]) -> f64| {
        cases.push(vector(name, F64, src, move |s| {
            let values: Vec<f64> = s.iter().map(|v| d(*v)).collect();
            g(&values).to_bits()
        }));
    };
    add("v_add_f64", TWO64, |s| s[0] + s[1]);
    add("v_mul_f64", TWO64, |s| s[0] * s[1]);
    add("v_fma_f64", THREE64, |s| s[0].mul_add(s[1], s[2]));
    add("v_fmac_f64", TWO64, |s| s[0].mul_add(s[1], s[2]));
    for name in ["v_min_f64", "v_min_num_f64"] {
        add(name, TWO64, |s| min(s[0], s[1]));
    }
    for name in ["v_max_f64", "v_max_num_f64"] {
        add(name, TWO64, |s| max(s[0], s[1]));
    }
    add("v_trunc_f64", ONE64, |s| {
        if s[0].abs() < 2f64.powi(52) {
            (s[0] as i64 as f64).copysign(s[0])
        } else {
            s[0]
        }
    });
    add("v_ceil_f64", ONE64, |s| -(-s[0]).floor());
    add("v_floor_f64", ONE64, |s| s[0].floor());
    add("v_rndne_f64", ONE64, |s| {
        let big = 2f64.powi(52);
        if s[0].abs() < big {
            ((s[0].abs() + big) - big).copysign(s[0])
        } else {
            s[0]
        }
    });
    add("v_fract_f64", ONE64, |s| {
        let rest = s[0] - s[0].floor();
        if rest >= 1.0 {
            1.0 - f64::EPSILON / 2.0
        } else {
            rest
        }
    });
    add("v_frexp_mant_f64", ONE64, |s| {
        if s[0] == 0.0 || !s[0].is_finite() {
            return s[0];
        }
        let (mut v, mut e) = (s[0], frexp(s[0]));
        while e > 0 {
            (v, e) = (v / 2.0, e - 1);
        }
        while e < 0 {
            (v, e) = (v * 2.0, e + 1);
        }
        v
    });
    cases.push(vector("v_frexp_exp_i32_f64", U32, ONE64, |s| {
        u64::from(frexp(d(s[0])) as u32)
    }));
    cases.push(vector("v_ldexp_f64", F64, &[F64, U32], |s| {
        ldexp64(d(s[0]), s[1] as u32 as i32).to_bits()
    }));
}

/// `v * 2^e` with one rounding: exact steps up, and down to a value whose last step rounds.
pub fn ldexp64(v: f64, e: i32) -> f64 {
    let mut e = e.clamp(-2200, 2200);
    if v == 0.0 || !v.is_finite() {
        return v;
    }
    let mut v = v;
    while e > 0 {
        (v, e) = (v * 2.0, e - 1);
    }
    // Halving is exact while the result is normal.
    while e < 0 && v.abs() >= 2.0 * f64::MIN_POSITIVE {
        (v, e) = (v / 2.0, e + 1);
    }
    if e < -1000 { v * 0.0 } else { v * 2f64.powi(e) }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    single(&mut cases);
    multiply_add(&mut cases);
    double(&mut cases);
    cases
}
