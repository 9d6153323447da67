//! Mixtures of experts around llama's block: Mixtral, OLMoE.

use super::Family;
use crate::model::config::{Experts, Form, HeadNorm};

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
        (
            "mlp.switch_mlp.gate_proj",
            "block_sparse_moe.switch_mlp.gate_proj",
        ),
        (
            "mlp.switch_mlp.up_proj",
            "block_sparse_moe.switch_mlp.up_proj",
        ),
        (
            "mlp.switch_mlp.down_proj",
            "block_sparse_moe.switch_mlp.down_proj",
        ),
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
    ..Family::PLAIN
};
