//! Conversions (manuals: the V_CVT instructions of VOP1, VOP2 and VOP3; 8-bit floats: CDNA 3 and RDNA 4).

use crate::harness::{Case, Close, Reg};
use crate::numbers::Kind::{self, F16, F32, F64, PF16, PF32, U16, U32};
use crate::numbers::{F16 as HALF, d, f, h};
use crate::tables::{lanes, text, vector};
use crate::valu_float::bits;

const INT: &[Kind] = &[U32];
const SHORT: &[Kind] = &[U16];
const HALVES: &[Kind] = &[F16];
const SINGLE: &[Kind] = &[F32];
const TWO: &[Kind] = &[F32, F32];
const DOUBLE: &[Kind] = &[F64];

fn enc(v: f64) -> u64 {
    u64::from(HALF.encode(v))
}

/// Towards zero into a range; NaN gives 0.
fn whole(v: f64, least: f64, most: f64) -> i64 {
    if v.is_nan() {
        0
    } else {
        v.trunc().clamp(least, most) as i64
    }
}

fn i32s(v: f64) -> u64 {
    u64::from(whole(v, -2_147_483_648.0, 2_147_483_647.0) as u32)
}

fn u32s(v: f64) -> u64 {
    whole(v, 0.0, 4_294_967_295.0) as u64
}

fn i16s(v: f64) -> u64 {
    u64::from(whole(v, -32768.0, 32767.0) as u16)
}

fn u16s(v: f64) -> u64 {
    whole(v, 0.0, 65535.0) as u64
}

fn w(v: u64) -> f64 {
    f64::from(f(v))
}

/// A fraction of the largest signed or unsigned 16-bit number, to nearest.
fn snorm(v: f32) -> u64 {
    let scaled = v.clamp(-1.0, 1.0) * 32767.0;
    if v.is_nan() {
        0
    } else {
        u64::from(scaled.round_ties_even() as i32 as u16)
    }
}

fn unorm(v: f32) -> u64 {
    let scaled = v.clamp(0.0, 1.0) * 65535.0;
    if v.is_nan() {
        0
    } else {
        scaled.round_ties_even() as u64
    }
}

fn to_and_from_integers(cases: &mut Vec<Case>) {
    for n in 0..4 {
        cases.push(vector(&format!("v_cvt_f32_ubyte{n}"), F32, INT, move |s| {
            bits((s[0] >> (8 * n) & 0xff) as f32)
        }));
    }
    // f64 holds every 32-bit integer: one rounding follows.
    cases.push(vector("v_cvt_f32_i32", F32, INT, |s| {
        bits(f64::from(s[0] as u32 as i32) as f32)
    }));
    cases.push(vector("v_cvt_f32_u32", F32, INT, |s| {
        bits(s[0] as f64 as f32)
    }));
    cases.push(vector("v_cvt_i32_f32", U32, SINGLE, |s| i32s(w(s[0]))));
    cases.push(vector("v_cvt_u32_f32", U32, SINGLE, |s| u32s(w(s[0]))));
    for name in ["v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32"] {
        // floor(x + 0.5), the sum being an f32.
        cases.push(vector(name, U32, SINGLE, |s| {
            i32s(f64::from((f(s[0]) + 0.5).floor()))
        }));
    }
    for name in ["v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32"] {
        cases.push(vector(name, U32, SINGLE, |s| i32s(w(s[0]).floor())));
    }
    // Sixteenths from -0.5: the table of the manual.
    cases.push(vector("v_cvt_off_f32_i4", F32, INT, |s| {
        let n = (s[0] & 15) as i32;
        bits((if n >= 8 { n - 16 } else { n }) as f32 / 16.0)
    }));
    cases.push(vector("v_cvt_f64_i32", F64, INT, |s| {
        f64::from(s[0] as u32 as i32).to_bits()
    }));
    cases.push(vector("v_cvt_f64_u32", F64, INT, |s| {
        (s[0] as f64).to_bits()
    }));
    cases.push(vector("v_cvt_i32_f64", U32, DOUBLE, |s| i32s(d(s[0]))));
    cases.push(vector("v_cvt_u32_f64", U32, DOUBLE, |s| u32s(d(s[0]))));
    cases.push(vector("v_cvt_f64_f32", F64, SINGLE, |s| w(s[0]).to_bits()));
    cases.push(vector("v_cvt_f32_f64", F32, DOUBLE, |s| {
        bits(d(s[0]) as f32)
    }));
    cases.push(vector("v_cvt_i32_i16", U32, SHORT, |s| {
        u64::from(i32::from(s[0] as u16 as i16) as u32)
    }));
    cases.push(vector("v_cvt_u32_u16", U32, SHORT, |s| s[0] & 0xffff));
}

