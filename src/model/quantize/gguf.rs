//! The tensors of a GGUF file under MLX's names, in MLX's order of rows.

use super::run::{Content, Prepared};
use super::tensor::{Change, Tensor};
use super::{config, gguf_config};
use crate::formats::gguf::Gguf;
use crate::formats::{Format, ScalarType, Weight};
use crate::model::Config;
use crate::model::weights::gguf_name;
use crate::text::TokenizerFiles;
use crate::{Error, Result};
use std::collections::HashSet;

/// Modules of a block.
const MODULES: [&str; 15] = [
    "input_layernorm",
    "self_attn.q_proj",
    "self_attn.k_proj",
    "self_attn.v_proj",
    "self_attn.o_proj",
    "self_attn.q_norm",
    "self_attn.k_norm",
    "post_attention_layernorm",
    "mlp.gate_proj",
    "mlp.up_proj",
    "mlp.down_proj",
    "mlp.gate",
    "mlp.switch_mlp.gate_proj",
    "mlp.switch_mlp.up_proj",
    "mlp.switch_mlp.down_proj",
];

/// What follows from the config.
const FREQUENCIES: [&str; 2] = ["rope_freqs.weight", "attn_rot_embd.weight"];

/// A GGUF file as a source.
///
/// # Errors
/// `Unsupported` for quantized files, and families and tokenizers that cannot be written as folders.
pub(super) fn prepare(gguf: &Gguf) -> Result<Prepared> {
    let mut read = Config::from_gguf(gguf)?;
    gguf_config::check_family(gguf, &read)?;
    let tensors = tensors(gguf, &read)?;
    // The rows of heads are put back in order.
    read.rope_interleaved = false;
    let mut object = gguf_config::object(gguf, &mut read)?;
    object.insert("torch_dtype".into(), config::name(most(&tensors)).into());
    let tokenizer = TokenizerFiles::from_gguf(gguf)?;
    let made = |value| Content::Made(serde_json::to_vec_pretty(value).unwrap_or_default());
    Ok(Prepared {
        tensors,
        config: object,
        read,
        files: vec![
            ("tokenizer.json".into(), made(&tokenizer.tokenizer)),
            ("tokenizer_config.json".into(), made(&tokenizer.config)),
        ],
        sources: gguf.files(),
        strict: true,
    })
}

/// The type of most numbers. Converters keep vectors in f32 whatever the model had.
fn most(tensors: &[Tensor]) -> ScalarType {
    let numbers = |scalar: ScalarType| {
        let own = tensors.iter().filter(move |tensor| tensor.from == scalar);
        own.map(|tensor| tensor.rows * tensor.columns)
            .sum::<usize>()
    };
    let types = [ScalarType::F32, ScalarType::F16, ScalarType::BF16];
    types
        .into_iter()
        .max_by_key(|scalar| numbers(*scalar))
        .unwrap_or(ScalarType::F32)
}

fn tensors(gguf: &Gguf, read: &Config) -> Result<Vec<Tensor>> {
    let mut paths = vec!["model.embed_tokens".to_string()];
    for layer in 0..read.layers {
        paths.extend(MODULES.map(|module| format!("model.layers.{layer}.{module}")));
    }
    paths.extend(["model.norm".to_string(), "lm_head".to_string()]);
    let mut used = HashSet::new();
    let mut tensors = Vec::new();
    for path in &paths {
        for part in ["weight", "bias"] {
            let Some(name) = gguf_name(path, part, read.family) else {
                continue;
            };
            let Some(weight) = gguf.find(&name)? else {
                continue;
            };
            tensors.push(tensor(gguf, read, weight, path, part)?);
            used.insert(name);
        }
    }
    let mut unknown: Vec<&str> = gguf
        .names()
        .filter(|name| !used.contains(*name) && !FREQUENCIES.contains(name))
        .collect();
    unknown.sort_unstable();
    match unknown.first() {
        None => Ok(tensors),
        Some(name) => Err(Error::Unsupported(format!(
            "{}: tensor {name} has no place in a folder of the family {}",
            gguf.path().display(),
            read.family.name
        ))),
    }
}

fn tensor(gguf: &Gguf, read: &Config, weight: &Weight, path: &str, part: &str) -> Result<Tensor> {
    let Format::Dense(scalar) = weight.format else {
        return Err(Error::Unsupported(format!(
            "{}: tensor {} is {}; only files of F32, F16 or BF16 can be quantized, what was lost once stays lost",
            gguf.path().display(),
            weight.name,
            weight.format
        )));
    };
    let mut shape = gguf.dims(&weight.name).unwrap_or_default().to_vec();
    shape.reverse();
    let name = format!("{path}.{part}");
    let mut tensor = Tensor::new(name, shape, scalar, weight.data.clone())?;
    let turned = path.ends_with(".q_proj") || path.ends_with(".k_proj");
    if turned && read.rope_interleaved {
        if part == "bias" {
            // Each number is a row.
            (tensor.rows, tensor.columns) = (tensor.columns, 1);
            tensor.pieces[0].rows = tensor.rows;
        }
        if !tensor.rows.is_multiple_of(read.head_dim) {
            return Err(Error::InvalidFile(format!(
                "{}: tensor {} has {} rows, no whole heads of {}",
                gguf.path().display(),
                weight.name,
                tensor.rows,
                read.head_dim
            )));
        }
        tensor.change = Change::Pairs(read.head_dim);
    }
    Ok(tensor)
}
