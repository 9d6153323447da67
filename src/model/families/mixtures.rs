//! Mixtures of experts around llama's block: Mixtral, OLMoE, dots.1, ERNIE 4.5, Phi 3.5, MiniMax.

use super::Family;
use crate::ir::{Number, Scores};
use crate::model::config::{Correction, Experts, Form, HeadNorm, NormKind};

pub const MIXTRAL: Family = Family {
    name: "mixtral",
    model_types: &["mixtral"],
    keys: &[
        "rope_traditional",
        "num_local_experts",
        "num_experts_per_tok",
    ],
    harmless: &["router_aux_loss_coef", "router_jitter_noise"],
    rope_theta: 1e6,
    folder_modules: &[
        ("mlp.gate", "block_sparse_moe.gate"),
        ("mlp.switch_mlp.", "block_sparse_moe.switch_mlp."),
    ],
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        // The softmax of the chosen ones is that of all, divided by their sum.
        let width = config.intermediate_size;
        config.experts = Some(Experts::counted(fields, "num_local_experts", width, true)?);
        Ok(())
    },
    ..Family::PLAIN
};

pub const OLMOE: Family = Family {
    name: "olmoe",
    model_types: &["olmoe"],
    keys: &[
        "rope_traditional",
        "num_experts",
        "num_experts_per_tok",
        "norm_topk_prob",
    ],
    harmless: &["router_aux_loss_coef"],
    form: Form {
        qk_norm: Some(HeadNorm::Width),
        ..Form::LLAMA
    },
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        let normalize = fields.flag("norm_topk_prob")?.unwrap_or(false);
        let width = config.intermediate_size;
        config.experts = Some(Experts::counted(fields, "num_experts", width, normalize)?);
        Ok(())
    },
    architectures: &["olmoe"],
    gguf_keys: &["expert_count", "expert_used_count"],
    read_gguf: |fields, config| {
        let width = config.intermediate_size;
        config.experts = Some(Experts {
            normalize: false,
            ..Experts::counted_gguf(fields, width)?
        });
        Ok(())
    },
    ..Family::PLAIN
};

pub const DOTS1: Family = Family {
    name: "dots1",
    model_types: &["dots1"],
    keys: &[
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
        "sliding_window",
        "max_window_layers",
        "use_sliding_window",
    ],
    form: NORMED_HEADS,
    folder_modules: &[
        ("mlp.correction", "mlp.gate.e_score_correction_bias"),
        ("mlp.switch_mlp.", "mlp.experts."),
        ("mlp.shared_expert.", "mlp.shared_experts."),
    ],
    read: |fields, config| {
        if fields.window()?.is_some() && fields.flag("use_sliding_window")? == Some(true) {
            let what = "windows are not supported in this family";
            return Err(fields.unsupported("use_sliding_window", what));
        }
        Experts::routed(fields, config)
    },
    architectures: &["dots1"],
    gguf_keys: &[
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "expert_shared_count",
        "expert_weights_scale",
        "expert_weights_norm",
        "expert_gating_func",
        "leading_dense_block_count",
    ],
    read_gguf: |fields, config| Experts::routed_gguf(fields, config),
    quantizes: false,
    ..Family::PLAIN
};

/// Norms of q and k heads.
const NORMED_HEADS: Form = Form {
    qk_norm: Some(HeadNorm::Heads),
    ..Form::LLAMA
};

pub const ERNIE_MOE: Family = Family {
    name: "ernie4_5_moe",
    model_types: &["ernie4_5_moe"],
    keys: &[
        "use_bias",
        "moe_num_experts",
        "moe_k",
        "moe_intermediate_size",
        "moe_num_shared_experts",
        "moe_layer_start_index",
        "moe_layer_end_index",
        "moe_layer_interval",
        "moe_gate_act",
    ],
    harmless: &[
        "moe_capacity",
        "moe_use_aux_free",
        "moe_norm_min",
        "router_aux_loss_coef",
        "num_nextn_predict_layers",
    ],
    rope_theta: 500_000.0,
    folder_modules: &[
        ("mlp.correction", "mlp.moe_statics.e_score_correction_bias"),
        ("mlp.shared_expert.", "mlp.shared_experts."),
    ],
    read: |fields, config| {
        let bias = fields.flag("use_bias")?.unwrap_or(false);
        (config.attention_bias, config.output_bias, config.mlp_bias) = (bias, bias, bias);
        config.rope_interleaved = true;
        let width = fields.integer("moe_intermediate_size", 0..=1 << 20)?;
        let width = width.filter(|width| *width > 0);
        let width = width.unwrap_or(config.intermediate_size);
        let shared = fields.integer("moe_num_shared_experts", 0..=1 << 16)?;
        config.experts = Some(Experts {
            normalize: true,
            scores: match fields.text("moe_gate_act")? {
                None | Some("softmax") => Scores::Softmax,
                Some("sigmoid") => Scores::Sigmoid,
                Some(other) => {
                    let what = format_args!("{other:?}; softmax and sigmoid are supported");
                    return Err(fields.unsupported("moe_gate_act", what));
                }
            },
            // Files of mlx-lm leave it out.
            correction: Correction::Maybe,
            biases: bias,
            shared: shared.unwrap_or(0) * width,
            ..Experts::keyed(fields, ["moe_num_experts", "moe_k"], width)?
        });
        let number = |key: &str| fields.integer(key, 0..=1 << 20);
        let first = number("moe_layer_start_index")?.unwrap_or(0);
        let last = number("moe_layer_end_index")?.unwrap_or(config.layers - 1);
        let every = number("moe_layer_interval")?.unwrap_or(1).max(1);
        config.set_experts(|layer| (layer + 1) % every == 0 && (first..=last).contains(&layer));
        Ok(())
    },
    architectures: &["ernie4_5-moe"],
    gguf_keys: &[
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "expert_shared_count",
        "expert_shared_feed_forward_length",
        "interleave_moe_layer_step",
        "leading_dense_block_count",
    ],
    read_gguf: |fields, config| {
        // The converter permutes the rows of q and k.
        config.rope_interleaved = true;
        let experts = Experts::read_gguf(fields)?;
        // What the metadata says of its width is not it.
        let last = config.layers - 1;
        let shared = fields.rows(&format!("blk.{last}.ffn_gate_shexp.weight"));
        config.experts = Some(Experts {
            correction: Correction::Maybe,
            shared: shared.unwrap_or(0),
            ..experts
        });
        let number = |key: &str| fields.integer(key, 0..=1 << 20);
        let first = number("leading_dense_block_count")?.unwrap_or(0);
        let every = number("interleave_moe_layer_step")?.unwrap_or(1).max(1);
        config.set_experts(|layer| layer >= first && (layer + 1) % every == 0);
        Ok(())
    },
    quantizes: false,
    ..Family::PLAIN
};

