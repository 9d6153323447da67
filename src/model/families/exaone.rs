//! EXAONE 4: norms of results only, and of heads; where layers have windows, those without do not turn.

use super::Family;
use super::olmo::OLMO2;
use crate::model::config::{Form, HeadNorm};

/// Of EXAONE 4 with 32 billion parameters.
const LAYERS_OF_LARGE: usize = 64;

pub const EXAONE4: Family = Family {
    name: "exaone4",
    model_types: &["exaone4"],
    keys: &["sliding_window", "sliding_window_pattern"],
    form: Form {
        before_attention: None,
        after_attention: Some("post_attention_layernorm"),
        before_mlp: None,
        after_mlp: Some("post_feedforward_layernorm"),
        qk_norm: Some(HeadNorm::Heads),
        ..Form::LLAMA
    },
    read: |fields, config| {
        let window = fields.window()?;
        let pattern = fields.text("sliding_window_pattern")?.unwrap_or("");
        let wrong = pattern.chars().any(|c| !matches!(c, 'L' | 'G'));
        if wrong {
            return Err(fields.unsupported("sliding_window_pattern", "L and G are supported"));
        }
        let pattern = pattern.as_bytes();
        if !pattern.is_empty() {
            config.set_windows(window, |layer| pattern[layer % pattern.len()] == b'L');
        }
        if window.is_some() && (!pattern.is_empty() || fields.get("layer_types").is_some()) {
            let layers = 0..config.layers;
            config.unturned_layers = layers.map(|layer| config.window(layer).is_none()).collect();
        }
        Ok(())
    },
    architectures: &["exaone4"],
    gguf_keys: &[
        "attention.sliding_window",
        "attention.sliding_window_pattern",
    ],
    gguf_modules: OLMO2.gguf_modules,
    read_gguf: |fields, config| {
        // As llama.cpp: the large one has windows, whatever the metadata of others says.
        if config.layers == LAYERS_OF_LARGE {
            config.set_windows(fields.window()?.or(Some(4096)), |layer| {
                (layer + 1) % 4 != 0
            });
            config.unturned_layers = (1..=config.layers).map(|layer| layer % 4 == 0).collect();
        }
        Ok(())
    },
    ..Family::PLAIN
};
