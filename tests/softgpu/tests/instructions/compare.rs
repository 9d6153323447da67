//! Vector comparisons (manuals: VOPC). The lane's bit of the mask is the result, inactive lanes give 0.
//! V_CMPX writes EXEC; on CDNA the named mask as well.

use crate::harness::{Case, generation};
use crate::numbers::Kind::{self, F16, F32, F64, U16, U32, U64};
use crate::numbers::{d, f, h};
use crate::tables::{fill, pair, read, register, set_pair};

type Test = fn(u64, u64) -> bool;

/// Puts a mask of the wave's size where it belongs.
fn put(old: u64, mask: u64, lanes: usize) -> u64 {
    if lanes == 64 {
        mask
    } else {
        old >> 32 << 32 | mask
    }
}

/// All forms of one comparison: VOPC and VOP3, `v_cmp` and `v_cmpx`.
fn forms(name: &str, kinds: &'static [Kind], test: Test) -> Vec<Case> {
    let sources = format!(
        "{}, {}",
        register('v', 2, kinds[0]),
        register('v', 4, kinds[1])
    );
    let mut cases = Vec::new();
    // Constant results have other names, or none, in some generations.
    let (op, ty) = name.split_once('_').expect("a type");
    let exists: fn(u32) -> bool = match (op, ty) {
        ("f" | "t", "i16" | "u16") => |g| g == 9,
        ("t", "f16" | "f32" | "f64") => |g| g == 11,
        ("tru", _) => |g| g < 11,
        _ => |_| true,
    };
    let mut add = |asm: String, place: Option<bool>, exec: bool, on: fn(&str) -> bool| {
        for wave64 in [false, true] {
            let case = Case::new(asm.clone(), fill(kinds), move |_, before, after| {
                let mut mask = 0;
                for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                    let (a, b) = (
                        read(before, kinds[0], 2, lane),
                        read(before, kinds[1], 4, lane),
                    );
                    mask |= u64::from(test(a, b)) << lane;
                }
                match place {
                    Some(true) => after.vcc = put(before.vcc, mask, before.lanes),
                    Some(false) => set_pair(after, 8, put(pair(before, 8), mask, before.lanes)),
                    None => {}
                }
                if exec {
                    after.exec = mask;
                }
            })
            .on(on)
            .runs(6);
            cases.push(if wave64 { case.wave64() } else { case });
        }
    };
    add(
        format!("v_cmp_{name} {{vcc}}, {sources}"),
        Some(true),
        false,
        |_| true,
    );
    add(
        format!("v_cmp_{name}_e64 {{s8}}, {sources}"),
        Some(false),
        false,
        |_| true,
    );
    if exists(9) {
        add(
            format!("v_cmpx_{name} vcc, {sources}"),
            Some(true),
            true,
            |t| generation(t) == 9,
        );
        add(
            format!("v_cmpx_{name}_e64 s[8:9], {sources}"),
            Some(false),
            true,
            |t| generation(t) == 9,
        );
    }
    if (10..=12).any(exists) {
        add(format!("v_cmpx_{name} {sources}"), None, true, |t| {
            generation(t) > 9
        });
        add(format!("v_cmpx_{name}_e64 {sources}"), None, true, |t| {
            generation(t) > 9
        });
    }
    cases
}

/// The order of two numbers, none beside a NaN.
fn order(kind: Kind, a: u64, b: u64) -> Option<std::cmp::Ordering> {
    match kind {
        F16 => h(a).partial_cmp(&h(b)),
        F32 => f(a).partial_cmp(&f(b)),
        _ => d(a).partial_cmp(&d(b)),
    }
}

