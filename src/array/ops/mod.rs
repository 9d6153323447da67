//! The operations on arrays: their dtype and shape rules, with MLX's names and meaning.
//!
//! One file a family. A constructor checks everything that shapes and dtypes can tell, and says which
//! operation, argument and shapes it is about.

mod create;
mod diagonal;
mod elementwise;
mod experts;
mod join;
mod layers;
mod model;
mod numbers;
mod order;
mod places;
mod reduce;
mod scatter;
mod shape;

pub use join::PadMode;

use super::Array;
use crate::ir::{Op, Shape};
use crate::{Error, Result};

/// An error about an argument of an operation.
fn invalid(operation: &str, what: impl std::fmt::Display) -> Error {
    Error::InvalidArgument(format!("{operation}: {what}"))
}

impl Array {
    /// This array repeated to a shape that it can be broadcast to.
    fn spread(&self, shape: &Shape) -> Array {
        match self.shape() == shape {
            true => self.clone(),
            false => Array::one(
                Op::Broadcast,
                vec![self.clone()],
                self.dtype(),
                shape.clone(),
            ),
        }
    }
}

/// Both arrays, broadcast to their common shape.
fn spread_both(operation: &str, a: &Array, b: &Array) -> Result<(Array, Array)> {
    let shape = a.shape().broadcast(b.shape(), operation)?;
    Ok((a.spread(&shape), b.spread(&shape)))
}
