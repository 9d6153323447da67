//! Models on a GPU: weights in the kernels' layout, and the executor of a program's schedule.

mod attention;
mod blas;
mod delta_chunks;
mod executor;
mod experts;
mod experts_few;
mod experts_items;
mod experts_many;
mod experts_memory;
mod few;
mod groups;
mod inputs;
mod many;
mod matmul;
mod matrices;
mod pack;
mod pages;
mod parts;
mod placement;
mod plain;
mod programs;
mod record;
mod recurrent;
mod route;
mod routed;
mod split;
mod staging;
mod turns;
mod weights;
mod wide;

pub use executor::GpuExecutor;
pub use matmul::FEW_ROWS;
pub(super) use matmul::MatrixForm;
pub use pack::{BLOCK, PackForm, Scales, TILE_ROWS};
pub use weights::{GpuWeights, packed};
