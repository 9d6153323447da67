//! Vector floating point: f16, f32 and f64 arithmetic and transcendentals.
//!
//! f32 denormals are kept by arithmetic (the mode compilers ask for) and flushed by the
//! transcendental instructions, as the manuals say; those are exact here where hardware has 1 ulp.

use super::decode::Target;
use super::disassembly::Text;
use super::float_math::{
    cos_turns, fixup32, fixup64, flush, fma16, fmas32, fmas64, fract, frexp_exp, frexp_exp64,
    frexp_mant, frexp_mant64, ldexp, ldexp64, max_num, maximum, med3, min_num, min_num64, minimum,
    rsq, scale_rows32, scale_rows64, sin_turns,
};
use super::half::{f16_from_f32, f16_to_f32};
use super::lanes::{d3, df3, f1, f2, f3, h1, h2, h3, l1, l2, l3};
use super::operand::Ty::{B16, B32, F16, F32, F64};
use super::valu::{Fun, Op, a1, a2, a3, wide};

/// The operation of this name.
pub fn find(t: &Text, target: &Target) -> Result<Option<Op>, String> {
    let name = t.name.as_str();
    Ok(single(name)
        .or_else(|| transcendental(name))
        .or_else(|| half(name, target))
        .or_else(|| double(name)))
}

fn single(name: &str) -> Option<Op> {
    Some(match name {
        "v_add_f32" => a2(F32, f2(|a, b| a + b)),
        "v_sub_f32" => a2(F32, f2(|a, b| a - b)),
        "v_subrev_f32" => a2(F32, f2(|a, b| b - a)),
        "v_mul_f32" => a2(F32, f2(|a, b| a * b)),
        "v_mul_legacy_f32" | "v_mul_dx9_zero_f32" => a2(
            F32,
            f2(|a, b| if a == 0.0 || b == 0.0 { 0.0 } else { a * b }),
        ),
        "v_fma_f32" => a3(F32, f3(f32::mul_add)),
        "v_fmac_f32" => a3(F32, f3(f32::mul_add)).acc(),
        "v_fmaak_f32" | "v_fmamk_f32" => a3(F32, f3(f32::mul_add)),
        "v_mad_f32" | "v_madak_f32" | "v_madmk_f32" => {
            a3(F32, f3(|a, b, c| flush(flush(a) * flush(b)) + flush(c)))
        }
        "v_mac_f32" => a3(F32, f3(|a, b, c| flush(flush(a) * flush(b)) + flush(c))).acc(),
        "v_min_f32" | "v_min_num_f32" => a2(F32, f2(min_num)),
        "v_max_f32" | "v_max_num_f32" => a2(F32, f2(max_num)),
        "v_minimum_f32" => a2(F32, f2(minimum)),
        "v_maximum_f32" => a2(F32, f2(maximum)),
        "v_min3_f32" | "v_min3_num_f32" => a3(F32, f3(|a, b, c| min_num(min_num(a, b), c))),
        "v_max3_f32" | "v_max3_num_f32" => a3(F32, f3(|a, b, c| max_num(max_num(a, b), c))),
        "v_minimum3_f32" => a3(F32, f3(|a, b, c| minimum(minimum(a, b), c))),
        "v_maximum3_f32" => a3(F32, f3(|a, b, c| maximum(maximum(a, b), c))),
        "v_med3_f32" | "v_med3_num_f32" => a3(F32, f3(med3)),
        "v_maxmin_f32" | "v_maxmin_num_f32" => a3(F32, f3(|a, b, c| min_num(max_num(a, b), c))),
        "v_minmax_f32" | "v_minmax_num_f32" => a3(F32, f3(|a, b, c| max_num(min_num(a, b), c))),
        "v_minimummaximum_f32" => a3(F32, f3(|a, b, c| maximum(minimum(a, b), c))),
        "v_maximumminimum_f32" => a3(F32, f3(|a, b, c| minimum(maximum(a, b), c))),
        "v_trunc_f32" => a1(F32, f1(f32::trunc)),
        "v_ceil_f32" => a1(F32, f1(f32::ceil)),
        "v_floor_f32" => a1(F32, f1(f32::floor)),
        "v_rndne_f32" => a1(F32, f1(f32::round_ties_even)),
        "v_fract_f32" => a1(F32, f1(|v| fract(v, f32::from_bits(0x3f7f_ffff)))),
        "v_ldexp_f32" => {
            a2(F32, l2(|a, b| ldexp(f32::from_bits(a), b as i32).to_bits())).src(F32, B32, B32)
        }
        "v_frexp_mant_f32" => a1(F32, f1(frexp_mant)),
        "v_frexp_exp_i32_f32" => a1(F32, l1(|a| frexp_exp(f32::from_bits(a)) as u32)).dst(B32),
        "v_div_fixup_f32" => a3(F32, f3(fixup32)),
        "v_div_fmas_f32" => Op::new(Fun::Fmas(fmas32), F32),
        "v_div_scale_f32" => Op::new(Fun::Scale(scale_rows32), F32),
        _ => return None,
    })
}

