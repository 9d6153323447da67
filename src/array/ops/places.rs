//! Elements by index.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Op, Shape};
use smallvec::smallvec;

impl Array {
    /// Slices of one axis, at the places that `indices` name (negative ones count from the end): the
    /// axis is replaced by the indices' shape.
    ///
    /// # Errors
    /// `InvalidArgument` for an axis that is not there, indices that are no integers, or an axis whose
    /// other sizes are not known.
    pub fn take(&self, indices: &Array, axis: i64) -> Result<Array> {
        let axis = self.shape().axis("take", axis)?;
        if !indices.dtype().is_integer() {
            let what = format!("indices of {} are no integers", indices.dtype());
            return Err(invalid("take", what));
        }
        if axis != 0
            && self.shape().dims()[..axis]
                .iter()
                .any(|d| d.number().is_none())
        {
            return Err(invalid("take", "an axis behind one of unknown size"));
        }
        let dims = self.shape().dims();
        let sizes = dims
            .iter()
            .enumerate()
            .map(|(place, dim)| match place == axis {
                true => Some(1),
                false => dim.number(),
            });
        let Some(sizes) = sizes.collect::<Option<smallvec::SmallVec<[usize; 4]>>>() else {
            return Err(invalid("take", "slices of unknown size"));
        };
        let slice = sizes.iter().map(|&size| size.into());
        let shape = Shape::new(indices.shape().dims().iter().copied().chain(slice));
        let op = Op::Gather {
            axes: smallvec![axis],
            sizes,
        };
        let inputs = vec![self.clone(), indices.clone()];
        let gathered = Array::one(op, inputs, self.dtype(), shape);
        let rank = indices.rank();
        let squeezed = gathered.squeeze(&[(rank + axis) as i64])?;
        if axis == 0 {
            return Ok(squeezed);
        }
        // The indices' axes go where the axis was.
        let order = (rank..rank + axis)
            .chain(0..rank)
            .chain(rank + axis..squeezed.rank());
        squeezed.transpose(&order.map(|axis| axis as i64).collect::<Vec<_>>())
    }
}
