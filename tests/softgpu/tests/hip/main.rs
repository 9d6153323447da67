//! The stand-in HIP runtime, driven through its C functions.

mod copies;
mod devices;
mod exports;
mod faults;
mod memory;
mod ordering;
mod support;
