//! Gemma 4, as text: heads of two widths, layers that share keys and values, embeddings for each layer, experts beside
//! the MLP.
//!
//! Layers that share keys and values keep them once more: each layer's attention has a cache of its own.

use super::attention::Turn;
use super::mlp::{Mlp, Stacks};
use super::norm::Norm;
use super::{Family, Results, gemma4_gguf};
use crate::array::Array;
use crate::ir::{Attention as Shape, Dim, Input, Route, Unary};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::{Activation, Experts, Feed, Fields, Form, Gemma4, Parts, RopeScaling};
use crate::model::rope::{local_rope, rope};
use crate::model::weights::Source;
use crate::{Error, Result};

pub const GEMMA4: Family = Family {
    name: "gemma4",
    model_types: &["gemma4", "gemma4_text", "gemma4_unified"],
    keys: &[
        "sliding_window",
        "sliding_window_pattern",
        "global_head_dim",
        "num_global_key_value_heads",
        "num_kv_shared_layers",
        "hidden_size_per_layer_input",
        "vocab_size_per_layer_input",
        "attention_k_eq_v",
        "final_logit_softcapping",
        "use_double_wide_mlp",
        "enable_moe_block",
        "num_experts",
        "top_k_experts",
        "moe_intermediate_size",
        "expert_intermediate_size",
        "rope_traditional",
        "global_partial_rotary_factor",
        "partial_rotary_factor",
    ],
    sizes: &[
        ("num_attention_heads", 8),
        ("num_key_value_heads", 1),
        ("head_dim", 256),
        ("vocab_size", 262_144),
    ],
    context: 131_072,
    rope_theta: 1e6,
    form: Form {
        after_attention: Some("post_attention_layernorm"),
        before_mlp: Some("pre_feedforward_layernorm"),
        after_mlp: Some("post_feedforward_layernorm"),
        activation: Activation::GeluTanh,
        score_scale: Some(1.0),
        ..Form::LLAMA
    },
    folder_modules: &[("mlp.switch_mlp.", "experts.switch_glu.")],
    read,
    architectures: &["gemma4"],
    gguf_keys: gemma4_gguf::KEYS,
    gguf_modules: gemma4_gguf::MODULES,
    read_gguf: gemma4_gguf::read,
    forward,
    quantizes: false,
    ..Family::PLAIN
};

fn read(fields: &Fields, config: &mut Config) -> Result<()> {
    let number =
        |key: &str, default| Ok::<_, Error>(fields.integer(key, 0..=1 << 20)?.unwrap_or(default));
    config.form.activation = Activation::GeluTanh;
    config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
    config.form.embedding_scale = (config.hidden_size as f32).sqrt();
    config.form.logit_cap = match fields.is_null("final_logit_softcapping") {
        true => None,
        false => Some(fields.positive("final_logit_softcapping")?.unwrap_or(30.0)),
    };
    // Both kinds of layers have theirs in one place.
    if fields.get("rope_parameters").is_none() {
        config.rope_theta = 1e6;
        config.rope_scaling = RopeScaling::Proportional {
            share: 0.25,
            factor: 1.0,
        };
    }
    let local = config.form.local_rope_theta;
    config.form.local_rope_theta = Some(local.unwrap_or(10_000.0));
    if fields.get("layer_types").is_none() {
        let every = number("sliding_window_pattern", 5)?.max(1);
        let window = fields.window()?.unwrap_or(512);
        config.set_windows(Some(window), |layer| (layer + 1) % every != 0);
    }
    let same = fields.flag("attention_k_eq_v")?.unwrap_or(false);
    let full_kv_heads = match same {
        true => number("num_global_key_value_heads", config.kv_heads)?,
        false => config.kv_heads,
    };
    let sharing = number("num_kv_shared_layers", 0)?;
    let experts = fields.flag("enable_moe_block")?.unwrap_or(false);
    let gemma = Gemma4 {
        full_dim: number("global_head_dim", 512)?.max(2),
        full_kv_heads: full_kv_heads.max(1),
        keys_are_values: same,
        sharing,
        per_layer: number("hidden_size_per_layer_input", 256)?,
        experts,
        expert_scales: true,
    };
    if gemma.sharing >= config.layers {
        let what = format_args!("{sharing} of {} layers", config.layers);
        return Err(fields.bad("num_kv_shared_layers", what));
    }
    if !config.heads.is_multiple_of(gemma.full_kv_heads) {
        let what = format_args!("{full_kv_heads} do not divide {} heads", config.heads);
        return Err(fields.bad("num_global_key_value_heads", what));
    }
    if number("vocab_size_per_layer_input", config.vocab_size)? != config.vocab_size {
        let what = "another vocabulary than the model's is not supported";
        return Err(fields.unsupported("vocab_size_per_layer_input", what));
    }
    let doubles = fields.flag("use_double_wide_mlp")?.unwrap_or(true) && sharing > 0;
    let first = config.layers - sharing;
    let width = config.intermediate_size;
    let parts = (0..config.layers).map(|layer| Parts {
        attention: true,
        recurrent: false,
        mlp: Feed::Dense(if doubles && layer >= first {
            2 * width
        } else {
            width
        }),
    });
    config.parts = parts.collect();
    if experts {
        let width = fields.needed("moe_intermediate_size", 1..=1 << 20)?;
        let experts = Experts::keyed(fields, ["num_experts", "top_k_experts"], width)?;
        // The softmax of the chosen ones is that of all, divided by their sum.
        config.experts = Some(Experts {
            normalize: true,
            ..experts
        });
    }
    config.gemma4 = Some(gemma);
    Ok(())
}

