//! 16-bit integers and floats (manuals: VOP1, VOP2, VOP3).
//!
//! High halves of 16-bit results: RDNA keeps them. CDNA clears them, but keeps them where the instruction
//! is new in GCN's fifth generation ("op_sel" forms) and for MAC, MADAK and MADMK.

use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F16, U16, U32};
use crate::numbers::{F16 as HALF, fma16, h};
use crate::tables::{keeping, lanes, text, vector};
use crate::valu_float::{max, maximum, med3, min, minimum};

const ONE: &[Kind] = &[U16];
const TWO: &[Kind] = &[U16, U16];
const THREE: &[Kind] = &[U16, U16, U16];
const ONEF: &[Kind] = &[F16];
const TWOF: &[Kind] = &[F16, F16];
const THREEF: &[Kind] = &[F16, F16, F16];

pub fn u(v: u64) -> u64 {
    v & 0xffff
}

pub fn i(v: u64) -> i64 {
    i64::from(v as u16 as i16)
}

pub fn low(v: i64) -> u64 {
    u64::from(v as u16)
}

pub fn enc(v: f64) -> u64 {
    u64::from(HALF.encode(v))
}

pub fn saturate(v: i64) -> u64 {
    low(v.clamp(-32768, 32767))
}

fn middle(mut v: [i64; 3]) -> i64 {
    v.sort_unstable();
    v[1]
}

fn integers(cases: &mut Vec<Case>) {
    for (asm, from, to) in [
        ("v_mov_b16 v0.l, v2.l", 0, 0),
        ("v_mov_b16 v0.h, v2.l", 0, 16),
        ("v_mov_b16 v0.l, v2.h", 16, 0),
    ] {
        cases.push(lanes(asm, U32, &[U32], false, move |s| {
            s[1] & !(0xffff << to) | u(s[0] >> from) << to
        }));
    }
    cases.push(vector("v_not_b16", U16, ONE, |s| !s[0]));
    let mut two = |name: &str, g: fn(&[u64]) -> u64| cases.push(vector(name, U16, TWO, g));
    for name in ["v_add_u16", "v_add_nc_u16", "v_add_nc_i16"] {
        two(name, |s| s[0] + s[1]);
    }
    for name in ["v_sub_u16", "v_sub_nc_u16", "v_sub_nc_i16"] {
        two(name, |s| s[0].wrapping_sub(s[1]));
    }
    two("v_subrev_u16", |s| s[1].wrapping_sub(s[0]));
    two("v_mul_lo_u16", |s| s[0] * s[1]);
    two("v_min_u16", |s| u(s[0]).min(u(s[1])));
    two("v_max_u16", |s| u(s[0]).max(u(s[1])));
    two("v_min_i16", |s| low(i(s[0]).min(i(s[1]))));
    two("v_max_i16", |s| low(i(s[0]).max(i(s[1]))));
    two("v_lshlrev_b16", |s| s[1] << (s[0] & 15));
    two("v_lshrrev_b16", |s| u(s[1]) >> (s[0] & 15));
    two("v_ashrrev_i16", |s| low(i(s[1]) >> (s[0] & 15)));
    two("v_and_b16", |s| s[0] & s[1]);
    two("v_or_b16", |s| s[0] | s[1]);
    two("v_xor_b16", |s| s[0] ^ s[1]);
    cases.push(keeping("v_add_i16", U16, TWO, |s| s[0] + s[1]));
    cases.push(keeping("v_sub_i16", U16, TWO, |s| s[0].wrapping_sub(s[1])));
    for name in ["v_mad_legacy_u16", "v_mad_legacy_i16"] {
        cases.push(vector(name, U16, THREE, |s| s[0] * s[1] + s[2]));
    }
    let mut three = |name: &str, g: fn(&[u64]) -> u64| cases.push(keeping(name, U16, THREE, g));
    for name in ["v_mad_u16", "v_mad_i16"] {
        three(name, |s| s[0] * s[1] + s[2]);
    }
    three("v_min3_u16", |s| u(s[0]).min(u(s[1])).min(u(s[2])));
    three("v_max3_u16", |s| u(s[0]).max(u(s[1])).max(u(s[2])));
    three("v_med3_u16", |s| {
        middle([u(s[0]) as i64, u(s[1]) as i64, u(s[2]) as i64]) as u64
    });
    three("v_min3_i16", |s| low(i(s[0]).min(i(s[1])).min(i(s[2]))));
    three("v_max3_i16", |s| low(i(s[0]).max(i(s[1])).max(i(s[2]))));
    three("v_med3_i16", |s| low(middle([i(s[0]), i(s[1]), i(s[2])])));
    // Saturating forms.
    let mut clamped = |name: &str, keeps: bool, g: fn(&[u64]) -> u64| {
        cases.push(lanes(text(name, U16, TWO, " clamp"), U16, TWO, keeps, g));
    };
    for name in ["v_add_u16", "v_add_nc_u16"] {
        clamped(name, false, |s| (u(s[0]) + u(s[1])).min(0xffff));
    }
    for name in ["v_sub_u16", "v_sub_nc_u16"] {
        clamped(name, false, |s| u(s[0]).saturating_sub(u(s[1])));
    }
    for name in ["v_add_i16", "v_add_nc_i16"] {
        clamped(name, true, |s| saturate(i(s[0]) + i(s[1])));
    }
    for name in ["v_sub_i16", "v_sub_nc_i16"] {
        clamped(name, true, |s| saturate(i(s[0]) - i(s[1])));
    }
    // op_sel: bits 0 to 2 take the sources' high halves, bit 3 writes the high half.
    for name in ["v_mad_u16", "v_mad_i16"] {
        let asm = text(name, U32, THREE, " op_sel:[1,0,1,1]");
        cases.push(lanes(asm, U32, &[U32, U32, U32], false, |s| {
            s[3] & 0xffff | u((s[0] >> 16) * s[1] + (s[2] >> 16)) << 16
        }));
        let asm = text(name, U16, THREE, " op_sel:[0,1,0,0]");
        cases.push(lanes(asm, U16, &[U32, U32, U32], true, |s| {
            s[0] * (s[1] >> 16) + s[2]
        }));
    }
    cases.push(vector("v_pack_b32_f16", U32, TWOF, |s| {
        u(s[0]) | u(s[1]) << 16
    }));
    let asm = text("v_pack_b32_f16", U32, TWOF, " op_sel:[1,0,0]");
    cases.push(lanes(asm, U32, TWOF, false, |s| s[0] >> 16 | u(s[1]) << 16));
    for wave64 in [false, true] {
        let select = Case::new(
            "v_cndmask_b16 v0, v2, v4, {s12}",
            crate::tables::fill(TWO),
            |_, before, after| {
                let mask = crate::tables::pair(before, 12);
                for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                    let from = if mask >> lane & 1 == 1 { 4 } else { 2 };
                    after.v[0][lane] =
                        before.v[0][lane] & 0xffff_0000 | before.v[from][lane] & 0xffff;
                }
            },
        );
        cases.push(if wave64 { select.wave64() } else { select });
    }
}

