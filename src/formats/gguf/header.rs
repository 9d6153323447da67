//! The header of a GGUF file: metadata and tensor descriptions, read and checked.

use super::Value;
use super::reader::Reader;
use super::tensor_type::{TensorType, plain_size, tensor_type};
use crate::formats::{Format, brief};
use crate::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

/// A tensor as the header describes it.
pub(super) struct TensorInfo {
    pub(super) name: String,
    /// Product of all dimensions but the first.
    pub(super) rows: usize,
    /// The first dimension, the one that is contiguous.
    pub(super) cols: usize,
    /// All dimensions, contiguous one first, as stored.
    pub(super) dims: Vec<usize>,
    /// The format, or the name of a type that is not read.
    pub(super) format: std::result::Result<Format, String>,
    /// Where its data lies in the file (empty for unread types that are no plain numbers).
    pub(super) range: Range<usize>,
}

/// Everything before the tensor data.
pub(super) struct Header {
    pub(super) metadata: HashMap<String, Value>,
    pub(super) tensors: Vec<TensorInfo>,
}

/// Reads and checks the header. No tensor data is touched.
pub(super) fn read(path: &Path, bytes: &[u8]) -> Result<Header> {
    let mut reader = Reader::new(path, bytes);
    if bytes.get(..4) != Some(b"GGUF") {
        return Err(Error::InvalidFile(format!(
            "{}: not a GGUF file (it does not start with \"GGUF\")",
            path.display()
        )));
    }
    reader.u32("magic")?;
    let version = reader.u32("version")?;
    if matches!(version.swap_bytes(), 1..=3) {
        return Err(Error::Unsupported(format!(
            "{}: a big-endian GGUF file; only little-endian files are supported",
            path.display()
        )));
    }
    if !matches!(version, 1..=3) {
        return Err(Error::Unsupported(format!(
            "{}: GGUF version {version}; versions 1, 2 and 3 are supported",
            path.display()
        )));
    }
    reader.short_lengths = version == 1;
    // The smallest tensor: name, dimension count, one dimension, type, offset.
    let min_tensor = reader.min_string() + 4 + reader.min_string() + 4 + 8;
    let tensor_count = reader.count(min_tensor, "tensor count")?;
    // The smallest entry: key, type, one byte.
    let entry_count = reader.count(reader.min_string() + 5, "metadata count")?;
    let metadata = read_metadata(&mut reader, entry_count)?;
    let alignment = alignment(&reader, &metadata)?;
    let mut infos = Vec::with_capacity(tensor_count);
    let mut offsets = Vec::with_capacity(tensor_count);
    for index in 0..tensor_count {
        let (info, offset) = read_tensor(&mut reader, index)?;
        infos.push(info);
        offsets.push(offset);
    }
    check_names(&reader, &infos)?;
    place(
        path,
        &mut infos,
        &offsets,
        reader.position(),
        alignment,
        bytes.len(),
    )?;
    Ok(Header {
        metadata,
        tensors: infos,
    })
}

fn read_metadata(reader: &mut Reader, count: usize) -> Result<HashMap<String, Value>> {
    let mut metadata = HashMap::with_capacity(count.min(1024));
    for index in 0..count {
        let key = reader.key(&format!("metadata key {index} of {count}"))?;
        let field = format!("metadata {key}");
        let value = reader.value(&field)?;
        if metadata.insert(key.to_string(), value).is_some() {
            return Err(reader.bad(&field, "the key appears twice"));
        }
    }
    Ok(metadata)
}

fn alignment(reader: &Reader, metadata: &HashMap<String, Value>) -> Result<usize> {
    const KEY: &str = "general.alignment";
    let Some(value) = metadata.get(KEY) else {
        return Ok(32);
    };
    match value.as_u64() {
        Some(value) if value.is_power_of_two() && value <= 1 << 30 => Ok(value as usize),
        _ => Err(reader.bad(
            &format!("metadata {KEY}"),
            format_args!("{} is not a power of two", brief(format_args!("{value:?}"))),
        )),
    }
}

