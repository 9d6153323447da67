//! From an instruction's text to something that runs: the families are asked in turn.

use super::disassembly::{Text, parse};
use super::effect::{Effect, Registers, effect, registers};
use super::wave::{Fail, Flow, Run};
use super::{
    atomics, compare, convert, cross_lane, dot, lds, matrix, packed, packed32, salu, smem, valu,
    valu_float, valu_int, vmem,
};

/// What decoding must know about the target.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target {
    pub name: String,
    /// 9, 10, 11 or 12.
    pub generation: u32,
    /// gfx90a and gfx940+ have wider registers and packed f32.
    pub cdna: bool,
}

impl Target {
    pub fn new(name: &str) -> Result<Target, String> {
        let generation = match name {
            n if n.starts_with("gfx9") => 9,
            n if n.starts_with("gfx10") => 10,
            n if n.starts_with("gfx11") => 11,
            n if n.starts_with("gfx12") => 12,
            _ => return Err(format!("target {name} is not implemented")),
        };
        Ok(Target {
            name: name.into(),
            generation,
            cdna: generation == 9,
        })
    }
}

/// For the counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Class {
    Valu,
    Salu,
    Smem,
    Load,
    Store,
    Atomic,
    Lds,
    Matrix,
    Dot,
    Branch,
    Barrier,
    #[default]
    Other,
}

/// A decoded instruction.
pub struct Inst {
    pub run: Run,
    pub class: Class,
    pub pc: u64,
    pub text: String,
    /// Why it cannot run, when it cannot.
    pub missing: Option<String>,
    /// Index of the next instruction that does something.
    pub next: usize,
    /// Without an effect here: the instruction before it steps over it.
    pub idle: bool,
    /// What it means for the order of memory.
    pub effect: Option<Effect>,
    /// Registers that it names.
    pub named: Registers,
}

impl Inst {
    /// Whether the following instruction always comes next.
    pub fn falls_through(&self) -> bool {
        !matches!(self.class, Class::Branch | Class::Barrier) && self.missing.is_none()
    }
}

/// Where branches go: instruction indexes by address.
pub struct Map {
    pub start: u64,
    /// Index for each 4-byte word from `start`; `u32::MAX` inside instructions.
    pub index: Vec<u32>,
}

impl Map {
    pub fn find(&self, pc: u64) -> Option<usize> {
        let word = pc.checked_sub(self.start)? / 4;
        let i = *self.index.get(usize::try_from(word).ok()?)?;
        (i != u32::MAX && pc.is_multiple_of(4)).then_some(i as usize)
    }
}

fn class(name: &str) -> Class {
    let any = |list: &[&str]| list.iter().any(|p| name.contains(p));
    if name.starts_with("s_") {
        if any(&["s_barrier"]) {
            Class::Barrier
        } else if any(&[
            "s_cbranch",
            "s_branch",
            "s_setpc",
            "s_swappc",
            "s_call",
            "s_endpgm",
        ]) {
            Class::Branch
        } else if any(&[
            "_load_",
            "s_dcache",
            "s_gl1",
            "s_memtime",
            "s_memrealtime",
            "s_store",
        ]) {
            Class::Smem
        } else if any(&[
            "s_wait",
            "s_nop",
            "s_clause",
            "s_delay",
            "s_inst_prefetch",
            "s_sleep",
            "s_set_inst",
            "s_sendmsg",
        ]) {
            Class::Other
        } else {
            Class::Salu
        }
    } else if name.starts_with("ds_") {
        Class::Lds
    } else if name.starts_with("v_wmma")
        || name.starts_with("v_mfma")
        || name.starts_with("v_swmmac")
    {
        Class::Matrix
    } else if name.starts_with("v_dot")
        || name.contains(":: v_dual_dot")
        || name.starts_with("v_dual_dot")
    {
        Class::Dot
    } else if name.starts_with("v_") {
        Class::Valu
    } else if any(&["atomic"]) {
        Class::Atomic
    } else if any(&["_load"]) {
        Class::Load
    } else if any(&["_store"]) {
        Class::Store
    } else {
        Class::Other
    }
}

/// A vector operation by name, wherever its table is.
fn vector(t: &Text, target: &Target) -> Result<Option<valu::Op>, String> {
    for find in [
        valu_int::find,
        valu_float::find,
        convert::find,
        packed::find,
        dot::find,
        compare::find,
    ] {
        if let Some(op) = find(t, target)? {
            return Ok(Some(op));
        }
    }
    Ok(None)
}

