//! Dense transformers: llama (Llama 2/3, SmolLM2, Mistral), qwen2, qwen3.
//!
//! Block: `h = x + o(attention(norm(x)))`, `x = h + down(silu(gate(norm(h))) · up(norm(h)))`.
//! They differ in config only: biases of q, k, v (qwen2), norm of q and k heads (qwen3).

use crate::Result;
use crate::array::Trace;
use crate::formats::Weight;
use crate::model::Config;
use crate::model::rope::rope;
use crate::model::weights::{Linear, Source};
use crate::program::Graph;
use crate::step::{Attention, MatrixId, VectorId};

/// The lists that the ids of a program point into.
#[derive(Debug, Default)]
pub struct Bound {
    /// Matrices.
    pub matrices: Vec<Weight>,
    /// Norm weights and biases.
    pub vectors: Vec<Vec<f32>>,
}

/// A linear layer by ids.
#[derive(Debug, Clone, Copy)]
struct LinearIds {
    weight: MatrixId,
    out: usize,
    bias: Option<VectorId>,
}

/// One block by ids.
#[derive(Debug)]
struct Block {
    attention_norm: VectorId,
    q: LinearIds,
    k: LinearIds,
    v: LinearIds,
    o: LinearIds,
    q_norm: Option<VectorId>,
    k_norm: Option<VectorId>,
    mlp_norm: VectorId,
    gate: LinearIds,
    up: LinearIds,
    down: LinearIds,
}

impl Bound {
    fn vector(&mut self, vector: Vec<f32>) -> VectorId {
        self.vectors.push(vector);
        VectorId(self.vectors.len() - 1)
    }

    fn matrix(&mut self, weight: Weight) -> MatrixId {
        self.matrices.push(weight);
        MatrixId(self.matrices.len() - 1)
    }

    fn linear(&mut self, Linear { weight, bias }: Linear) -> LinearIds {
        let out = weight.rows;
        LinearIds {
            weight: self.matrix(weight),
            out,
            bias: bias.map(|b| self.vector(b)),
        }
    }
}

/// Binds the weights of `source` and traces the forward pass.
pub fn trace(source: &Source) -> Result<(Bound, Graph)> {
    let c = source.config();
    let mut bound = Bound::default();
    let mut blocks = Vec::with_capacity(c.layers);
    for layer in 0..c.layers {
        blocks.push(bind_block(source, c, layer, &mut bound)?);
    }
    let final_norm = bound.vector(source.norm("model.norm", c.hidden_size)?);
    let table = source.embedding("model.embed_tokens", c.vocab_size, c.hidden_size)?;
    let (table, head) = if c.tied_embeddings {
        let id = bound.matrix(table);
        (
            id,
            LinearIds {
                weight: id,
                out: c.vocab_size,
                bias: None,
            },
        )
    } else {
        let head = bound.linear(source.linear("lm_head", c.vocab_size, c.hidden_size)?);
        (bound.matrix(table), head)
    };

    let trace = Trace::new(rope(c));
    let mut x = trace.embedding(table, c.hidden_size);
    for (layer, block) in blocks.iter().enumerate() {
        let h = x.rms_norm(block.attention_norm, c.norm_eps);
        let mut k = h.linear(block.k.weight, block.k.out, block.k.bias);
        let v = h.linear(block.v.weight, block.v.out, block.v.bias);
        let mut h = h;
        if layer + 1 == blocks.len() {
            // Behind the last keys and values only the rows with logits matter.
            x = x.select_wanted();
            h = x.rms_norm(block.attention_norm, c.norm_eps);
        }
        let mut q = h.linear(block.q.weight, block.q.out, block.q.bias);
        if let Some(norm) = block.q_norm {
            q = q.head_norm(norm, c.norm_eps, c.head_dim)?;
        }
        if let Some(norm) = block.k_norm {
            k = k.head_norm(norm, c.norm_eps, c.head_dim)?;
        }
        let shape = Attention {
            heads: c.heads,
            kv_heads: c.kv_heads,
            head_dim: c.head_dim,
            scale: 1.0 / (c.head_dim as f32).sqrt(),
            window: c.sliding_window,
        };
        let a = q
            .rope(c.head_dim)?
            .attention(k.rope(c.head_dim)?, v, layer, shape)?;
        x = x.add(a.linear(block.o.weight, block.o.out, block.o.bias))?;
        let h = x.rms_norm(block.mlp_norm, c.norm_eps);
        let gate = h.linear(block.gate.weight, block.gate.out, block.gate.bias);
        let up = h.linear(block.up.weight, block.up.out, block.up.bias);
        let m = gate.silu().mul(up)?;
        x = x.add(m.linear(block.down.weight, block.down.out, block.down.bias))?;
    }
    let x = x.rms_norm(final_norm, c.norm_eps);
    x.linear(head.weight, head.out, head.bias);
    Ok((bound, trace.finish()))
}

fn bind_block(source: &Source, c: &Config, layer: usize, bound: &mut Bound) -> Result<Block> {
    let path = |name: &str| format!("model.layers.{layer}.{name}");
    let (q_width, kv_width) = (c.heads * c.head_dim, c.kv_heads * c.head_dim);
    let (hidden, mlp) = (c.hidden_size, c.intermediate_size);
    let linear = |name: &str, out: usize, width: usize| source.linear(&path(name), out, width);
    let norm = |name: &str, len: usize| source.norm(&path(name), len);
    let head_norm = |name: &str| c.qk_norm.then(|| norm(name, c.head_dim)).transpose();
    // In the order of use, so that a token reads memory front to back.
    let (q_norm, k_norm) = (
        head_norm("self_attn.q_norm")?,
        head_norm("self_attn.k_norm")?,
    );
    Ok(Block {
        attention_norm: bound.vector(norm("input_layernorm", hidden)?),
        q: bound.linear(linear("self_attn.q_proj", q_width, hidden)?),
        k: bound.linear(linear("self_attn.k_proj", kv_width, hidden)?),
        v: bound.linear(linear("self_attn.v_proj", kv_width, hidden)?),
        o: bound.linear(linear("self_attn.o_proj", hidden, q_width)?),
        q_norm: q_norm.map(|n| bound.vector(n)),
        k_norm: k_norm.map(|n| bound.vector(n)),
        mlp_norm: bound.vector(norm("post_attention_layernorm", hidden)?),
        gate: bound.linear(linear("mlp.gate_proj", mlp, hidden)?),
        up: bound.linear(linear("mlp.up_proj", mlp, hidden)?),
        down: bound.linear(linear("mlp.down_proj", hidden, mlp)?),
    })
}
