//! Norms of vectors and matrices.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Binary, Dtype, Reduce, Unary};

/// Which norm.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum NormOrder {
    /// Of vectors the sum of |x|^p, its root; of matrices 1, 2, ∞ and their negatives.
    P(f64),
    /// The root of all squares.
    Frobenius,
    /// The sum of the singular values.
    Nuclear,
}

impl Array {
    /// Norms of vectors (one axis) or matrices (two); without an order the root of all squares. No axes means
    /// all of them.
    ///
    /// # Errors
    /// `InvalidArgument` for axes that are not there or too many, and orders that there are not.
    pub fn norm(
        &self,
        order: Option<NormOrder>,
        axes: Option<&[i64]>,
        keepdims: bool,
    ) -> Result<Array> {
        let name = "norm";
        let all: Vec<i64> = match axes {
            Some(axes) => axes.to_vec(),
            None => (0..self.rank() as i64).collect(),
        };
        let places = self.shape().axes(name, &all)?;
        if axes.is_some() && places.len() > 2 {
            return Err(invalid(name, format!("{} axes", places.len())));
        }
        let all: Vec<i64> = places.iter().map(|&axis| axis as i64).collect();
        let dtype = self.dtype().inexact();
        match (order, &all[..]) {
            (None, _) | (Some(NormOrder::Frobenius), [_, _]) => {
                self.root_of_squares(&all, keepdims)
            }
            (Some(NormOrder::P(p)), [_]) => {
                Ok(self
                    .vector_norm(p, dtype, &all, keepdims)?
                    .astype(match p == 2.0 {
                        true => dtype.promote(self.dtype()),
                        false => dtype,
                    }))
            }
            (Some(order), &[row, column]) => self.matrix_norm(order, (row, column), keepdims),
            (Some(order), _) => {
                let what = format!("{order:?} of {} axes of {self:?}", all.len());
                Err(invalid(name, what))
            }
        }
    }

    fn root_of_squares(&self, axes: &[i64], keepdims: bool) -> Result<Array> {
        let squares = match self.dtype() {
            Dtype::C64 => {
                let size = self.unary(Unary::Abs)?;
                size.times(&size)?
            }
            _ => self.unary(Unary::Square)?,
        };
        squares
            .reduce(Reduce::Sum, Some(axes), keepdims)?
            .unary(Unary::Sqrt)
    }

    fn vector_norm(&self, p: f64, dtype: Dtype, axes: &[i64], keepdims: bool) -> Result<Array> {
        let over = |x: &Array, kind| x.reduce(kind, Some(axes), keepdims);
        if p == 2.0 {
            return self.root_of_squares(axes, keepdims);
        }
        if p == 0.0 {
            let some = self.binary(Binary::NotEqual, &Array::number(0.0, self.dtype())?)?;
            return over(&some, Reduce::Sum);
        }
        let size = self.unary(Unary::Abs)?;
        if p == 1.0 {
            return over(&size, Reduce::Sum);
        }
        if p.is_infinite() {
            return over(&size, if p > 0.0 { Reduce::Max } else { Reduce::Min });
        }
        let powers = size.binary(Binary::Power, &Array::number(p, dtype)?)?;
        over(&powers, Reduce::Sum)?.binary(Binary::Power, &Array::number(1.0 / p, dtype)?)
    }

    fn matrix_norm(
        &self,
        order: NormOrder,
        (row, column): (i64, i64),
        keepdims: bool,
    ) -> Result<Array> {
        let name = "norm";
        let size = || self.unary(Unary::Abs);
        let dtype = self.dtype().inexact();
        let real = match dtype {
            Dtype::C64 => Dtype::F32,
            dtype => dtype,
        };
        let largest = |p: f64| if p > 0.0 { Reduce::Max } else { Reduce::Min };
        let sums = |(first, second): (i64, i64), kind| {
            let sums = size()?.reduce(Reduce::Sum, Some(&[first]), true)?;
            let found = sums.reduce(kind, Some(&[second]), true)?;
            match keepdims {
                true => Ok(found),
                false => found.squeeze(&[first, second]),
            }
        };
        let values = |kind: Reduce| {
            // The last two axes; which is which does not change the values.
            let (low, high) = (row.min(column), row.max(column));
            let matrices = self.moveaxis(high, -1)?.moveaxis(low, -2)?;
            let parts = matrices.svd(false)?;
            let values = parts[0].reduce(kind, Some(&[-1]), false)?;
            match keepdims {
                true => values.expand_dims(&[low, high]),
                false => Ok(values),
            }
        };
        let norm = match order {
            NormOrder::P(p) if p.abs() == 1.0 => sums((row, column), largest(p))?,
            NormOrder::P(p) if p.is_infinite() => sums((column, row), largest(p))?,
            NormOrder::P(p) if p.abs() == 2.0 => values(largest(p))?,
            NormOrder::Nuclear => values(Reduce::Sum)?,
            order => return Err(invalid(name, format!("{order:?} of matrices"))),
        };
        Ok(norm.astype(real))
    }
}
