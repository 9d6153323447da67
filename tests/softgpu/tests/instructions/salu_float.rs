//! Scalar floats of RDNA 3.5 and 4, and RDNA 4's scalar transcendentals V_S_* (manuals: SOP1, SOP2, SOPC,
//! VOP3). The high half of a scalar f16 result is not specified.

use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F16, F32, U32};
use crate::numbers::{F16 as HALF, f, fma16, h};
use crate::tables::{scalar, scalar_text, scalars};
use crate::valu_float::{bits, max, maximum, min, minimum};

const ONE: &[Kind] = &[F32];
const TWO: &[Kind] = &[F32, F32];
const ONEH: &[Kind] = &[F16];
const TWOH: &[Kind] = &[F16, F16];

fn w(v: u64) -> f64 {
    f64::from(f(v))
}

fn enc(v: f64) -> u64 {
    u64::from(HALF.encode(v))
}

/// A scalar f16 result, within `ulps`.
fn half(
    name: &str,
    src: &'static [Kind],
    ulps: u32,
    g: impl Fn(&[u64]) -> u64 + Send + Sync + 'static,
) -> Case {
    let mut case = scalar(name, F16, src, move |s, _| (g(s), None));
    case.close = vec![(Reg::S(0), Close::Half(ulps))];
    case
}

fn singles(cases: &mut Vec<Case>) {
    let mut two = |name: &str, g: fn(f64, f64) -> f64| {
        cases.push(scalar(name, F32, TWO, move |s, _| {
            (bits(g(w(s[0]), w(s[1])) as f32), None)
        }));
    };
    two("s_add_f32", |a, b| a + b);
    two("s_sub_f32", |a, b| a - b);
    two("s_mul_f32", |a, b| a * b);
    for name in ["s_min_f32", "s_min_num_f32"] {
        two(name, min);
    }
    for name in ["s_max_f32", "s_max_num_f32"] {
        two(name, max);
    }
    two("s_minimum_f32", minimum);
    two("s_maximum_f32", maximum);
    cases.push(scalar("s_fmac_f32", F32, TWO, |s, _| {
        (bits(f(s[0]).mul_add(f(s[1]), f(s[2]))), None)
    }));
    let k = 0x4049_0fdbu32;
    let factor = f32::from_bits(k);
    cases.push(scalar_text(
        format!("s_fmaak_f32 s0, s2, s4, {k:#x}"),
        F32,
        TWO,
        move |s, _| (bits(f(s[0]).mul_add(f(s[1]), factor)), None),
    ));
    cases.push(scalar_text(
        format!("s_fmamk_f32 s0, s2, {k:#x}, s4"),
        F32,
        TWO,
        move |s, _| (bits(f(s[0]).mul_add(factor, f(s[1]))), None),
    ));
    let mut one = |name: &str, dst: Kind, src: &'static [Kind], g: fn(u64) -> u64| {
        cases.push(scalar(name, dst, src, move |s, _| (g(s[0]), None)));
    };
    one("s_ceil_f32", F32, ONE, |v| bits(w(v).ceil() as f32));
    one("s_floor_f32", F32, ONE, |v| bits(w(v).floor() as f32));
    one("s_trunc_f32", F32, ONE, |v| bits(w(v).trunc() as f32));
    one("s_rndne_f32", F32, ONE, |v| {
        bits(w(v).round_ties_even() as f32)
    });
    one("s_cvt_f32_i32", F32, &[U32], |v| {
        bits(f64::from(v as u32 as i32) as f32)
    });
    one("s_cvt_f32_u32", F32, &[U32], |v| bits(v as f64 as f32));
    one("s_cvt_i32_f32", U32, ONE, |v| {
        let v = w(v).trunc().clamp(-2_147_483_648.0, 2_147_483_647.0);
        if v.is_nan() {
            0
        } else {
            u64::from(v as i64 as u32)
        }
    });
    one("s_cvt_u32_f32", U32, ONE, |v| {
        let v = w(v).trunc().clamp(0.0, 4_294_967_295.0);
        if v.is_nan() { 0 } else { v as u64 }
    });
    one("s_cvt_f32_f16", F32, ONEH, |v| bits(h(v) as f32));
    one("s_cvt_hi_f32_f16", F32, &[Kind::PF16], |v| {
        bits(h(v >> 16) as f32)
    });
    cases.push(half("s_cvt_f16_f32", ONE, 0, |s| enc(w(s[0]))));
    let mut case = scalar("s_cvt_pk_rtz_f16_f32", U32, TWO, |s, _| {
        let (a, b) = (
            HALF.encode_toward_zero(w(s[0])),
            HALF.encode_toward_zero(w(s[1])),
        );
        (u64::from(a | b << 16), None)
    });
    case.close = vec![(Reg::S(0), Close::PF16(0))];
    cases.push(case);
}

