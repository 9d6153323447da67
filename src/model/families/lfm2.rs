//! LFM 2: gated short convolutions, attention in some layers; dense or with experts behind the first layers.

use super::Family;
use crate::Result;
use crate::ir::Scores;
use crate::model::Config;
use crate::model::config::{Correction, Experts, Fields, Form, GgufFields, HeadNorm, Recurrent};

const KEYS: &[&str] = &[
    "layer_types",
    "full_attn_idxs",
    "norm_eps",
    "conv_bias",
    "conv_L_cache",
    "block_dim",
    "block_ff_dim",
    "block_multiple_of",
    "block_ffn_dim_multiplier",
    "block_auto_adjust_ff_dim",
    "num_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "num_dense_layers",
    "norm_topk_prob",
    "use_expert_bias",
    "routed_scaling_factor",
    "tie_embedding",
];

/// Notes about initial weights and other ways to compute the same.
const HARMLESS: &[&str] = &[
    "block_mlp_init_scale",
    "block_norm_eps",
    "block_out_init_scale",
    "block_use_swiglu",
    "block_use_xavier_init",
    "conv_dim",
    "conv_dim_out",
    "conv_use_xavier_init",
    "num_heads",
    "use_pos_enc",
    "theta",
    "router_aux_loss_coef",
];

const FORM: Form = Form {
    before_attention: Some("operator_norm"),
    before_mlp: Some("ffn_norm"),
    qk_norm: Some(HeadNorm::Heads),
    ..Form::LLAMA
};

pub const LFM2: Family = Family {
    name: "lfm2",
    model_types: &["lfm2"],
    architectures: &["lfm2"],
    keys: KEYS,
    harmless: HARMLESS,
    context: 128_000,
    rope_theta: 1e6,
    // config.json calls it by another name.
    sizes: &[("intermediate_size", 0)],
    form: FORM,
    folder_modules: &[
        ("model.norm", "model.embedding_norm"),
        ("self_attn.q_norm", "self_attn.q_layernorm"),
        ("self_attn.k_norm", "self_attn.k_layernorm"),
        ("self_attn.o_proj", "self_attn.out_proj"),
        ("mixer.", "conv."),
        ("mlp.gate_proj", "feed_forward.w1"),
        ("mlp.up_proj", "feed_forward.w3"),
        ("mlp.down_proj", "feed_forward.w2"),
    ],
    read: |fields, config| {
        layers(fields, config)?;
        let number = |key: &str| fields.integer(key, 1..=1 << 20);
        if let Some(width) = number("block_ff_dim")? {
            config.intermediate_size = width;
        }
        if fields.flag("block_auto_adjust_ff_dim")? == Some(true) {
            let mut width = 2 * config.intermediate_size / 3;
            if let Some(factor) = fields.positive("block_ffn_dim_multiplier")? {
                width = (f64::from(factor) * width as f64) as usize;
            }
            let multiple = number("block_multiple_of")?.unwrap_or(256);
            config.intermediate_size = width.next_multiple_of(multiple);
        }
        // Now that the width of MLPs is known.
        config.set_experts(|_| false);
        Ok(())
    },
    gguf_keys: GGUF_KEYS,
    gguf_modules: GGUF_MODULES,
    read_gguf,
    quantizes: false,
    ..Family::PLAIN
};

pub const LFM2_MOE: Family = Family {
    name: "lfm2_moe",
    model_types: &["lfm2_moe"],
    architectures: &["lfm2moe"],
    folder_modules: &[
        ("model.norm", "model.embedding_norm"),
        ("self_attn.q_norm", "self_attn.q_layernorm"),
        ("self_attn.k_norm", "self_attn.k_layernorm"),
        ("self_attn.o_proj", "self_attn.out_proj"),
        ("mixer.", "conv."),
        ("mlp.correction", "feed_forward.expert_bias"),
        ("mlp.", "feed_forward."),
    ],
    read: |fields, config| {
        layers(fields, config)?;
        let width = fields.needed("moe_intermediate_size", 1..=1 << 20)?;
        let normalize = fields.flag("norm_topk_prob")?.unwrap_or(true);
        config.experts = Some(Experts {
            scores: Scores::Sigmoid,
            correction: match fields.flag("use_expert_bias")? {
                Some(false) => Correction::Never,
                _ => Correction::Always,
            },
            factor: fields.positive("routed_scaling_factor")?.unwrap_or(1.0),
            ..Experts::counted(fields, "num_experts", width, normalize)?
        });
        let dense = fields.integer("num_dense_layers", 0..=1 << 20)?;
        let dense = dense.unwrap_or(2);
        config.set_experts(|layer| layer >= dense);
        Ok(())
    },
    ..LFM2
};

const GGUF_KEYS: &[&str] = &[
    "shortconv.l_cache",
    "expert_count",
    "expert_used_count",
    "expert_feed_forward_length",
    "expert_gating_func",
    "leading_dense_block_count",
];

const GGUF_MODULES: &[(&str, &str)] = &[
    ("model.norm", "token_embd_norm"),
    ("operator_norm", "attn_norm"),
    ("ffn_norm", "ffn_norm"),
    ("mixer.conv", "shortconv.conv"),
    ("mixer.in_proj", "shortconv.in_proj"),
    ("mixer.out_proj", "shortconv.out_proj"),
];

fn read_gguf(fields: &GgufFields, config: &mut Config) -> Result<()> {
    config.recurrent = Some(Recurrent::Conv {
        taps: fields.needed("shortconv.l_cache", 1..=64)?,
        bias: fields.has("blk.0.shortconv.conv.bias"),
    });
    config.set_recurrent(|layer| fields.has(&format!("blk.{layer}.shortconv.conv.weight")));
    if fields.get("expert_count").is_none() {
        return Ok(());
    }
    config.experts = Some(Experts {
        scores: Scores::Sigmoid,
        correction: Correction::Maybe,
        ..Experts::read_gguf(fields)?
    });
    let dense = fields.integer("leading_dense_block_count", 0..=1 << 20)?;
    let dense = dense.unwrap_or(0);
    config.set_experts(|layer| layer >= dense);
    Ok(())
}

/// Which layers have attention, and the convolutions of the others.
fn layers(fields: &Fields, config: &mut Config) -> Result<()> {
    config.norm_eps = fields.norm_eps("norm_eps", 1e-5)?;
    config.tied_embeddings = true;
    config.recurrent = Some(Recurrent::Conv {
        taps: fields.needed("conv_L_cache", 1..=64)?,
        bias: fields.flag("conv_bias")?.unwrap_or(false),
    });
    let listed = match fields.get("full_attn_idxs") {
        None => None,
        Some(list) => {
            let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
            let layers = list.iter().map(|layer| layer.as_u64());
            let layers = layers.collect::<Option<Vec<u64>>>();
            Some(layers.ok_or_else(|| fields.bad("full_attn_idxs", "not a list of layers"))?)
        }
    };
    let kinds = fields.kinds("layer_types", config.layers, ["conv", "full_attention"])?;
    match (listed, kinds) {
        (Some(listed), _) => config.set_recurrent(|layer| !listed.contains(&(layer as u64))),
        (None, Some(kinds)) => config.set_recurrent(|layer| kinds[layer] == 0),
        (None, None) => return Err(fields.bad("layer_types", "missing")),
    }
    Ok(())
}
