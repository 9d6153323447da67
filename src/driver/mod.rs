//! The vendor's driver: one table of functions for HIP and CUDA, opened at run time.
//! Only this room sees vendor types.

mod facts;

pub use facts::{DeviceFacts, Platform};
