//! The vendor's driver: one table of functions for HIP and CUDA, opened at run time.
//! Only this room sees vendor types.

mod api;
mod blas;
mod blas_files;
mod blas_lt;
mod clusters;
mod comgr;
mod compiler;
mod cuda;
pub mod ending;
mod facts;
mod graph;
mod hip;
mod linkage;
mod loader;
mod memory;
mod modules;
mod status;
mod streams;
mod sys;
mod table;

pub use api::{Api, Context};
pub use blas::{Blas, Product};
pub use blas_files::BlasFile;
pub use comgr::known_targets as comgr_targets;
pub use compiler::{Refused, RuntimeLibrary};
pub use facts::{DeviceFacts, Platform, system_memory};
pub use graph::{Launch, Overlap, Packed};
pub use loader::{open, open_library};
pub use modules::FunctionAttribute;
pub use status::Code;
pub use table::{
    BlasHandle, EventHandle, ExecutableHandle, FunctionHandle, GraphHandle, ModuleHandle,
    NodeHandle, StreamHandle,
};
