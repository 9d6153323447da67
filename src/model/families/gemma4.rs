//! Gemma 4, as text: heads of two widths, layers that share keys and values, embeddings for each layer, experts beside
//! the MLP.
//!
//! Layers that share keys and values keep them once more: each layer's attention has a cache of its own.

mod block;

use super::attention::Turn;
use super::norm::Norm;
use super::{Family, Results, gemma4_gguf};
use crate::array::Array;
use crate::ir::{Input, Unary};
use crate::model::Config;
use crate::model::bind::{Bound, Linear};
use crate::model::config::{Activation, Experts, Feed, Fields, Form, Gemma4, Parts, RopeScaling};
use crate::model::rope::{local_rope, rope};
use crate::model::weights::Source;
use crate::{Error, Result};
use block::Block;

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
