//! Vector memory: global, flat, scratch and buffer loads and stores of all widths.

use super::decode::Target;
use super::disassembly::Text;
use super::operand::{Operand, Place, Src, Ty};
use super::transfer::{load_lane, load_lanes, store_lane, store_lanes};
use super::wave::{Fail, Flow, Run, Step, Wave, lanes_of};
use super::workgroup::{Access, Group, PRIVATE_APERTURE, SHARED_APERTURE, scratch_at};

/// What one lane moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    pub bytes: u32,
    pub signed: bool,
    /// 16-bit destination or source half: none, low or high.
    pub half: Half,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Half {
    None,
    Low,
    High,
}

impl Shape {
    fn new(bytes: u32, signed: bool, half: Half) -> Shape {
        Shape {
            bytes,
            signed,
            half,
        }
    }

    pub fn dwords(&self) -> usize {
        (self.bytes as usize).div_ceil(4)
    }

    /// The shape of a load or store by the end of its name.
    pub fn parse(suffix: &str) -> Option<Shape> {
        use Half::{High, Low, None as Whole};
        Some(match suffix {
            "ubyte" | "u8" | "byte" | "b8" => Shape::new(1, false, Whole),
            "sbyte" | "i8" => Shape::new(1, true, Whole),
            "ushort" | "u16" | "short" | "b16" => Shape::new(2, false, Whole),
            "sshort" | "i16" => Shape::new(2, true, Whole),
            "dword" | "b32" => Shape::new(4, false, Whole),
            "dwordx2" | "b64" => Shape::new(8, false, Whole),
            "dwordx3" | "b96" => Shape::new(12, false, Whole),
            "dwordx4" | "b128" => Shape::new(16, false, Whole),
            "ubyte_d16" | "d16_u8" | "u8_d16" => Shape::new(1, false, Low),
            "sbyte_d16" | "d16_i8" | "i8_d16" => Shape::new(1, true, Low),
            "short_d16" | "d16_b16" | "u16_d16" | "d16_u16" => Shape::new(2, false, Low),
            "ubyte_d16_hi" | "d16_hi_u8" | "u8_d16_hi" => Shape::new(1, false, High),
            "sbyte_d16_hi" | "d16_hi_i8" | "i8_d16_hi" => Shape::new(1, true, High),
            "short_d16_hi" | "d16_hi_b16" | "u16_d16_hi" | "b16_d16_hi" => {
                Shape::new(2, false, High)
            }
            "byte_d16_hi" | "d16_hi_b8" | "b8_d16_hi" => Shape::new(1, false, High),
            _ => return None,
        })
    }

    /// A sub-dword value in its place; `old` is the register's content.
    #[inline(always)]
    pub fn place(&self, raw: u32, old: u32) -> u32 {
        let v = match (self.bytes, self.signed) {
            (1, true) => i32::from(raw as i8) as u32,
            (2, true) => i32::from(raw as i16) as u32,
            _ => raw,
        };
        match self.half {
            Half::None => v,
            Half::Low => old & 0xffff_0000 | v & 0xffff,
            Half::High => old & 0xffff | v << 16,
        }
    }
}

/// How lanes find their addresses.
#[derive(Clone, Copy, Debug)]
pub enum Address {
    /// 64-bit vector address plus offset.
    Vector(u16, i64),
    /// Scalar base plus 32-bit vector offset plus offset.
    Scalar(Src, Option<u16>, i64),
    /// Private memory: optional vector and scalar offsets plus offset.
    Scratch(Option<u16>, Src, i64),
    Buffer(Buffer),
}

#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    descriptor: u16,
    index: Option<u16>,
    voffset: Option<u16>,
    soffset: Src,
    offset: i64,
}

/// Word 3 of the private segment buffer that the launch hands to kernels.
pub const SCRATCH_DESCRIPTOR: u32 = 0x5c5c_0001;

fn vector(o: &Operand) -> Result<Option<u16>, String> {
    match o.place {
        Place::Off => Ok(None),
        _ => o.vgpr().map(Some),
    }
}

