//! Layers of networks.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Number, Op, Shape};

impl Array {
    /// `x · rsqrt(mean(x²) + eps) · weight` over the last axis (`fast.rms_norm`); no weight means 1.
    ///
    /// # Errors
    /// `InvalidArgument` if the weight is not a vector of the last axis' size, or x has no axis.
    pub fn rms_norm(&self, weight: Option<&Array>, eps: f64) -> Result<Array> {
        let Some(&last) = self.shape().dims().last() else {
            return Err(invalid("rms_norm", "a scalar has no axis"));
        };
        let mut inputs = vec![self.clone()];
        let mut dtype = self.dtype();
        if let Some(weight) = weight {
            if weight.shape() != &Shape::new([last]) {
                let what = format!(
                    "a weight of shape {} for x of shape {}",
                    weight.shape(),
                    self.shape()
                );
                return Err(invalid("rms_norm", what));
            }
            dtype = dtype.promote(weight.dtype());
            inputs.push(weight.clone());
        }
        if !dtype.is_inexact() {
            return Err(invalid(
                "rms_norm",
                format!("x of {dtype} is not floating point"),
            ));
        }
        let op = Op::RmsNorm(Number::new(eps));
        Ok(Array::one(op, inputs, dtype, self.shape().clone()))
    }
}
