//! Tensors of a file that the model's family does not read.
//!
//! mlx-lm and llama.cpp refuse files with any but a few of them, because they are signs of an architecture that is
//! not quite the one the config names: attention sinks, norms of heads, experts, biases, further layers.

use crate::formats::brief;
use crate::log::{self, Level};
use crate::model::Config;
use crate::{Error, Result};
use std::path::Path;

/// RoPE frequencies, which follow from the config.
const FREQUENCIES: [&str; 5] = [
    "rotary_emb.inv_freq",
    "attn_rot_embd.weight",
    "rope_freqs.weight",
    "rope_factors_long.weight",
    "rope_factors_short.weight",
];

/// Parts of a model that see or hear; a text does not go through them.
const OTHER_SENSES: [&str; 14] = [
    "vision_tower.",
    "vision_model.",
    "vision_encoder.",
    "vision_embed_tokens.",
    "vision_projection.",
    "visual.",
    "multi_modal_projector.",
    "mm_projector.",
    "image_newline",
    "patch_merger.",
    "audio_tower.",
    "audio_model.",
    "audio_projector.",
    "audio_encoder.",
];

/// Whether nobody asks for such a tensor. `tied`: the output head is the embedding.
pub(super) fn is_expected(name: &str, tied: bool) -> bool {
    FREQUENCIES.iter().any(|end| name.ends_with(end)) || tied && name.ends_with("lm_head.weight")
}

/// Whether a tensor belongs to layers that predict further tokens, which nothing here runs.
pub(super) fn is_predicting(name: &str, config: &Config) -> bool {
    let begins = ["blk.", "model.layers.", "language_model.model.layers."];
    let block = begins.iter().find_map(|begin| {
        let (block, _) = name.strip_prefix(begin)?.split_once('.')?;
        block.parse::<usize>().ok()
    });
    let behind = config.layers..config.layers + config.predicting;
    block.is_some_and(|block| behind.contains(&block))
        || (config.delta.is_some() || config.family.name == "nemotron_h")
            && ["mtp.", "model.mtp.", "language_model.mtp."]
                .iter()
                .any(|part| name.starts_with(part))
}

/// Looks at `names`, the unused tensors of `file`.
pub(super) fn check(file: &Path, names: &[String]) -> Result<()> {
    let mut beside = Vec::new();
    for name in names {
        if !is_of_other_senses(name) {
            return Err(Error::Unsupported(format!(
                "{}: tensor {} has no place in a model of this family, and leaving it out would give wrong results",
                file.display(),
                brief(name)
            )));
        }
        beside.push(name);
    }
    if let [first, ..] = beside[..] {
        let last = beside.last().unwrap_or(&first);
        log::write(Level::Warn, || {
            format!(
                "{}: {} tensors of parts that are no language model are not used ({} to {})",
                file.display(),
                beside.len(),
                brief(first),
                brief(last)
            )
        });
    }
    Ok(())
}

fn is_of_other_senses(name: &str) -> bool {
    // Wrappers put `model.` before some of them.
    let name = name.strip_prefix("model.").unwrap_or(name);
    OTHER_SENSES.iter().any(|part| name.starts_with(part))
}
