//! The operations on arrays: their dtype and shape rules, with MLX's names and meaning.
//!
//! One file a family. A constructor checks everything that shapes and dtypes can tell, and says which
//! operation, argument and shapes it is about.

mod contraction;
mod convolution;
mod create;
mod diagonal;
mod einsum;
mod elementwise;
mod experts;
mod fft;
mod join;
mod layers;
mod linear_algebra;
mod matmul;
mod model;
mod norms;
mod numbers;
mod order;
mod places;
mod quantized;
mod quantized_products;
pub mod random;
mod recurrent;
mod reduce;
mod scatter;
mod shape;
mod solve;

pub use convolution::ConvOptions;
pub use norms::NormOrder;

pub use join::PadMode;

use super::Array;
use crate::ir::{Dtype, Op, Shape};
use crate::{Error, Result};
use smallvec::{SmallVec, smallvec};
use std::fmt::Display;

/// An error about an argument of an operation.
fn invalid(operation: impl Display + Copy, what: impl Display) -> Error {
    Error::InvalidArgument(format!("{operation}: {what}"))
}

/// The sizes of an array whose operation needs to know them.
///
/// # Errors
/// `InvalidArgument` if one is a symbol.
fn known(operation: impl Display + Copy, array: &Array) -> Result<SmallVec<[usize; 4]>> {
    let sizes = array.shape().numbers();
    sizes.ok_or_else(|| invalid(operation, format!("{array:?} has a size that is not known")))
}

impl Array {
    /// This array repeated to a shape that it can be broadcast to.
    fn spread(&self, shape: &Shape) -> Array {
        match self.shape() == shape {
            true => self.clone(),
            false => Array::of(
                Op::Broadcast,
                smallvec![self.clone()],
                self.dtype(),
                shape.clone(),
            ),
        }
    }
}

/// Both arrays as one dtype, broadcast to their common shape, and that.
fn spread_both(
    operation: impl Display + Copy,
    dtype: Dtype,
    a: &Array,
    b: &Array,
) -> Result<(Array, Array, Shape)> {
    let shape = a.shape().broadcast(b.shape(), operation)?;
    let side = |x: &Array| match x.dtype() == dtype {
        true => x.spread(&shape),
        false => x.astype(dtype).spread(&shape),
    };
    Ok((side(a), side(b), shape))
}
