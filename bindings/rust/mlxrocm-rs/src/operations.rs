// Made by bindings/generate.py from include/mlxrocm.json. Do not edit.

#![allow(clippy::too_many_arguments)]

use crate::array::{Array, DType, own_all, room};
use crate::error::{Result, call};
use mlxrocm_sys as sys;
use std::ptr::{null, null_mut};

impl Array {
    /// Absolute value of each element; of complex ones the modulus, as float32.
    pub fn abs(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_abs(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse cosine of each element.
    pub fn arccos(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_arccos(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse hyperbolic cosine of each element.
    pub fn arccosh(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_arccosh(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse sine of each element.
    pub fn arcsin(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_arcsin(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse hyperbolic sine of each element.
    pub fn arcsinh(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_arcsinh(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse tangent of each element.
    pub fn arctan(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_arctan(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse hyperbolic tangent of each element.
    pub fn arctanh(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_arctanh(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Each bit of integers or truth values turned round.
    pub fn bitwise_invert(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_bitwise_invert(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Each element rounded up.
    pub fn ceil(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_ceil(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Complex conjugate of each element.
    pub fn conjugate(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conjugate(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Cosine of each element.
    pub fn cos(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_cos(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Hyperbolic cosine of each element.
    pub fn cosh(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_cosh(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Error function of each element.
    pub fn erf(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_erf(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse of the error function of each element.
    pub fn erfinv(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_erfinv(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Exponential of each element.
    pub fn exp(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_exp(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Exponential minus one of each element, exact near 0.
    pub fn expm1(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_expm1(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Each element rounded down.
    pub fn floor(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_floor(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Imaginary part of each element; zeros of real ones.
    pub fn imag(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_imag(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Natural logarithm of each element.
    pub fn log(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_log(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Logarithm to base 2 of each element.
    pub fn log2(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_log2(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Logarithm to base 10 of each element.
    pub fn log10(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_log10(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Logarithm of one plus each element, exact near 0.
    pub fn log1p(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_log1p(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether each element is 0.
    pub fn logical_not(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_logical_not(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The negative of each element; not of truth values.
    pub fn negative(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_negative(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Real part of each element.
    pub fn real(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_real(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// One by the square root of each element.
    pub fn rsqrt(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_rsqrt(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// 1 / (1 + exp(-x)) of each element.
    pub fn sigmoid(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_sigmoid(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// -1, 0 or 1 by the sign of each element; of complex ones x / |x|.
    pub fn sign(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_sign(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Sine of each element.
    pub fn sin(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_sin(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Hyperbolic sine of each element.
    pub fn sinh(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_sinh(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Square root of each element.
    pub fn sqrt(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_sqrt(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Square of each element.
    pub fn square(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_square(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Tangent of each element.
    pub fn tan(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_tan(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Hyperbolic tangent of each element.
    pub fn tanh(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_tanh(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Radians as degrees.
    pub fn degrees(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_degrees(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Degrees as radians.
    pub fn radians(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_radians(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// One by each element.
    pub fn reciprocal(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_reciprocal(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Each element rounded to decimals, halves to the even neighbour.
    pub fn round(&self, decimals: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_round(self.as_ptr(), decimals, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Each element without its fraction.
    pub fn trunc(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_trunc(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether each element is NaN.
    pub fn isnan(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_isnan(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether each element is infinite.
    pub fn isinf(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_isinf(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether each element is neither NaN nor infinite.
    pub fn isfinite(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_isfinite(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether each element is plus infinity.
    pub fn isposinf(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_isposinf(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether each element is minus infinity.
    pub fn isneginf(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_isneginf(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Each element, with numbers for NaN and infinities.
    pub fn nan_to_num(&self, nan: f64, posinf: f64, neginf: f64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_nan_to_num(self.as_ptr(), nan, posinf, neginf, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The elements as another dtype: fractions are cut off, integers wrap, everything but 0 is true.
    pub fn astype(&self, dtype: DType) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_astype(self.as_ptr(), dtype as u32, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The same bytes as another dtype; the last axis grows or shrinks with the size of an element.
    pub fn view(&self, dtype: DType) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_view(self.as_ptr(), dtype as u32, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Sum.
    pub fn add(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_add(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Angle of the point (b, a).
    pub fn arctan2(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_arctan2(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// And of the bits of integers or truth values.
    pub fn bitwise_and(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_bitwise_and(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Or of the bits of integers or truth values.
    pub fn bitwise_or(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_bitwise_or(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Exclusive or of the bits of integers or truth values.
    pub fn bitwise_xor(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_bitwise_xor(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Bits of integers moved up by b; 0 beyond the dtype's bits.
    pub fn left_shift(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_left_shift(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Bits of integers moved down by b; by more than the dtype's bits as by all of them.
    pub fn right_shift(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_right_shift(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Quotient, a fraction.
    pub fn divide(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_divide(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Quotient, rounded down, but of complex numbers. An integer by 0 is 0.
    pub fn floor_divide(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_floor_divide(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether a = b.
    pub fn equal(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_equal(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether a > b.
    pub fn greater(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_greater(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether a >= b.
    pub fn greater_equal(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_greater_equal(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether a < b.
    pub fn less(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_less(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether a <= b.
    pub fn less_equal(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_less_equal(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// log(exp(a) + exp(b)) without overflow.
    pub fn logaddexp(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_logaddexp(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether both are not 0.
    pub fn logical_and(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_logical_and(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether one is not 0.
    pub fn logical_or(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_logical_or(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The larger; NaN if one is NaN.
    pub fn maximum(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_maximum(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The smaller; NaN if one is NaN.
    pub fn minimum(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_minimum(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Product.
    pub fn multiply(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_multiply(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether a and b differ.
    pub fn not_equal(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_not_equal(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// a to the power of b. Integers to a negative power are 0, but 1 and -1.
    pub fn power(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_power(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Remainder of the quotient rounded down: it has b's sign. An integer by 0 leaves 0.
    pub fn remainder(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_remainder(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Difference.
    pub fn subtract(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_subtract(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether one is 0 and the other is not.
    pub fn logical_xor(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_logical_xor(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Quotient, rounded down, and remainder, with b's sign.
    pub fn divmod(&self, b: &Array) -> Result<(Array, Array)> {
        let mut quotient_out = null_mut();
        let mut remainder_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_divmod(self.as_ptr(), b.as_ptr(), &mut quotient_out, &mut remainder_out, error) })?;
        Ok((Array::own(quotient_out), Array::own(remainder_out)))
    }

    /// Elements between a minimum and a maximum.
    ///
    /// `None`: minimum: no minimum; maximum: no maximum.
    pub fn clip(&self, minimum: Option<&Array>, maximum: Option<&Array>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_clip(self.as_ptr(), minimum.map_or(null(), Array::as_ptr), maximum.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether |a - b| <= atol + rtol |b|; equal infinities are close.
    pub fn isclose(&self, b: &Array, rtol: f64, atol: f64, equal_nan: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_isclose(self.as_ptr(), b.as_ptr(), rtol, atol, i32::from(equal_nan), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether all elements are close, as by isclose.
    pub fn allclose(&self, b: &Array, rtol: f64, atol: f64, equal_nan: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_allclose(self.as_ptr(), b.as_ptr(), rtol, atol, i32::from(equal_nan), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether shapes and all elements are equal.
    pub fn array_equal(&self, b: &Array, equal_nan: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_array_equal(self.as_ptr(), b.as_ptr(), i32::from(equal_nan), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Zeros of the shape of an array, on its device.
    ///
    /// `None`: dtype: that of the array.
    pub fn zeros_like(&self, dtype: Option<DType>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_zeros_like(self.as_ptr(), dtype.map_or(-1, |dtype| dtype as i64), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Ones of the shape of an array, on its device.
    ///
    /// `None`: dtype: that of the array.
    pub fn ones_like(&self, dtype: Option<DType>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_ones_like(self.as_ptr(), dtype.map_or(-1, |dtype| dtype as i64), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The value, broadcast to the shape of an array, on its device.
    ///
    /// `None`: dtype: that of the array.
    pub fn full_like(&self, value: &Array, dtype: Option<DType>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_full_like(self.as_ptr(), value.as_ptr(), dtype.map_or(-1, |dtype| dtype as i64), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The last two axes with zeros above a diagonal.
    pub fn tril(&self, k: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_tril(self.as_ptr(), k, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The last two axes with zeros below a diagonal.
    pub fn triu(&self, k: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_triu(self.as_ptr(), k, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// A matrix with a vector on a diagonal, or a diagonal of a matrix.
    pub fn diag(&self, k: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_diag(self.as_ptr(), k, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Diagonals of the matrices of two axes, as a last axis.
    pub fn diagonal(&self, offset: i64, axis1: i64, axis2: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_diagonal(self.as_ptr(), offset, axis1, axis2, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Sum of a diagonal.
    pub fn trace(&self, offset: i64, axis1: i64, axis2: i64, dtype: DType) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_trace(self.as_ptr(), offset, axis1, axis2, dtype as u32, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Products of every element of a with every one of b.
    pub fn outer(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_outer(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Kronecker product.
    pub fn kron(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_kron(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether all elements are not 0.
    ///
    /// `None`: axes: all axes.
    pub fn all(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_all(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Whether some element is not 0.
    ///
    /// `None`: axes: all axes.
    pub fn any(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_any(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Sum. Small integers and truth values become 32-bit integers.
    ///
    /// `None`: axes: all axes.
    pub fn sum(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_sum(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Product. Small integers and truth values become 32-bit integers.
    ///
    /// `None`: axes: all axes.
    pub fn prod(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_prod(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The smallest; NaN if there is one.
    ///
    /// `None`: axes: all axes.
    pub fn min(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_min(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The largest; NaN if there is one.
    ///
    /// `None`: axes: all axes.
    pub fn max(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_max(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Logarithm of the sum of exponentials, without overflow.
    ///
    /// `None`: axes: all axes.
    pub fn logsumexp(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_logsumexp(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Mean.
    ///
    /// `None`: axes: all axes.
    pub fn mean(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_mean(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Variance.
    ///
    /// `None`: axes: all axes.
    pub fn var(&self, axes: Option<&[i64]>, keepdims: bool, ddof: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_var(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), ddof, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Standard deviation.
    ///
    /// `None`: axes: all axes.
    pub fn std(&self, axes: Option<&[i64]>, keepdims: bool, ddof: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_std(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), ddof, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Median; the mean of the middle two of an even number.
    ///
    /// `None`: axes: all axes.
    pub fn median(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_median(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// How many elements are not 0.
    ///
    /// `None`: axes: all axes.
    pub fn count_nonzero(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_count_nonzero(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The place (uint32) of the first smallest element; of NaN if there is one.
    ///
    /// `None`: axis: the array made flat.
    pub fn argmin(&self, axis: Option<i64>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_argmin(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The place (uint32) of the first largest element; of NaN if there is one.
    ///
    /// `None`: axis: the array made flat.
    pub fn argmax(&self, axis: Option<i64>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_argmax(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Softmax: exp(x) over its sum along axes, without overflow.
    ///
    /// `None`: axes: all axes.
    pub fn softmax(&self, axes: Option<&[i64]>, precise: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_softmax(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(precise), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// How many elements axes have, as a scalar.
    ///
    /// `None`: axes: all axes.
    pub fn number_of_elements(&self, axes: Option<&[i64]>, inverted: bool, dtype: DType) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_number_of_elements(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(inverted), dtype as u32, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Running sum.
    ///
    /// `None`: axis: the array made flat.
    pub fn cumsum(&self, axis: Option<i64>, reverse: bool, inclusive: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_cumsum(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), i32::from(reverse), i32::from(inclusive), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Running product.
    ///
    /// `None`: axis: the array made flat.
    pub fn cumprod(&self, axis: Option<i64>, reverse: bool, inclusive: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_cumprod(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), i32::from(reverse), i32::from(inclusive), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Running maximum.
    ///
    /// `None`: axis: the array made flat.
    pub fn cummax(&self, axis: Option<i64>, reverse: bool, inclusive: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_cummax(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), i32::from(reverse), i32::from(inclusive), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Running minimum.
    ///
    /// `None`: axis: the array made flat.
    pub fn cummin(&self, axis: Option<i64>, reverse: bool, inclusive: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_cummin(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), i32::from(reverse), i32::from(inclusive), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Running logarithm of the sum of exponentials.
    ///
    /// `None`: axis: the array made flat.
    pub fn logcumsumexp(&self, axis: Option<i64>, reverse: bool, inclusive: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_logcumsumexp(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), i32::from(reverse), i32::from(inclusive), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Sorted, NaN last.
    ///
    /// `None`: axis: the array made flat.
    pub fn sort(&self, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_sort(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The places (uint32) of the sorted elements; equal ones stay in order.
    ///
    /// `None`: axis: the array made flat.
    pub fn argsort(&self, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_argsort(self.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With the kth element where sorting would put it, none larger before it and none smaller behind.
    ///
    /// `None`: axis: the array made flat.
    pub fn partition(&self, kth: i64, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_partition(self.as_ptr(), kth, axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The places (uint32) that partition takes elements from.
    ///
    /// `None`: axis: the array made flat.
    pub fn argpartition(&self, kth: i64, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_argpartition(self.as_ptr(), kth, axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The k largest, in no particular order.
    ///
    /// `None`: axis: the array made flat.
    pub fn topk(&self, k: i64, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_topk(self.as_ptr(), k, axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Where values would be put into a sorted vector (uint32).
    pub fn searchsorted(&self, values: &Array, right: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_searchsorted(self.as_ptr(), values.as_ptr(), i32::from(right), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The same elements, row after row, in another shape; one size may be -1: what is left.
    pub fn reshape(&self, shape: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_reshape(self.as_ptr(), shape.as_ptr(), shape.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Neighbouring axes as one.
    pub fn flatten(&self, start: i64, end: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_flatten(self.as_ptr(), start, end, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// An axis as several; one size may be -1: what is left.
    pub fn unflatten(&self, axis: i64, shape: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_unflatten(self.as_ptr(), axis, shape.as_ptr(), shape.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// New axes of size 1.
    pub fn expand_dims(&self, axes: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_expand_dims(self.as_ptr(), axes.as_ptr(), axes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Axes of size 1 taken away.
    ///
    /// `None`: axes: all of size 1.
    pub fn squeeze(&self, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_squeeze(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Repeated along axes of size 1, and along new ones in front.
    pub fn broadcast_to(&self, shape: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_broadcast_to(self.as_ptr(), shape.as_ptr(), shape.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Axes in another order.
    ///
    /// `None`: axes: turned round.
    pub fn transpose(&self, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_transpose(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Two axes in each other's place.
    pub fn swapaxes(&self, axis1: i64, axis2: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_swapaxes(self.as_ptr(), axis1, axis2, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// An axis at another place.
    pub fn moveaxis(&self, source: i64, destination: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_moveaxis(self.as_ptr(), source, destination, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// At least one axis.
    pub fn atleast_1d(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_atleast_1d(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// At least two axes.
    pub fn atleast_2d(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_atleast_2d(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// At least three axes.
    pub fn atleast_3d(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_atleast_3d(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Elements from start to before stop by step. Negative places count from the end, those beyond the array are its ends; a negative step goes backwards.
    pub fn slice(&self, start: &[i64], stop: &[i64], step: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_slice(self.as_ptr(), start.as_ptr(), start.len(), stop.as_ptr(), stop.len(), step.as_ptr(), step.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Elements at the places, among the array's elements row after row, that strides and an offset give.
    pub fn as_strided(&self, shape: &[i64], strides: &[i64], offset: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_as_strided(self.as_ptr(), shape.as_ptr(), shape.len(), strides.as_ptr(), strides.len(), offset, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Row after row in memory.
    pub fn contiguous(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_contiguous(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The array, as one that derivatives do not pass.
    pub fn stop_gradient(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_stop_gradient(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The array, computed after others.
    pub fn depends(&self, others: &[&Array]) -> Result<Array> {
        let others_list: Vec<_> = others.iter().map(|array| array.as_ptr()).collect();
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_depends(self.as_ptr(), others_list.as_ptr(), others.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Each element several times, one after the other.
    ///
    /// `None`: axis: the array made flat.
    pub fn repeat(&self, repeats: i64, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_repeat(self.as_ptr(), repeats, axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The whole array several times along each axis.
    pub fn tile(&self, reps: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_tile(self.as_ptr(), reps.as_ptr(), reps.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Surrounded along every axis.
    ///
    /// `None`: value: 0.
    pub fn pad(&self, low: &[i64], high: &[i64], mode: i64, value: Option<&Array>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_pad(self.as_ptr(), low.as_ptr(), low.len(), high.as_ptr(), high.len(), mode, value.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Moved round; what leaves at an end comes in at the other.
    ///
    /// `None`: axes: the array made flat.
    pub fn roll(&self, shifts: &[i64], axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_roll(self.as_ptr(), shifts.as_ptr(), shifts.len(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Axes turned round: the last element first.
    ///
    /// `None`: axes: all axes.
    pub fn flip(&self, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_flip(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Cuts an array before places of an axis.
    pub fn split(&self, places: &[i64], axis: i64) -> Result<Vec<Array>> {
        let mut out = room(places.len() + 1)?;
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_split(self.as_ptr(), places.as_ptr(), places.len(), axis, out.as_mut_ptr(), error) })?;
        Ok(own_all(out))
    }

    /// Cuts an axis into equal parts.
    pub fn split_parts(&self, parts: usize, axis: i64) -> Result<Vec<Array>> {
        let mut out = room(parts)?;
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_split_parts(self.as_ptr(), parts, axis, out.as_mut_ptr(), error) })?;
        Ok(own_all(out))
    }

    /// Slices of one axis at indices, which take the axis' place. Negative indices count from the end.
    ///
    /// `None`: axis: the array made flat.
    pub fn take(&self, indices: &Array, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_take(self.as_ptr(), indices.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The element at each index along an axis. Other axes are broadcast.
    ///
    /// `None`: axis: the array made flat.
    pub fn take_along_axis(&self, indices: &Array, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_take_along_axis(self.as_ptr(), indices.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Slices of given sizes that begin at indices along axes. The result has the indices' shape, then the sizes.
    pub fn gather(&self, indices: &[&Array], axes: &[i64], sizes: &[i64]) -> Result<Array> {
        let indices_list: Vec<_> = indices.iter().map(|array| array.as_ptr()).collect();
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_gather(self.as_ptr(), indices_list.as_ptr(), indices.len(), axes.as_ptr(), axes.len(), sizes.as_ptr(), sizes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// A slice of given sizes that begins at computed places.
    pub fn slice_dynamic(&self, start: &Array, axes: &[i64], sizes: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_slice_dynamic(self.as_ptr(), start.as_ptr(), axes.as_ptr(), axes.len(), sizes.as_ptr(), sizes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With an update in place of the slice that begins at computed places.
    pub fn slice_update_dynamic(&self, update: &Array, start: &Array, axes: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_slice_update_dynamic(self.as_ptr(), update.as_ptr(), start.as_ptr(), axes.as_ptr(), axes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With elements of source, in order, where the mask is not 0.
    pub fn masked_scatter(&self, mask: &Array, source: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_masked_scatter(self.as_ptr(), mask.as_ptr(), source.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With slices at indices along axes replaced by updates. Updates have the indices' shape, then that of slices of x's rank. Where places meet the last update stays.
    pub fn scatter(&self, indices: &[&Array], updates: &Array, axes: &[i64]) -> Result<Array> {
        let indices_list: Vec<_> = indices.iter().map(|array| array.as_ptr()).collect();
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_scatter(self.as_ptr(), indices_list.as_ptr(), indices.len(), updates.as_ptr(), axes.as_ptr(), axes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With the elements of a slice replaced by an update, which is broadcast to it.
    pub fn slice_update(&self, update: &Array, start: &[i64], stop: &[i64], step: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_slice_update(self.as_ptr(), update.as_ptr(), start.as_ptr(), start.len(), stop.as_ptr(), stop.len(), step.as_ptr(), step.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With slices at indices along axes joined by sum with updates. Updates have the indices' shape, then that of slices of x's rank.
    pub fn scatter_add(&self, indices: &[&Array], updates: &Array, axes: &[i64]) -> Result<Array> {
        let indices_list: Vec<_> = indices.iter().map(|array| array.as_ptr()).collect();
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_scatter_add(self.as_ptr(), indices_list.as_ptr(), indices.len(), updates.as_ptr(), axes.as_ptr(), axes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With the elements of a slice joined by sum with an update, which is broadcast to it.
    pub fn slice_update_add(&self, update: &Array, start: &[i64], stop: &[i64], step: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_slice_update_add(self.as_ptr(), update.as_ptr(), start.as_ptr(), start.len(), stop.as_ptr(), stop.len(), step.as_ptr(), step.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With slices at indices along axes joined by product with updates. Updates have the indices' shape, then that of slices of x's rank.
    pub fn scatter_prod(&self, indices: &[&Array], updates: &Array, axes: &[i64]) -> Result<Array> {
        let indices_list: Vec<_> = indices.iter().map(|array| array.as_ptr()).collect();
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_scatter_prod(self.as_ptr(), indices_list.as_ptr(), indices.len(), updates.as_ptr(), axes.as_ptr(), axes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With the elements of a slice joined by product with an update, which is broadcast to it.
    pub fn slice_update_prod(&self, update: &Array, start: &[i64], stop: &[i64], step: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_slice_update_prod(self.as_ptr(), update.as_ptr(), start.as_ptr(), start.len(), stop.as_ptr(), stop.len(), step.as_ptr(), step.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With slices at indices along axes joined by maximum with updates. Updates have the indices' shape, then that of slices of x's rank.
    pub fn scatter_max(&self, indices: &[&Array], updates: &Array, axes: &[i64]) -> Result<Array> {
        let indices_list: Vec<_> = indices.iter().map(|array| array.as_ptr()).collect();
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_scatter_max(self.as_ptr(), indices_list.as_ptr(), indices.len(), updates.as_ptr(), axes.as_ptr(), axes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With the elements of a slice joined by maximum with an update, which is broadcast to it.
    pub fn slice_update_max(&self, update: &Array, start: &[i64], stop: &[i64], step: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_slice_update_max(self.as_ptr(), update.as_ptr(), start.as_ptr(), start.len(), stop.as_ptr(), stop.len(), step.as_ptr(), step.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With slices at indices along axes joined by minimum with updates. Updates have the indices' shape, then that of slices of x's rank.
    pub fn scatter_min(&self, indices: &[&Array], updates: &Array, axes: &[i64]) -> Result<Array> {
        let indices_list: Vec<_> = indices.iter().map(|array| array.as_ptr()).collect();
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_scatter_min(self.as_ptr(), indices_list.as_ptr(), indices.len(), updates.as_ptr(), axes.as_ptr(), axes.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With the elements of a slice joined by minimum with an update, which is broadcast to it.
    pub fn slice_update_min(&self, update: &Array, start: &[i64], stop: &[i64], step: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_slice_update_min(self.as_ptr(), update.as_ptr(), start.as_ptr(), start.len(), stop.as_ptr(), stop.len(), step.as_ptr(), step.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With values put at indices along an axis. Values are broadcast to the indices.
    ///
    /// `None`: axis: the array made flat.
    pub fn put_along_axis(&self, indices: &Array, values: &Array, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_put_along_axis(self.as_ptr(), indices.as_ptr(), values.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// With values added at indices along an axis. Values are broadcast to the indices.
    ///
    /// `None`: axis: the array made flat.
    pub fn scatter_add_axis(&self, indices: &Array, values: &Array, axis: Option<i64>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_scatter_add_axis(self.as_ptr(), indices.as_ptr(), values.as_ptr(), axis.unwrap_or(sys::MLXROCM_AXIS_NONE), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Product of the last two axes; the others are broadcast together. A vector is a row on the left and a column on the right.
    pub fn matmul(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_matmul(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// alpha · a·b + beta · c; c is broadcast to the product.
    pub fn addmm(&self, a: &Array, b: &Array, alpha: f64, beta: f64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_addmm(self.as_ptr(), a.as_ptr(), b.as_ptr(), alpha, beta, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Product of matrices whose blocks are multiplied by masks (truth values or numbers) first.
    ///
    /// `None`: mask_out: none; mask_lhs: none; mask_rhs: none.
    pub fn block_masked_mm(&self, b: &Array, block_size: i64, mask_out: Option<&Array>, mask_lhs: Option<&Array>, mask_rhs: Option<&Array>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_block_masked_mm(self.as_ptr(), b.as_ptr(), block_size, mask_out.map_or(null(), Array::as_ptr), mask_lhs.map_or(null(), Array::as_ptr), mask_rhs.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b.
    ///
    /// `None`: lhs_indices: all in order; rhs_indices: all in order.
    pub fn gather_mm(&self, b: &Array, lhs_indices: Option<&Array>, rhs_indices: Option<&Array>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_gather_mm(self.as_ptr(), b.as_ptr(), lhs_indices.map_or(null(), Array::as_ptr), rhs_indices.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Products of parts of two matrices.
    pub fn segmented_mm(&self, b: &Array, segments: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_segmented_mm(self.as_ptr(), b.as_ptr(), segments.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Sums of products over pairs of axes.
    pub fn tensordot(&self, b: &Array, axes_a: &[i64], axes_b: &[i64]) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_tensordot(self.as_ptr(), b.as_ptr(), axes_a.as_ptr(), axes_a.len(), axes_b.as_ptr(), axes_b.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Sums of products over the last axes.
    pub fn inner(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_inner(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Codes, scales and biases of groups along the last axis, in the affine mode.
    pub fn quantize(&self, group_size: i64, bits: i64) -> Result<(Array, Array, Array)> {
        let mut codes_out = null_mut();
        let mut scales_out = null_mut();
        let mut biases_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_quantize(self.as_ptr(), group_size, bits, &mut codes_out, &mut scales_out, &mut biases_out, error) })?;
        Ok((Array::own(codes_out), Array::own(scales_out), Array::own(biases_out)))
    }

    /// Codes and scales of groups along the last axis, in a mode without biases.
    ///
    /// `None`: global_scale: none.
    pub fn quantize_float(&self, mode: &str, global_scale: Option<&Array>) -> Result<(Array, Array)> {
        let mut codes_out = null_mut();
        let mut scales_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_quantize_float(self.as_ptr(), mode.as_ptr().cast(), mode.len(), global_scale.map_or(null(), Array::as_ptr), &mut codes_out, &mut scales_out, error) })?;
        Ok((Array::own(codes_out), Array::own(scales_out)))
    }

    /// The numbers of codes.
    ///
    /// `None`: biases: none; global_scale: none; dtype: that of the scales, bfloat16 for floating modes.
    pub fn dequantize(&self, scales: &Array, biases: Option<&Array>, group_size: i64, bits: i64, mode: &str, global_scale: Option<&Array>, dtype: Option<DType>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_dequantize(self.as_ptr(), scales.as_ptr(), biases.map_or(null(), Array::as_ptr), group_size, bits, mode.as_ptr().cast(), mode.len(), global_scale.map_or(null(), Array::as_ptr), dtype.map_or(-1, |dtype| dtype as i64), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Product with a quantized matrix.
    ///
    /// `None`: biases: none.
    pub fn quantized_matmul(&self, w: &Array, scales: &Array, biases: Option<&Array>, transpose: bool, group_size: i64, bits: i64, mode: &str) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_quantized_matmul(self.as_ptr(), w.as_ptr(), scales.as_ptr(), biases.map_or(null(), Array::as_ptr), i32::from(transpose), group_size, bits, mode.as_ptr().cast(), mode.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Products with quantized matrices by index: matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
    ///
    /// `None`: biases: none; lhs_indices: all in order; rhs_indices: all in order.
    pub fn gather_qmm(&self, w: &Array, scales: &Array, biases: Option<&Array>, lhs_indices: Option<&Array>, rhs_indices: Option<&Array>, transpose: bool, group_size: i64, bits: i64, mode: &str) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_gather_qmm(self.as_ptr(), w.as_ptr(), scales.as_ptr(), biases.map_or(null(), Array::as_ptr), lhs_indices.map_or(null(), Array::as_ptr), rhs_indices.map_or(null(), Array::as_ptr), i32::from(transpose), group_size, bits, mode.as_ptr().cast(), mode.len(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Product x · wᵀ with both sides quantized: x on the way, w too if it has no scales.
    ///
    /// `None`: scales: w is not; global_scale_x: none; global_scale_w: none.
    pub fn qqmm(&self, w: &Array, scales: Option<&Array>, mode: &str, global_scale_x: Option<&Array>, global_scale_w: Option<&Array>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_qqmm(self.as_ptr(), w.as_ptr(), scales.map_or(null(), Array::as_ptr), mode.as_ptr().cast(), mode.len(), global_scale_x.map_or(null(), Array::as_ptr), global_scale_w.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// As qqmm, matrix lhs_indices[i] of x with matrix rhs_indices[i] of w.
    ///
    /// `None`: scales: w is not; lhs_indices: all in order; rhs_indices: all in order; global_scale_x: none; global_scale_w: none.
    pub fn gather_qqmm(&self, w: &Array, scales: Option<&Array>, lhs_indices: Option<&Array>, rhs_indices: Option<&Array>, mode: &str, global_scale_x: Option<&Array>, global_scale_w: Option<&Array>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_gather_qqmm(self.as_ptr(), w.as_ptr(), scales.map_or(null(), Array::as_ptr), lhs_indices.map_or(null(), Array::as_ptr), rhs_indices.map_or(null(), Array::as_ptr), mode.as_ptr().cast(), mode.len(), global_scale_x.map_or(null(), Array::as_ptr), global_scale_w.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// E4M3 codes (uint8) of numbers.
    pub fn to_fp8(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_to_fp8(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Numbers of E4M3 codes (uint8).
    pub fn from_fp8(&self, dtype: DType) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_from_fp8(self.as_ptr(), dtype as u32, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Convolution of [batch, …, channels] with [channels out, …, channels / groups], of one to three spatial axes. A list holds a number for each of these, one for all, or none for the usual.
    pub fn conv_general(&self, weight: &Array, stride: &[i64], padding_low: &[i64], padding_high: &[i64], kernel_dilation: &[i64], input_dilation: &[i64], groups: i64, flip: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conv_general(self.as_ptr(), weight.as_ptr(), stride.as_ptr(), stride.len(), padding_low.as_ptr(), padding_low.len(), padding_high.as_ptr(), padding_high.len(), kernel_dilation.as_ptr(), kernel_dilation.len(), input_dilation.as_ptr(), input_dilation.len(), groups, i32::from(flip), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Transposed convolution: back to the size of what a convolution with these numbers is made of.
    pub fn conv_transpose(&self, weight: &Array, stride: &[i64], padding: &[i64], dilation: &[i64], output_padding: &[i64], groups: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conv_transpose(self.as_ptr(), weight.as_ptr(), stride.as_ptr(), stride.len(), padding.as_ptr(), padding.len(), dilation.as_ptr(), dilation.len(), output_padding.as_ptr(), output_padding.len(), groups, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Convolution of [batch, length, channels] with [channels out, length, channels / groups].
    pub fn conv1d(&self, weight: &Array, stride: i64, padding: i64, dilation: i64, groups: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conv1d(self.as_ptr(), weight.as_ptr(), stride, padding, dilation, groups, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Transposed convolution of 1 spatial axis: back to the size of what conv1d with these numbers is made of.
    pub fn conv_transpose1d(&self, weight: &Array, stride: i64, padding: i64, dilation: i64, output_padding: i64, groups: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conv_transpose1d(self.as_ptr(), weight.as_ptr(), stride, padding, dilation, output_padding, groups, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Convolution of [batch, height, width, channels] with [channels out, height, width, channels / groups].
    pub fn conv2d(&self, weight: &Array, stride: &[i64], padding: &[i64], dilation: &[i64], groups: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conv2d(self.as_ptr(), weight.as_ptr(), stride.as_ptr(), stride.len(), padding.as_ptr(), padding.len(), dilation.as_ptr(), dilation.len(), groups, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Transposed convolution of 2 spatial axes: back to the size of what conv2d with these numbers is made of.
    pub fn conv_transpose2d(&self, weight: &Array, stride: &[i64], padding: &[i64], dilation: &[i64], output_padding: &[i64], groups: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conv_transpose2d(self.as_ptr(), weight.as_ptr(), stride.as_ptr(), stride.len(), padding.as_ptr(), padding.len(), dilation.as_ptr(), dilation.len(), output_padding.as_ptr(), output_padding.len(), groups, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Convolution of [batch, depth, height, width, channels] with [channels out, depth, height, width, channels / groups].
    pub fn conv3d(&self, weight: &Array, stride: &[i64], padding: &[i64], dilation: &[i64], groups: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conv3d(self.as_ptr(), weight.as_ptr(), stride.as_ptr(), stride.len(), padding.as_ptr(), padding.len(), dilation.as_ptr(), dilation.len(), groups, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Transposed convolution of 3 spatial axes: back to the size of what conv3d with these numbers is made of.
    pub fn conv_transpose3d(&self, weight: &Array, stride: &[i64], padding: &[i64], dilation: &[i64], output_padding: &[i64], groups: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_conv_transpose3d(self.as_ptr(), weight.as_ptr(), stride.as_ptr(), stride.len(), padding.as_ptr(), padding.len(), dilation.as_ptr(), dilation.len(), output_padding.as_ptr(), output_padding.len(), groups, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Discrete Fourier transform along an axis.
    pub fn fft_fft(&self, n: i64, axis: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_fft(self.as_ptr(), n, axis, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse discrete Fourier transform along an axis.
    pub fn fft_ifft(&self, n: i64, axis: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_ifft(self.as_ptr(), n, axis, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Discrete Fourier transform of real numbers along an axis: half of the frequencies.
    pub fn fft_rfft(&self, n: i64, axis: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_rfft(self.as_ptr(), n, axis, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The real numbers whose fft_rfft this is.
    pub fn fft_irfft(&self, n: i64, axis: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_irfft(self.as_ptr(), n, axis, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Discrete Fourier transform along two axes.
    ///
    /// `None`: sizes: their own; axes: the last two.
    pub fn fft_fft2(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_fft2(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse discrete Fourier transform along two axes.
    ///
    /// `None`: sizes: their own; axes: the last two.
    pub fn fft_ifft2(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_ifft2(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Discrete Fourier transform of real numbers along two axes; of the last one half of the frequencies.
    ///
    /// `None`: sizes: their own; axes: the last two.
    pub fn fft_rfft2(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_rfft2(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The real numbers whose fft_rfft2 this is.
    ///
    /// `None`: sizes: the array's, of the last axis twice one less; axes: the last two.
    pub fn fft_irfft2(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_irfft2(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Moves the frequency 0 from the first place of axes to the middle.
    ///
    /// `None`: axes: all axes.
    pub fn fft_fftshift(&self, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_fftshift(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Undoes fft_fftshift.
    ///
    /// `None`: axes: all axes.
    pub fn fft_ifftshift(&self, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_ifftshift(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Discrete Fourier transform along axes.
    ///
    /// `None`: sizes: the array's; axes: all axes.
    pub fn fft_fftn(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_fftn(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Inverse discrete Fourier transform along axes.
    ///
    /// `None`: sizes: the array's; axes: all axes.
    pub fn fft_ifftn(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_ifftn(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Discrete Fourier transform of real numbers; of the last axis only half of the frequencies.
    ///
    /// `None`: sizes: the array's; axes: all axes.
    pub fn fft_rfftn(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_rfftn(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The real numbers whose fft_rfftn this is.
    ///
    /// `None`: sizes: the array's, of the last axis twice one less; axes: all axes.
    pub fn fft_irfftn(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_irfftn(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// A discrete Fourier transform along axes with a normalization: "backward" divides inverse ones by their size n, as fft_ifftn does, "forward" divides the others by n, "ortho" both by the root of n.
    ///
    /// `None`: sizes: the array's; axes: all axes.
    pub fn fft_normed(&self, sizes: Option<&[i64]>, axes: Option<&[i64]>, norm: &str, inverse: bool, real: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fft_normed(self.as_ptr(), sizes.map_or(null(), <[i64]>::as_ptr), sizes.map_or(0, <[i64]>::len), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), norm.as_ptr().cast(), norm.len(), i32::from(inverse), i32::from(real), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Walsh–Hadamard transform of the last axis, of m · 2^k elements, m = 1, 12, 20 or 28.
    pub fn hadamard_transform(&self, scale: f64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_hadamard_transform(self.as_ptr(), scale, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// x · rsqrt(mean(x²) + eps) · weight over the last axis.
    ///
    /// `None`: weight: none.
    pub fn fast_rms_norm(&self, weight: Option<&Array>, eps: f64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fast_rms_norm(self.as_ptr(), weight.map_or(null(), Array::as_ptr), eps, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// (x − mean) · rsqrt(variance + eps) · weight + bias over the last axis.
    ///
    /// `None`: weight: none; bias: none.
    pub fn fast_layer_norm(&self, weight: Option<&Array>, bias: Option<&Array>, eps: f64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fast_layer_norm(self.as_ptr(), weight.map_or(null(), Array::as_ptr), bias.map_or(null(), Array::as_ptr), eps, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Rotary position embedding of [batch, …, tokens, dim]: token t stands at (t + offset) · scale.
    ///
    /// `None`: freqs: none.
    pub fn fast_rope(&self, dims: i64, traditional: bool, base: f64, scale: f64, offset: &Array, freqs: Option<&Array>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fast_rope(self.as_ptr(), dims, i32::from(traditional), base, scale, offset.as_ptr(), freqs.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// softmax(scale · q·kᵀ + mask) · v of [batch, heads, rows, dim] and [batch, kv heads, keys, dim].
    ///
    /// `None`: mask: none; sinks: none.
    pub fn fast_scaled_dot_product_attention(&self, k: &Array, v: &Array, scale: f64, causal: bool, mask: Option<&Array>, sinks: Option<&Array>) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_fast_scaled_dot_product_attention(self.as_ptr(), k.as_ptr(), v.as_ptr(), scale, i32::from(causal), mask.map_or(null(), Array::as_ptr), sinks.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Q with orthogonal columns and R, upper triangular.
    pub fn linalg_qr(&self) -> Result<(Array, Array)> {
        let mut q_out = null_mut();
        let mut r_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_qr(self.as_ptr(), &mut q_out, &mut r_out, error) })?;
        Ok((Array::own(q_out), Array::own(r_out)))
    }

    /// U, the singular values (the largest first) and Vᴴ.
    pub fn linalg_svd(&self) -> Result<(Array, Array, Array)> {
        let mut u_out = null_mut();
        let mut s_out = null_mut();
        let mut vt_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_svd(self.as_ptr(), &mut u_out, &mut s_out, &mut vt_out, error) })?;
        Ok((Array::own(u_out), Array::own(s_out), Array::own(vt_out)))
    }

    /// The singular values, the largest first.
    pub fn linalg_svd_values(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_svd_values(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The inverse. Singular matrices fail when they are evaluated.
    pub fn linalg_inv(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_inv(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The inverse of triangular matrices.
    pub fn linalg_tri_inv(&self, upper: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_tri_inv(self.as_ptr(), i32::from(upper), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// L of L·Lᵀ. What is not positive definite fails when it is evaluated.
    pub fn linalg_cholesky(&self, upper: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_cholesky(self.as_ptr(), i32::from(upper), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The inverse of the matrix whose factor this is.
    pub fn linalg_cholesky_inv(&self, upper: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_cholesky_inv(self.as_ptr(), i32::from(upper), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The pseudoinverse.
    pub fn linalg_pinv(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_pinv(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices.
    pub fn linalg_eigh(&self, upper: bool) -> Result<(Array, Array)> {
        let mut values_out = null_mut();
        let mut vectors_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_eigh(self.as_ptr(), i32::from(upper), &mut values_out, &mut vectors_out, error) })?;
        Ok((Array::own(values_out), Array::own(vectors_out)))
    }

    /// Eigenvalues of Hermitian matrices, ascending.
    pub fn linalg_eigvalsh(&self, upper: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_eigvalsh(self.as_ptr(), i32::from(upper), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Eigenvalues and eigenvectors (columns), complex.
    pub fn linalg_eig(&self) -> Result<(Array, Array)> {
        let mut values_out = null_mut();
        let mut vectors_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_eig(self.as_ptr(), &mut values_out, &mut vectors_out, error) })?;
        Ok((Array::own(values_out), Array::own(vectors_out)))
    }

    /// Eigenvalues, complex.
    pub fn linalg_eigvals(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_eigvals(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The row of L·U that each row is, L and U.
    pub fn linalg_lu(&self) -> Result<(Array, Array, Array)> {
        let mut rows_out = null_mut();
        let mut l_out = null_mut();
        let mut u_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_lu(self.as_ptr(), &mut rows_out, &mut l_out, &mut u_out, error) })?;
        Ok((Array::own(rows_out), Array::own(l_out), Array::own(u_out)))
    }

    /// L and U in one array, and the row that each step changed places with.
    pub fn linalg_lu_factor(&self) -> Result<(Array, Array)> {
        let mut lu_out = null_mut();
        let mut pivots_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_lu_factor(self.as_ptr(), &mut lu_out, &mut pivots_out, error) })?;
        Ok((Array::own(lu_out), Array::own(pivots_out)))
    }

    /// x of a·x = b.
    pub fn linalg_solve(&self, b: &Array) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_solve(self.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// x of a·x = b with a triangular a.
    pub fn linalg_solve_triangular(&self, b: &Array, upper: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_solve_triangular(self.as_ptr(), b.as_ptr(), i32::from(upper), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The determinant.
    pub fn linalg_det(&self) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_det(self.as_ptr(), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// The determinant's sign and the logarithm of its size.
    pub fn linalg_slogdet(&self) -> Result<(Array, Array)> {
        let mut sign_out = null_mut();
        let mut log_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_slogdet(self.as_ptr(), &mut sign_out, &mut log_out, error) })?;
        Ok((Array::own(sign_out), Array::own(log_out)))
    }

    /// Vector product along an axis of 2 or 3 elements.
    pub fn linalg_cross(&self, b: &Array, axis: i64) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_cross(self.as_ptr(), b.as_ptr(), axis, &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Root of the sum of squares.
    ///
    /// `None`: axes: all axes.
    pub fn linalg_norm_l2(&self, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_norm_l2(self.as_ptr(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Norm of vectors (one axis) or matrices (two).
    ///
    /// `None`: axes: all axes.
    pub fn linalg_norm(&self, p: f64, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_norm(self.as_ptr(), p, axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Norm of matrices.
    ///
    /// `None`: axes: all axes.
    pub fn linalg_norm_matrix(&self, order: &str, axes: Option<&[i64]>, keepdims: bool) -> Result<Array> {
        let mut result_out = null_mut();
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_linalg_norm_matrix(self.as_ptr(), order.as_ptr().cast(), order.len(), axes.map_or(null(), <[i64]>::as_ptr), axes.map_or(0, <[i64]>::len), i32::from(keepdims), &mut result_out, error) })?;
        Ok(Array::own(result_out))
    }

    /// Saves an array as an npy file (numpy's), which is there whole or not at all. It is computed if it is not yet.
    pub fn save(&self, path: &str) -> Result<()> {
        // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
        call(|error| unsafe { sys::mlxrocm_array_save(self.as_ptr(), path.as_ptr().cast(), path.len(), error) })?;
        Ok(())
    }
}

/// Elements of a where the condition is not 0, of b elsewhere.
pub fn where_(condition: &Array, a: &Array, b: &Array) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_where(condition.as_ptr(), a.as_ptr(), b.as_ptr(), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// The value, broadcast to a shape.
pub fn full(shape: &[i64], value: &Array, dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_full(shape.as_ptr(), shape.len(), value.as_ptr(), dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Zeros.
pub fn zeros(shape: &[i64], dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_zeros(shape.as_ptr(), shape.len(), dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Ones.
pub fn ones(shape: &[i64], dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_ones(shape.as_ptr(), shape.len(), dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// A scalar.
pub fn number(value: f64, dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_number(value, dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Start, start + step and so on, before stop; not of truth values.
pub fn arange(start: f64, stop: f64, step: f64, dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_arange(start, stop, step, dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Numbers from start to stop, evenly spaced.
pub fn linspace(start: f64, stop: f64, count: i64, dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_linspace(start, stop, count, dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Ones on a diagonal of a matrix of zeros.
pub fn eye(n: i64, m: i64, k: i64, dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_eye(n, m, k, dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// The identity matrix.
pub fn identity(n: i64, dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_identity(n, dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Ones on and below a diagonal, zeros above.
pub fn tri(n: i64, m: i64, k: i64, dtype: DType) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_tri(n, m, k, dtype as u32, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Arrays one after the other along an axis.
pub fn concatenate(arrays: &[&Array], axis: i64) -> Result<Array> {
    let arrays_list: Vec<_> = arrays.iter().map(|array| array.as_ptr()).collect();
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_concatenate(arrays_list.as_ptr(), arrays.len(), axis, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Arrays of one shape along a new axis.
pub fn stack(arrays: &[&Array], axis: i64) -> Result<Array> {
    let arrays_list: Vec<_> = arrays.iter().map(|array| array.as_ptr()).collect();
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_stack(arrays_list.as_ptr(), arrays.len(), axis, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Broadcasts arrays to the shape that all of them fit.
pub fn broadcast_arrays(arrays: &[&Array]) -> Result<Vec<Array>> {
    let arrays_list: Vec<_> = arrays.iter().map(|array| array.as_ptr()).collect();
    let mut out = room(arrays.len())?;
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_broadcast_arrays(arrays_list.as_ptr(), arrays.len(), out.as_mut_ptr(), error) })?;
    Ok(own_all(out))
}

/// Coordinates of a grid: each vector along an axis of its own, repeated along the others.
pub fn meshgrid(arrays: &[&Array], sparse: bool, swapped: bool) -> Result<Vec<Array>> {
    let arrays_list: Vec<_> = arrays.iter().map(|array| array.as_ptr()).collect();
    let mut out = room(arrays.len())?;
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_meshgrid(arrays_list.as_ptr(), arrays.len(), i32::from(sparse), i32::from(swapped), out.as_mut_ptr(), error) })?;
    Ok(own_all(out))
}

/// Sums of products over axes that are named by letters: "ij,jk->ik" is the product of two matrices. Spaces are nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the letters that appear once, in the order of the alphabet.
pub fn einsum(subscripts: &str, operands: &[&Array]) -> Result<Array> {
    let operands_list: Vec<_> = operands.iter().map(|array| array.as_ptr()).collect();
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_einsum(subscripts.as_ptr().cast(), subscripts.len(), operands_list.as_ptr(), operands.len(), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// The frequencies of the results of fft_fft, float32.
pub fn fft_fftfreq(n: i64, d: f64) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_fft_fftfreq(n, d, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// The frequencies of the results of fft_rfft, float32.
pub fn fft_rfftfreq(n: i64, d: f64) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_fft_rfftfreq(n, d, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Starts the sequence of keys again that calls without a key take theirs from. It is the process' own.
pub fn random_seed(seed: u64) -> Result<()> {
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_seed(seed, error) })?;
    Ok(())
}

/// The key of a seed.
pub fn random_key(seed: i64) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_key(seed, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// New keys of a key: [count, 2].
pub fn random_split(key: &Array, count: i64) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_split(key.as_ptr(), count, &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Random bits: unsigned integers.
///
/// `None`: key: the process' next.
pub fn random_bits(shape: &[i64], width: i64, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_bits(shape.as_ptr(), shape.len(), width, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Numbers evenly spread from low up to, but not, high.
///
/// `None`: key: the process' next.
pub fn random_uniform(low: &Array, high: &Array, shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_uniform(low.as_ptr(), high.as_ptr(), shape.as_ptr(), shape.len(), dtype as u32, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Normally distributed numbers.
///
/// `None`: loc: 0; scale: 1; key: the process' next.
pub fn random_normal(shape: &[i64], dtype: DType, loc: Option<&Array>, scale: Option<&Array>, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_normal(shape.as_ptr(), shape.len(), dtype as u32, loc.map_or(null(), Array::as_ptr), scale.map_or(null(), Array::as_ptr), key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Normally distributed vectors.
///
/// `None`: key: the process' next.
pub fn random_multivariate_normal(mean: &Array, cov: &Array, shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_multivariate_normal(mean.as_ptr(), cov.as_ptr(), shape.as_ptr(), shape.len(), dtype as u32, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Integers from low up to, but not, high.
///
/// `None`: key: the process' next.
pub fn random_randint(low: &Array, high: &Array, shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_randint(low.as_ptr(), high.as_ptr(), shape.as_ptr(), shape.len(), dtype as u32, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Truth values, each true with probability p.
///
/// `None`: key: the process' next.
pub fn random_bernoulli(p: &Array, shape: &[i64], key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_bernoulli(p.as_ptr(), shape.as_ptr(), shape.len(), key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Normally distributed numbers between two bounds.
///
/// `None`: key: the process' next.
pub fn random_truncated_normal(lower: &Array, upper: &Array, shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_truncated_normal(lower.as_ptr(), upper.as_ptr(), shape.as_ptr(), shape.len(), dtype as u32, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Numbers of the standard Gumbel distribution.
///
/// `None`: key: the process' next.
pub fn random_gumbel(shape: &[i64], dtype: DType, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_gumbel(shape.as_ptr(), shape.len(), dtype as u32, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Laplace distributed numbers.
///
/// `None`: key: the process' next.
pub fn random_laplace(shape: &[i64], dtype: DType, loc: f64, scale: f64, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_laplace(shape.as_ptr(), shape.len(), dtype as u32, loc, scale, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// A place (uint32) along an axis for each row, with the probability of the softmax of its logits.
///
/// `None`: key: the process' next.
pub fn random_categorical(logits: &Array, axis: i64, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_categorical(logits.as_ptr(), axis, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// As random_categorical, several places for each row as a last axis.
///
/// `None`: key: the process' next.
pub fn random_categorical_num_samples(logits: &Array, axis: i64, num_samples: i64, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_categorical_num_samples(logits.as_ptr(), axis, num_samples, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// As random_categorical, in a shape that the rows are broadcast to.
///
/// `None`: key: the process' next.
pub fn random_categorical_shape(logits: &Array, axis: i64, shape: &[i64], key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_categorical_shape(logits.as_ptr(), axis, shape.as_ptr(), shape.len(), key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// Slices along an axis in random order.
///
/// `None`: key: the process' next.
pub fn random_permutation(x: &Array, axis: i64, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_permutation(x.as_ptr(), axis, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// The numbers (uint32) below a count in random order.
///
/// `None`: key: the process' next.
pub fn random_permutation_arange(count: i64, key: Option<&Array>) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_random_permutation_arange(count, key.map_or(null(), Array::as_ptr), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}

/// The array of an npy file (numpy's). Its elements stay in the file, which is mapped: do not truncate it meanwhile; save replaces it as a whole. Also fails with IO, INVALID_FILE (damaged) and UNSUPPORTED (elements of no dtype).
pub fn load(path: &str) -> Result<Array> {
    let mut result_out = null_mut();
    // SAFETY: handles of live arrays, lists with their lengths, and places for the results.
    call(|error| unsafe { sys::mlxrocm_array_load(path.as_ptr().cast(), path.len(), &mut result_out, error) })?;
    Ok(Array::own(result_out))
}
