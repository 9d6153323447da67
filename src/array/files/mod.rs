//! Arrays in files: npy (one array), safetensors and GGUF (named ones with metadata).

mod gguf;
mod gguf_write;
mod npy;
mod safetensors;

use super::Array;
use crate::cpu::{Elements, Storage};
use crate::formats::Bytes;
use crate::ir::{Dtype, Layout};
use crate::{Error, Result};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

/// What a file says beside its arrays.
#[derive(Debug, Clone)]
pub enum Metadata {
    /// A text.
    Text(String),
    /// A list of texts (GGUF).
    Texts(Vec<String>),
    /// A number or a list of numbers (GGUF).
    Numbers(Array),
}

/// Arrays and metadata by their names.
#[derive(Debug, Clone, Default)]
pub struct NamedArrays {
    /// The arrays.
    pub arrays: BTreeMap<String, Array>,
    /// What is said beside them.
    pub metadata: BTreeMap<String, Metadata>,
}

impl NamedArrays {
    /// The arrays of a safetensors or GGUF file; which of them it is its first bytes say.
    ///
    /// # Errors
    /// `Io`, `InvalidFile`, `Unsupported` naming the file and the tensor; `OutOfMemory`.
    pub fn load(path: &Path) -> Result<NamedArrays> {
        let file = crate::formats::MappedFile::open(path)?;
        match file.bytes().starts_with(b"GGUF") {
            true => gguf::load(path),
            false => safetensors::load(path),
        }
    }
}

/// Elements that lie row after row in a mapped file.
fn mapped(data: &Bytes, dtype: Dtype, sizes: &[usize]) -> Result<Array> {
    struct Mapped(Bytes);
    impl AsRef<[u8]> for Mapped {
        fn as_ref(&self) -> &[u8] {
            &self.0
        }
    }
    let storage = Arc::new(Storage::Kept(Box::new(Mapped(data.clone()))));
    Elements::new(storage, dtype, Layout::rows(sizes)).map(Array::from_elements)
}

/// The elements row after row as bytes.
fn bytes_of(array: &Array) -> Result<Vec<u8>> {
    let elements = array.read()?;
    let mut bytes = Vec::new();
    let size = elements.layout().count() * elements.dtype().size();
    let room = bytes.try_reserve_exact(size);
    room.map_err(|_| Error::OutOfMemory(format!("{size} bytes to save an array")))?;
    bytes.resize(size, 0);
    elements.copy_rows(&mut bytes);
    Ok(bytes)
}
