//! Scalar ALU: integers, bits, masks; control flow is in `branch`, floats in `salu_float`.

use super::branch;
use super::decode::{Map, Target};
use super::disassembly::Text;
use super::operand::{EXEC, Src, Ty};
use super::salu_functions::{Logic, compare, logic, narrow, one, save, two, wide};
use super::wave::{Flow, Run};

pub use super::salu_float::decode_scalar_float;

/// Decodes a scalar instruction, or None when the name is unknown.
pub fn decode(
    t: &Text,
    target: &Target,
    pc: u64,
    size: u64,
    map: &Map,
) -> Result<Option<Run>, String> {
    let name = t.name.as_str();
    if let Some(run) = branch::decode(t, target, pc, size, map)? {
        return Ok(Some(run));
    }
    if let Some(run) = masks(t)? {
        return Ok(Some(run));
    }
    if let Some(rest) = name.strip_prefix("s_cmp_")
        && let Some(f) = compare(rest)
    {
        let ty = if rest.ends_with("64") {
            Ty::B64
        } else {
            Ty::B32
        };
        let (a, b) = (t.operand(0)?.src(ty)?, t.operand(1)?.src(ty)?);
        return Ok(Some(Box::new(move |w, _| {
            w.scc = f(w.s64(a), w.s64(b));
            Ok(Flow::Next)
        })));
    }
    if let Some(rest) = name.strip_prefix("s_cmpk_")
        && let Some(f) = compare(rest)
    {
        let (a, k) = (t.operand(0)?.src(Ty::B32)?, t.operand(1)?.int()?);
        let k = if rest.ends_with("u32") {
            u64::from(k as u16)
        } else {
            i64::from(k as i16) as u64
        };
        return Ok(Some(Box::new(move |w, _| {
            w.scc = f(u64::from(w.s32(a)), k);
            Ok(Flow::Next)
        })));
    }
    if let Some(f) = one(name) {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
        return Ok(Some(Box::new(move |w, _| {
            let (v, scc) = f(w.s32(a));
            w.set_s32(dst, v);
            w.scc = scc.unwrap_or(w.scc);
            Ok(Flow::Next)
        })));
    }
    if let Some(f) = two(name) {
        let dst = t.operand(0)?.sgpr()?;
        let (a, b) = (t.operand(1)?.src(Ty::B32)?, t.operand(2)?.src(Ty::B32)?);
        return Ok(Some(Box::new(move |w, _| {
            let (v, scc) = f(w.s32(a), w.s32(b), w.scc);
            w.set_s32(dst, v);
            w.scc = scc.unwrap_or(w.scc);
            Ok(Flow::Next)
        })));
    }
    if let Some((ty, n, f)) = wide(name) {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(ty[0])?);
        let b = if n == 2 {
            t.operand(2)?.src(ty[1])?
        } else {
            Src::K(0)
        };
        let narrow_b = ty[1] == Ty::B32;
        let narrow_a = ty[0] == Ty::B32;
        return Ok(Some(Box::new(move |w, _| {
            let a = if narrow_a {
                u64::from(w.s32(a))
            } else {
                w.s64(a)
            };
            let b = if narrow_b {
                u64::from(w.s32(b))
            } else {
                w.s64(b)
            };
            let (v, scc) = f(a, b, w.scc);
            w.set_pair(dst, v);
            w.scc = scc.unwrap_or(w.scc);
            Ok(Flow::Next)
        })));
    }
    if let Some(f) = narrow(name) {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B64)?);
        return Ok(Some(Box::new(move |w, _| {
            let (v, scc) = f(w.s64(a));
            w.set_s32(dst, v);
            w.scc = scc.unwrap_or(w.scc);
            Ok(Flow::Next)
        })));
    }
    if let Some(run) = odd(t)? {
        return Ok(Some(run));
    }
    decode_scalar_float(t)
}

