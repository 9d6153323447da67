//! EXAONE 4: norms of results only, and of heads; where layers have windows, those without do not turn.

use super::Family;
use crate::model::config::{Form, HeadNorm};

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
    ..Family::PLAIN
};
