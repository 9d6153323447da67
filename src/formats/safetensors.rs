//! Safetensors files: header read and checked, tensors mapped.
//!
//! Layout: an 8-byte little-endian header length, a JSON object `name → {dtype, shape,
//! data_offsets}` (and `__metadata__`), then the data that the offsets count from.

use super::{Bytes, MappedFile, ScalarType, bad_name, brief};
use crate::{Error, Result};
use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use std::collections::HashSet;
use std::fmt;
use std::path::Path;
use std::sync::Arc;

/// Longest header, the limit of the format's own library.
const MAX_HEADER: u64 = 100_000_000;

/// A tensor's element type as the file spells it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dtype {
    /// F32, F16 or BF16.
    Float(ScalarType),
    /// U32: packed codes of quantized weights.
    U32,
    /// I32: the same, of other tools.
    I32,
    /// U8: codes or scales of quantized weights.
    U8,
    /// F8_E4M3: 8-bit floats.
    E4M3,
    /// Any other type; not read, kept for messages.
    Other(String),
}

impl Dtype {
    fn new(name: &str) -> Dtype {
        match name {
            "F32" => Dtype::Float(ScalarType::F32),
            "F16" => Dtype::Float(ScalarType::F16),
            "BF16" => Dtype::Float(ScalarType::BF16),
            "U32" => Dtype::U32,
            "I32" => Dtype::I32,
            "U8" => Dtype::U8,
            "F8_E4M3" => Dtype::E4M3,
            other => Dtype::Other(brief(other)),
        }
    }

    /// Bytes of one element; `None` for types this library does not know.
    fn bytes(&self) -> Option<usize> {
        match self {
            Dtype::Float(scalar) => Some(scalar.bytes()),
            Dtype::U32 | Dtype::I32 => Some(4),
            Dtype::U8 | Dtype::E4M3 => Some(1),
            Dtype::Other(name) => match name.as_str() {
                "BOOL" | "I8" | "F8_E5M2" | "F8_E8M0" => Some(1),
                "U16" | "I16" => Some(2),
                "U64" | "I64" | "F64" | "C64" => Some(8),
                _ => None,
            },
        }
    }
}

impl fmt::Display for Dtype {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Dtype::Float(ScalarType::F32) => "F32",
            Dtype::Float(ScalarType::F16) => "F16",
            Dtype::Float(ScalarType::BF16) => "BF16",
            Dtype::U32 => "U32",
            Dtype::I32 => "I32",
            Dtype::U8 => "U8",
            Dtype::E4M3 => "F8_E4M3",
            Dtype::Other(name) => name,
        })
    }
}

/// One tensor of a safetensors file. Immutable: any thread; keeps the file mapped.
#[derive(Debug, Clone)]
pub struct Tensor {
    /// Element type.
    pub dtype: Dtype,
    /// Dimensions, outermost first.
    pub shape: Vec<usize>,
    /// The elements, little-endian, row-major.
    pub data: Bytes,
}

/// An opened safetensors file. Immutable: any thread.
#[derive(Debug)]
pub struct SafeTensors {
    file: Arc<MappedFile>,
    tensors: Named<Tensor>,
    metadata: Named<String>,
}

impl SafeTensors {
    /// Maps and validates the file; no tensor data is read.
    pub fn open(path: &Path) -> Result<SafeTensors> {
        let file = MappedFile::open(path)?;
        let (tensors, metadata) = read(&file)?;
        Ok(SafeTensors {
            file,
            tensors,
            metadata,
        })
    }

    /// The path it was opened by.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// All tensors, in the order of the header.
    pub fn tensors(&self) -> &[(String, Tensor)] {
        &self.tensors
    }

    /// The texts of `__metadata__`, in the order of their keys.
    pub fn metadata(&self) -> &[(String, String)] {
        &self.metadata
    }
}

/// What names stand for, in the order of the file.
type Named<T> = Vec<(String, T)>;

