//! Quantized language models and lazy arrays on AMD GPUs, NVIDIA GPUs and the CPU, through libmlxrocm.
//!
//! ```no_run
//! use mlxrocm_rs::{Message, Model, Request, Session};
//!
//! # fn main() -> mlxrocm_rs::Result<()> {
//! let model = Model::load("model.gguf")?;
//! let session = Session::new(&model)?;
//! for event in session.submit(&Request::chat(&[Message::user("Hello")]).max_tokens(100))? {
//!     print!("{}", event?.text());
//! }
//! # Ok(())
//! # }
//! ```
//!
//! All types are `Send` and `Sync`. What was made from an object keeps what it needs of it.

#![deny(clippy::undocumented_unsafe_blocks)]

mod array;
mod chess;
mod device;
pub mod engine;
#[rustfmt::skip]
mod enums;
mod error;
mod files;
mod generation;
mod log;
mod model;
mod model_files;
#[rustfmt::skip]
mod operations;
mod request;
mod session;

pub use array::{Array, Element, evaluate};
pub use chess::{ChessBatch, ChessInfo, ChessNet, ChessOptions, ChessQueue, Evaluation, Move, Position};
pub use device::{Device, DeviceInfo, DeviceKind, DeviceMemory, Graphs, SelftestOptions};
pub use enums::{DType, Status};
pub use error::{Error, Result};
pub use files::{Arrays, load_arrays, save_gguf, save_safetensors};
pub use generation::{Canceller, Event, FinishReason, Finished, Generation, Token, wait_any};
pub use log::{LogLevel, set_log};
pub use model::{Message, Model, ModelInfo, Tokenizer, TokenizerInfo};
pub use model_files::{QuantizeOptions, Quantized, TensorInfo, list_tensors, quantize, quantize_with};
pub use operations::*;
pub use request::Request;
pub use session::{KvType, Pooling, Session, SessionInfo, SessionOptions, state_tokens};

/// The library's version, like "0.1.0".
pub fn version() -> String {
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    error::owned(unsafe { mlxrocm_sys::mlxrocm_version_string(std::ptr::null_mut()) })
}

/// One line about how the library was built: version, target, devices and formats. For bug reports.
pub fn build_info() -> String {
    // SAFETY: live handles, and pointers with the lengths of what they point to.
    error::owned(unsafe { mlxrocm_sys::mlxrocm_build_info(std::ptr::null_mut()) })
}
