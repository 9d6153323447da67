//! What stands around operands (manuals: "Vector ALU Operations": input modifiers, CLAMP, constants, scalar
//! sources, "Sub-Dword Addressing"). Output modifiers (OMOD) are ignored by hardware that keeps denormals,
//! and the software GPU refuses them.

use crate::harness::{Case, Close, Reg, TARGETS};
use crate::numbers::Kind::{self, F16, F32, F64, U32};
use crate::numbers::{F16 as HALF, d, f, h};
use crate::tables::{fill, lanes, pair};
use crate::valu_float::bits;
use softgpu::isa::testing::{State, run_asm};

const TWO: &[Kind] = &[F32, F32];
const TWOH: &[Kind] = &[F16, F16];
const THREE: &[Kind] = &[F32, F32, F32];

fn unit(v: f64) -> f64 {
    if v > 0.0 { v.min(1.0) } else { 0.0 }
}

fn w(v: u64) -> f64 {
    f64::from(f(v))
}

fn enc(v: f64) -> u64 {
    u64::from(HALF.encode(v))
}

fn signs(cases: &mut Vec<Case>) {
    let mut add = |asm: &str, g: fn(f64, f64) -> f64| {
        cases.push(lanes(asm, F32, TWO, false, move |s| {
            bits(g(w(s[0]), w(s[1])) as f32)
        }));
    };
    add("v_add_f32_e64 v0, -v2, v4", |a, b| b - a);
    add("v_add_f32_e64 v0, |v2|, -|v4|", |a, b| a.abs() - b.abs());
    add("v_mul_f32_e64 v0, v2, -v4", |a, b| a * -b);
    add("v_subrev_f32_e64 v0, -v2, -|v4|", |a, b| a - b.abs());
    add("v_mul_f32_e64 v0, v2, v4 clamp", |a, b| {
        unit(f64::from((a * b) as f32))
    });
    add("v_add_f32_e64 v0, -|v2|, v4 clamp", |a, b| {
        unit(f64::from((b - a.abs()) as f32))
    });
    cases.push(lanes(
        "v_fma_f32 v0, -v2, |v4|, -|v6| clamp",
        F32,
        THREE,
        false,
        |s| bits(unit((-f(s[0])).mul_add(f(s[1]).abs(), -f(s[2]).abs()).into()) as f32),
    ));
    let mut half = |asm: &str, g: fn(f64, f64) -> f64| {
        cases.push(lanes(asm, F16, TWOH, false, move |s| {
            enc(g(h(s[0]), h(s[1])))
        }));
    };
    half("v_add_f16_e64 v0, -v2, |v4|", |a, b| b.abs() - a);
    half("v_mul_f16_e64 v0, -|v2|, v4", |a, b| -a.abs() * b);
    half("v_add_f16_e64 v0, v2, v4 clamp", |a, b| unit(h(enc(a + b))));
    let mut wide = |asm: &str, g: fn(f64, f64) -> f64| {
        cases.push(lanes(asm, F64, &[F64, F64], false, move |s| {
            g(d(s[0]), d(s[1])).to_bits()
        }));
    };
    wide("v_mul_f64 v[0:1], -v[2:3], |v[4:5]|", |a, b| -a * b.abs());
    wide("v_fma_f64 v[0:1], -|v[2:3]|, v[4:5], -v[2:3]", |a, b| {
        (-a.abs()).mul_add(b, -a)
    });
    cases.push(lanes(
        "v_cvt_i32_f32_e64 v0, -|v2|",
        U32,
        &[F32],
        false,
        |s| {
            let v = (-w(s[0]).abs()).trunc();
            if v.is_nan() {
                0
            } else {
                u64::from(v.max(-2_147_483_648.0) as i64 as u32)
            }
        },
    ));
    cases.push(lanes(
        "v_cvt_f16_f32_e64 v0, -v2",
        F16,
        &[F32],
        false,
        |s| enc(-w(s[0])),
    ));
}

