//! The operations: shape rules, nothing else. Formulas: `facts` of the MLX operations of the same
//! name; everything is f32.

use super::{Array, Trace};
use crate::program::Op;
use crate::step::{Attention, MatrixId, Norm, Rows, VectorId};
use crate::{Error, Result};

fn shape_error(what: String) -> Error {
    Error::Internal(format!("shape error while tracing: {what}"))
}

impl Trace {
    /// `table[token]` for each token of the batch: `[tokens, width]`.
    pub fn embedding(&self, table: MatrixId, width: usize) -> Array<'_> {
        self.push(Op::Embedding(table), Rows::Tokens, width)
    }
}

// `add` and `mul` can fail (shapes), so they are not the operator traits.
#[allow(clippy::should_implement_trait)]
impl<'t> Array<'t> {
    fn same_shape(self, other: Array<'t>, what: &str) -> Result<()> {
        if (self.rows, self.width) == (other.rows, other.width) {
            Ok(())
        } else {
            Err(shape_error(format!(
                "{what} of widths {} and {}",
                self.width, other.width
            )))
        }
    }

    fn whole_heads(self, head_dim: usize, what: &str) -> Result<()> {
        if head_dim > 0 && self.width.is_multiple_of(head_dim) {
            Ok(())
        } else {
            Err(shape_error(format!(
                "{what}: width {} in heads of {head_dim}",
                self.width
            )))
        }
    }

    /// `x · rsqrt(mean(x²) + eps) · weight` over the last axis.
    pub fn rms_norm(self, weight: VectorId, eps: f32) -> Array<'t> {
        self.trace.push(
            Op::RmsNorm(self.id, Norm { weight, eps }),
            self.rows,
            self.width,
        )
    }

    /// The same over each head of `head_dim`; `weight` `[head_dim]`.
    pub fn head_norm(self, weight: VectorId, eps: f32, head_dim: usize) -> Result<Array<'t>> {
        self.whole_heads(head_dim, "head norm")?;
        let op = Op::HeadNorm(self.id, Norm { weight, eps }, head_dim);
        Ok(self.trace.push(op, self.rows, self.width))
    }

    /// `W·x + b`, `W` `[out, width]`: `[rows, out]`.
    pub fn linear(self, weight: MatrixId, out: usize, bias: Option<VectorId>) -> Array<'t> {
        self.trace
            .push(Op::Linear(self.id, weight, bias), self.rows, out)
    }

    /// Rotary position embedding of each head, with the trace's RoPE.
    pub fn rope(self, head_dim: usize) -> Result<Array<'t>> {
        self.whole_heads(head_dim, "rope")?;
        Ok(self.trace.push(Op::Rope(self.id), self.rows, self.width))
    }

    /// Causal attention of these queries over the paged KV cache of `layer`, to which `k` and `v`
    /// are added first: `softmax(scale · q·kᵀ)·v`, query head `h` with key head
    /// `h / (heads / kv_heads)`. Queries may be those of the wanted rows only.
    pub fn attention(
        self,
        k: Array<'t>,
        v: Array<'t>,
        layer: usize,
        shape: Attention,
    ) -> Result<Array<'t>> {
        k.same_shape(v, "keys and values")?;
        let (q_width, kv_width) = (
            shape.heads * shape.head_dim,
            shape.kv_heads * shape.head_dim,
        );
        if shape.kv_heads == 0
            || !shape.heads.is_multiple_of(shape.kv_heads)
            || (self.width, k.width) != (q_width, kv_width)
        {
            return Err(shape_error(format!(
                "attention of {} / {} heads of {} over widths {} and {}",
                shape.heads, shape.kv_heads, shape.head_dim, self.width, k.width
            )));
        }
        let op = Op::Attention([self.id, k.id, v.id], layer, shape);
        Ok(self.trace.push(op, self.rows, self.width))
    }

    /// `x · sigmoid(x)`.
    pub fn silu(self) -> Array<'t> {
        self.trace.push(Op::Silu(self.id), self.rows, self.width)
    }

    /// Elementwise product.
    pub fn mul(self, other: Array<'t>) -> Result<Array<'t>> {
        self.same_shape(other, "product")?;
        Ok(self
            .trace
            .push(Op::Mul(self.id, other.id), self.rows, self.width))
    }

    /// Elementwise sum.
    pub fn add(self, other: Array<'t>) -> Result<Array<'t>> {
        self.same_shape(other, "sum")?;
        Ok(self
            .trace
            .push(Op::Add(self.id, other.id), self.rows, self.width))
    }

    /// The rows whose logits are wanted.
    pub fn select_wanted(self) -> Array<'t> {
        self.trace
            .push(Op::SelectWanted(self.id), Rows::Wanted, self.width)
    }
}