impl Address {
    /// Reads the address operands from number `at` on.
    pub fn parse(t: &Text, at: usize, segment: &str) -> Result<Address, String> {
        let offset = t.number("offset")?;
        Ok(match segment {
            "global" | "flat" => {
                let v = t.operand(at)?;
                match t.operand(at + 1).map(|o| &o.place) {
                    Ok(Place::S(s, _)) => Address::Scalar(Src::S(*s), vector(v)?, offset),
                    _ => Address::Vector(v.vgpr()?, offset),
                }
            }
            "scratch" => {
                let s = match t.operand(at + 1)?.place {
                    Place::Off | Place::Null => Src::K(0),
                    _ => t.operand(at + 1)?.src(Ty::B32)?,
                };
                Address::Scratch(vector(t.operand(at)?)?, s, offset)
            }
            _ => {
                let first = vector(t.operand(at)?)?;
                let (idxen, offen) = (t.has("idxen"), t.has("offen"));
                if t.has("lds") || t.has("addr64") {
                    return Err("buffer access with lds or addr64 is not implemented".into());
                }
                Address::Buffer(Buffer {
                    descriptor: t.operand(at + 1)?.sgpr()?,
                    index: first.filter(|_| idxen),
                    voffset: first
                        .filter(|_| offen)
                        .map(|v| if idxen { v + 1 } else { v }),
                    soffset: t.operand(at + 2)?.src(Ty::B32)?,
                    offset,
                })
            }
        })
    }
}

/// What the addresses in `w.addrs` are.
pub enum Places {
    /// Global addresses of these lanes; lanes outside a buffer's range are missing.
    Global(u64),
    /// Private memory offsets (signed) of all active lanes.
    Private,
}

/// Computes the addresses of all active lanes into `w.addrs`.
pub fn places(w: &mut Wave, address: &Address, bytes: u32) -> Result<Places, Box<Fail>> {
    let exec = w.exec();
    match *address {
        Address::Vector(r, offset) => {
            for h in 0..w.halves {
                let (low, high) = (&w.rows[w.at(r, h)], &w.rows[w.at(r + 1, h)]);
                let out = &mut w.addrs[32 * h..32 * h + 32];
                for i in 0..32 {
                    out[i] =
                        (u64::from(low[i]) | u64::from(high[i]) << 32).wrapping_add_signed(offset);
                }
            }
        }
        Address::Scalar(s, v, offset) => {
            let base = w.s64(s).wrapping_add_signed(offset);
            for h in 0..w.halves {
                let row = match v {
                    Some(v) => &w.rows[v as usize * w.halves + h],
                    None => &[0; 32],
                };
                let out = &mut w.addrs[32 * h..32 * h + 32];
                for i in 0..32 {
                    out[i] = base.wrapping_add(u64::from(row[i]));
                }
            }
        }
        Address::Scratch(v, s, offset) => {
            let base = i64::from(w.s32(s) as i32) + offset;
            for lane in lanes_of(exec) {
                w.addrs[lane] =
                    (base + v.map_or(0, |v| i64::from(w.lane(Src::V(v), lane) as i32))) as u64;
            }
            return Ok(Places::Private);
        }
        Address::Buffer(b) => return buffer(w, &b, bytes),
    }
    Ok(Places::Global(exec))
}

fn buffer(w: &mut Wave, b: &Buffer, bytes: u32) -> Result<Places, Box<Fail>> {
    let exec = w.exec();
    let words: [u32; 4] = std::array::from_fn(|i| w.s[b.descriptor as usize + i]);
    let soffset = w.s32(b.soffset);
    let part = |w: &Wave, v: Option<u16>, lane| v.map_or(0, |v| u64::from(w.lane(Src::V(v), lane)));
    if words[3] == SCRATCH_DESCRIPTOR {
        // The scalar offset counts bytes of the whole wave, the rest bytes of one lane.
        let base = i64::from(soffset) / w.lanes as i64 + b.offset;
        for lane in lanes_of(exec) {
            w.addrs[lane] = (base + i64::from(part(w, b.voffset, lane) as u32 as i32)) as u64;
        }
        return Ok(Places::Private);
    }
    let base = u64::from(words[0]) | u64::from(words[1] & 0xffff) << 32;
    let stride = u64::from(words[1] >> 16 & 0x3fff);
    let records = u64::from(words[2]);
    if words[1] >> 31 != 0 || stride != 0 && words[3] >> 23 & 1 != 0 {
        return Err(Fail::lane(0, "swizzled buffers are not implemented"));
    }
    let mut mask = 0;
    for lane in lanes_of(exec) {
        let index = part(w, b.index, lane);
        let offset = part(w, b.voffset, lane).wrapping_add_signed(b.offset);
        // Structured buffers count records, raw ones bytes; what lies outside reads zero.
        let inside = if stride != 0 {
            index < records
        } else {
            offset
                .saturating_add(u64::from(soffset))
                .saturating_add(u64::from(bytes))
                <= records
        };
        w.addrs[lane] = (base + index * stride)
            .wrapping_add(offset)
            .wrapping_add(u64::from(soffset));
        mask |= u64::from(inside) << lane;
    }
    Ok(Places::Global(mask))
}

