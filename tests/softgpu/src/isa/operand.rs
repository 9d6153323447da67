//! Operands as the disassembler prints them, turned into register numbers and constant bits.

use super::half::f16_from_f64;

/// Scalar registers live in one array; these are the places of the named ones.
pub const VCC: u16 = 106;
pub const TTMP: u16 = 108;
pub const M0: u16 = 124;
pub const EXEC: u16 = 126;
/// Written when the destination is `null`.
pub const SINK: u16 = 140;
pub const SHARED_BASE: u16 = 132;
pub const PRIVATE_BASE: u16 = 136;
pub const FLAT_SCRATCH: u16 = 142;
pub const SCALARS: usize = 160;
/// AccVGPRs follow the 256 VGPRs in the register file.
pub const ACC: u16 = 256;

/// How an operand's bits are read: decides constants, negation and half selection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    B32,
    F32,
    B16,
    F16,
    /// bfloat16 in the low half.
    Bf16,
    /// Unsigned or bitwise 64 bits (literals are zero-extended).
    B64,
    /// Signed 64 bits (literals are sign-extended).
    I64,
    F64,
    /// Two 16-bit integers.
    P16,
    /// Two f16.
    PF16,
    /// Two bfloat16.
    PBf16,
    /// Two f32 in a register pair.
    PF32,
}

impl Ty {
    pub fn is_64(self) -> bool {
        matches!(self, Ty::B64 | Ty::I64 | Ty::F64 | Ty::PF32)
    }

    pub fn is_16(self) -> bool {
        matches!(self, Ty::B16 | Ty::F16 | Ty::Bf16)
    }

    pub fn is_packed(self) -> bool {
        matches!(self, Ty::P16 | Ty::PF16 | Ty::PF32 | Ty::PBf16)
    }
}

/// A register or constant, before its type is known.
#[derive(Clone, Debug, PartialEq)]
pub enum Place {
    /// First VGPR (AccVGPRs from [`ACC`]) and count.
    V(u16, u16),
    /// First scalar and count.
    S(u16, u16),
    Int(i64),
    Float(f64),
    /// A 32-bit literal.
    Literal(u32),
    Null,
    Off,
    Scc,
    /// `lds_direct`, `src_pops_exiting_wave_id` and others that nothing here needs.
    Other(String),
}

/// One operand with what is written around it.
#[derive(Clone, Debug, PartialEq)]
pub struct Operand {
    pub place: Place,
    pub neg: bool,
    pub abs: bool,
    pub sext: bool,
    /// `.h` of a 16-bit register operand.
    pub high: bool,
}

/// A source that can be read at run time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Src {
    V(u16),
    S(u16),
    /// Constant bits (low half for 32-bit reads).
    K(u64),
    Scc,
}

fn number(text: &str) -> Option<u16> {
    text.parse().ok()
}

/// `[4:7]` or `4` after the register letter.
fn range(text: &str) -> Option<(u16, u16)> {
    if let Some(inner) = text.strip_prefix('[') {
        let inner = inner.strip_suffix(']')?;
        return match inner.split_once(':') {
            Some((a, b)) => {
                let (a, b) = (number(a)?, number(b)?);
                Some((a, b.checked_sub(a)? + 1))
            }
            None => Some((number(inner)?, 1)),
        };
    }
    Some((number(text)?, 1))
}

fn scalar_name(text: &str) -> Option<(u16, u16)> {
    Some(match text {
        "vcc" => (VCC, 2),
        "vcc_lo" => (VCC, 1),
        "vcc_hi" => (VCC + 1, 1),
        "exec" => (EXEC, 2),
        "exec_lo" => (EXEC, 1),
        "exec_hi" => (EXEC + 1, 1),
        "m0" => (M0, 1),
        "src_shared_base" => (SHARED_BASE, 2),
        "src_shared_limit" => (SHARED_BASE + 2, 2),
        "src_private_base" => (PRIVATE_BASE, 2),
        "src_private_limit" => (PRIVATE_BASE + 2, 2),
        "flat_scratch" => (FLAT_SCRATCH, 2),
        "flat_scratch_lo" => (FLAT_SCRATCH, 1),
        "flat_scratch_hi" => (FLAT_SCRATCH + 1, 1),
        "xnack_mask" => (FLAT_SCRATCH + 2, 2),
        "xnack_mask_lo" => (FLAT_SCRATCH + 2, 1),
        "xnack_mask_hi" => (FLAT_SCRATCH + 3, 1),
        _ => {
            let (first, n) = range(text.strip_prefix("ttmp")?)?;
            (first.checked_add(TTMP).filter(|r| *r < M0)?, n)
        }
    })
}

fn place(text: &str) -> Option<Place> {
    match text {
        "null" => return Some(Place::Null),
        "off" => return Some(Place::Off),
        "scc" | "src_scc" => return Some(Place::Scc),
        "src_vccz" | "src_execz" | "lds_direct" | "src_lds_direct" | "src_pops_exiting_wave_id" => {
            return Some(Place::Other(text.into()));
        }
        _ => {}
    }
    if let Some((first, n)) = scalar_name(text) {
        return Some(Place::S(first, n));
    }
    if let Some(hex) = text.strip_prefix("0x") {
        return Some(match u32::from_str_radix(hex, 16) {
            Ok(v) => Place::Literal(v),
            Err(_) => Place::Int(u64::from_str_radix(hex, 16).ok()? as i64),
        });
    }
    if let Some(hex) = text.strip_prefix("-0x") {
        return Some(Place::Int(-i64::from_str_radix(hex, 16).ok()?));
    }
    if text.starts_with(|c: char| c.is_ascii_digit() || c == '-') {
        return match text.parse::<i64>() {
            Ok(v) => Some(Place::Int(v)),
            Err(_) => text.parse().ok().map(Place::Float),
        };
    }
    let (letter, rest) = text.split_at_checked(1)?;
    let (first, n) = range(rest)?;
    match letter {
        "v" if first < 256 => Some(Place::V(first, n)),
        "a" if first < 256 => Some(Place::V(first + ACC, n)),
        "s" if first < VCC => Some(Place::S(first, n)),
        _ => None,
    }
}

