//! GGUF v1–v3: metadata and tensors.

mod file;
mod header;
mod reader;
mod split;
mod tensor_type;
mod value;

pub use file::Gguf;
pub use value::Value;
