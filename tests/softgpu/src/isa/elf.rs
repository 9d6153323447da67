//! The parts of ELF64 that a code object needs: segments, symbols, notes, relocations.

/// One loadable segment.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub offset: usize,
    pub address: u64,
    pub file_size: usize,
    pub memory_size: usize,
}

#[derive(Clone, Debug)]
pub struct Symbol {
    pub name: String,
    pub address: u64,
    pub size: u64,
    /// 1 object, 2 function.
    pub kind: u8,
    pub section: u16,
}

/// A read ELF file.
#[derive(Debug, Default)]
pub struct Elf {
    pub flags: u32,
    pub segments: Vec<Segment>,
    pub symbols: Vec<Symbol>,
    /// The AMDGPU metadata note's content.
    pub note: Vec<u8>,
    /// (place, kind, symbol index, addend).
    pub relocations: Vec<(u64, u32, u32, i64)>,
    /// Address and size of `.text`.
    pub text: (u64, u64),
    /// (address, offset, size) of `.text` and other sections of a relocatable object.
    pub is_relocatable: bool,
}

fn bytes(data: &[u8], at: usize, n: usize) -> Option<&[u8]> {
    data.get(at..at.checked_add(n)?)
}

fn u16_at(data: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(bytes(data, at, 2)?.try_into().ok()?))
}

pub fn u32_at(data: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(bytes(data, at, 4)?.try_into().ok()?))
}

pub fn u64_at(data: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(bytes(data, at, 8)?.try_into().ok()?))
}

fn size_at(data: &[u8], at: usize) -> Option<usize> {
    usize::try_from(u64_at(data, at)?).ok()
}

fn text_at(data: &[u8], at: usize) -> Option<String> {
    let rest = data.get(at..)?;
    let end = rest.iter().position(|b| *b == 0)?;
    Some(String::from_utf8_lossy(&rest[..end]).into_owned())
}

/// The metadata note among a PT_NOTE or SHT_NOTE range.
fn note(data: &[u8]) -> Option<Vec<u8>> {
    let mut at = 0;
    loop {
        let (name, size, kind) = (
            u32_at(data, at)? as usize,
            u32_at(data, at + 4)? as usize,
            u32_at(data, at + 8)?,
        );
        let content = at + 12 + name.next_multiple_of(4);
        if kind == 32 && bytes(data, at + 12, 6)? == b"AMDGPU" {
            return bytes(data, content, size).map(<[u8]>::to_vec);
        }
        at = content + size.next_multiple_of(4);
    }
}

/// Reads an ELF64 file for AMD GPUs.
pub fn parse(data: &[u8]) -> Result<Elf, String> {
    if bytes(data, 0, 4) != Some(b"\x7fELF") {
        return Err("not an ELF file".into());
    }
    if bytes(data, 4, 2) != Some(&[2, 1]) || u16_at(data, 18) != Some(224) {
        return Err("not an ELF file for AMD GPUs".into());
    }
    read(data).ok_or_else(|| "damaged ELF file".into())
}

fn read(data: &[u8]) -> Option<Elf> {
    let mut elf = Elf {
        flags: u32_at(data, 48)?,
        is_relocatable: u16_at(data, 16)? == 1,
        ..Elf::default()
    };
    let (program, count) = (size_at(data, 32)?, u16_at(data, 56)?);
    for i in 0..usize::from(count) {
        let at = program.checked_add(i * 56)?;
        let (kind, offset, address) = (
            u32_at(data, at)?,
            size_at(data, at + 8)?,
            u64_at(data, at + 16)?,
        );
        let (file_size, memory_size) = (size_at(data, at + 32)?, size_at(data, at + 40)?);
        match kind {
            1 => {
                bytes(data, offset, file_size)?;
                elf.segments.push(Segment {
                    offset,
                    address,
                    file_size,
                    memory_size,
                });
            }
            4 => {
                if let Some(found) = note(bytes(data, offset, file_size)?) {
                    elf.note = found;
                }
            }
            _ => {}
        }
    }
    let (sections, count, names) = (size_at(data, 40)?, u16_at(data, 60)?, u16_at(data, 62)?);
    let header = |i: usize| sections.checked_add(i.checked_mul(64)?);
    let names = size_at(data, header(usize::from(names))? + 24)?;
    for i in 0..usize::from(count) {
        let at = header(i)?;
        let (kind, address, offset, size) = (
            u32_at(data, at + 4)?,
            u64_at(data, at + 16)?,
            size_at(data, at + 24)?,
            size_at(data, at + 32)?,
        );
        if text_at(data, names.checked_add(u32_at(data, at)? as usize)?)? == ".text" {
            elf.text = (address, size as u64);
        }
        match kind {
            // Symbols: the full table where it was not stripped, the dynamic one besides.
            2 | 11 => {
                let strings = size_at(data, header(u32_at(data, at + 40)? as usize)? + 24)?;
                for s in 0..size / 24 {
                    let e = offset + s * 24;
                    elf.symbols.push(Symbol {
                        name: text_at(data, strings.checked_add(u32_at(data, e)? as usize)?)?,
                        kind: bytes(data, e + 4, 1)?[0] & 15,
                        section: u16_at(data, e + 6)?,
                        address: u64_at(data, e + 8)?,
                        size: u64_at(data, e + 16)?,
                    });
                }
            }
            4 if !elf.is_relocatable => {
                for r in 0..size / 24 {
                    let e = offset + r * 24;
                    let info = u64_at(data, e + 8)?;
                    elf.relocations.push((
                        u64_at(data, e)?,
                        info as u32,
                        (info >> 32) as u32,
                        u64_at(data, e + 16)? as i64,
                    ));
                }
            }
            _ => {}
        }
    }
    Some(elf)
}
