//! What vector instructions do to sources before (neg, abs, op_sel, SDWA) and to results after
//! (clamp, halves, SDWA) the operation.

use super::decode::Target;
use super::disassembly::Text;
use super::half::{f16_from_f32, f16_to_f32};
use super::operand::{Operand, Src, Ty};
use super::valu::Op;
use super::wave::{Row, Row64, Wave};

/// One source with all that changes it before the operation.
#[derive(Clone, Copy, Debug)]
pub struct Prep {
    pub src: Src,
    pub ty: Ty,
    neg: bool,
    abs: bool,
    neg_high: bool,
    /// op_sel: the high half feeds the (low) operation.
    high: bool,
    /// op_sel_hi of packed operations.
    high_of_high: bool,
    /// SDWA selection: shift, bits.
    pick: Option<(u32, u32)>,
    sext: bool,
}

impl Prep {
    /// Nothing to change (for waves' plain rows).
    pub fn is_plain(&self) -> bool {
        let halves = if self.ty.is_packed() {
            !self.high && self.high_of_high
        } else {
            !self.high
        };
        !self.neg && !self.abs && !self.neg_high && halves && self.pick.is_none() && !self.sext
    }

    pub fn apply(&self, row: &mut Row) {
        if let Some((shift, bits)) = self.pick {
            for v in row.iter_mut() {
                let up = 32 - bits - shift;
                *v = if self.sext {
                    ((*v << up) as i32 >> (32 - bits)) as u32
                } else {
                    *v << up >> (32 - bits)
                };
            }
        }
        match self.ty {
            Ty::P16 | Ty::PF16 | Ty::PBf16 => {
                let (low, high) = (u32::from(self.high) * 16, u32::from(self.high_of_high) * 16);
                let flip = u32::from(self.neg) << 15 | u32::from(self.neg_high) << 31;
                for v in row.iter_mut() {
                    *v = (*v >> low & 0xffff | (*v >> high & 0xffff) << 16) ^ flip;
                }
            }
            Ty::F32 | Ty::B32 => {
                let keep = if self.abs { 0x7fff_ffff } else { u32::MAX };
                let flip = u32::from(self.neg) << 31;
                if self.abs || self.neg {
                    row.iter_mut().for_each(|v| *v = *v & keep ^ flip);
                }
            }
            _ => {
                let shift = if self.high { 16 } else { 0 };
                let keep = if self.abs { 0x7fff } else { u32::MAX };
                let flip = u32::from(self.neg) << 15;
                row.iter_mut()
                    .for_each(|v| *v = (*v >> shift) & keep ^ flip);
            }
        }
    }

    pub fn apply64(&self, row: &mut Row64) {
        let keep = if self.abs { u64::MAX >> 1 } else { u64::MAX };
        let flip = u64::from(self.neg) << 63;
        row.iter_mut().for_each(|v| *v = *v & keep ^ flip);
    }
}

/// What happens to the result before it is written.
#[derive(Clone, Copy, Debug)]
pub struct Post {
    pub dst: u16,
    ty: Ty,
    clamp: bool,
    merge: Merge,
}

/// Which bits of the destination register change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Merge {
    Whole,
    /// The low 16 bits; the high ones stay.
    Low,
    /// The high 16 bits; the low ones stay.
    High,
    /// SDWA: shift, bits, and what becomes of the rest.
    Part(u32, u32, Unused),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unused {
    Pad,
    Sext,
    Preserve,
}

fn clamp01(v: f32) -> f32 {
    // A NaN clamps to zero (DX10_CLAMP, the default).
    if v > 0.0 { v.min(1.0) } else { 0.0 }
}

impl Post {
    pub fn is_plain(&self) -> bool {
        !self.clamp && self.merge == Merge::Whole
    }

