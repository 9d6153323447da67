//! Conversions between number types.

use super::decode::Target;
use super::disassembly::Text;
use super::half::{f16_from_f32, f16_from_f32_toward_zero, f16_to_f32};
use super::lanes::{L1, d3, l1, l2, l3};
use super::operand::Ty::{B16, B32, B64, F16, F32, F64};
use super::valu::{Op, a1, a2, a3, wide};

#[inline(always)]
fn f(v: u32) -> f32 {
    f32::from_bits(v)
}

#[inline(always)]
fn h(v: u32) -> f32 {
    f16_to_f32(v & 0xffff)
}

fn both(low: u32, high: u32) -> u32 {
    low & 0xffff | high << 16
}

/// Signed normalised 16 bits.
fn snorm16(v: f32) -> u32 {
    (v.clamp(-1.0, 1.0) * 32767.0).round_ties_even() as i16 as u16 as u32
}

fn unorm16(v: f32) -> u32 {
    (v.clamp(0.0, 1.0) * 65535.0).round_ties_even() as u32
}

/// fp8 e4m3 (OCP: no infinities, one NaN; `fnuz`: bias 8, 0x80 is NaN).
fn fp8_to_f32(v: u32, fnuz: bool) -> f32 {
    let (exponent, mantissa) = (v >> 3 & 15, (v & 7) as f32);
    let sign = if v & 0x80 != 0 { -1.0 } else { 1.0 };
    if (fnuz && v & 0xff == 0x80) || (!fnuz && v & 0x7f == 0x7f) {
        return f32::NAN;
    }
    let bias = if fnuz { 8 } else { 7 };
    let magnitude = if exponent == 0 {
        mantissa * 2f32.powi(-2 - bias)
    } else {
        (8.0 + mantissa) * 2f32.powi(exponent as i32 - bias - 3)
    };
    sign * magnitude
}

/// bf8 e5m2 (OCP: IEEE-like; `fnuz`: bias 16, 0x80 is NaN).
fn bf8_to_f32(v: u32, fnuz: bool) -> f32 {
    if !fnuz {
        let wide = f16_to_f32((v & 0xff) << 8);
        return if wide.is_nan() { f32::NAN } else { wide };
    }
    if v & 0xff == 0x80 {
        return f32::NAN;
    }
    let (exponent, mantissa) = (v >> 2 & 31, (v & 3) as f32);
    let sign = if v & 0x80 != 0 { -1.0 } else { 1.0 };
    let magnitude = if exponent == 0 {
        mantissa * 2f32.powi(-17)
    } else {
        (4.0 + mantissa) * 2f32.powi(exponent as i32 - 18)
    };
    sign * magnitude
}

/// Nearest representable of a small float format, by search (ties to the even code). From `limit` on the
/// magnitude overflows to `above`: MODE.FP16_OVFL, which would saturate, is off.
fn small_from_f32(v: f32, decode: impl Fn(u32) -> f32, fnuz: bool, limit: f32, above: u32) -> u32 {
    let sign = if v.is_sign_negative() { 0x80 } else { 0 };
    if v.is_nan() {
        return if fnuz { 0x80 } else { 0x7f | sign };
    }
    let a = v.abs();
    if a >= limit {
        return above | if fnuz { 0 } else { sign };
    }
    let (mut best, mut distance) = (0, f32::INFINITY);
    for code in 0..0x80 {
        let c = decode(code);
        if !c.is_finite() {
            continue;
        }
        let d = (c - a).abs();
        if d < distance || (d == distance && code & 1 == 0) {
            (best, distance) = (code, d);
        }
    }
    // -0 does not exist where 0x80 is NaN.
    if best == 0 && fnuz { 0 } else { best | sign }
}

pub fn fp8_from_f32(v: f32, fnuz: bool) -> u32 {
    // Halfway beyond the largest: 240 is odd and its tie goes up, 448 is even and keeps its own.
    let (limit, above) = if fnuz {
        (248.0, 0x80)
    } else {
        (464f32.next_up(), 0x7f)
    };
    small_from_f32(v, |c| fp8_to_f32(c, fnuz), fnuz, limit, above)
}

pub fn bf8_from_f32(v: f32, fnuz: bool) -> u32 {
    let above = if fnuz { 0x80 } else { 0x7c };
    small_from_f32(v, |c| bf8_to_f32(c, fnuz), fnuz, 61440.0, above)
}

/// fp8 as a function for the matrix instructions.
pub fn fp8(v: u32, fnuz: bool) -> f32 {
    fp8_to_f32(v & 0xff, fnuz)
}

pub fn bf8(v: u32, fnuz: bool) -> f32 {
    bf8_to_f32(v & 0xff, fnuz)
}

fn to_u8(v: f32) -> u32 {
    // Round to nearest even, saturate.
    v.round_ties_even().clamp(0.0, 255.0) as u32
}

