//! libmlxrocm: quantized language models behind a stable C ABI.
//!
//! Calls go down this list and never up (a test checks it):
//! `capi → session → model → chess → array → graph → plan → gpu → cpu → driver → step → ir`.
//! `formats` and `text` know nothing of devices.
#![deny(unsafe_op_in_unsafe_fn)]
#![warn(missing_docs, clippy::undocumented_unsafe_blocks)]
#![cfg_attr(test, allow(clippy::undocumented_unsafe_blocks))]

pub mod array;
pub mod capi;
pub mod chess;
pub mod cpu;
pub mod driver;
pub mod error;
pub mod formats;
pub mod gpu;
pub mod graph;
pub mod ir;
pub mod log;
pub mod model;
pub mod panics;
pub mod plan;
pub mod session;
pub mod step;
pub mod text;

pub use error::{Error, Result};
