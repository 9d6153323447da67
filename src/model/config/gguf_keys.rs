//! What the keys of a GGUF file's architecture do: read, of no effect, or refused because they change results in
//! a way that no family here computes. What is in none of the lists is named in a warning.
//!
//! The lists follow the keys that llama.cpp knows, of which these families read few.

use super::gguf::Fields;
use crate::formats::brief;
use crate::formats::gguf::Value;
use crate::log::{self, Level};
use crate::model::families::Family;
use crate::{Error, Result};

/// Read by `gguf`.
const READ: &[&str] = &[
    "context_length",
    "embedding_length",
    "block_count",
    "feed_forward_length",
    "attention.head_count",
    "attention.head_count_kv",
    "attention.key_length",
    "attention.value_length",
    "attention.layer_norm_rms_epsilon",
    "rope.dimension_count",
    "rope.freq_base",
    "rope.scale_linear",
    "rope.scaling.type",
    "rope.scaling.factor",
    "rope.scaling.original_context_length",
    "rope.scaling.attn_factor",
    "rope.scaling.yarn_attn_factor",
    "rope.scaling.yarn_ext_factor",
    "rope.scaling.yarn_beta_fast",
    "rope.scaling.yarn_beta_slow",
];

const HARMLESS: &[&str] = &[
    "vocab_size",
    "attention.layer_norm_epsilon",
    "tensor_data_layout",
    "rope.scaling.finetuned",
    "pooling_type",
];

/// Without effect where 0, 1 (a factor) or empty.
const CHANGES: &[&str] = &[
    "expert_count",
    "expert_used_count",
    "expert_shared_count",
    "expert_group_count",
    "expert_feed_forward_length",
    "leading_dense_block_count",
    "nextn_predict_layers",
    "logit_scale",
    "embedding_scale",
    "residual_scale",
    "attention.scale",
    "attention.output_scale",
    "attention.clamp_kqv",
    "attention.max_alibi_bias",
    "attention.kv_lora_rank",
    "attention.q_lora_rank",
    "attention.sliding_window_pattern",
    "attention.temperature_length",
    "attn_logit_softcapping",
    "final_logit_softcapping",
    "router_logit_softcapping",
    "kda.safe_gate",
    "kda.gate_lower_bound",
    "rope.dimension_sections",
    "rope.freq_base_swa",
    "use_parallel_residual",
    "swin_norm",
];

/// Without effect where true.
const CAUSAL: &str = "attention.causal";

/// Checks all keys of the architecture.
pub(super) fn check(fields: &Fields, family: &Family) -> Result<()> {
    let mut unknown = Vec::new();
    let beginning = format!("{}.", fields.architecture);
    for (name, value) in fields.gguf.metadata() {
        let Some(key) = name.strip_prefix(&beginning) else {
            continue;
        };
        if family.gguf_keys.contains(&key) {
            continue;
        }
        let is_neutral = match value {
            Value::Bool(value) => *value == (key == CAUSAL),
            Value::Integers(list) => list.iter().all(|value| *value == 0),
            value => matches!(value.as_f64(), Some(0.0 | 1.0)),
        };
        if (CHANGES.contains(&key) || key == CAUSAL) && !is_neutral {
            return Err(Error::Unsupported(format!(
                "{}: metadata {} changes what the model computes, and the family {} does not do that",
                fields.gguf.path().display(),
                brief(name),
                family.name
            )));
        }
        let lists = [READ, HARMLESS, CHANGES, &[CAUSAL]];
        if !lists.iter().any(|list| list.contains(&key)) && value.as_f64() != Some(0.0) {
            unknown.push(brief(name));
        }
    }
    if !unknown.is_empty() {
        unknown.sort();
        log::write(Level::Warn, || super::ignored(fields.gguf.path(), &unknown));
    }
    Ok(())
}
