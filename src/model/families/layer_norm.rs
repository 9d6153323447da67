//! Families with layer norms: StarCoder 2, StableLM 2, Nemotron.

use super::Family;
use crate::model::config::{Activation, Form, HeadNorm, NormKind};

pub const STARCODER2: Family = Family {
    name: "starcoder2",
    model_types: &["starcoder2"],
    architectures: &["starcoder2"],
    keys: &["use_bias", "norm_epsilon", "sliding_window"],
    harmless: &[
        "norm_type",
        "mlp_type",
        "residual_dropout",
        "embedding_dropout",
    ],
    rope_theta: 100_000.0,
    form: Form {
        norm: NormKind::LayerBias,
        gated: false,
        activation: Activation::GeluTanh,
        ..Form::LLAMA
    },
    folder_modules: &[("mlp.up_proj", "mlp.c_fc"), ("mlp.down_proj", "mlp.c_proj")],
    read: |fields, config| {
        config.norm_eps = fields.norm_eps("norm_epsilon", 1e-5)?;
        let bias = fields.flag("use_bias")?.unwrap_or(true);
        (config.attention_bias, config.output_bias, config.mlp_bias) = (bias, bias, bias);
        if fields.get("layer_types").is_none() {
            config.set_windows(fields.window()?, |_| true);
        }
        Ok(())
    },
    ..Family::PLAIN
};

pub const STABLELM: Family = Family {
    name: "stablelm",
    model_types: &["stablelm"],
    keys: &[
        "layer_norm_eps",
        "use_qkv_bias",
        "use_parallel_residual",
        "qk_layernorm",
        "partial_rotary_factor",
    ],
    harmless: &["rotary_scaling_factor"],
    form: Form {
        norm: NormKind::LayerBias,
        ..Form::LLAMA
    },
    read: |fields, config| {
        config.norm_eps = fields.norm_eps("layer_norm_eps", 1e-5)?;
        config.attention_bias = fields.flag("use_qkv_bias")?.unwrap_or(false);
        config.output_bias = false;
        config.rope_dims = fields.rotated(config.head_dim, 0.25)?;
        if fields.flag("use_parallel_residual")? == Some(true) {
            config.form.parallel = true;
            config.form.before_mlp = None;
        }
        if fields.flag("qk_layernorm")? == Some(true) {
            config.form.qk_norm = Some(HeadNorm::LayerEach);
        }
        Ok(())
    },
    architectures: &["stablelm"],
    gguf_keys: &["use_parallel_residual"],
    read_gguf: |fields, config| {
        // As llama.cpp, by the tensors.
        if !fields.has("blk.0.ffn_norm.weight") {
            config.form.parallel = true;
            config.form.before_mlp = None;
        }
        if fields.has("blk.0.attn_q_norm.weight") {
            config.form.qk_norm = Some(HeadNorm::LayerEach);
        }
        Ok(())
    },
    ..Family::PLAIN
};

pub const NEMOTRON: Family = Family {
    name: "nemotron",
    model_types: &["nemotron"],
    keys: &["norm_eps", "partial_rotary_factor"],
    form: Form {
        norm: NormKind::LayerBias,
        norm_offset: 1.0,
        gated: false,
        activation: Activation::ReluSquared,
        ..Form::LLAMA
    },
    read: |fields, config| {
        config.norm_eps = fields.norm_eps("norm_eps", 1e-5)?;
        config.rope_dims = fields.rotated(config.head_dim, 0.5)?;
        Ok(())
    },
    architectures: &["nemotron"],
    read_gguf: |_, config| {
        // The converter adds it.
        config.form.norm_offset = 0.0;
        Ok(())
    },
    ..Family::PLAIN
};
