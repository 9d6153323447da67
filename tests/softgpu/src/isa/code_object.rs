//! A loaded code object and its kernels.

use super::decode::Target;
use super::disassembly::disassemble;
use super::elf::{Elf, parse};
use super::kernel::{Kernel, kernel};
use super::metadata::{self, Value};
use super::program::{Decoded, Program};
use parking_lot::Mutex;
use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

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