/// Whether a load goes past the caches of its compute unit, as the memory model of each generation has it
/// for atomic loads at agent scope (with `slc` it is a streaming load).
pub fn is_coherent(t: &Text) -> bool {
    let scope = t.value("scope");
    t.has("sc1")
        || t.has("glc") && !t.has("slc")
        || scope.is_some_and(|s| s == "SCOPE_DEV" || s == "SCOPE_SYS")
}

/// Decodes a load or store, or None.
pub fn decode(t: &Text, _target: &Target) -> Result<Option<Run>, String> {
    let name = t.name.as_str();
    if is_cache_control(name) {
        return Ok(Some(Box::new(|_, _| Ok(Flow::Next))));
    }
    let Some((segment, rest)) = name.split_once('_') else {
        return Ok(None);
    };
    if !matches!(segment, "global" | "flat" | "scratch" | "buffer") {
        return Ok(None);
    }
    if t.has("lds") || rest.starts_with("load_lds") {
        if segment != "global" {
            return Err(format!("instruction {name} is not implemented"));
        }
        return load_lds(t, rest);
    }
    let flat = segment == "flat";
    if let Some(shape) = rest.strip_prefix("load_").and_then(Shape::parse) {
        let dst = t.operand(0)?.vgpr()?;
        let address = Address::parse(t, 1, segment)?;
        if is_coherent(t) {
            return Ok(Some(Box::new(move |w, g| {
                let shared = g.shared;
                let _turn = shared
                    .race
                    .as_ref()
                    .map(|race| race.releases.atomic_read(g, w));
                load(w, g, dst, &address, (shape, flat), Access::AtomicRead)
            })));
        }
        return Ok(Some(Box::new(move |w, g| {
            load(w, g, dst, &address, (shape, flat), Access::Read)
        })));
    }
    if let Some(shape) = rest.strip_prefix("store_").and_then(Shape::parse) {
        // Buffer stores name the data first, the others the address.
        let buffer = segment == "buffer";
        let src = t.operand(usize::from(!buffer))?.vgpr()?;
        let mut reordered = t.clone();
        reordered.operands.remove(usize::from(!buffer));
        let address = Address::parse(&reordered, 0, segment)?;
        return Ok(Some(Box::new(move |w, g| {
            store(w, g, src, &address, shape, flat)
        })));
    }
    Ok(None)
}

fn is_cache_control(name: &str) -> bool {
    matches!(
        name,
        "buffer_gl0_inv"
            | "buffer_gl1_inv"
            | "buffer_inv"
            | "buffer_wbl2"
            | "buffer_wbinvl1"
            | "buffer_wbinvl1_vol"
            | "buffer_invl2"
            | "global_inv"
            | "global_wb"
            | "global_wbinv"
    )
}

fn width_index(bytes: u32) -> usize {
    match bytes {
        1 => 0,
        2 => 1,
        4 => 2,
        8 => 3,
        12 => 4,
        _ => 5,
    }
}

fn has_aperture(w: &Wave, mask: u64) -> bool {
    lanes_of(mask).any(|l| {
        matches!(
            (w.addrs[l] >> 32) as u32,
            SHARED_APERTURE | PRIVATE_APERTURE
        )
    })
}

/// Checks and counts a load of global memory.
fn check_load(
    w: &mut Wave,
    g: &mut Group,
    mask: u64,
    bytes: u32,
    access: Access,
) -> Result<(), Box<Fail>> {
    let lines = g.traffic.lines_64;
    g.check_wave(w, mask, u64::from(bytes), access)?;
    let (width, requested) = (width_index(bytes), u64::from(mask.count_ones() * bytes));
    g.traffic.bytes_loaded += requested;
    g.traffic.load_widths[width] += 1;
    g.traffic.load_bytes[width] += requested;
    g.traffic.load_lines[width] += g.traffic.lines_64 - lines;
    Ok(())
}

