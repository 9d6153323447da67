//! Packed 16-bit arithmetic and the mixed multiply-add (manuals: VOP3P).

use crate::half::{enc, i, low, saturate, u};
use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F16, F32, P16, PF16, U32};
use crate::numbers::{f, fma16, h};
use crate::tables::{lanes, text, vector};
use crate::valu_float::{bits, max, maximum, min, minimum};

/// Two halves: `op_sel` picks sources of the low result, `op_sel_hi` of the high one.
fn packed_case(
    name: &str,
    kind: Kind,
    n: usize,
    g: impl Fn(&[u64]) -> u64 + Copy + Send + Sync + 'static,
    clamp: bool,
) -> Vec<Case> {
    let src: &[Kind] = if kind == PF16 {
        &[PF16, PF16, PF16]
    } else {
        &[P16, P16, P16]
    };
    let src = &src[..n];
    let mut cases = Vec::new();
    for (low_sel, high_sel, neg_low, neg_high) in [
        (0, 7, 0, 0),
        (0b011, 0b101, 0, 0),
        (0b110, 0b010, 0b101, 0b011),
    ] {
        let float = kind == PF16;
        let list = |name: &str, v: u32| {
            let places: Vec<String> = (0..n).map(|k| (v >> k & 1).to_string()).collect();
            format!(" {name}:[{}]", places.join(","))
        };
        let mut tail = list("op_sel", low_sel) + &list("op_sel_hi", high_sel);
        let (neg_low, neg_high) = if float { (neg_low, neg_high) } else { (0, 0) };
        if neg_low != 0 {
            tail += &(list("neg_lo", neg_low) + &list("neg_hi", neg_high));
        }
        tail += if clamp { " clamp" } else { "" };
        cases.push(lanes(
            text(name, kind, src, &tail),
            kind,
            src,
            false,
            move |s| {
                let one = |select: u32, negate: u32| {
                    let halves: Vec<u64> = (0..n)
                        .map(|k| {
                            (s[k] >> (16 * (select >> k & 1)) & 0xffff)
                                ^ u64::from(negate >> k & 1) << 15
                        })
                        .collect();
                    u(g(&halves))
                };
                one(low_sel, neg_low) | one(high_sel, neg_high) << 16
            },
        ));
    }
    cases
}

fn packed(cases: &mut Vec<Case>) {
    type Half = fn(&[u64]) -> u64;
    let mut add = |name: &str, n: usize, g: Half| cases.extend(packed_case(name, P16, n, g, false));
    for name in ["v_pk_add_u16", "v_pk_add_i16"] {
        add(name, 2, |s| s[0] + s[1]);
    }
    for name in ["v_pk_sub_u16", "v_pk_sub_i16"] {
        add(name, 2, |s| s[0].wrapping_sub(s[1]));
    }
    add("v_pk_mul_lo_u16", 2, |s| s[0] * s[1]);
    for name in ["v_pk_mad_u16", "v_pk_mad_i16"] {
        add(name, 3, |s| s[0] * s[1] + s[2]);
    }
    add("v_pk_lshlrev_b16", 2, |s| s[1] << (s[0] & 15));
    add("v_pk_lshrrev_b16", 2, |s| s[1] >> (s[0] & 15));
    add("v_pk_ashrrev_i16", 2, |s| low(i(s[1]) >> (s[0] & 15)));
    add("v_pk_min_u16", 2, |s| s[0].min(s[1]));
    add("v_pk_max_u16", 2, |s| s[0].max(s[1]));
    add("v_pk_min_i16", 2, |s| low(i(s[0]).min(i(s[1]))));
    add("v_pk_max_i16", 2, |s| low(i(s[0]).max(i(s[1]))));
    let mut clamped =
        |name: &str, n: usize, g: Half| cases.extend(packed_case(name, P16, n, g, true));
    clamped("v_pk_add_u16", 2, |s| (s[0] + s[1]).min(0xffff));
    clamped("v_pk_sub_u16", 2, |s| s[0].saturating_sub(s[1]));
    clamped("v_pk_add_i16", 2, |s| saturate(i(s[0]) + i(s[1])));
    clamped("v_pk_sub_i16", 2, |s| saturate(i(s[0]) - i(s[1])));
    clamped("v_pk_mad_u16", 3, |s| (s[0] * s[1] + s[2]).min(0xffff));
    clamped("v_pk_mad_i16", 3, |s| saturate(i(s[0]) * i(s[1]) + i(s[2])));
    let mut float =
        |name: &str, n: usize, g: Half| cases.extend(packed_case(name, PF16, n, g, false));
    float("v_pk_add_f16", 2, |s| enc(h(s[0]) + h(s[1])));
    float("v_pk_mul_f16", 2, |s| enc(h(s[0]) * h(s[1])));
    for name in ["v_pk_min_f16", "v_pk_min_num_f16"] {
        float(name, 2, |s| enc(min(h(s[0]), h(s[1]))));
    }
    for name in ["v_pk_max_f16", "v_pk_max_num_f16"] {
        float(name, 2, |s| enc(max(h(s[0]), h(s[1]))));
    }
    float("v_pk_minimum_f16", 2, |s| enc(minimum(h(s[0]), h(s[1]))));
    float("v_pk_maximum_f16", 2, |s| enc(maximum(h(s[0]), h(s[1]))));
    float("v_pk_fma_f16", 3, |s| u64::from(fma16(s[0], s[1], s[2])));
    // A 32-bit encoding without selections; the destination is the addend.
    cases.push(vector("v_pk_fmac_f16", PF16, &[PF16, PF16], |s| {
        u64::from(fma16(s[0], s[1], s[2]) | fma16(s[0] >> 16, s[1] >> 16, s[2] >> 16) << 16)
    }));
    let unit = |v: f64| if v > 0.0 { v.min(1.0) } else { 0.0 };
    cases.push(lanes(
        text("v_pk_add_f16", PF16, &[PF16, PF16], " clamp"),
        PF16,
        &[PF16, PF16],
        false,
        move |s| {
            enc(unit(h(enc(h(s[0]) + h(s[1])))))
                | enc(unit(h(enc(h(s[0] >> 16) + h(s[1] >> 16))))) << 16
        },
    ));
}