fn floats(cases: &mut Vec<Case>) {
    let mut one = |name: &str, g: fn(f64) -> f64| {
        cases.push(vector(name, F16, ONEF, move |s| enc(g(h(s[0])))));
    };
    one("v_trunc_f16", f64::trunc);
    one("v_ceil_f16", f64::ceil);
    one("v_floor_f16", f64::floor);
    one("v_rndne_f16", f64::round_ties_even);
    // The largest f16 below 1 where rounding would give 1.
    one("v_fract_f16", |v| {
        let rest = v - v.floor();
        if rest > 2047.0 / 2048.0 {
            2047.0 / 2048.0
        } else {
            rest
        }
    });
    one("v_frexp_mant_f16", |v| {
        if v == 0.0 || !v.is_finite() {
            v
        } else {
            v / 2f64.powi(exponent(v))
        }
    });
    cases.push(vector("v_frexp_exp_i16_f16", U16, ONEF, |s| {
        let v = h(s[0]);
        if v == 0.0 || !v.is_finite() {
            0
        } else {
            low(exponent(v).into())
        }
    }));
    let mut near = |name: &str, g: fn(f64) -> f64| {
        let mut case = vector(name, F16, ONEF, move |s| enc(g(h(s[0]))));
        case.close = vec![(Reg::V(0), Close::F16(1))];
        cases.push(case);
    };
    near("v_rcp_f16", |v| 1.0 / v);
    near("v_rsq_f16", |v| 1.0 / v.sqrt());
    near("v_sqrt_f16", f64::sqrt);
    near("v_exp_f16", f64::exp2);
    near("v_log_f16", f64::log2);
    for (name, g) in [
        ("v_sin_f16", f64::sin as fn(f64) -> f64),
        ("v_cos_f16", f64::cos),
    ] {
        // Turns within the documented domain of -256 to 256.
        let asm = format!("v_max_f16 v2, 0xdc00, v2\nv_min_f16 v2, 0x5c00, v2\n{name} v0, v2");
        let asm12 = asm
            .replace("x_f16", "x_num_f16")
            .replace("n_f16 v2, 0", "n_num_f16 v2, 0");
        for (asm, on) in [
            (asm, (|t| !t.starts_with("gfx12")) as fn(&str) -> bool),
            (asm12, |t| t.starts_with("gfx12")),
        ] {
            let mut case = lanes(asm, F16, ONEF, false, move |s| {
                let turns = if h(s[0]).is_nan() {
                    256.0
                } else {
                    h(s[0]).clamp(-256.0, 256.0)
                };
                enc(g((turns - turns.round()) * std::f64::consts::TAU))
            });
            case.close = vec![(Reg::V(0), Close::Near16(1e-3)), (Reg::V(2), Close::Any)];
            cases.push(case.on(on));
        }
    }
    let mut two = |name: &str, g: fn(f64, f64) -> f64| {
        cases.push(vector(name, F16, TWOF, move |s| enc(g(h(s[0]), h(s[1])))));
    };
    two("v_add_f16", |a, b| a + b);
    two("v_sub_f16", |a, b| a - b);
    two("v_subrev_f16", |a, b| b - a);
    two("v_mul_f16", |a, b| a * b);
    for name in ["v_min_f16", "v_min_num_f16"] {
        two(name, min);
    }
    for name in ["v_max_f16", "v_max_num_f16"] {
        two(name, max);
    }
    two("v_minimum_f16", minimum);
    two("v_maximum_f16", maximum);
    cases.push(vector("v_ldexp_f16", F16, &[F16, U16], |s| {
        enc(h(s[0]) * 2f64.powi(i(s[1]).clamp(-90, 90) as i32))
    }));
    let mut three = |name: &str, g: fn(f64, f64, f64) -> f64| {
        cases.push(keeping(name, F16, THREEF, move |s| {
            enc(g(h(s[0]), h(s[1]), h(s[2])))
        }));
    };
    for tail in ["", "_num"] {
        three(&format!("v_min3{tail}_f16"), |a, b, c| min(min(a, b), c));
        three(&format!("v_max3{tail}_f16"), |a, b, c| max(max(a, b), c));
        three(&format!("v_med3{tail}_f16"), med3);
        three(&format!("v_maxmin{tail}_f16"), |a, b, c| min(max(a, b), c));
        three(&format!("v_minmax{tail}_f16"), |a, b, c| max(min(a, b), c));
    }
    three("v_div_fixup_f16", |q, d, n| {
        let sign = if d.is_sign_negative() != n.is_sign_negative() {
            -1.0
        } else {
            1.0
        };
        if d.is_nan()
            || n.is_nan()
            || (d == 0.0 && n == 0.0)
            || (d.is_infinite() && n.is_infinite())
        {
            f64::NAN
        } else if d == 0.0 || n.is_infinite() || q.is_nan() && d.is_finite() && n != 0.0 {
            // A quotient that is itself NaN does not come out of the division's steps.
            sign * f64::INFINITY
        } else if d.is_infinite() || n == 0.0 {
            sign * 0.0
        } else {
            sign * q.abs()
        }
    });
}

