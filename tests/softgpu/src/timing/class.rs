//! What the model must know about an instruction, read once from its text.

use crate::isa::decode::{Class, Inst};
use crate::isa::disassembly::{Text, parse};
use crate::isa::effect::{Effect, FIRST_SCALAR, Issue, QUEUES};
use crate::isa::operand::{EXEC, Place, VCC};

/// Which unit executes an instruction, and how fast.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Full rate vector arithmetic.
    Valu,
    /// Exponent, logarithm, reciprocal, square root, sine.
    Transcendental,
    /// 32-bit integer products.
    IntMultiply,
    /// Double precision arithmetic.
    Double,
    /// WMMA and MFMA: multiply-adds of one instruction, and the factors' bits.
    Matrix {
        macs: u32,
        bits: u32,
    },
    Salu,
    /// Loads, stores, atomics of global, flat and private memory.
    Vmem,
    Smem,
    Lds,
    Branch,
    Barrier,
    /// Waits, and what only takes a place in the instruction stream.
    Nothing,
}

/// How a memory instruction moves its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Move {
    Load,
    Store,
    Atomic,
}

/// An instruction as the model sees it.
#[derive(Clone, Debug)]
pub struct Op {
    pub unit: Unit,
    /// Registers that must be there, and those that are written (numbering of `effect`).
    pub reads: Vec<u16>,
    pub writes: Vec<u16>,
    pub issue: Option<Issue>,
    /// How many of each queue may remain.
    pub wait: Option<[Option<u32>; QUEUES]>,
    pub moves: Move,
    /// Bytes each lane moves.
    pub bytes: u32,
    /// Two LDS addresses in one instruction.
    pub twice: bool,
    /// Comes to the barrier, waits at it (gfx12 has an instruction for each).
    pub arrives: bool,
    pub waits: bool,
}

fn range(place: &Place) -> Option<(u16, u16)> {
    match *place {
        Place::V(first, n) => Some((first, n)),
        Place::S(first, n) => Some((FIRST_SCALAR + first, n)),
        _ => None,
    }
}

/// Bytes of a memory instruction's lane, by the end of its name.
fn lane_bytes(name: &str) -> u32 {
    let ends = |list: &[&str]| list.iter().any(|e| name.contains(e));
    if ends(&["b512", "dwordx16"]) {
        64
    } else if ends(&["b256", "dwordx8"]) {
        32
    } else if ends(&["b128", "dwordx4"]) {
        16
    } else if ends(&["b96", "dwordx3"]) {
        12
    } else if ends(&["b64", "dwordx2", "u64", "i64", "f64", "_x2"]) {
        8
    } else if ends(&["b16", "u16", "i16", "short", "d16"]) {
        2
    } else if ends(&["b8", "u8", "i8", "byte"]) {
        1
    } else {
        4
    }
}

/// Multiply-adds and factor bits of `v_wmma_f32_16x16x16_f16` and the like.
fn matrix(name: &str) -> Unit {
    let shape = name
        .split('_')
        .find(|w| w.contains('x') && w.as_bytes()[0].is_ascii_digit());
    let macs = shape.map_or(4096, |s| {
        s.trim_end_matches(|c: char| !c.is_ascii_digit())
            .split(|c: char| !c.is_ascii_digit())
            .filter_map(|n| n.parse::<u32>().ok())
            .take(3)
            .product()
    });
    let bits = if name.contains("iu4") || name.contains("_i4") {
        4
    } else if ["iu8", "fp8", "bf8", "_i8", "x16i8", "x32i8", "x8i8"]
        .iter()
        .any(|n| name.contains(n))
    {
        8
    } else if name.contains("xf32") || name.ends_with("f32") && !name.contains("f16") {
        32
    } else {
        16
    };
    Unit::Matrix { macs, bits }
}

fn valu(name: &str) -> Unit {
    let any = |list: &[&str]| list.iter().any(|p| name.contains(p));
    if any(&[
        "v_exp_",
        "v_log_",
        "v_rcp_",
        "v_rsq_",
        "v_sqrt_",
        "v_sin_",
        "v_cos_",
        "v_rcp_iflag",
    ]) {
        Unit::Transcendental
    } else if any(&[
        "v_mul_lo_u32",
        "v_mul_hi_u32",
        "v_mul_hi_i32",
        "v_mad_u64_u32",
        "v_mad_i64_i32",
        "v_mad_co_u64",
    ]) {
        Unit::IntMultiply
    } else if any(&["_f64"]) {
        Unit::Double
    } else {
        Unit::Valu
    }
}

