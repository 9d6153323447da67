//! The CPU device: thread pool, SIMD kernels chosen at run time, the executor of models and programs of arrays.

mod activations;
mod arena;
mod arrays;
mod attention;
mod chains;
mod elements;
mod evaluate;
mod executor;
mod facts;
mod huge;
mod kernels;
mod kv;
mod matmul;
pub mod ops;
mod packed;
mod packed_rows;
mod packed_tiles;
mod plain;
mod products;
mod program;
mod recurrent;
mod replay;
mod scores;
mod shared;
mod slots;
mod threads;
mod weights;
mod winograd;
mod workers;

pub use elements::{Elements, Storage, array_memory, kept_memory, reset_array_peak};
pub use evaluate::results;
pub use executor::CpuExecutor;
pub use facts::{CpuFacts, facts, free_memory};
pub(crate) use kernels::{Kernels, kernels};
pub use kernels::{SimdLevel, simd_level};
#[cfg(test)]
pub use products::tests::elements as random;
pub use program::{Program, Workspace};
pub use replay::Replay;
pub(crate) use shared::SharedVec;
pub use threads::ThreadPool;
pub use weights::CpuWeights;
