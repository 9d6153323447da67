//! Atomics on global memory (also flat and buffer), and the operations that LDS shares.

use super::decode::Target;
use super::disassembly::Text;
use super::half::{bf16_from_f32, bf16_to_f32, f16_from_f32, f16_to_f32};
use super::operand::Src;
use super::vmem::{Address, Places, places};
use super::wave::{Flow, Run, lanes_of};
use super::workgroup::Access;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

/// The read-modify-write operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    Swap,
    CompareSwap,
    Add,
    Sub,
    SubReverse,
    ClampSub,
    MinI,
    MaxI,
    MinU,
    MaxU,
    And,
    Or,
    Xor,
    Inc,
    Dec,
    AddF,
    MinF,
    MaxF,
    AddPkF16,
    AddPkBf16,
}

/// An operation and its width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    op: Op,
    wide: bool,
}

impl Kind {
    /// From the name without `global_atomic_` or `ds_`, in the spellings of all generations.
    pub fn parse(name: &str) -> Option<Kind> {
        let k = |op, wide| Some(Kind { op, wide });
        if let Some(stem) = name.strip_suffix("_x2") {
            let narrow = Kind::parse(stem)?;
            return k(narrow.op, true);
        }
        let (stem, ty) = match name.rsplit_once('_') {
            Some((
                s,
                t
                @ ("u32" | "i32" | "b32" | "f32" | "u64" | "i64" | "b64" | "f64" | "f16" | "bf16"),
            )) => (s, t),
            _ => (name, ""),
        };
        let wide = ty.ends_with("64");
        match (stem, ty) {
            ("pk_add", "f16") => return k(Op::AddPkF16, false),
            ("pk_add", "bf16") => return k(Op::AddPkBf16, false),
            ("add", "f32" | "f64") => return k(Op::AddF, wide),
            ("min" | "min_num" | "fmin", "f32" | "f64") | ("fmin", "") => return k(Op::MinF, wide),
            ("max" | "max_num" | "fmax", "f32" | "f64") | ("fmax", "") => return k(Op::MaxF, wide),
            _ if ty.starts_with('f') || ty == "bf16" => return None,
            _ => {}
        }
        let op = match stem {
            "swap" | "wrxchg" | "storexchg" => Op::Swap,
            "cmpswap" | "cmpst" | "cmpstore" => Op::CompareSwap,
            "add" => Op::Add,
            "sub" => Op::Sub,
            "rsub" => Op::SubReverse,
            "csub" | "sub_clamp" => Op::ClampSub,
            "smin" => Op::MinI,
            "smax" => Op::MaxI,
            "umin" => Op::MinU,
            "umax" => Op::MaxU,
            "min" if ty.starts_with('i') => Op::MinI,
            "max" if ty.starts_with('i') => Op::MaxI,
            "min" if ty.starts_with('u') => Op::MinU,
            "max" if ty.starts_with('u') => Op::MaxU,
            "and" => Op::And,
            "or" => Op::Or,
            "xor" => Op::Xor,
            "inc" => Op::Inc,
            "dec" => Op::Dec,
            _ => return None,
        };
        k(op, wide)
    }

    pub fn bytes(self) -> u32 {
        if self.wide { 8 } else { 4 }
    }

    pub fn compares(self) -> bool {
        self.op == Op::CompareSwap
    }

    /// The value to store for the old one.
    fn result(self, old: u64, value: u64, compare: u64) -> u64 {
        if self.wide {
            self.result64(old, value, compare)
        } else {
            u64::from(self.result32(old as u32, value as u32, compare as u32))
        }
    }

    fn result32(self, old: u32, value: u32, compare: u32) -> u32 {
        let f = f32::from_bits;
        let pair = |one: &dyn Fn(u32, u32) -> u32| {
            one(old & 0xffff, value & 0xffff) & 0xffff | one(old >> 16, value >> 16) << 16
        };
        match self.op {
            Op::Swap => value,
            Op::CompareSwap => {
                if old == compare {
                    value
                } else {
                    old
                }
            }
            Op::Add => old.wrapping_add(value),
            Op::Sub => old.wrapping_sub(value),
            Op::SubReverse => value.wrapping_sub(old),
            Op::ClampSub => old.saturating_sub(value),
            Op::MinI => (old as i32).min(value as i32) as u32,
            Op::MaxI => (old as i32).max(value as i32) as u32,
            Op::MinU => old.min(value),
            Op::MaxU => old.max(value),
            Op::And => old & value,
            Op::Or => old | value,
            Op::Xor => old ^ value,
            Op::Inc => {
                if old >= value {
                    0
                } else {
                    old + 1
                }
            }
            Op::Dec => {
                if old == 0 || old > value {
                    value
                } else {
                    old - 1
                }
            }
            Op::AddF => (f(old) + f(value)).to_bits(),
            Op::MinF => f(old).min(f(value)).to_bits(),
            Op::MaxF => f(old).max(f(value)).to_bits(),
            Op::AddPkF16 => pair(&|a, b| f16_from_f32(f16_to_f32(a) + f16_to_f32(b))),
            Op::AddPkBf16 => pair(&|a, b| bf16_from_f32(bf16_to_f32(a) + bf16_to_f32(b))),
        }
    }

