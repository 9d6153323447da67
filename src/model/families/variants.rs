//! Families that differ from llama in a few keys: Phi 3 and 4, SmolLM3, Seed-OSS, InternLM 2 and 3, Hunyuan,
//! ERNIE 4.5, Apertus, Helium, Ministral 3.

use super::Family;
use crate::model::config::{Activation, Form, Growth, HeadNorm, Qkv, RopeScaling};

pub const PHI3: Family = Family {
    name: "phi3",
    model_types: &["phi3"],
    architectures: &["phi3"],
    gguf_modules: &[
        ("self_attn.qkv_proj", "attn_qkv"),
        ("mlp.gate_up_proj", "ffn_up"),
    ],
    keys: &[
        "rope_traditional",
        "partial_rotary_factor",
        "original_max_position_embeddings",
    ],
    context: 131_072,
    form: Form {
        qkv: Qkv::Together,
        gate_up: true,
        ..Form::LLAMA
    },
    read: |fields, config| {
        config.rope_dims = fields.rotated(config.head_dim, 1.0)?;
        let traditional = fields.flag("rope_traditional")?.unwrap_or(false);
        config.rope_interleaved =
            traditional && !matches!(config.rope_scaling, RopeScaling::Long { .. });
        Ok(())
    },
    ..Family::PLAIN
};

pub const SMOLLM3: Family = Family {
    name: "smollm3",
    model_types: &["smollm3"],
    architectures: &["smollm3"],
    read_gguf: |_, config| {
        config.unturned_layers = (0..config.layers)
            .map(|layer| (layer + 1) % 4 == 0)
            .collect();
        // The converter permutes the rows of q and k.
        config.rope_interleaved = true;
        Ok(())
    },
    keys: &[
        "rope_traditional",
        "no_rope_layers",
        "no_rope_layer_interval",
        "sliding_window",
    ],
    harmless: &["max_window_layers"],
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        config.unturned_layers = fields.unturned(config.layers)?;
        Ok(())
    },
    ..Family::PLAIN
};

pub const SEED_OSS: Family = Family {
    name: "seed_oss",
    model_types: &["seed_oss"],
    architectures: &["seed_oss"],
    gguf_modules: &[("post_attention_layernorm", "post_attention_norm")],
    keys: &["rope_traditional", "attention_out_bias"],
    harmless: &["residual_dropout"],
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        config.output_bias = fields.flag("attention_out_bias")?.unwrap_or(false);
        Ok(())
    },
    ..Family::PLAIN
};

pub const INTERNLM2: Family = Family {
    name: "internlm2",
    model_types: &["internlm2"],
    keys: &["rope_traditional", "bias"],
    form: Form {
        before_attention: Some("attention_norm"),
        before_mlp: Some("ffn_norm"),
        qkv: Qkv::Groups,
        ..Form::LLAMA
    },
    folder_modules: &[
        ("model.embed_tokens", "model.tok_embeddings"),
        ("lm_head", "output"),
        ("self_attn.qkv_proj", "attention.wqkv"),
        ("self_attn.o_proj", "attention.wo"),
        ("mlp.gate_proj", "feed_forward.w1"),
        ("mlp.up_proj", "feed_forward.w3"),
        ("mlp.down_proj", "feed_forward.w2"),
    ],
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        config.attention_bias = fields.flag("bias")?.unwrap_or(true);
        config.output_bias = config.attention_bias;
        Ok(())
    },
    architectures: &["internlm2"],
    gguf_modules: &[("attention_norm", "attn_norm"), ("ffn_norm", "ffn_norm")],
    read_gguf: |_, config| {
        // The converter takes q, k and v apart and permutes the rows of q and k.
        config.form.qkv = Qkv::Apart;
        config.rope_interleaved = true;
        Ok(())
    },
    ..Family::PLAIN
};

pub const INTERNLM3: Family = Family {
    name: "internlm3",
    model_types: &["internlm3"],
    keys: &["rope_traditional", "bias", "qkv_bias"],
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        config.attention_bias = fields.flag("qkv_bias")?.unwrap_or(false);
        config.output_bias = config.attention_bias;
        config.mlp_bias = fields.flag("bias")?.unwrap_or(false);
        Ok(())
    },
    ..Family::PLAIN
};

