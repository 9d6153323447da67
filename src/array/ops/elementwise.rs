//! Functions of each element.

use super::spread_both;
use crate::array::Array;
use crate::ir::{Binary, Dtype, Op, Type, Unary};
use crate::{Error, Result};

impl Array {
    /// The elements as another dtype.
    pub fn astype(&self, dtype: Dtype) -> Array {
        match self.dtype() == dtype {
            true => self.clone(),
            false => Array::one(Op::AsType, vec![self.clone()], dtype, self.shape().clone()),
        }
    }

    /// A function of each element. Integers and truth values become f32 where the function gives
    /// fractions.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such function of this dtype.
    pub fn unary(&self, function: Unary) -> Result<Array> {
        let op = Op::Unary(function);
        let Some(dtype) = function.result(self.dtype()) else {
            return Err(Error::InvalidArgument(format!(
                "{}: there is no such function of {}",
                op.name(),
                self.dtype()
            )));
        };
        let keeps = self.dtype() == dtype || dtype == Dtype::Bool || self.dtype() == Dtype::C64;
        let x = match keeps {
            true => self.clone(),
            false => self.astype(dtype),
        };
        Ok(Array::one(op, vec![x], dtype, self.shape().clone()))
    }

    /// A function of each pair of elements, both broadcast to one shape and promoted to one dtype.
    ///
    /// # Errors
    /// `InvalidArgument` if the shapes do not fit or there is no such function of the dtype.
    pub fn binary(&self, function: Binary, other: &Array) -> Result<Array> {
        use Binary::*;
        let op = Op::Binary(function);
        let name = op.name();
        let mut dtype = self.dtype().promote(other.dtype());
        match function {
            Divide | LogAddExp | ArcTan2 => dtype = dtype.inexact(),
            LogicalAnd | LogicalOr => dtype = Dtype::Bool,
            BitwiseAnd | BitwiseOr | BitwiseXor | LeftShift | RightShift if dtype.is_inexact() => {
                return Err(Error::InvalidArgument(format!(
                    "{name}: {} and {} are not both integers",
                    self.dtype(),
                    other.dtype()
                )));
            }
            _ => {}
        }
        let (a, b) = spread_both(&name, &self.astype(dtype), &other.astype(dtype))?;
        let shape = a.shape().clone();
        let result = match function.is_comparison() {
            true => Dtype::Bool,
            false => dtype,
        };
        Ok(Array::one(op, vec![a, b], result, shape))
    }

    /// Quotient, rounded down, and remainder, with the divisor's sign.
    ///
    /// # Errors
    /// As [`Array::binary`].
    pub fn divmod(&self, other: &Array) -> Result<(Array, Array)> {
        let dtype = self.dtype().promote(other.dtype());
        let (a, b) = spread_both("divmod", &self.astype(dtype), &other.astype(dtype))?;
        let ty = Type {
            dtype,
            shape: a.shape().clone(),
        };
        let mut results = Array::call(Op::DivMod, vec![a, b], vec![ty.clone(), ty]).into_iter();
        match (results.next(), results.next()) {
            (Some(quotient), Some(remainder)) => Ok((quotient, remainder)),
            _ => Err(Error::Internal("divmod without results".into())),
        }
    }

    /// `self + other`.
    ///
    /// # Errors
    /// As [`Array::binary`].
    pub fn plus(&self, other: &Array) -> Result<Array> {
        self.binary(Binary::Add, other)
    }

    /// `self · other`, element by element.
    ///
    /// # Errors
    /// As [`Array::binary`].
    pub fn times(&self, other: &Array) -> Result<Array> {
        self.binary(Binary::Multiply, other)
    }

    /// `x · sigmoid(x)`.
    ///
    /// # Errors
    /// As [`Array::unary`].
    pub fn silu(&self) -> Result<Array> {
        self.times(&self.unary(Unary::Sigmoid)?)
    }
}
