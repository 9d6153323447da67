//! Transformers: llama (Llama 2/3, SmolLM2, Mistral), qwen2, qwen3, and qwen3_moe with experts.
//!
//! Block: `h = x + o(attention(norm(x)))`, `x = h + down(silu(gate(norm(h))) · up(norm(h)))`.
//! They differ in config only: biases of q, k, v (qwen2), norm of q and k heads (qwen3), experts (qwen3_moe).

use super::mlp::Mlp;
use crate::Result;
use crate::array::Array;
use crate::ir::{Attention, Input, Number, Rotary, Shape};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::rope::rope;
use crate::model::weights::Source;

/// One block.
struct Block {
    attention_norm: Array,
    q: Linear,
    k: Linear,
    v: Linear,
    o: Linear,
    q_norm: Option<Array>,
    k_norm: Option<Array>,
    mlp_norm: Array,
    mlp: Mlp,
}

/// What turns queries and keys.
struct Turn {
    frequencies: Array,
    rotary: Rotary,
}

/// Binds the weights of `source` and makes the logits of the wanted rows.
pub fn logits(source: &Source, bound: &mut Bound) -> Result<Array> {
    let c = source.config();
    let blocks = (0..c.layers).map(|layer| Block::bind(source, c, layer, bound));
    let blocks = blocks.collect::<Result<Vec<_>>>()?;
    let final_norm = bound.norm(source, "model.norm", c.hidden_size)?;
    let table = source.embedding("model.embed_tokens", c.vocab_size, c.hidden_size)?;
    let (table, head) = if c.tied_embeddings {
        let table = bound.matrix(table);
        (table, Linear::shared(table, c.vocab_size))
    } else {
        let head = bound.linear(source, "lm_head", c.vocab_size, c.hidden_size)?;
        (bound.matrix(table), head)
    };
    let rope = rope(c);
    let turn = Turn {
        frequencies: bound.vector(rope.inv_freq),
        rotary: Rotary {
            interleaved: rope.interleaved,
            magnitude: Number::new(rope.magnitude.into()),
        },
    };
    let (tokens, wanted) = (Array::input(Input::Tokens), Array::input(Input::Wanted));
    let positions = Array::input(Input::Positions);
    let eps = f64::from(c.norm_eps);
    let mut x = tokens.embedding(table, c.hidden_size)?;
    for (layer, block) in blocks.iter().enumerate() {
        let h = x.rms_norm(Some(&block.attention_norm), eps)?;
        let (k, v) = (block.k.of(&h)?, block.v.of(&h)?);
        let (mut h, mut query_positions) = (h, positions.clone());
        if layer + 1 == blocks.len() {
            // Behind the last keys and values only the rows with logits matter.
            x = x.take(&wanted, 0)?;
            h = x.rms_norm(Some(&block.attention_norm), eps)?;
            query_positions = positions.take(&wanted, 0)?;
        }
        let q = block.q.of(&h)?;
        let q = turn.heads(&q, c, block.q_norm.as_ref(), &query_positions)?;
        let k = turn.heads(&k, c, block.k_norm.as_ref(), &positions)?;
        let shape = Attention {
            heads: c.heads,
            kv_heads: c.kv_heads,
            head_dim: c.head_dim,
            scale: 1.0 / (c.head_dim as f32).sqrt(),
            window: c.sliding_window,
        };
        let attended = q.attend(&k, &v, layer, shape)?;
        x = x.plus(&block.o.of(&attended)?)?;
        let h = x.rms_norm(Some(&block.mlp_norm), eps)?;
        x = x.plus(&block.mlp.of(&h)?)?;
    }
    head.of(&x.rms_norm(Some(&final_norm), eps)?)
}

impl Turn {
    /// `x` `[rows, heads · dim]` with each head normed (if there is a norm) and turned.
    fn heads(
        &self,
        x: &Array,
        c: &Config,
        norm: Option<&Array>,
        positions: &Array,
    ) -> Result<Array> {
        let &[rows, width] = x.shape().dims() else {
            return x.reshape(Shape::scalar());
        };
        let heads = width.multiple / c.head_dim;
        let mut y = x.reshape(Shape::new([rows, heads.into(), c.head_dim.into()]))?;
        if let Some(norm) = norm {
            y = y.rms_norm(Some(norm), c.norm_eps.into())?;
        }
        let y = y.rotary(positions, &self.frequencies, self.rotary)?;
        y.reshape(x.shape().clone())
    }
}

impl Block {
    fn bind(source: &Source, c: &Config, layer: usize, bound: &mut Bound) -> Result<Block> {
        let path = |name: &str| format!("model.layers.{layer}.{name}");
        let (q_width, kv_width) = (c.heads * c.head_dim, c.kv_heads * c.head_dim);
        let hidden = c.hidden_size;
        let mut head_norm = |name: &str| {
            let norm = c
                .qk_norm
                .then(|| bound.norm(source, &path(name), c.head_dim));
            norm.transpose()
        };
        // In the order of use, so that a token reads memory front to back.
        let (q_norm, k_norm) = (
            head_norm("self_attn.q_norm")?,
            head_norm("self_attn.k_norm")?,
        );
        let attention_norm = bound.norm(source, &path("input_layernorm"), hidden)?;
        let mlp_norm = bound.norm(source, &path("post_attention_layernorm"), hidden)?;
        let mut linear = |name: &str, out, width| bound.linear(source, &path(name), out, width);
        Ok(Block {
            attention_norm,
            q: linear("self_attn.q_proj", q_width, hidden)?,
            k: linear("self_attn.k_proj", kv_width, hidden)?,
            v: linear("self_attn.v_proj", kv_width, hidden)?,
            o: linear("self_attn.o_proj", hidden, q_width)?,
            q_norm,
            k_norm,
            mlp_norm,
            mlp: Mlp::bind(source, c, &path("mlp"), bound)?,
        })
    }
}
