//! The steps of a division, V_DIV_SCALE, V_DIV_FMAS and V_DIV_FIXUP (manuals: VOP3), in f32 and f64, and
//! packed f32 (VOP3P of CDNA).

use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F32, F64};
use crate::numbers::{d, f};
use crate::tables::{fill, lanes, read, text, write};
use crate::valu_float::{bits, ldexp64, w};

const THREE: &[Kind] = &[F32, F32, F32];
const THREE64: &[Kind] = &[F64, F64, F64];

/// Format facts that the division instructions need.
#[derive(Clone, Copy)]
struct Division {
    /// Exponent field of a value.
    exponent: fn(f64) -> i32,
    smallest: f64,
    bias: i32,
    /// Steps of the scaling, and the exponent distances of the manual.
    scale: i32,
    far: i32,
    tiny: i32,
    underflow: i32,
    /// The value as the format holds it.
    round: fn(f64) -> f64,
}

const SINGLE: Division = Division {
    exponent: |v| (((v as f32).to_bits() >> 23) & 0xff) as i32,
    smallest: f32::MIN_POSITIVE as f64,
    bias: 127,
    scale: 64,
    far: 96,
    tiny: 23,
    underflow: -150,
    round: |v| f64::from(v as f32),
};

const DOUBLE: Division = Division {
    exponent: |v| ((v.to_bits() >> 52) & 0x7ff) as i32,
    smallest: f64::MIN_POSITIVE,
    bias: 1023,
    scale: 128,
    far: 768,
    tiny: 53,
    underflow: -1075,
    round: |v| v,
};

impl Division {
    fn is_denormal(self, v: f64) -> bool {
        v != 0.0 && v.abs() < self.smallest
    }

    fn ldexp(self, v: f64, e: i32) -> f64 {
        (self.round)(ldexp64(v, e))
    }

    /// DIV_SCALE: the scaled source 0 and the lane's bit of the mask.
    fn scale(self, s: [f64; 3]) -> (f64, bool) {
        let [s0, s1, s2] = s;
        let up = |yes: bool| if yes { self.ldexp(s0, self.scale) } else { s0 };
        let small_reciprocal = self.is_denormal((self.round)(1.0 / s1));
        let small_quotient = self.is_denormal((self.round)(s2 / s1));
        if s2 == 0.0 || s1 == 0.0 {
            (f64::NAN, false)
        } else if (self.exponent)(s2) - (self.exponent)(s1) >= self.far {
            (up(s0 == s1), true)
        } else if self.is_denormal(s1) {
            (up(true), false)
        } else if small_reciprocal && small_quotient {
            // Down, whatever the manuals print: the quotient of 1 and 2^127 is no infinity.
            let down = self.ldexp(s0, -self.scale);
            (if s0 == s1 { down } else { s0 }, true)
        } else if small_reciprocal {
            (self.ldexp(s0, -self.scale), false)
        } else if small_quotient {
            (up(s0 == s2), true)
        } else {
            (up((self.exponent)(s2) <= self.tiny), false)
        }
    }

    /// DIV_FIXUP of quotient s0, denominator s1 and numerator s2.
    fn fixup(self, s: [f64; 3]) -> f64 {
        let [s0, s1, s2] = s;
        let sign = if s1.is_sign_negative() != s2.is_sign_negative() {
            -1.0
        } else {
            1.0
        };
        if s1.is_nan()
            || s2.is_nan()
            || (s1 == 0.0 && s2 == 0.0)
            || (s1.is_infinite() && s2.is_infinite())
        {
            f64::NAN
        } else if s1 == 0.0 || s2.is_infinite() {
            sign * f64::INFINITY
        } else if s1.is_infinite()
            || s2 == 0.0
            || (self.exponent)(s2) - (self.exponent)(s1) < self.underflow
        {
            sign * 0.0
        } else {
            sign * s0.abs()
        }
    }

    /// DIV_FMAS: the last step of the division, scaled back where the mask says so.
    fn fmas(self, product: f64, s2: f64, scaled: bool) -> f64 {
        let e = if (self.exponent)(s2) > self.bias {
            self.scale
        } else {
            -self.scale
        };
        if scaled {
            self.ldexp(product, e)
        } else {
            product
        }
    }
}

fn value(kind: Kind, v: u64) -> f64 {
    if kind == F64 { d(v) } else { w(v) }
}

fn of(kind: Kind, v: f64) -> u64 {
    if kind == F64 {
        v.to_bits()
    } else {
        bits(v as f32)
    }
}

