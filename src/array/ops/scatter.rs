//! Arrays with some elements replaced.

use super::invalid;
use super::places::spread_indices;
use crate::Result;
use crate::array::Array;
use crate::ir::{Dim, Dtype, Op, ScatterReduce};

impl Array {
    /// The array after an operation that writes some of its elements.
    fn written(&self, op: Op, inputs: Vec<Array>) -> Array {
        Array::one(op, inputs, self.dtype(), self.shape().clone())
    }

    /// With `updates`, slices of the array's rank, put where `indices` say along `axes`. Updates have the
    /// indices' shape, then the slices'. Where places meet, without a `reduce` the last one stays.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there, or shapes that do not fit.
    pub fn scatter(
        &self,
        indices: &[Array],
        updates: &Array,
        axes: &[i64],
        reduce: ScatterReduce,
    ) -> Result<Array> {
        let axes = self.shape().axes("scatter", axes)?;
        let (indices, shape) = spread_indices("scatter", indices)?;
        let dims = updates.shape().dims();
        let (rank, fits) = (shape.rank(), dims.len() == shape.rank() + self.rank());
        let slice = dims.get(rank..).unwrap_or_default();
        let fits = fits
            && dims[..rank] == *shape.dims()
            && slice.iter().zip(self.shape().dims()).all(|(update, dim)| {
                update.symbol() == dim.symbol() && update.multiple() <= dim.multiple()
            });
        if !fits || indices.len() != axes.len() {
            let what = format!(
                "updates of shape {} at {} indices of shape {shape} along axes {axes:?} of {}",
                updates.shape(),
                indices.len(),
                self.shape()
            );
            return Err(invalid("scatter", what));
        }
        let mut inputs = vec![self.clone()];
        inputs.extend(indices);
        inputs.push(updates.astype(self.dtype()));
        Ok(self.written(Op::Scatter(axes, reduce), inputs))
    }

    /// With values put, or added, at indices along an axis; of the array made flat without one.
    ///
    /// # Errors
    /// `InvalidArgument` as [`Array::take_along_axis`], and for values that cannot be broadcast to the
    /// indices.
    pub fn put_along_axis(
        &self,
        indices: &Array,
        values: &Array,
        axis: Option<i64>,
        reduce: ScatterReduce,
    ) -> Result<Array> {
        let Some(axis) = axis else {
            let (indices, flat) = (indices.flat()?, self.flat()?);
            let values = values.flat()?;
            let put = flat.put_along_axis(&indices, &values, Some(0), reduce)?;
            return put.reshape(self.shape().clone());
        };
        let (x, index, axis) = self.along_both("put_along_axis", indices, axis)?;
        if x.shape() != self.shape() {
            let what = format!("indices of shape {} for {}", indices.shape(), self.shape());
            return Err(invalid("put_along_axis", what));
        }
        let values = values
            .astype(self.dtype())
            .broadcast_to(index.shape().clone())?;
        let op = Op::ScatterAxis(axis, reduce);
        Ok(self.written(op, vec![x, index, values]))
    }

    /// With elements of `source`, in order, where the mask holds. The mask has the array's shape, or
    /// lacks axes at its end.
    ///
    /// # Errors
    /// `InvalidArgument` if the mask's shape does not fit; too few elements show when it runs.
    pub fn masked_scatter(&self, mask: &Array, source: &Array) -> Result<Array> {
        let mut shape = mask.shape().clone();
        if mask.rank() > self.rank() {
            let what = format!("a mask of shape {shape} for {}", self.shape());
            return Err(invalid("masked_scatter", what));
        }
        shape.dims_mut().resize(self.rank(), Dim::fixed(1));
        let mask = mask.astype(Dtype::Bool).reshape(shape)?;
        let mask = mask.broadcast_to(self.shape().clone())?;
        let inputs = vec![self.clone(), mask, source.astype(self.dtype())];
        Ok(self.written(Op::MaskedScatter, inputs))
    }

    /// With a slice (as [`Array::slice`]'s) replaced by `update`, or joined with it.
    ///
    /// # Errors
    /// `InvalidArgument` as [`Array::slice`], and for an update that cannot be broadcast to the slice.
    pub fn slice_update(
        &self,
        update: &Array,
        (start, stop, step): (&[i64], &[i64], &[i64]),
        reduce: ScatterReduce,
    ) -> Result<Array> {
        let (spec, shape) = self.slice_spec("slice_update", start, stop, step)?;
        let update = update.astype(self.dtype()).broadcast_to(shape)?;
        let op = Op::SliceUpdate(spec, reduce);
        Ok(self.written(op, vec![self.clone(), update]))
    }

    /// With `update` in place of the slice that begins where `start` says along `axes`.
    ///
    /// # Errors
    /// `InvalidArgument` as [`Array::dynamic_slice`].
    pub fn dynamic_slice_update(
        &self,
        update: &Array,
        start: &Array,
        axes: &[i64],
    ) -> Result<Array> {
        let Op::DynamicSlice(places) = self.starts("slice_update", start, axes)? else {
            return Err(crate::Error::Internal("another operation".into()));
        };
        let (x, sizes) = (self.shape().dims(), update.shape().dims());
        // Axes that are missing in front are of size 1.
        let missing = x.len().checked_sub(sizes.len());
        let fits = missing.is_some_and(|missing| {
            let pairs = sizes.iter().zip(&x[missing..]);
            pairs
                .into_iter()
                .all(|(size, dim)| size.multiple() <= dim.multiple())
        });
        if !fits {
            let what = format!("an update of shape {} of {}", update.shape(), self.shape());
            return Err(invalid("slice_update", what));
        }
        let new: Vec<i64> = (0..missing.unwrap_or(0) as i64).collect();
        let update = update.astype(self.dtype()).expand_dims(&new)?;
        let inputs = vec![self.clone(), update, start.astype(Dtype::I64)];
        Ok(self.written(Op::DynamicSliceUpdate(places), inputs))
    }
}
