//! Vector ALU instructions: operands with their modifiers (neg, abs, op_sel, SDWA, DPP), a lane
//! function, and the result's modifiers (clamp, halves, SDWA).

use super::cross_lane::Dpp;
use super::decode::Target;
use super::disassembly::Text;
use super::lanes::{C2, CD2, Carry, D3, L1, L2, L3};
use super::modifiers::{Post, Prep, post, prep};
use super::operand::{EXEC, Operand, SINK, Src, Ty, VCC};
use super::plain::plain_run;
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

/// All captured parts of one vector instruction.
pub struct Plan {
    pub op: Op,
    pub prep: [Prep; 3],
    n: usize,
    pub post: Post,
    /// Mask destination of comparisons and carries.
    pub mask_dst: u16,
    /// gfx10+ `v_cmpx`: only EXEC; gfx9: EXEC as well.
    pub writes_exec: bool,
    /// Mask source of carries and selects.
    pub mask_src: Src,
    dpp: Option<Dpp>,
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
    for (k, slot) in preps.iter_mut().enumerate().take(n) {
        let own = op.accumulate && k + 1 == n;
        let operand = t.operand(if own { 0 } else { at + k })?;
        *slot = prep(operand, op.src[k], k, t)?;
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
    if plan.dpp.is_none() && matches!(plan.op.fun, Fun::A1(_) | Fun::A2(_) | Fun::A3(_)) {
        return Ok(Box::new(move |w, _| {
            plan.run_alone(w);
            Ok(Flow::Next)
        }));
    }
    Ok(Box::new(move |w, _| {
        plan.run(w);
        Ok(Flow::Next)
    }))
}

impl Plan {
    /// Lanes by themselves, with sources and result of 32 bits or less: each half can be written at once.
    fn run_alone(&self, w: &mut Wave) {
        for h in 0..w.halves {
            let (mut out, mut enabled) = ([0; 32], u32::MAX);
            let e = &mut enabled;
            let a = self.fetch(w, 0, h, e);
            // SAFETY: lane functions only need the host features they were chosen by.
            unsafe {
                match self.op.fun {
                    Fun::A1(f) => f(&a, &mut out, u32::MAX),
                    Fun::A2(f) => f(&a, &self.fetch(w, 1, h, e), &mut out, u32::MAX),
                    Fun::A3(f) => {
                        let (b, c) = (self.fetch(w, 1, h, e), self.fetch(w, 2, h, e));
                        f(&a, &b, &c, &mut out, u32::MAX);
                    }
                    _ => return,
                }
            }
            if !self.post.is_plain() {
                self.post.apply(w, h, &mut out);
            }
            w.put(self.post.dst, h, &out, w.exec_half(h));
        }
    }

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
