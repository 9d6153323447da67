//! Elements by index.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Dim, Dtype, Op, Shape};
use smallvec::{SmallVec, smallvec};
use std::fmt::Display;

/// Index arrays broadcast to one shape; i64 or another integer dtype each.
pub(super) fn spread_indices(
    operation: impl Display + Copy,
    indices: &[Array],
) -> Result<(Vec<Array>, Shape)> {
    let mut shape = Shape::scalar();
    for index in indices {
        if !index.dtype().is_integer() {
            let what = format!("indices of {} are no integers", index.dtype());
            return Err(invalid(operation, what));
        }
        shape = shape.broadcast(index.shape(), operation)?;
    }
    let spread = indices.iter().map(|index| index.spread(&shape)).collect();
    Ok((spread, shape))
}

impl Array {
    /// Slices of one axis, at the places that `indices` name (negative ones count from the end): the
    /// axis is replaced by the indices' shape.
    ///
    /// # Errors
    /// `InvalidArgument` for an axis that is not there, indices that are no integers, or an axis whose
    /// other sizes are not known.
    pub fn take(&self, indices: &Array, axis: i64) -> Result<Array> {
        let axis = self.shape().axis("take", axis)?;
        let (indices, _) = spread_indices("take", std::slice::from_ref(indices))?;
        let indices = &indices[0];
        let dims = self.shape().dims();
        let sizes = dims
            .iter()
            .enumerate()
            .map(|(place, dim)| match place == axis {
                true => Some(1),
                false => dim.number(),
            });
        let Some(sizes) = sizes.collect::<Option<SmallVec<[usize; 4]>>>() else {
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

    /// [`Array::take`] of the array made flat.
    ///
    /// # Errors
    /// As there.
    pub fn take_flat(&self, indices: &Array) -> Result<Array> {
        self.flat()?.take(indices, 0)
    }

    /// Slices of `sizes` that begin where `indices` say along `axes`; the result has the indices' shape,
    /// then the sizes.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there, other numbers of indices or sizes, or slices
    /// larger than the array.
    pub fn gather(&self, indices: &[Array], axes: &[i64], sizes: &[i64]) -> Result<Array> {
        let axes = self.shape().axes("gather", axes)?;
        let (indices, shape) = spread_indices("gather", indices)?;
        let fits = sizes.iter().zip(self.shape().dims()).all(|(&size, dim)| {
            usize::try_from(size).is_ok_and(|size| dim.number().is_some_and(|dim| size <= dim))
        });
        if !fits || sizes.len() != self.rank() || indices.len() != axes.len() {
            let what = format!(
                "{} indices for axes {axes:?}, slices of {sizes:?} of shape {}",
                indices.len(),
                self.shape()
            );
            return Err(invalid("gather", what));
        }
        let sizes: SmallVec<[usize; 4]> = sizes.iter().map(|&size| size as usize).collect();
        let slice = sizes.iter().map(|&size| Dim::fixed(size));
        let shape = Shape::new(shape.dims().iter().copied().chain(slice));
        let mut inputs = vec![self.clone()];
        inputs.extend(indices);
        let op = Op::Gather { axes, sizes };
        Ok(Array::one(op, inputs, self.dtype(), shape))
    }

    /// An array and indices, broadcast to each other along every axis but one.
    pub(super) fn along_both(
        &self,
        operation: impl Display + Copy,
        indices: &Array,
        axis: i64,
    ) -> Result<(Array, Array, usize)> {
        let place = self.shape().axis(operation, axis)?;
        if !indices.dtype().is_integer() {
            let what = format!("indices of {} are no integers", indices.dtype());
            return Err(invalid(operation, what));
        }
        if indices.rank() != self.rank() {
            let what = format!("indices of shape {} for {}", indices.shape(), self.shape());
            return Err(invalid(operation, what));
        }
        let (mut x, mut index) = (self.shape().clone(), indices.shape().clone());
        let (of_x, of_index) = (x.dims()[place], index.dims()[place]);
        x.dims_mut()[place] = Dim::fixed(1);
        index.dims_mut()[place] = Dim::fixed(1);
        let mut both = x.broadcast(&index, operation)?;
        both.dims_mut()[place] = of_x;
        let x = self.spread(&both);
        both.dims_mut()[place] = of_index;
        Ok((x, indices.spread(&both), place))
    }

    /// The element at each index along an axis; of the array made flat without one.
    ///
    /// # Errors
    /// `InvalidArgument` for an axis that is not there, indices that are no integers or of another rank.
    pub fn take_along_axis(&self, indices: &Array, axis: Option<i64>) -> Result<Array> {
        let Some(axis) = axis else {
            return self.flat()?.take_along_axis(&indices.flat()?, Some(0));
        };
        let (x, index, axis) = self.along_both("take_along_axis", indices, axis)?;
        let shape = index.shape().clone();
        let op = Op::GatherAxis(axis);
        Ok(Array::one(op, [x, index], self.dtype(), shape))
    }

    /// A vector of starts for some axes, checked.
    pub(super) fn starts(
        &self,
        operation: impl Display + Copy,
        start: &Array,
        axes: &[i64],
    ) -> Result<Op> {
        let places = self.shape().axes(operation, axes)?;
        let vector = start.rank() <= 1 && start.shape().count() == Some(axes.len());
        if !start.dtype().is_integer() || !vector {
            let what = format!("a start {start:?} for {} axes", axes.len());
            return Err(invalid(operation, what));
        }
        Ok(Op::DynamicSlice(places))
    }

    /// A slice of `sizes` that begins where `start` says along `axes`, and at 0 along others.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there, a start that is no vector of a number for each, or
    /// sizes that are larger than the array's.
    pub fn dynamic_slice(&self, start: &Array, axes: &[i64], sizes: &[i64]) -> Result<Array> {
        let op = self.starts("slice", start, axes)?;
        let dims = self.shape().dims();
        let fits = sizes.iter().zip(dims).all(|(&size, dim)| {
            usize::try_from(size).is_ok_and(|size| dim.number().is_some_and(|dim| size <= dim))
        });
        if !fits || sizes.len() != dims.len() {
            let what = format!("sizes {sizes:?} of an array of shape {}", self.shape());
            return Err(invalid("slice", what));
        }
        let shape = Shape::new(sizes.iter().map(|&size| size as usize));
        let inputs = vec![self.clone(), start.astype(Dtype::I64)];
        Ok(Array::one(op, inputs, self.dtype(), shape))
    }
}
