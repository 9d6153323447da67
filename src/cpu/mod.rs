//! The CPU device: thread pool, SIMD kernels chosen at run time, and the program executor.

mod activations;
mod arena;
mod attention;
mod elements;
mod evaluate;
mod executor;
mod facts;
mod kernels;
mod kv;
mod matmul;
pub mod ops;
mod packed;
mod plain;
mod products;
mod recurrent;
mod scores;
mod shared;
mod slots;
mod threads;

pub use elements::{Elements, Storage};
pub use evaluate::evaluate;
pub use executor::{CpuExecutor, CpuWeights};
pub use facts::{CpuFacts, facts, free_memory};
pub use kernels::{SimdLevel, simd_level};
pub use threads::ThreadPool;
