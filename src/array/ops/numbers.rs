//! Functions of elements that are made of others: rounding, NaN and infinities, closeness.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Binary, Dtype, Unary};

impl Array {
    /// With a number of this array's dtype.
    fn with_number(&self, function: Binary, number: f64) -> Result<Array> {
        self.binary(function, &Array::number(number, self.dtype())?)
    }

    /// Radians as degrees.
    ///
    /// # Errors
    /// None, but those of the rules it is made of; so for the functions below.
    pub fn degrees(&self) -> Result<Array> {
        let x = self.astype(self.dtype().inexact());
        x.with_number(Binary::Multiply, 180.0 / std::f64::consts::PI)
    }

    /// Degrees as radians.
    ///
    /// # Errors
    /// As [`Array::degrees`].
    pub fn radians(&self) -> Result<Array> {
        let x = self.astype(self.dtype().inexact());
        x.with_number(Binary::Multiply, std::f64::consts::PI / 180.0)
    }

    /// One by each element.
    ///
    /// # Errors
    /// As [`Array::degrees`].
    pub fn reciprocal(&self) -> Result<Array> {
        let dtype = self.dtype().inexact();
        Array::number(1.0, dtype)?.binary(Binary::Divide, &self.astype(dtype))
    }

    /// Rounded to `decimals` digits behind the point, halves to the even neighbour.
    ///
    /// # Errors
    /// As [`Array::degrees`].
    pub fn round(&self, decimals: i64) -> Result<Array> {
        if decimals == 0 {
            return self.unary(Unary::Round);
        }
        let dtype = self.dtype();
        if dtype.is_integer() && decimals > 0 {
            return Ok(self.clone());
        }
        let scale = 10f64.powi(decimals.clamp(-400, 400) as i32);
        let x = self.astype(dtype.inexact());
        let x = x.with_number(Binary::Multiply, scale)?;
        let x = x.unary(Unary::Round)?;
        Ok(x.with_number(Binary::Multiply, 1.0 / scale)?.astype(dtype))
    }

    /// Without the fraction.
    ///
    /// # Errors
    /// `InvalidArgument` for complex numbers.
    pub fn trunc(&self) -> Result<Array> {
        if !self.dtype().is_inexact() {
            return Ok(self.clone());
        }
        let negative = self.with_number(Binary::Less, 0.0)?;
        negative.select(&self.unary(Unary::Ceil)?, &self.unary(Unary::Floor)?)
    }

    /// Whether elements are NaN.
    ///
    /// # Errors
    /// As [`Array::degrees`].
    pub fn isnan(&self) -> Result<Array> {
        match self.dtype().is_inexact() {
            true => self.binary(Binary::NotEqual, self),
            false => Array::zeros(self.shape().clone(), Dtype::Bool),
        }
    }

    /// Whether elements are this infinity.
    ///
    /// # Errors
    /// As [`Array::degrees`].
    pub fn is_infinity(&self, infinity: f64) -> Result<Array> {
        match self.dtype().is_inexact() {
            true => self.with_number(Binary::Equal, infinity),
            false => Array::zeros(self.shape().clone(), Dtype::Bool),
        }
    }

    /// Whether elements are infinite.
    ///
    /// # Errors
    /// As [`Array::degrees`].
    pub fn isinf(&self) -> Result<Array> {
        if self.dtype() == Dtype::C64 {
            let (re, im) = (self.unary(Unary::Real)?, self.unary(Unary::Imag)?);
            return re.isinf()?.binary(Binary::LogicalOr, &im.isinf()?);
        }
        let up = self.is_infinity(f64::INFINITY)?;
        up.binary(Binary::LogicalOr, &self.is_infinity(f64::NEG_INFINITY)?)
    }

    /// Whether elements are neither NaN nor infinite.
    ///
    /// # Errors
    /// As [`Array::degrees`].
    pub fn isfinite(&self) -> Result<Array> {
        let not = self.isinf()?.binary(Binary::LogicalOr, &self.isnan()?)?;
        not.unary(Unary::LogicalNot)
    }

    /// With numbers for NaN and infinities; NaN for an infinity: the dtype's outermost finite number.
    ///
    /// # Errors
    /// `InvalidArgument` for complex numbers.
    pub fn nan_to_num(&self, nan: f64, posinf: f64, neginf: f64) -> Result<Array> {
        let largest = match self.dtype() {
            Dtype::F16 => f64::from(half::f16::MAX),
            Dtype::Bf16 => f64::from(half::bf16::MAX),
            Dtype::F32 => f64::from(f32::MAX),
            Dtype::F64 => f64::MAX,
            Dtype::C64 => return Err(invalid("nan_to_num", "complex numbers")),
            _ => return Ok(self.clone()),
        };
        let or = |number: f64, other: f64| if number.is_nan() { other } else { number };
        let number = |number: f64| Array::number(number, self.dtype());
        let x = self.isnan()?.select(&number(nan)?, self)?;
        let up = self.is_infinity(f64::INFINITY)?;
        let x = up.select(&number(or(posinf, largest))?, &x)?;
        let down = self.is_infinity(f64::NEG_INFINITY)?;
        down.select(&number(or(neginf, -largest))?, &x)
    }

    /// Whether `|a − b| ≤ atol + rtol·|b|`; equal infinities are close, NaN if `equal_nan`.
    ///
    /// # Errors
    /// `InvalidArgument` if the shapes do not fit.
    pub fn isclose(&self, other: &Array, rtol: f64, atol: f64, equal_nan: bool) -> Result<Array> {
        let number = |number: f64| Array::number(number, Dtype::F32);
        let room = number(rtol)?.times(&other.unary(Unary::Abs)?)?;
        let room = number(atol)?.plus(&room)?;
        let distance = self.binary(Binary::Subtract, other)?.unary(Unary::Abs)?;
        let close = distance.binary(Binary::LessEqual, &room)?;
        let both = |a: Array, b: Array| a.binary(Binary::LogicalAnd, &b);
        let some = self.isinf()?.binary(Binary::LogicalOr, &other.isinf()?)?;
        let mut close = both(close, some.unary(Unary::LogicalNot)?)?;
        for infinity in [f64::INFINITY, f64::NEG_INFINITY] {
            let same = both(self.is_infinity(infinity)?, other.is_infinity(infinity)?)?;
            close = close.binary(Binary::LogicalOr, &same)?;
        }
        if equal_nan {
            close = close.binary(Binary::LogicalOr, &both(self.isnan()?, other.isnan()?)?)?;
        }
        Ok(close)
    }
}