/// One block.
struct Block {
    before_attention: Norm,
    attention: Attention,
    after_attention: Norm,
    before_mlp: Norm,
    mlp: Mlp,
    after_mlp: Norm,
    mixture: Option<Mixture>,
    gate: Option<LayerGate>,
    scalar: Array,
}

struct Attention {
    q: Linear,
    /// `None`: those of an earlier layer.
    kv: Option<KeysValues>,
    q_norm: Array,
    o: Linear,
    shape: Shape,
    layer: usize,
}

struct KeysValues {
    k: Linear,
    /// `None`: values are keys.
    v: Option<Linear>,
    k_norm: Array,
}

/// Experts beside the MLP, with norms of their own.
struct Mixture {
    scale: Array,
    router: Linear,
    of_expert: Option<Array>,
    before: Norm,
    after: [Norm; 2],
    stacks: Stacks,
    chosen: usize,
}

/// What a layer's own embedding lets through.
struct LayerGate {
    gate: Linear,
    project: Linear,
    norm: Norm,
}

/// Binds the weights of `source` and makes what it gives for the wanted rows.
fn forward(source: &Source, bound: &mut Bound) -> Result<Results> {
    let c = source.config();
    let Some(g) = c.gemma4 else {
        return Err(Error::Internal("Gemma 4 without its numbers".into()));
    };
    let blocks = (0..c.layers).map(|layer| Block::bind(source, g, layer, bound));
    let blocks = blocks.collect::<Result<Vec<_>>>()?;
    let factor = 1.0 / c.form.logit_cap.unwrap_or(1.0);
    let final_norm = Norm::bind(source, bound, "model.norm", factor)?;
    let plain_norm = Norm::bind(source, bound, "model.norm", 1.0)?;
    let table = source.embedding("model.embed_tokens", c.vocab_size, c.hidden_size)?;
    let (table, head) = if c.tied_embeddings {
        let table = bound.matrix(table);
        (table, Linear::shared(table, c.vocab_size))
    } else {
        let head = bound.linear(source, "lm_head", c.vocab_size, c.hidden_size)?;
        (bound.matrix(table), head)
    };
    let full = Config {
        rope_dims: g.full_dim,
        ..c.clone()
    };
    let turns = [Some(rope(&full)), local_rope(c)].map(|rope| rope.map(|r| Turn::new(r, bound)));
    let (tokens, wanted) = (Array::input(Input::Tokens), Array::input(Input::Wanted));
    let positions = Array::input(Input::Positions);
    let mut x = tokens.embedding(table, c.hidden_size)?;
    x = x.times(&bound.number(c.form.embedding_scale))?;
    let own = own_embeddings(source, g, &tokens, &x, bound)?;
    let mut made: Vec<[Array; 2]> = Vec::with_capacity(blocks.len());
    for (layer, block) in blocks.iter().enumerate() {
        let is_full = c.window(layer).is_none();
        let turn = turns[usize::from(!is_full)].as_ref();
        let h = block.before_attention.of(&x)?;
        let keys_values = match &block.attention.kv {
            Some(kv) => kv.of(c, &block.attention.shape, &h, turn, &positions)?,
            None => {
                let same = |other: &usize| c.window(*other).is_none() == is_full;
                let before = (0..c.layers - g.sharing).rev().find(same);
                let before = before.and_then(|layer| made.get(layer)).cloned();
                before.ok_or_else(|| {
                    Error::InvalidFile(format!(
                        "{}: layer {layer} shares keys of a layer of its kind, of which there is none",
                        source.path().display()
                    ))
                })?
            }
        };
        let (mut h, mut own_positions, mut embedded) =
            (h, positions.clone(), own.get(layer).cloned());
        if layer + 1 == blocks.len() {
            // Behind the last keys and values only the rows with logits matter.
            x = x.take(&wanted, 0)?;
            h = block.before_attention.of(&x)?;
            own_positions = positions.take(&wanted, 0)?;
            embedded = embedded.map(|rows| rows.take(&wanted, 0)).transpose()?;
        }
        let attended = block
            .attention
            .of(c, &h, &keys_values, turn, &own_positions)?;
        made.push(keys_values);
        x = x.plus(&block.after_attention.of(&attended)?)?;
        let mut fed = block.mlp.of(&block.before_mlp.of(&x)?)?;
        if let Some(mixture) = &block.mixture {
            fed = mixture.of(c, &x, &fed)?;
        }
        x = x.plus(&block.after_mlp.of(&fed)?)?;
        if let (Some(gate), Some(embedded)) = (&block.gate, &embedded) {
            x = x.plus(&gate.of(&x, embedded, &block.mlp)?)?;
        }
        x = x.times(&block.scalar)?;
    }
    let mut logits = head.of(&final_norm.of(&x)?)?;
    if let Some(cap) = c.form.logit_cap {
        logits = logits.unary(Unary::Tanh)?.times(&bound.number(cap))?;
    }
    let hidden = plain_norm.of(&x)?;
    Ok(Results { hidden, logits })
}

