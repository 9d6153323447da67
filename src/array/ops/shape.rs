//! Other shapes of the same elements: views, where strides can say them.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Dim, Op, Shape, SliceSpec};
use smallvec::SmallVec;
use std::fmt::Display;

impl Array {
    /// The result of an operation that keeps dtype and elements.
    fn reshaped(&self, op: Op, shape: Shape) -> Array {
        match &shape == self.shape() {
            true => self.clone(),
            false => Array::one(op, [self.clone()], self.dtype(), shape),
        }
    }

    /// The same elements, row after row, in another shape.
    ///
    /// # Errors
    /// `InvalidArgument` if it has another number of elements.
    pub fn reshape(&self, shape: Shape) -> Result<Array> {
        match (shape.elements(), self.shape().elements()) {
            (Some(a), Some(b)) if a == b => Ok(self.reshaped(Op::Reshape, shape)),
            _ => Err(invalid(
                "reshape",
                format!(
                    "an array of shape {} cannot have shape {shape}",
                    self.shape()
                ),
            )),
        }
    }

    /// [`Array::reshape`], where one size may be −1: what is left.
    ///
    /// # Errors
    /// `InvalidArgument` as above, and if more than one size is −1 or one is negative.
    pub fn reshape_to(&self, sizes: &[i64]) -> Result<Array> {
        let count = self.shape().count().unwrap_or(0);
        self.reshape(fitting("reshape", sizes, count, self.shape())?)
    }

    /// Neighbouring axes become one; of a scalar a vector.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there or in the wrong order.
    pub fn flatten(&self, start: i64, end: i64) -> Result<Array> {
        if self.rank() == 0 {
            return Ok(self.reshaped(Op::Flatten, Shape::new([1])));
        }
        let rank = self.rank() as i64;
        // As MLX: axes beyond the array are those at its ends.
        let start = if start < 0 { start + rank } else { start }.max(0);
        let end = if end < 0 { end + rank } else { end }.min(rank - 1);
        if end < 0 || start >= rank || end < start {
            let what = format!(
                "axes {start} to {end} of an array of shape {}",
                self.shape()
            );
            return Err(invalid("flatten", what));
        }
        let (start, end) = (start as usize, end as usize);
        let dims = self.shape().dims();
        let Some(run) = Shape::new(dims[start..=end].iter().copied()).elements() else {
            return Err(invalid("flatten", "too many elements"));
        };
        let ends = dims[..start].iter().chain([&run]).chain(&dims[end + 1..]);
        Ok(self.reshaped(Op::Flatten, Shape::new(ends.copied())))
    }

    /// An axis becomes several; one size may be −1.
    ///
    /// # Errors
    /// `InvalidArgument` for an axis that is not there or sizes that are not its size.
    pub fn unflatten(&self, axis: i64, sizes: &[i64]) -> Result<Array> {
        let axis = self.shape().axis("unflatten", axis)?;
        let dims = self.shape().dims();
        if sizes.is_empty() {
            return Err(invalid("unflatten", "there are no sizes"));
        }
        let size = dims[axis].number().unwrap_or(0);
        let inner = fitting("unflatten", sizes, size, self.shape())?;
        if inner.count() != Some(size) {
            let what = format!(
                "axis {axis} of shape {} cannot have shape {inner}",
                self.shape()
            );
            return Err(invalid("unflatten", what));
        }
        let all = dims[..axis]
            .iter()
            .chain(inner.dims())
            .chain(&dims[axis + 1..]);
        Ok(self.reshaped(Op::Unflatten, Shape::new(all.copied())))
    }

    /// New axes of size 1 at these places of the result.
    ///
    /// # Errors
    /// `InvalidArgument` for places that are not there or named twice.
    pub fn expand_dims(&self, axes: &[i64]) -> Result<Array> {
        let rank = self.rank() + axes.len();
        // Places of the result: found as those of a shape of its rank.
        let places = Shape::new(vec![1usize; rank]).axes("expand_dims", axes);
        let places = places.map_err(|_| {
            let what = format!("axes {axes:?} for shape {}, of {rank} then", self.shape());
            invalid("expand_dims", what)
        })?;
        let mut dims = self.shape().dims().iter();
        let dims = (0..rank).map(|place| match places.contains(&place) {
            true => Dim::fixed(1),
            false => dims.next().copied().unwrap_or(Dim::fixed(1)),
        });
        let shape = Shape::new(dims.collect::<SmallVec<[Dim; 4]>>());
        Ok(self.reshaped(Op::ExpandDims, shape))
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
        Ok(self.reshaped(Op::Squeeze, shape))
    }