/// Registers of one (half of an) instruction: read and written.
fn registers(t: &Text, stores: bool, op: &mut Op) {
    let compare = t.name.starts_with("v_cmp");
    let two = [
        "v_add_co",
        "v_sub_co",
        "v_div_scale",
        "v_mad_u64",
        "v_mad_co",
    ];
    // Carries out are the second operand; plain compares in e32 form write vcc.
    let results = match () {
        _ if stores => 0,
        _ if two.iter().any(|p| t.name.starts_with(p)) => 2,
        _ if t.name.starts_with("s_cmp") || t.name.starts_with("s_bitcmp") => 0,
        _ => 1,
    };
    let accumulates = ["fmac", "dot2c", "dot4c", "dot8c", "dot2acc"]
        .iter()
        .any(|p| t.name.contains(p));
    for (i, o) in t.operands.iter().enumerate() {
        let Some((first, n)) = range(&o.place) else {
            continue;
        };
        if i < results {
            op.writes.extend(first..first + n);
        }
        if i >= results || accumulates {
            op.reads.extend(first..first + n);
        }
    }
    if compare && !t.e64 {
        op.writes.push(FIRST_SCALAR + VCC);
    }
    if t.name.starts_with("v_cmpx") {
        op.writes.push(FIRST_SCALAR + EXEC);
    }
    if t.name.contains("saveexec") || t.name.contains("wrexec") {
        op.writes.push(FIRST_SCALAR + EXEC);
        op.reads.push(FIRST_SCALAR + EXEC);
    }
    if t.name.starts_with("v_cndmask") && !t.e64 || t.name.starts_with("s_cbranch_vcc") {
        op.reads.push(FIRST_SCALAR + VCC);
    }
    if t.name.starts_with("s_cbranch_exec") {
        op.reads.push(FIRST_SCALAR + EXEC);
    }
}

/// What the model needs of an instruction.
pub fn op(inst: &Inst) -> Op {
    let text = inst.text.as_str();
    let (x, y) = text
        .split_once("::")
        .map_or((text, None), |(x, y)| (x, Some(y)));
    let t = parse(x.trim());
    let name = t.name.as_str();
    let unit = match inst.class {
        Class::Valu | Class::Dot => valu(name),
        Class::Matrix => matrix(name),
        Class::Salu => Unit::Salu,
        Class::Smem => Unit::Smem,
        Class::Load | Class::Store | Class::Atomic => Unit::Vmem,
        Class::Lds => Unit::Lds,
        Class::Branch => Unit::Branch,
        Class::Barrier => Unit::Barrier,
        Class::Other => Unit::Nothing,
    };
    let mut op = Op {
        unit,
        reads: Vec::new(),
        writes: Vec::new(),
        issue: None,
        wait: None,
        moves: Move::Load,
        bytes: lane_bytes(name),
        twice: name.contains("2addr")
            || name.starts_with("ds_read2")
            || name.starts_with("ds_write2"),
        arrives: name.starts_with("s_barrier") && !name.starts_with("s_barrier_wait"),
        waits: name == "s_barrier" || name.starts_with("s_barrier_wait"),
    };
    match &inst.effect {
        Some(Effect::Issue(issue)) => op.issue = Some(*issue),
        Some(Effect::Wait(left)) => op.wait = Some(*left),
        _ => {}
    }
    if let Some(issue) = &op.issue {
        op.moves = match inst.class {
            Class::Atomic => Move::Atomic,
            Class::Store => Move::Store,
            _ if issue.result.is_none() => Move::Store,
            _ => Move::Load,
        };
    }
    let memory = op.issue.is_some();
    registers(
        &t,
        memory && op.issue.is_some_and(|i| i.result.is_none()),
        &mut op,
    );
    if let Some(y) = y {
        let plain = y.trim().replacen("v_dual_", "v_", 1);
        registers(&parse(&plain), false, &mut op);
    }
    if matches!(op.unit, Unit::Matrix { .. })
        && let Some((first, n)) = t.operands.first().and_then(|o| range(&o.place))
    {
        // gfx11's WMMA and MFMA name the sum as last operand; it is read late, not at issue.
        let sum: Vec<u16> = (first..first + n).collect();
        op.reads.retain(|r| !sum.contains(r));
    }
    if memory {
        // The wait for the counter says when the result is there.
        op.writes.clear();
    }
    op
}