fn transcendental(name: &str) -> Option<Op> {
    Some(match name {
        "v_rcp_f32" | "v_rcp_iflag_f32" => a1(F32, f1(|a| flush(1.0 / flush(a)))),
        "v_rsq_f32" => a1(F32, f1(|a| rsq(flush(a)))),
        "v_sqrt_f32" => a1(F32, f1(|a| flush(a).sqrt())),
        "v_exp_f32" => a1(F32, f1(|a| flush(flush(a).exp2()))),
        "v_log_f32" => a1(F32, f1(|a| flush(a).log2())),
        "v_sin_f32" => a1(F32, f1(sin_turns)),
        "v_cos_f32" => a1(F32, f1(cos_turns)),
        "v_rcp_f16" => a1(F16, h1(|a| 1.0 / a)),
        "v_rsq_f16" => a1(F16, h1(rsq)),
        "v_sqrt_f16" => a1(F16, h1(f32::sqrt)),
        "v_exp_f16" => a1(F16, h1(f32::exp2)),
        "v_log_f16" => a1(F16, h1(f32::log2)),
        "v_sin_f16" => a1(F16, h1(sin_turns)),
        "v_cos_f16" => a1(F16, h1(cos_turns)),
        _ => return None,
    })
}

fn half(name: &str, target: &Target) -> Option<Op> {
    let op = match name {
        "v_add_f16" => a2(F16, h2(|a, b| a + b)),
        "v_sub_f16" => a2(F16, h2(|a, b| a - b)),
        "v_subrev_f16" => a2(F16, h2(|a, b| b - a)),
        "v_mul_f16" => a2(F16, h2(|a, b| a * b)),
        "v_fma_f16" => a3(F16, l3(fma16)).keeps(),
        "v_fma_legacy_f16" => a3(F16, l3(fma16)),
        "v_fmac_f16" => a3(F16, l3(fma16)).acc().keeps(),
        "v_fmaak_f16" | "v_fmamk_f16" => a3(F16, l3(fma16)).keeps(),
        "v_mad_f16" => a3(F16, h3(|a, b, c| f16_to_f32(f16_from_f32(a * b)) + c)).keeps(),
        "v_mad_legacy_f16" => a3(F16, h3(|a, b, c| f16_to_f32(f16_from_f32(a * b)) + c)),
        "v_madak_f16" | "v_madmk_f16" => {
            a3(F16, h3(|a, b, c| f16_to_f32(f16_from_f32(a * b)) + c)).keeps()
        }
        "v_mac_f16" => a3(F16, h3(|a, b, c| f16_to_f32(f16_from_f32(a * b)) + c))
            .acc()
            .keeps(),
        "v_min_f16" | "v_min_num_f16" => a2(F16, h2(min_num)),
        "v_max_f16" | "v_max_num_f16" => a2(F16, h2(max_num)),
        "v_minimum_f16" => a2(F16, h2(minimum)),
        "v_maximum_f16" => a2(F16, h2(maximum)),
        "v_min3_f16" | "v_min3_num_f16" => a3(F16, h3(|a, b, c| min_num(min_num(a, b), c))).keeps(),
        "v_max3_f16" | "v_max3_num_f16" => a3(F16, h3(|a, b, c| max_num(max_num(a, b), c))).keeps(),
        "v_med3_f16" | "v_med3_num_f16" => a3(F16, h3(med3)).keeps(),
        "v_maxmin_f16" | "v_maxmin_num_f16" => a3(F16, h3(|a, b, c| min_num(max_num(a, b), c))),
        "v_minmax_f16" | "v_minmax_num_f16" => a3(F16, h3(|a, b, c| max_num(min_num(a, b), c))),
        "v_trunc_f16" => a1(F16, h1(f32::trunc)),
        "v_ceil_f16" => a1(F16, h1(f32::ceil)),
        "v_floor_f16" => a1(F16, h1(f32::floor)),
        "v_rndne_f16" => a1(F16, h1(f32::round_ties_even)),
        "v_fract_f16" => a1(F16, h1(|v| fract(v, 0.999_511_7))),
        "v_ldexp_f16" => a2(
            F16,
            l2(|a, b| f16_from_f32(ldexp(f16_to_f32(a & 0xffff), i32::from(b as i16)))),
        )
        .src(F16, B16, B16),
        "v_frexp_mant_f16" => a1(F16, h1(frexp_mant)),
        "v_frexp_exp_i16_f16" => a1(
            F16,
            l1(|a| frexp_exp(f16_to_f32(a & 0xffff)) as u32 & 0xffff),
        )
        .dst(B16),
        "v_div_fixup_f16" => a3(F16, h3(fixup32)).keeps(),
        _ => return None,
    };
    let _ = target;
    Some(op)
}

