//! Qwen 2 and 2.5 (biases of q, k, v), Qwen 3 (norms of q and k heads), Qwen 3 with experts.

use super::Family;
use crate::Result;
use crate::model::Config;
use crate::model::config::{Experts, Fields, GgufFields, HeadNorm};

pub const QWEN2: Family = Family {
    name: "qwen2",
    model_types: &["qwen2"],
    architectures: &["qwen2"],
    keys: &[
        "rope_traditional",
        "sliding_window",
        "use_sliding_window",
        "max_window_layers",
    ],
    read: |fields, config| {
        config.attention_bias = fields.flag("attention_bias")?.unwrap_or(true);
        config.output_bias = false;
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        window(fields, config)
    },
    ..Family::PLAIN
};

pub const QWEN3: Family = Family {
    name: "qwen3",
    model_types: &["qwen3"],
    architectures: &["qwen3"],
    // mlx-lm does not look at rope_traditional in this family.
    keys: &["sliding_window", "use_sliding_window", "max_window_layers"],
    read: |fields, config| {
        config.form.qk_norm = Some(HeadNorm::Heads);
        window(fields, config)
    },
    read_gguf: |_, config| {
        config.form.qk_norm = Some(HeadNorm::Heads);
        Ok(())
    },
    ..Family::PLAIN
};

pub const QWEN3_MOE: Family = Family {
    name: "qwen3_moe",
    model_types: &["qwen3_moe"],
    wide_modules: &["mlp.gate"],
    architectures: &["qwen3moe"],
    keys: &[
        "sliding_window",
        "use_sliding_window",
        "max_window_layers",
        "num_experts",
        "num_experts_per_tok",
        "moe_intermediate_size",
        "norm_topk_prob",
        "decoder_sparse_step",
        "mlp_only_layers",
    ],
    harmless: &["router_aux_loss_coef", "router_jitter_noise"],
    gguf_keys: &[
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
    ],
    read: |fields, config| {
        config.experts = Some(Experts::read(fields)?);
        (QWEN3.read)(fields, config)
    },
    read_gguf: |fields: &GgufFields, config| {
        config.experts = Some(Experts::read_gguf(fields)?);
        (QWEN3.read_gguf)(fields, config)
    },
    ..Family::PLAIN
};

pub const QWEN2_MOE: Family = Family {
    name: "qwen2_moe",
    model_types: &["qwen2_moe"],
    architectures: &["qwen2moe"],
    keys: &[
        "rope_traditional",
        "sliding_window",
        "use_sliding_window",
        "max_window_layers",
        "qkv_bias",
        "num_experts",
        "num_experts_per_tok",
        "moe_intermediate_size",
        "shared_expert_intermediate_size",
        "norm_topk_prob",
        "decoder_sparse_step",
        "mlp_only_layers",
    ],
    gguf_keys: &[
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "expert_shared_feed_forward_length",
    ],
    rope_theta: 1e6,
    read: |fields, config| {
        let key = "shared_expert_intermediate_size";
        config.experts = Some(Experts {
            shared: fields.needed(key, 1..=1 << 20)?,
            shared_gate: true,
            ..Experts::read(fields)?
        });
        (QWEN2.read)(fields, config)?;
        config.attention_bias = fields.flag("qkv_bias")?.unwrap_or(true);
        Ok(())
    },
    read_gguf: |fields, config| {
        config.experts = Some(Experts {
            normalize: false,
            shared: fields.needed("expert_shared_feed_forward_length", 1..=1 << 20)?,
            shared_gate: true,
            ..Experts::read_gguf(fields)?
        });
        Ok(())
    },
    harmless: QWEN3_MOE.harmless,
    quantizes: false,
    ..Family::PLAIN
};

/// The first `max_window_layers` layers see everything, 28 of them by default.
fn window(fields: &Fields, config: &mut Config) -> Result<()> {
    let Some(window) = fields.window()? else {
        return Ok(());
    };
    let is_used = fields.flag("use_sliding_window")? == Some(true);
    if fields.get("layer_types").is_some() || !is_used {
        return Ok(());
    }
    let full = fields.integer("max_window_layers", 0..=1 << 20)?;
    let full = full.unwrap_or(28);
    config.set_windows(Some(window), |layer| layer >= full);
    Ok(())
}
