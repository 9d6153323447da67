//! Multi-head latent attention: keys and values of all heads are made of one narrow vector a token, and only that
//! vector is cached, with the columns of keys that turn (DeepSeek 2 and 3).
//!
//! With `k = [U·l, r]` and `v = V·l` of a head, `q·k = (Uᵀ·q_still)·l + q_turned·r`, and the sum of values is V times
//! the sum of l. So all heads attend over one key head `[l, r]`, whose values are the same numbers.

use super::attention::Turn;
use crate::array::Array;
use crate::ir::{Attention, Dim, Dtype, Factor, Shape};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::Latent;
use crate::model::weights::Source;
use crate::{Error, Result};

/// The attention of one block.
pub struct LatentAttention {
    latent: Latent,
    q: Queries,
    kv: Linear,
    kv_norm: Array,
    /// Of each head, Uᵀ and V.
    matrices: [Factor; 2],
    o: Linear,
    state: usize,
}

/// What queries are made of.
enum Queries {
    Of(Linear),
    Narrow(Linear, Array, Linear),
}

impl LatentAttention {
    /// Binds the attention of a block at `path`.
    ///
    /// # Errors
    /// `InvalidFile` for missing or other tensors.
    pub fn bind(
        source: &Source,
        latent: Latent,
        path: &str,
        state: usize,
        bound: &mut Bound,
    ) -> Result<LatentAttention> {
        let c = source.config();
        let at = |name: &str| format!("{path}.{name}");
        let Latent {
            rank,
            still,
            turned,
            value,
            ..
        } = latent;
        let (hidden, heads) = (c.hidden_size, c.heads);
        let q_width = heads * (still + turned);
        let q = match latent.query {
            None => Queries::Of(bound.linear(source, &at("q_proj"), q_width, hidden)?),
            Some(width) => Queries::Narrow(
                bound.linear(source, &at("q_a_proj"), width, hidden)?,
                bound.norm(source, &at("q_a_layernorm"), width)?,
                bound.linear(source, &at("q_b_proj"), q_width, width)?,
            ),
        };
        let matrices = match source.has(&at("embed_q"))? {
            true => [
                bound.stack(source, &at("embed_q"), [heads, rank, still], false)?,
                bound.stack(source, &at("unembed_out"), [heads, value, rank], false)?,
            ],
            // As published: U and V of a head one after the other.
            false => {
                let shape = [heads * (still + value), rank];
                let split = |of: fn(&[f32], usize, usize) -> Vec<f32>| {
                    move |numbers: &[f32]| {
                        let heads = numbers.chunks_exact((still + value) * rank);
                        heads.flat_map(|head| of(head, still, rank)).collect()
                    }
                };
                let keys = split(|head, still, rank| {
                    let column = |l: usize| (0..still).map(move |row| head[row * rank + l]);
                    (0..rank).flat_map(column).collect()
                });
                let values = split(|head, still, rank| head[still * rank..].to_vec());
                let path = at("kv_b_proj");
                let keys = source.made_of(&path, shape, [heads, rank], keys)?;
                let values = source.made_of(&path, shape, [heads, value], values)?;
                [keys, values].map(|weight| Factor {
                    weight: bound.matrix(weight),
                    bias: None,
                })
            }
        };
        Ok(LatentAttention {
            latent,
            q,
            kv: bound.linear(source, &at("kv_a_proj_with_mqa"), rank + turned, hidden)?,
            kv_norm: bound.norm(source, &at("kv_a_layernorm"), rank)?,
            matrices,
            o: bound.linear(source, &at("o_proj"), hidden, heads * value)?,
            state,
        })
    }

    /// What is cached of `x` `[tokens, hidden]`.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn keys(&self, x: &Array, turn: Option<&Turn>, positions: &Array) -> Result<Array> {
        let Latent { rank, turned, .. } = self.latent;
        let [vector, key] = parts(&self.kv.of(x)?, [rank, turned])?;
        let vector = vector.rms_norm(Some(&self.kv_norm), self.latent.eps.into())?;
        let key = self.turned(key, 1, turn, positions)?;
        Array::concatenate(&[vector, key], 1)
    }

    /// The attention of the queries of `x` `[rows, hidden]`.
    ///
    /// # Errors
    /// Those of the operations.
    pub fn of(
        &self,
        c: &Config,
        x: &Array,
        key: &Array,
        turn: Option<&Turn>,
        positions: &Array,
    ) -> Result<Array> {
        let Latent {
            rank,
            still,
            turned,
            value,
            eps,
            ..
        } = self.latent;
        let (rows, heads) = (x.shape().dims()[0], c.heads);
        let shape = |widths: &[usize]| {
            let widths = widths.iter().map(|&width| Dim::fixed(width));
            Shape::new([rows].into_iter().chain(widths))
        };
        let q = match &self.q {
            Queries::Of(q) => q.of(x)?,
            Queries::Narrow(narrow, norm, wide) => {
                wide.of(&narrow.of(x)?.rms_norm(Some(norm), eps.into())?)?
            }
        };
        let q = q.reshape(shape(&[heads, still + turned]))?;
        let [q_still, q_turned] = parts(&q, [still, turned])?;
        let index = Array::arange(0.0, heads as f64, 1.0, Dtype::U32)?;
        let index = index.expand_dims(&[0])?.broadcast_to(shape(&[heads]))?;
        let [keys, values] = self.matrices;
        let q_still = q_still.stack_products(&index, keys, heads, rank)?;
        let q_turned = q_turned.reshape(shape(&[heads * turned]))?;
        let q_turned = self.turned(q_turned, heads, turn, positions)?;
        let q_turned = q_turned.reshape(shape(&[heads, turned]))?;
        let q = Array::concatenate(&[q_still, q_turned], 2)?;
        let q = q.reshape(shape(&[heads * (rank + turned)]))?;
        let attention = Attention {
            heads,
            kv_heads: 1,
            head_dim: rank + turned,
            scale: c
                .form
                .score_scale
                .unwrap_or(1.0 / ((still + turned) as f32).sqrt()),
            window: None,
            chunk: None,
            cap: None,
        };
        let attended = q.attend([key, key], None, self.state, attention)?;
        let attended = attended.reshape(shape(&[heads, rank + turned]))?;
        let [attended, _] = parts(&attended, [rank, turned])?;
        let attended = attended.stack_products(&index, values, heads, value)?;
        self.o.of(&attended.reshape(shape(&[heads * value]))?)
    }

    /// `x` `[rows, heads · turned]` with each head turned.
    fn turned(
        &self,
        x: Array,
        heads: usize,
        turn: Option<&Turn>,
        positions: &Array,
    ) -> Result<Array> {
        let Some(turn) = turn else {
            return Ok(x);
        };
        let rows = x.shape().dims()[0];
        let shape = Shape::new([rows, heads.into(), self.latent.turned.into()]);
        turn.of(&x.reshape(shape)?, positions)?
            .reshape(x.shape().clone())
    }
}

/// The last axis in parts of these widths, which are all of it.
pub fn parts<const N: usize>(x: &Array, widths: [usize; N]) -> Result<[Array; N]> {
    let ends = widths.iter().scan(0, |end, &width| {
        *end += width as i64;
        Some(*end)
    });
    let ends: Vec<i64> = ends.take(N - 1).collect();
    let parts = x.split(&ends, -1)?;
    parts
        .try_into()
        .map_err(|_| Error::Internal("a split into other parts".into()))
}
