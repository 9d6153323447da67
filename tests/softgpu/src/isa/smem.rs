//! Scalar memory loads.

use super::decode::Target;
use super::disassembly::Text;
use super::operand::{Place, SCALARS, Src, Ty};
use super::wave::{Fail, Flow, Run};
use super::workgroup::Access;

/// Bytes and sign of a scalar load by its name's end.
fn shape(suffix: &str) -> Option<(u32, bool)> {
    Some(match suffix {
        "dword" | "b32" => (4, false),
        "dwordx2" | "b64" => (8, false),
        "b96" => (12, false),
        "dwordx4" | "b128" => (16, false),
        "dwordx8" | "b256" => (32, false),
        "dwordx16" | "b512" => (64, false),
        "u8" => (1, false),
        "i8" => (1, true),
        "u16" => (2, false),
        "i16" => (2, true),
        _ => return None,
    })
}

/// Decodes scalar loads and cache maintenance, or None.
pub fn decode(t: &Text, _target: &Target) -> Result<Option<Run>, String> {
    let name = t.name.as_str();
    if name.starts_with("s_dcache") || name.starts_with("s_gl1_inv") || name.starts_with("s_gl1") {
        return Ok(Some(Box::new(|_, _| Ok(Flow::Next))));
    }
    if matches!(name, "s_memtime" | "s_memrealtime") {
        let dst = t.operand(0)?.sgpr()?;
        return Ok(Some(Box::new(move |w, _| {
            w.set_pair(dst, w.executed);
            Ok(Flow::Next)
        })));
    }
    let (buffer, suffix) = match (
        name.strip_prefix("s_load_"),
        name.strip_prefix("s_buffer_load_"),
    ) {
        (Some(s), _) => (false, s),
        (_, Some(s)) => (true, s),
        _ => return Ok(None),
    };
    let Some((bytes, signed)) = shape(suffix) else {
        return Ok(None);
    };
    let (dst, base) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B64)?);
    let place = &t.operand(2)?.place;
    // The third operand is an immediate or a register; a register may come with `offset:`.
    let (register, mut immediate) = match place {
        Place::S(r, _) => (Some(Src::S(*r)), 0),
        _ => (None, t.operand(2)?.int()?),
    };
    immediate += t.number("offset")?;
    let dwords = (bytes as usize).div_ceil(4);
    if dst as usize + dwords > SCALARS {
        return Err("scalar load past the registers".into());
    }
    Ok(Some(Box::new(move |w, g| {
        let offset = register.map_or(0, |r| u64::from(w.s32(r)));
        let base = if buffer {
            w.s64(base) & 0xffff_ffff_ffff
        } else {
            w.s64(base)
        };
        // The low two bits of the sum do not count for dword loads.
        let sum = base.wrapping_add(offset).wrapping_add_signed(immediate);
        let addr = if bytes >= 4 { sum & !3 } else { sum };
        if addr != sum {
            return Err(Fail::lane(0, format!("misaligned scalar load at {sum:#x}")));
        }
        g.check(w, addr, u64::from(bytes), Access::Scalar, 0)?;
        w.addrs[0] = addr;
        // SAFETY: the range was checked to lie in one registered allocation, image or kernarg segment.
        unsafe {
            match (bytes, signed) {
                (1, false) => w.s[dst as usize] = u32::from((addr as *const u8).read()),
                (1, true) => w.s[dst as usize] = (addr as *const i8).read() as i32 as u32,
                (2, false) => w.s[dst as usize] = u32::from((addr as *const u16).read_unaligned()),
                (2, true) => {
                    w.s[dst as usize] = i32::from((addr as *const i16).read_unaligned()) as u32
                }
                _ => {
                    for i in 0..dwords {
                        w.s[dst as usize + i] = (addr as *const u32).add(i).read_unaligned();
                    }
                }
            }
        }
        Ok(Flow::Next)
    })))
}