    /// All axes of size 1 taken away.
    ///
    /// # Errors
    /// None.
    pub fn squeeze_all(&self) -> Result<Array> {
        let dims = self.shape().dims().iter().enumerate();
        let ones = dims.filter(|(_, dim)| dim.is_one());
        self.squeeze(&ones.map(|(axis, _)| axis as i64).collect::<Vec<_>>())
    }

    /// Repeated along axes of size 1, and along new ones in front.
    ///
    /// # Errors
    /// `InvalidArgument` if shapes do not fit.
    pub fn broadcast_to(&self, shape: Shape) -> Result<Array> {
        if self.shape().broadcast(&shape, "broadcast_to")? != shape {
            let what = format!("shape {} cannot become {shape}", self.shape());
            return Err(invalid("broadcast_to", what));
        }
        Ok(self.spread(&shape))
    }

    /// At least `rank` axes: 1, 2 or 3; new ones of size 1 as MLX puts them.
    ///
    /// # Errors
    /// None.
    pub fn at_least(&self, rank: usize) -> Result<Array> {
        let axes: &[i64] = match (rank, self.rank()) {
            (1, 0) => &[0],
            (2, 0) => &[0, 1],
            (2, 1) => &[0],
            (3, 0) => &[0, 1, 2],
            (3, 1) => &[0, 2],
            (3, 2) => &[2],
            _ => &[],
        };
        self.expand_dims(axes)
    }

    /// Axes in another order.
    ///
    /// # Errors
    /// `InvalidArgument` if `order` does not name every axis once.
    pub fn transpose(&self, order: &[i64]) -> Result<Array> {
        let axes = self.shape().axes("transpose", order)?;
        if axes.len() != self.rank() {
            let what = format!("{} axes of an array of shape {}", axes.len(), self.shape());
            return Err(invalid("transpose", what));
        }
        if axes.iter().enumerate().all(|(place, &axis)| place == axis) {
            return Ok(self.clone());
        }
        let shape = Shape::new(axes.iter().map(|&axis| self.shape().dims()[axis]));
        let op = Op::Transpose(axes);
        Ok(Array::one(op, [self.clone()], self.dtype(), shape))
    }

    /// Axes turned round.
    ///
    /// # Errors
    /// None.
    pub fn transpose_all(&self) -> Result<Array> {
        let order: Vec<i64> = (0..self.rank() as i64).rev().collect();
        self.transpose(&order)
    }

    /// Two axes in each other's place.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there.
    pub fn swapaxes(&self, a: i64, b: i64) -> Result<Array> {
        let a = self.shape().axis("swapaxes", a)?;
        let b = self.shape().axis("swapaxes", b)?;
        let mut order: Vec<i64> = (0..self.rank() as i64).collect();
        order.swap(a, b);
        self.transpose(&order)
    }

    /// An axis at another place.
    ///
    /// # Errors
    /// `InvalidArgument` for places that are not there.
    pub fn moveaxis(&self, from: i64, to: i64) -> Result<Array> {
        let from = self.shape().axis("moveaxis", from)?;
        let to = self.shape().axis("moveaxis", to)?;
        let mut order: Vec<i64> = (0..self.rank() as i64).collect();
        let axis = order.remove(from);
        order.insert(to, axis);
        self.transpose(&order)
    }

    /// `count` elements of an axis from place `at`.
    ///
    /// # Errors
    /// `InvalidArgument` if there are fewer.
    pub(super) fn run_of_axis(&self, axis: usize, at: usize, count: usize) -> Result<Array> {
        let mut shape = self.shape().clone();
        let size = shape.dims()[axis].number().unwrap_or(0);
        if at.checked_add(count).is_none_or(|end| end > size) {
            let what = format!(
                "{count} elements from {at} of axis {axis} of {}",
                self.shape()
            );
            return Err(invalid("split", what));
        }
        shape.dims_mut()[axis] = Dim::fixed(count);
        Ok(self.reshaped(Op::Split { axis, at }, shape))
    }

    /// Elements from `start` to before `stop` by `step` along each axis. Negative places count from the
    /// end, those beyond the array are its ends; steps may be negative.
    ///
    /// # Errors
    /// `InvalidArgument` for lists of other lengths than the rank, or a step of 0.
    pub fn slice(&self, start: &[i64], stop: &[i64], step: &[i64]) -> Result<Array> {
        let (spec, shape) = self.slice_spec("slice", start, stop, step)?;
        let whole = spec.start.iter().all(|&s| s == 0) && spec.step.iter().all(|&s| s == 1);
        match whole && &shape == self.shape() {
            true => Ok(self.clone()),
            false => Ok(Array::one(
                Op::Slice(spec),
                vec![self.clone()],
                self.dtype(),
                shape,
            )),
        }
    }

