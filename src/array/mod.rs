//! Arrays: lazy operations with shape and dtype rules. Nothing is computed until a model's trace has
//! become a program, or an application asks for elements.

mod collect;
mod custom;
mod eval;
mod files;
mod follow;
mod home;
mod lazy;
pub mod ops;
mod plans;
mod settle;

pub use crate::gpu::network::{Network, Planes, Precision};
pub use collect::trace;
pub use custom::{Call, Kernel, KernelSource, Template};
pub use eval::{Compiled, compile, eval, queue, wait};
pub use files::{Metadata, NamedArrays};
pub use home::Home;
pub use lazy::Array;
pub use plans::{PlanCounts, plan_counts, use_plans};
