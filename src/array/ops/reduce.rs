//! Many elements become one.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{ArgReduce, Binary, Dim, Dtype, Op, Reduce, Shape, Unary};
use smallvec::SmallVec;
use std::fmt::Display;

type Axes = SmallVec<[usize; 4]>;

impl Array {
    /// The places of these axes, of all if there is no list.
    pub(super) fn axes_or_all(
        &self,
        operation: impl Display + Copy,
        axes: Option<&[i64]>,
    ) -> Result<Axes> {
        match axes {
            Some(axes) => self.shape().axes(operation, axes),
            None => Ok((0..self.rank()).collect()),
        }
    }

    /// The shape without these axes, or with 1 in their place.
    fn reduced(&self, axes: &[usize], keepdims: bool) -> Shape {
        let dims = self.shape().dims().iter().enumerate();
        Shape::new(dims.filter_map(|(axis, &dim)| match axes.contains(&axis) {
            false => Some(dim),
            true => keepdims.then_some(Dim::fixed(1)),
        }))
    }

    /// Elements along axes (all without a list) become one; `keepdims`: the axes stay, of size 1.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there, and for the smallest or largest of nothing.
    pub fn reduce(&self, kind: Reduce, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let op = |axes| Op::Reduce(kind, axes);
        let of_all = op(Axes::new());
        let name = of_all.name();
        let axes = self.axes_or_all(name, axes)?;
        let dtype = match (kind, self.dtype()) {
            (Reduce::All | Reduce::Any, _) => Dtype::Bool,
            (Reduce::Sum | Reduce::Prod, dtype) => match dtype {
                Dtype::Bool | Dtype::I8 | Dtype::I16 => Dtype::I32,
                Dtype::U8 | Dtype::U16 => Dtype::U32,
                dtype => dtype,
            },
            (Reduce::Min | Reduce::Max, dtype) => dtype,
            (Reduce::LogSumExp, dtype) => dtype.inexact(),
        };
        let dims = self.shape().dims();
        let nothing = axes.iter().any(|&axis| dims[axis] == Dim::fixed(0));
        if nothing && matches!(kind, Reduce::Min | Reduce::Max) {
            let what = format!(
                "axes of an array of shape {} have no elements",
                self.shape()
            );
            return Err(invalid(name, what));
        }
        if kind == Reduce::LogSumExp && dims.contains(&Dim::fixed(0)) {
            let what = format!("an array of shape {} has no elements", self.shape());
            return Err(invalid(name, what));
        }
        let x = self.astype(dtype);
        if axes.is_empty() && kind != Reduce::LogSumExp {
            // As MLX: along no axes not even the dtype changes.
            return Ok(match dtype {
                Dtype::Bool => x,
                _ => self.clone(),
            });
        }
        let shape = self.reduced(&axes, keepdims);
        Ok(Array::one(op(axes), [x], dtype, shape))
    }

    /// Elements along axes, as a number, or its inverse.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there.
    pub fn number_of_elements(
        &self,
        axes: Option<&[i64]>,
        inverted: bool,
        dtype: Dtype,
    ) -> Result<Array> {
        let axes = self.axes_or_all("number_of_elements", axes)?;
        let op = Op::NumberOfElements { axes, inverted };
        Ok(Array::one(op, [self.clone()], dtype, Shape::scalar()))
    }

    /// Mean.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there.
    pub fn mean(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let dtype = self.dtype().inexact();
        let sum = self.astype(dtype).reduce(Reduce::Sum, axes, keepdims)?;
        let share = match dtype {
            Dtype::F64 => Dtype::F64,
            _ => Dtype::F32,
        };
        // The number of elements of a large axis is not one of 16 bits.
        let number = self.number_of_elements(axes, false, share)?;
        Ok(sum.binary(Binary::Divide, &number)?.astype(dtype))
    }

    /// Variance: squared distances from the mean, over the number of elements less `ddof`.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there.
    pub fn var(&self, axes: Option<&[i64]>, keepdims: bool, ddof: i64) -> Result<Array> {
        let x = self.astype(self.dtype().inexact());
        let distance = x.binary(Binary::Subtract, &x.mean(axes, true)?)?;
        let squares = distance.unary(Unary::Abs)?.unary(Unary::Square)?;
        let sum = squares.reduce(Reduce::Sum, axes, keepdims)?;
        let share = match x.dtype() {
            Dtype::F64 => Dtype::F64,
            _ => Dtype::F32,
        };
        let number = self.number_of_elements(axes, false, share)?;
        let number = number.binary(Binary::Subtract, &Array::number(ddof as f64, share)?)?;
        let number = number.binary(Binary::Maximum, &Array::number(0.0, share)?)?;
        Ok(sum.binary(Binary::Divide, &number)?.astype(squares.dtype()))
    }

