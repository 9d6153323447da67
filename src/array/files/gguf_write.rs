//! Named arrays as a GGUF file of version 3: header, metadata, tensors' places, and the tensors one after another, each at
//! a multiple of 32 bytes.

use super::{Metadata, NamedArrays, bytes_of};
use crate::array::Array;
use crate::formats::{bad_name, brief, write_whole};
use crate::ir::Dtype;
use crate::{Error, Result};
use std::path::Path;

/// What tensors lie at multiples of, and where a file says otherwise.
const ALIGNMENT: usize = 32;
const ALIGNMENT_KEY: &str = "general.alignment";
/// The format has no more dimensions.
const MAX_RANK: usize = 4;
/// Metadata types: texts and lists.
const TEXT: u32 = 8;
const LIST: u32 = 9;

/// GGUF's number of a tensor's elements.
fn tensor_type(dtype: Dtype) -> Option<u32> {
    Some(match dtype {
        Dtype::F32 => 0,
        Dtype::F16 => 1,
        Dtype::I8 => 24,
        Dtype::I16 => 25,
        Dtype::I32 => 26,
        Dtype::I64 => 27,
        Dtype::F64 => 28,
        Dtype::Bf16 => 30,
        _ => return None,
    })
}

/// GGUF's number of a metadata number.
fn number_type(dtype: Dtype) -> Option<u32> {
    Some(match dtype {
        Dtype::U8 => 0,
        Dtype::I8 => 1,
        Dtype::U16 => 2,
        Dtype::I16 => 3,
        Dtype::U32 => 4,
        Dtype::I32 => 5,
        Dtype::F32 => 6,
        Dtype::Bool => 7,
        Dtype::U64 => 10,
        Dtype::I64 => 11,
        Dtype::F64 => 12,
        _ => return None,
    })
}

fn refused(what: String) -> Error {
    Error::InvalidArgument(format!("save_gguf: {what}"))
}

fn put_length(file: &mut Vec<u8>, length: usize) {
    file.extend((length as u64).to_le_bytes());
}

fn put_text(file: &mut Vec<u8>, text: &str) {
    put_length(file, text.len());
    file.extend(text.as_bytes());
}

/// An entry of the metadata: its type, and its value.
fn put_metadata(file: &mut Vec<u8>, key: &str, value: &Metadata) -> Result<()> {
    put_text(file, key);
    match value {
        Metadata::Text(text) => {
            file.extend(TEXT.to_le_bytes());
            put_text(file, text);
        }
        Metadata::Texts(texts) => {
            file.extend(LIST.to_le_bytes());
            file.extend(TEXT.to_le_bytes());
            put_length(file, texts.len());
            for text in texts {
                put_text(file, text);
            }
        }
        Metadata::Numbers(numbers) => {
            let kind = number_type(numbers.dtype());
            let kind = kind
                .filter(|_| numbers.rank() < 2)
                .ok_or_else(|| refused(format!("metadata {} is {numbers:?}", brief(key))))?;
            if numbers.rank() == 1 {
                file.extend(LIST.to_le_bytes());
            }
            file.extend(kind.to_le_bytes());
            if numbers.rank() == 1 {
                put_length(file, numbers.shape().count().unwrap_or(0));
            }
            file.extend(bytes_of(numbers)?);
        }
    }
    Ok(())
}

/// Where a tensor lies, its name and sizes, the contiguous one first.
fn put_tensor(file: &mut Vec<u8>, name: &str, array: &Array, offset: usize) -> Result<()> {
    if let Some(what) = bad_name(name) {
        return Err(refused(format!("name of an array: {what}")));
    }
    let sizes = array.shape().numbers().unwrap_or_default();
    let fits = (1..=MAX_RANK).contains(&sizes.len()) && !sizes.contains(&0);
    let kind = tensor_type(array.dtype()).filter(|_| fits);
    let kind = kind.ok_or_else(|| {
        refused(format!(
            "array {} is {array:?}; GGUF has one to {MAX_RANK} axes, none empty, of float32, float16, bfloat16, float64, int8, \
             int16, int32 or int64",
            brief(name)
        ))
    })?;
    put_text(file, name);
    file.extend((sizes.len() as u32).to_le_bytes());
    for &size in sizes.iter().rev() {
        put_length(file, size);
    }
    file.extend(kind.to_le_bytes());
    put_length(file, offset);
    Ok(())
}

impl NamedArrays {
    /// Saves arrays and metadata as a GGUF file, which is there whole or not at all.
    ///
    /// # Errors
    /// Those of computing the arrays; `InvalidArgument` for names, shapes and dtypes that the format has not; `Io`.
    pub fn save_gguf(&self, path: &Path) -> Result<()> {
        // Where tensors lie is this file's own.
        let metadata = self
            .metadata
            .iter()
            .filter(|(key, _)| *key != ALIGNMENT_KEY);
        let mut head = b"GGUF".to_vec();
        head.extend(3_u32.to_le_bytes());
        put_length(&mut head, self.arrays.len());
        put_length(&mut head, metadata.clone().count());
        for (key, value) in metadata {
            put_metadata(&mut head, key, value)?;
        }
        let mut offset = 0;
        for (name, array) in &self.arrays {
            put_tensor(&mut head, name, array, offset)?;
            let count = array.shape().count().unwrap_or(0);
            offset = (offset + count * array.dtype().size()).next_multiple_of(ALIGNMENT);
        }
        head.resize(head.len().next_multiple_of(ALIGNMENT), 0);
        write_whole(path, |file| {
            let mut written = file.write_all(&head);
            for array in self.arrays.values() {
                // One array's bytes at a time.
                let mut bytes = bytes_of(array)?;
                bytes.resize(bytes.len().next_multiple_of(ALIGNMENT), 0);
                written = written.and_then(|()| file.write_all(&bytes));
            }
            Ok(written)
        })
    }
}
