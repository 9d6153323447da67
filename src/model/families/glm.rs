//! GLM 4: norms of results too, half of each head turned, gate and up in one matrix.

use super::Family;
use crate::model::config::Form;

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