/// FMA_MIX: op_sel_hi says which sources are f16, op_sel which half of them.
fn mixed(cases: &mut Vec<Case>) {
    let kinds: [&[Kind]; 3] = [&[PF16, PF16, F32], &[F32, PF16, PF16], &[PF16, F32, PF16]];
    for (src, halves, high) in [
        (kinds[0], 0b011, 0b010),
        (kinds[1], 0b110, 0b100),
        (kinds[2], 0b101, 0b000),
    ] {
        for (signs, neg, abs) in [("v2, v4, v6", 0, 0), ("-v2, |v4|, -|v6|", 0b101, 0b110)] {
            for clamp in [false, true] {
                let list =
                    |name: &str, v: u32| format!(" {name}:[{},{},{}]", v & 1, v >> 1 & 1, v >> 2);
                let tail = list("op_sel", high)
                    + &list("op_sel_hi", halves)
                    + if clamp { " clamp" } else { "" };
                let sum = move |s: &[u64]| {
                    let source = |k: usize| {
                        let mut v = if halves >> k & 1 == 1 {
                            h(s[k] >> (16 * (high >> k & 1)))
                        } else {
                            f(s[k]).into()
                        };
                        if abs >> k & 1 == 1 {
                            v = v.abs();
                        }
                        (if neg >> k & 1 == 1 { -v } else { v }) as f32
                    };
                    let v = source(0).mul_add(source(1), source(2));
                    match clamp {
                        true if v > 0.0 => v.min(1.0),
                        true => 0.0,
                        false => v,
                    }
                };
                cases.push(lanes(
                    format!("v_fma_mix_f32 v0, {signs}{tail}"),
                    F32,
                    src,
                    false,
                    move |s| bits(sum(s)),
                ));
                cases.push(lanes(
                    format!("v_fma_mixlo_f16 v0, {signs}{tail}"),
                    F16,
                    src,
                    true,
                    move |s| enc(sum(s).into()),
                ));
                let mut high = lanes(
                    format!("v_fma_mixhi_f16 v0, {signs}{tail}"),
                    U32,
                    src,
                    false,
                    move |s| s[3] & 0xffff | enc(sum(s).into()) << 16,
                );
                high.close = vec![(Reg::V(0), Close::High16)];
                cases.push(high);
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    packed(&mut cases);
    mixed(&mut cases);
    cases
}
