//! Llama 2 and 3, SmolLM2, Mistral.

use super::{Family, mixtures};
use crate::model::config::Experts;

pub const LLAMA: Family = Family {
    name: "llama",
    model_types: &["llama"],
    architectures: &["llama"],
    keys: &["rope_traditional"],
    context: 2048,
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        Ok(())
    },
    gguf_keys: &["expert_count", "expert_used_count"],
    read_gguf: |fields, config| {
        // The converter permutes the rows of q and k.
        config.rope_interleaved = true;
        // Converters call Mixtral llama, too.
        if fields.integer("expert_count", 0..=1 << 16)?.unwrap_or(0) > 0 {
            let width = config.intermediate_size;
            config.experts = Some(Experts::counted_gguf(fields, width)?);
            config.family = &mixtures::MIXTRAL;
        }
        Ok(())
    },
    ..Family::PLAIN
};

/// Converters to GGUF call it llama. The text tower of mistral3 has this form where it does not say otherwise.
pub const MISTRAL: Family = Family {
    model_types: &["mistral", "mistral3"],
    architectures: &[],
    keys: &["rope_traditional", "sliding_window"],
    read: |fields, config| {
        if fields.get("layer_types").is_none() {
            config.sliding_window = fields.window()?;
        }
        (LLAMA.read)(fields, config)
    },
    ..LLAMA
};
