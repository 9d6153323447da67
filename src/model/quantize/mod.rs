//! Quantizing a model: a folder of safetensors files or a GGUF file with numbers of 16 or 32 bits becomes a folder in
//! MLX's format, byte for byte the tensors that mlx-lm 0.32.2 writes.
//!
//! `folder` and `gguf` say which tensors there will be (`tensor`), under MLX's names; `choice` says which of them are
//! quantized and how; `layout` places them in files before any number is read; `convert` makes their bytes and
//! `write` writes them, some rows at a time; `output` keeps what is done where an interrupted run finds it; `run`
//! puts all together.

mod choice;
mod config;
mod convert;
mod folder;
mod gguf;
mod gguf_config;
mod layout;
mod output;
mod run;
mod tensor;
mod write;

pub use choice::{RECIPES, Rule};
pub use config::named as dtype_named;
pub use run::{QuantizeOptions, Quantized, quantize};
