//! Running totals and orders along an axis.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Dtype, Op, Scan};
use std::fmt::Display;

impl Array {
    /// The elements row after row, on one axis.
    pub(super) fn flat(&self) -> Result<Array> {
        match self.shape().elements() {
            Some(count) => self.reshape(crate::ir::Shape::new([count])),
            None => Err(invalid("flatten", "too many elements")),
        }
    }

    /// An axis, or the only one of the array made flat.
    pub(super) fn along(
        &self,
        operation: impl Display + Copy,
        axis: Option<i64>,
    ) -> Result<(Array, usize)> {
        match axis {
            Some(axis) => Ok((self.clone(), self.shape().axis(operation, axis)?)),
            None => Ok((self.flat()?, 0)),
        }
    }

    /// Running totals along an axis, of the array made flat without one; `reverse`: from the end,
    /// `inclusive`: with the element itself.
    ///
    /// # Errors
    /// `InvalidArgument` for an axis that is not there.
    pub fn scan(
        &self,
        kind: Scan,
        axis: Option<i64>,
        reverse: bool,
        inclusive: bool,
    ) -> Result<Array> {
        let op = |axis| Op::Scan {
            kind,
            axis,
            reverse,
            inclusive,
        };
        let (x, axis) = self.along(op(0).name(), axis)?;
        let dtype = match (kind, self.dtype()) {
            (Scan::Sum, Dtype::Bool) => Dtype::I32,
            (Scan::LogAddExp, dtype) => dtype.inexact(),
            (_, dtype) => dtype,
        };
        let shape = x.shape().clone();
        Ok(Array::one(op(axis), [x.astype(dtype)], dtype, shape))
    }

    /// Sorted along an axis, NaN last; the array made flat without one.
    ///
    /// # Errors
    /// `InvalidArgument` for an axis that is not there.
    pub fn sort(&self, axis: Option<i64>) -> Result<Array> {
        let (x, axis) = self.along("sort", axis)?;
        let shape = x.shape().clone();
        Ok(Array::one(Op::Sort(axis), [x], self.dtype(), shape))
    }

    /// The places (u32) of the sorted elements; equal ones stay in order.
    ///
    /// # Errors
    /// As [`Array::sort`].
    pub fn argsort(&self, axis: Option<i64>) -> Result<Array> {
        let (x, axis) = self.along("argsort", axis)?;
        let shape = x.shape().clone();
        Ok(Array::one(Op::ArgSort(axis), [x], Dtype::U32, shape))
    }

    /// A place of an axis that may count from the end.
    fn kth(&self, operation: impl Display + Copy, axis: usize, kth: i64) -> Result<usize> {
        let size = self.shape().dims()[axis].number().unwrap_or(0) as i64;
        let place = if kth < 0 { kth + size } else { kth };
        match (0..size).contains(&place) {
            true => Ok(place as usize),
            false => {
                let what = format!("there is no place {kth} on axis {axis} of {}", self.shape());
                Err(invalid(operation, what))
            }
        }
    }

    /// The `kth` element of each row is where sorting would put it, none before it is larger, none
    /// behind it smaller.
    ///
    /// # Errors
    /// As [`Array::sort`], and for a place that is not there.
    pub fn partition(&self, kth: i64, axis: Option<i64>) -> Result<Array> {
        let (x, axis) = self.along("partition", axis)?;
        let kth = x.kth("partition", axis, kth)?;
        let shape = x.shape().clone();
        let op = Op::Partition { axis, kth };
        Ok(Array::one(op, [x], self.dtype(), shape))
    }

    /// The places (u32) that [`Array::partition`] takes elements from.
    ///
    /// # Errors
    /// As [`Array::partition`].
    pub fn argpartition(&self, kth: i64, axis: Option<i64>) -> Result<Array> {
        let (x, axis) = self.along("argpartition", axis)?;
        let kth = x.kth("argpartition", axis, kth)?;
        let shape = x.shape().clone();
        let op = Op::ArgPartition { axis, kth };
        Ok(Array::one(op, [x], Dtype::U32, shape))
    }

    /// The `k` largest of each row, in no particular order.
    ///
    /// # Errors
    /// As [`Array::sort`], and if a row has fewer.
    pub fn topk(&self, k: i64, axis: Option<i64>) -> Result<Array> {
        let (x, axis) = self.along("topk", axis)?;
        let size = x.shape().dims()[axis].number().unwrap_or(0);
        let Some(count) = usize::try_from(k).ok().filter(|&count| count <= size) else {
            let what = format!("there are no {k} elements on axis {axis} of {}", x.shape());
            return Err(invalid("topk", what));
        };
        if count == 0 || count == size {
            return x.run_of_axis(axis, 0, count);
        }
        let parted = x.partition(-k, Some(axis as i64))?;
        parted.run_of_axis(axis, size - count, count)
    }

    /// Where `values` would be put into this sorted vector (u32): before equal ones, or behind
    /// (`right`).
    ///
    /// # Errors
    /// `InvalidArgument` if this is no vector.
    pub fn searchsorted(&self, values: &Array, right: bool) -> Result<Array> {
        if self.rank() != 1 {
            let what = format!("the sorted array has shape {}, not one axis", self.shape());
            return Err(invalid("searchsorted", what));
        }
        let dtype = self.dtype().promote(values.dtype());
        let inputs = vec![self.astype(dtype), values.astype(dtype)];
        let op = Op::SearchSorted { right };
        Ok(Array::one(op, inputs, Dtype::U32, values.shape().clone()))
    }
}