/// e of v = m 2^e, 0.5 <= |m| < 1.
fn exponent(v: f64) -> i32 {
    (v.abs().log2().floor() as i32) + 1
}

/// Multiply-adds: fused ones, and MAD, which rounds the product.
fn multiply_add(cases: &mut Vec<Case>) {
    fn mad(a: u64, b: u64, c: u64) -> u64 {
        enc(h(enc(h(a) * h(b))) + h(c))
    }
    fn fma(a: u64, b: u64, c: u64) -> u64 {
        u64::from(fma16(a, b, c))
    }
    cases.push(keeping("v_fma_f16", F16, THREEF, |s| fma(s[0], s[1], s[2])).runs(60));
    cases.push(vector("v_fma_legacy_f16", F16, THREEF, |s| {
        fma(s[0], s[1], s[2])
    }));
    cases.push(keeping("v_fmac_f16", F16, TWOF, |s| fma(s[0], s[1], s[2])));
    cases.push(keeping("v_mad_f16", F16, THREEF, |s| mad(s[0], s[1], s[2])));
    cases.push(vector("v_mad_legacy_f16", F16, THREEF, |s| {
        mad(s[0], s[1], s[2])
    }));
    cases.push(keeping("v_mac_f16", F16, TWOF, |s| mad(s[0], s[1], s[2])));
    for k in [0x4248u64, 0xc001] {
        let tail = format!(", {k:#x}");
        for (name, g) in [
            ("v_fmaak_f16", fma as fn(u64, u64, u64) -> u64),
            ("v_madak_f16", mad),
        ] {
            cases.push(lanes(
                text(name, F16, TWOF, &tail),
                F16,
                TWOF,
                true,
                move |s| g(s[0], s[1], k),
            ));
        }
        for (name, g) in [
            ("v_fmamk_f16", fma as fn(u64, u64, u64) -> u64),
            ("v_madmk_f16", mad),
        ] {
            let asm = format!("{name} v0, v2, {k:#x}, v4");
            cases.push(lanes(asm, F16, TWOF, true, move |s| g(s[0], k, s[1])));
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    integers(&mut cases);
    floats(&mut cases);
    multiply_add(&mut cases);
    cases
}
