//! Other shapes of the same elements.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Op, Shape};

impl Array {
    /// The same elements, row after row, in another shape.
    ///
    /// # Errors
    /// `InvalidArgument` if it has another number of elements.
    pub fn reshape(&self, shape: Shape) -> Result<Array> {
        if &shape == self.shape() {
            return Ok(self.clone());
        }
        match (shape.elements(), self.shape().elements()) {
            (Some(a), Some(b)) if a == b => Ok(Array::one(
                Op::Reshape,
                vec![self.clone()],
                self.dtype(),
                shape,
            )),
            _ => Err(invalid(
                "reshape",
                format!(
                    "an array of shape {} cannot have shape {shape}",
                    self.shape()
                ),
            )),
        }
    }

    /// Axes of size 1 taken away.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such axis or it is larger.
    pub fn squeeze(&self, axes: &[i64]) -> Result<Array> {
        let axes = self.shape().axes("squeeze", axes)?;
        if let Some(axis) = axes.iter().find(|&&a| !self.shape().dims()[a].is_one()) {
            return Err(invalid(
                "squeeze",
                format!("axis {axis} of shape {} is not of size 1", self.shape()),
            ));
        }
        let dims = self.shape().dims().iter().enumerate();
        let left = dims.filter(|(axis, _)| !axes.contains(axis));
        let shape = Shape::new(left.map(|(_, dim)| *dim));
        Ok(Array::one(
            Op::Squeeze,
            vec![self.clone()],
            self.dtype(),
            shape,
        ))
    }
}