/// What each layer's gate is multiplied with: `(norm(P·x) + embedding) / √2`, a part for each layer.
fn own_embeddings(
    source: &Source,
    g: Gemma4,
    tokens: &Array,
    x: &Array,
    bound: &mut Bound,
) -> Result<Vec<Array>> {
    let c = source.config();
    if g.per_layer == 0 {
        return Ok(Vec::new());
    }
    let all = c.layers * g.per_layer;
    let table = source.embedding("model.embed_tokens_per_layer", c.vocab_size, all)?;
    let table = bound.matrix(table);
    let path = "model.per_layer_model_projection";
    let project = bound.linear(source, path, all, c.hidden_size)?;
    let norm = bound.norm(source, "model.per_layer_projection_norm", g.per_layer)?;
    let embedded = tokens.embedding(table, all)?;
    let embedded = embedded.times(&bound.number((g.per_layer as f32).sqrt()))?;
    let scale = bound.number(1.0 / (c.hidden_size as f32).sqrt());
    let projected = project.of(x)?.times(&scale)?;
    let rows = projected.shape().dims()[0];
    let shape = [rows, c.layers.into(), g.per_layer.into()];
    let projected = projected.reshape(crate::ir::Shape::new(shape))?;
    let projected = projected.rms_norm(Some(&norm), c.norm_eps.into())?;
    let projected = projected.reshape(embedded.shape().clone())?;
    let half = bound.number(std::f32::consts::FRAC_1_SQRT_2);
    let both = projected.plus(&embedded)?.times(&half)?;
    match c.layers {
        1 => Ok(vec![both]),
        layers => both.split_parts(layers as i64, 1),
    }
}

impl Block {
    fn bind(source: &Source, g: Gemma4, layer: usize, bound: &mut Bound) -> Result<Block> {
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
    fn bind(source: &Source, g: Gemma4, layer: usize, bound: &mut Bound) -> Result<Attention> {
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

    fn of(
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
    fn of(
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
    fn of(&self, c: &Config, x: &Array, fed: &Array) -> Result<Array> {
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
    fn of(&self, x: &Array, embedded: &Array, mlp: &Mlp) -> Result<Array> {
        let gate = mlp.function().of(&self.gate.of(x)?)?.times(embedded)?;
        self.norm.of(&self.project.of(&gate)?)
    }
}
