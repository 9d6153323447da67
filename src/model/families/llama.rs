//! Llama 2 and 3, SmolLM2, Mistral.

use super::Family;

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
    // The converter permutes the rows of q and k.
    read_gguf: |_, config| {
        config.rope_interleaved = true;
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
