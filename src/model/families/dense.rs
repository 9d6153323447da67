//! Transformers: blocks of attention and an MLP (or experts) around a residual stream, in the forms that
//! [`Form`](crate::model::config::Form) lists.

use super::Results;
use super::attention::{Attention, Turns};
use super::mlp::Mlp;
use super::norm::Norm;
use crate::Result;
use crate::array::Array;
use crate::ir::{Input, Unary};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::weights::Source;

/// One block.
struct Block {
    before_attention: Option<Norm>,
    attention: Attention,
    after_attention: Option<Norm>,
    before_mlp: Option<Norm>,
    mlp: Mlp,
    after_mlp: Option<Norm>,
}

/// Binds the weights of `source` and makes what it gives for the wanted rows.
pub fn forward(source: &Source, bound: &mut Bound) -> Result<Results> {
    let c = source.config();
    let blocks = (0..c.layers).map(|layer| Block::bind(source, c, layer, bound));
    let blocks = blocks.collect::<Result<Vec<_>>>()?;
    // The head is linear: a factor of its results is one of what it takes.
    let factor = c.form.logit_scale / c.form.logit_cap.unwrap_or(1.0);
    let final_norm = Norm::bind(source, bound, "model.norm", factor)?;
    let table = source.embedding("model.embed_tokens", c.vocab_size, c.hidden_size)?;
    let (table, head) = if c.tied_embeddings {
        let table = bound.matrix(table);
        (table, Linear::shared(table, c.vocab_size))
    } else {
        let head = bound.linear(source, "lm_head", c.vocab_size, c.hidden_size)?;
        (bound.matrix(table), head)
    };
    let turns = Turns::new(c, bound);
    let (tokens, wanted) = (Array::input(Input::Tokens), Array::input(Input::Wanted));
    let positions = Array::input(Input::Positions);
    let mut x = tokens.embedding(table, c.hidden_size)?;
    if c.form.embedding_scale != 1.0 {
        x = x.times(&bound.number(c.form.embedding_scale))?;
    }
    for (layer, block) in blocks.iter().enumerate() {
        let turn = turns.of(c, layer);
        let h = normed(&block.before_attention, &x)?;
        let keys_values = block.attention.keys_values(c, &h, turn, &positions)?;
        let (mut h, mut query_positions) = (h, positions.clone());
        if layer + 1 == blocks.len() {
            // Behind the last keys and values only the rows with logits matter.
            x = x.take(&wanted, 0)?;
            h = normed(&block.before_attention, &x)?;
            query_positions = positions.take(&wanted, 0)?;
        }
        let attention = &block.attention;
        let attended = attention.of(c, &h, keys_values, turn, &query_positions)?;
        x = x.plus(&normed(&block.after_attention, &attended)?)?;
        if !c.form.parallel {
            h = normed(&block.before_mlp, &x)?;
        }
        x = x.plus(&normed(&block.after_mlp, &block.mlp.of(&h)?)?)?;
    }
    let mut logits = head.of(&final_norm.of(&x)?)?;
    if let Some(cap) = c.form.logit_cap {
        logits = logits.unary(Unary::Tanh)?.times(&bound.number(cap))?;
    }
    let plain_norm = match factor {
        1.0 => final_norm,
        _ => Norm::bind(source, bound, "model.norm", 1.0)?,
    };
    let hidden = plain_norm.of(&x)?;
    Ok(Results { hidden, logits })
}

fn normed(norm: &Option<Norm>, x: &Array) -> Result<Array> {
    match norm {
        Some(norm) => norm.of(x),
        None => Ok(x.clone()),
    }
}

impl Block {
    fn bind(source: &Source, c: &Config, layer: usize, bound: &mut Bound) -> Result<Block> {
        let path = |name: &str| format!("model.layers.{layer}.{name}");
        let norm = |name: Option<&str>, bound: &mut Bound| {
            name.map(|name| Norm::bind(source, bound, &path(name), 1.0))
                .transpose()
        };
        // In the order of use, so that a token reads memory front to back.
        Ok(Block {
            before_attention: norm(c.form.before_attention, bound)?,
            attention: Attention::bind(source, &path("self_attn"), layer, bound)?,
            after_attention: norm(c.form.after_attention, bound)?,
            before_mlp: norm(c.form.before_mlp, bound)?,
            mlp: Mlp::bind(source, c, &path("mlp"), bound)?,
            after_mlp: norm(c.form.after_mlp, bound)?,
        })
    }
}
