//! Granite 3: llama with multipliers, dense or with experts.

use super::Family;
use crate::model::Config;
use crate::model::config::Experts;

pub const GRANITE: Family = Family {
    name: "granite",
    model_types: &["granite"],
    wide_modules: &["self_attn.o_proj", "mlp.down_proj", "lm_head"],
    keys: &[
        "embedding_multiplier",
        "residual_multiplier",
        "attention_multiplier",
        "logits_scaling",
    ],
    read: |fields, config| {
        let multiplier = |key: &str| Ok::<_, crate::Error>(fields.positive(key)?.unwrap_or(1.0));
        let residual = multiplier("residual_multiplier")?;
        scale(config, multiplier("embedding_multiplier")?, residual);
        config.form.score_scale = Some(multiplier("attention_multiplier")?);
        config.form.logit_scale = 1.0 / multiplier("logits_scaling")?;
        Ok(())
    },
    architectures: &["granite"],
    gguf_keys: &[
        "embedding_scale",
        "residual_scale",
        "attention.scale",
        "logit_scale",
        "rope.scaling.finetuned",
    ],
    read_gguf: |fields, config| {
        let multiplier = |key: &str| Ok::<_, crate::Error>(fields.positive(key)?.unwrap_or(1.0));
        let residual = multiplier("residual_scale")?;
        scale(config, multiplier("embedding_scale")?, residual);
        config.form.score_scale = fields.positive("attention.scale")?;
        config.form.logit_scale = 1.0 / multiplier("logit_scale")?;
        // The converter permutes the rows of q and k.
        config.rope_interleaved = true;
        // So these files say that nothing turns.
        if fields.flag("rope.scaling.finetuned")? == Some(false) {
            config.unturned_layers = vec![true; config.layers];
        }
        Ok(())
    },
    ..Family::PLAIN
};

/// Granite 3 with experts in place of MLPs.
pub const GRANITE_MOE: Family = Family {
    name: "granitemoe",
    model_types: &["granitemoe"],
    keys: &[
        "embedding_multiplier",
        "residual_multiplier",
        "attention_multiplier",
        "logits_scaling",
        "num_local_experts",
        "num_experts_per_tok",
    ],
    harmless: &["router_aux_loss_coef"],
    folder_modules: &[
        ("mlp.gate", "block_sparse_moe.router.layer"),
        ("mlp.switch_mlp.", "block_sparse_moe.switch_mlp."),
    ],
    read: |fields, config| {
        (GRANITE.read)(fields, config)?;
        // The softmax of the chosen ones is that of all, divided by their sum.
        let width = config.intermediate_size;
        config.experts = Some(Experts::counted(fields, "num_local_experts", width, true)?);
        Ok(())
    },
    architectures: &["granitemoe"],
    gguf_keys: &[
        "embedding_scale",
        "residual_scale",
        "attention.scale",
        "logit_scale",
        "rope.scaling.finetuned",
        "expert_count",
        "expert_used_count",
    ],
    read_gguf: |fields, config| {
        (GRANITE.read_gguf)(fields, config)?;
        let width = config.intermediate_size;
        config.experts = Some(Experts::counted_gguf(fields, width)?);
        Ok(())
    },
    quantizes: false,
    ..GRANITE
};

/// x = r·y: adding `f(norm(x)) · r` to x is adding `f(norm(x))` to y, and the norm of r·y is that of y with ε / r².
/// So the residual stream is kept as y, and nothing is multiplied.
pub fn scale(config: &mut Config, embedding: f32, residual: f32) {
    config.form.embedding_scale = embedding / residual;
    config.norm_eps /= residual * residual;
}
