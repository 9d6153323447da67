//! The C API: one file a noun, and the machinery they share. `include/mlxrocm.h` is generated from
//! the files of nouns; their doc comments are its manual.
//!
//! Only this folder exports symbols and only this folder sees C types. Every exported function's
//! body is one call of a function of [`boundary`], which catches panics.

// The contract of raw pointers is in the doc comment of each parameter and in the header's
// introduction; C names are not Rust's.
#![allow(clippy::missing_safety_doc, non_camel_case_types)]

mod boundary;
mod callback;
pub mod chess_net_options;
pub mod device_info;
pub mod event;
mod handle;
mod options;
mod outputs;
pub mod program_info;
mod strings;
mod symbols;

pub mod array;
pub mod buffer;
pub mod chat_template;
pub mod chess_net;
pub mod chess_queue;
pub mod device;
pub mod device_memory;
pub mod error;
pub mod evaluate;
pub mod generation;
pub mod generation_wait;
pub mod gpu_event;
pub mod kernel;
pub mod launch;
pub mod log;
pub mod model;
pub mod model_file;
pub mod module;
pub mod program;
pub mod quantize;
pub mod request;
pub mod selftest;
pub mod session;
pub mod state;
pub mod status;
pub mod stream;
pub mod tokenizer;
pub mod version;
