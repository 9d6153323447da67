//! GLM 4: norms of results too, half of each head turned, gate and up in one matrix. GLM 4.5 with experts: neither, but
//! the router of DeepSeek 3.

use super::Family;
use crate::model::config::{Experts, Form, HeadNorm};

pub const GLM4: Family = Family {
    name: "glm4",
    model_types: &["glm4"],
    architectures: &["glm4"],
    gguf_modules: &[
        ("post_self_attn_layernorm", "post_attention_norm"),
        ("post_mlp_layernorm", "post_ffw_norm"),
        ("mlp.gate_up_proj", "ffn_up"),
    ],
    read_gguf: |_, config| {
        config.rope_interleaved = true;
        Ok(())
    },
    keys: &["rope_traditional", "partial_rotary_factor"],
    form: Form {
        after_attention: Some("post_self_attn_layernorm"),
        after_mlp: Some("post_mlp_layernorm"),
        gate_up: true,
        ..Form::LLAMA
    },
    read: |fields, config| {
        config.output_bias = false;
        config.rope_dims = fields.rotated(config.head_dim, 0.5)?;
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(true);
        Ok(())
    },
    ..Family::PLAIN
};

pub const GLM4_MOE: Family = Family {
    name: "glm4_moe",
    model_types: &["glm4_moe"],
    keys: &[
        "partial_rotary_factor",
        "use_qk_norm",
        "n_routed_experts",
        "num_experts_per_tok",
        "moe_intermediate_size",
        "n_shared_experts",
        "routed_scaling_factor",
        "norm_topk_prob",
        "n_group",
        "topk_group",
        "first_k_dense_replace",
        "scoring_func",
        "topk_method",
        "num_nextn_predict_layers",
    ],
    folder_modules: &[
        ("mlp.correction", "mlp.gate.e_score_correction_bias"),
        ("mlp.shared_expert.", "mlp.shared_experts."),
    ],
    context: 131_072,
    read: |fields, config| {
        config.output_bias = false;
        config.rope_dims = fields.rotated(config.head_dim, 0.5)?;
        if fields.flag("use_qk_norm")? == Some(true) {
            config.form.qk_norm = Some(HeadNorm::Heads);
        }
        config.set_predicting(fields)?;
        Experts::routed(fields, config)
    },
    architectures: &["glm4moe"],
    gguf_keys: &[
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
        "nextn_predict_layers",
    ],
    gguf_modules: &[("post_attention_layernorm", "post_attention_norm")],
    read_gguf: |fields, config| {
        if fields.has("blk.0.attn_q_norm.weight") {
            config.form.qk_norm = Some(HeadNorm::Heads);
        }
        config.set_predicting_gguf(fields)?;
        Experts::routed_gguf(fields, config)
    },
    quantizes: false,
    ..Family::PLAIN
};
