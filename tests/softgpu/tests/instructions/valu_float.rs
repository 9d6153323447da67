//! Vector f32 and f64 arithmetic, and the transcendental instructions of f32 and f64 (manuals: VOP1, VOP2,
//! VOP3). Transcendentals have the accuracy the manuals name: 1 ULP for f32, 2^29 ULP for f64.

use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F32, F64, U32};
use crate::numbers::{d, f};
use crate::tables::{fill, lanes, read, text, vector, write};

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

fn flush(v: f32) -> f32 {
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

fn w(v: u64) -> f64 {
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
fn ldexp64(v: f64, e: i32) -> f64 {
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

fn transcendental(cases: &mut Vec<Case>) {
    let mut near = |name: &str, g: fn(f32) -> f64| {
        let mut case = vector(name, F32, ONE, move |s| {
            bits(flush(g(flush(f(s[0]))) as f32))
        });
        case.close = vec![(Reg::V(0), Close::F32(1))];
        cases.push(case);
    };
    for name in ["v_rcp_f32", "v_rcp_iflag_f32"] {
        near(name, |v| 1.0 / f64::from(v));
    }
    near("v_rsq_f32", |v| 1.0 / f64::from(v).sqrt());
    near("v_sqrt_f32", |v| f64::from(v).sqrt());
    near("v_exp_f32", |v| f64::from(v).exp2());
    near("v_log_f32", |v| f64::from(v).log2());
    for (name, g) in [
        ("v_sin_f32", f64::sin as fn(f64) -> f64),
        ("v_cos_f32", f64::cos),
    ] {
        let mut case = Case::new(
            format!("{name} v0, v2"),
            |s, random, _| {
                // Turns within the documented domain.
                s.v[2] = std::array::from_fn(|_| {
                    ((random.next() as i64 >> 40) as f32 / 32768.0).to_bits()
                });
                (s.v[2][0], s.v[2][1], s.v[2][2]) = (0, 0.25f32.to_bits(), (-0.5f32).to_bits());
                s.v[2][3] = f32::NAN.to_bits();
            },
            move |_, before, after| {
                for lane in (0..before.lanes).filter(|l| before.exec >> l & 1 == 1) {
                    let turns = w(before.v[2][lane].into());
                    after.v[0][lane] =
                        (g((turns - turns.round()) * std::f64::consts::TAU) as f32).to_bits();
                }
            },
        );
        case.close = vec![(Reg::V(0), Close::Near32(1e-6))];
        cases.push(case);
    }
    let mut far = |name: &str, g: fn(f64) -> f64| {
        let mut case = vector(name, F64, ONE64, move |s| g(d(s[0])).to_bits());
        case.close = vec![(Reg::V(0), Close::F64(1 << 29))];
        cases.push(case);
    };
    far("v_rcp_f64", |v| 1.0 / v);
    far("v_rsq_f64", |v| 1.0 / v.sqrt());
    far("v_sqrt_f64", f64::sqrt);
}

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
            (up(s0 == s1), true)
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
    single(&mut cases);
    multiply_add(&mut cases);
    double(&mut cases);
    transcendental(&mut cases);
    division(&mut cases);
    packed(&mut cases);
    cases
}