fn division(cases: &mut Vec<Case>) {
    for (kind, src, p, ty) in [(F32, THREE, SINGLE, "f32"), (F64, THREE64, DOUBLE, "f64")] {
        let close = if kind == F64 {
            Close::F64(0)
        } else {
            Close::F32(0)
        };
        let get = move |s: &softgpu::isa::testing::State, lane| -> [f64; 3] {
            std::array::from_fn(|k| value(kind, read(s, kind, 2 + 2 * k, lane)))
        };
        // Source 0 is one of the others in real use.
        for same in [1, 2] {
            let registers = text("", kind, src, "");
            let (_, sources) = registers.split_once(", ").expect("sources");
            let dst = if kind == F64 { "v[0:1]" } else { "v0" };
            let asm = format!("v_div_scale_{ty} {dst}, {{vcc}}, {sources}");
            cases.push(
                Case::new(
                    asm,
                    move |s, random, run| {
                        fill(src)(s, random, run);
                        for lane in 0..s.lanes {
                            let v = read(s, kind, 2 + 2 * same, lane);
                            write(s, kind, 2, lane, v);
                        }
                    },
                    move |_, before, after| {
                        let mut mask = 0;
                        for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                            let (v, m) = p.scale(get(before, lane));
                            write(after, kind, 0, lane, of(kind, v));
                            mask |= u64::from(m) << lane;
                        }
                        after.vcc = if before.lanes == 64 {
                            mask
                        } else {
                            before.vcc >> 32 << 32 | mask
                        };
                    },
                )
                .close(Reg::V(0), close)
                .runs(24),
            );
        }
        cases.push(
            Case::new(
                text(&format!("v_div_fixup_{ty}"), kind, src, ""),
                move |s, random, run| {
                    fill(src)(s, random, run);
                    // A quotient is no NaN here, and denormals are left to v_div_scale.
                    for lane in 0..s.lanes {
                        for r in [2, 4, 6] {
                            let v = value(kind, read(s, kind, r, lane));
                            if p.is_denormal(v) || (r == 2 && v.is_nan()) {
                                write(s, kind, r, lane, of(kind, 1.5));
                            }
                        }
                    }
                },
                move |_, before, after| {
                    for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                        write(after, kind, 0, lane, of(kind, p.fixup(get(before, lane))));
                    }
                },
            )
            .close(Reg::V(0), close)
            .runs(24),
        );
        cases.push(
            Case::new(
                text(&format!("v_div_fmas_{ty}"), kind, src, ""),
                fill(src),
                move |_, before, after| {
                    for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                        let [a, b, c] = get(before, lane);
                        let product = if kind == F64 {
                            a.mul_add(b, c)
                        } else {
                            f64::from((a as f32).mul_add(b as f32, c as f32))
                        };
                        let v = p.fmas(product, c, before.vcc >> lane & 1 == 1);
                        write(after, kind, 0, lane, of(kind, v));
                    }
                },
            )
            .close(Reg::V(0), close),
        );
    }
}

/// Packed f32 of CDNA: two operations on the words that op_sel (low) and op_sel_hi (high) pick.
fn packed(cases: &mut Vec<Case>) {
    type Word = fn(f32, f32, f32) -> f32;
    let all: [(&str, usize, Word); 3] = [
        ("v_pk_add_f32", 2, |a, b, _| a + b),
        ("v_pk_mul_f32", 2, |a, b, _| a * b),
        ("v_pk_fma_f32", 3, f32::mul_add),
    ];
    for (name, n, g) in all {
        // Bits of op_sel, op_sel_hi, neg_lo and neg_hi.
        for [low, high, neg_low, neg_high] in [
            [0b000, 0b111, 0, 0],
            [0b101, 0b010, 0, 0],
            [0b010, 0b110, 0b101, 0b010],
        ] {
            let list = |name: &str, v: u32| {
                let places: Vec<String> = (0..n).map(|k| (v >> k & 1).to_string()).collect();
                format!(" {name}:[{}]", places.join(","))
            };
            let tail = list("op_sel", low)
                + &list("op_sel_hi", high)
                + &list("neg_lo", neg_low)
                + &list("neg_hi", neg_high);
            let sources = if n == 3 {
                "v[2:3], v[4:5], v[6:7]"
            } else {
                "v[2:3], v[4:5]"
            };
            let src: &[Kind] = &[Kind::PF32, Kind::PF32, Kind::PF32];
            cases.push(lanes(
                format!("{name} v[0:1], {sources}{tail}"),
                Kind::PF32,
                src,
                false,
                move |s| {
                    let word = |pick: u32, neg: u32, k: usize| {
                        let v = f(s[k] >> (32 * (pick >> k & 1)));
                        if neg >> k & 1 == 1 { -v } else { v }
                    };
                    let one = |pick, neg| {
                        bits(g(
                            word(pick, neg, 0),
                            word(pick, neg, 1),
                            word(pick, neg, 2),
                        ))
                    };
                    one(low, neg_low) | one(high, neg_high) << 32
                },
            ));
        }
    }
    // A move of two words: op_sel alone picks.
    for (a, b) in [(0, 0), (1, 0), (0, 1), (1, 1)] {
        let src: &[Kind] = &[Kind::U64, Kind::U64];
        let asm = format!("v_pk_mov_b32 v[0:1], v[2:3], v[4:5] op_sel:[{a},{b}]");
        cases.push(lanes(asm, Kind::U64, src, false, move |s| {
            (s[0] >> (32 * a) & 0xffff_ffff) | s[1] >> (32 * b) << 32
        }));
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    division(&mut cases);
    packed(&mut cases);
    cases
}
