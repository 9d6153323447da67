//! Dot products of packed small numbers with an accumulator.

use super::convert::{bf8, fp8};
use super::decode::Target;
use super::disassembly::Text;
use super::half::{LEAST_F16, bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32, flush};
use super::lanes::{L3, dot2_f16, l3};
use super::operand::Ty::{B32, Bf16, F16, F32, PBf16, PF16};
use super::valu::{Op, a3};

/// Element i of `bits` bits, sign-extended when `signed`.
#[inline(always)]
fn element(v: u32, i: u32, bits: u32, signed: bool) -> i64 {
    let up = 32 - bits - i * bits;
    if signed {
        i64::from((v << up) as i32 >> (32 - bits))
    } else {
        i64::from(v << up >> (32 - bits))
    }
}

/// The exact sum of products.
#[inline(always)]
fn products<const BITS: u32, const SA: bool, const SB: bool>(a: u32, b: u32) -> i64 {
    (0..32 / BITS)
        .map(|i| element(a, i, BITS, SA) * element(b, i, BITS, SB))
        .sum()
}

/// Wrapping, or saturating in the accumulator's own signedness when CLAMP.
#[inline(always)]
fn integer<const BITS: u32, const SA: bool, const SB: bool, const CLAMP: bool>(
    a: u32,
    b: u32,
    c: u32,
) -> u32 {
    let sum = products::<BITS, SA, SB>(a, b);
    if !CLAMP {
        return (sum as u32).wrapping_add(c);
    }
    if SA || SB {
        (sum + i64::from(c as i32)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
    } else {
        (sum + i64::from(c)).min(i64::from(u32::MAX)) as u32
    }
}

/// Mixed signedness always accumulates signed.
#[inline(always)]
fn mixed_unsigned<const BITS: u32, const CLAMP: bool>(a: u32, b: u32, c: u32) -> u32 {
    let sum = products::<BITS, false, false>(a, b);
    if CLAMP {
        (sum + i64::from(c as i32)).clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as u32
    } else {
        (sum as u32).wrapping_add(c)
    }
}

fn pick<const BITS: u32>(a_signed: bool, b_signed: bool, clamp: bool) -> L3 {
    match (a_signed, b_signed, clamp) {
        (true, true, false) => l3(integer::<BITS, true, true, false>),
        (true, false, false) => l3(integer::<BITS, true, false, false>),
        (false, true, false) => l3(integer::<BITS, false, true, false>),
        (false, false, false) => l3(integer::<BITS, false, false, false>),
        (true, true, true) => l3(integer::<BITS, true, true, true>),
        (true, false, true) => l3(integer::<BITS, true, false, true>),
        (false, true, true) => l3(integer::<BITS, false, true, true>),
        (false, false, true) => l3(integer::<BITS, false, false, true>),
    }
}

#[inline(always)]
fn f16_pair(a: u32, b: u32, c: f32) -> f32 {
    let low = f16_to_f32(a & 0xffff).mul_add(f16_to_f32(b & 0xffff), c);
    f16_to_f32(a >> 16).mul_add(f16_to_f32(b >> 16), low)
}

/// gfx90a's: subnormal factors and sums count as zero.
#[inline(always)]
fn f16_pair_flushed(a: u32, b: u32, c: u32) -> u32 {
    let h = |v: u32| flush(f16_to_f32(v & 0xffff), LEAST_F16);
    let c = flush(f32::from_bits(c), f32::MIN_POSITIVE);
    let sum = h(a >> 16).mul_add(h(b >> 16), h(a).mul_add(h(b), c));
    flush(sum, f32::MIN_POSITIVE).to_bits()
}

#[inline(always)]
fn bf16_pair(a: u32, b: u32, c: f32) -> f32 {
    let low = bf16_to_f32(a).mul_add(bf16_to_f32(b), c);
    bf16_to_f32(a >> 16).mul_add(bf16_to_f32(b >> 16), low)
}

fn four(a: u32, b: u32, c: u32, fa: impl Fn(u32) -> f32, fb: impl Fn(u32) -> f32) -> u32 {
    (0..4)
        .fold(f32::from_bits(c), |sum, i| {
            fa(a >> (8 * i) & 0xff).mul_add(fb(b >> (8 * i) & 0xff), sum)
        })
        .to_bits()
}

/// The dot product of this name.
pub fn find(t: &Text, target: &Target) -> Result<Option<Op>, String> {
    let name = t.name.as_str();
    if !name.starts_with("v_dot") {
        return Ok(None);
    }
    let clamp = t.has("clamp");
    // neg_lo of the `iu` forms says which sources are signed.
    let signs = t.bits("neg_lo")?.unwrap_or(0);
    let (sa, sb) = (signs & 1 != 0, signs & 2 != 0);
    let op = match name {
        "v_dot4_i32_i8" => a3(B32, pick::<8>(true, true, clamp)),
        "v_dot4c_i32_i8" => a3(B32, pick::<8>(true, true, clamp)).acc(),
        "v_dot4_u32_u8" => a3(B32, pick::<8>(false, false, clamp)),
        "v_dot4_i32_iu8" if !sa && !sb && clamp => a3(B32, l3(mixed_unsigned::<8, true>)),
        "v_dot4_i32_iu8" => a3(B32, pick::<8>(sa, sb, clamp)),
        "v_dot8_i32_i4" => a3(B32, pick::<4>(true, true, clamp)),
        "v_dot8c_i32_i4" => a3(B32, pick::<4>(true, true, clamp)).acc(),
        "v_dot8_u32_u4" => a3(B32, pick::<4>(false, false, clamp)),
        "v_dot8_i32_iu4" if !sa && !sb && clamp => a3(B32, l3(mixed_unsigned::<4, true>)),
        "v_dot8_i32_iu4" => a3(B32, pick::<4>(sa, sb, clamp)),
        "v_dot2_i32_i16" => a3(B32, pick::<16>(true, true, clamp)),
        "v_dot2c_i32_i16" => a3(B32, pick::<16>(true, true, clamp)).acc(),
        "v_dot2_u32_u16" => a3(B32, pick::<16>(false, false, clamp)),
        "v_dot2_f32_f16" | "v_dot2c_f32_f16" | "v_dot2acc_f32_f16" => {
            let f = if target.name == "gfx90a" {
                l3(f16_pair_flushed)
            } else {
                dot2_f16()
            };
            let op = a3(F32, f).src(PF16, PF16, F32);
            return Ok(Some(if name == "v_dot2_f32_f16" {
                op
            } else {
                op.acc()
            }));
        }
        "v_dot2_f32_bf16" => {
            return Ok(Some(
                a3(
                    F32,
                    l3(|a, b, c| bf16_pair(a, b, f32::from_bits(c)).to_bits()),
                )
                .src(PBf16, PBf16, F32),
            ));
        }
        "v_dot2_f16_f16" => {
            return Ok(Some(
                a3(
                    F16,
                    l3(|a, b, c| f16_from_f32(f16_pair(a, b, f16_to_f32(c & 0xffff)))),
                )
                .src(PF16, PF16, F16),
            ));
        }
        "v_dot2_bf16_bf16" => {
            let f = l3(|a, b, c| bf16_from_f32(bf16_pair(a, b, bf16_to_f32(c & 0xffff))));
            return Ok(Some(a3(Bf16, f).src(PBf16, PBf16, Bf16)));
        }
        "v_dot4_f32_fp8_fp8" => a3(
            B32,
            l3(|a, b, c| four(a, b, c, |v| fp8(v, false), |v| fp8(v, false))),
        ),
        "v_dot4_f32_fp8_bf8" => a3(
            B32,
            l3(|a, b, c| four(a, b, c, |v| fp8(v, false), |v| bf8(v, false))),
        ),
        "v_dot4_f32_bf8_fp8" => a3(
            B32,
            l3(|a, b, c| four(a, b, c, |v| bf8(v, false), |v| fp8(v, false))),
        ),
        "v_dot4_f32_bf8_bf8" => a3(
            B32,
            l3(|a, b, c| four(a, b, c, |v| bf8(v, false), |v| bf8(v, false))),
        ),
        _ => return Ok(None),
    };
    if (t.has("neg_lo") && !name.contains("_iu")) || t.has("neg_hi") || t.has("op_sel") {
        return Err("modifiers on an integer dot product are not implemented".into());
    }
    Ok(Some(op.saturating()))
}
