//! Dot products (manuals: VOP3P V_DOT*, and the accumulating forms of VOP2). Float forms do not say how they
//! round between terms, so their inputs make every sum exact; infinities and NaNs are tried beside.

use crate::convert::Small;
use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F32, PF16, U32};
use crate::numbers::{BF16, F16, Random, f, h};
use crate::tables::{lanes, text, vector};
use crate::valu_float::bits;

const TWO: &[Kind] = &[U32, U32];
const THREE: &[Kind] = &[U32, U32, U32];

/// Field `i` of `width` bits.
fn field(v: u64, i: u32, width: u32, signed: bool) -> i64 {
    let v = (v >> (i * width) & ((1 << width) - 1)) as i64;
    if signed && v >> (width - 1) != 0 {
        v - (1 << width)
    } else {
        v
    }
}

fn products(a: u64, b: u64, width: u32, signs: [bool; 2]) -> i64 {
    (0..32 / width)
        .map(|i| field(a, i, width, signs[0]) * field(b, i, width, signs[1]))
        .sum()
}

/// The sum with the accumulator; CLAMP saturates to its range.
fn total(a: u64, b: u64, c: u64, width: u32, signs: [bool; 2], signed: bool, clamp: bool) -> u64 {
    let sum = products(a, b, width, signs)
        + if signed {
            i64::from(c as u32 as i32)
        } else {
            c as i64
        };
    let (least, most) = if signed {
        (i32::MIN.into(), i32::MAX.into())
    } else {
        (0, u32::MAX.into())
    };
    u64::from((if clamp { sum.clamp(least, most) } else { sum }) as u32)
}

fn integers(cases: &mut Vec<Case>) {
    let plain = [
        ("v_dot2_i32_i16", 16, true),
        ("v_dot2_u32_u16", 16, false),
        ("v_dot4_i32_i8", 8, true),
        ("v_dot4_u32_u8", 8, false),
        ("v_dot8_i32_i4", 4, true),
        ("v_dot8_u32_u4", 4, false),
    ];
    for (name, width, signed) in plain {
        for clamp in [false, true] {
            let asm = text(name, U32, THREE, if clamp { " clamp" } else { "" });
            cases.push(lanes(asm, U32, THREE, false, move |s| {
                total(s[0], s[1], s[2], width, [signed; 2], signed, clamp)
            }));
        }
    }
    for (name, width) in [
        ("v_dot2c_i32_i16", 16),
        ("v_dot4c_i32_i8", 8),
        ("v_dot8c_i32_i4", 4),
    ] {
        cases.push(vector(name, U32, TWO, move |s| {
            total(s[0], s[1], s[2], width, [true; 2], true, false)
        }));
    }
    // NEG of a source says that it is signed; the sum always is.
    for (name, width) in [("v_dot4_i32_iu8", 8), ("v_dot8_i32_iu4", 4)] {
        for signs in [[false, false], [true, false], [false, true], [true, true]] {
            for clamp in [false, true] {
                let [a, b] = signs.map(u8::from);
                let tail = format!(" neg_lo:[{a},{b},0]{}", if clamp { " clamp" } else { "" });
                cases.push(lanes(
                    text(name, U32, THREE, &tail),
                    U32,
                    THREE,
                    false,
                    move |s| total(s[0], s[1], s[2], width, signs, true, clamp),
                ));
            }
        }
    }
}

/// Small whole numbers as a format's codes in `count` fields of a register, now and then something special.
fn whole(
    random: &mut Random,
    count: u32,
    limit: usize,
    special: u32,
    code: impl Fn(f64) -> u32,
) -> u32 {
    (0..count).fold(0, |word, i| {
        let v = random.below(2 * limit + 1) as f64 - limit as f64;
        let c = if random.below(40) == 0 {
            special
        } else {
            code(v)
        };
        word | c << (32 / count * i)
    })
}

/// Which formats the sources have.
#[derive(Clone, Copy)]
enum Source {
    F16,
    Bf16,
    Eight(Small, Small),
}

impl Source {
    fn fill(self, random: &mut Random, second: bool) -> u32 {
        match self {
            Source::F16 => whole(random, 2, 8, if second { 0x7c00 } else { 0x7e00 }, |v| {
                F16.encode(v)
            }),
            Source::Bf16 => whole(random, 2, 3, if second { 0x7f80 } else { 0x7fc0 }, |v| {
                BF16.encode(v)
            }),
            Source::Eight(a, b) => {
                let format = if second { b } else { a };
                whole(random, 4, 8, 0x7f, |v| format.encode(v) as u32)
            }
        }
    }

