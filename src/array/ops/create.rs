//! Arrays of numbers that a rule gives.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::cpu::{Elements, ops::number_bytes};
use crate::ir::{Binary, Dtype, Number, Op, Shape};
use std::fmt::Display;

/// A size that C or a caller gave.
fn size(operation: impl Display + Copy, size: i64) -> Result<usize> {
    usize::try_from(size).map_err(|_| invalid(operation, format!("a negative size {size}")))
}

impl Array {
    /// A scalar.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn number(number: f64, dtype: Dtype) -> Result<Array> {
        let elements = Elements::from_slice(&number_bytes(number, dtype), dtype, &[])?;
        Ok(Array::from_elements(elements))
    }

    /// `value`, broadcast to `shape`.
    ///
    /// # Errors
    /// `InvalidArgument` if it cannot be.
    pub fn full(shape: Shape, value: &Array, dtype: Dtype) -> Result<Array> {
        if value.shape().broadcast(&shape, "full")? != shape {
            let what = format!("a value of shape {} for shape {shape}", value.shape());
            return Err(invalid("full", what));
        }
        let value = value.astype(dtype);
        Ok(Array::one(Op::Full, [value], dtype, shape))
    }

    /// Zeros.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn zeros(shape: Shape, dtype: Dtype) -> Result<Array> {
        Array::full(shape, &Array::number(0.0, dtype)?, dtype)
    }

    /// Ones.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn ones(shape: Shape, dtype: Dtype) -> Result<Array> {
        Array::full(shape, &Array::number(1.0, dtype)?, dtype)
    }

    /// `start`, `start + step`, … before `stop`.
    ///
    /// # Errors
    /// `InvalidArgument` for a step of 0, numbers that are not finite, too many elements, or bool.
    pub fn arange(start: f64, stop: f64, step: f64, dtype: Dtype) -> Result<Array> {
        if dtype == Dtype::Bool {
            return Err(invalid("arange", format!("there is no range of {dtype}")));
        }
        let count = ((stop - start) / step).ceil().max(0.0);
        if start.is_nan() || stop.is_nan() || step.is_nan() || step == 0.0 {
            let what = format!("there is no range from {start} to {stop} by {step}");
            return Err(invalid("arange", what));
        }
        // One step from a finite start to an infinite stop or further is as far as it gets.
        if count > i32::MAX as f64 || (!start.is_finite() && count > 0.0) {
            return Err(invalid("arange", format!("{count} elements are too many")));
        }
        // Of integers the whole numbers of start and step.
        let whole = |x: f64| if dtype.is_integer() { x.trunc() } else { x };
        let op = Op::Arange {
            start: Number::new(whole(start)),
            step: Number::new(whole(start + step) - whole(start)),
        };
        Ok(Array::one(
            op,
            Vec::new(),
            dtype,
            Shape::new([count as usize]),
        ))
    }

    /// `count` numbers from `start` to `stop`, evenly spaced.
    ///
    /// # Errors
    /// `InvalidArgument` for a negative count.
    pub fn linspace(start: f64, stop: f64, count: i64, dtype: Dtype) -> Result<Array> {
        let count = size("linspace", count)?;
        if count == 1 {
            return Array::number(start, dtype)?.reshape(Shape::new([1]));
        }
        let float = match dtype {
            Dtype::F64 => Dtype::F64,
            _ => Dtype::F32,
        };
        let places = Array::arange(0.0, count as f64, 1.0, float)?;
        let last = Array::number(count as f64 - 1.0, float)?;
        let way = places.binary(Binary::Divide, &last)?;
        let rest = Array::number(1.0, float)?.binary(Binary::Subtract, &way)?;
        let from = rest.times(&Array::number(start, float)?)?;
        let to = way.times(&Array::number(stop, float)?)?;
        Ok(from.plus(&to)?.astype(dtype))
    }

    /// A matrix of `rows` and `columns` where `compare(row + k, column)` says 1, else 0.
    fn places(
        name: &str,
        (rows, columns, k): (i64, i64, i64),
        compare: Binary,
        dtype: Dtype,
    ) -> Result<Array> {
        let (rows, columns) = (size(name, rows)?, size(name, columns)?);
        // Far diagonals are as far as just outside.
        let k = k.clamp(-(rows as i64) - 1, columns as i64 + 1) as f64;
        let row = Array::arange(k, k + rows as f64, 1.0, Dtype::I32)?;
        let column = Array::arange(0.0, columns as f64, 1.0, Dtype::I32)?;
        let row = row.reshape(Shape::new([rows, 1]))?;
        Ok(row.binary(compare, &column)?.astype(dtype))
    }

    /// Ones on the `k`th diagonal of `n` rows and `m` columns.
    ///
    /// # Errors
    /// `InvalidArgument` for negative sizes.
    pub fn eye(n: i64, m: i64, k: i64, dtype: Dtype) -> Result<Array> {
        Array::places("eye", (n, m, k), Binary::Equal, dtype)
    }

    /// Ones on and below the `k`th diagonal of `n` rows and `m` columns.
    ///
    /// # Errors
    /// `InvalidArgument` for negative sizes.
    pub fn tri(n: i64, m: i64, k: i64, dtype: Dtype) -> Result<Array> {
        Array::places("tri", (n, m, k), Binary::GreaterEqual, dtype)
    }

    /// The value, broadcast to this array's shape, where it is; of its dtype if none is said.
    ///
    /// # Errors
    /// As [`Array::full`].
    pub fn full_like(&self, value: &Array, dtype: Option<Dtype>) -> Result<Array> {
        let dtype = dtype.unwrap_or(self.dtype());
        Ok(Array::full(self.shape().clone(), value, dtype)?.at(self.home()))
    }

    /// Zeros above (`lower`) or below the `k`th diagonal of the last two axes.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays of fewer axes.
    pub fn triangle(&self, k: i64, lower: bool) -> Result<Array> {
        let name = if lower { "tril" } else { "triu" };
        let sizes = self.shape().numbers().unwrap_or_default();
        let [.., rows, columns] = sizes[..] else {
            let what = format!("an array of shape {} is no matrix", self.shape());
            return Err(invalid(name, what));
        };
        let k = if lower { k } else { k.saturating_sub(1) };
        let (rows, columns) = (rows as i64, columns as i64);
        let mask = Array::places(name, (rows, columns, k), Binary::GreaterEqual, Dtype::Bool)?;
        let zero = Array::number(0.0, self.dtype())?;
        match lower {
            true => mask.select(self, &zero),
            false => mask.select(&zero, self),
        }
    }
}
