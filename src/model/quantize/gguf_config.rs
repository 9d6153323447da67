//! A config.json from the metadata of a GGUF file.

use super::config::Object;
use crate::formats::gguf::{Gguf, Value as Metadata};
use crate::model::Config;
use crate::model::config::RopeScaling;
use crate::{Error, Result};
use serde_json::{Value, json};

/// Families whose configs are written here, and what transformers calls their classes.
const FAMILIES: [(&str, &str); 5] = [
    ("llama", "LlamaForCausalLM"),
    ("qwen2", "Qwen2ForCausalLM"),
    ("qwen3", "Qwen3ForCausalLM"),
    ("qwen3_moe", "Qwen3MoeForCausalLM"),
    ("smollm3", "SmolLM3ForCausalLM"),
];

fn unsupported(gguf: &Gguf, what: String) -> Error {
    Error::Unsupported(format!(
        "{}: {what}; quantize the folder that the file was made of",
        gguf.path().display()
    ))
}

/// Refuses families of other forms.
pub(super) fn check_family(gguf: &Gguf, read: &Config) -> Result<()> {
    let name = read.family.name;
    if FAMILIES.iter().any(|(known, _)| *known == name) {
        return Ok(());
    }
    let known = FAMILIES.map(|(name, _)| name).join(", ");
    let what =
        format!("a GGUF file of the family {name} cannot be quantized, only those of {known}");
    Err(unsupported(gguf, what))
}

/// A number of a file in 32 bits, in as few digits as give it back.
fn number(x: f32) -> Value {
    let shortest: Option<f64> = x.to_string().parse().ok();
    shortest.unwrap_or(f64::from(x)).into()
}

/// The config. `read` becomes what will be read of it, where that says the same in other words.
pub(super) fn object(gguf: &Gguf, read: &mut Config) -> Result<Object> {
    if let Some(experts) = read.experts
        && read.intermediate_size == 0
    {
        // The width of blocks without experts, of which there are none.
        read.intermediate_size = experts.width;
    }
    let c = &*read;
    let class = FAMILIES.iter().find(|(name, _)| *name == c.family.name);
    let whole = json!({
        "model_type": c.family.model_types[0],
        "architectures": [class.map(|(_, class)| *class)],
        "hidden_act": "silu",
        "hidden_size": c.hidden_size,
        "intermediate_size": c.intermediate_size,
        "num_hidden_layers": c.layers,
        "num_attention_heads": c.heads,
        "num_key_value_heads": c.kv_heads,
        "head_dim": c.head_dim,
        "vocab_size": c.vocab_size,
        "max_position_embeddings": c.context_length,
        "rms_norm_eps": number(c.norm_eps),
        "rope_theta": number(c.rope_theta),
        "tie_word_embeddings": c.tied_embeddings,
        "attention_bias": c.attention_bias,
        "mlp_bias": c.mlp_bias
    });
    let mut object = whole.as_object().cloned().unwrap_or_default();
    let mut set = |key: &str, value: Value| object.insert(key.into(), value);
    if !c.stop_tokens.is_empty() {
        set("eos_token_id", c.stop_tokens.clone().into());
    }
    let bos = gguf
        .get("tokenizer.ggml.bos_token_id")
        .and_then(Metadata::as_u64);
    if let Some(bos) = bos.filter(|id| *id < c.vocab_size as u64) {
        set("bos_token_id", bos.into());
    }
    if let Some(experts) = c.experts {
        set("num_experts", experts.count.into());
        set("num_experts_per_tok", experts.chosen.into());
        set("moe_intermediate_size", experts.width.into());
        set("norm_topk_prob", experts.normalize.into());
        set("decoder_sparse_step", 1.into());
        set("mlp_only_layers", json!([]));
    }
    let scaling = rope_scaling(gguf, read)?;
    if !scaling.is_null() {
        object.insert("rope_scaling".into(), scaling);
    }
    Ok(object)
}

