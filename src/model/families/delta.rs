//! Gated delta nets with attention in every fourth block: Qwen3-Next, Qwen 3.5 and 3.6, dense or with experts.
//!
//! Block: `h = x + mix(norm(x))`, `x = h + mlp(norm(h))`. `mix` is attention whose output meets a gate
//! (`o(attention · sigmoid(gate))`), or a gated delta net:
//! `out(norm(delta(conv(q), conv(k), conv(v), decay, sigmoid(b))) · silu(z))` with
//! `decay = exp(−exp(A_log) · softplus(a + dt_bias))`.

mod net;

use super::Results;
use super::latent::parts;
use super::mlp::Mlp;
use crate::array::Array;
use crate::ir::{Attention, Input, Number, Rotary, Shape, Unary};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::Delta;
use crate::model::rope::rope;
use crate::model::weights::Source;
use crate::{Error, Result};
use net::DeltaNet;

/// One block.
struct Block {
    norm: Array,
    mix: Mix,
    mlp_norm: Array,
    mlp: Mlp,
}

/// How the tokens of a block see each other.
enum Mix {
    Attention(GatedAttention),
    Delta(Box<DeltaNet>),
}

/// What gives each head's query and its gate.
enum Queries {
    /// In the file they lie head by head.
    Apart { q: Linear, gate: Linear },
    /// So do their results, where rows of the matrix cannot be taken apart.
    Together(Linear),
}

struct GatedAttention {
    q: Queries,
    k: Linear,
    v: Linear,
    o: Linear,
    q_norm: Array,
    k_norm: Array,
    state: usize,
}

/// Numbers that blocks share.
struct Shared<'a> {
    c: &'a Config,
    d: &'a Delta,
    frequencies: Array,
    rotary: Rotary,
    positions: Array,
}

/// Binds the weights of `source` and makes what it gives for the wanted rows.
pub fn forward(source: &Source, bound: &mut Bound) -> Result<Results> {
    let c = source.config();
    let Some(d) = &c.delta else {
        return Err(Error::Internal("a delta net without its numbers".into()));
    };
    let mut states = States::default();
    let norms = Norms::of(source, c, d)?;
    let blocks = (0..c.layers).map(|layer| Block::bind(source, layer, &norms, &mut states, bound));
    let blocks = blocks.collect::<Result<Vec<_>>>()?;
    let final_norm = norms.bind("model.norm", c.hidden_size, bound)?;
    let table = source.embedding("model.embed_tokens", c.vocab_size, c.hidden_size)?;
    let (table, head) = if c.tied_embeddings {
        let table = bound.matrix(table);
        (table, Linear::shared(table, c.vocab_size))
    } else {
        let head = bound.linear(source, "lm_head", c.vocab_size, c.hidden_size)?;
        (bound.matrix(table), head)
    };
    let rope = rope(c);
    let shared = Shared {
        c,
        d,
        frequencies: bound.vector(rope.inv_freq),
        rotary: Rotary {
            interleaved: rope.interleaved,
            magnitude: Number::new(rope.magnitude.into()),
        },
        positions: Array::input(Input::Positions),
    };
    let (tokens, wanted) = (Array::input(Input::Tokens), Array::input(Input::Wanted));
    let eps = f64::from(c.norm_eps);
    let mut x = tokens.embedding(table, c.hidden_size)?;
    for (layer, block) in blocks.iter().enumerate() {
        // Behind the last state only the rows with logits matter.
        let chosen = (layer + 1 == blocks.len()).then_some(&wanted);
        let h = x.rms_norm(Some(&block.norm), eps)?;
        let (rest, mixed) = match &block.mix {
            Mix::Attention(attention) => {
                let rest = match chosen {
                    Some(chosen) => x.take(chosen, 0)?,
                    None => x,
                };
                let mine = rest.rms_norm(Some(&block.norm), eps)?;
                let mixed = attention.of(&h, &mine, chosen, &shared)?;
                (rest, mixed)
            }
            Mix::Delta(net) => match chosen {
                Some(chosen) => (x.take(chosen, 0)?, net.of(&h, Some(chosen), &shared)?),
                None => (x, net.of(&h, None, &shared)?),
            },
        };
        x = rest.plus(&mixed)?;
        let h = x.rms_norm(Some(&block.mlp_norm), eps)?;
        x = x.plus(&block.mlp.of(&h)?)?;
    }
    let hidden = x.rms_norm(Some(&final_norm), eps)?;
    let logits = head.of(&hidden)?;
    Ok(Results { hidden, logits })
}

/// States that have been given out.
#[derive(Default)]
struct States {
    attention: usize,
    recurrent: usize,
}

fn next(count: &mut usize) -> usize {
    *count += 1;
    *count - 1
}

/// How the file keeps the weights of norms: published folders less 1, but for those of the delta nets.
struct Norms<'a> {
    source: &'a Source,
    add: f32,
}

