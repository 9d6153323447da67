//! A kernel of a code object, and its arguments.

use super::elf::{Elf, u32_at, u64_at};
use super::metadata::Value;
use super::program::Program;
use std::sync::Arc;

/// What a kernel argument is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ArgKind {
    Value,
    Pointer,
    /// Filled by the runtime; the metadata's name without `hidden_` (for example `block_count_x`).
    Hidden(String),
}

/// One kernel argument: its place in the kernarg segment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arg {
    pub offset: u32,
    pub size: u32,
    pub kind: ArgKind,
}

/// A kernel of a code object.
pub struct Kernel {
    pub name: String,
    pub target: String,
    pub wave_size: u32,
    /// Static LDS bytes.
    pub lds_bytes: u32,
    /// Private memory bytes a lane.
    pub scratch_bytes: u32,
    pub kernarg_bytes: u32,
    pub args: Vec<Arg>,
    pub sgprs: u32,
    pub vgprs: u32,
    pub sgpr_spills: u32,
    pub vgpr_spills: u32,
    /// Threads a workgroup may have at most.
    pub max_workgroup: u32,
    pub(crate) descriptor: Descriptor,
    pub(crate) program: Arc<Program>,
    /// First instruction.
    pub(crate) entry: usize,
    /// The instructions that it may reach.
    pub(crate) range: std::ops::Range<usize>,
    /// It has atomics on global memory (or may reach some).
    pub(crate) atomics: bool,
    /// Vector registers to provide (rows; AccVGPRs from row 256).
    pub(crate) rows: usize,
    /// The first instruction that is not implemented: text, address, reason.
    pub(crate) missing: Option<(String, u64, String)>,
}

impl std::fmt::Debug for Kernel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "kernel {} for {}", self.name, self.target)
    }
}

/// The fields of the 64-byte kernel descriptor that a launch needs.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Descriptor {
    pub entry: i64,
    /// Float modes among others.
    pub rsrc1: u32,
    pub rsrc2: u32,
    pub props: u16,
}

fn arguments(kernel: &Value) -> Vec<Arg> {
    let list = kernel.get(".args").map_or(&[][..], Value::list);
    list.iter()
        .map(|a| {
            let kind = a
                .get(".value_kind")
                .and_then(Value::text)
                .unwrap_or("by_value");
            Arg {
                offset: a.number(".offset"),
                size: a.number(".size"),
                kind: match kind.strip_prefix("hidden_") {
                    Some(hidden) => ArgKind::Hidden(hidden.into()),
                    None if kind == "global_buffer" || kind == "dynamic_shared_pointer" => {
                        ArgKind::Pointer
                    }
                    None => ArgKind::Value,
                },
            }
        })
        .collect()
}

pub(super) fn kernel(
    k: &Value,
    elf: &Elf,
    data: &[u8],
    program: &Arc<Program>,
) -> Result<Kernel, String> {
    let name = k
        .get(".name")
        .and_then(Value::text)
        .ok_or("kernel without a name")?
        .to_string();
    let symbol = k
        .get(".symbol")
        .and_then(Value::text)
        .ok_or("kernel without a descriptor symbol")?;
    let find = |n: &str| elf.symbols.iter().find(|s| s.name == n);
    let kd = find(symbol).ok_or_else(|| format!("no symbol {symbol}"))?;
    let at = elf
        .segments
        .iter()
        .find(|s| kd.address >= s.address && kd.address + 64 <= s.address + s.file_size as u64)
        .map(|s| s.offset + (kd.address - s.address) as usize)
        .ok_or_else(|| format!("descriptor {symbol} lies in no segment"))?;
    let d = data.get(at..at + 64).ok_or("descriptor outside the file")?;
    let bad = || format!("descriptor {symbol} is damaged");
    let word = |i| u32_at(d, i).ok_or_else(bad);
    let descriptor = Descriptor {
        entry: u64_at(d, 16).ok_or_else(bad)? as i64,
        rsrc1: word(48)?,
        rsrc2: word(52)?,
        props: word(56)? as u16,
    };
    let pc = kd.address.wrapping_add_signed(descriptor.entry);
    let entry = program
        .map
        .find(pc)
        .ok_or_else(|| format!("kernel {name} begins where no instruction does"))?;
    let size = find(&name).map_or(0, |s| s.size);
    let mut end = entry;
    while program
        .code
        .get(end)
        .is_some_and(|i| i.pc < pc + size.max(4))
    {
        end += 1;
    }
    // With calls any function of the object may be reached.
    let calls = program.code[entry..end].iter().any(|i| {
        ["s_swappc", "s_setpc", "s_call"]
            .iter()
            .any(|n| i.text.starts_with(n))
    });
    let range = if calls {
        0..program.code.len()
    } else {
        entry..end
    };
    let mut missing = program.code[range.clone()].iter().find_map(|i| {
        i.missing
            .as_ref()
            .map(|m| (i.text.clone(), i.pc, m.clone()))
    });
    // Bits 16 to 19: denormals of f32, of f16 and f64; bits 12 to 15: rounding.
    if descriptor.rsrc1 >> 12 & 0xff != 0xf0 {
        missing.get_or_insert((
            name.clone(),
            pc,
            "float modes other than nearest even with denormals are not implemented".into(),
        ));
    }
    Ok(Kernel {
        wave_size: match k.get(".wavefront_size").and_then(Value::int) {
            Some(64) => 64,
            Some(32) => 32,
            _ if descriptor.props >> 10 & 1 != 0 => 32,
            _ => 64,
        },
        target: program.target.name.clone(),
        lds_bytes: k.number(".group_segment_fixed_size"),
        scratch_bytes: k.number(".private_segment_fixed_size"),
        kernarg_bytes: k.number(".kernarg_segment_size"),
        args: arguments(k),
        sgprs: k.number(".sgpr_count"),
        vgprs: k.number(".vgpr_count"),
        sgpr_spills: k.number(".sgpr_spill_count"),
        vgpr_spills: k.number(".vgpr_spill_count"),
        max_workgroup: k.number(".max_flat_workgroup_size"),
        rows: program.rows(range.start, range.end).max(3),
        name,
        descriptor,
        program: program.clone(),
        entry,
        atomics: program.code[range.clone()]
            .iter()
            .any(|i| i.class == super::decode::Class::Atomic),
        range,
        missing,
    })
}