/// The operation of this name.
pub fn find(t: &Text, target: &Target) -> Result<Option<Op>, String> {
    let name = t.name.as_str();
    if !name.starts_with("v_cvt_") && name != "v_cvt_pknorm_i16_f32" {
        return Ok(None);
    }
    Ok(single(name)
        .or_else(|| half(name))
        .or_else(|| double(name))
        .or_else(|| small(name, t, target)))
}

fn single(name: &str) -> Option<Op> {
    let bytes: Option<L1> = match name {
        "v_cvt_f32_ubyte0" => Some(l1(|a| ((a & 0xff) as f32).to_bits())),
        "v_cvt_f32_ubyte1" => Some(l1(|a| ((a >> 8 & 0xff) as f32).to_bits())),
        "v_cvt_f32_ubyte2" => Some(l1(|a| ((a >> 16 & 0xff) as f32).to_bits())),
        "v_cvt_f32_ubyte3" => Some(l1(|a| ((a >> 24) as f32).to_bits())),
        _ => None,
    };
    if let Some(f) = bytes {
        return Some(a1(B32, f).dst(F32));
    }
    Some(match name {
        "v_cvt_f32_i32" => a1(B32, l1(|a| (a as i32 as f32).to_bits())).dst(F32),
        "v_cvt_f32_u32" => a1(B32, l1(|a| (a as f32).to_bits())).dst(F32),
        "v_cvt_i32_f32" => a1(F32, l1(|a| f(a) as i32 as u32)).dst(B32),
        "v_cvt_u32_f32" => a1(F32, l1(|a| f(a) as u32)).dst(B32),
        "v_cvt_rpi_i32_f32" | "v_cvt_nearest_i32_f32" => {
            a1(F32, l1(|a| (f(a) + 0.5).floor() as i32 as u32)).dst(B32)
        }
        "v_cvt_flr_i32_f32" | "v_cvt_floor_i32_f32" => {
            a1(F32, l1(|a| f(a).floor() as i32 as u32)).dst(B32)
        }
        "v_cvt_off_f32_i4" => a1(
            B32,
            l1(|a| (((a << 28) as i32 >> 28) as f32 * 0.0625).to_bits()),
        )
        .dst(F32),
        "v_cvt_f32_f16" => a1(F16, l1(|a| h(a).to_bits())).dst(F32),
        "v_cvt_f16_f32" => a1(F32, l1(|a| f16_from_f32(f(a)))).dst(F16),
        "v_cvt_pkrtz_f16_f32" | "v_cvt_pk_rtz_f16_f32" => a2(
            F32,
            l2(|a, b| {
                both(
                    f16_from_f32_toward_zero(f(a)),
                    f16_from_f32_toward_zero(f(b)),
                )
            }),
        )
        .dst(B32),
        "v_cvt_pk_u16_u32" => a2(B32, l2(|a, b| both(a.min(0xffff), b.min(0xffff)))),
        "v_cvt_pk_i16_i32" => a2(
            B32,
            l2(|a, b| {
                let one = |v: u32| (v as i32).clamp(-32768, 32767) as u32;
                both(one(a), one(b))
            }),
        ),
        "v_cvt_pk_i16_f32" => {
            a2(F32, l2(|a, b| both(f(a) as i16 as u32, f(b) as i16 as u32))).dst(B32)
        }
        "v_cvt_pk_u16_f32" => a2(
            F32,
            l2(|a, b| both(u32::from(f(a) as u16), u32::from(f(b) as u16))),
        )
        .dst(B32),
        "v_cvt_pknorm_i16_f32" | "v_cvt_pk_norm_i16_f32" => {
            a2(F32, l2(|a, b| both(snorm16(f(a)), snorm16(f(b))))).dst(B32)
        }
        "v_cvt_pknorm_u16_f32" | "v_cvt_pk_norm_u16_f32" => {
            a2(F32, l2(|a, b| both(unorm16(f(a)), unorm16(f(b))))).dst(B32)
        }
        "v_cvt_pk_u8_f32" => a3(
            F32,
            l3(|a, b, c| {
                let shift = 8 * (b & 3);
                c & !(0xff << shift) | to_u8(f(a)) << shift
            }),
        )
        .src(F32, B32, B32)
        .dst(B32),
        "v_cvt_i32_i16" => a1(B16, l1(|a| i32::from(a as i16) as u32)).dst(B32),
        "v_cvt_u32_u16" => a1(B16, l1(|a| a & 0xffff)).dst(B32),
        _ => return None,
    })
}

fn half(name: &str) -> Option<Op> {
    Some(match name {
        "v_cvt_f16_u16" => a1(B16, l1(|a| f16_from_f32((a & 0xffff) as f32))).dst(F16),
        "v_cvt_f16_i16" => a1(B16, l1(|a| f16_from_f32(f32::from(a as i16)))).dst(F16),
        "v_cvt_u16_f16" => a1(F16, l1(|a| u32::from(h(a) as u16))).dst(B16),
        "v_cvt_i16_f16" => a1(F16, l1(|a| u32::from(h(a) as i16 as u16))).dst(B16),
        "v_cvt_norm_i16_f16" => a1(F16, l1(|a| snorm16(h(a)))).dst(B16),
        "v_cvt_norm_u16_f16" => a1(F16, l1(|a| unorm16(h(a)))).dst(B16),
        "v_cvt_pknorm_i16_f16" | "v_cvt_pk_norm_i16_f16" => {
            a2(F16, l2(|a, b| both(snorm16(h(a)), snorm16(h(b))))).dst(B32)
        }
        "v_cvt_pknorm_u16_f16" | "v_cvt_pk_norm_u16_f16" => {
            a2(F16, l2(|a, b| both(unorm16(h(a)), unorm16(h(b))))).dst(B32)
        }
        _ => return None,
    })
}

