//! Gemma 1, 2 and 3 (their text towers): norms around 1, scaled embeddings, GELU; in 2 norms of results too and
//! soft caps; in 3 norms of heads and windows with a RoPE base of their own.

use super::Family;
use crate::Result;
use crate::model::Config;
use crate::model::config::{Activation, Fields, Form, HeadNorm};
use half::bf16;

pub const GEMMA: Family = Family {
    name: "gemma",
    model_types: &["gemma"],
    architectures: &["gemma"],
    keys: &["rope_traditional"],
    form: Form {
        norm_offset: 1.0,
        activation: Activation::GeluTanh,
        ..Form::LLAMA
    },
    read: |fields, config| {
        // Old files call it gelu and mean the other one: so transformers.
        config.form.activation = Activation::GeluTanh;
        config.form.embedding_scale = (config.hidden_size as f32).sqrt();
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        Ok(())
    },
    read_gguf: |_, config| {
        // The converter adds the 1.
        config.form.norm_offset = 0.0;
        config.form.embedding_scale = (config.hidden_size as f32).sqrt();
        Ok(())
    },
    ..Family::PLAIN
};

/// GGUF names of the norms of 2 and 3.
const GGUF_NORMS: &[(&str, &str)] = &[
    ("post_attention_layernorm", "post_attention_norm"),
    ("pre_feedforward_layernorm", "ffn_norm"),
    ("post_feedforward_layernorm", "post_ffw_norm"),
];

/// Norms before and after both parts of a block.
const SANDWICH: Form = Form {
    after_attention: Some("post_attention_layernorm"),
    before_mlp: Some("pre_feedforward_layernorm"),
    after_mlp: Some("post_feedforward_layernorm"),
    ..GEMMA.form
};

pub const GEMMA2: Family = Family {
    name: "gemma2",
    model_types: &["gemma2"],
    keys: &[
        "rope_traditional",
        "sliding_window",
        "attn_logit_softcapping",
        "final_logit_softcapping",
        "query_pre_attn_scalar",
    ],
    form: SANDWICH,
    read: |fields, config| {
        (GEMMA.read)(fields, config)?;
        config.form.score_scale = Some(score_scale(fields, 144.0)?);
        config.form.score_cap = cap(fields, "attn_logit_softcapping", 50.0)?;
        config.form.logit_cap = cap(fields, "final_logit_softcapping", 30.0)?;
        if fields.get("layer_types").is_none() {
            config.set_windows(fields.window()?, |layer| layer % 2 == 0);
        }
        Ok(())
    },
    architectures: &["gemma2"],
    gguf_keys: &[
        "attn_logit_softcapping",
        "final_logit_softcapping",
        "attention.sliding_window",
    ],
    gguf_modules: GGUF_NORMS,
    read_gguf: |fields, config| {
        (GEMMA.read_gguf)(fields, config)?;
        config.form.score_scale = Some(gguf_score_scale(config, 46));
        let cap =
            |key: &str, default| Ok::<_, crate::Error>(fields.positive(key)?.or(Some(default)));
        config.form.score_cap = cap("attn_logit_softcapping", 50.0)?;
        config.form.logit_cap = cap("final_logit_softcapping", 30.0)?;
        config.set_windows(fields.window()?, |layer| layer % 2 == 0);
        Ok(())
    },
    ..Family::PLAIN
};

pub const GEMMA3: Family = Family {
    name: "gemma3",
    model_types: &["gemma3_text", "gemma3"],
    keys: &[
        "sliding_window",
        "sliding_window_pattern",
        "rope_local_base_freq",
        "query_pre_attn_scalar",
        "final_logit_softcapping",
        "attn_logit_softcapping",
    ],
    // Of the form with a vision tower, whose text_config leaves out what is usual.
    sizes: &[
        ("num_attention_heads", 8),
        ("num_key_value_heads", 4),
        ("head_dim", 256),
        ("vocab_size", 262_208),
    ],
    rope_theta: 1e6,
    form: Form {
        qk_norm: Some(HeadNorm::Heads),
        ..SANDWICH
    },
    read: |fields, config| {
        config.form.activation = Activation::GeluTanh;
        // It is a number of the weights' dtype.
        let scale = bf16::from_f32((config.hidden_size as f32).sqrt());
        config.form.embedding_scale = scale.to_f32();
        config.form.score_scale = Some(score_scale(fields, 256.0)?);
        // Files say null.
        config.form.score_cap = fields.positive("attn_logit_softcapping")?;
        config.form.logit_cap = fields.positive("final_logit_softcapping")?;
        let local = fields.positive("rope_local_base_freq")?;
        let local = config.form.local_rope_theta.or(local);
        config.form.local_rope_theta = Some(local.unwrap_or(10_000.0));
        if fields.get("layer_types").is_none() {
            let pattern = fields.integer("sliding_window_pattern", 1..=1024)?;
            let pattern = pattern.unwrap_or(6);
            let window = fields.window()?.unwrap_or(512);
            config.set_windows(Some(window), |layer| (layer + 1) % pattern != 0);
        }
        Ok(())
    },
    architectures: &["gemma3"],
    gguf_keys: &[
        "final_logit_softcapping",
        "attention.sliding_window",
        "rope.freq_base_swa",
    ],
    gguf_modules: GGUF_NORMS,
    read_gguf: |fields, config| {
        (GEMMA.read_gguf)(fields, config)?;
        config.form.score_scale = Some(gguf_score_scale(config, 62));
        config.form.logit_cap = fields.positive("final_logit_softcapping")?;
        let local = fields.positive("rope.freq_base_swa")?;
        config.form.local_rope_theta = Some(local.unwrap_or(10_000.0));
        config.set_windows(fields.window()?, |layer| (layer + 1) % 6 != 0);
        Ok(())
    },
    ..Family::PLAIN
};

fn score_scale(fields: &Fields, default: f32) -> Result<f32> {
    let scalar = fields.positive("query_pre_attn_scalar")?;
    Ok(1.0 / scalar.unwrap_or(default).sqrt())
}

/// GGUF files do not say; llama.cpp goes by the layers of the model that is an exception.
fn gguf_score_scale(config: &Config, layers: usize) -> f32 {
    let width = match config.layers == layers {
        true => config.hidden_size / config.heads,
        false => config.head_dim,
    };
    1.0 / (width as f32).sqrt()
}

/// A soft cap; `null` is none.
fn cap(fields: &Fields, key: &str, default: f32) -> Result<Option<f32>> {
    match fields.is_null(key) {
        true => Ok(None),
        false => Ok(Some(fields.positive(key)?.unwrap_or(default))),
    }
}
