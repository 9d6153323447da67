//! An opened GGUF file.

use super::Value;
use crate::formats::Weight;
use crate::{Error, Result};
use std::path::Path;

/// An opened GGUF file. Immutable: any thread.
#[derive(Debug)]
pub struct Gguf {
    _private: (),
}

impl Gguf {
    /// Maps and validates the file; no tensor data is read.
    pub fn open(_path: &Path) -> Result<Gguf> {
        Err(Error::Unsupported("gguf".into()))
    }
    /// The path it was opened by, for messages.
    pub fn path(&self) -> &Path {
        Path::new("")
    }
    /// A metadata value.
    pub fn get(&self, _key: &str) -> Option<&Value> {
        None
    }
    /// All usable tensors, in file order.
    pub fn tensors(&self) -> &[Weight] {
        &[]
    }
    /// A tensor by name.
    pub fn tensor(&self, _name: &str) -> Option<&Weight> {
        None
    }
}
