//! Command R7B and its relatives: attention and MLP beside each other behind one layer norm; layers that see
//! everything do not turn.

use super::Family;
use crate::model::config::{Form, NormKind};

pub const COHERE2: Family = Family {
    name: "cohere2",
    model_types: &["cohere2"],
    keys: &[
        "layer_norm_eps",
        "layer_norm_bias",
        "logit_scale",
        "sliding_window",
        "sliding_window_pattern",
    ],
    harmless: &[
        "use_embedding_sharing",
        "use_gated_activation",
        "use_parallel_block",
        "use_parallel_embedding",
        "position_embedding_type",
        "order_of_interleaved_layers",
    ],
    rope_theta: 50_000.0,
    form: Form {
        norm: NormKind::Layer,
        before_mlp: None,
        parallel: true,
        ..Form::LLAMA
    },
    read: |fields, config| {
        config.norm_eps = fields.norm_eps("layer_norm_eps", 1e-5)?;
        if fields.flag("layer_norm_bias")? == Some(true) {
            config.form.norm = NormKind::LayerBias;
        }
        config.form.logit_scale = fields.positive("logit_scale")?.unwrap_or(0.0625);
        config.tied_embeddings = true;
        config.rope_interleaved = true;
        if fields.get("layer_types").is_none() {
            let pattern = fields.integer("sliding_window_pattern", 1..=1024)?;
            let pattern = pattern.unwrap_or(4);
            let window = fields.window()?.unwrap_or(4096);
            config.set_windows(Some(window), |layer| (layer + 1) % pattern != 0);
        }
        let layers = 0..config.layers;
        config.unturned_layers = layers.map(|layer| config.window(layer).is_none()).collect();
        Ok(())
    },
    architectures: &["cohere2"],
    gguf_keys: &["logit_scale", "attention.sliding_window"],
    read_gguf: |fields, config| {
        config.form.logit_scale = fields.positive("logit_scale")?.unwrap_or(1.0);
        config.rope_interleaved = true;
        config.set_windows(fields.window()?, |layer| (layer + 1) % 4 != 0);
        let layers = 0..config.layers;
        config.unturned_layers = layers.map(|layer| config.window(layer).is_none()).collect();
        Ok(())
    },
    ..Family::PLAIN
};