impl<'a> Norms<'a> {
    fn of(source: &'a Source, c: &Config, d: &Delta) -> Result<Norms<'a>> {
        let mut less_one = false;
        if let Some(layer) = (0..c.layers).find(|&layer| !d.is_attention(layer)) {
            let path = format!("model.layers.{layer}.linear_attn.conv1d");
            less_one = source.short_conv(&path, channels(d), d.taps)?.1;
        }
        let add = if less_one { 1.0 } else { 0.0 };
        Ok(Norms { source, add })
    }

    fn bind(&self, path: &str, len: usize, bound: &mut Bound) -> Result<Array> {
        let weight = self.source.norm(path, len)?;
        Ok(bound.vector(weight.into_iter().map(|w| w + self.add).collect()))
    }
}

/// Columns that the short convolution sees.
fn channels(d: &Delta) -> usize {
    2 * d.key_heads * d.key_dim + d.value_heads * d.value_dim
}

impl Block {
    fn bind(
        source: &Source,
        layer: usize,
        norms: &Norms,
        states: &mut States,
        bound: &mut Bound,
    ) -> Result<Block> {
        let c = source.config();
        let path = |name: &str| format!("model.layers.{layer}.{name}");
        let hidden = c.hidden_size;
        let norm = norms.bind(&path("input_layernorm"), hidden, bound)?;
        let mix = match &c.delta {
            Some(d) if !d.is_attention(layer) => {
                let net = DeltaNet::bind(source, d, &path("linear_attn"), states, bound)?;
                Mix::Delta(Box::new(net))
            }
            _ => Mix::Attention(GatedAttention {
                q_norm: norms.bind(&path("self_attn.q_norm"), c.head_dim, bound)?,
                k_norm: norms.bind(&path("self_attn.k_norm"), c.head_dim, bound)?,
                q: Queries::bind(source, &path("self_attn.q_proj"), bound)?,
                k: {
                    let out = c.kv_heads * c.head_dim;
                    bound.linear(source, &path("self_attn.k_proj"), out, hidden)?
                },
                v: {
                    let out = c.kv_heads * c.head_dim;
                    bound.linear(source, &path("self_attn.v_proj"), out, hidden)?
                },
                o: {
                    let width = c.heads * c.head_dim;
                    bound.linear(source, &path("self_attn.o_proj"), hidden, width)?
                },
                state: next(&mut states.attention),
            }),
        };
        Ok(Block {
            norm,
            mix,
            mlp_norm: norms.bind(&path("post_attention_layernorm"), hidden, bound)?,
            mlp: Mlp::bind(source, layer, &path("mlp"), bound)?
                .ok_or_else(|| Error::Internal("a delta net without an MLP".into()))?,
        })
    }
}

impl Queries {
    fn bind(source: &Source, path: &str, bound: &mut Bound) -> Result<Queries> {
        let c = source.config();
        let (out, run) = (c.heads * c.head_dim, c.head_dim);
        let apart = bound.linears_by_turns(source, path, (out, run), c.hidden_size)?;
        Ok(match apart {
            Some([q, gate]) => Queries::Apart { q, gate },
            None => Queries::Together(bound.linear(source, path, 2 * out, c.hidden_size)?),
        })
    }

    /// Queries and gates, `[rows, heads · head_dim]` each.
    fn of(&self, x: &Array, c: &Config) -> Result<(Array, Array)> {
        let together = match self {
            Queries::Apart { q, gate } => return Ok((q.of(x)?, gate.of(x)?)),
            Queries::Together(together) => together.of(x)?,
        };
        let rows = together.shape().dims()[0];
        let heads = Shape::new([rows, c.heads.into(), (2 * c.head_dim).into()]);
        let [q, gate] = parts(&together.reshape(heads)?, [c.head_dim; 2])?;
        let width = Shape::new([rows, (c.heads * c.head_dim).into()]);
        Ok((q.reshape(width.clone())?, gate.reshape(width)?))
    }
}

impl GatedAttention {
    /// `h` are all tokens' rows, `mine` those with queries: the same, or the chosen ones.
    fn of(&self, h: &Array, mine: &Array, chosen: Option<&Array>, s: &Shared) -> Result<Array> {
        let c = s.c;
        let (k, v) = (self.k.of(h)?, self.v.of(h)?);
        let positions = match chosen {
            Some(chosen) => s.positions.take(chosen, 0)?,
            None => s.positions.clone(),
        };
        let (q, gate) = self.q.of(mine, c)?;
        let q = s.turned(&q, c.heads, &self.q_norm, &positions)?;
        let k = s.turned(&k, c.kv_heads, &self.k_norm, &s.positions)?;
        let shape = Attention {
            heads: c.heads,
            kv_heads: c.kv_heads,
            head_dim: c.head_dim,
            scale: 1.0 / (c.head_dim as f32).sqrt(),
            window: None,
            chunk: None,
            cap: None,
        };
        let attended = q.attend([&k, &v], None, self.state, shape)?;
        self.o.of(&attended.times(&gate.unary(Unary::Sigmoid)?)?)
    }
}

impl Shared<'_> {
    /// `x` `[rows, heads · dim]` with each head normed and turned.
    fn turned(&self, x: &Array, heads: usize, norm: &Array, positions: &Array) -> Result<Array> {
        let rows = x.shape().dims()[0];
        let y = x.reshape(Shape::new([rows, heads.into(), self.c.head_dim.into()]))?;
        let y = y.rms_norm(Some(norm), self.c.norm_eps.into())?;
        let y = y.rotary(positions, &self.frequencies, self.rotary)?;
        y.reshape(x.shape().clone())
    }
}
