//! LDS: loads, stores, two-address forms, atomics, and the lane permutes that use its crossbar.

use super::atomics::{Kind, apply};
use super::decode::Target;
use super::disassembly::Text;
use super::operand::{Src, Ty};
use super::transfer::{load_lanes, store_lanes};
use super::vmem::Shape;
use super::wave::{Fail, Flow, Run, Step, Wave, lanes_of};
use super::workgroup::{Access, Group};

/// Decodes a `ds_` instruction, or None.
pub fn decode(t: &Text, target: &Target) -> Result<Option<Run>, String> {
    let name = t.name.as_str();
    if t.has("gds") {
        return Err("GDS is not implemented".into());
    }
    if let Some(run) = lanes(t)? {
        return Ok(Some(run));
    }
    if let Some(run) = two_addresses(t)? {
        return Ok(Some(run));
    }
    let offset = t.number("offset")? as u32;
    let load = name
        .strip_prefix("ds_load_")
        .or(name.strip_prefix("ds_read_"));
    if let Some(shape) = load.and_then(Shape::parse) {
        let (dst, addr) = (t.operand(0)?.vgpr()?, t.operand(1)?.vgpr()?);
        return Ok(Some(Box::new(move |w, g| {
            load_one(w, g, dst, addr, offset, shape)
        })));
    }
    let store = name
        .strip_prefix("ds_store_")
        .or(name.strip_prefix("ds_write_"));
    if let Some(shape) = store.and_then(Shape::parse) {
        let (addr, src) = (t.operand(0)?.vgpr()?, t.operand(1)?.vgpr()?);
        return Ok(Some(Box::new(move |w, g| {
            store_one(w, g, addr, src, offset, shape)
        })));
    }
    if matches!(name, "ds_nop" | "ds_gws_init" | "ds_gws_barrier") {
        return if name == "ds_nop" {
            Ok(Some(Box::new(|_, _| Ok(Flow::Next))))
        } else {
            Ok(None)
        };
    }
    atomic(t, target)
}

fn load_one(w: &mut Wave, g: &mut Group, dst: u16, addr: u16, offset: u32, shape: Shape) -> Step {
    let bases = lane_values(w, addr);
    count_conflicts(w, g, addr, &bases, shape.bytes);
    load_wave(w, g, dst, &bases, offset, shape)?;
    Ok(Flow::Next)
}

fn store_one(w: &mut Wave, g: &mut Group, addr: u16, src: u16, offset: u32, shape: Shape) -> Step {
    let bases = lane_values(w, addr);
    count_conflicts(w, g, addr, &bases, shape.bytes);
    store_wave(w, g, src, &bases, offset, shape)?;
    Ok(Flow::Next)
}

fn load_wave(
    w: &mut Wave,
    g: &mut Group,
    dst: u16,
    bases: &[u32; 64],
    offset: u32,
    shape: Shape,
) -> Result<(), Box<Fail>> {
    let mask = w.exec();
    let at = bases.map(|base| base.wrapping_add(offset));
    g.lds_wave(w.index, &at, mask, shape.bytes, Access::Read)?;
    g.lds_addresses(w, &at);
    // SAFETY: the range of every lane of the mask was checked.
    unsafe { load_lanes(w, dst, mask, shape) };
    Ok(())
}

fn store_wave(
    w: &mut Wave,
    g: &mut Group,
    src: u16,
    bases: &[u32; 64],
    offset: u32,
    shape: Shape,
) -> Result<(), Box<Fail>> {
    let mask = w.exec();
    let at = bases.map(|base| base.wrapping_add(offset));
    g.lds_wave(w.index, &at, mask, shape.bytes, Access::Write)?;
    g.lds_addresses(w, &at);
    // SAFETY: the range of every lane of the mask was checked.
    unsafe { store_lanes(w, src, mask, shape) };
    Ok(())
}

/// A register's lanes, kept because the destination may be the same register.
fn lane_values(w: &Wave, r: u16) -> [u32; 64] {
    let mut out = [0; 64];
    for h in 0..w.halves {
        out[32 * h..32 * h + 32].copy_from_slice(&w.rows[w.at(r, h)]);
    }
    out
}

/// The bank conflicts of one access, known while its addresses stay the same but for the offset.
#[derive(Clone, Copy)]
pub struct Banks {
    bases: [u32; 64],
    mask: u64,
    dwords: u32,
    extra: u64,
}

impl Default for Banks {
    fn default() -> Self {
        Banks {
            bases: [0; 64],
            mask: 0,
            dwords: 0,
            extra: 0,
        }
    }
}

/// Counts the extra cycles of an access; code that reads by one address register with several offsets asks again
/// and again for the same.
fn count_conflicts(w: &Wave, g: &mut Group, addr: u16, bases: &[u32; 64], bytes: u32) {
    let (mask, dwords) = (w.exec(), bytes.div_ceil(4));
    let places = g.banks.len();
    let known = &mut g.banks[usize::from(addr) % places];
    if known.mask != mask || known.dwords != dwords || known.bases != *bases {
        *known = Banks {
            bases: *bases,
            mask,
            dwords,
            extra: conflicts(bases, mask, dwords, w.lanes),
        };
    }
    g.traffic.lds_conflicts += known.extra;
}

