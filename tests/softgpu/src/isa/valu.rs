//! Vector ALU instructions: operands with their modifiers (neg, abs, op_sel, SDWA, DPP), a lane
//! function, and the result's modifiers (omod, clamp, halves, SDWA).

use super::cross_lane::Dpp;
use super::decode::Target;
use super::disassembly::Text;
use super::half::{f16_from_f32, f16_to_f32};
use super::lanes::{C2, CD2, Carry, D3, L1, L2, L3, select};
use super::operand::{EXEC, Operand, SINK, Src, Ty, VCC};
use super::wave::{Flow, Row, Row64, Run, Wave};

/// 64-bit multiply-add with a carry-out mask.
pub type WideCarry = fn(&Row64, &Row64, &Row64, &mut Row64) -> u32;

/// What is computed.
#[derive(Clone, Copy)]
pub enum Fun {
    A1(L1),
    A2(L2),
    A3(L3),
    /// Any source or the result has 64 bits; the number of sources.
    D(D3, usize),
    /// Comparison into a mask.
    C(C2),
    CD(CD2),
    /// Result and carry-out; carry-in when true.
    Carry(Carry, bool),
    WideCarry(WideCarry),
    /// `v_div_scale`: three sources, a mask besides the result.
    Scale(fn(&Row64, &Row64, &Row64, &mut Row64) -> u32),
    /// Lane select by a mask.
    Select,
    /// `v_div_fmas`: reads VCC.
    Fmas(fn(u64, u64, u64, bool) -> u64),
    /// The lane number as an extra source.
    Lane(fn(u32, u32, u32) -> u32),
}

/// A vector operation and the types of its operands.
#[derive(Clone, Copy)]
pub struct Op {
    pub fun: Fun,
    pub src: [Ty; 3],
    pub dst: Ty,
    /// The destination is the last source.
    pub accumulate: bool,
    /// 16-bit results of gfx9 keep the high half (else they clear it).
    pub keeps_high: bool,
    /// Integer saturation is already in the function.
    pub saturates: bool,
}

impl Op {
    pub fn new(fun: Fun, ty: Ty) -> Op {
        Op {
            fun,
            src: [ty; 3],
            dst: ty,
            accumulate: false,
            keeps_high: false,
            saturates: false,
        }
    }

    pub fn dst(mut self, ty: Ty) -> Op {
        self.dst = ty;
        self
    }

    pub fn src(mut self, a: Ty, b: Ty, c: Ty) -> Op {
        self.src = [a, b, c];
        self
    }

    /// The destination is read as the last source.
    pub fn acc(mut self) -> Op {
        self.accumulate = true;
        self
    }

    pub fn keeps(mut self) -> Op {
        self.keeps_high = true;
        self
    }

    pub fn saturating(mut self) -> Op {
        self.saturates = true;
        self
    }

    fn sources(&self) -> usize {
        match self.fun {
            Fun::A1(_) => 1,
            Fun::A2(_) | Fun::C(_) | Fun::CD(_) | Fun::Carry(..) | Fun::Select | Fun::Lane(_) => 2,
            Fun::A3(_) | Fun::WideCarry(_) | Fun::Scale(_) | Fun::Fmas(_) => 3,
            Fun::D(_, n) => n,
        }
    }
}

pub fn a1(ty: Ty, f: L1) -> Op {
    Op::new(Fun::A1(f), ty)
}

pub fn a2(ty: Ty, f: L2) -> Op {
    Op::new(Fun::A2(f), ty)
}

pub fn a3(ty: Ty, f: L3) -> Op {
    Op::new(Fun::A3(f), ty)
}

pub fn wide(n: usize, ty: Ty, f: D3) -> Op {
    Op::new(Fun::D(f, n), ty)
}

/// One source with all that changes it before the operation.
#[derive(Clone, Copy, Debug)]
pub struct Prep {
    src: Src,
    ty: Ty,
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
    fn is_plain(&self) -> bool {
        let halves = if self.ty.is_packed() {
            !self.high && self.high_of_high
        } else {
            !self.high
        };
        !self.neg && !self.abs && !self.neg_high && halves && self.pick.is_none() && !self.sext
    }

