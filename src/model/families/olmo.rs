//! OLMo 2 and 3: norms of results only, and of all queries or keys together; in 3 windows.

use super::Family;
use crate::model::config::{Form, HeadNorm, RopeScaling};

pub const OLMO2: Family = Family {
    name: "olmo2",
    model_types: &["olmo2"],
    architectures: &["olmo2"],
    gguf_keys: &["attention.sliding_window"],
    gguf_modules: &[
        ("post_attention_layernorm", "post_attention_norm"),
        ("post_feedforward_layernorm", "post_ffw_norm"),
    ],
    read_gguf: |fields, config| {
        // OLMo 3 has the name of 2 there, and a window.
        config.set_windows(fields.window()?, |layer| (layer + 1) % 4 != 0);
        if config.sliding_window.is_some() && config.rope_scaling != RopeScaling::None {
            config.form.local_rope_theta = Some(config.rope_theta);
        }
        Ok(())
    },
    keys: &["rope_traditional"],
    form: Form {
        before_attention: None,
        after_attention: Some("post_attention_layernorm"),
        before_mlp: None,
        after_mlp: Some("post_feedforward_layernorm"),
        qk_norm: Some(HeadNorm::Width),
        ..Form::LLAMA
    },
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        Ok(())
    },
    ..Family::PLAIN
};

pub const OLMO3: Family = Family {
    name: "olmo3",
    model_types: &["olmo3"],
    keys: &["sliding_window"],
    form: OLMO2.form,
    read: |fields, config| {
        if fields.get("layer_types").is_none() {
            config.set_windows(fields.window()?, |layer| (layer + 1) % 4 != 0);
        }
        // Only layers that see everything have scaled frequencies.
        if config.rope_scaling != RopeScaling::None {
            config.form.local_rope_theta = Some(config.rope_theta);
        }
        Ok(())
    },
    ..Family::PLAIN
};
