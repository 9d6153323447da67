//! Transformers: blocks of attention and an MLP (or experts) around a residual stream, in the forms that
//! [`Form`](crate::model::config::Form) lists.

use super::Results;
use super::attention::{Attention, Turn, Turns};
use super::latent::LatentAttention;
use super::mlp::Mlp;
use super::norm::Norm;
use super::recurrent::Layer;
use crate::array::Array;
use crate::ir::{Input, Unary};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::{Feed, Parts};
use crate::model::weights::Source;
use crate::{Error, Result};

/// One block: what is made of x by turns, each time with norms and added to x.
struct Block {
    before_attention: Option<Norm>,
    /// Their results are added.
    mixers: Vec<Mixer>,
    after_attention: Option<Norm>,
    before_mlp: Option<Norm>,
    mlp: Option<Mlp>,
    after_mlp: Option<Norm>,
}

/// What lets the tokens of a sequence see each other.
enum Mixer {
    Attention(Attention),
    Latent(LatentAttention),
    Recurrent(Layer),
}

/// States that have been given out.
#[derive(Default)]
struct States {
    attention: usize,
    recurrent: usize,
}

/// Binds the weights of `source` and makes what it gives for the wanted rows.
pub fn forward(source: &Source, bound: &mut Bound) -> Result<Results> {
    let c = source.config();
    let mut states = States::default();
    let blocks = (0..c.layers).map(|layer| Block::bind(source, c, layer, &mut states, bound));
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
        let all = normed(&block.before_attention, &x)?;
        let keys = block
            .mixers
            .iter()
            .map(|m| m.keys(c, &all, turn, &positions));
        let keys = keys.collect::<Result<Vec<_>>>()?;
        // Behind the last keys, values and states only the rows with logits matter.
        let chosen = (layer + 1 == blocks.len()).then_some(&wanted);
        let (mut h, mut own_positions) = (all.clone(), positions.clone());
        if let Some(chosen) = chosen {
            x = x.take(chosen, 0)?;
            h = normed(&block.before_attention, &x)?;
            own_positions = positions.take(chosen, 0)?;
        }
        let mut mixed: Option<Array> = None;
        for (mixer, keys) in block.mixers.iter().zip(keys) {
            let one = match mixer {
                Mixer::Recurrent(layer) => layer.of(&all, chosen)?,
                _ => mixer.of_queries(c, &h, keys, turn, &own_positions)?,
            };
            mixed = Some(match mixed {
                Some(others) => others.plus(&one)?,
                None => one,
            });
        }
        if let Some(mixed) = mixed {
            x = x.plus(&normed(&block.after_attention, &mixed)?)?;
        }
        let Some(mlp) = &block.mlp else {
            continue;
        };
        if !c.form.parallel {
            h = normed(&block.before_mlp, &x)?;
        }
        x = x.plus(&normed(&block.after_mlp, &mlp.of(&h)?)?)?;
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

impl Mixer {
    /// What is cached of the normed rows of all tokens, where it is attention.
    fn keys(
        &self,
        c: &Config,
        all: &Array,
        turn: Option<&Turn>,
        positions: &Array,
    ) -> Result<Option<[Array; 2]>> {
        Ok(match self {
            Mixer::Attention(attention) => Some(attention.keys_values(c, all, turn, positions)?),
            Mixer::Latent(attention) => {
                let keys = attention.keys(all, turn, positions)?;
                Some([keys.clone(), keys])
            }
            Mixer::Recurrent(_) => None,
        })
    }

    /// The attention of the queries of `mine`, which are normed rows.
    fn of_queries(
        &self,
        c: &Config,
        mine: &Array,
        keys: Option<[Array; 2]>,
        turn: Option<&Turn>,
        positions: &Array,
    ) -> Result<Array> {
        match (self, keys) {
            (Mixer::Attention(attention), Some(keys)) => {
                attention.of(c, mine, keys, turn, positions)
            }
            (Mixer::Latent(attention), Some([keys, _])) => {
                attention.of(c, mine, &keys, turn, positions)
            }
            _ => Err(Error::Internal("queries without keys".into())),
        }
    }
}

impl Block {
    fn bind(
        source: &Source,
        c: &Config,
        layer: usize,
        states: &mut States,
        bound: &mut Bound,
    ) -> Result<Block> {
        let Parts {
            attention,
            recurrent,
            mlp,
        } = c.parts(layer);
        let path = |name: &str| format!("model.layers.{layer}.{name}");
        let norm = |name: Option<&str>, bound: &mut Bound| {
            name.map(|name| Norm::bind(source, bound, &path(name), 1.0))
                .transpose()
        };
        // In the order of use, so that a token reads memory front to back.
        let mixes = attention || recurrent;
        let before_attention = norm(c.form.before_attention.filter(|_| mixes), bound)?;
        let mut mixers = Vec::new();
        if recurrent {
            let layer = Layer::bind(source, &path("mixer"), &mut states.recurrent, bound)?;
            mixers.push(Mixer::Recurrent(layer));
        }
        if attention {
            let (path, state) = (path("self_attn"), states.attention);
            states.attention += 1;
            mixers.push(match c.latent {
                Some(latent) => {
                    Mixer::Latent(LatentAttention::bind(source, latent, &path, state, bound)?)
                }
                None => Mixer::Attention(Attention::bind(source, &path, [layer, state], bound)?),
            });
        }
        let feeds = mlp != Feed::None;
        Ok(Block {
            before_attention,
            mixers,
            after_attention: norm(c.form.after_attention.filter(|_| mixes), bound)?,
            before_mlp: norm(c.form.before_mlp.filter(|_| feeds), bound)?,
            mlp: Mlp::bind(source, layer, &path("mlp"), bound)?,
            after_mlp: norm(c.form.after_mlp.filter(|_| feeds), bound)?,
        })
    }
}