/// Inline constants and literals in each type, and scalar registers.
fn constants(cases: &mut Vec<Case>) {
    let floats = [
        ("0.5", 0.5),
        ("-0.5", -0.5),
        ("1.0", 1.0),
        ("2.0", 2.0),
        ("-4.0", -4.0),
        ("4.0", 4.0),
        ("0", 0.0),
    ];
    for (text, k) in floats {
        cases.push(lanes(
            format!("v_add_f32 v0, {text}, v2"),
            F32,
            &[F32],
            false,
            move |s| bits((k + w(s[0])) as f32),
        ));
        cases.push(lanes(
            format!("v_add_f16 v0, {text}, v2"),
            F16,
            &[F16],
            false,
            move |s| enc(k + h(s[0])),
        ));
        cases.push(lanes(
            format!("v_mul_f64 v[0:1], {text}, v[2:3]"),
            F64,
            &[F64],
            false,
            move |s| (k * d(s[0])).to_bits(),
        ));
        // To a bit operation the constant is its f32 bits.
        cases.push(lanes(
            format!("v_xor_b32 v0, {text}, v2"),
            U32,
            &[U32],
            false,
            move |s| bits(k as f32) ^ s[0],
        ));
    }
    // 1 / (2 pi), each format's nearest.
    cases.push(lanes(
        "v_xor_b32 v0, 0.15915494, v2",
        U32,
        &[U32],
        false,
        |s| 0x3e22_f983 ^ s[0],
    ));
    for (text, k) in [
        ("64", 64u32),
        ("-16", 0xffff_fff0),
        ("-1", 0xffff_ffff),
        ("0xbeef1234", 0xbeef_1234),
    ] {
        cases.push(lanes(
            format!("v_xor_b32 v0, {text}, v2"),
            U32,
            &[U32],
            false,
            move |s| u64::from(k) ^ s[0],
        ));
    }
    // 64-bit operations: small integers extend their sign, f64 literals are the high word.
    cases.push(lanes(
        "v_ashrrev_i64 v[0:1], v2, -16",
        Kind::U64,
        &[U32],
        false,
        |s| (-16i64 >> (s[0] & 63)) as u64,
    ));
    cases.push(lanes(
        "v_lshlrev_b64 v[0:1], v2, -1",
        Kind::U64,
        &[U32],
        false,
        |s| u64::MAX << (s[0] & 63),
    ));
    cases.push(lanes(
        "v_cvt_f32_f64 v0, 0x40090000",
        F32,
        &[F32],
        false,
        |_| bits(3.125),
    ));
    cases.push(lanes(
        "v_add_f32 v0, 0x40490fdb, v2",
        F32,
        &[F32],
        false,
        |s| bits((f64::from(f(0x4049_0fdb)) + w(s[0])) as f32),
    ));
    let mut scalar = |asm: &str, source: fn(&State) -> u32| {
        cases.push(Case::new(asm, fill(&[U32]), move |_, before, after| {
            let k = source(before);
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                after.v[0][lane] = k ^ before.v[2][lane];
            }
        }));
    };
    scalar("v_xor_b32 v0, s4, v2", |s| s.s[4]);
    scalar("v_xor_b32 v0, vcc_lo, v2", |s| s.vcc as u32);
    scalar("v_xor_b32 v0, vcc_hi, v2", |s| (s.vcc >> 32) as u32);
    scalar("v_xor_b32 v0, m0, v2", |s| s.m0);
    scalar("v_xor_b32 v0, exec_lo, v2", |s| s.exec as u32);
    scalar("v_xor_b32 v0, src_scc, v2", |s| s.scc.into());
    cases.push(Case::new(
        "v_lshrrev_b64 v[0:1], v2, s[4:5]",
        fill(&[U32]),
        |_, before, after| {
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                let v = pair(before, 4) >> (before.v[2][lane] & 63);
                (after.v[0][lane], after.v[1][lane]) = (v as u32, (v >> 32) as u32);
            }
        },
    ));
}