fn read(file: &Arc<MappedFile>) -> Result<(Named<Tensor>, Named<String>)> {
    let bad = |what: String| Error::InvalidFile(format!("{}: {what}", file.path().display()));
    let bytes = file.bytes();
    let Some((length, rest)) = bytes.split_first_chunk::<8>() else {
        return Err(bad(format!(
            "not a safetensors file ({} bytes; the header length alone takes 8)",
            bytes.len()
        )));
    };
    let length = u64::from_le_bytes(*length);
    if length > MAX_HEADER {
        return Err(bad(format!(
            "header length {length} is above the limit of {MAX_HEADER}; not a safetensors file?"
        )));
    }
    // Below the limit, so it fits any usize.
    let Some((header, data)) = rest.split_at_checked(length as usize) else {
        return Err(bad(format!(
            "header length {length} exceeds the {} bytes left; the file is truncated",
            rest.len()
        )));
    };
    let header: Header =
        serde_json::from_slice(header).map_err(|e| bad(format!("damaged header: {}", brief(e))))?;
    let data_start = bytes.len() - data.len();
    let mut tensors = Vec::with_capacity(header.entries.len());
    for (name, entry) in header.entries {
        let bad = |what: String| Err(bad(format!("tensor {name}: {what}")));
        let dtype = Dtype::new(&entry.dtype);
        let [start, end] = entry.data_offsets;
        if start > end || end > data.len() as u64 {
            return bad(format!(
                "data_offsets [{start}, {end}] do not lie inside the {} bytes of data; the file \
                 is truncated or damaged",
                data.len()
            ));
        }
        let mut elements = Some(1usize);
        let mut shape = Vec::with_capacity(entry.shape.len());
        for size in &entry.shape {
            let size = usize::try_from(*size).ok();
            elements = elements.zip(size).and_then(|(n, size)| n.checked_mul(size));
            shape.extend(size);
        }
        let Some(elements) = elements else {
            return bad(format!(
                "shape {} overflows",
                brief(format_args!("{:?}", entry.shape))
            ));
        };
        if let Some(size) = dtype.bytes()
            && elements.checked_mul(size).map(|n| n as u64) != Some(end - start)
        {
            return bad(format!(
                "{dtype} data of shape {} does not take the {} bytes of its data_offsets",
                brief(format_args!("{shape:?}")),
                end - start
            ));
        }
        // Both are at most the file's length.
        let Some(data) = file.slice(data_start + start as usize..data_start + end as usize) else {
            return bad("outside the file".to_string());
        };
        tensors.push((name, Tensor { dtype, shape, data }));
    }
    Ok((tensors, header.metadata))
}

/// The header. Read entry by entry, so that a name that appears twice is seen.
struct Header {
    entries: Named<Entry>,
    metadata: Named<String>,
}

#[derive(Deserialize)]
struct Entry {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Header, D::Error> {
        deserializer.deserialize_map(HeaderVisitor)
    }
}

struct HeaderVisitor;

impl<'de> Visitor<'de> for HeaderVisitor {
    type Value = Header;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an object of tensors")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
        use serde::de::Error;
        let mut names = HashSet::new();
        let (mut entries, mut metadata) = (Vec::new(), Vec::new());
        while let Some(name) = map.next_key::<String>()? {
            if name == "__metadata__" {
                // What is no text is somebody's extension and nothing that tensors depend on.
                if let serde_json::Value::Object(values) = map.next_value()? {
                    let texts = values.into_iter().filter_map(|(key, value)| match value {
                        serde_json::Value::String(text) => Some((key, text)),
                        _ => None,
                    });
                    metadata.extend(texts);
                }
                continue;
            }
            let entry = map
                .next_value::<Entry>()
                .map_err(|e| A::Error::custom(format_args!("tensor {name}: {e}")))?;
            if let Some(what) = bad_name(&name) {
                return Err(A::Error::custom(format_args!("name of a tensor: {what}")));
            }
            if !names.insert(name.clone()) {
                return Err(A::Error::custom(format_args!(
                    "tensor {name} appears twice"
                )));
            }
            entries.push((name, entry));
        }
        Ok(Header { entries, metadata })
    }
}
