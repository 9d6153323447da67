//! Models on a GPU: weights in the kernels' layout, and the executor of a program's schedule.

mod attention;
mod executor;
mod inputs;
mod matmul;
mod pack;
mod record;
mod turns;
mod weights;

pub use executor::GpuExecutor;
pub use weights::GpuWeights;
