//! Packed 16-bit arithmetic, and the mixed-precision multiply-add.

use super::decode::Target;
use super::disassembly::Text;
use super::half::{f16_from_f32, f16_from_f64, f16_to_f32};
use super::lanes::{l3, ph2, pi2, pi3};
use super::operand::Ty::{P16, PF16};
use super::operand::{Operand, Src, Ty};
use super::valu::{Op, a2, a3};
use super::valu_float::{max_num, maximum, min_num, minimum};
use super::wave::{Flow, Row, Run};

fn fma16(a: u32, b: u32, c: u32) -> u32 {
    let f = |v: u32| f64::from(f16_to_f32(v & 0xffff));
    let one = |s: u32| u32::from(f16_from_f64(f(a >> s) * f(b >> s) + f(c >> s)));
    one(0) | one(16) << 16
}

fn saturated(name: &str) -> Option<Op> {
    let op = match name {
        "v_pk_add_u16" => a2(P16, pi2(u16::saturating_add)),
        "v_pk_sub_u16" => a2(P16, pi2(u16::saturating_sub)),
        "v_pk_add_i16" => a2(P16, pi2(|a, b| (a as i16).saturating_add(b as i16) as u16)),
        "v_pk_sub_i16" => a2(P16, pi2(|a, b| (a as i16).saturating_sub(b as i16) as u16)),
        "v_pk_mad_u16" => a3(
            P16,
            pi3(|a, b, c| (u32::from(a) * u32::from(b) + u32::from(c)).min(0xffff) as u16),
        ),
        "v_pk_mad_i16" => a3(
            P16,
            pi3(|a, b, c| {
                let v = i32::from(a as i16) * i32::from(b as i16) + i32::from(c as i16);
                v.clamp(-32768, 32767) as u16
            }),
        ),
        _ => return None,
    };
    Some(op.saturating())
}

/// The packed operation of this name.
pub fn find(t: &Text, _target: &Target) -> Result<Option<Op>, String> {
    let name = t.name.as_str();
    if t.has("clamp")
        && let Some(op) = saturated(name)
    {
        return Ok(Some(op));
    }
    Ok(Some(match name {
        "v_pk_add_f16" => a2(PF16, ph2(|a, b| a + b)),
        "v_pk_mul_f16" => a2(PF16, ph2(|a, b| a * b)),
        "v_pk_min_f16" | "v_pk_min_num_f16" => a2(PF16, ph2(min_num)),
        "v_pk_max_f16" | "v_pk_max_num_f16" => a2(PF16, ph2(max_num)),
        "v_pk_minimum_f16" => a2(PF16, ph2(minimum)),
        "v_pk_maximum_f16" => a2(PF16, ph2(maximum)),
        "v_pk_fma_f16" => a3(PF16, l3(fma16)),
        "v_pk_fmac_f16" => a3(PF16, l3(fma16)).acc(),
        "v_pk_add_u16" | "v_pk_add_i16" => a2(P16, pi2(u16::wrapping_add)),
        "v_pk_sub_u16" | "v_pk_sub_i16" => a2(P16, pi2(u16::wrapping_sub)),
        "v_pk_mul_lo_u16" => a2(P16, pi2(u16::wrapping_mul)),
        "v_pk_mad_u16" | "v_pk_mad_i16" => {
            a3(P16, pi3(|a, b, c| a.wrapping_mul(b).wrapping_add(c)))
        }
        "v_pk_lshlrev_b16" => a2(P16, pi2(|a, b| b << (a & 15))),
        "v_pk_lshrrev_b16" => a2(P16, pi2(|a, b| b >> (a & 15))),
        "v_pk_ashrrev_i16" => a2(P16, pi2(|a, b| (b as i16 >> (a & 15)) as u16)),
        "v_pk_min_u16" => a2(P16, pi2(u16::min)),
        "v_pk_max_u16" => a2(P16, pi2(u16::max)),
        "v_pk_min_i16" => a2(P16, pi2(|a, b| (a as i16).min(b as i16) as u16)),
        "v_pk_max_i16" => a2(P16, pi2(|a, b| (a as i16).max(b as i16) as u16)),
        _ => return Ok(None),
    }))
}

/// One source of a mixed operation: f32, or one half as f16.
#[derive(Clone, Copy)]
struct Mixed {
    src: Src,
    half: Option<u32>,
    neg: bool,
    abs: bool,
}

impl Mixed {
    fn new(o: &Operand, half: Option<u32>) -> Result<Mixed, String> {
        let ty = if half.is_some() { Ty::F16 } else { Ty::F32 };
        Ok(Mixed {
            src: o.src(ty)?,
            half,
            neg: o.neg,
            abs: o.abs,
        })
    }

    fn read(&self, raw: u32) -> f32 {
        let mut v = match self.half {
            Some(shift) => f16_to_f32(raw >> shift & 0xffff),
            None => f32::from_bits(raw),
        };
        if self.abs {
            v = v.abs();
        }
        if self.neg { -v } else { v }
    }
}

/// `v_fma_mix_f32`, `v_fma_mixlo_f16` and `v_fma_mixhi_f16`, or None.
pub fn decode(t: &Text, _target: &Target) -> Result<Option<Run>, String> {
    let result = match t.name.as_str() {
        "v_fma_mix_f32" => 0,
        "v_fma_mixlo_f16" => 1,
        "v_fma_mixhi_f16" => 2,
        _ => return Ok(None),
    };
    if t.dpp {
        return Err("DPP on mixed multiply-add is not implemented".into());
    }
    let dst = t.operand(0)?.vgpr()?;
    // op_sel_hi says that a source is f16, op_sel then picks its half.
    let (is_half, high) = (
        t.bits("op_sel_hi")?.unwrap_or(0),
        t.bits("op_sel")?.unwrap_or(0),
    );
    let mut sources = Vec::with_capacity(3);
    for k in 0..3 {
        let half = (is_half >> k & 1 != 0).then_some(16 * (high >> k & 1));
        sources.push(Mixed::new(t.operand(1 + k)?, half)?);
    }
    let [a, b, c] = [sources[0], sources[1], sources[2]];
    let clamp = t.has("clamp");
    Ok(Some(Box::new(move |w, _| {
        for h in 0..w.halves {
            let (mut ta, mut tb, mut tc) = ([0; 32], [0; 32], [0; 32]);
            let (ra, rb, rc) = (
                w.row(a.src, h, &mut ta),
                w.row(b.src, h, &mut tb),
                w.row(c.src, h, &mut tc),
            );
            let old = &w.rows[w.at(dst, h)];
            let out: Row = std::array::from_fn(|i| {
                let mut v = a.read(ra[i]).mul_add(b.read(rb[i]), c.read(rc[i]));
                if clamp {
                    v = if v > 0.0 { v.min(1.0) } else { 0.0 };
                }
                match result {
                    0 => v.to_bits(),
                    1 => old[i] & 0xffff_0000 | f16_from_f32(v),
                    _ => old[i] & 0xffff | f16_from_f32(v) << 16,
                }
            });
            w.put(dst, h, &out, w.exec_half(h));
        }
        Ok(Flow::Next)
    })))
}
