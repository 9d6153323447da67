//! A block of Gemma 4: attention, whose keys and values may be those of an earlier layer; the MLP with experts beside it;
//! what the layer lets through of its own embedding.

use super::super::attention::Turn;
use super::super::mlp::{Mlp, Stacks};
use super::super::norm::Norm;
use crate::array::Array;
use crate::ir::{Attention as Shape, Dim, Route};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::Gemma4;
use crate::model::weights::Source;
use crate::{Error, Result};

/// One block.
pub(super) struct Block {
    pub(super) before_attention: Norm,
    pub(super) attention: Attention,
    pub(super) after_attention: Norm,
    pub(super) before_mlp: Norm,
    pub(super) mlp: Mlp,
    pub(super) after_mlp: Norm,
    pub(super) mixture: Option<Mixture>,
    pub(super) gate: Option<LayerGate>,
    pub(super) scalar: Array,
}

pub(super) struct Attention {
    q: Linear,
    /// `None`: those of an earlier layer.
    pub(super) kv: Option<KeysValues>,
    q_norm: Array,
    o: Linear,
    pub(super) shape: Shape,
    layer: usize,
}

pub(super) struct KeysValues {
    k: Linear,
    /// `None`: values are keys.
    v: Option<Linear>,
    k_norm: Array,
}

/// Experts beside the MLP, with norms of their own.
pub(super) struct Mixture {
    scale: Array,
    router: Linear,
    of_expert: Option<Array>,
    before: Norm,
    after: [Norm; 2],
    stacks: Stacks,
    chosen: usize,
}

/// What a layer's own embedding lets through.
pub(super) struct LayerGate {
    gate: Linear,
    project: Linear,
    norm: Norm,
}

impl Block {
    pub(super) fn bind(
        source: &Source,
        g: Gemma4,
        layer: usize,
        bound: &mut Bound,
    ) -> Result<Block> {
        let c = source.config();
        let path = |name: &str| format!("model.layers.{layer}.{name}");
        let mut norm = |name: &str| Norm::bind(source, bound, &path(name), 1.0);
        let before_attention = norm("input_layernorm")?;
        let after_attention = norm("post_attention_layernorm")?;
        let before_mlp = norm("pre_feedforward_layernorm")?;
        let after_mlp = norm("post_feedforward_layernorm")?;
        let mixture = match c.experts {
            Some(experts) if g.experts => {
                let hidden = c.hidden_size;
                let scale = source.numbers(&path("router.scale"), hidden)?;
                let root = (hidden as f32).sqrt();
                let of_expert = match g.expert_scales {
                    true => Some(source.numbers(&path("router.per_expert_scale"), experts.count)?),
                    false => None,
                };
                let router = path("router.proj");
                Some(Mixture {
                    scale: bound.vector(scale.into_iter().map(|s| s / root).collect()),
                    router: bound.linear(source, &router, experts.count, hidden)?,
                    of_expert: of_expert.map(|scales| bound.vector(scales)),
                    before: Norm::bind(source, bound, &path("pre_feedforward_layernorm_2"), 1.0)?,
                    after: [
                        Norm::bind(source, bound, &path("post_feedforward_layernorm_1"), 1.0)?,
                        Norm::bind(source, bound, &path("post_feedforward_layernorm_2"), 1.0)?,
                    ],
                    stacks: Stacks::bind(source, experts, &path("mlp"), bound)?,
                    chosen: experts.chosen,
                })
            }
            _ => None,
        };
        let gate = match g.per_layer {
            0 => None,
            width => Some(LayerGate {
                gate: {
                    let path = path("per_layer_input_gate");
                    bound.linear(source, &path, width, c.hidden_size)?
                },
                project: {
                    let path = path("per_layer_projection");
                    bound.linear(source, &path, c.hidden_size, width)?
                },
                norm: Norm::bind(source, bound, &path("post_per_layer_input_norm"), 1.0)?,
            }),
        };
        Ok(Block {
            before_attention,
            attention: Attention::bind(source, g, layer, bound)?,
            after_attention,
            before_mlp,
            mlp: Mlp::bind(source, layer, &path("mlp"), bound)?
                .ok_or_else(|| Error::Internal("a block without an MLP".into()))?,
            after_mlp,
            mixture,
            gate,
            scalar: bound.vector(source.numbers(&path("layer_scalar"), 1)?),
        })
    }
}

