//! What the keys of `config.json` do: read, of no effect, or refused because they change results in a way that
//! no family here computes. What is in none of the lists is named in a warning.
//!
//! The lists follow the configuration classes of transformers and the `ModelArgs` of mlx-lm.

use super::fields::Fields;
use crate::Result;
use crate::formats::brief;
use crate::log::{self, Level};
use crate::model::families::Family;
use serde_json::Value;

/// Read by `hf`, `rope`, `weights::quantization`, for every family.
const READ: &[&str] = &[
    "model_type",
    "text_config",
    "hidden_size",
    "intermediate_size",
    "num_hidden_layers",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "vocab_size",
    "max_position_embeddings",
    "rms_norm_eps",
    "rope_theta",
    "rope_scaling",
    "rope_parameters",
    "tie_word_embeddings",
    "attention_bias",
    "mlp_bias",
    "hidden_act",
    "hidden_activation",
    "layer_types",
    "eos_token_id",
    "quantization",
    "quantization_config",
    "_name_or_path",
];

/// They say how a model was made, trained or is to be run elsewhere.
const HARMLESS: &[&str] = &[
    "architectures",
    "torch_dtype",
    "dtype",
    "transformers_version",
    "use_cache",
    "cache_implementation",
    "initializer_range",
    "bos_token_id",
    "pad_token_id",
    "unk_token_id",
    "sep_token_id",
    "cls_token_id",
    "decoder_start_token_id",
    "attention_dropout",
    "hidden_dropout",
    "embd_pdrop",
    "resid_pdrop",
    "classifier_dropout",
    "pretraining_tp",
    "auto_map",
    "model_max_length",
    "max_length",
    "max_seq_len",
    "max_sequence_length",
    "output_attentions",
    "output_hidden_states",
    "output_router_logits",
    "return_dict",
    "torchscript",
    "use_bfloat16",
    "use_flash_attn",
    "use_mrope",
    "gradient_checkpointing",
    "id2label",
    "label2id",
    "problem_type",
    "task_specific_params",
    "chunk_size_feed_forward",
    "is_llama_config",
    "head_dtype",
    "license",
    "keep_quantized_model_for_dev",
    "attention_implementation",
    "attn_implementation",
    "rope_interleaved",
    "is_decoder",
    "tokenizer_class",
    "finetuning_task",
    "prefix",
    "pruned_heads",
    "tf_legacy_loss",
    "tie_encoder_decoder",
    "cross_attention_hidden_size",
    // How older files sample, which is up to the request here.
    "do_sample",
    "temperature",
    "top_k",
    "top_p",
    "typical_p",
    "repetition_penalty",
    "length_penalty",
    "diversity_penalty",
    "encoder_no_repeat_ngram_size",
    "no_repeat_ngram_size",
    "exponential_decay_length_penalty",
    "remove_invalid_values",
    "num_beams",
    "num_beam_groups",
    "num_return_sequences",
    "early_stopping",
    "min_length",
    "max_new_tokens",
    "bad_words_ids",
    "begin_suppress_tokens",
    "suppress_tokens",
    "forced_bos_token_id",
    "forced_eos_token_id",
    "output_scores",
    "return_dict_in_generate",
];

/// Keys that begin so are harmless: notes of tools, and the parts of a model that see and hear.
const HARMLESS_BEGINNINGS: &[&str] = &[
    "_",
    "unsloth_",
    "transformers.js",
    "mlx_",
    "vision_",
    "visual",
    "image_",
    "video_",
    "audio_",
    "projector_",
    "multimodal_",
    "mm_",
];

/// What a key may say without changing results.
enum Neutral {
    /// `false`, 0, none.
    Off,
    /// `true`.
    On,
    /// 1.
    One,
    /// The activation of these families.
    Silu,
}

/// Keys of other architectures, or of changes to these.
const CHANGES: &[(&str, Neutral)] = &[
    ("num_experts", Neutral::Off),
    ("num_local_experts", Neutral::Off),
    ("n_routed_experts", Neutral::Off),
    ("n_shared_experts", Neutral::Off),
    ("num_experts_per_tok", Neutral::Off),
    ("moe_intermediate_size", Neutral::Off),
    ("shared_expert_intermediate_size", Neutral::Off),
    ("expert_layer_period", Neutral::Off),
    ("kv_lora_rank", Neutral::Off),
    ("q_lora_rank", Neutral::Off),
    ("logits_scaling", Neutral::One),
    ("logit_scale", Neutral::One),
    ("embedding_multiplier", Neutral::One),
    ("residual_multiplier", Neutral::One),
    ("attention_multiplier", Neutral::Off),
    ("lm_head_multiplier", Neutral::One),
    ("mup_base_width", Neutral::Off),
    ("scale_emb", Neutral::One),
    ("scale_depth", Neutral::Off),
    ("dim_model_base", Neutral::Off),
    ("final_logit_softcapping", Neutral::Off),
    ("attn_logit_softcapping", Neutral::Off),
    ("query_pre_attn_scalar", Neutral::Off),
    ("attn_scale", Neutral::Off),
    ("attn_temperature_tuning", Neutral::Off),
    ("clip_qkv", Neutral::Off),
    ("use_qk_norm", Neutral::Off),
    ("qk_norm", Neutral::Off),
    ("qk_layernorm", Neutral::Off),
    ("use_sinks", Neutral::Off),
    ("attention_sink", Neutral::Off),
    ("no_rope_layers", Neutral::Off),
    ("no_rope_layer_interval", Neutral::Off),
    ("attention_chunk_size", Neutral::Off),
    ("sliding_window_pattern", Neutral::Off),
    ("rope_local_base_freq", Neutral::Off),
    ("rotary_dim", Neutral::Off),
    ("rotary_pct", Neutral::One),
    ("rope_ratio", Neutral::One),
    ("use_parallel_residual", Neutral::Off),
    ("parallel_attn", Neutral::Off),
    ("alibi", Neutral::Off),
    ("use_alibi", Neutral::Off),
    ("is_causal", Neutral::On),
    ("use_bidirectional_attention", Neutral::Off),
    ("is_encoder_decoder", Neutral::Off),
    ("add_cross_attention", Neutral::Off),
    ("cross_attention_layers", Neutral::Off),
    ("activation_function", Neutral::Silu),
    ("quantize_activations", Neutral::Off),
    ("model_file", Neutral::Off),
    ("post_norm", Neutral::Off),
    ("normalize_embedding", Neutral::Off),
    ("num_kv_shared_layers", Neutral::Off),
    ("tie_layers", Neutral::Off),
];

