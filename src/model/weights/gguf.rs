//! Names of a GGUF file under their Hugging Face paths.

use crate::formats::gguf::{Gguf, Value};
use crate::formats::{Format, MappedFile, ScalarType, Weight};
use crate::model::Config;
use crate::model::families::Family;
use crate::{Error, Result};
use std::path::Path;

/// The tensors of one GGUF file.
#[derive(Debug)]
pub(super) struct GgufTensors {
    file: Gguf,
}

impl GgufTensors {
    pub(super) fn open(path: &Path) -> Result<GgufTensors> {
        Ok(GgufTensors {
            file: Gguf::open(path)?,
        })
    }

    pub(super) fn file(&self) -> &Gguf {
        &self.file
    }

    pub(super) fn chat_template(&self) -> Option<&str> {
        self.file
            .get("tokenizer.chat_template")
            .and_then(Value::as_str)
    }

    /// The tensor of `path.part`; with a tied head, the embedding table for `lm_head`.
    pub(super) fn find(&self, path: &str, part: &str, config: &Config) -> Result<Option<Weight>> {
        let path = match path {
            "lm_head" if config.tied_embeddings => "model.embed_tokens",
            path => path,
        };
        if let Some(number) = self.of_function(path, part)? {
            return Ok(Some(number));
        }
        let Some(name) = name(path, part, config.family) else {
            return Ok(None);
        };
        let weight = match (self.file.find(&name)?, name.strip_suffix(".weight")) {
            // The converter leaves it off in one of falcon-h1.
            (None, Some(short)) => self.file.find(short)?,
            (weight, _) => weight,
        };
        Ok(weight.cloned())
    }
}

impl GgufTensors {
    /// A number of a layer's xIELU, which stands in the metadata: a list with one for each layer, or one for all.
    fn of_function(&self, path: &str, part: &str) -> Result<Option<Weight>> {
        let block = path.strip_prefix("model.layers.");
        let Some((layer, "mlp.act_fn")) = block.and_then(|block| block.split_once('.')) else {
            return Ok(None);
        };
        let key = format!("xielu.{part}");
        let Some(value) = self.file.get(&key) else {
            return Ok(None);
        };
        let number = match (value.floats(), layer.parse::<usize>()) {
            (Some(list), Ok(layer)) => list.get(layer).copied(),
            _ => value.as_f64(),
        };
        let Some(number) = number else {
            return Err(Error::InvalidFile(format!(
                "{}: metadata {key}: no number for layer {layer}",
                self.file.path().display()
            )));
        };
        let data = MappedFile::made_of(self.file.path(), &[number as f32])?;
        let format = Format::Dense(ScalarType::F32);
        Weight::new(key, format, 1, 1, data, None, None).map(Some)
    }
}

/// The GGUF name of `path.part` in files of the family.
pub(in crate::model) fn name(path: &str, part: &str, family: &Family) -> Option<String> {
    let of_family = |module: &str| {
        let mut modules = family.gguf_modules.iter();
        modules.find_map(|(path, name)| (*path == module).then_some(*name))
    };
    let name = match path {
        _ if of_family(path).is_some() => of_family(path)?,
        "model.embed_tokens" => "token_embd",
        "model.norm" => "output_norm",
        "lm_head" => "output",
        _ => {
            let (layer, module) = path.strip_prefix("model.layers.")?.split_once('.')?;
            let layer: u32 = layer.parse().ok()?;
            let module = match module {
                _ if of_family(module).is_some() => of_family(module)?,
                "input_layernorm" => "attn_norm",
                "post_attention_layernorm" => "ffn_norm",
                "self_attn.q_proj" => "attn_q",
                "self_attn.k_proj" => "attn_k",
                "self_attn.v_proj" => "attn_v",
                "self_attn.o_proj" => "attn_output",
                "self_attn.q_norm" => "attn_q_norm",
                "self_attn.k_norm" => "attn_k_norm",
                "mlp.gate" => "ffn_gate_inp",
                "mlp.switch_mlp.gate_proj" => "ffn_gate_exps",
                "mlp.switch_mlp.up_proj" => "ffn_up_exps",
                "mlp.switch_mlp.down_proj" => "ffn_down_exps",
                "mlp.switch_mlp.gate_up_proj" => "ffn_gate_up_exps",
                "mlp.correction" => "exp_probs_b.bias",
                "mlp.shared_expert_gate" => "ffn_gate_inp_shexp",
                "mlp.shared_expert.gate_proj" => "ffn_gate_shexp",
                "mlp.shared_expert.up_proj" => "ffn_up_shexp",
                "mlp.shared_expert.down_proj" => "ffn_down_shexp",
                "mlp.gate_proj" => "ffn_gate",
                "mlp.up_proj" => "ffn_up",
                "mlp.down_proj" => "ffn_down",
                _ => return None,
            };
            return Some(super::find::joined(&format!("blk.{layer}.{module}"), part));
        }
    };
    Some(format!("{name}.{part}"))
}