    /// Standard deviation: the root of [`Array::var`].
    ///
    /// # Errors
    /// As [`Array::var`].
    pub fn std(&self, axes: Option<&[i64]>, keepdims: bool, ddof: i64) -> Result<Array> {
        self.var(axes, keepdims, ddof)?.unary(Unary::Sqrt)
    }

    /// These axes behind the others, as one.
    fn gathered(
        &self,
        operation: impl Display + Copy,
        axes: Option<&[i64]>,
    ) -> Result<(Array, Axes)> {
        let axes = self.axes_or_all(operation, axes)?;
        let kept = (0..self.rank()).filter(|axis| !axes.contains(axis));
        let order: Vec<i64> = kept.chain(axes.iter().copied()).map(|a| a as i64).collect();
        let turned = self.transpose(&order)?;
        let (outer, inner) = turned.shape().dims().split_at(self.rank() - axes.len());
        let run = Shape::new(inner.iter().copied()).elements();
        let Some(run) = run else {
            return Err(invalid(operation, "too many elements"));
        };
        let shape = Shape::new(outer.iter().copied().chain([run]));
        Ok((turned.reshape(shape)?, axes))
    }

    /// Median: the mean of the two in the middle of an even number.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there or have no elements.
    pub fn median(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let (rows, places) = self.gathered("median", axes)?;
        let last = rows.shape().dims().last().and_then(|dim| dim.number());
        let Some(count) = last.filter(|&count| count > 0) else {
            return Err(invalid("median", "there are no elements"));
        };
        let sorted = rows.sort(Some(-1))?.astype(self.dtype().inexact());
        let from = (count - 1) / 2;
        let middle = sorted.run_of_axis(rows.rank() - 1, from, count / 2 + 1 - from)?;
        let median = middle.mean(Some(&[-1]), false)?;
        median.reshape(self.reduced(&places, keepdims))
    }

    /// The place (u32) of the smallest or largest element along an axis, the first of equal ones; of
    /// all elements row after row without an axis.
    ///
    /// # Errors
    /// `InvalidArgument` for an axis that is not there, or an array without elements.
    pub fn arg_reduce(&self, kind: ArgReduce, axis: Option<i64>, keepdims: bool) -> Result<Array> {
        let op = Op::ArgReduce(kind, 0);
        let name = op.name();
        let (x, axis, shape) = match axis {
            Some(axis) => {
                let axis = self.shape().axis(name, axis)?;
                (self.clone(), axis, self.reduced(&[axis], keepdims))
            }
            None => {
                let all: Axes = (0..self.rank()).collect();
                (self.flat()?, 0, self.reduced(&all, keepdims))
            }
        };
        if x.shape().dims().contains(&Dim::fixed(0)) {
            let what = format!("an array of shape {} has no elements", self.shape());
            return Err(invalid(name, what));
        }
        Ok(Array::one(
            Op::ArgReduce(kind, axis),
            vec![x],
            Dtype::U32,
            shape,
        ))
    }

    /// How many elements are not 0 (i32).
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there.
    pub fn count_nonzero(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        // Without axes to sum over the dtype would stay.
        let ones = self.astype(Dtype::Bool).astype(Dtype::I32);
        ones.reduce(Reduce::Sum, axes, keepdims)
    }

    /// Softmax over axes (all without a list); `precise`: in f32 within.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there.
    pub fn softmax(&self, axes: Option<&[i64]>, precise: bool) -> Result<Array> {
        let dtype = self.dtype().inexact();
        let x = self.astype(dtype);
        let (rows, places) = x.gathered("softmax", axes)?;
        if places.is_empty() {
            return Array::ones(self.shape().clone(), dtype);
        }
        let op = Op::Softmax { precise };
        let shape = rows.shape().clone();
        let soft = Array::one(op, [rows], dtype, shape);
        // Back to where the axes were.
        let kept = (0..self.rank()).filter(|axis| !places.contains(axis));
        let order: Vec<usize> = kept.chain(places.iter().copied()).collect();
        let dims = self.shape().dims();
        let soft = soft.reshape(Shape::new(order.iter().map(|&axis| dims[axis])))?;
        let mut back = vec![0i64; order.len()];
        for (place, &axis) in order.iter().enumerate() {
            back[axis] = place as i64;
        }
        soft.transpose(&back)
    }
}