/// Read of a RoPE scaling.
const SCALING_READ: &[&str] = &[
    "type",
    "rope_type",
    "rope_theta",
    "factor",
    "low_freq_factor",
    "high_freq_factor",
    "original_max_position_embeddings",
    "beta_fast",
    "beta_slow",
    "attention_factor",
    "mscale",
    "mscale_all_dim",
    "truncate",
    "finetuned",
    "long_factor",
    "short_factor",
    "long_mscale",
    "short_mscale",
    "alpha",
];

/// In a text all three positions of a token are the same: plain RoPE.
const SCALING_HARMLESS: &[&str] = &["mrope_section", "mrope_interleaved"];

/// Checks all keys of a config: `outer`, and `fields`, which is the same or its `text_config`.
pub(super) fn check(outer: &Fields, fields: &Fields, family: &Family) -> Result<()> {
    let mut unknown = Vec::new();
    check_object(fields, family, &mut unknown)?;
    for name in ["rope_parameters", "rope_scaling"] {
        let Some(scaling) = fields.fields(name)? else {
            continue;
        };
        for (key, value) in scaling.entries() {
            let known = SCALING_READ.contains(&key) || SCALING_HARMLESS.contains(&key);
            let of_family = match key {
                "full_attention" | "sliding_attention" => value.is_object(),
                "llama_4_scaling_beta" => family.name == "ministral3",
                key => family.keys.contains(&key),
            };
            if !known && !of_family && !is_neutral_partial(key, value) {
                unknown.push(format!("{name}.{key}"));
            }
        }
    }
    if fields.is_inner() {
        // What stands beside the text's part is about the other parts, but for the changes above.
        for (key, value) in outer.entries() {
            refuse(outer, key, value, family)?;
        }
    }
    if !unknown.is_empty() {
        log::write(Level::Warn, || super::ignored(fields.file(), &unknown));
    }
    Ok(())
}

fn check_object(fields: &Fields, family: &Family, unknown: &mut Vec<String>) -> Result<()> {
    for (key, value) in fields.entries() {
        if family.keys.contains(&key) || family.harmless.contains(&key) {
            continue;
        }
        refuse(fields, key, value, family)?;
        let known = READ.contains(&key)
            || HARMLESS.contains(&key)
            || HARMLESS_BEGINNINGS.iter().any(|b| key.starts_with(b))
            || CHANGES.iter().any(|(name, _)| *name == key);
        if !known && !is_without_effect(fields, key, value) {
            unknown.push(key.to_string());
        }
    }
    Ok(())
}

/// Keys that some families read, where others' files say nothing with them. Else they are worth a warning.
fn is_without_effect(fields: &Fields, key: &str, value: &Value) -> bool {
    match key {
        "use_sliding_window" | "max_window_layers" | "rope_traditional" => {
            *value == Value::Bool(false)
        }
        "sliding_window" => fields.get("layer_types").is_some(),
        _ => is_neutral_partial(key, value),
    }
}

/// mlx-lm, transformers and llama.cpp rotate whole heads of these families, whatever the share.
fn is_neutral_partial(key: &str, value: &Value) -> bool {
    key == "partial_rotary_factor" && value.as_f64() == Some(1.0)
}

/// An error where the key changes results.
fn refuse(fields: &Fields, key: &str, value: &Value, family: &Family) -> Result<()> {
    let Some((_, neutral)) = CHANGES.iter().find(|(name, _)| *name == key) else {
        return Ok(());
    };
    let is_neutral = match neutral {
        Neutral::Off => is_off(value),
        Neutral::On => *value == Value::Bool(true),
        Neutral::One => value.as_f64() == Some(1.0),
        Neutral::Silu => matches!(value.as_str(), Some("silu" | "swish")),
    };
    if is_neutral {
        return Ok(());
    }
    Err(fields.unsupported(
        key,
        format_args!(
            "{} changes what the model computes, and the family {} does not do that",
            brief(value),
            family.name
        ),
    ))
}

fn is_off(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::Array(list) => list.is_empty(),
        _ => false,
    }
}
