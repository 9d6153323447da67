//! Arrays: lazy operations with shape and dtype rules. Nothing is computed until a model's trace has
//! become a program, or an application asks for elements.

mod eval;
mod home;
mod lazy;
pub mod ops;

pub use crate::gpu::network::{Input, Network, Precision};
pub use eval::{Compiled, compile, eval};
pub use home::Home;
pub use lazy::{Array, trace};