/// Extra cycles: per group of lanes served together, the most different dwords in one bank, less one.
fn conflicts(bases: &[u32; 64], mask: u64, dwords: u32, lanes: usize) -> u64 {
    // 32 lanes of 4 bytes, 16 of 8 or 8 of 16 make one pass over the banks.
    let pass = (32 / dwords.next_power_of_two()).max(1) as usize;
    let mut all = 0;
    for first in (0..lanes).step_by(pass) {
        let mut seen = [u32::MAX; 32];
        let mut extra = [0u8; 32];
        let mut worst = 0;
        for (lane, base) in bases.iter().enumerate().skip(first).take(pass) {
            if mask >> lane & 1 == 0 {
                continue;
            }
            let base = base / 4;
            for d in base..base.wrapping_add(dwords) {
                let bank = (d & 31) as usize;
                if seen[bank] == u32::MAX {
                    seen[bank] = d;
                } else if seen[bank] != d {
                    extra[bank] += 1;
                    worst = worst.max(extra[bank]);
                }
            }
        }
        all += u64::from(worst);
    }
    all
}

/// `ds_load_2addr_*`, `ds_store_2addr_*` and their `stride64` and gfx9 spellings.
fn two_addresses(t: &Text) -> Result<Option<Run>, String> {
    let name = t.name.as_str();
    let (loads, rest) = if let Some(r) = name
        .strip_prefix("ds_load_2addr_")
        .or(name.strip_prefix("ds_read2"))
    {
        (true, r)
    } else if let Some(r) = name
        .strip_prefix("ds_store_2addr_")
        .or(name.strip_prefix("ds_write2"))
    {
        (false, r)
    } else {
        return Ok(None);
    };
    let scale = if rest.contains("st64") || rest.contains("stride64") {
        64
    } else {
        1
    };
    let bytes = if rest.ends_with("b64") { 8 } else { 4 };
    let shape = Shape::parse(if bytes == 8 { "b64" } else { "b32" }).ok_or("shape")?;
    let offsets = [t.number("offset0")?, t.number("offset1")?].map(|o| o as u32 * bytes * scale);
    let dwords = (bytes / 4) as u16;
    if loads {
        let (dst, addr) = (t.operand(0)?.vgpr()?, t.operand(1)?.vgpr()?);
        return Ok(Some(Box::new(move |w, g| {
            let bases = lane_values(w, addr);
            count_conflicts(w, g, addr, &bases, bytes);
            for (i, offset) in offsets.iter().enumerate() {
                load_wave(w, g, dst + i as u16 * dwords, &bases, *offset, shape)?;
            }
            Ok(Flow::Next)
        })));
    }
    let addr = t.operand(0)?.vgpr()?;
    let data = [t.operand(1)?.vgpr()?, t.operand(2)?.vgpr()?];
    Ok(Some(Box::new(move |w, g| {
        let bases = lane_values(w, addr);
        count_conflicts(w, g, addr, &bases, bytes);
        for (offset, src) in offsets.iter().zip(data) {
            store_wave(w, g, src, &bases, *offset, shape)?;
        }
        Ok(Flow::Next)
    })))
}

/// Permutes through the LDS crossbar; no memory is touched.
fn lanes(t: &Text) -> Result<Option<Run>, String> {
    let name = t.name.as_str();
    match name {
        "ds_bpermute_b32" | "ds_permute_b32" => {
            let (dst, addr, data) = (
                t.operand(0)?.vgpr()?,
                t.operand(1)?.vgpr()?,
                t.operand(2)?.src(Ty::B32)?,
            );
            let offset = t.number("offset")? as u32;
            let back = name != "ds_permute_b32";
            Ok(Some(Box::new(move |w, _| {
                let exec = w.exec();
                let mut out = [0u32; 64];
                for lane in lanes_of(exec) {
                    let other = (w.lane(Src::V(addr), lane).wrapping_add(offset) / 4) as usize
                        & (w.lanes - 1);
                    if back {
                        // Inactive source lanes read as zero.
                        if exec >> other & 1 != 0 {
                            out[lane] = w.lane(data, other);
                        }
                    } else {
                        // Ascending lanes: the highest writer of a lane wins.
                        out[other] = w.lane(data, lane);
                    }
                }
                for lane in lanes_of(exec) {
                    w.set_lane(dst, lane, out[lane]);
                }
                Ok(Flow::Next)
            })))
        }
        "ds_swizzle_b32" => {
            let (dst, src) = (t.operand(0)?.vgpr()?, t.operand(1)?.src(Ty::B32)?);
            let map = swizzle(t)?;
            Ok(Some(Box::new(move |w, _| {
                let exec = w.exec();
                let mut out = [0u32; 64];
                for lane in lanes_of(exec) {
                    let from = lane & 32 | map[lane & 31] as usize;
                    out[lane] = if exec >> from & 1 != 0 {
                        w.lane(src, from)
                    } else {
                        0
                    };
                }
                for lane in lanes_of(exec) {
                    w.set_lane(dst, lane, out[lane]);
                }
                Ok(Flow::Next)
            })))
        }
        _ => Ok(None),
    }
}

