//! Gemma 4 (text) as a GGUF file: what layers that see everything have is the usual there, and what
//! others have has keys of its own.

use crate::Result;
use crate::formats::gguf::Value;
use crate::model::Config;
use crate::model::config::{Experts, Feed, Gemma4, GgufFields, Parts, RopeScaling};

const PATTERN: &str = "attention.sliding_window_pattern";
const KEY_HEADS: &str = "attention.head_count_kv";
const WIDTHS: &str = "feed_forward_length";

pub const KEYS: &[&str] = &[
    PATTERN,
    KEY_HEADS,
    WIDTHS,
    "attention.sliding_window",
    "attention.key_length_swa",
    "attention.value_length_swa",
    "attention.shared_kv_layers",
    "rope.dimension_count_swa",
    "rope.freq_base_swa",
    "embedding_length_per_layer_input",
    "final_logit_softcapping",
    "expert_count",
    "expert_used_count",
    "expert_feed_forward_length",
];

pub const MODULES: &[(&str, &str)] = &[
    ("model.embed_tokens_per_layer", "per_layer_token_embd"),
    ("model.per_layer_model_projection", "per_layer_model_proj"),
    ("model.per_layer_projection_norm", "per_layer_proj_norm"),
    ("per_layer_input_gate", "inp_gate"),
    ("per_layer_projection", "proj"),
    ("post_per_layer_input_norm", "post_norm"),
    ("post_attention_layernorm", "post_attention_norm"),
    ("pre_feedforward_layernorm", "ffn_norm"),
    ("post_feedforward_layernorm", "post_ffw_norm"),
    ("layer_scalar", "layer_output_scale.weight"),
    ("router.proj", "ffn_gate_inp"),
    ("router.scale", "ffn_gate_inp.scale"),
    ("router.per_expert_scale", "ffn_down_exps.scale"),
    ("pre_feedforward_layernorm_2", "pre_ffw_norm_2"),
    ("post_feedforward_layernorm_1", "post_ffw_norm_1"),
    ("post_feedforward_layernorm_2", "post_ffw_norm_2"),
];

pub fn read(fields: &GgufFields, config: &mut Config) -> Result<()> {
    let layers = config.layers;
    config.form.embedding_scale = (config.hidden_size as f32).sqrt();
    config.form.logit_cap = fields.positive("final_logit_softcapping")?;
    let pattern = match fields.get(PATTERN) {
        Some(Value::Bools(pattern)) if pattern.len() == layers => pattern,
        _ => return Err(fields.bad(PATTERN, format!("no list of {layers} flags"))),
    };
    config.set_windows(fields.window()?, |layer| pattern[layer]);
    // The last layer of each kind speaks for all of them.
    let of_kind = |list: &[usize], has_window: bool| {
        let kind = (0..layers)
            .rev()
            .find(|layer| pattern[*layer] == has_window);
        kind.map_or(list[0], |layer| list[layer])
    };
    let key_heads = fields.of_layers(KEY_HEADS, layers, 1..=1 << 12)?;
    let full_kv_heads = of_kind(&key_heads, false);
    config.kv_heads = of_kind(&key_heads, true);
    for (layer, heads) in key_heads.iter().enumerate() {
        if *heads != of_kind(&key_heads, pattern[layer]) {
            let what = format!("{heads} in layer {layer}, not in others of its kind");
            return Err(fields.bad(KEY_HEADS, what));
        }
    }
    let full_dim = config.head_dim;
    config.head_dim = fields.needed("attention.key_length_swa", 2..=1 << 12)?;
    let turned = fields.integer("rope.dimension_count_swa", 2..=1 << 12)?;
    config.rope_dims = turned.unwrap_or(config.head_dim);
    let local = fields.number("rope.freq_base_swa", 1.0..=1e12)?;
    config.form.local_rope_theta = Some(local.unwrap_or(10_000.0) as f32);
    // Pairs that do not turn have a factor beyond all others.
    if let RopeScaling::Factors(factors) = &config.rope_scaling {
        let turning = factors.iter().take_while(|factor| **factor == 1.0).count();
        if factors[turning..].iter().all(|factor| *factor >= 1e20) {
            let share = turning as f32 / factors.len() as f32;
            config.rope_scaling = RopeScaling::Proportional { share, factor: 1.0 };
        }
    }
    let per_layer = fields.integer("embedding_length_per_layer_input", 0..=1 << 20)?;
    let sharing = fields.integer("attention.shared_kv_layers", 0..=1 << 20)?;
    let gemma = Gemma4 {
        full_dim,
        full_kv_heads,
        keys_are_values: (0..layers.saturating_sub(sharing.unwrap_or(0)))
            .any(|layer| !pattern[layer] && !fields.has(&format!("blk.{layer}.attn_v.weight"))),
        sharing: sharing.unwrap_or(0),
        per_layer: per_layer.unwrap_or(0),
        experts: fields.integer("expert_count", 0..=1 << 16)?.unwrap_or(0) > 0,
        expert_scales: fields.has("blk.0.ffn_down_exps.scale"),
    };
    if gemma.sharing >= layers {
        let what = format!("{} of {layers} layers", gemma.sharing);
        return Err(fields.bad("attention.shared_kv_layers", what));
    }
    for heads in [config.kv_heads, gemma.full_kv_heads] {
        if !config.heads.is_multiple_of(heads) {
            let what = format!("{heads} do not divide {} heads", config.heads);
            return Err(fields.bad(KEY_HEADS, what));
        }
    }
    let widths = fields.of_layers(WIDTHS, layers, 1..=1 << 20)?;
    let parts = widths.iter().map(|width| Parts {
        attention: true,
        recurrent: false,
        mlp: Feed::Dense(*width),
    });
    config.parts = parts.collect();
    if gemma.experts {
        config.experts = Some(Experts::read_gguf(fields)?);
    }
    config.gemma4 = Some(gemma);
    Ok(())
}