pub const PHIMOE: Family = Family {
    name: "phimoe",
    model_types: &["phimoe"],
    keys: &[
        "num_local_experts",
        "num_experts_per_tok",
        "router_jitter_noise",
        "original_max_position_embeddings",
        "lm_head_bias",
        "sliding_window",
    ],
    harmless: &["router_aux_loss_coef", "input_jitter_noise"],
    context: 131_072,
    form: Form {
        norm: NormKind::LayerBias,
        ..Form::LLAMA
    },
    folder_modules: MIXTRAL.folder_modules,
    read: |fields, config| {
        let bias = fields.flag("attention_bias")?.unwrap_or(true);
        (config.attention_bias, config.output_bias) = (bias, bias);
        config.head_bias = fields.flag("lm_head_bias")?.unwrap_or(true);
        if fields
            .window()?
            .is_some_and(|window| window < config.context_length)
        {
            return Err(fields.unsupported("sliding_window", "narrower than the context"));
        }
        let noise = fields
            .number("router_jitter_noise", 0.0..=1.0)?
            .unwrap_or(0.01);
        let width = config.intermediate_size;
        config.experts = Some(Experts {
            scores: Scores::Band(Number::new(2.0 * noise)),
            ..Experts::counted(fields, "num_local_experts", width, false)?
        });
        Ok(())
    },
    architectures: &["phimoe"],
    gguf_keys: &[
        "attention.layer_norm_rms_epsilon",
        "expert_count",
        "expert_used_count",
    ],
    read_gguf: |fields, config| {
        // As llama.cpp: its form of this model has RMS norms with biases and a usual router, where the model's makers
        // (and so folders) have layer norms and a router of their own.
        config.form.norm = NormKind::RmsBias;
        let width = config.intermediate_size;
        config.experts = Some(Experts::counted_gguf(fields, width)?);
        Ok(())
    },
    quantizes: false,
    ..Family::PLAIN
};

pub const MINIMAX: Family = Family {
    name: "minimax",
    model_types: &["minimax", "minimax_m2"],
    keys: &[
        "num_local_experts",
        "num_experts_per_tok",
        "rotary_dim",
        "use_qk_norm",
        "qk_norm_type",
        "scoring_func",
        "shared_intermediate_size",
        "use_routing_bias",
    ],
    harmless: &[
        "router_aux_loss_coef",
        "router_jitter_noise",
        "use_mtp",
        "num_mtp_modules",
        "mtp_transformer_layers",
    ],
    folder_modules: &[
        ("mlp.gate", "block_sparse_moe.gate"),
        ("mlp.switch_mlp.", "block_sparse_moe.switch_mlp."),
        ("mlp.correction", "block_sparse_moe.e_score_correction_bias"),
    ],
    read: |fields, config| {
        for (key, supported) in [("scoring_func", "sigmoid"), ("qk_norm_type", "per_layer")] {
            if fields.text(key)?.is_some_and(|given| given != supported) {
                return Err(fields.unsupported(key, format_args!("only {supported} is supported")));
            }
        }
        if fields
            .integer("shared_intermediate_size", 0..=1 << 20)?
            .unwrap_or(0)
            > 0
        {
            return Err(fields.unsupported("shared_intermediate_size", "shared experts"));
        }
        if fields.flag("use_qk_norm")? != Some(false) {
            config.form.qk_norm = Some(HeadNorm::Width);
        }
        if let Some(dims) = fields.integer("rotary_dim", 2..=1 << 12)? {
            config.rope_dims = dims;
        }
        let width = config.intermediate_size;
        config.experts = Some(Experts {
            scores: Scores::Sigmoid,
            correction: match fields.flag("use_routing_bias")? {
                Some(false) => Correction::Never,
                _ => Correction::Always,
            },
            ..Experts::counted(fields, "num_local_experts", width, true)?
        });
        Ok(())
    },
    architectures: &["minimax-m2"],
    gguf_keys: &[
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "expert_gating_func",
    ],
    read_gguf: |fields, config| {
        config.form.qk_norm = Some(HeadNorm::Width);
        config.experts = Some(Experts {
            scores: Experts::scores_gguf(fields, Scores::Sigmoid)?,
            correction: Correction::Maybe,
            ..Experts::read_gguf(fields)?
        });
        Ok(())
    },
    quantizes: false,
    ..Family::PLAIN
};