/// The source lane of each of 32 lanes, from `offset:swizzle(..)` or a number.
fn swizzle(t: &Text) -> Result<[u8; 32], String> {
    let bits: u32 = match t.odd.iter().find(|o| o.contains("swizzle(")) {
        Some(text) => return named_swizzle(text),
        None => match t.value("offset") {
            Some(v) if v.starts_with("swizzle(") => return named_swizzle(v),
            _ => t.number("offset")? as u32,
        },
    };
    Ok(std::array::from_fn(|i| {
        let i = i as u32;
        if bits & 0x8000 != 0 {
            // Quad permute.
            (i & !3 | bits >> (2 * (i & 3)) & 3) as u8
        } else {
            (((i & bits & 31) | (bits >> 5 & 31)) ^ (bits >> 10 & 31)) as u8
        }
    }))
}

fn named_swizzle(text: &str) -> Result<[u8; 32], String> {
    let bad = || format!("unknown swizzle {text}");
    let inner = text
        .split_once("swizzle(")
        .and_then(|(_, r)| r.split_once(')'))
        .ok_or_else(bad)?
        .0;
    let parts: Vec<&str> = inner.split(',').map(str::trim).collect();
    let number = |i: usize| {
        parts
            .get(i)
            .and_then(|p| p.parse::<u8>().ok())
            .ok_or_else(bad)
    };
    match parts.first().copied() {
        Some("QUAD_PERM") => {
            let sel = [number(1)?, number(2)?, number(3)?, number(4)?];
            Ok(std::array::from_fn(|i| (i & !3) as u8 | sel[i & 3] & 3))
        }
        Some("SWAP") => {
            let n = number(1)?;
            Ok(std::array::from_fn(|i| i as u8 ^ n & 31))
        }
        Some("REVERSE") => {
            let n = number(1)?.wrapping_sub(1);
            Ok(std::array::from_fn(|i| i as u8 ^ n & 31))
        }
        Some("BROADCAST") => {
            let (n, k) = (number(1)?, number(2)?);
            Ok(std::array::from_fn(|i| {
                ((i as u8 & !(n.wrapping_sub(1))) + k) & 31
            }))
        }
        Some("BITMASK_PERM") => {
            // Five characters from the high bit: 0, 1, p (keep), i (invert).
            let mask = parts.get(1).ok_or_else(bad)?.trim_matches('"').as_bytes();
            if mask.len() != 5 {
                return Err(bad());
            }
            let mut map = [0u8; 32];
            for (lane, to) in map.iter_mut().enumerate() {
                for (k, c) in mask.iter().enumerate() {
                    let bit = lane >> (4 - k) & 1;
                    let v = match c {
                        b'0' => 0,
                        b'1' => 1,
                        b'p' => bit,
                        b'i' => 1 - bit,
                        _ => return Err(bad()),
                    };
                    *to |= (v as u8) << (4 - k);
                }
            }
            Ok(map)
        }
        _ => Err(bad()),
    }
}

/// `ds_add_u32` and the like, with and without a returned value.
fn atomic(t: &Text, _target: &Target) -> Result<Option<Run>, String> {
    let stem = t.name.strip_prefix("ds_").unwrap_or("");
    let returns = stem.contains("_rtn");
    let plain = stem.replacen("_rtn", "", 1);
    let Some(kind) = Kind::parse(&plain) else {
        return Ok(None);
    };
    let offset = t.number("offset")? as u32;
    let from = usize::from(returns);
    let dst = if returns {
        Some(t.operand(0)?.vgpr()?)
    } else {
        None
    };
    let (addr, data) = (t.operand(from)?.vgpr()?, t.operand(from + 1)?.vgpr()?);
    let second = if kind.compares() {
        Some(t.operand(from + 2)?.vgpr()?)
    } else {
        None
    };
    let bytes = kind.bytes();
    // gfx9 and gfx10 name the compare value first, gfx11+ (`cmpstore`) the new value.
    let store_first = plain.starts_with("cmpstore");
    Ok(Some(Box::new(move |w, g| {
        for lane in lanes_of(w.exec()) {
            let at = w.lane(Src::V(addr), lane).wrapping_add(offset);
            let p = g.lds_at(w.index, at, bytes, Access::Atomic, lane)?;
            let read = |r: u16| {
                if bytes == 8 {
                    w.lane64(Src::V(r), lane)
                } else {
                    u64::from(w.lane(Src::V(r), lane))
                }
            };
            let (mut value, mut compare) = (read(data), 0);
            if let Some(second) = second {
                (value, compare) = if store_first {
                    (value, read(second))
                } else {
                    (read(second), value)
                };
            }
            // SAFETY: the place was checked; LDS belongs to this thread alone.
            let old = unsafe { apply(kind, p, value, compare) };
            if let Some(dst) = dst {
                w.set_lane(dst, lane, old as u32);
                if bytes == 8 {
                    w.set_lane(dst + 1, lane, (old >> 32) as u32);
                }
            }
        }
        Ok(Flow::Next)
    })))
}