fn halves(cases: &mut Vec<Case>) {
    let mut two = |name: &str, g: fn(f64, f64) -> f64| {
        cases.push(half(name, TWOH, 0, move |s| enc(g(h(s[0]), h(s[1])))));
    };
    two("s_add_f16", |a, b| a + b);
    two("s_sub_f16", |a, b| a - b);
    two("s_mul_f16", |a, b| a * b);
    for name in ["s_min_f16", "s_min_num_f16"] {
        two(name, min);
    }
    for name in ["s_max_f16", "s_max_num_f16"] {
        two(name, max);
    }
    // The old destination is whatever 16 bits were there: no signalling NaN.
    let mut fmac = half("s_fmac_f16", TWOH, 0, |s| {
        u64::from(fma16(s[0], s[1], s[2]))
    });
    fmac.prepare = Box::new(|s, random, run| {
        scalars(TWOH)(s, random, run);
        s.s[0] = crate::numbers::any(F16, random) as u32;
    });
    cases.push(fmac);
    let mut one = |name: &str, g: fn(f64) -> f64| {
        cases.push(half(name, ONEH, 0, move |s| enc(g(h(s[0])))));
    };
    one("s_ceil_f16", f64::ceil);
    one("s_floor_f16", f64::floor);
    one("s_trunc_f16", f64::trunc);
    one("s_rndne_f16", f64::round_ties_even);
}

/// 1 ULP; f32 denormals count as zero.
fn transcendental(cases: &mut Vec<Case>) {
    type Function = fn(f64) -> f64;
    let all: [(&str, Function); 5] = [
        ("exp", f64::exp2),
        ("log", f64::log2),
        ("rcp", |v| 1.0 / v),
        ("rsq", |v| 1.0 / v.sqrt()),
        ("sqrt", f64::sqrt),
    ];
    for (name, g) in all {
        let flush = |v: f64| {
            if v.abs() < f64::from(f32::MIN_POSITIVE) {
                v * 0.0
            } else {
                v
            }
        };
        for (text, neg, abs) in [("s2", false, false), ("-|s2|", true, true)] {
            let sign = move |v: f64| {
                let v = if abs { v.abs() } else { v };
                if neg { -v } else { v }
            };
            let mut case = scalar_text(
                format!("v_s_{name}_f32 s0, {text}"),
                F32,
                ONE,
                move |s, _| (bits(flush(g(flush(sign(w(s[0]))))) as f32), None),
            );
            case.close = vec![(Reg::S(0), Close::F32(1))];
            cases.push(case);
            let mut case = scalar_text(
                format!("v_s_{name}_f16 s0, {text}"),
                F16,
                ONEH,
                move |s, _| (enc(g(sign(h(s[0])))), None),
            );
            case.close = vec![(Reg::S(0), Close::Half(1))];
            cases.push(case);
        }
    }
}

fn compares(cases: &mut Vec<Case>) {
    use std::cmp::Ordering::{self, Equal, Greater, Less};
    type Test = fn(Option<Ordering>) -> bool;
    let tests: [(&str, Test); 14] = [
        ("lt", |o| o == Some(Less)),
        ("eq", |o| o == Some(Equal)),
        ("le", |o| matches!(o, Some(Less | Equal))),
        ("gt", |o| o == Some(Greater)),
        ("lg", |o| matches!(o, Some(Less | Greater))),
        ("ge", |o| matches!(o, Some(Greater | Equal))),
        ("o", |o| o.is_some()),
        ("u", |o| o.is_none()),
        ("nge", |o| matches!(o, Some(Less) | None)),
        ("nlg", |o| matches!(o, Some(Equal) | None)),
        ("ngt", |o| matches!(o, Some(Less | Equal) | None)),
        ("nle", |o| matches!(o, Some(Greater) | None)),
        ("neq", |o| o != Some(Equal)),
        ("nlt", |o| matches!(o, Some(Greater | Equal) | None)),
    ];
    for (name, test) in tests {
        cases.push(scalar_text(
            format!("s_cmp_{name}_f32 s2, s4"),
            Kind::U64,
            TWO,
            move |s, _| (s[2], Some(test(w(s[0]).partial_cmp(&w(s[1]))))),
        ));
        cases.push(scalar_text(
            format!("s_cmp_{name}_f16 s2, s4"),
            Kind::U64,
            TWOH,
            move |s, _| (s[2], Some(test(h(s[0]).partial_cmp(&h(s[1]))))),
        ));
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    singles(&mut cases);
    halves(&mut cases);
    transcendental(&mut cases);
    compares(&mut cases);
    cases
}
