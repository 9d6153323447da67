//! GGUF v1–v3: metadata and tensors.

use super::Weight;
use crate::{Error, Result};
use std::path::Path;

/// A metadata value.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Any unsigned integer.
    Unsigned(u64),
    /// Any signed integer.
    Signed(i64),
    /// f32 or f64.
    Float(f64),
    /// A flag.
    Bool(bool),
    /// UTF-8 text (invalid bytes are an error).
    Text(String),
    /// An array; all elements have one type.
    Array(Vec<Value>),
}

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
    /// A metadata value.
    pub fn get(&self, _key: &str) -> Option<&Value> {
        None
    }
    /// All tensors, in file order.
    pub fn tensors(&self) -> &[Weight] {
        &[]
    }
    /// A tensor by name.
    pub fn tensor(&self, _name: &str) -> Option<&Weight> {
        None
    }
}
