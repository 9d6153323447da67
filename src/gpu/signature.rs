//! What arguments a kernel takes, as its code says: drivers read arguments through bare pointers, so
//! one too few would be read from nowhere. And whether it waits for the launch before it itself.

use std::collections::HashMap;

/// Sizes of a kernel's arguments in bytes, in order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Signature {
    sizes: Vec<u32>,
    /// Bit i: argument i has 8 bytes.
    wide: u64,
    /// Every argument has 4 or 8 bytes.
    is_plain: bool,
    /// It waits itself until the launch before it is done (PTX only).
    pub waits: bool,
}

impl Signature {
    fn new(sizes: Vec<u32>) -> Signature {
        let wide = sizes.iter().take(64).enumerate();
        Signature {
            wide: wide.fold(0, |mask, (i, size)| mask | u64::from(*size == 8) << i),
            is_plain: sizes.len() <= 64 && sizes.iter().all(|size| matches!(size, 4 | 8)),
            sizes,
            waits: false,
        }
    }

    /// What is wrong with `count` arguments of which those in `wide` have 8 bytes, the others 4.
    pub fn wrong(&self, count: usize, wide: u64) -> Option<String> {
        if self.is_plain && count == self.sizes.len() && wide == self.wide {
            return None;
        }
        if count != self.sizes.len() {
            let takes = self.sizes.len();
            return Some(format!("it takes {takes} arguments, {count} were given"));
        }
        let mut sizes = self.sizes.iter().enumerate();
        sizes.find_map(|(at, size)| {
            let given = if wide >> at.min(63) & 1 == 1 { 8 } else { 4 };
            (*size != given)
                .then(|| format!("argument {at} has {size} bytes, one of {given} was given"))
        })
    }
}

/// The kernels of a code object by name. Empty where the code does not say (bundles, cubins): such
/// kernels are not checked.
pub(super) fn signatures(code: &[u8]) -> HashMap<String, Signature> {
    if code.starts_with(b"\x7fELF") {
        of_elf(code).unwrap_or_default()
    } else {
        std::str::from_utf8(code)
            .ok()
            .filter(|text| text.contains(".version"))
            .map(of_ptx)
            .unwrap_or_default()
    }
}

/// Section type of notes.
const NOTES: u32 = 7;

/// Note type of AMD's metadata, a MessagePack map.
const METADATA: u32 = 32;

fn of_elf(elf: &[u8]) -> Option<HashMap<String, Signature>> {
    let table = usize::try_from(number(elf, 0x28, 8)?).ok()?;
    let size = usize::try_from(number(elf, 0x3a, 2)?).ok()?;
    let count = usize::try_from(number(elf, 0x3c, 2)?).ok()?;
    for section in 0..count {
        let header = table.checked_add(section.checked_mul(size)?)?;
        if number(elf, header.checked_add(4)?, 4)? != u64::from(NOTES) {
            continue;
        }
        let start = usize::try_from(number(elf, header.checked_add(0x18)?, 8)?).ok()?;
        let length = usize::try_from(number(elf, header.checked_add(0x20)?, 8)?).ok()?;
        let mut notes = elf.get(start..start.checked_add(length)?)?;
        while notes.len() >= 12 {
            let padded = |n: u64| usize::try_from(n).ok()?.checked_next_multiple_of(4);
            let (name, content) = (number(notes, 0, 4)?, number(notes, 4, 4)?);
            let begin = padded(name)?.checked_add(12)?;
            let bytes = notes.get(begin..begin.checked_add(usize::try_from(content).ok()?)?)?;
            if number(notes, 8, 4)? == u64::from(METADATA) && notes.get(12..18) == Some(b"AMDGPU") {
                return of_metadata(bytes);
            }
            let next = begin.checked_add(padded(content)?)?;
            notes = notes.get(next..).unwrap_or_default();
        }
    }
    None
}

/// A little-endian number of `size` bytes.
fn number(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let bytes = bytes.get(at..at.checked_add(size)?)?;
    Some(
        bytes
            .iter()
            .rev()
            .fold(0, |n, byte| n << 8 | u64::from(*byte)),
    )
}