/// Bitwise operations and EXEC saves, both widths.
fn masks(t: &Text) -> Result<Option<Run>, String> {
    let (stem, broad) = match (t.name.strip_suffix("_b32"), t.name.strip_suffix("_b64")) {
        (Some(s), _) => (s, false),
        (_, Some(s)) => (s, true),
        _ => return Ok(None),
    };
    let ty = if broad { Ty::B64 } else { Ty::B32 };
    if let Some(f) = logic(stem) {
        let dst = t.operand(0)?.sgpr()?;
        let (a, b) = (t.operand(1)?.src(ty)?, t.operand(2)?.src(ty)?);
        return Ok(Some(if broad {
            Box::new(move |w, _| {
                let v = f(w.s64(a), w.s64(b));
                w.set_pair(dst, v);
                w.scc = v != 0;
                Ok(Flow::Next)
            })
        } else {
            Box::new(move |w, _| {
                let v = f(u64::from(w.s32(a)), u64::from(w.s32(b))) as u32;
                w.set_s32(dst, v);
                w.scc = v != 0;
                Ok(Flow::Next)
            })
        }));
    }
    if let Some(f) = save(stem) {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(ty)?);
        return Ok(Some(Box::new(move |w, _| {
            if broad {
                let (old, a) = (w.pair(EXEC), w.s64(a));
                w.set_pair(dst, old);
                w.set_pair(EXEC, f(a, old));
                w.scc = w.pair(EXEC) != 0;
            } else {
                let (old, a) = (w.s[EXEC as usize], w.s32(a));
                w.set_s32(dst, old);
                w.set_s32(EXEC, f(u64::from(a), u64::from(old)) as u32);
                w.scc = w.s[EXEC as usize] != 0;
            }
            Ok(Flow::Next)
        })));
    }
    // The *_wrexec forms give the new EXEC to the destination as well.
    let wrexec: Option<Logic> = match stem {
        "s_andn1_wrexec" | "s_and_not0_wrexec" => Some(|a, e| !a & e),
        "s_andn2_wrexec" | "s_and_not1_wrexec" => Some(|a, e| a & !e),
        _ => None,
    };
    if let Some(f) = wrexec {
        let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(ty)?);
        return Ok(Some(Box::new(move |w, _| {
            if broad {
                let v = f(w.s64(a), w.pair(EXEC));
                w.set_pair(EXEC, v);
                w.set_pair(dst, v);
                w.scc = v != 0;
            } else {
                let v = f(u64::from(w.s32(a)), u64::from(w.s[EXEC as usize])) as u32;
                w.set_s32(EXEC, v);
                w.set_s32(dst, v);
                w.scc = v != 0;
            }
            Ok(Flow::Next)
        })));
    }
    Ok(None)
}

/// Immediates in the instruction, conditional moves, single bits.
fn odd(t: &Text) -> Result<Option<Run>, String> {
    let run: Run = match t.name.as_str() {
        "s_movk_i32" => {
            let (dst, k) = (
                t.operand(0)?.sgpr()?,
                i32::from(t.operand(1)?.int()? as i16) as u32,
            );
            Box::new(move |w, _| {
                w.set_s32(dst, k);
                Ok(Flow::Next)
            })
        }
        "s_cmovk_i32" => {
            let (dst, k) = (
                t.operand(0)?.sgpr()?,
                i32::from(t.operand(1)?.int()? as i16) as u32,
            );
            Box::new(move |w, _| {
                if w.scc {
                    w.set_s32(dst, k);
                }
                Ok(Flow::Next)
            })
        }
        "s_addk_i32" | "s_addk_co_i32" => {
            let (dst, k) = (
                t.operand(0)?.sgpr()?,
                i32::from(t.operand(1)?.int()? as i16),
            );
            Box::new(move |w, _| {
                let (v, overflow) = (w.s[dst as usize] as i32).overflowing_add(k);
                w.set_s32(dst, v as u32);
                w.scc = overflow;
                Ok(Flow::Next)
            })
        }
        "s_mulk_i32" => {
            let (dst, k) = (
                t.operand(0)?.sgpr()?,
                i32::from(t.operand(1)?.int()? as i16),
            );
            Box::new(move |w, _| {
                w.s[dst as usize] = (w.s[dst as usize] as i32).wrapping_mul(k) as u32;
                Ok(Flow::Next)
            })
        }
        "s_cmov_b32" => {
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                if w.scc {
                    w.set_s32(dst, w.s32(a));
                }
                Ok(Flow::Next)
            })
        }
        "s_cmov_b64" => {
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B64)?);
            Box::new(move |w, _| {
                if w.scc {
                    w.set_pair(dst, w.s64(a));
                }
                Ok(Flow::Next)
            })
        }
        "s_bitcmp0_b32" | "s_bitcmp1_b32" | "s_bitcmp0_b64" | "s_bitcmp1_b64" => {
            let broad = t.name.ends_with("64");
            let want = t.name.contains('1');
            let ty = if broad { Ty::B64 } else { Ty::B32 };
            let (a, b) = (t.operand(0)?.src(ty)?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let v = if broad {
                    w.s64(a) >> (w.s32(b) & 63)
                } else {
                    u64::from(w.s32(a) >> (w.s32(b) & 31))
                };
                w.scc = (v & 1 != 0) == want;
                Ok(Flow::Next)
            })
        }
        "s_bitset0_b32" | "s_bitset1_b32" => {
            let one = t.name.contains("set1");
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let bit = 1 << (w.s32(a) & 31);
                let r = &mut w.s[dst as usize];
                *r = if one { *r | bit } else { *r & !bit };
                Ok(Flow::Next)
            })
        }
        "s_bitset0_b64" | "s_bitset1_b64" => {
            let one = t.name.contains("set1");
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let bit = 1u64 << (w.s32(a) & 63);
                let old = w.pair(dst);
                w.set_pair(dst, if one { old | bit } else { old & !bit });
                Ok(Flow::Next)
            })
        }
        "s_bitreplicate_b64_b32" => {
            let (dst, a) = (t.operand(0)?.sgpr()?, t.operand(1)?.src(Ty::B32)?);
            Box::new(move |w, _| {
                let a = w.s32(a);
                let v = (0..32).fold(0u64, |v, i| v | ((u64::from(a >> i & 1) * 3) << (2 * i)));
                w.set_pair(dst, v);
                Ok(Flow::Next)
            })
        }
        _ => return Ok(None),
    };
    Ok(Some(run))
}
