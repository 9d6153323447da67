//! Layers of networks.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::ir::{Dtype, Kind, Number, Op, Rope, Shape};

impl Array {
    /// Checks vectors over the last axis.
    fn last_axis(&self, name: &str, vectors: [Option<&Array>; 2]) -> Result<()> {
        let Some(&last) = self.shape().dims().last() else {
            return Err(invalid(name, "a scalar has no axis"));
        };
        for vector in vectors.into_iter().flatten() {
            if vector.shape() != &Shape::new([last]) {
                let what = format!(
                    "a weight or bias of shape {} for x of shape {}",
                    vector.shape(),
                    self.shape()
                );
                return Err(invalid(name, what));
            }
        }
        Ok(())
    }

    /// `x · rsqrt(mean(x²) + eps) · weight` over the last axis (`fast.rms_norm`); no weight means 1.
    ///
    /// # Errors
    /// `InvalidArgument` if the weight is not a vector of the last axis' size, or x has no axis.
    pub fn rms_norm(&self, weight: Option<&Array>, eps: f64) -> Result<Array> {
        let name = "rms_norm";
        self.last_axis(name, [weight, None])?;
        let dtype = weight.map_or(self.dtype(), |weight| self.dtype().promote(weight.dtype()));
        if dtype.kind() != Kind::Float {
            return Err(invalid(name, format!("x of {dtype} is not floating point")));
        }
        let inputs = [self].into_iter().chain(weight).cloned();
        let op = Op::RmsNorm(Number::new(eps));
        Ok(Array::one(op, inputs, dtype, self.shape().clone()))
    }

    /// `(x − mean) · rsqrt(variance + eps) · weight + bias` over the last axis (`fast.layer_norm`). A bias counts
    /// for the dtype only beside a weight, as in MLX.
    ///
    /// # Errors
    /// As [`Array::rms_norm`].
    pub fn layer_norm(
        &self,
        weight: Option<&Array>,
        bias: Option<&Array>,
        eps: f64,
    ) -> Result<Array> {
        let name = "layer_norm";
        self.last_axis(name, [weight, bias])?;
        let mut dtype = self.dtype();
        if let Some(weight) = weight {
            dtype = dtype.promote(weight.dtype());
            dtype = bias.map_or(dtype, |bias| dtype.promote(bias.dtype()));
        }
        if dtype.kind() != Kind::Float {
            return Err(invalid(name, format!("x of {dtype} is not floating point")));
        }
        let inputs = [self].into_iter().chain(weight).chain(bias);
        let inputs = inputs.cloned();
        let op = Op::LayerNorm {
            eps: Number::new(eps),
            weight: weight.is_some(),
            bias: bias.is_some(),
        };
        Ok(Array::one(op, inputs, dtype, self.shape().clone()))
    }

    /// Rotary position embedding of `[batch, …, tokens, dim]` (`fast.rope`): token t stands at
    /// `(t + offset) · scale`; `offset` is one integer, or one for each of the batch. Pair i is turned by position
    /// · base^(−2i / dims), or position / `periods[i]`: exactly one of the two is given.
    ///
    /// # Errors
    /// `InvalidArgument` for other shapes and dtypes.
    pub fn rope(&self, rope: Rope, offset: &Array, periods: Option<&Array>) -> Result<Array> {
        let name = "rope";
        let sizes = known(name, self)?;
        let last = sizes.last().copied().unwrap_or(0);
        if sizes.len() < 3 || self.dtype().kind() != Kind::Float {
            let what = format!("x {self:?} is not [batch, …, tokens, dim] of floating point");
            return Err(invalid(name, what));
        }
        if rope.dims == 0 || !rope.dims.is_multiple_of(2) || rope.dims > last {
            let what = format!("{} rotated of {last} dimensions", rope.dims);
            return Err(invalid(name, what));
        }
        let offsets = offset.shape().count().unwrap_or(0);
        if offset.rank() > 1
            || !(offsets == 1 || offsets == sizes[0])
            || !offset.dtype().is_integer()
        {
            let what = format!("an offset {offset:?} for a batch of {}", sizes[0]);
            return Err(invalid(name, what));
        }
        let fits = match (rope.base, periods) {
            (Some(_), None) => true,
            (None, Some(periods)) => periods.shape() == &Shape::new([rope.dims / 2]),
            _ => false,
        };
        if !fits {
            let what = format!("base {:?} with frequencies {periods:?}", rope.base);
            return Err(invalid(name, what));
        }
        let inputs = [self.clone(), offset.clone()].into_iter();
        let inputs = inputs.chain(periods.map(|periods| periods.astype(Dtype::F32)));
        let op = Op::Rope(rope);
        Ok(Array::one(op, inputs, self.dtype(), self.shape().clone()))
    }

