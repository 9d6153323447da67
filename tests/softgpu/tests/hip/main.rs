//! The stand-in HIP runtime, driven through its C functions.

mod blas;
mod copies;
mod devices;
mod exports;
mod faults;
mod graphs;
mod kernel_graphs;
mod kernels;
mod memory;
mod ordering;
mod races;
mod support;
mod support_kernels;