impl Attention {
    pub(super) fn bind(
        source: &Source,
        g: Gemma4,
        layer: usize,
        bound: &mut Bound,
    ) -> Result<Attention> {
        let c = source.config();
        let at = |name: &str| format!("model.layers.{layer}.self_attn.{name}");
        let window = c.window(layer);
        let (head_dim, kv_heads) = match window {
            None => (g.full_dim, g.full_kv_heads),
            Some(_) => (c.head_dim, c.kv_heads),
        };
        let (width, kv_width) = (c.heads * head_dim, kv_heads * head_dim);
        let kv = match layer < c.layers - g.sharing {
            false => None,
            true => Some(KeysValues {
                k: bound.linear(source, &at("k_proj"), kv_width, c.hidden_size)?,
                v: match g.keys_are_values && window.is_none() {
                    true => None,
                    false => Some(bound.linear(source, &at("v_proj"), kv_width, c.hidden_size)?),
                },
                k_norm: bound.norm(source, &at("k_norm"), head_dim)?,
            }),
        };
        Ok(Attention {
            q: bound.linear(source, &at("q_proj"), width, c.hidden_size)?,
            kv,
            q_norm: bound.norm(source, &at("q_norm"), head_dim)?,
            o: bound.linear(source, &at("o_proj"), c.hidden_size, width)?,
            shape: Shape {
                heads: c.heads,
                kv_heads,
                head_dim,
                scale: 1.0,
                window,
                chunk: None,
                cap: None,
            },
            layer,
        })
    }

    pub(super) fn of(
        &self,
        c: &Config,
        x: &Array,
        [k, v]: &[Array; 2],
        turn: Option<&Turn>,
        positions: &Array,
    ) -> Result<Array> {
        let dims = [self.shape.heads, self.shape.head_dim];
        let turn = turn.map(|turn| (turn, positions));
        let q = heads(c, &self.q.of(x)?, dims, Some(&self.q_norm), turn)?;
        self.o.of(&q.attend([k, v], None, self.layer, self.shape)?)
    }
}

impl KeysValues {
    pub(super) fn of(
        &self,
        c: &Config,
        shape: &Shape,
        x: &Array,
        turn: Option<&Turn>,
        positions: &Array,
    ) -> Result<[Array; 2]> {
        let dims = [shape.kv_heads, shape.head_dim];
        let k = self.k.of(x)?;
        let v = match &self.v {
            Some(v) => v.of(x)?,
            None => k.clone(),
        };
        let turn = turn.map(|turn| (turn, positions));
        Ok([
            heads(c, &k, dims, Some(&self.k_norm), turn)?,
            heads(c, &v, dims, None, None)?,
        ])
    }
}

/// `x` `[rows, heads · dim]` with each head normed, and turned.
fn heads(
    c: &Config,
    x: &Array,
    dims: [usize; 2],
    norm: Option<&Array>,
    turn: Option<(&Turn, &Array)>,
) -> Result<Array> {
    let rows = x.shape().dims()[0];
    let shape = [rows].into_iter().chain(dims.map(Dim::fixed));
    let mut y = x.reshape(crate::ir::Shape::new(shape))?;
    y = y.rms_norm(norm, c.norm_eps.into())?;
    if let Some((turn, positions)) = turn {
        y = turn.of(&y, positions)?;
    }
    y.reshape(x.shape().clone())
}

impl Mixture {
    /// Of what the block has, and of its MLP's result.
    pub(super) fn of(&self, c: &Config, x: &Array, fed: &Array) -> Result<Array> {
        let logits = x.rms_norm(Some(&self.scale), c.norm_eps.into())?;
        let route = Route::softmax(self.chosen, true);
        let (index, mut weight) = self.router.of(&logits)?.route(route, None)?;
        if let Some(of_expert) = &self.of_expert {
            weight = weight.times(&of_expert.take(&index, 0)?)?;
        }
        let y = self.stacks.of(&self.before.of(x)?, &index, &weight)?;
        let [of_mlp, of_experts] = &self.after;
        of_mlp.of(fed)?.plus(&of_experts.of(&y)?)
    }
}

impl LayerGate {
    pub(super) fn of(&self, x: &Array, embedded: &Array, mlp: &Mlp) -> Result<Array> {
        let gate = mlp.function().of(&self.gate.of(x)?)?.times(embedded)?;
        self.norm.of(&self.project.of(&gate)?)
    }
}
