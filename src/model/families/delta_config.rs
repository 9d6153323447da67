//! The families of gated delta nets: what their configs say.

use super::{Family, delta};
use crate::Result;
use crate::model::Config;
use crate::model::config::{Delta, Experts, Fields, GgufFields, HeadNorm};

/// Keys that all of them read.
const KEYS: &[&str] = &[
    "layer_types",
    "full_attention_interval",
    "linear_num_key_heads",
    "linear_num_value_heads",
    "linear_key_head_dim",
    "linear_value_head_dim",
    "linear_conv_kernel_dim",
    "partial_rotary_factor",
    "attn_output_gate",
    "num_experts",
    "num_experts_per_tok",
    "moe_intermediate_size",
    "shared_expert_intermediate_size",
    "norm_topk_prob",
    "decoder_sparse_step",
    "mlp_only_layers",
];

/// The same of GGUF.
const GGUF_KEYS: &[&str] = &[
    "full_attention_interval",
    "ssm.conv_kernel",
    "ssm.state_size",
    "ssm.group_count",
    "ssm.time_step_rank",
    "ssm.inner_size",
    // In a text all positions of a token are the same: plain RoPE.
    "rope.dimension_sections",
    "nextn_predict_layers",
    "expert_count",
    "expert_used_count",
    "expert_feed_forward_length",
    "expert_shared_feed_forward_length",
];

/// Layers that predict further tokens are not run.
const HARMLESS: &[&str] = &[
    "router_aux_loss_coef",
    "router_jitter_noise",
    "mamba_ssm_dtype",
    "mtp_num_hidden_layers",
    "mtp_use_dedicated_embeddings",
    "num_nextn_predict_layers",
];

const GGUF_MODULES: &[(&str, &str)] = &[
    ("post_attention_layernorm", "post_attention_norm"),
    ("linear_attn.in_proj_qkv", "attn_qkv"),
    ("linear_attn.in_proj_z", "attn_gate"),
    ("linear_attn.in_proj_ba", "ssm_ba"),
    ("linear_attn.in_proj_b", "ssm_beta"),
    ("linear_attn.in_proj_a", "ssm_alpha"),
    ("linear_attn.conv1d", "ssm_conv1d"),
    ("linear_attn.A_log", "ssm_a"),
    ("linear_attn.dt_bias", "ssm_dt.bias"),
    ("linear_attn.norm", "ssm_norm"),
    ("linear_attn.out_proj", "ssm_out"),
];

pub const QWEN3_NEXT: Family = Family {
    name: "qwen3_next",
    model_types: &["qwen3_next"],
    wide_modules: &["mlp.gate", "shared_expert_gate"],
    architectures: &["qwen3next"],
    keys: KEYS,
    harmless: HARMLESS,
    gguf_keys: GGUF_KEYS,
    read: |fields, config| read(fields, config, false),
    read_gguf: |fields, config| read_gguf(fields, config, false),
    gguf_modules: GGUF_MODULES,
    forward: delta::forward,
    ..Family::PLAIN
};

pub const QWEN3_5: Family = Family {
    name: "qwen3_5",
    model_types: &["qwen3_5", "qwen3_5_text"],
    architectures: &["qwen35"],
    // The converter to GGUF changes the order of the value heads.
    read_gguf: |fields, config| read_gguf(fields, config, true),
    read: |fields, config| read(fields, config, true),
    ..QWEN3_NEXT
};

pub const QWEN3_5_MOE: Family = Family {
    name: "qwen3_5_moe",
    model_types: &["qwen3_5_moe", "qwen3_5_moe_text"],
    architectures: &["qwen35moe"],
    ..QWEN3_5
};

/// `normalizes`: whether experts' weights are divided by their sum where the config does not say.
fn read(fields: &Fields, config: &mut Config, normalizes: bool) -> Result<()> {
    if fields.flag("attn_output_gate")? == Some(false) {
        return Err(
            fields.unsupported("attn_output_gate", "only attention with gates is supported")
        );
    }
    config.form.qk_norm = Some(HeadNorm::Heads);
    config.delta = Some(Delta::read(fields, config.layers)?);
    let share = match fields.number("partial_rotary_factor", 0.0..=1.0)? {
        Some(share) => Some(share),
        None => match fields.fields("rope_parameters")? {
            Some(rope) => rope.number("partial_rotary_factor", 0.0..=1.0)?,
            None => None,
        },
    };
    config.rope_dims = (config.head_dim as f64 * share.unwrap_or(0.25)) as usize;
    if fields.integer("num_experts", 0..=1 << 16)?.unwrap_or(0) > 0 {
        let mut experts = Experts::read(fields)?;
        let normalize = fields.flag("norm_topk_prob")?;
        experts.normalize = normalize.unwrap_or(normalizes);
        let key = "shared_expert_intermediate_size";
        experts.shared = fields.integer(key, 0..=1 << 20)?.unwrap_or(0);
        experts.shared_gate = true;
        config.experts = Some(experts);
    }
    Ok(())
}

fn read_gguf(fields: &GgufFields, config: &mut Config, tiled: bool) -> Result<()> {
    config.form.qk_norm = Some(HeadNorm::Heads);
    config.delta = Some(Delta::read_gguf(fields, tiled)?);
    config.set_predicting_gguf(fields)?;
    if fields.integer("expert_count", 0..=1 << 16)?.unwrap_or(0) > 0 {
        let mut experts = Experts::read_gguf(fields)?;
        let key = "expert_shared_feed_forward_length";
        experts.shared = fields.integer(key, 0..=1 << 20)?.unwrap_or(0);
        experts.shared_gate = true;
        config.experts = Some(experts);
    }
    Ok(())
}
