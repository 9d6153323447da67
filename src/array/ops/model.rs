//! What models add: weights in a file's own form, and the paged cache.

use super::invalid;
use crate::Result;
use crate::array::Array;
use crate::ir::{
    Attend, Attention, Dim, Dtype, MatrixId, Op, Products, Rotary, Shape, Symbol, VectorId,
};
use std::fmt::Display;

impl Array {
    /// A vector of the model's weights: `[len]` f32.
    pub fn vector(id: VectorId, len: usize) -> Array {
        Array::one(Op::Vector(id), Vec::new(), Dtype::F32, Shape::new([len]))
    }

    /// Rows of a weight table by these indices (u32): `[…, width]` f32.
    ///
    /// # Errors
    /// `InvalidArgument` if the indices are not u32.
    pub fn embedding(&self, table: MatrixId, width: usize) -> Result<Array> {
        if self.dtype() != Dtype::U32 {
            let what = format!("tokens of {}, not uint32", self.dtype());
            return Err(invalid("embedding", what));
        }
        let dims = self.shape().dims().iter().copied();
        let shape = Shape::new(dims.chain([width.into()]));
        let op = Op::Embedding(table);
        Ok(Array::one(op, [self.clone()], Dtype::F32, shape))
    }

    /// `W·x`, `W` a weight matrix `[out, width]`: `[…, out]` f32.
    ///
    /// # Errors
    /// `InvalidArgument` if x is not f32 `[rows, width]`.
    pub fn linear(&self, weight: MatrixId, out: usize) -> Result<Array> {
        self.f32_rows("linear")?;
        let shape = Shape::new([self.shape().dims()[0], out.into()]);
        let op = Op::Products(Products::one(weight));
        Ok(Array::one(op, [self.clone()], Dtype::F32, shape))
    }

    /// Rotary position embedding of heads `[rows, heads, dim]` at `positions` `[rows]` i32, pair i
    /// turned by `position · frequencies[i]`.
    ///
    /// # Errors
    /// `InvalidArgument` if shapes or dtypes are others, or there are more pairs than columns.
    pub fn rotary(&self, positions: &Array, frequencies: &Array, rotary: Rotary) -> Result<Array> {
        let pairs = frequencies.shape().count().unwrap_or(usize::MAX);
        let dims = self.shape().dims();
        let fits = dims.len() == 3
            && positions.shape().dims() == &dims[..1]
            && dims[2].number().is_some_and(|dim| pairs <= dim / 2);
        let types = (self.dtype(), positions.dtype(), frequencies.dtype());
        if !fits || types != (Dtype::F32, Dtype::I32, Dtype::F32) {
            let what =
                format!("{self:?} at positions {positions:?} with frequencies {frequencies:?}");
            return Err(invalid("rotary", what));
        }
        let inputs = vec![self.clone(), positions.clone(), frequencies.clone()];
        let shape = self.shape().clone();
        Ok(Array::one(Op::Rotary(rotary), inputs, Dtype::F32, shape))
    }

    /// Causal attention of these queries `[rows, heads · dim]` over the cache of a layer, to which `k`
    /// and `v` `[tokens, kv_heads · dim]` are added first; `sinks`: `[heads]`. See [`Attend`].
    ///
    /// # Errors
    /// `InvalidArgument` if the widths are not those of the shape.
    pub fn attend(
        &self,
        [k, v]: [&Array; 2],
        sinks: Option<&Array>,
        state: usize,
        shape: Attention,
    ) -> Result<Array> {
        for array in [self, k, v] {
            array.f32_rows("attention")?;
        }
        let width = |heads: usize| heads.checked_mul(shape.head_dim).map(Dim::fixed);
        let tokens = Shape::new([Symbol::Tokens]);
        let fits = shape.kv_heads > 0
            && shape.heads.is_multiple_of(shape.kv_heads)
            && Some(self.shape().dims()[1]) == width(shape.heads)
            && Some(k.shape().dims()[1]) == width(shape.kv_heads)
            && k.shape() == v.shape()
            && k.shape().dims()[0] == tokens.dims()[0]
            && sinks.is_none_or(|sinks| *sinks.shape() == Shape::new([shape.heads]));
        if !fits {
            let what = format!(
                "{} / {} heads of {} over {self:?}, {k:?} and {v:?}, sinks {sinks:?}",
                shape.heads, shape.kv_heads, shape.head_dim
            );
            return Err(invalid("attention", what));
        }
        let op = Op::Attend(Box::new(Attend {
            state,
            shape,
            q_norm: None,
            k_norm: None,
            turn: None,
        }));
        let inputs = [self, k, v].into_iter().chain(sinks).cloned();
        Ok(Array::one(op, inputs, Dtype::F32, self.shape().clone()))
    }

    fn f32_rows(&self, operation: impl Display + Copy) -> Result<()> {
        let fits = self.rank() == 2 && self.dtype() == Dtype::F32;
        match fits && self.shape().dims()[1].number().is_some() {
            true => Ok(()),
            false => Err(invalid(
                operation,
                format!("{self:?} is not [rows, width] of float32"),
            )),
        }
    }
}