    fn result64(self, old: u64, value: u64, compare: u64) -> u64 {
        let f = f64::from_bits;
        match self.op {
            Op::Swap => value,
            Op::CompareSwap => {
                if old == compare {
                    value
                } else {
                    old
                }
            }
            Op::Add => old.wrapping_add(value),
            Op::Sub => old.wrapping_sub(value),
            Op::SubReverse => value.wrapping_sub(old),
            Op::ClampSub => old.saturating_sub(value),
            Op::MinI => (old as i64).min(value as i64) as u64,
            Op::MaxI => (old as i64).max(value as i64) as u64,
            Op::MinU => old.min(value),
            Op::MaxU => old.max(value),
            Op::And => old & value,
            Op::Or => old | value,
            Op::Xor => old ^ value,
            Op::Inc => {
                if old >= value {
                    0
                } else {
                    old + 1
                }
            }
            Op::Dec => {
                if old == 0 || old > value {
                    value
                } else {
                    old - 1
                }
            }
            Op::AddF => (f(old) + f(value)).to_bits(),
            Op::MinF => f(old).min(f(value)).to_bits(),
            Op::MaxF => f(old).max(f(value)).to_bits(),
            Op::AddPkF16 | Op::AddPkBf16 => old,
        }
    }
}

/// Performs the operation at a host address; gives the old value.
///
/// # Safety
/// `p` must be valid for the width, and aligned to 4 bytes.
pub unsafe fn apply(kind: Kind, p: *mut u8, value: u64, compare: u64) -> u64 {
    if kind.wide && (p as usize).is_multiple_of(8) {
        // SAFETY: aligned, valid, and all concurrent users are atomic or racing already.
        let cell = unsafe { AtomicU64::from_ptr(p.cast()) };
        let update = cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| {
            Some(kind.result(old, value, compare))
        });
        return update.unwrap_or_else(|old| old);
    }
    if kind.wide {
        // LDS allows 4-byte alignment here and belongs to one thread.
        // SAFETY: valid for 8 bytes.
        unsafe {
            let old = p.cast::<u64>().read_unaligned();
            p.cast::<u64>()
                .write_unaligned(kind.result(old, value, compare));
            return old;
        }
    }
    // SAFETY: as above.
    let cell = unsafe { AtomicU32::from_ptr(p.cast()) };
    let update = cell.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |old| {
        Some(kind.result(u64::from(old), value, compare) as u32)
    });
    u64::from(update.unwrap_or_else(|old| old))
}

/// Whether an atomic gives the old value.
pub fn returns(t: &Text) -> bool {
    t.has("glc") || t.has("sc0") || t.value("th").is_some_and(|v| v.contains("RETURN"))
}

/// Decodes `global_atomic_*`, `flat_atomic_*` and `buffer_atomic_*`, or None.
pub fn decode(t: &Text, _target: &Target) -> Result<Option<Run>, String> {
    let Some((segment, rest)) = t.name.split_once("_atomic_") else {
        return Ok(None);
    };
    if !matches!(segment, "global" | "flat" | "buffer") {
        return Ok(None);
    }
    let Some(kind) = Kind::parse(rest) else {
        return Ok(None);
    };
    let returns = returns(t);
    let buffer = segment == "buffer";
    // Buffers name the data (which is also the result) first; the others [result,] address, data.
    let (dst, data, at);
    if buffer {
        data = t.operand(0)?.vgpr()?;
        dst = returns.then_some(data);
        at = t.clone();
    } else {
        let first = usize::from(returns);
        dst = if returns {
            Some(t.operand(0)?.vgpr()?)
        } else {
            None
        };
        data = t.operand(first + 1)?.vgpr()?;
        let mut rest = t.clone();
        rest.operands.remove(first + 1);
        if returns {
            rest.operands.remove(0);
        }
        at = rest;
    }
    let address = Address::parse(&at, usize::from(buffer), segment)?;
    let (bytes, flat) = (kind.bytes(), segment == "flat");
    let dwords = (bytes / 4) as u16;
    Ok(Some(Box::new(move |w, g| {
        let Places::Global(mask) = places(w, &address, bytes)? else {
            return Ok(Flow::Next);
        };
        let shared = g.shared;
        let _turn = shared.race.as_ref().map(|race| race.releases.atomic(g, w));
        let mut results = [0u64; 64];
        for lane in lanes_of(mask) {
            let read = |r: u16| {
                if bytes == 8 {
                    w.lane64(Src::V(r), lane)
                } else {
                    u64::from(w.lane(Src::V(r), lane))
                }
            };
            // Compare-and-swap carries the new value, then the compared one.
            let (value, compare) = (
                read(data),
                if kind.compares() {
                    read(data + dwords)
                } else {
                    0
                },
            );
            let addr = w.addrs[lane];
            if addr % u64::from(bytes) != 0 {
                return Err(super::wave::Fail::lane(
                    lane as u32,
                    format!("misaligned atomic at {addr:#x}"),
                ));
            }
            let p = if flat {
                g.flat(w, addr, u64::from(bytes), Access::Atomic, lane)?
            } else {
                g.check(w, addr, u64::from(bytes), Access::Atomic, lane)?;
                addr as *mut u8
            };
            // SAFETY: the place was checked.
            results[lane] = unsafe { apply(kind, p, value, compare) };
        }
        if let Some(dst) = dst {
            for lane in lanes_of(mask) {
                w.set_lane(dst, lane, results[lane] as u32);
                if bytes == 8 {
                    w.set_lane(dst + 1, lane, (results[lane] >> 32) as u32);
                }
            }
        }
        g.traffic.bytes_loaded += u64::from(mask.count_ones()) * u64::from(bytes);
        g.traffic.bytes_stored += u64::from(mask.count_ones()) * u64::from(bytes);
        Ok(Flow::Next)
    })))
}
