//! A software AMD GPU for tests: it runs the real machine code of nine AMD targets on the CPU.
//!
//! [`memory`] is the device memory (every access is checked against it), [`isa`] loads code objects
//! and executes kernels, [`timing`] predicts how long a card takes for them, [`hip`] is the stand-in HIP runtime that the C ABI `libsoftgpu.so` exports.

pub mod hip;
pub mod isa;
pub mod memory;
pub mod timing;