fn double(name: &str) -> Option<Op> {
    Some(match name {
        "v_add_f64" => wide(2, F64, df3(|a, b, _| a + b)),
        "v_mul_f64" => wide(2, F64, df3(|a, b, _| a * b)),
        "v_fma_f64" => wide(3, F64, df3(f64::mul_add)),
        "v_fmac_f64" => wide(3, F64, df3(f64::mul_add)).acc(),
        "v_min_f64" | "v_min_num_f64" => wide(2, F64, df3(|a, b, _| min_num64(a, b))),
        "v_max_f64" | "v_max_num_f64" => wide(2, F64, df3(|a, b, _| -min_num64(-a, -b))),
        "v_trunc_f64" => wide(1, F64, df3(|a, _, _| a.trunc())),
        "v_ceil_f64" => wide(1, F64, df3(|a, _, _| a.ceil())),
        "v_floor_f64" => wide(1, F64, df3(|a, _, _| a.floor())),
        "v_rndne_f64" => wide(1, F64, df3(|a, _, _| a.round_ties_even())),
        "v_fract_f64" => wide(
            1,
            F64,
            df3(|a, _, _| {
                let (rest, below_one) = (a - a.floor(), 1.0 - f64::EPSILON / 2.0);
                if rest > below_one { below_one } else { rest }
            }),
        ),
        "v_rcp_f64" => wide(1, F64, df3(|a, _, _| 1.0 / a)),
        "v_rsq_f64" => wide(1, F64, df3(|a, _, _| 1.0 / a.sqrt())),
        "v_sqrt_f64" => wide(1, F64, df3(|a, _, _| a.sqrt())),
        "v_ldexp_f64" => wide(
            2,
            F64,
            d3(|a, b, _| ldexp64(f64::from_bits(a), b as i32).to_bits()),
        )
        .src(F64, B32, B32),
        "v_frexp_mant_f64" => wide(1, F64, df3(|a, _, _| frexp_mant64(a))),
        "v_frexp_exp_i32_f64" => wide(
            1,
            F64,
            d3(|a, _, _| u64::from(frexp_exp64(f64::from_bits(a)) as u32)),
        )
        .dst(B32),
        "v_div_fixup_f64" => wide(3, F64, df3(fixup64)),
        "v_div_fmas_f64" => Op::new(Fun::Fmas(fmas64), F64),
        "v_div_scale_f64" => Op::new(Fun::Scale(scale_rows64), F64),
        _ => return None,
    })
}