pub const HUNYUAN: Family = Family {
    name: "hunyuan_v1_dense",
    model_types: &["hunyuan_v1_dense"],
    keys: &["use_qk_norm"],
    read: |fields, config| {
        config.form.qk_norm = match fields.flag("use_qk_norm")? {
            Some(false) => None,
            _ => Some(HeadNorm::Turned),
        };
        Ok(())
    },
    architectures: &["hunyuan-dense"],
    gguf_modules: &[
        ("self_attn.query_layernorm", "attn_q_norm"),
        ("self_attn.key_layernorm", "attn_k_norm"),
    ],
    read_gguf: |_, config| {
        config.form.qk_norm = Some(HeadNorm::Turned);
        Ok(())
    },
    ..Family::PLAIN
};

pub const ERNIE: Family = Family {
    name: "ernie4_5",
    model_types: &["ernie4_5"],
    architectures: &["ernie4_5"],
    // The converter permutes the rows of q and k.
    read_gguf: |_, config| {
        config.rope_interleaved = true;
        Ok(())
    },
    keys: &["use_bias"],
    read: |fields, config| {
        let bias = fields.flag("use_bias")?.unwrap_or(false);
        (config.attention_bias, config.output_bias, config.mlp_bias) = (bias, bias, bias);
        config.rope_interleaved = true;
        Ok(())
    },
    ..Family::PLAIN
};

pub const APERTUS: Family = Family {
    name: "apertus",
    model_types: &["apertus"],
    keys: &["rope_traditional", "qk_norm"],
    form: Form {
        before_attention: Some("attention_layernorm"),
        before_mlp: Some("feedforward_layernorm"),
        qk_norm: Some(HeadNorm::Heads),
        gated: false,
        activation: Activation::Xielu,
        ..Form::LLAMA
    },
    architectures: &["apertus"],
    gguf_modules: &[
        ("attention_layernorm", "attn_norm"),
        ("feedforward_layernorm", "ffn_norm"),
    ],
    read_gguf: |fields, _| {
        let mut keys = ["xielu.alpha_p", "xielu.alpha_n"].iter();
        keys.try_for_each(|key| fields.needs(key))
    },
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        Ok(())
    },
    ..Family::PLAIN
};

pub const HELIUM: Family = Family {
    name: "helium",
    model_types: &["helium"],
    read: |_, config| {
        config.output_bias = false;
        config.rope_interleaved = true;
        Ok(())
    },
    ..Family::PLAIN
};

pub const MINISTRAL3: Family = Family {
    name: "ministral3",
    model_types: &["ministral3"],
    keys: &["sliding_window"],
    read: |fields, config| {
        let Some(rope) = fields.fields("rope_parameters")? else {
            return Ok(());
        };
        let beta = rope.number("llama_4_scaling_beta", 0.0..=1e3)?;
        let original = rope.integer("original_max_position_embeddings", 1..=1 << 30)?;
        if let (Some(beta), Some(original)) = (beta.filter(|beta| *beta > 0.0), original) {
            config.form.query_growth = Some(Growth {
                beta: beta as f32,
                length: original as f32,
                from: 0.0,
                still_only: false,
            });
        }
        Ok(())
    },
    architectures: &["mistral3"],
    gguf_keys: &[
        "attention.temperature_scale",
        "rope.scaling.yarn_log_multiplier",
    ],
    read_gguf: |fields, config| {
        // The converter permutes the rows of q and k.
        config.rope_interleaved = true;
        let beta = fields.positive("attention.temperature_scale")?;
        let original = fields.integer("rope.scaling.original_context_length", 1..=1 << 30)?;
        config.form.query_growth = match (beta, original) {
            (Some(beta), Some(original)) => Some(Growth {
                beta,
                length: original as f32,
                from: 0.0,
                still_only: false,
            }),
            (Some(_), None) => {
                let key = "rope.scaling.original_context_length";
                return Err(fields.bad(key, "missing beside attention.temperature_scale"));
            }
            _ => None,
        };
        // It is mscale_all_dim, beside an mscale of 1.
        if let Some(all) = fields.positive("rope.scaling.yarn_log_multiplier")? {
            config.rope_scaling.divide_magnitude(all);
        }
        Ok(())
    },
    ..Family::PLAIN
};
