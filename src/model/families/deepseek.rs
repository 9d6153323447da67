//! DeepSeek 2 and 3 (and Kimi K2), GLM 4.7 Flash: multi-head latent attention, experts in groups beside shared ones.

use super::Family;
use crate::Result;
use crate::model::Config;
use crate::model::config::{Experts, Fields, GgufFields, Latent};

const KEYS: &[&str] = &[
    "kv_lora_rank",
    "q_lora_rank",
    "qk_nope_head_dim",
    "qk_rope_head_dim",
    "v_head_dim",
    "n_routed_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "n_shared_experts",
    "routed_scaling_factor",
    "norm_topk_prob",
    "n_group",
    "topk_group",
    "first_k_dense_replace",
    "moe_layer_freq",
    "scoring_func",
    "topk_method",
    "num_nextn_predict_layers",
    "rope_interleave",
    "partial_rotary_factor",
];

/// About training, and how it is spread over machines.
const HARMLESS: &[&str] = &[
    "aux_loss_alpha",
    "seq_aux",
    "ep_size",
    "qk_head_dim",
    "n_embd",
];

const MODULES: &[(&str, &str)] = &[
    ("mlp.correction", "mlp.gate.e_score_correction_bias"),
    ("mlp.shared_expert.", "mlp.shared_experts."),
];

pub const DEEPSEEK3: Family = Family {
    name: "deepseek_v3",
    model_types: &["deepseek_v3", "kimi_k2"],
    keys: KEYS,
    harmless: HARMLESS,
    folder_modules: MODULES,
    context: 4096,
    read: |fields, config| {
        attention(fields, config, Some(1e-6))?;
        Experts::routed(fields, config)
    },
    quantizes: false,
    ..Family::PLAIN
};

pub const GLM4_MOE_LITE: Family = Family {
    name: "glm4_moe_lite",
    model_types: &["glm4_moe_lite"],
    context: 202_752,
    rope_theta: 1e6,
    read: |fields, config| {
        attention(fields, config, None)?;
        Experts::routed(fields, config)
    },
    ..DEEPSEEK3
};

pub const DEEPSEEK2: Family = Family {
    name: "deepseek_v2",
    model_types: &["deepseek_v2"],
    architectures: &["deepseek2"],
    context: 2048,
    read: |fields, config| {
        attention(fields, config, Some(1e-6))?;
        if fields.get("n_routed_experts").is_none() {
            return Ok(());
        }
        if fields.flag("norm_topk_prob")? == Some(true) {
            return Err(fields.unsupported("norm_topk_prob", "false is supported"));
        }
        if fields
            .text("scoring_func")?
            .is_some_and(|scores| scores != "softmax")
        {
            return Err(fields.unsupported("scoring_func", "softmax is supported"));
        }
        let width = fields.needed("moe_intermediate_size", 1..=1 << 20)?;
        let experts = Experts::counted(fields, "n_routed_experts", width, false)?;
        let experts = match fields.text("topk_method")? {
            Some("group_limited_greedy") => {
                experts.grouped(fields, ["n_group", "topk_group"], 1)?
            }
            // mlx-lm's default is spelled so.
            None | Some("greedy" | "gready") => experts,
            Some(other) => {
                let what = format_args!("{other:?}; greedy and group_limited_greedy are supported");
                return Err(fields.unsupported("topk_method", what));
            }
        };
        experts.of_blocks(fields, config)
    },
    gguf_keys: &[
        "attention.q_lora_rank",
        "attention.kv_lora_rank",
        "attention.key_length_mla",
        "attention.value_length_mla",
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "expert_shared_count",
        "expert_weights_scale",
        "expert_weights_norm",
        "expert_gating_func",
        "expert_group_count",
        "expert_group_used_count",
        "leading_dense_block_count",
        "rope.scaling.yarn_log_multiplier",
    ],
    gguf_modules: &[
        ("self_attn.q_a_proj", "attn_q_a"),
        ("self_attn.q_b_proj", "attn_q_b"),
        ("self_attn.q_a_layernorm", "attn_q_a_norm"),
        ("self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"),
        ("self_attn.kv_a_layernorm", "attn_kv_a_norm"),
        ("self_attn.kv_b_proj", "attn_kv_b"),
        ("self_attn.embed_q", "attn_k_b"),
        ("self_attn.unembed_out", "attn_v_b"),
    ],
    read_gguf: |fields, config| {
        attention_gguf(fields, config)?;
        match fields.get("expert_count") {
            None => Ok(()),
            Some(_) => Experts::routed_gguf(fields, config),
        }
    },
    ..DEEPSEEK3
};

