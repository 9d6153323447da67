//! Arrays: lazy operations with shape rules. Models are written with them; nothing is computed
//! until the traced graph has become a program.

mod ops;
mod trace;

pub use trace::{Array, Trace};