    fn apply(&self, row: &mut Row) {
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

    fn apply64(&self, row: &mut Row64) {
        if matches!(self.ty, Ty::PF32 | Ty::PB32) {
            let (low, high) = (u32::from(self.high) * 32, u32::from(self.high_of_high) * 32);
            let flip = u64::from(self.neg) << 31 | u64::from(self.neg_high) << 63;
            row.iter_mut()
                .for_each(|v| *v = (*v >> low & 0xffff_ffff | (*v >> high) << 32) ^ flip);
        } else {
            let keep = if self.abs { u64::MAX >> 1 } else { u64::MAX };
            let flip = u64::from(self.neg) << 63;
            row.iter_mut().for_each(|v| *v = *v & keep ^ flip);
        }
    }
}

/// What happens to the result before it is written.
#[derive(Clone, Copy, Debug)]
struct Post {
    dst: u16,
    ty: Ty,
    multiply: f32,
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
    fn is_plain(&self) -> bool {
        self.multiply == 1.0 && !self.clamp && self.merge == Merge::Whole
    }

    fn apply(&self, w: &Wave, h: usize, row: &mut Row) {
        if self.multiply != 1.0 || self.clamp {
            let one = |v: f32| {
                let v = v * self.multiply;
                if self.clamp { clamp01(v) } else { v }
            };
            for v in row.iter_mut() {
                *v = match self.ty {
                    Ty::F32 => one(f32::from_bits(*v)).to_bits(),
                    Ty::F16 => f16_from_f32(one(f16_to_f32(*v & 0xffff))),
                    Ty::PF16 => {
                        let (a, b) = (one(f16_to_f32(*v & 0xffff)), one(f16_to_f32(*v >> 16)));
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

/// All captured parts of one vector instruction.
struct Plan {
    op: Op,
    prep: [Prep; 3],
    n: usize,
    post: Post,
    /// Mask destination of comparisons and carries.
    mask_dst: u16,
    /// gfx10+ `v_cmpx`: only EXEC; gfx9: EXEC as well.
    writes_exec: bool,
    /// Mask source of carries and selects.
    mask_src: Src,
    dpp: Option<Dpp>,
}

fn prep(o: &Operand, ty: Ty, k: usize, t: &Text) -> Result<Prep, String> {
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

fn post(
    op: &Op,
    dst: u16,
    dst_high: bool,
    t: &Text,
    target: &Target,
    n: usize,
) -> Result<Post, String> {
    let multiply = match (t.value("mul"), t.value("div")) {
        (Some("2"), _) => 2.0,
        (Some("4"), _) => 4.0,
        (_, Some("2")) => 0.5,
        (None, None) => 1.0,
        other => return Err(format!("unknown output modifier {other:?}")),
    };
    let float = matches!(op.dst, Ty::F32 | Ty::F16 | Ty::PF16);
    let clamp = t.has("clamp") && !op.saturates;
    if (clamp || multiply != 1.0) && !float {
        return Err("clamp or output modifier on this type is not implemented".into());
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
        multiply,
        clamp,
        merge,
    })
}

/// Builds the instruction from its operation and text.
pub fn build(op: Op, t: &Text, target: &Target) -> Result<Run, String> {
    let compares = matches!(op.fun, Fun::C(_) | Fun::CD(_));
    let cmpx = compares && t.name.starts_with("v_cmpx");
    let mut at = 0;
    let (mut dst, mut dst_high, mut mask_dst) = (0, false, SINK);
    if compares {
        if cmpx && target.generation >= 10 {
            mask_dst = EXEC;
        } else {
            mask_dst = t.operand(0)?.sgpr()?;
            at = 1;
        }
    } else {
        let o = t.operand(0)?;
        (dst, dst_high, at) = (o.vgpr()?, o.high, 1);
        if matches!(op.fun, Fun::Carry(..) | Fun::WideCarry(_) | Fun::Scale(_)) {
            mask_dst = t.operand(1)?.sgpr()?;
            at = 2;
        }
    }
    let n = op.sources();
    let nothing = Operand::parse("null").ok_or("null")?;
    let mut preps = [prep(&nothing, Ty::B32, 0, &Text::default())?; 3];
    for k in 0..n {
        let own = op.accumulate && k + 1 == n;
        let operand = t.operand(if own { 0 } else { at + k })?;
        preps[k] = prep(operand, op.src[k], k, t)?;
    }
    let mut mask_src = Src::S(VCC);
    if matches!(op.fun, Fun::Carry(_, true) | Fun::Select)
        && let Ok(o) = t.operand(at + n)
    {
        mask_src = o.src(Ty::B64)?;
    }
    let plan = Plan {
        post: post(&op, dst, dst_high, t, target, n)?,
        dpp: if t.dpp {
            Some(Dpp::parse(t, target)?)
        } else {
            None
        },
        writes_exec: cmpx,
        op,
        prep: preps,
        n,
        mask_dst,
        mask_src,
    };
    if t.dpp && matches!(preps[0].src, Src::K(_)) {
        return Err("DPP on a constant".into());
    }
    let plain = plan.post.is_plain() && plan.dpp.is_none() && preps[..n].iter().all(Prep::is_plain);
    if plain && let Some(run) = plain_run(&plan) {
        return Ok(run);
    }
    Ok(Box::new(move |w, _| {
        plan.run(w);
        Ok(Flow::Next)
    }))
}

/// A source without modifiers, as a type so that each combination has its own code.
trait Source: Send + Sync + 'static {
    /// The row's address; scalars are spread in `buffer`.
    fn row(&self, w: &Wave, h: usize, buffer: &mut Row) -> *const Row;
}

struct Vector(u16);
struct Scalar(u16);
struct Constant(Box<Row>);

impl Source for Vector {
    #[inline(always)]
    fn row(&self, w: &Wave, h: usize, _: &mut Row) -> *const Row {
        &raw const w.rows[w.at(self.0, h)]
    }
}

impl Source for Scalar {
    #[inline(always)]
    fn row(&self, w: &Wave, _: usize, buffer: &mut Row) -> *const Row {
        *buffer = [w.s[self.0 as usize]; 32];
        buffer
    }
}

impl Source for Constant {
    #[inline(always)]
    fn row(&self, _: &Wave, _: usize, _: &mut Row) -> *const Row {
        &raw const *self.0
    }
}

macro_rules! with {
    ($src:expr, $x:ident => $body:expr) => {
        match $src {
            Src::V(r) => {
                let $x = Vector(r);
                $body
            }
            Src::S(r) => {
                let $x = Scalar(r);
                $body
            }
            Src::K(v) => {
                let $x = Constant(Box::new([v as u32; 32]));
                $body
            }
            Src::Scc => return None,
        }
    };
}

fn one(dst: u16, f: L1, a: impl Source) -> Run {
    Box::new(move |w, g| {
        for h in 0..w.halves {
            let pa = a.row(w, h, &mut g.buffers[0]);
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: rows of this wave, and buffers; the function reads all before it writes.
            unsafe { f(pa, &raw mut w.rows[at], mask) };
        }
        Ok(Flow::Next)
    })
}

fn two(dst: u16, f: L2, a: impl Source, b: impl Source) -> Run {
    Box::new(move |w, g| {
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: as in `one`.
            unsafe { f(pa, pb, &raw mut w.rows[at], mask) };
        }
        Ok(Flow::Next)
    })
}

fn three(dst: u16, f: L3, a: impl Source, b: impl Source, c: impl Source) -> Run {
    Box::new(move |w, g| {
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            let pc = c.row(w, h, &mut g.buffers[2]);
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: as in `one`.
            unsafe { f(pa, pb, pc, &raw mut w.rows[at], mask) };
        }
        Ok(Flow::Next)
    })
}

fn compare(dst: u16, f: C2, writes_exec: bool, a: impl Source, b: impl Source) -> Run {
    Box::new(move |w, g| {
        let mut mask = 0u64;
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            // SAFETY: as in `one`.
            let m = unsafe { f(pa, pb) };
            mask |= u64::from(m & w.exec_half(h)) << (32 * h);
        }
        w.set_mask(dst, mask);
        if writes_exec {
            w.set_mask(EXEC, mask);
        }
        Ok(Flow::Next)
    })
}

fn carrying(dst: u16, f: Carry, masks: (Option<Src>, u16), a: impl Source, b: impl Source) -> Run {
    let (carry_in, carry_out) = masks;
    Box::new(move |w, g| {
        let before = carry_in.map_or(0, |s| w.mask(s));
        let mut after = 0u64;
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: as in `one`.
            let m = unsafe {
                f(
                    pa,
                    pb,
                    (before >> (32 * h)) as u32,
                    &raw mut w.rows[at],
                    mask,
                )
            };
            after |= u64::from(m & mask) << (32 * h);
        }
        w.set_mask(carry_out, after);
        Ok(Flow::Next)
    })
}

fn selecting(dst: u16, pick: Src, a: impl Source, b: impl Source) -> Run {
    let f = select();
    Box::new(move |w, g| {
        let pick = w.mask(pick);
        for h in 0..w.halves {
            let (pa, pb) = (
                a.row(w, h, &mut g.buffers[0]),
                b.row(w, h, &mut g.buffers[1]),
            );
            let (at, mask) = (w.at(dst, h), w.exec_half(h));
            // SAFETY: as in `one`.
            unsafe { f(pa, pb, (pick >> (32 * h)) as u32, &raw mut w.rows[at], mask) };
        }
        Ok(Flow::Next)
    })
}

/// The quick form without modifiers.
fn plain_run(plan: &Plan) -> Option<Run> {
    let dst = plan.post.dst;
    let [a, b, c] = plan.prep.map(|p| p.src);
    let mask_dst = plan.mask_dst;
    Some(match plan.op.fun {
        Fun::A1(f) => with!(a, a => one(dst, f, a)),
        Fun::A2(f) => with!(a, a => with!(b, b => two(dst, f, a, b))),
        Fun::A3(f) => with!(a, a => with!(b, b => with!(c, c => three(dst, f, a, b, c)))),
        Fun::C(f) => {
            let exec = plan.writes_exec;
            with!(a, a => with!(b, b => compare(mask_dst, f, exec, a, b)))
        }
        Fun::Carry(f, reads) => {
            let masks = (reads.then_some(plan.mask_src), mask_dst);
            with!(a, a => with!(b, b => carrying(dst, f, masks, a, b)))
        }
        Fun::Select => {
            let pick = plan.mask_src;
            with!(a, a => with!(b, b => selecting(dst, pick, a, b)))
        }
        Fun::D(f, n) => {
            let broad = plan.op.src.map(Ty::is_64);
            let to_64 = plan.op.dst.is_64();
            Box::new(move |w, _| {
                for h in 0..w.halves {
                    let read = |k: usize, src: Src| -> Row64 {
                        if k >= n {
                            [0; 32]
                        } else if broad[k] {
                            w.row64(src, h)
                        } else {
                            let mut buffer = [0; 32];
                            w.row(src, h, &mut buffer).map(u64::from)
                        }
                    };
                    let (x, y, z) = (read(0, a), read(1, b), read(2, c));
                    let mut out = [0; 32];
                    // SAFETY: the host has the features that the function was chosen by.
                    unsafe { f(&x, &y, &z, &mut out) };
                    let mask = w.exec_half(h);
                    if to_64 {
                        w.put64(dst, h, &out, mask);
                    } else {
                        w.put(dst, h, &out.map(|v| v as u32), mask);
                    }
                }
                Ok(Flow::Next)
            })
        }
        _ => return None,
    })
}

impl Plan {
    /// One source row with modifiers; lanes that DPP disables are cleared in `enable`.
    fn fetch(&self, w: &Wave, k: usize, h: usize, enable: &mut u32) -> Row {
        let p = &self.prep[k];
        let mut row = [0; 32];
        match (&self.dpp, k, p.src) {
            (Some(dpp), 0, Src::V(r)) => dpp.fetch(w, r, h, &mut row, enable),
            _ => {
                let mut buffer = [0; 32];
                row = *w.row(p.src, h, &mut buffer);
            }
        }
        if !p.is_plain() {
            p.apply(&mut row);
        }
        row
    }

