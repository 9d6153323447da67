//! Functions of each element.

use super::{invalid, spread_both};
use crate::array::Array;
use crate::ir::{Binary, Dim, Dtype, Op, Reduce, Type, Unary};
use crate::{Error, Result};
use smallvec::smallvec;

impl Array {
    /// The elements as another dtype.
    pub fn astype(&self, dtype: Dtype) -> Array {
        match self.dtype() == dtype {
            true => self.clone(),
            false => Array::one(Op::AsType, [self.clone()], dtype, self.shape().clone()),
        }
    }

    /// The same bytes as another dtype. Where elements are of another size the last axis is.
    ///
    /// # Errors
    /// `InvalidArgument` if the last axis does not divide, or a scalar would have one.
    pub fn view(&self, dtype: Dtype) -> Result<Array> {
        let (from, to) = (self.dtype().size(), dtype.size());
        let mut shape = self.shape().clone();
        if from != to {
            let last = shape.dims_mut().last_mut();
            let resized = last.and_then(|dim| {
                let bytes = dim.times(Dim::fixed(from))?;
                *dim = bytes.over(Dim::fixed(to))?;
                Some(())
            });
            if resized.is_none() {
                let what = format!("{self:?} has no last axis that can be seen as {dtype}");
                return Err(invalid("view", what));
            }
        }
        match self.dtype() == dtype {
            true => Ok(self.clone()),
            false => Ok(Array::one(Op::View, [self.clone()], dtype, shape)),
        }
    }

    /// A function of each element. Integers and truth values become f32 where the function gives
    /// fractions.
    ///
    /// # Errors
    /// `InvalidArgument` if there is no such function of this dtype.
    pub fn unary(&self, function: Unary) -> Result<Array> {
        let op = Op::Unary(function);
        match function {
            Unary::Real | Unary::Conjugate if self.dtype() != Dtype::C64 => {
                return Ok(self.clone());
            }
            Unary::Imag if self.dtype() != Dtype::C64 => {
                return Array::zeros(self.shape().clone(), self.dtype());
            }
            Unary::Ceil | Unary::Floor | Unary::Round if !self.dtype().is_inexact() => {
                return Ok(self.clone());
            }
            _ => {}
        }
        let Some(dtype) = function.result(self.dtype()) else {
            return Err(Error::InvalidArgument(format!(
                "{}: there is no such function of {}",
                op.name(),
                self.dtype()
            )));
        };
        let x = match self.dtype() == Dtype::C64 && function != Unary::LogicalNot {
            true => self.clone(),
            false => self.astype(dtype),
        };
        Ok(Array::one(op, [x], dtype, self.shape().clone()))
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
        let refuse = |what: &str| {
            let pair = format!("{} and {}", self.dtype(), other.dtype());
            Err(invalid(name, format!("{pair} {what}")))
        };
        match function {
            Divide | LogAddExp => dtype = dtype.inexact(),
            ArcTan2 | Remainder if dtype == Dtype::C64 => return refuse("are not both real"),
            ArcTan2 => dtype = dtype.inexact(),
            LogicalAnd | LogicalOr => dtype = Dtype::Bool,
            BitwiseAnd | BitwiseOr | BitwiseXor | LeftShift | RightShift if dtype.is_inexact() => {
                return refuse("are not both integers");
            }
            LeftShift | RightShift if dtype == Dtype::Bool => dtype = Dtype::U8,
            _ => {}
        }
        let (a, b, shape) = spread_both(name, dtype, self, other)?;
        let result = match function.is_comparison() {
            true => Dtype::Bool,
            false => dtype,
        };
        Ok(Array::of(op, smallvec![a, b], result, shape))
    }

    /// Quotient, rounded down, and remainder, with the divisor's sign.
    ///
    /// # Errors
    /// As [`Array::binary`].
    pub fn divmod(&self, other: &Array) -> Result<(Array, Array)> {
        let dtype = self.dtype().promote(other.dtype());
        if dtype == Dtype::C64 {
            return Err(invalid("divmod", "complex numbers have no remainder"));
        }
        let (a, b, shape) = spread_both("divmod", dtype, self, other)?;
        let ty = Type { dtype, shape };
        let mut results = Array::call(Op::DivMod, [a, b], vec![ty.clone(), ty]).into_iter();
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

    /// Elements of `a` where this is not 0, of `b` elsewhere.
    ///
    /// # Errors
    /// `InvalidArgument` if the three shapes do not fit.
    pub fn select(&self, a: &Array, b: &Array) -> Result<Array> {
        let dtype = a.dtype().promote(b.dtype());
        let shape = a.shape().broadcast(b.shape(), "select")?;
        let shape = shape.broadcast(self.shape(), "select")?;
        let inputs = [
            &self.astype(Dtype::Bool),
            &a.astype(dtype),
            &b.astype(dtype),
        ];
        let inputs = inputs.map(|x| x.spread(&shape)).to_vec();
        Ok(Array::one(Op::Select, inputs, dtype, shape))
    }

    /// Whether one is 0 and the other is not.
    ///
    /// # Errors
    /// As [`Array::binary`].
    pub fn logical_xor(&self, other: &Array) -> Result<Array> {
        let (a, b) = (self.astype(Dtype::Bool), other.astype(Dtype::Bool));
        a.binary(Binary::NotEqual, &b)
    }

    /// Elements between a minimum and a maximum.
    ///
    /// # Errors
    /// `InvalidArgument` if there is neither, or shapes do not fit.
    pub fn clip(&self, minimum: Option<&Array>, maximum: Option<&Array>) -> Result<Array> {
        let mut x = self.clone();
        if minimum.is_none() && maximum.is_none() {
            return Err(invalid("clip", "there is neither a minimum nor a maximum"));
        }
        if let Some(minimum) = minimum {
            x = x.binary(Binary::Maximum, minimum)?;
        }
        if let Some(maximum) = maximum {
            x = x.binary(Binary::Minimum, maximum)?;
        }
        Ok(x)
    }

    /// Whether shapes and elements are equal.
    ///
    /// # Errors
    /// None, but those of the rules it is made of.
    pub fn array_equal(&self, other: &Array, equal_nan: bool) -> Result<Array> {
        if self.shape() != other.shape() {
            return Array::number(0.0, Dtype::Bool);
        }
        let same = match equal_nan {
            true => self.binary(Binary::NanEqual, other)?,
            false => self.binary(Binary::Equal, other)?,
        };
        same.reduce(Reduce::All, None, false)
    }
}