fn halves(cases: &mut Vec<Case>) {
    cases.push(vector("v_cvt_f32_f16", F32, HALVES, |s| {
        bits(h(s[0]) as f32)
    }));
    cases.push(vector("v_cvt_f16_f32", F16, SINGLE, |s| enc(w(s[0]))));
    cases.push(vector("v_cvt_f16_u16", F16, SHORT, |s| {
        enc((s[0] & 0xffff) as f64)
    }));
    cases.push(vector("v_cvt_f16_i16", F16, SHORT, |s| {
        enc(f64::from(s[0] as u16 as i16))
    }));
    // What gfx9 leaves in the high halves of these is not documented; the later rule is.
    let mut open = |name: &str, dst: Kind, src: &'static [Kind], g: fn(&[u64]) -> u64| {
        cases.push(vector(name, dst, src, g).on(|t| !t.starts_with("gfx9")));
        let mut case = vector(name, dst, src, g).on(|t| t.starts_with("gfx9"));
        case.close = vec![(Reg::V(0), Close::Low16)];
        cases.push(case);
    };
    open("v_cvt_u16_f16", U16, HALVES, |s| u16s(h(s[0])));
    open("v_cvt_i16_f16", U16, HALVES, |s| i16s(h(s[0])));
    open("v_cvt_norm_i16_f16", U16, HALVES, |s| snorm(h(s[0]) as f32));
    open("v_cvt_norm_u16_f16", U16, HALVES, |s| unorm(h(s[0]) as f32));
    open("v_sat_pk_u8_i16", U16, INT, |s| {
        let one = |v: u64| i64::from(v as u16 as i16).clamp(0, 255) as u64;
        one(s[0]) | one(s[0] >> 16) << 8
    });
}

fn packed(cases: &mut Vec<Case>) {
    for name in ["v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32"] {
        cases.push(vector(name, PF16, TWO, |s| {
            u64::from(HALF.encode_toward_zero(w(s[0])) | HALF.encode_toward_zero(w(s[1])) << 16)
        }));
    }
    let mut pair = |name: &str, src: &'static [Kind], g: fn(u64) -> u64| {
        cases.push(vector(name, U32, src, move |s| g(s[0]) | g(s[1]) << 16));
    };
    pair("v_cvt_pk_u16_u32", &[U32, U32], |v| v.min(0xffff));
    pair("v_cvt_pk_i16_i32", &[U32, U32], |v| {
        i16s(f64::from(v as u32 as i32))
    });
    pair("v_cvt_pk_i16_f32", TWO, |v| i16s(w(v)));
    pair("v_cvt_pk_u16_f32", TWO, |v| u16s(w(v)));
    for name in ["v_cvt_pknorm_i16_f32", "v_cvt_pk_norm_i16_f32"] {
        pair(name, TWO, |v| snorm(f(v)));
    }
    for name in ["v_cvt_pknorm_u16_f32", "v_cvt_pk_norm_u16_f32"] {
        pair(name, TWO, |v| unorm(f(v)));
    }
    for name in ["v_cvt_pknorm_i16_f16", "v_cvt_pk_norm_i16_f16"] {
        pair(name, &[F16, F16], |v| snorm(h(v) as f32));
    }
    for name in ["v_cvt_pknorm_u16_f16", "v_cvt_pk_norm_u16_f16"] {
        pair(name, &[F16, F16], |v| unorm(h(v) as f32));
    }
    // Byte S1[1:0] of S2 is replaced; the mode's rounding, to nearest even.
    cases.push(vector("v_cvt_pk_u8_f32", U32, &[F32, U32, U32], |s| {
        let v = if w(s[0]).is_nan() {
            0
        } else {
            w(s[0]).round_ties_even().clamp(0.0, 255.0) as u64
        };
        let shift = 8 * (s[1] & 3);
        s[2] & !(0xff << shift) | v << shift
    }));
}

/// An 8-bit float. FNUZ (CDNA 3): one NaN, 0x80, and no negative zero. OCP (RDNA 4): e4m3 has no
/// infinities, e5m2 is IEEE-like.
#[derive(Clone, Copy)]
pub struct Small {
    mantissa: i32,
    bias: i32,
    fnuz: bool,
}

impl Small {
    pub fn new(bf8: bool, fnuz: bool) -> Small {
        let mantissa = if bf8 { 2 } else { 3 };
        let ieee = if bf8 { 15 } else { 7 };
        Small {
            mantissa,
            bias: ieee + i32::from(fnuz),
            fnuz,
        }
    }

