//! A loaded code object and its kernels.

use super::decode::{Inst, Map, Target, decode};
use super::disassembly::{Line, disassemble};
use super::elf::{Elf, parse, u32_at, u64_at};
use super::metadata::{self, Value};
use super::operand::ACC;
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
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

/// Decoded text; loads of the same bytes share it.
pub struct Decoded {
    pub target: Target,
    pub code: Vec<Inst>,
    pub map: Map,
}

/// Decoded text and the loaded image.
pub struct Program {
    decoded: Arc<Decoded>,
    image: Vec<u64>,
    image_bytes: usize,
}

impl std::ops::Deref for Program {
    type Target = Decoded;

    fn deref(&self) -> &Decoded {
        &self.decoded
    }
}

impl Program {
    pub fn new(decoded: Arc<Decoded>, image: Vec<u64>, image_bytes: usize) -> Program {
        Program {
            decoded,
            image,
            image_bytes,
        }
    }

    /// Run-time address of the code object's address 0.
    pub fn base(&self) -> u64 {
        self.image.as_ptr() as u64
    }

    pub fn image_end(&self) -> u64 {
        self.base() + self.image_bytes as u64
    }
}

impl Decoded {
    /// Decodes disassembled text.
    pub fn new(target: Target, lines: &[Line]) -> Decoded {
        let start = lines.iter().map(|l| l.pc).min().unwrap_or(0);
        let end = lines.iter().map(|l| l.pc + l.size).max().unwrap_or(0);
        let mut map = Map {
            start,
            index: vec![u32::MAX; ((end - start) / 4).min(1 << 28) as usize],
        };
        for (i, l) in lines.iter().enumerate() {
            if let Some(slot) = map.index.get_mut(((l.pc - start) / 4) as usize) {
                *slot = i as u32;
            }
        }
        let mut code: Vec<Inst> = lines
            .iter()
            .map(|l| decode(&l.text, l.pc, l.size, &target, &map))
            .collect();
        // Register indexing (gfx9) is known to moves only: anything else between on and off cannot run.
        let mut indexing = false;
        for inst in &mut code {
            if inst.text.starts_with("s_set_gpr_idx_") {
                indexing = inst.text.starts_with("s_set_gpr_idx_on");
            } else if indexing
                && inst.text.starts_with("v_")
                && !inst.text.starts_with("v_mov_b32_e32")
            {
                inst.missing =
                    Some("relative register numbers are implemented for v_mov_b32 only".into());
            }
        }
        for i in 0..code.len() {
            let mut next = i + 1;
            if code[i].falls_through() {
                while code.get(next).is_some_and(|n| n.idle) {
                    next += 1;
                }
            }
            code[i].next = next;
        }
        Decoded { target, code, map }
    }

    /// Highest register row of a range of instructions, plus one.
    pub fn rows(&self, from: usize, to: usize) -> usize {
        let (mut v, mut acc) = (1, 0);
        let relative =
            |i: &Inst| i.text.starts_with("v_movrel") || i.text.starts_with("s_set_gpr_idx");
        if self.code.get(from..to).unwrap_or(&[]).iter().any(relative) {
            v = ACC;
        }
        for inst in self.code.get(from..to).unwrap_or(&[]) {
            for (first, n) in registers(&inst.text) {
                if first >= ACC {
                    acc = acc.max(first + n)
                } else {
                    v = v.max(first + n)
                }
            }
        }
        usize::from(if acc > 0 { acc } else { v })
    }
}

/// Vector registers named in an instruction's text.
fn registers(text: &str) -> Vec<(u16, u16)> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || "[]:_.".contains(c)));
    words
        .filter_map(|w| match super::operand::Operand::parse(w)?.place {
            super::operand::Place::V(first, n) => Some((first, n)),
            _ => None,
        })
        .collect()
}

/// A loaded code object (ELF for one target).
pub struct CodeObject {
    target: String,
    kernels: Vec<Arc<Kernel>>,
    program: Arc<Program>,
    symbols: Vec<(String, u64, usize)>,
}

impl std::fmt::Debug for CodeObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "code object for {} with {} kernels",
            self.target,
            self.kernels.len()
        )
    }
}

/// The target by the machine number in the ELF flags.
fn machine(flags: u32) -> Option<&'static str> {
    Some(match flags & 0xff {
        0x3f => "gfx90a",
        0x4c => "gfx942",
        0x36 => "gfx1030",
        0x41 => "gfx1100",
        0x46 => "gfx1101",
        0x47 => "gfx1102",
        0x44 => "gfx1103",
        0x43 => "gfx1150",
        0x4a => "gfx1151",
        0x55 => "gfx1152",
        0x48 => "gfx1200",
        0x4e => "gfx1201",
        0x51 => "gfx9-generic",
        0x53 => "gfx10-3-generic",
        0x54 => "gfx11-generic",
        0x59 => "gfx12-generic",
        _ => return None,
    })
}