fn single(text: &str, pc: u64, size: u64, target: &Target, map: &Map) -> Result<Run, String> {
    let t = parse(text);
    if t.name.starts_with("v_") {
        for find in [cross_lane::decode, matrix::decode, packed::decode] {
            if let Some(run) = find(&t, target)? {
                return Ok(run);
            }
        }
        if let Some(run) = packed32::decode(&t)? {
            return Ok(run);
        }
        if let Some(op) = vector(&t, target)? {
            return valu::build(op, &t, target);
        }
        if let Some(run) = salu::decode_scalar_float(&t)? {
            return Ok(run);
        }
    } else if t.name.starts_with("s_") {
        if let Some(run) = smem::decode(&t, target)? {
            return Ok(run);
        }
        if let Some(run) = salu::decode(&t, target, pc, size, map)? {
            return Ok(run);
        }
    } else if t.name.starts_with("ds_") {
        if let Some(run) = lds::decode(&t, target)? {
            return Ok(run);
        }
    } else {
        for find in [vmem::decode, atomics::decode] {
            if let Some(run) = find(&t, target)? {
                return Ok(run);
            }
        }
    }
    Err(format!("instruction {} is not implemented", t.name))
}

/// Two VOPD halves read all sources before either writes.
fn dual(x: &str, y: &str, pc: u64, size: u64, target: &Target, map: &Map) -> Result<Run, String> {
    let plain = |half: &str| half.trim().replacen("v_dual_", "v_", 1);
    let (x, y) = (plain(x), plain(y));
    let (tx, ty) = (parse(&x), parse(&y));
    let dst = tx.operand(0)?.vgpr()?;
    let rx = single(&x, pc, size, target, map)?;
    let ry = single(&y, pc, size, target, map)?;
    // When Y reads what X writes, Y must see the old value: run Y first where that is free of harm.
    let reads = |t: &Text, r: u16, own: bool| {
        let from = usize::from(!own);
        t.operands.iter().skip(from).any(|o| o.vgpr() == Ok(r))
    };
    let accumulates = |t: &Text| {
        t.name.contains("fmac") || t.name.contains("dot2acc") || t.name.contains("dot2c")
    };
    let y_reads_x = reads(&ty, dst, accumulates(&ty));
    if !y_reads_x {
        return Ok(Box::new(move |w, g| {
            rx(w, g)?;
            ry(w, g)
        }));
    }
    let x_reads_y = reads(&tx, ty.operand(0)?.vgpr()?, accumulates(&tx));
    if !x_reads_y {
        return Ok(Box::new(move |w, g| {
            ry(w, g)?;
            rx(w, g)
        }));
    }
    // A swap: keep X's result aside.
    Ok(Box::new(move |w, g| {
        let old: Vec<_> = (0..w.halves).map(|h| w.rows[w.at(dst, h)]).collect();
        rx(w, g)?;
        let mut new = Vec::with_capacity(w.halves);
        for (h, row) in old.iter().enumerate() {
            let at = w.at(dst, h);
            new.push(std::mem::replace(&mut w.rows[at], *row));
        }
        ry(w, g)?;
        for (h, row) in new.into_iter().enumerate() {
            let at = w.at(dst, h);
            w.rows[at] = row;
        }
        Ok(Flow::Next)
    }))
}

/// Decodes one instruction; what is not implemented becomes an instruction that cannot run.
pub fn decode(text: &str, pc: u64, size: u64, target: &Target, map: &Map) -> Inst {
    let result = match text.split_once("::") {
        Some((x, y)) => dual(x, y, pc, size, target, map),
        None => single(text, pc, size, target, map),
    };
    let name = text.split_whitespace().next().unwrap_or("");
    let effect = effect(text, target);
    let idle = result.is_ok() && super::branch::has_no_effect(name) && effect.is_none();
    let (run, missing) = match result {
        Ok(run) => (run, None),
        Err(why) => {
            let message = why.clone();
            let run: Run = Box::new(move |_, _| Err(Fail::lane(0, message.clone())));
            (run, Some(why))
        }
    };
    Inst {
        run,
        class: class(if text.contains("v_dual_dot") {
            "v_dot"
        } else {
            name
        }),
        pc,
        text: text.into(),
        missing,
        next: 0,
        idle,
        effect,
        named: registers(text),
    }
}
