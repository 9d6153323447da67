//! Recurrent layers of models.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{Dim, Dtype, GatedDelta, Op, Shape, ShortConv, Symbol};

impl Array {
    /// Every channel's causal convolution over the tokens of its sequence: x `[tokens, channels]` f32, `weight`
    /// `[taps · channels]` f32, tap by tap. See [`ShortConv`].
    ///
    /// # Errors
    /// `InvalidArgument` if shapes or dtypes are others, or there is no tap.
    pub fn short_conv(&self, weight: &Array, shape: ShortConv) -> Result<Array> {
        let numbers = shape.taps.checked_mul(shape.channels);
        let fits = shape.taps > 0
            && self.is_tokens(Dim::fixed(shape.channels))
            && weight.dtype() == Dtype::F32
            && weight.rank() == 1
            && weight.shape().dims()[0].number() == numbers;
        if !fits {
            let what = format!("{self:?} with a weight {weight:?} for {shape:?}");
            return Err(invalid("short_conv", what));
        }
        let inputs = vec![self.clone(), weight.clone()];
        let op = Op::ShortConv(shape);
        Ok(Array::one(op, inputs, Dtype::F32, self.shape().clone()))
    }

    /// The gated delta rule with these queries. See [`GatedDelta`].
    ///
    /// # Errors
    /// `InvalidArgument` if shapes or dtypes are others, or heads do not divide.
    pub fn gated_delta(
        &self,
        k: &Array,
        v: &Array,
        decay: &Array,
        beta: &Array,
        shape: GatedDelta,
    ) -> Result<Array> {
        let arrays = [self, k, v];
        let reaches = |(array, (first, width)): (&Array, (usize, usize))| {
            let columns = array.shape().dims().last().and_then(|dim| dim.number());
            let end = first.checked_add(width);
            columns
                .zip(end)
                .is_some_and(|(columns, end)| end <= columns && array.is_tokens(columns.into()))
        };
        let fits = shape.key_heads > 0
            && shape.value_heads.is_multiple_of(shape.key_heads)
            && shape.key_dim > 0
            && arrays
                .into_iter()
                .zip(shape.columns.into_iter().zip(shape.widths()))
                .all(reaches)
            && decay.is_tokens(shape.decays().into())
            && beta.is_tokens(shape.value_heads.into());
        if !fits {
            let what =
                format!("{self:?}, {k:?} and {v:?} with {decay:?} and {beta:?} for {shape:?}");
            return Err(invalid("gated_delta", what));
        }
        let inputs = [self, k, v, decay, beta].map(Array::clone);
        let out = Shape::new([Symbol::Tokens.into(), Dim::fixed(shape.widths()[2])]);
        Ok(Array::one(Op::GatedDelta(shape), inputs, Dtype::F32, out))
    }

    /// Whether it is f32 `[tokens, width]`.
    fn is_tokens(&self, width: Dim) -> bool {
        let tokens = Symbol::Tokens.into();
        self.dtype() == Dtype::F32 && self.shape().dims() == [tokens, width]
    }
}