fn image(elf: &Elf, data: &[u8]) -> Result<(Vec<u64>, usize), String> {
    let end = elf
        .segments
        .iter()
        .map(|s| s.address.saturating_add(s.memory_size as u64))
        .max()
        .unwrap_or(0);
    if end > 1 << 30 {
        return Err(format!("code object asks for {end} bytes of memory"));
    }
    let end = end as usize;
    let mut image = vec![0u64; end.div_ceil(8) + 1];
    let base = image.as_ptr() as u64;
    // SAFETY: the same memory as bytes.
    let bytes =
        unsafe { std::slice::from_raw_parts_mut(image.as_mut_ptr().cast::<u8>(), image.len() * 8) };
    for s in &elf.segments {
        let from = data
            .get(s.offset..s.offset + s.file_size)
            .ok_or("segment outside the file")?;
        let at = s.address as usize;
        bytes
            .get_mut(at..at + s.file_size)
            .ok_or("segment outside the image")?
            .copy_from_slice(from);
    }
    for (place, kind, symbol, addend) in &elf.relocations {
        // R_AMDGPU_RELATIVE64 = 13, R_AMDGPU_ABS64 = 3.
        let value = match kind {
            13 => base.wrapping_add_signed(*addend),
            3 => {
                let s = elf
                    .symbols
                    .get(*symbol as usize)
                    .ok_or("relocation to no symbol")?;
                base.wrapping_add(s.address).wrapping_add_signed(*addend)
            }
            other => return Err(format!("relocation kind {other} is not implemented")),
        };
        let at = usize::try_from(*place).map_err(|e| e.to_string())?;
        let to = bytes
            .get_mut(at..at.saturating_add(8))
            .ok_or("relocation outside the image")?;
        to.copy_from_slice(&value.to_le_bytes());
    }
    Ok((image, end))
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

impl CodeObject {
    /// Loads an ELF code object of one target: reads it, disassembles and decodes its text.
    ///
    /// # Errors
    /// A message when the bytes are no AMD code object, or the disassembler is missing.
    pub fn load(data: &[u8]) -> Result<Arc<CodeObject>, String> {
        let elf = parse(data)?;
        let note =
            metadata::decode(&elf.note).ok_or("the code object has no readable metadata note")?;
        let named = note
            .get("amdhsa.target")
            .and_then(Value::text)
            .and_then(|t| t.rsplit_once("--"));
        let name = match named {
            // Features such as sramecc+ follow a colon.
            Some((_, t)) => t.split(':').next().unwrap_or(t).to_string(),
            None => machine(elf.flags)
                .ok_or("unknown target in the ELF flags")?
                .to_string(),
        };
        let target = Target::new(&name)?;
        let (image, image_bytes) = image(&elf, data)?;
        let list = note.get("amdhsa.kernels").map_or(&[][..], Value::list);
        let wide = list
            .iter()
            .filter(|k| k.number(".wavefront_size") == 64)
            .count();
        let wave64 = target.generation >= 10 && wide > 0;
        if wave64 && wide < list.len() {
            return Err("kernels of both wave sizes in one code object are not implemented".into());
        }
        let decoded = decoded(data, target, wave64)?;
        let program = Arc::new(Program::new(decoded, image, image_bytes));
        let mut kernels = Vec::new();
        for k in list {
            kernels.push(Arc::new(kernel(k, &elf, data, &program)?));
        }
        let base = program.base();
        let symbols = elf
            .symbols
            .iter()
            .filter(|s| s.kind == 1 && s.section != 0 && !s.name.ends_with(".kd"))
            .map(|s| (s.name.clone(), base + s.address, s.size as usize))
            .collect();
        Ok(Arc::new(CodeObject {
            target: name,
            kernels,
            program,
            symbols,
        }))
    }

    /// The target, for example `gfx1100`.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// The kernel of this name.
    pub fn kernel(&self, name: &str) -> Option<Arc<Kernel>> {
        self.kernels.iter().find(|k| k.name == name).cloned()
    }

    /// All kernels.
    pub fn kernels(&self) -> Vec<Arc<Kernel>> {
        self.kernels.clone()
    }

    /// Address and size of a device variable (`__device__` global).
    pub fn symbol(&self, name: &str) -> Option<(u64, usize)> {
        self.symbols
            .iter()
            .find(|(n, _, _)| n == name)
            .map(|(_, a, s)| (*a, *s))
    }

    /// Texts of all instructions that could not be decoded, with the reasons (for coverage tests).
    pub fn missing(&self) -> Vec<(String, String)> {
        let code = &self.program.code;
        code.iter()
            .filter_map(|i| i.missing.as_ref().map(|m| (i.text.clone(), m.clone())))
            .collect()
    }
}

/// The decoded text of these bytes, from an earlier load if there was one.
fn decoded(data: &[u8], target: Target, wave64: bool) -> Result<Arc<Decoded>, String> {
    static KNOWN: Mutex<VecDeque<(u64, usize, Arc<Decoded>)>> = Mutex::new(VecDeque::new());
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    let key = (hasher.finish(), data.len());
    let known = KNOWN
        .lock()
        .iter()
        .find(|(h, n, _)| (*h, *n) == key)
        .map(|(_, _, d)| d.clone());
    if let Some(found) = known {
        return Ok(found);
    }
    let made = Arc::new(Decoded::new(target, &disassemble(data, wave64)?));
    let mut all = KNOWN.lock();
    if all.len() >= 128 {
        all.pop_front();
    }
    all.push_back((key.0, key.1, made.clone()));
    Ok(made)
}

fn kernel(k: &Value, elf: &Elf, data: &[u8], program: &Arc<Program>) -> Result<Kernel, String> {
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
