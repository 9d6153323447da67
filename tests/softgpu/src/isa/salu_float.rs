//! Scalar floating point of gfx11.5 and gfx12, and gfx12's scalar transcendentals (`v_s_*`).

use super::disassembly::Text;
use super::float_math::{max_num, maximum, min_num, minimum};
use super::half::{f16_from_f32, f16_from_f32_toward_zero, f16_from_f64, f16_to_f32};
use super::operand::{Operand, Src, Ty};
use super::wave::{Flow, Run, Wave};

fn f(v: u32) -> f32 {
    f32::from_bits(v)
}

fn h(v: u32) -> f32 {
    f16_to_f32(v & 0xffff)
}

fn flush(v: f32) -> f32 {
    if v.is_subnormal() {
        0f32.copysign(v)
    } else {
        v
    }
}

type Fun = fn(u32, u32, u32) -> u32;

/// Sources, whether the destination is the last source, and the operation.
fn operation(name: &str) -> Option<(usize, bool, Ty, Fun)> {
    use Ty::{B32, F16, F32};
    Some(match name {
        "s_add_f32" => (2, false, F32, |a, b, _| (f(a) + f(b)).to_bits()),
        "s_sub_f32" => (2, false, F32, |a, b, _| (f(a) - f(b)).to_bits()),
        "s_mul_f32" => (2, false, F32, |a, b, _| (f(a) * f(b)).to_bits()),
        "s_min_f32" | "s_min_num_f32" => (2, false, F32, |a, b, _| min_num(f(a), f(b)).to_bits()),
        "s_max_f32" | "s_max_num_f32" => (2, false, F32, |a, b, _| max_num(f(a), f(b)).to_bits()),
        "s_minimum_f32" => (2, false, F32, |a, b, _| minimum(f(a), f(b)).to_bits()),
        "s_maximum_f32" => (2, false, F32, |a, b, _| maximum(f(a), f(b)).to_bits()),
        "s_fmac_f32" => (2, true, F32, |a, b, c| f(a).mul_add(f(b), f(c)).to_bits()),
        "s_fmaak_f32" | "s_fmamk_f32" => {
            (3, false, F32, |a, b, c| f(a).mul_add(f(b), f(c)).to_bits())
        }
        "s_ceil_f32" => (1, false, F32, |a, _, _| f(a).ceil().to_bits()),
        "s_floor_f32" => (1, false, F32, |a, _, _| f(a).floor().to_bits()),
        "s_trunc_f32" => (1, false, F32, |a, _, _| f(a).trunc().to_bits()),
        "s_rndne_f32" => (1, false, F32, |a, _, _| f(a).round_ties_even().to_bits()),
        "s_cvt_f32_i32" => (1, false, B32, |a, _, _| (a as i32 as f32).to_bits()),
        "s_cvt_f32_u32" => (1, false, B32, |a, _, _| (a as f32).to_bits()),
        "s_cvt_i32_f32" => (1, false, F32, |a, _, _| f(a) as i32 as u32),
        "s_cvt_u32_f32" => (1, false, F32, |a, _, _| f(a) as u32),
        "s_cvt_f16_f32" => (1, false, F32, |a, _, _| f16_from_f32(f(a))),
        "s_cvt_f32_f16" => (1, false, F16, |a, _, _| h(a).to_bits()),
        "s_cvt_hi_f32_f16" => (1, false, F16, |a, _, _| h(a >> 16).to_bits()),
        "s_cvt_pk_rtz_f16_f32" => (2, false, F32, |a, b, _| {
            f16_from_f32_toward_zero(f(a)) | f16_from_f32_toward_zero(f(b)) << 16
        }),
        "s_add_f16" => (2, false, F16, |a, b, _| f16_from_f32(h(a) + h(b))),
        "s_sub_f16" => (2, false, F16, |a, b, _| f16_from_f32(h(a) - h(b))),
        "s_mul_f16" => (2, false, F16, |a, b, _| f16_from_f32(h(a) * h(b))),
        "s_min_f16" | "s_min_num_f16" => {
            (2, false, F16, |a, b, _| f16_from_f32(min_num(h(a), h(b))))
        }
        "s_max_f16" | "s_max_num_f16" => {
            (2, false, F16, |a, b, _| f16_from_f32(max_num(h(a), h(b))))
        }
        "s_fmac_f16" => (2, true, F16, |a, b, c| {
            u32::from(f16_from_f64(
                f64::from(h(a)) * f64::from(h(b)) + f64::from(h(c)),
            ))
        }),
        "s_ceil_f16" => (1, false, F16, |a, _, _| f16_from_f32(h(a).ceil())),
        "s_floor_f16" => (1, false, F16, |a, _, _| f16_from_f32(h(a).floor())),
        "s_trunc_f16" => (1, false, F16, |a, _, _| f16_from_f32(h(a).trunc())),
        "s_rndne_f16" => (1, false, F16, |a, _, _| {
            f16_from_f32(h(a).round_ties_even())
        }),
        "v_s_exp_f32" => (1, false, F32, |a, _, _| flush(flush(f(a)).exp2()).to_bits()),
        "v_s_log_f32" => (1, false, F32, |a, _, _| flush(f(a)).log2().to_bits()),
        "v_s_rcp_f32" => (1, false, F32, |a, _, _| flush(1.0 / flush(f(a))).to_bits()),
        "v_s_rsq_f32" => (1, false, F32, |a, _, _| {
            ((1.0 / f64::from(flush(f(a))).sqrt()) as f32).to_bits()
        }),
        "v_s_sqrt_f32" => (1, false, F32, |a, _, _| flush(f(a)).sqrt().to_bits()),
        "v_s_exp_f16" => (1, false, F16, |a, _, _| f16_from_f32(h(a).exp2())),
        "v_s_log_f16" => (1, false, F16, |a, _, _| f16_from_f32(h(a).log2())),
        "v_s_rcp_f16" => (1, false, F16, |a, _, _| f16_from_f32(1.0 / h(a))),
        "v_s_rsq_f16" => (1, false, F16, |a, _, _| f16_from_f32(1.0 / h(a).sqrt())),
        "v_s_sqrt_f16" => (1, false, F16, |a, _, _| f16_from_f32(h(a).sqrt())),
        _ => return None,
    })
}