/// The attention; `eps`: that of its norms, where it is not the model's.
fn attention(fields: &Fields, config: &mut Config, eps: Option<f32>) -> Result<()> {
    let number = |key: &str, default| {
        let given = fields.integer(key, 1..=1 << 16)?;
        Ok::<_, crate::Error>(given.unwrap_or(default))
    };
    let turned = number("qk_rope_head_dim", 64)?;
    let share = fields.number("partial_rotary_factor", 0.0..=1.0)?;
    if share.is_some_and(|share| share != 1.0) {
        return Err(fields.unsupported("partial_rotary_factor", "1 is supported"));
    }
    let latent = Latent {
        // `null`: queries are made of x.
        query: match fields.is_null("q_lora_rank") {
            true => None,
            false => Some(number("q_lora_rank", 1536)?),
        },
        rank: number("kv_lora_rank", 512)?,
        still: number("qk_nope_head_dim", 128)?,
        turned,
        value: number("v_head_dim", 128)?,
        eps: eps.unwrap_or(config.norm_eps),
    };
    config.set_latent(latent);
    // Files of DeepSeek turn neighbours; transformers' way to say otherwise.
    config.rope_interleaved = fields.flag("rope_interleave")?.unwrap_or(true);
    let scaling = match fields.fields("rope_parameters")? {
        Some(scaling) => Some(scaling),
        None => fields.fields("rope_scaling")?,
    };
    if let Some(scaling) = scaling {
        let all = scaling.number("mscale_all_dim", 0.0..=1e3)?.unwrap_or(0.0);
        let factor = scaling.number("factor", 1e-3..=1e6)?.unwrap_or(1.0);
        config.scale_scores(all, factor);
    }
    config.set_predicting(fields)
}

/// The same of a GGUF file.
fn attention_gguf(fields: &GgufFields, config: &mut Config) -> Result<()> {
    let turned = fields.needed("rope.dimension_count", 1..=1 << 16)?;
    let key = |name: &str, old: &str| match fields.integer(name, 1..=1 << 16)? {
        Some(length) => Ok(length),
        None => fields.needed(old, 1..=1 << 16),
    };
    let key_length = key("attention.key_length_mla", "attention.key_length")?;
    let value = key("attention.value_length_mla", "attention.value_length")?;
    if key_length <= turned {
        let what = format!("{key_length} columns, {turned} of which turn");
        return Err(fields.bad("attention.key_length_mla", what));
    }
    config.set_latent(Latent {
        query: fields.integer("attention.q_lora_rank", 1..=1 << 16)?,
        rank: fields.needed("attention.kv_lora_rank", 1..=1 << 16)?,
        still: key_length - turned,
        turned,
        value,
        eps: config.norm_eps,
    });
    config.rope_interleaved = true;
    // 0.1 times mscale_all_dim: as llama.cpp has it, only scores are multiplied, not cos and sin.
    let multiplier = fields.number("rope.scaling.yarn_log_multiplier", 0.0..=1e3)?;
    let factor = fields.number("rope.scaling.factor", 1e-3..=1e6)?;
    config.scale_scores(10.0 * multiplier.unwrap_or(0.0), factor.unwrap_or(1.0));
    config.rope_scaling.set_magnitude(1.0);
    Ok(())
}