fn floats(cases: &mut Vec<Case>) {
    macro_rules! all {
        ($kind:ident, $ty:literal) => {{
            use std::cmp::Ordering::{Equal, Greater, Less};
            // Each test is the set of outcomes it accepts; the last is "unordered".
            let tests: [(&str, Test); 16] = [
                ("f", |_, _| false),
                ("lt", |a, b| order($kind, a, b) == Some(Less)),
                ("eq", |a, b| order($kind, a, b) == Some(Equal)),
                ("le", |a, b| {
                    matches!(order($kind, a, b), Some(Less | Equal))
                }),
                ("gt", |a, b| order($kind, a, b) == Some(Greater)),
                ("lg", |a, b| {
                    matches!(order($kind, a, b), Some(Less | Greater))
                }),
                ("ge", |a, b| {
                    matches!(order($kind, a, b), Some(Greater | Equal))
                }),
                ("o", |a, b| order($kind, a, b).is_some()),
                ("u", |a, b| order($kind, a, b).is_none()),
                ("nge", |a, b| {
                    matches!(order($kind, a, b), Some(Less) | None)
                }),
                ("nlg", |a, b| {
                    matches!(order($kind, a, b), Some(Equal) | None)
                }),
                ("ngt", |a, b| {
                    matches!(order($kind, a, b), Some(Less | Equal) | None)
                }),
                ("nle", |a, b| {
                    matches!(order($kind, a, b), Some(Greater) | None)
                }),
                ("neq", |a, b| order($kind, a, b) != Some(Equal)),
                ("nlt", |a, b| {
                    matches!(order($kind, a, b), Some(Greater | Equal) | None)
                }),
                ("tru", |_, _| true),
            ];
            for (name, test) in tests {
                cases.extend(forms(&format!("{name}_{}", $ty), &[$kind, $kind], test));
            }
            cases.extend(forms(concat!("t_", $ty), &[$kind, $kind], |_, _| true));
        }};
    }
    all!(F16, "f16");
    all!(F32, "f32");
    all!(F64, "f64");
}

fn integers(cases: &mut Vec<Case>) {
    macro_rules! all {
        ($kind:ident, $ty:literal, $int:ty) => {{
            let tests: [(&str, Test); 8] = [
                ("f", |_, _| false),
                ("lt", |a, b| (a as $int) < (b as $int)),
                ("eq", |a, b| (a as $int) == (b as $int)),
                ("le", |a, b| (a as $int) <= (b as $int)),
                ("gt", |a, b| (a as $int) > (b as $int)),
                ("ne", |a, b| (a as $int) != (b as $int)),
                ("ge", |a, b| (a as $int) >= (b as $int)),
                ("t", |_, _| true),
            ];
            for (name, test) in tests {
                cases.extend(forms(&format!("{name}_{}", $ty), &[$kind, $kind], test));
            }
        }};
    }
    all!(U16, "i16", i16);
    all!(U16, "u16", u16);
    all!(U32, "i32", i32);
    all!(U32, "u32", u32);
    all!(U64, "i64", i64);
    all!(U64, "u64", u64);
}

/// The class of a number with these field widths: bit 0 signalling NaN, 1 quiet NaN, then from -infinity
/// (2) over -normal, -denormal, -0 and +0 to +infinity (9).
fn class(v: u64, exponent: u32, mantissa: u32) -> u32 {
    let negative = v >> (exponent + mantissa) & 1 == 1;
    let e = v >> mantissa & ((1 << exponent) - 1);
    let m = v & ((1 << mantissa) - 1);
    let top = (1 << exponent) - 1;
    let size = match (e, m) {
        (e, m) if e == top && m != 0 => return u32::from(m >> (mantissa - 1) != 0),
        (e, _) if e == top => 3,
        (0, 0) => 0,
        (0, _) => 1,
        _ => 2,
    };
    if negative { 5 - size } else { 6 + size }
}

/// Numbers of every class against masks.
fn classes(cases: &mut Vec<Case>) {
    let tests: [(&str, &'static [Kind], u32, u32, Test); 3] = [
        ("class_f16", &[F16, U32], 5, 10, |a, b| {
            b >> class(a, 5, 10) & 1 == 1
        }),
        ("class_f32", &[F32, U32], 8, 23, |a, b| {
            b >> class(a, 8, 23) & 1 == 1
        }),
        ("class_f64", &[F64, U32], 11, 52, |a, b| {
            b >> class(a, 11, 52) & 1 == 1
        }),
    ];
    for (name, kinds, exponent, mantissa, test) in tests {
        for mut case in forms(name, kinds, test) {
            let first = case.prepare;
            case.prepare = Box::new(move |s, random, run| {
                first(s, random, run);
                // Signalling NaNs too, which no other case tries; masks of one class and of many.
                for lane in 0..s.lanes {
                    if lane % 8 == 1 {
                        let v = ((1 << exponent) - 1) << mantissa
                            | 1
                            | (random.next() & 1) << (exponent + mantissa);
                        crate::tables::write(s, kinds[0], 2, lane, v);
                    }
                    s.v[4][lane] = match lane % 3 {
                        0 => 1 << random.below(10),
                        _ => random.next() as u32,
                    };
                }
            });
            cases.push(case);
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    floats(&mut cases);
    integers(&mut cases);
    classes(&mut cases);
    cases
}