    fn fetch64(&self, w: &Wave, k: usize, h: usize, enable: &mut u32) -> Row64 {
        let p = &self.prep[k];
        if k >= self.n {
            return [0; 32];
        }
        if !p.ty.is_64() {
            let row = self.fetch(w, k, h, enable);
            return row.map(u64::from);
        }
        let mut row = match (&self.dpp, k, p.src) {
            (Some(dpp), 0, Src::V(r)) => {
                let (mut low, mut high) = ([0; 32], [0; 32]);
                dpp.fetch(w, r, h, &mut low, enable);
                dpp.fetch(w, r + 1, h, &mut high, enable);
                std::array::from_fn(|i| u64::from(low[i]) | u64::from(high[i]) << 32)
            }
            _ => w.row64(p.src, h),
        };
        if !p.is_plain() {
            p.apply64(&mut row);
        }
        row
    }

    /// The general form: all halves are computed before anything is written.
    fn run(&self, w: &mut Wave) {
        let mut narrow = [[0u32; 32]; 2];
        let mut broad = [[0u64; 32]; 2];
        let mut enables = [u32::MAX; 2];
        let mut mask = 0u64;
        let mut is_broad = false;
        let mut has_result = true;
        let mask_in = match self.op.fun {
            Fun::Carry(_, true) | Fun::Select => w.mask(self.mask_src),
            Fun::Fmas(_) => w.mask(Src::S(VCC)),
            _ => 0,
        };
        for h in 0..w.halves {
            let mut enable = u32::MAX;
            let e = &mut enable;
            let out = &mut narrow[h];
            let m_in = (mask_in >> (32 * h)) as u32;
            let mut m_out = 0;
            match self.op.fun {
                Fun::A1(f) => {
                    let a = self.fetch(w, 0, h, e);
                    // SAFETY: lane functions only need the host features they were chosen by.
                    unsafe { f(&a, out, u32::MAX) };
                }
                Fun::A2(f) => {
                    let (a, b) = (self.fetch(w, 0, h, e), self.fetch(w, 1, h, e));
                    // SAFETY: as above.
                    unsafe { f(&a, &b, out, u32::MAX) };
                }
                Fun::A3(f) => {
                    let (a, b, c) = (
                        self.fetch(w, 0, h, e),
                        self.fetch(w, 1, h, e),
                        self.fetch(w, 2, h, e),
                    );
                    // SAFETY: as above.
                    unsafe { f(&a, &b, &c, out, u32::MAX) };
                }
                Fun::C(f) => {
                    let (a, b) = (self.fetch(w, 0, h, e), self.fetch(w, 1, h, e));
                    // SAFETY: as above.
                    m_out = unsafe { f(&a, &b) };
                    has_result = false;
                }
                Fun::CD(f) => {
                    let (a, b) = (self.fetch64(w, 0, h, e), self.fetch64(w, 1, h, e));
                    // SAFETY: as above.
                    m_out = unsafe { f(&a, &b) };
                    has_result = false;
                }
                Fun::Carry(f, _) => {
                    let (a, b) = (self.fetch(w, 0, h, e), self.fetch(w, 1, h, e));
                    // SAFETY: as above.
                    m_out = unsafe { f(&a, &b, m_in, out, u32::MAX) };
                }
                Fun::Select => {
                    let (a, b) = (self.fetch(w, 0, h, e), self.fetch(w, 1, h, e));
                    for i in 0..32 {
                        out[i] = if m_in >> i & 1 != 0 { b[i] } else { a[i] };
                    }
                }
                Fun::Lane(f) => {
                    let (a, b) = (self.fetch(w, 0, h, e), self.fetch(w, 1, h, e));
                    for i in 0..32 {
                        out[i] = f(a[i], b[i], (32 * h + i) as u32);
                    }
                }
                Fun::D(..) | Fun::WideCarry(_) | Fun::Scale(_) | Fun::Fmas(_) => {
                    let (a, b, c) = (
                        self.fetch64(w, 0, h, e),
                        self.fetch64(w, 1, h, e),
                        self.fetch64(w, 2, h, e),
                    );
                    match self.op.fun {
                        // SAFETY: as above.
                        Fun::D(f, _) => unsafe { f(&a, &b, &c, &mut broad[h]) },
                        Fun::WideCarry(f) | Fun::Scale(f) => m_out = f(&a, &b, &c, &mut broad[h]),
                        Fun::Fmas(f) => {
                            for i in 0..32 {
                                broad[h][i] = f(a[i], b[i], c[i], m_in >> i & 1 != 0);
                            }
                        }
                        _ => {}
                    }
                    is_broad = self.op.dst.is_64();
                    if !is_broad {
                        *out = broad[h].map(|v| v as u32);
                    }
                }
            }
            enables[h] = enable;
            mask |= u64::from(m_out & w.exec_half(h) & enable) << (32 * h);
        }
        for h in 0..w.halves {
            if !has_result {
                break;
            }
            let lanes = w.exec_half(h) & enables[h];
            if is_broad {
                w.put64(self.post.dst, h, &broad[h], lanes);
            } else {
                self.post.apply(w, h, &mut narrow[h]);
                w.put(self.post.dst, h, &narrow[h], lanes);
            }
        }
        if !has_result
            || matches!(
                self.op.fun,
                Fun::Carry(..) | Fun::WideCarry(_) | Fun::Scale(_)
            )
        {
            w.set_mask(self.mask_dst, mask);
            if self.writes_exec {
                w.set_mask(EXEC, mask);
            }
        }
    }
}