    /// The places and the shape of a slice.
    pub(super) fn slice_spec(
        &self,
        operation: impl Display + Copy,
        start: &[i64],
        stop: &[i64],
        step: &[i64],
    ) -> Result<(SliceSpec, Shape)> {
        let sizes = self.shape().numbers().unwrap_or_default();
        let rank = self.rank();
        if [start.len(), stop.len(), step.len(), sizes.len()] != [rank; 4] {
            let what = format!(
                "not {rank} starts, stops and steps for shape {}",
                self.shape()
            );
            return Err(invalid(operation, what));
        }
        let mut spec = SliceSpec {
            start: SmallVec::new(),
            step: step.into(),
        };
        let mut shape: SmallVec<[usize; 4]> = SmallVec::new();
        for (axis, &size) in sizes.iter().enumerate() {
            let (size, step) = (size as i64, step[axis]);
            if step == 0 {
                return Err(invalid(operation, format!("a step of 0 along axis {axis}")));
            }
            let place = |at: i64| if at < 0 { at.saturating_add(size) } else { at };
            // The ends that places are moved to: backwards from the last element to before the first.
            let (low, high) = if step > 0 { (0, size) } else { (-1, size - 1) };
            let (from, to) = (
                place(start[axis]).clamp(low, high.max(low)),
                place(stop[axis]),
            );
            let to = to.clamp(low, high.max(low));
            let way = if step > 0 { to - from } else { from - to };
            let count = way.max(0).unsigned_abs().div_ceil(step.unsigned_abs());
            spec.start.push(if count == 0 { 0 } else { from });
            shape.push(count as usize);
        }
        Ok((spec, Shape::new(shape)))
    }

    /// Elements at places of the array's elements row after row that strides and an offset give.
    ///
    /// # Errors
    /// `InvalidArgument` if one lies outside.
    pub fn as_strided(&self, shape: Shape, strides: &[i64], offset: i64) -> Result<Array> {
        let refuse = |what: &str| {
            let view = format!("shape {shape}, strides {strides:?} from {offset}");
            Err(invalid(
                "as_strided",
                format!("{view} {what} {}", self.shape()),
            ))
        };
        if strides.len() != shape.rank() {
            return refuse("are not lists of one length, for");
        }
        let Ok(offset) = usize::try_from(offset) else {
            return refuse("begin before an array of shape");
        };
        let strides: SmallVec<[isize; 4]> = strides.iter().map(|&s| s as isize).collect();
        let layout = crate::ir::Layout {
            sizes: shape.numbers().unwrap_or_default(),
            strides: strides.clone(),
            offset,
        };
        let count = self.shape().count().unwrap_or(0);
        if layout.reach().is_none_or(|reach| reach.to > count) {
            return refuse("reach beyond an array of shape");
        }
        let op = Op::AsStrided { strides, offset };
        Ok(Array::one(op, [self.clone()], self.dtype(), shape))
    }

    /// Row after row in memory.
    pub fn contiguous(&self) -> Array {
        let shape = self.shape().clone();
        Array::one(Op::Contiguous, [self.clone()], self.dtype(), shape)
    }

    /// The array, as one that derivatives do not pass.
    pub fn stop_gradient(&self) -> Array {
        let shape = self.shape().clone();
        Array::one(Op::StopGradient, [self.clone()], self.dtype(), shape)
    }

    /// The array, which is computed after `others`.
    pub fn depends(&self, others: &[Array]) -> Array {
        let mut inputs = vec![self.clone()];
        inputs.extend_from_slice(others);
        Array::one(Op::Depends, inputs, self.dtype(), self.shape().clone())
    }
}

/// A shape of `count` elements, where one size may be −1.
fn fitting(
    operation: impl Display + Copy,
    sizes: &[i64],
    count: usize,
    of: &Shape,
) -> Result<Shape> {
    let refuse = || {
        let what = format!("an array or axis of shape {of} cannot have sizes {sizes:?}");
        Err(invalid(operation, what))
    };
    let known = sizes.iter().filter(|&&size| size != -1);
    let known: Option<SmallVec<[usize; 4]>> = known.map(|&s| usize::try_from(s).ok()).collect();
    let Some(product) = known.and_then(|sizes| Shape::new(sizes).count()) else {
        return refuse();
    };
    let open = sizes.iter().filter(|&&size| size == -1).count();
    let rest = match product {
        _ if open == 0 => 0,
        0 if count == 0 => 0,
        product if open == 1 && product > 0 && count.is_multiple_of(product) => count / product,
        _ => return refuse(),
    };
    let size = |&size: &i64| if size == -1 { rest } else { size as usize };
    Ok(Shape::new(sizes.iter().map(size)))
}