fn of_metadata(bytes: &[u8]) -> Option<HashMap<String, Signature>> {
    let Value::Map(metadata) = Reader(bytes).value(0)? else {
        return None;
    };
    let mut signatures = HashMap::new();
    let Value::List(kernels) = find(&metadata, "amdhsa.kernels")? else {
        return None;
    };
    for kernel in kernels {
        let Value::Map(kernel) = kernel else {
            return None;
        };
        let Value::Text(name) = find(kernel, ".name")? else {
            return None;
        };
        let mut sizes = Vec::new();
        if let Some(Value::List(args)) = find(kernel, ".args") {
            for arg in args {
                let Value::Map(arg) = arg else { return None };
                match (find(arg, ".value_kind")?, find(arg, ".size")?) {
                    (Value::Text(kind), _) if kind.starts_with("hidden_") => {}
                    (_, Value::Number(size)) => sizes.push(u32::try_from(*size).ok()?),
                    _ => return None,
                }
            }
        }
        signatures.insert(name.clone(), Signature::new(sizes));
    }
    Some(signatures)
}

fn find<'a>(map: &'a [(Value, Value)], key: &str) -> Option<&'a Value> {
    let is_key = |entry: &&(Value, Value)| matches!(&entry.0, Value::Text(text) if text == key);
    map.iter().find(is_key).map(|entry| &entry.1)
}

/// A MessagePack value, as far as metadata has them.
#[derive(Debug)]
enum Value {
    Number(u64),
    Text(String),
    List(Vec<Value>),
    Map(Vec<(Value, Value)>),
    Other,
}

/// Deeper nesting is no metadata.
const DEEPEST: u32 = 16;

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take(&mut self, count: usize) -> Option<&[u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    /// A big-endian number of `size` bytes.
    fn big(&mut self, size: usize) -> Option<u64> {
        let bytes = self.take(size)?;
        Some(bytes.iter().fold(0, |n, byte| n << 8 | u64::from(*byte)))
    }

    fn value(&mut self, depth: u32) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        let tag = self.big(1)?;
        match tag {
            0x00..=0x7f => Some(Value::Number(tag)),
            0x80..=0x8f => self.map(tag & 15, depth),
            0x90..=0x9f => self.list(tag & 15, depth),
            0xa0..=0xbf => self.text(tag & 31),
            0xc0 | 0xc2 | 0xc3 | 0xe0..=0xff => Some(Value::Other),
            0xcc..=0xcf => self.big(1 << (tag - 0xcc)).map(Value::Number),
            // Floats and signed numbers.
            0xca | 0xcb => self.skip(4 << (tag - 0xca)),
            0xd0..=0xd3 => self.skip(1 << (tag - 0xd0)),
            0xd9..=0xdb => {
                let length = self.big(1 << (tag - 0xd9))?;
                self.text(length)
            }
            0xdc | 0xdd => {
                let count = self.big(2 << (tag - 0xdc))?;
                self.list(count, depth)
            }
            0xde | 0xdf => {
                let count = self.big(2 << (tag - 0xde))?;
                self.map(count, depth)
            }
            _ => None,
        }
    }

    fn skip(&mut self, count: usize) -> Option<Value> {
        self.take(count).map(|_| Value::Other)
    }

    fn text(&mut self, length: u64) -> Option<Value> {
        let bytes = self.take(usize::try_from(length).ok()?)?;
        Some(Value::Text(String::from_utf8_lossy(bytes).into_owned()))
    }

    fn list(&mut self, count: u64, depth: u32) -> Option<Value> {
        let mut values = Vec::new();
        for _ in 0..count {
            values.push(self.value(depth + 1)?);
        }
        Some(Value::List(values))
    }

    fn map(&mut self, count: u64, depth: u32) -> Option<Value> {
        let mut entries = Vec::new();
        for _ in 0..count {
            entries.push((self.value(depth + 1)?, self.value(depth + 1)?));
        }
        Some(Value::Map(entries))
    }
}