impl Operand {
    /// Reads one operand; None for text of another shape.
    pub fn parse(text: &str) -> Option<Operand> {
        let mut o = Operand {
            place: Place::Null,
            neg: false,
            abs: false,
            sext: false,
            high: false,
        };
        let mut text = text.trim();
        if let Some(inner) = text.strip_prefix("sext(").and_then(|t| t.strip_suffix(')')) {
            o.sext = true;
            text = inner;
        }
        // A minus before a register or |..| is negation; before a digit it belongs to the number.
        if let Some(rest) = text.strip_prefix('-')
            && !rest.starts_with(|c: char| c.is_ascii_digit())
        {
            o.neg = true;
            text = rest;
        }
        if let Some(inner) = text.strip_prefix("neg(").and_then(|t| t.strip_suffix(')')) {
            o.neg = true;
            text = inner;
        }
        if let Some(inner) = text.strip_prefix('|').and_then(|t| t.strip_suffix('|')) {
            o.abs = true;
            text = inner;
        }
        if let Some(rest) = text.strip_suffix(".l") {
            text = rest;
        } else if let Some(rest) = text.strip_suffix(".h") {
            o.high = true;
            text = rest;
        }
        o.place = place(text)?;
        Some(o)
    }

    /// The first VGPR of a vector operand.
    pub fn vgpr(&self) -> Result<u16, String> {
        match self.place {
            Place::V(first, _) => Ok(first),
            _ => Err(format!(
                "expected a vector register, found {:?}",
                self.place
            )),
        }
    }

    /// The first scalar of a destination (`null` goes to the sink).
    pub fn sgpr(&self) -> Result<u16, String> {
        match self.place {
            Place::S(first, _) => Ok(first),
            Place::Null => Ok(SINK),
            _ => Err(format!(
                "expected a scalar register, found {:?}",
                self.place
            )),
        }
    }

    /// A plain integer (branch offsets, immediates).
    pub fn int(&self) -> Result<i64, String> {
        match self.place {
            Place::Int(v) => Ok(v),
            Place::Literal(v) => Ok(i64::from(v)),
            Place::Null | Place::Off => Ok(0),
            _ => Err(format!("expected a number, found {:?}", self.place)),
        }
    }

    /// The source with constants as bits of `ty`.
    pub fn src(&self, ty: Ty) -> Result<Src, String> {
        Ok(match &self.place {
            Place::V(first, _) => Src::V(*first),
            Place::S(first, _) => Src::S(*first),
            Place::Null | Place::Off => Src::K(0),
            Place::Scc => Src::Scc,
            Place::Int(v) => Src::K(if ty == Ty::PF32 {
                pair(*v as u32)
            } else {
                *v as u64
            }),
            Place::Literal(v) => Src::K(match ty {
                Ty::F64 => u64::from(*v) << 32,
                Ty::I64 => i64::from(*v as i32) as u64,
                Ty::PF32 => pair(*v),
                _ => u64::from(*v),
            }),
            Place::Float(v) => Src::K(match ty {
                Ty::F64 | Ty::B64 | Ty::I64 => v.to_bits(),
                Ty::F16 | Ty::PF16 | Ty::B16 => u64::from(f16_from_f64(*v)),
                Ty::Bf16 | Ty::PBf16 => u64::from((*v as f32).to_bits() >> 16),
                Ty::PF32 => pair((*v as f32).to_bits()),
                Ty::B32 | Ty::F32 | Ty::P16 => u64::from((*v as f32).to_bits()),
            }),
            Place::Other(name) => return Err(format!("operand {name} is not implemented")),
        })
    }
}

/// Packed 32-bit operations read a constant for both halves... of which op_sel picks one.
fn pair(v: u32) -> u64 {
    u64::from(v) | u64::from(v) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operands_are_read() {
        let src = |t: &str, ty| Operand::parse(t).unwrap().src(ty).unwrap();
        assert_eq!(src("v[4:7]", Ty::B32), Src::V(4));
        assert_eq!(src("s105", Ty::B32), Src::S(105));
        assert_eq!(src("a3", Ty::B32), Src::V(259));
        assert_eq!(src("1.0", Ty::F16), Src::K(0x3c00));
        assert_eq!(src("-4.0", Ty::F32), Src::K(0xc080_0000));
        assert_eq!(src("0x40080000", Ty::F64), Src::K(0x4008_0000_0000_0000));
        assert_eq!(src("-1", Ty::B64), Src::K(u64::MAX));
        let o = Operand::parse("-|v7|").unwrap();
        assert!(o.neg && o.abs && o.place == Place::V(7, 1));
        assert!(Operand::parse("v3.h").unwrap().high);
        assert!(Operand::parse("ttmp9").unwrap().place == Place::S(TTMP + 9, 1));
        assert!(Operand::parse("hello").is_none());
    }
}