// "Less or greater" is false for NaN, which "not equal" is not.
#[allow(clippy::double_comparisons)]
fn compare(op: &str) -> Option<fn(f32, f32) -> bool> {
    Some(match op {
        "lt" => |a, b| a < b,
        "eq" => |a, b| a == b,
        "le" => |a, b| a <= b,
        "gt" => |a, b| a > b,
        "lg" => |a, b| a < b || a > b,
        "ge" => |a, b| a >= b,
        "o" => |a, b| !a.is_nan() && !b.is_nan(),
        "u" => |a, b| a.is_nan() || b.is_nan(),
        "nge" => |a, b| a < b || a.is_nan() || b.is_nan(),
        "nlg" => |a, b| a == b || a.is_nan() || b.is_nan(),
        "ngt" => |a, b| a <= b || a.is_nan() || b.is_nan(),
        "nle" => |a, b| a > b || a.is_nan() || b.is_nan(),
        "neq" => |a, b| a != b,
        "nlt" => |a, b| a >= b || a.is_nan() || b.is_nan(),
        _ => return None,
    })
}

/// A scalar source with the signs written on it.
fn read(w: &Wave, src: Src, neg: bool, abs: bool, ty: Ty) -> u32 {
    let sign = if ty == Ty::F16 { 0x8000 } else { 0x8000_0000 };
    let mut v = w.s32(src);
    if abs {
        v &= !sign;
    }
    if neg { v ^ sign } else { v }
}

/// Decodes scalar floats, or None.
pub fn decode_scalar_float(t: &Text) -> Result<Option<Run>, String> {
    if let Some(rest) = t.name.strip_prefix("s_cmp_")
        && let Some((op, ty)) = rest.split_once('_')
        && matches!(ty, "f32" | "f16")
        && let Some(test) = compare(op)
    {
        let ty = if ty == "f16" { Ty::F16 } else { Ty::F32 };
        let (a, b) = (t.operand(0)?.src(ty)?, t.operand(1)?.src(ty)?);
        return Ok(Some(Box::new(move |w, _| {
            let get = |src| {
                if ty == Ty::F16 {
                    h(w.s32(src))
                } else {
                    f(w.s32(src))
                }
            };
            w.scc = test(get(a), get(b));
            Ok(Flow::Next)
        })));
    }
    let Some((n, accumulate, ty, fun)) = operation(&t.name) else {
        return Ok(None);
    };
    if t.has("clamp") || t.has("mul") || t.has("div") {
        return Err("output modifiers on scalar floats are not implemented".into());
    }
    let dst = t.operand(0)?.sgpr()?;
    let mut sources = [(Src::K(0), false, false); 3];
    for (i, s) in sources.iter_mut().enumerate().take(n) {
        let o: &Operand = t.operand(1 + i)?;
        *s = (o.src(ty)?, o.neg, o.abs);
    }
    if accumulate {
        sources[2] = (Src::S(dst), false, false);
    }
    Ok(Some(Box::new(move |w, _| {
        let [a, b, c] = sources.map(|(src, neg, abs)| read(w, src, neg, abs, ty));
        w.set_s32(dst, fun(a, b, c));
        Ok(Flow::Next)
    })))
}