/// `.entry name( .param .u64 a, .param .u32 b )` of PTX.
fn of_ptx(text: &str) -> HashMap<String, Signature> {
    let entries = text.split(".entry").skip(1);
    entries
        .filter_map(|entry| {
            let (name, rest) = entry.split_once('(')?;
            let (params, _) = rest.split_once(')')?;
            let sizes = params
                .split(',')
                .filter(|param| !param.trim().is_empty())
                .map(ptx_size)
                .collect::<Option<_>>()?;
            let signature = Signature {
                waits: rest.contains("griddepcontrol.wait"),
                ..Signature::new(sizes)
            };
            Some((name.trim().to_string(), signature))
        })
        .collect()
}

/// The size of `.param .align 8 .b8 name[24]`.
fn ptx_size(param: &str) -> Option<u32> {
    let kind = param
        .split_whitespace()
        .rfind(|word| word.starts_with('.') && word.ends_with(|c: char| c.is_ascii_digit()))?;
    let digits = kind.trim_start_matches(|c: char| !c.is_ascii_digit());
    let size = digits.parse::<u32>().ok()? / 8;
    match param.split_once('[') {
        Some((_, rest)) => size.checked_mul(rest.split(']').next()?.trim().parse().ok()?),
        None => Some(size),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_must_be_what_the_kernel_takes() {
        let signature = Signature::new(vec![8, 8, 4]);
        assert_eq!(signature.wrong(3, 0b011), None);
        let said = |count, wide| signature.wrong(count, wide).unwrap();
        assert_eq!(said(2, 0b11), "it takes 3 arguments, 2 were given");
        assert_eq!(said(4, 0b11), "it takes 3 arguments, 4 were given");
        assert_eq!(said(3, 0b111), "argument 2 has 4 bytes, one of 8 was given");
        assert_eq!(said(3, 0b010), "argument 0 has 8 bytes, one of 4 was given");
        let odd = Signature::new(vec![8, 24]);
        assert!(odd.wrong(2, 0b11).unwrap().contains("24 bytes"));
        assert_eq!(Signature::new(vec![]).wrong(0, 0), None);
    }

    #[test]
    fn ptx_tells_its_parameters() {
        let text = ".version 8.0\n.visible .entry add(\n\t.param .u64 add_param_0,\n\t.param .u64 .ptr \
                    .global .align 1 add_param_1,\n\t.param .f32 add_param_2,\n\t.param .align 8 .b8 \
                    add_param_3[24]\n)\n{ }\n.entry none()\n{ }";
        let found = signatures(text.as_bytes());
        assert_eq!(found["add"].sizes, [8, 8, 4, 24]);
        assert_eq!(found["none"].sizes, [0_u32; 0]);
    }

    #[test]
    fn damaged_code_says_nothing_and_never_panics() {
        // {"amdhsa.kernels": [{".name": "k", ".args": [{".size": 8, ".value_kind": "by_value"},
        //   {".size": 8, ".value_kind": "hidden_none"}]}]}
        let mut metadata = b"\x81\xaeamdhsa.kernels\x91\x82\xa5.name\xa1k\xa5.args\x92".to_vec();
        metadata.extend(b"\x82\xa5.size\x08\xab.value_kind\xa8by_value");
        metadata.extend(b"\x82\xa5.size\x08\xab.value_kind\xabhidden_none");
        assert_eq!(of_metadata(&metadata).unwrap()["k"].sizes, [8]);
        for end in 0..metadata.len() {
            assert!(of_metadata(&metadata[..end]).is_none(), "{end}");
        }
        for at in 0..metadata.len() {
            for byte in [0, 0x7f, 0x8f, 0xdb, 0xdd, 0xdf, 0xff] {
                let mut damaged = metadata.clone();
                damaged[at] = byte;
                of_metadata(&damaged);
            }
        }
        let mut elf = b"\x7fELF".to_vec();
        assert!(signatures(&elf).is_empty());
        elf.resize(64, 0xff);
        assert!(signatures(&elf).is_empty());
    }
}
