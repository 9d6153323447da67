//! npy files: numpy's format of one array, its header read and written.
//!
//! Layout: `\x93NUMPY`, version (two bytes), the header's length (u16 of version 1, u32 of 2 and 3), a
//! Python dictionary `{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }`, then the elements.

use super::{Bytes, MappedFile, brief};
use crate::{Error, Result};
use std::path::Path;

const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header: those of numpy have about a hundred bytes.
const MAX_HEADER: usize = 1 << 16;

/// The array of an npy file. Immutable: any thread; keeps the file mapped.
#[derive(Debug, Clone)]
pub struct Npy {
    /// The element type as numpy spells it, without the byte order: `f4`, `b1`, `c8`.
    pub kind: String,
    /// Whether the most significant byte of a number comes first.
    pub big_endian: bool,
    /// Whether the first axis is the contiguous one.
    pub fortran: bool,
    /// Sizes, outermost first; none of a scalar.
    pub shape: Vec<usize>,
    /// The elements and whatever is behind them.
    pub data: Bytes,
}

impl Npy {
    /// Maps the file and reads its header.
    ///
    /// # Errors
    /// `Io`; `InvalidFile` naming the file and what is wrong with it.
    pub fn open(path: &Path) -> Result<Npy> {
        let file = MappedFile::open(path)?;
        let bad = |what: String| Error::InvalidFile(format!("{}: {what}", path.display()));
        let bytes = file.bytes();
        let cut = || bad(format!("{} bytes are no whole npy header", bytes.len()));
        if !bytes.starts_with(MAGIC) {
            return Err(bad(
                "not an npy file (it does not start with \\x93NUMPY)".into()
            ));
        }
        let version = *bytes.get(6).ok_or_else(cut)?;
        let (length, start) = match (version, bytes.get(8..10), bytes.get(8..12)) {
            (1, Some(&[a, b]), _) => (u16::from_le_bytes([a, b]) as usize, 10),
            (2 | 3, _, Some(&[a, b, c, d])) => (u32::from_le_bytes([a, b, c, d]) as usize, 12),
            (1..=3, ..) => return Err(cut()),
            _ => return Err(bad(format!("version {version} of npy; 1 to 3 are read"))),
        };
        let header = match length <= MAX_HEADER {
            true => bytes.get(start..start + length).ok_or_else(cut)?,
            false => return Err(bad(format!("a header of {length} bytes; damaged?"))),
        };
        let header = std::str::from_utf8(header).map_err(|_| bad("a header of no text".into()))?;
        let entry = |name: &str| {
            let value = entry(header, name);
            value.ok_or_else(|| bad(format!("no '{name}' in the header {:?}", brief(header))))
        };
        let (order, kind) = match entry("descr")?.trim_matches(['\'', '"']) {
            text if text.is_ascii() && text.len() > 1 => text.split_at(1),
            text => return Err(bad(format!("element type {:?}", brief(text)))),
        };
        let fortran = match entry("fortran_order")? {
            "True" => true,
            "False" => false,
            other => return Err(bad(format!("fortran_order is {:?}", brief(other)))),
        };
        let text = entry("shape")?;
        let sizes = text
            .strip_prefix('(')
            .and_then(|text| text.strip_suffix(')'));
        let sizes = sizes.map(|text| text.split(',').map(str::trim).filter(|s| !s.is_empty()));
        let shape: Option<Vec<usize>> = sizes.and_then(|s| s.map(|s| s.parse().ok()).collect());
        let shape = shape.ok_or_else(|| bad(format!("shape {:?}", brief(text))))?;
        let data = file.slice(start + length..bytes.len()).ok_or_else(cut)?;
        Ok(Npy {
            kind: kind.to_string(),
            big_endian: order == ">",
            fortran,
            shape,
            data,
        })
    }
}

/// The text of an entry's value: up to the comma that ends it.
fn entry<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    let at = header.find(&format!("'{name}'"))?;
    let rest = header[at..].split_once(':')?.1.trim_start();
    let end = match rest.starts_with('(') {
        true => rest.find(')')? + 1,
        false => rest.find([',', '}'])?,
    };
    Some(rest[..end].trim())
}

/// The header of a file of little-endian elements, row after row; `kind` as in [`Npy`].
pub fn header(kind: &str, shape: &[usize]) -> Vec<u8> {
    let order = if kind.ends_with('1') { '|' } else { '<' };
    let sizes: String = shape.iter().map(|size| format!("{size}, ")).collect();
    let sizes = match shape.len() {
        0 | 1 => sizes.trim_end(),
        _ => sizes.trim_end_matches(", "),
    };
    let mut text =
        format!("{{'descr': '{order}{kind}', 'fortran_order': False, 'shape': ({sizes}), }}");
    // The data begins at a multiple of 64 bytes, behind a newline.
    let length = (10 + text.len() + 1).next_multiple_of(64) - 10;
    text.extend(std::iter::repeat_n(' ', length - 1 - text.len()));
    text.push('\n');
    // No shape is so long that version 1 has no room for it: ranks are small.
    let mut bytes = [MAGIC, &[1, 0], &(length as u16).to_le_bytes()].concat();
    bytes.extend_from_slice(text.as_bytes());
    bytes
}
