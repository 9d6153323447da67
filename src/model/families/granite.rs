//! Granite 3: llama with multipliers.

use super::Family;
use crate::model::Config;

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
    ],
    read_gguf: |fields, config| {
        let multiplier = |key: &str| Ok::<_, crate::Error>(fields.positive(key)?.unwrap_or(1.0));
        let residual = multiplier("residual_scale")?;
        scale(config, multiplier("embedding_scale")?, residual);
        config.form.score_scale = fields.positive("attention.scale")?;
        config.form.logit_scale = 1.0 / multiplier("logit_scale")?;
        // The converter permutes the rows of q and k.
        config.rope_interleaved = true;
        Ok(())
    },
    ..Family::PLAIN
};

/// x = r·y: adding `f(norm(x)) · r` to x is adding `f(norm(x))` to y, and the norm of r·y is that of y with ε / r².
/// So the residual stream is kept as y, and nothing is multiplied.
fn scale(config: &mut Config, embedding: f32, residual: f32) {
    config.form.embedding_scale = embedding / residual;
    config.norm_eps /= residual * residual;
}
