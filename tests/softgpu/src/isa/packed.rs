//! Packed 16-bit arithmetic, and the mixed-precision multiply-add.

// Several rows are walked at one index; the plain loop is what the compiler vectorises best.
#![allow(clippy::needless_range_loop)]

use super::decode::Target;
use super::disassembly::Text;
use super::float_math::{max_num, maximum, min_num, minimum};
use super::half::{f16_from_f32, f16_to_f32};
use super::lanes::{fast, ph2, pi2, pi3, pk_fma};
use super::operand::Ty::{P16, PF16};
use super::operand::{Operand, Src, Ty};
use super::valu::{Op, a2, a3};
use super::wave::{Flow, Run, Wave};

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
        "v_pk_fma_f16" => a3(PF16, pk_fma()),
        "v_pk_fmac_f16" => a3(PF16, pk_fma()).acc(),
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

    /// The values of 32 lanes.
    #[inline(always)]
    fn read(&self, w: &Wave, h: usize) -> [f32; 32] {
        let mut buffer = [0; 32];
        let row = w.row(self.src, h, &mut buffer);
        let mut bits = [0; 32];
        match self.half {
            Some(shift) => {
                for i in 0..32 {
                    bits[i] = f16_to_f32(row[i] >> shift & 0xffff).to_bits();
                }
            }
            None => bits = *row,
        }
        let keep = if self.abs { 0x7fff_ffff } else { u32::MAX };
        let flip = u32::from(self.neg) << 31;
        let mut values = [0.0; 32];
        for i in 0..32 {
            values[i] = f32::from_bits(bits[i] & keep ^ flip);
        }
        values
    }
}

/// Where a mixed operation's result goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Result32 {
    F32,
    Low,
    High,
}

/// A mixed multiply-add.
#[derive(Clone, Copy)]
struct Mix {
    sources: [Mixed; 3],
    dst: u16,
    to: Result32,
    clamp: bool,
}

impl Mix {
    fn run(&self, w: &mut Wave) {
        #[cfg(target_arch = "x86_64")]
        #[target_feature(enable = "avx2,fma,f16c")]
        fn wide(mix: &Mix, w: &mut Wave) {
            mix.body(w);
        }
        #[cfg(target_arch = "x86_64")]
        if fast() {
            // SAFETY: the host has these features.
            return unsafe { wide(self, w) };
        }
        self.body(w);
    }

    #[inline(always)]
    fn body(&self, w: &mut Wave) {
        for h in 0..w.halves {
            let [a, b, c] = &self.sources;
            let (a, b, mut v) = (a.read(w, h), b.read(w, h), c.read(w, h));
            for i in 0..32 {
                v[i] = a[i].mul_add(b[i], v[i]);
            }
            if self.clamp {
                for v in &mut v {
                    *v = if *v > 0.0 { v.min(1.0) } else { 0.0 };
                }
            }
            let old = &w.rows[w.at(self.dst, h)];
            let mut out = [0; 32];
            for i in 0..32 {
                out[i] = match self.to {
                    Result32::F32 => v[i].to_bits(),
                    Result32::Low => old[i] & 0xffff_0000 | f16_from_f32(v[i]),
                    Result32::High => old[i] & 0xffff | f16_from_f32(v[i]) << 16,
                };
            }
            w.put(self.dst, h, &out, w.exec_half(h));
        }
    }
}

/// `v_fma_mix_f32`, `v_fma_mixlo_f16` and `v_fma_mixhi_f16`, or None.
pub fn decode(t: &Text, _target: &Target) -> Result<Option<Run>, String> {
    let to = match t.name.as_str() {
        "v_fma_mix_f32" => Result32::F32,
        "v_fma_mixlo_f16" => Result32::Low,
        "v_fma_mixhi_f16" => Result32::High,
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
    let mix = Mix {
        sources: [sources[0], sources[1], sources[2]],
        dst,
        to,
        clamp: t.has("clamp"),
    };
    Ok(Some(Box::new(move |w, _| {
        mix.run(w);
        Ok(Flow::Next)
    })))
}
