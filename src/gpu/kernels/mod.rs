//! The built-in kernels (code objects by name), and the compilation of kernels at run time.

mod archive;
mod cache;
mod clang;
mod compile;
mod probe;
mod registry;
mod targets;

pub use archive::{BuiltIn, built_in, built_in_compiler, fingerprint};
pub use compile::{Code, Compiler};
pub use registry::Registry;
