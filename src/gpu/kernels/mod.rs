//! The built-in kernels: code objects by name.

mod registry;

pub use registry::Registry;