/// A part of a register: its first bit and its width.
const PARTS: [(&str, u32, u32); 7] = [
    ("BYTE_0", 0, 8),
    ("BYTE_1", 8, 8),
    ("BYTE_2", 16, 8),
    ("BYTE_3", 24, 8),
    ("WORD_0", 0, 16),
    ("WORD_1", 16, 16),
    ("DWORD", 0, 32),
];

fn part(v: u64, (_, first, width): (&str, u32, u32), signed: bool) -> u64 {
    let v = v >> first & ((1 << width) - 1);
    let extended = if signed && v >> (width - 1) == 1 {
        v | u64::MAX << width
    } else {
        v
    };
    extended & 0xffff_ffff
}

/// The result's part of the destination; the rest is zero, sign, or as before. Sign extension fills what
/// lies above the part, below it are zeros.
fn merge(v: u64, old: u64, (_, first, width): (&str, u32, u32), unused: &str) -> u64 {
    let field = ((1u64 << width) - 1) << first;
    let own = v << first & field;
    match unused {
        "UNUSED_PRESERVE" => old & !field | own,
        "UNUSED_SEXT" if own >> (first + width - 1) & 1 == 1 => own | u64::MAX << (first + width),
        _ => own,
    }
}

/// SDWA exists up to RDNA 2.
fn sdwa(cases: &mut Vec<Case>) {
    for add in ["v_add_u32_sdwa", "v_add_nc_u32_sdwa"] {
        for (i, a) in PARTS.into_iter().enumerate() {
            for (j, b) in PARTS.into_iter().enumerate() {
                let dst = PARTS[(i + 2 * j) % 7];
                let unused = ["UNUSED_PAD", "UNUSED_SEXT", "UNUSED_PRESERVE"][(i + j) % 3];
                let signed = (i + j) % 2 == 1;
                let source = if signed { "sext(v2)" } else { "v2" };
                let asm = format!(
                    "{add} v0, {source}, v4 dst_sel:{} dst_unused:{unused} src0_sel:{} src1_sel:{}",
                    dst.0, a.0, b.0
                );
                cases.push(
                    lanes(asm, U32, &[U32, U32], false, move |s| {
                        let sum = part(s[0], a, signed) + part(s[1], b, false);
                        merge(sum, s[2], dst, unused)
                    })
                    .runs(3),
                );
            }
        }
    }
    // Signs apply to the part, as a float of its size.
    for (a, b) in [(4, 5), (5, 4)] {
        let (a, b) = (PARTS[a], PARTS[b]);
        let asm = format!(
            "v_add_f16_sdwa v0, -v2, |v4| dst_sel:WORD_1 dst_unused:UNUSED_PRESERVE src0_sel:{} src1_sel:{}",
            a.0, b.0
        );
        let src: &[Kind] = &[Kind::PF16, Kind::PF16];
        let mut case = lanes(asm, U32, src, false, move |s| {
            let sum = h(part(s[1], b, false)).abs() - h(part(s[0], a, false));
            s[2] & 0xffff | enc(sum) << 16
        });
        case.close = vec![(Reg::V(0), Close::High16)];
        cases.push(case);
    }
    let asm = "v_cvt_f32_i32_sdwa v0, sext(v2) dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_2";
    cases.push(lanes(asm, F32, &[U32], false, |s| {
        bits(f32::from((s[0] >> 16) as u8 as i8))
    }));
}

#[test]
fn output_modifiers_are_refused() {
    for target in TARGETS {
        let error = run_asm(
            target,
            "v_add_f32_e64 v0, v2, v4 mul:2",
            &State::new(target),
        );
        assert!(
            error.is_err_and(|e| e.contains("output modifier")),
            "{target}"
        );
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    signs(&mut cases);
    constants(&mut cases);
    sdwa(&mut cases);
    cases
}