fn rope_scaling(gguf: &Gguf, read: &mut Config) -> Result<Value> {
    Ok(match &mut read.rope_scaling {
        RopeScaling::None => Value::Null,
        RopeScaling::Linear { factor } => {
            json!({"rope_type": "linear", "type": "linear", "factor": number(*factor)})
        }
        RopeScaling::Yarn {
            factor,
            original_context,
            beta_fast,
            beta_slow,
            attention_factor,
            // Files of this kind do not say, and config.json's default is theirs.
            truncate: _,
        } => {
            let standard = (0.1 * f64::from(*factor).ln() + 1.0) as f32;
            if *attention_factor == 0.0 {
                *attention_factor = standard;
            }
            if (*attention_factor - standard).abs() > 1e-6 {
                let what = "metadata rope.scaling.attn_factor has no place in config.json";
                return Err(unsupported(gguf, what.into()));
            }
            json!({
                "rope_type": "yarn", "type": "yarn", "factor": number(*factor),
                "original_max_position_embeddings": *original_context,
                "beta_fast": number(*beta_fast), "beta_slow": number(*beta_slow)
            })
        }
        RopeScaling::Factors(factors) => {
            let Some(scaling) = llama3(factors, read.rope_theta, read.rope_dims) else {
                let what = "tensor rope_freqs.weight has other factors than Llama 3's scaling";
                return Err(unsupported(gguf, what.into()));
            };
            read.rope_scaling = scaling;
            match &read.rope_scaling {
                RopeScaling::Llama3 {
                    factor,
                    low_freq_factor,
                    high_freq_factor,
                    original_context,
                } => json!({
                    "rope_type": "llama3", "factor": number(*factor),
                    "low_freq_factor": number(*low_freq_factor),
                    "high_freq_factor": number(*high_freq_factor),
                    "original_max_position_embeddings": *original_context
                }),
                _ => Value::Null,
            }
        }
        RopeScaling::Llama3 { .. }
        | RopeScaling::Long { .. }
        | RopeScaling::Proportional { .. }
        | RopeScaling::Dynamic => {
            return Err(unsupported(
                gguf,
                "its RoPE scaling has no place in config.json".into(),
            ));
        }
    })
}

/// Llama 3's scaling, if it gives these divisors of frequencies. Of it files keep nothing else; all models that have
/// it were trained with 8192 tokens, and differ in the factor only.
fn llama3(factors: &[f32], theta: f32, dims: usize) -> Option<RopeScaling> {
    const CONTEXT: f64 = 8192.0;
    const LOW: f64 = 1.0;
    const HIGH: f64 = 4.0;
    let factor = f64::from(factors.iter().copied().fold(1.0, f32::max));
    for (pair, found) in factors.iter().enumerate() {
        let exponent = 2.0 * pair as f64 / dims as f64;
        let wave = std::f64::consts::TAU * f64::from(theta).powf(exponent);
        let smooth = ((CONTEXT / wave - LOW) / (HIGH - LOW)).clamp(0.0, 1.0);
        let expected = 1.0 / ((1.0 - smooth) / factor + smooth);
        if (f64::from(*found) / expected - 1.0).abs() > 1e-4 {
            return None;
        }
    }
    Some(RopeScaling::Llama3 {
        factor: factor as f32,
        low_freq_factor: LOW as f32,
        high_freq_factor: HIGH as f32,
        original_context: CONTEXT as usize,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn llama3_is_known_by_its_divisors() {
        // As the converter to GGUF writes them: f32, 1 / ((1 - smooth) / factor + smooth) in between.
        let divisors = |factor: f32| -> Vec<f32> {
            let one = |pair: usize| {
                let frequency = 1.0 / 500_000f32.powf(2.0 * pair as f32 / 128.0);
                let wave = std::f32::consts::TAU / frequency;
                match wave {
                    wave if wave < 8192.0 / 4.0 => 1.0,
                    wave if wave > 8192.0 => factor,
                    wave => {
                        let smooth = (8192.0 / wave - 1.0) / 3.0;
                        1.0 / ((1.0 - smooth) / factor + smooth)
                    }
                }
            };
            (0..64).map(one).collect()
        };
        for factor in [8.0, 32.0] {
            let found = llama3(&divisors(factor), 500_000.0, 128);
            let Some(RopeScaling::Llama3 { factor: known, .. }) = found else {
                panic!("{found:?}");
            };
            assert_eq!(known, factor);
        }
        let mut other = divisors(8.0);
        other[32] *= 1.01;
        assert_eq!(llama3(&other, 500_000.0, 128), None);
    }
}