fn double(name: &str) -> Option<Op> {
    let d = |f| wide(1, F64, f);
    Some(match name {
        "v_cvt_f64_f32" => d(d3(|a, _, _| f64::from(f(a as u32)).to_bits())).src(F32, B32, B32),
        "v_cvt_f32_f64" => d(d3(|a, _, _| {
            u64::from((f64::from_bits(a) as f32).to_bits())
        }))
        .dst(F32),
        "v_cvt_f64_i32" => d(d3(|a, _, _| f64::from(a as i32).to_bits())).src(B32, B32, B32),
        "v_cvt_f64_u32" => d(d3(|a, _, _| f64::from(a as u32).to_bits())).src(B32, B32, B32),
        "v_cvt_i32_f64" => d(d3(|a, _, _| u64::from(f64::from_bits(a) as i32 as u32))).dst(B32),
        "v_cvt_u32_f64" => d(d3(|a, _, _| u64::from(f64::from_bits(a) as u32))).dst(B32),
        _ => return None,
    })
}

/// Unpacking byte N.
fn unpack<const N: u32, const BF8: bool, const FNUZ: bool>(a: u32) -> u32 {
    let byte = a >> (8 * N) & 0xff;
    (if BF8 {
        bf8(byte, FNUZ)
    } else {
        fp8(byte, FNUZ)
    })
    .to_bits()
}

fn unpack_byte<const BF8: bool, const FNUZ: bool>(n: i64) -> L1 {
    match n {
        0 => l1(unpack::<0, BF8, FNUZ>),
        1 => l1(unpack::<1, BF8, FNUZ>),
        2 => l1(unpack::<2, BF8, FNUZ>),
        _ => l1(unpack::<3, BF8, FNUZ>),
    }
}

fn unpack_pair<const BF8: bool, const FNUZ: bool>(a: u64, _: u64, _: u64) -> u64 {
    let a = a as u32;
    u64::from(unpack::<0, BF8, FNUZ>(a)) | u64::from(unpack::<1, BF8, FNUZ>(a)) << 32
}

fn pack<const BF8: bool, const FNUZ: bool>(a: u32, b: u32) -> u32 {
    let one = |v| {
        if BF8 {
            bf8_from_f32(f(v), FNUZ)
        } else {
            fp8_from_f32(f(v), FNUZ)
        }
    };
    one(a) | one(b) << 8
}

/// fp8 and bf8; gfx942 uses the `fnuz` forms, gfx12 the OCP ones. SDWA (gfx942) and byte_sel (gfx12)
/// pick the byte, op_sel the half of the packed forms.
fn small(name: &str, t: &Text, target: &Target) -> Option<Op> {
    let fnuz = target.generation == 9;
    let byte = t.number("byte_sel").ok()?;
    Some(match (name, fnuz) {
        ("v_cvt_f32_fp8", true) => a1(B32, unpack_byte::<false, true>(byte)).dst(F32),
        ("v_cvt_f32_fp8", false) => a1(B32, unpack_byte::<false, false>(byte)).dst(F32),
        ("v_cvt_f32_bf8", true) => a1(B32, unpack_byte::<true, true>(byte)).dst(F32),
        ("v_cvt_f32_bf8", false) => a1(B32, unpack_byte::<true, false>(byte)).dst(F32),
        ("v_cvt_pk_fp8_f32", true) => a2(F32, l2(pack::<false, true>)).dst(B16).keeps(),
        ("v_cvt_pk_fp8_f32", false) => a2(F32, l2(pack::<false, false>)).dst(B16).keeps(),
        ("v_cvt_pk_bf8_f32", true) => a2(F32, l2(pack::<true, true>)).dst(B16).keeps(),
        ("v_cvt_pk_bf8_f32", false) => a2(F32, l2(pack::<true, false>)).dst(B16).keeps(),
        ("v_cvt_pk_f32_fp8", true) => {
            wide(1, B64, d3(unpack_pair::<false, true>)).src(B16, B32, B32)
        }
        ("v_cvt_pk_f32_fp8", false) => {
            wide(1, B64, d3(unpack_pair::<false, false>)).src(B16, B32, B32)
        }
        ("v_cvt_pk_f32_bf8", true) => {
            wide(1, B64, d3(unpack_pair::<true, true>)).src(B16, B32, B32)
        }
        ("v_cvt_pk_f32_bf8", false) => {
            wide(1, B64, d3(unpack_pair::<true, false>)).src(B16, B32, B32)
        }
        _ => return None,
    })
}