    fn sum(self, a: u64, b: u64, c: f64) -> f64 {
        let terms: Vec<f64> = match self {
            Source::F16 => (0..2)
                .map(|i| h(a >> (16 * i)) * h(b >> (16 * i)))
                .collect(),
            Source::Bf16 => {
                let one = |v: u64, i: u32| BF16.decode((v >> (16 * i)) as u32 & 0xffff);
                (0..2).map(|i| one(a, i) * one(b, i)).collect()
            }
            Source::Eight(x, y) => (0..4)
                .map(|i| x.decode(a >> (8 * i)) * y.decode(b >> (8 * i)))
                .collect(),
        };
        terms.iter().fold(c, |sum, term| sum + term)
    }
}

/// The accumulator's format.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sum {
    F32,
    F16,
    Bf16,
}

fn float(name: &str, source: Source, sum: Sum, accumulates: bool) -> Case {
    let kinds: &[Kind] = if accumulates { TWO } else { THREE };
    let third = if accumulates { 0 } else { 6 };
    let mut case = Case::new(
        text(name, U32, kinds, ""),
        move |s, random, _| {
            for lane in 0..s.lanes {
                s.v[2][lane] = source.fill(random, false);
                s.v[4][lane] = source.fill(random, true);
                let c = random.below(201) as f64 - 100.0;
                s.v[third][lane] = match sum {
                    Sum::F32 => (c as f32 * 0.25).to_bits(),
                    Sum::F16 => F16.encode(c) | (random.next() as u32) << 16,
                    Sum::Bf16 => BF16.encode(c) | (random.next() as u32) << 16,
                };
            }
        },
        move |_, before, after| {
            for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                let [a, b, c] = [2, 4, third].map(|r| u64::from(before.v[r][lane]));
                let high = before.v[0][lane] & 0xffff_0000;
                after.v[0][lane] = match sum {
                    Sum::F32 => bits(source.sum(a, b, f(c).into()) as f32) as u32,
                    Sum::F16 => high | F16.encode(source.sum(a, b, h(c))),
                    Sum::Bf16 => {
                        high | BF16.encode(source.sum(a, b, BF16.decode(c as u32 & 0xffff)))
                    }
                };
            }
        },
    );
    case.close = match sum {
        Sum::F32 => vec![(Reg::V(0), Close::F32(0))],
        Sum::F16 => vec![(Reg::V(0), Close::F16(0))],
        Sum::Bf16 => vec![(Reg::V(0), Close::Bf16)],
    };
    case
}

fn floats(cases: &mut Vec<Case>) {
    cases.push(float("v_dot2_f32_f16", Source::F16, Sum::F32, false));
    cases.push(float("v_dot2c_f32_f16", Source::F16, Sum::F32, true));
    cases.push(float("v_dot2acc_f32_f16", Source::F16, Sum::F32, true));
    cases.push(float("v_dot2_f32_bf16", Source::Bf16, Sum::F32, false));
    cases.push(float("v_dot2_f16_f16", Source::F16, Sum::F16, false));
    cases.push(float("v_dot2_bf16_bf16", Source::Bf16, Sum::Bf16, false));
    let eight = |name| Small::new(name == "bf8", false);
    for a in ["fp8", "bf8"] {
        for b in ["fp8", "bf8"] {
            cases.push(float(
                &format!("v_dot4_f32_{a}_{b}"),
                Source::Eight(eight(a), eight(b)),
                Sum::F32,
                false,
            ));
        }
    }
    // Signs and halves of packed sources.
    let asm = text(
        "v_dot2_f32_f16",
        F32,
        &[PF16, PF16, F32],
        " neg_lo:[1,0,0] neg_hi:[0,1,0]",
    );
    let mut case = float("v_dot2_f32_f16", Source::F16, Sum::F32, false);
    case.asm = asm;
    case.expect = Box::new(|_, before, after| {
        for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
            let [a, b, c] = [2, 4, 6].map(|r| u64::from(before.v[r][lane]));
            let v = f64::from(f(c)) - h(a) * h(b) - h(a >> 16) * h(b >> 16);
            after.v[0][lane] = (v as f32).to_bits();
        }
    });
    cases.push(case);
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    integers(&mut cases);
    floats(&mut cases);
    cases
}