fn load(
    w: &mut Wave,
    g: &mut Group,
    dst: u16,
    address: &Address,
    (shape, flat): (Shape, bool),
    access: Access,
) -> Step {
    match places(w, address, shape.bytes)? {
        Places::Global(mask) => {
            if flat && has_aperture(w, mask) {
                for lane in lanes_of(mask) {
                    let p = g.flat(w, w.addrs[lane], u64::from(shape.bytes), access, lane)?;
                    load_lane(w, dst, lane, p, shape);
                }
                return Ok(Flow::Next);
            }
            check_load(w, g, mask, shape.bytes, access)?;
            // SAFETY: every lane's range was checked above.
            unsafe { load_lanes(w, dst, mask, shape) };
            // Buffer lanes out of range read zero.
            for lane in lanes_of(w.exec() & !mask) {
                for i in 0..shape.dwords() {
                    let old = w.lane(Src::V(dst), lane);
                    let v = if shape.bytes < 4 {
                        shape.place(0, old)
                    } else {
                        0
                    };
                    w.set_lane(dst + i as u16, lane, v);
                }
            }
        }
        Places::Private => {
            for lane in lanes_of(w.exec()) {
                let p = scratch_at(w, w.addrs[lane] as i64, u64::from(shape.bytes), lane)?;
                load_lane(w, dst, lane, p, shape);
            }
        }
    }
    Ok(Flow::Next)
}

fn store(
    w: &mut Wave,
    g: &mut Group,
    src: u16,
    address: &Address,
    shape: Shape,
    flat: bool,
) -> Step {
    match places(w, address, shape.bytes)? {
        Places::Global(mask) => {
            if flat && has_aperture(w, mask) {
                for lane in lanes_of(mask) {
                    let p = g.flat(
                        w,
                        w.addrs[lane],
                        u64::from(shape.bytes),
                        Access::Write,
                        lane,
                    )?;
                    store_lane(w, src, lane, p, shape);
                }
                return Ok(Flow::Next);
            }
            g.check_wave(w, mask, u64::from(shape.bytes), Access::Write)?;
            g.traffic.bytes_stored += u64::from(mask.count_ones()) * u64::from(shape.bytes);
            // SAFETY: every lane's range was checked above.
            unsafe { store_lanes(w, src, mask, shape) };
            if mask != 0 {
                g.traffic.last_store = w.addrs[63 - mask.leading_zeros() as usize];
            }
        }
        Places::Private => {
            for lane in lanes_of(w.exec()) {
                let p = scratch_at(w, w.addrs[lane] as i64, u64::from(shape.bytes), lane)?;
                store_lane(w, src, lane, p, shape);
            }
        }
    }
    Ok(Flow::Next)
}

/// `global_load_lds_*` (gfx90a, gfx942): memory goes to LDS at M0 + offset + 4 x lane.
fn load_lds(t: &Text, rest: &str) -> Result<Option<Run>, String> {
    let Some(shape) = rest.strip_prefix("load_lds_").and_then(Shape::parse) else {
        return Err(format!("instruction {} is not implemented", t.name));
    };
    let offset = t.number("offset")?;
    let address = Address::parse(t, 0, "global")?;
    Ok(Some(Box::new(move |w, g| {
        let Places::Global(mask) = places(w, &address, shape.bytes)? else {
            return Ok(Flow::Next);
        };
        check_load(w, g, mask, shape.bytes, Access::Read)?;
        let base = i64::from(w.s[super::operand::M0 as usize] & 0xffff) + offset;
        let each = shape.bytes.max(4);
        for lane in lanes_of(mask) {
            let at = (base + i64::from(each) * lane as i64) as u32;
            let to = g.lds_at(w.index, at, each, Access::Write, lane)?;
            // SAFETY: both ranges were checked.
            unsafe {
                let from = w.addrs[lane] as *const u8;
                match (shape.bytes, shape.signed) {
                    (1, _) => to
                        .cast::<u32>()
                        .write_unaligned(shape.place(u32::from(from.read()), 0)),
                    (2, _) => to.cast::<u32>().write_unaligned(
                        shape.place(u32::from(from.cast::<u16>().read_unaligned()), 0),
                    ),
                    _ => std::ptr::copy_nonoverlapping(from, to, shape.bytes as usize),
                }
            }
        }
        Ok(Flow::Next)
    })))
}