    /// `softmax(scale · q·kᵀ + mask) · v` (`fast.scaled_dot_product_attention`) of `[batch, heads, rows, dim]`,
    /// `[batch, kv heads, keys, dim]` and `[batch, kv heads, keys, …]`. Causal: row i sees keys up to
    /// i + keys − rows. A mask is broadcast to `[batch, heads, rows, keys]`: truth values say which keys are seen,
    /// numbers are added. A sink for each head is one more score, without a value.
    ///
    /// # Errors
    /// `InvalidArgument` for other shapes and dtypes, and a mask beside `causal`.
    pub fn scaled_dot_product_attention(
        &self,
        k: &Array,
        v: &Array,
        scale: f64,
        causal: bool,
        mask: Option<&Array>,
        sinks: Option<&Array>,
    ) -> Result<Array> {
        let name = "scaled_dot_product_attention";
        let (q_sizes, k_sizes) = (known(name, self)?, known(name, k)?);
        let v_sizes = known(name, v)?;
        let dtype = self.dtype().promote(k.dtype()).promote(v.dtype());
        let fits = [q_sizes.len(), k_sizes.len(), v_sizes.len()] == [4; 3]
            && k_sizes[..3] == v_sizes[..3]
            && q_sizes[0] == k_sizes[0]
            && q_sizes[3] == k_sizes[3]
            && k_sizes[1] > 0
            && q_sizes[1].is_multiple_of(k_sizes[1]);
        if !fits || dtype.kind() != Kind::Float {
            return Err(invalid(
                name,
                format!(
                    "q {self:?} over k {k:?} and v {v:?}: each is [batch, heads, tokens, dim] of floating point, \
                     with as many heads of q as k and v have or a multiple"
                ),
            ));
        }
        let joins = |x: &Array| x.dtype().promote(dtype) == dtype;
        let mut inputs = vec![self.astype(dtype), k.astype(dtype), v.astype(dtype)];
        if let Some(mask) = mask {
            let seen = Shape::new([q_sizes[0], q_sizes[1], q_sizes[2], k_sizes[2]]);
            if causal || !joins(mask) || mask.shape().broadcast(&seen, name)? != seen {
                let beside = if causal { " beside causal" } else { "" };
                let what = format!("a mask {mask:?}{beside} for scores {dtype} {seen}");
                return Err(invalid(name, what));
            }
            let mask = match mask.dtype() {
                Dtype::Bool => mask.clone(),
                _ => mask.astype(dtype),
            };
            inputs.push(mask.spread(&seen));
        }
        if let Some(sinks) = sinks {
            if !joins(sinks) || sinks.shape() != &Shape::new([q_sizes[1]]) {
                let what = format!("sinks {sinks:?} for {} heads of {dtype}", q_sizes[1]);
                return Err(invalid(name, what));
            }
            inputs.push(sinks.astype(dtype));
        }
        let op = Op::ScaledDotProductAttention {
            scale: Number::new(scale),
            causal,
            mask: mask.is_some(),
            sinks: sinks.is_some(),
        };
        let shape = Shape::new([q_sizes[0], q_sizes[1], q_sizes[2], v_sizes[3]]);
        Ok(Array::one(op, inputs, dtype, shape))
    }
}