/// One tensor description and its offset into the data section.
fn read_tensor(reader: &mut Reader, index: usize) -> Result<(TensorInfo, u64)> {
    let name = reader.key(&format!("name of tensor {index}"))?;
    let field = format!("tensor {name}");
    let dimensions = reader.u32(&field)?;
    if !matches!(dimensions, 1..=4) {
        return Err(reader.bad(
            &field,
            format_args!("{dimensions} dimensions; 1 to 4 are possible"),
        ));
    }
    let mut dims = Vec::with_capacity(4);
    let mut elements = 1usize;
    for _ in 0..dimensions {
        let size = reader.length(&field)?;
        let fits = usize::try_from(size)
            .ok()
            .filter(|size| *size > 0)
            .and_then(|size| Some((size, elements.checked_mul(size)?)));
        let Some((size, product)) = fits else {
            return Err(reader.bad(
                &field,
                format_args!("dimension {size} is zero or overflows the element count"),
            ));
        };
        dims.push(size);
        elements = product;
    }
    let format = match tensor_type(reader.u32(&field)?) {
        TensorType::Known(format) => Ok(format),
        TensorType::Unsupported(name) => Err(name),
    };
    let offset = reader.u64(&field)?;
    let cols = dims.first().copied().unwrap_or(1);
    let info = TensorInfo {
        name: name.to_string(),
        rows: elements / cols,
        cols,
        dims,
        format,
        range: 0..0,
    };
    Ok((info, offset))
}

fn check_names(reader: &Reader, infos: &[TensorInfo]) -> Result<()> {
    let mut names = std::collections::HashSet::with_capacity(infos.len());
    for info in infos {
        if !names.insert(info.name.as_str()) {
            return Err(reader.bad(&format!("tensor {}", info.name), "the name appears twice"));
        }
    }
    Ok(())
}

/// Checks that each tensor's data lies inside the data section and works out its place.
fn place(
    path: &Path,
    infos: &mut [TensorInfo],
    offsets: &[u64],
    header_end: usize,
    alignment: usize,
    file_len: usize,
) -> Result<()> {
    let start = header_end.checked_next_multiple_of(alignment);
    for (info, offset) in infos.iter_mut().zip(offsets) {
        let bad = |what: String| {
            Err(Error::InvalidFile(format!(
                "{}: tensor {}: {what}",
                path.display(),
                info.name
            )))
        };
        let Ok(format) = info.format else {
            // A file with a model in it may hold anything else.
            info.range = plain_range(info, *offset, start, alignment, file_len).unwrap_or(0..0);
            continue;
        };
        if !offset.is_multiple_of(alignment as u64) {
            return bad(format!("offset {offset} is not a multiple of {alignment}"));
        }
        let (block, _) = format.block();
        if !info.cols.is_multiple_of(block) {
            return bad(format!(
                "rows of {} weights are not a multiple of {block}, the block of {format}",
                info.cols
            ));
        }
        let range = format.row_bytes(info.cols).and_then(|row_bytes| {
            let len = info.rows.checked_mul(row_bytes)?;
            let start = start?.checked_add(usize::try_from(*offset).ok()?)?;
            Some(start..start.checked_add(len)?)
        });
        match range {
            Some(range) if range.end <= file_len => info.range = range,
            _ => {
                return bad(format!(
                    "{format} data of shape {:?} at offset {offset} does not lie inside the file \
                     of {file_len} bytes; the file is truncated or damaged",
                    info.dims
                ));
            }
        }
    }
    Ok(())
}

/// Where numbers of a type lie that no weight is of, if they lie inside the file.
fn plain_range(
    info: &TensorInfo,
    offset: u64,
    start: Option<usize>,
    alignment: usize,
    file_len: usize,
) -> Option<Range<usize>> {
    let size = plain_size(info.format.as_ref().err()?)?;
    let length = info.rows.checked_mul(info.cols)?.checked_mul(size)?;
    let start = start?.checked_add(usize::try_from(offset).ok()?)?;
    let range = start..start.checked_add(length)?;
    (range.end <= file_len && offset.is_multiple_of(alignment as u64)).then_some(range)
}