    pub fn apply(&self, w: &Wave, h: usize, row: &mut Row) {
        if self.clamp {
            for v in row.iter_mut() {
                *v = match self.ty {
                    Ty::F32 => clamp01(f32::from_bits(*v)).to_bits(),
                    Ty::F16 => f16_from_f32(clamp01(f16_to_f32(*v & 0xffff))),
                    Ty::PF16 => {
                        let (a, b) = (
                            clamp01(f16_to_f32(*v & 0xffff)),
                            clamp01(f16_to_f32(*v >> 16)),
                        );
                        f16_from_f32(a) | f16_from_f32(b) << 16
                    }
                    _ => *v,
                };
            }
        }
        let old = &w.rows[w.at(self.dst, h)];
        match self.merge {
            Merge::Whole => {}
            Merge::Low => (0..32).for_each(|i| row[i] = old[i] & 0xffff_0000 | row[i] & 0xffff),
            Merge::High => (0..32).for_each(|i| row[i] = old[i] & 0xffff | row[i] << 16),
            Merge::Part(shift, bits, unused) => {
                let field = (u32::MAX >> (32 - bits)) << shift;
                for i in 0..32 {
                    let v = row[i] << shift & field;
                    row[i] = match unused {
                        Unused::Pad => v,
                        Unused::Preserve => old[i] & !field | v,
                        Unused::Sext => {
                            // The field's sign fills what lies above; below it are zeros.
                            let up = 32 - bits - shift;
                            ((v << up) as i32 >> up) as u32
                        }
                    };
                }
            }
        }
    }
}

fn selection(text: &str) -> Result<Option<(u32, u32)>, String> {
    Ok(Some(match text {
        "DWORD" => return Ok(None),
        "BYTE_0" => (0, 8),
        "BYTE_1" => (8, 8),
        "BYTE_2" => (16, 8),
        "BYTE_3" => (24, 8),
        "WORD_0" => (0, 16),
        "WORD_1" => (16, 16),
        _ => return Err(format!("unknown SDWA selection {text}")),
    }))
}

/// Reads source number `k` with its modifiers.
pub fn prep(o: &Operand, ty: Ty, k: usize, t: &Text) -> Result<Prep, String> {
    let bit = |name: &str, default: u32| t.bits(name).map(|b| b.unwrap_or(default) >> k & 1 != 0);
    let packed = ty.is_packed();
    let mut p = Prep {
        src: o.src(ty)?,
        ty,
        neg: o.neg,
        abs: o.abs,
        neg_high: false,
        high: o.high || bit("op_sel", 0)?,
        high_of_high: packed && bit("op_sel_hi", 7)?,
        pick: None,
        sext: o.sext,
    };
    if packed {
        if o.neg || o.abs {
            return Err("a sign on a packed operand is not implemented".into());
        }
        p.neg = bit("neg_lo", 0)?;
        p.neg_high = bit("neg_hi", 0)?;
    }
    if ty == Ty::F32 && bit("neg_lo", 0)? {
        p.neg = !p.neg;
    }
    if !packed && !ty.is_16() && p.high {
        return Err("op_sel on a 32-bit operand".into());
    }
    if t.sdwa
        && let Some(v) = t.value(if k == 0 { "src0_sel" } else { "src1_sel" })
    {
        p.pick = selection(v)?;
        if p.pick.is_some_and(|(_, bits)| bits == 32) {
            p.pick = None;
        }
    }
    Ok(p)
}

/// Reads the modifiers of the result of an operation with `n` sources.
pub fn post(
    op: &Op,
    dst: u16,
    dst_high: bool,
    t: &Text,
    target: &Target,
    n: usize,
) -> Result<Post, String> {
    // Hardware ignores these while denormals are kept, and no compiler writes them then.
    if t.has("mul") || t.has("div") {
        return Err("an output modifier (mul, div) is not implemented".into());
    }
    let float = matches!(op.dst, Ty::F32 | Ty::F16 | Ty::PF16);
    let clamp = t.has("clamp") && !op.saturates;
    if clamp && !float {
        return Err("clamp on this type is not implemented".into());
    }
    let high = dst_high || (op.dst.is_16() && t.bits("op_sel")?.unwrap_or(0) >> n & 1 != 0);
    let mut merge = match op.dst {
        ty if !ty.is_16() => Merge::Whole,
        _ if high => Merge::High,
        _ if target.generation >= 10 || op.keeps_high => Merge::Low,
        _ => Merge::Whole,
    };
    if t.sdwa {
        let unused = match t.value("dst_unused") {
            Some("UNUSED_PAD") | None => Unused::Pad,
            Some("UNUSED_SEXT") => Unused::Sext,
            Some("UNUSED_PRESERVE") => Unused::Preserve,
            Some(other) => return Err(format!("unknown dst_unused:{other}")),
        };
        if let Some((shift, bits)) = selection(t.value("dst_sel").unwrap_or("DWORD"))? {
            merge = Merge::Part(shift, bits, unused);
        } else {
            merge = Merge::Whole;
        }
    }
    Ok(Post {
        dst,
        ty: op.dst,
        clamp,
        merge,
    })
}