    /// Codes of the largest finite magnitude, and of what lies above it.
    fn top(self) -> (u32, u32) {
        match (self.fnuz, self.mantissa) {
            (true, _) => (0x7f, 0x80),
            (_, 2) => (0x7b, 0x7c),
            _ => (0x7e, 0x7f),
        }
    }

    pub fn decode(self, code: u64) -> f64 {
        let code = code as u32 & 0xff;
        if self.fnuz && code == 0x80 {
            return f64::NAN;
        }
        let (top, above) = self.top();
        let magnitude = code & 0x7f;
        let sign = if code & 0x80 != 0 { -1.0 } else { 1.0 };
        if !self.fnuz && magnitude > top {
            return if above == 0x7c && magnitude == above {
                sign * f64::INFINITY
            } else {
                f64::NAN
            };
        }
        let e = (magnitude >> self.mantissa) as i32;
        let m = f64::from(magnitude & ((1 << self.mantissa) - 1)) / f64::from(1 << self.mantissa);
        sign * if e == 0 {
            m * 2f64.powi(1 - self.bias)
        } else {
            (1.0 + m) * 2f64.powi(e - self.bias)
        }
    }

    /// To nearest even; overflow (MODE.FP16_OVFL is off) gives infinity, or NaN where there is none.
    pub fn encode(self, v: f64) -> u64 {
        let sign = if v.is_sign_negative() { 0x80 } else { 0 };
        let (top, above) = self.top();
        if v.is_nan() {
            return u64::from(if self.fnuz { 0x80 } else { 0x7f | sign });
        }
        let e = if v == 0.0 {
            1 - self.bias
        } else {
            (v.abs().log2().floor() as i32).max(1 - self.bias)
        };
        let count = (v.abs() / 2f64.powi(e - self.mantissa)).round_ties_even();
        let code = count + f64::from((e + self.bias - 1) << self.mantissa);
        if v.is_infinite() || code > f64::from(top) {
            return u64::from(if self.fnuz { above } else { above | sign });
        }
        let code = code as u32;
        u64::from(if code == 0 && self.fnuz {
            0
        } else {
            code | sign
        })
    }
}

/// 8-bit floats of one kind; `tail` names the byte or half by SDWA, byte_sel or op_sel.
fn small(cases: &mut Vec<Case>) {
    for (bf8, name) in [(false, "fp8"), (true, "bf8")] {
        for fnuz in [true, false] {
            let on: fn(&str) -> bool = if fnuz {
                |t| t == "gfx942"
            } else {
                |t| t.starts_with("gfx12")
            };
            let p = Small::new(bf8, fnuz);
            for n in 0..4 {
                let tail = match (fnuz, n) {
                    (_, 0) => format!("v_cvt_f32_{name} v0, v2"),
                    (true, n) => format!("v_cvt_f32_{name}_sdwa v0, v2 src0_sel:BYTE_{n}"),
                    (false, n) => format!("v_cvt_f32_{name}_e64 v0, v2 byte_sel:{n}"),
                };
                cases.push(
                    lanes(tail, F32, INT, false, move |s| {
                        bits(p.decode(s[0] >> (8 * n)) as f32)
                    })
                    .on(on),
                );
            }
            for high in [0, 1] {
                let asm = match (fnuz, high) {
                    (_, 0) => format!("v_cvt_pk_f32_{name} v[0:1], v2"),
                    (true, _) => format!("v_cvt_pk_f32_{name}_sdwa v[0:1], v2 src0_sel:WORD_1"),
                    (false, _) => format!("v_cvt_pk_f32_{name}_e64 v[0:1], v2 op_sel:[1,0]"),
                };
                cases.push(
                    lanes(asm, PF32, INT, false, move |s| {
                        let word = s[0] >> (16 * high);
                        bits(p.decode(word) as f32) | bits(p.decode(word >> 8) as f32) << 32
                    })
                    .on(on),
                );
                let tail = if high == 1 { " op_sel:[0,0,1]" } else { "" };
                let case = lanes(
                    text(&format!("v_cvt_pk_{name}_f32"), U32, TWO, tail),
                    U32,
                    TWO,
                    false,
                    move |s| {
                        let word = p.encode(w(s[0])) | p.encode(w(s[1])) << 8;
                        s[2] & !(0xffff << (16 * high)) | word << (16 * high)
                    },
                )
                .on(on);
                cases.push(case);
            }
        }
    }
}

pub fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    to_and_from_integers(&mut cases);
    halves(&mut cases);
    packed(&mut cases);
    small(&mut cases);
    cases
}
