//! The tensors of a folder of safetensors files under MLX's names: what mlx-lm's `sanitize` functions do, for the
//! families that are run here.

use super::tensor::{Change, Piece, Tensor};
use crate::formats::folder::Folder;
use crate::formats::safetensors::{self, Dtype};
use crate::formats::{Bytes, ScalarType};
use crate::model::Config;
use crate::{Error, Result};
use std::collections::{BTreeMap, HashMap};
use std::path::Path;

/// `model_type`s whose tensors lie under `language_model.` in MLX's folders.
const WRAPPED: [&str; 4] = ["gemma3", "mistral3", "qwen3_5", "qwen3_5_moe"];

/// Beginnings of names of what sees or predicts further tokens; mlx-lm leaves it out too.
const LEFT_OUT: [&str; 9] = [
    "vision_tower.",
    "model.vision_tower.",
    "model.visual.",
    "visual.",
    "multi_modal_projector.",
    "model.multi_modal_projector.",
    "mtp.",
    "model.mtp.",
    "language_model.mtp.",
];

/// Frequencies that follow from the config.
const FREQUENCIES: [&str; 2] = ["rotary_emb.inv_freq", "rope.inv_freq"];

/// An expert's matrices as files have them, and as MLX calls them.
const EXPERT_PARTS: [(&str, &str); 6] = [
    ("gate_proj", "gate_proj"),
    ("up_proj", "up_proj"),
    ("down_proj", "down_proj"),
    ("w1", "gate_proj"),
    ("w2", "down_proj"),
    ("w3", "up_proj"),
];

/// Norms that Qwen 3 Next and 3.5 publish as differences from 1.
const DIFFERENCES: [&str; 5] = [
    ".input_layernorm.weight",
    ".post_attention_layernorm.weight",
    "model.norm.weight",
    ".q_norm.weight",
    ".k_norm.weight",
];

/// Where a tensor is, for messages.
struct Found<'a> {
    file: &'a Path,
    name: &'a str,
    tensor: &'a safetensors::Tensor,
}

impl Found<'_> {
    fn bad(&self, what: impl std::fmt::Display) -> Error {
        let file = self.file.display();
        Error::InvalidFile(format!("{file}: tensor {}: {what}", self.name))
    }

    fn scalar(&self) -> Result<ScalarType> {
        match self.tensor.dtype {
            Dtype::Float(scalar) => Ok(scalar),
            ref other => Err(Error::Unsupported(format!(
                "{}: tensor {} has type {other}; only models of F32, F16 or BF16 can be quantized",
                self.file.display(),
                self.name
            ))),
        }
    }
}

/// The experts of a block, one matrix each, by number.
type Experts<'a> = BTreeMap<usize, Found<'a>>;

/// All tensors that are written, in the order of the files.
///
/// # Errors
/// `Unsupported` for tensors of other types, `InvalidFile` for experts that are missing or differ.
pub(super) fn tensors(folder: &Folder, config: &Config) -> Result<Vec<Tensor>> {
    let kind = folder.config().get("model_type").and_then(|t| t.as_str());
    let wrapped = kind.is_some_and(|kind| WRAPPED.contains(&kind));
    let mut tensors = Vec::new();
    let mut experts: HashMap<String, Experts> = HashMap::new();
    // Places of stacks, so that they come where their first matrix was.
    let mut stacks = Vec::new();
    let mut raw_experts = false;
    let mut raw_convolution = false;
    for shard in folder.shards() {
        for (name, tensor) in shard.tensors() {
            let file = shard.path();
            let found = Found { file, name, tensor };
            if LEFT_OUT.iter().any(|start| name.starts_with(start))
                || FREQUENCIES.iter().any(|end| name.ends_with(end))
            {
                continue;
            }
            let path = match wrapped {
                true => under_wrapper(name),
                false => name.clone(),
            };
            if config.tied_embeddings && path.ends_with("lm_head.weight") {
                continue;
            }
            if let Some((stack, number)) = expert(&path) {
                raw_experts = true;
                let number = number.ok_or_else(|| found.bad("no number of an expert"))?;
                if !experts.contains_key(&stack) {
                    stacks.push((tensors.len(), stack.clone()));
                }
                experts.entry(stack).or_default().insert(number, found);
                continue;
            }
            if let Some(module) = path.strip_suffix(".experts.gate_up_proj") {
                if config.family.name == "gpt_oss" {
                    return Err(Error::Unsupported(format!(
                        "{}: tensor {name}: gate and up of gpt-oss are quantized where they are two tensors: \
                         convert the folder with mlx-lm first",
                        file.display()
                    )));
                }
                raw_experts = true;
                tensors.extend(halves(&found, module)?);
                continue;
            }
            let path = match path.strip_suffix(".experts.down_proj") {
                Some(module) => format!("{module}.switch_mlp.down_proj.weight"),
                None => path,
            };
            let mut shape = tensor.shape.clone();
            if let (true, [channels, 1, taps]) = (path.ends_with("conv1d.weight"), &shape[..])
                && *taps > 1
            {
                // One channel each: the numbers lie the same either way.
                raw_convolution = true;
                shape = vec![*channels, *taps, 1];
            }
            tensors.push(Tensor::new(
                path,
                shape,
                found.scalar()?,
                tensor.data.clone(),
            )?);
        }
    }
    for (place, stack) in stacks.into_iter().rev() {
        let all = experts.remove(&stack).unwrap_or_default();
        tensors.insert(place, stacked(stack, &all, config)?);
    }
    let as_differences = match config.family.name {
        "qwen3_next" => raw_experts,
        "qwen3_5" | "qwen3_5_moe" => raw_convolution,
        _ => false,
    };
    for tensor in tensors
        .iter_mut()
        .filter(|t| as_differences && t.shape.len() == 1)
    {
        if DIFFERENCES.iter().any(|end| tensor.name.ends_with(end)) {
            tensor.change = Change::Add(1);
        }
    }
    Ok(tensors)
}

/// The name under `language_model.`.
fn under_wrapper(name: &str) -> String {
    match name.strip_prefix("model.language_model.") {
        Some(rest) => format!("language_model.model.{rest}"),
        None if name.starts_with("language_model.") => name.to_string(),
        None => format!("language_model.{name}"),
    }
}

/// Of one expert's matrix: the stack it belongs to, and its number, if it is one.
fn expert(path: &str) -> Option<(String, Option<usize>)> {
    let (module, rest) = path.split_once(".experts.")?;
    let (number, part) = rest.strip_suffix(".weight")?.split_once('.')?;
    let (_, part) = EXPERT_PARTS.iter().find(|(theirs, _)| *theirs == part)?;
    let stack = format!("{module}.switch_mlp.{part}.weight");
    Some((stack, number.parse().ok()))
}

/// All experts' matrices as one tensor.
fn stacked(name: String, experts: &Experts, config: &Config) -> Result<Tensor> {
    let count = config.experts.map_or(0, |experts| experts.count);
    let Some((_, first)) = experts.first_key_value() else {
        return Err(Error::Internal(format!("{name}: no experts")));
    };
    let numbered = experts.keys().copied().eq(0..count);
    let [rows, columns] = first.tensor.shape[..] else {
        return Err(first.bad("a matrix is needed"));
    };
    if !numbered {
        let what = format!("{} experts where config.json says {count}", experts.len());
        return Err(first.bad(what));
    }
    let shape = vec![count, rows, columns];
    let mut all = Tensor::new(name, shape, first.scalar()?, first.tensor.data.clone())?;
    all.pieces = Vec::with_capacity(count);
    for expert in experts.values() {
        if (&expert.tensor.shape, &expert.tensor.dtype)
            != (&first.tensor.shape, &first.tensor.dtype)
        {
            return Err(expert.bad(format!("not of the shape and type of {}", first.name)));
        }
        let data = expert.tensor.data.clone();
        all.pieces.push(Piece { data, rows });
    }
    Ok(all)
}

/// `[experts, 2·width, columns]` taken apart: each expert's first half is its gate, the second goes up.
fn halves(found: &Found, module: &str) -> Result<[Tensor; 2]> {
    let shape = &found.tensor.shape;
    let &[count, both, columns] = &shape[..] else {
        return Err(found.bad("matrices of experts are needed"));
    };
    let scalar = found.scalar()?;
    let data = &found.tensor.data;
    let whole = Tensor::new("", shape.clone(), scalar, data.clone())?;
    if both % 2 != 0 {
        return Err(found.bad(format!("{both} rows are no two halves")));
    }
    let rows = both / 2;
    let bytes = data.len() / count / 2;
    let half = |part: &str, second: usize| {
        let piece = |expert: usize| {
            let start = (2 * expert + second) * bytes;
            let data: Option<Bytes> = data.part(start..start + bytes);
            let data = data.ok_or_else(|| found.bad("outside the file"))?;
            Ok(Piece { data, rows })
        };
        Ok::<_, Error>(Tensor {
            name: format!("{module}.switch_mlp.{part}.weight"),
            shape: vec![count, rows, columns],
            rows: whole.rows / 2,
            pieces: (0..count).map(piece).collect::<Result<_>>()?,
            ..whole.clone()
        })
    };
    Ok([half("gate_proj", 0)?, half("up_proj", 1)?])
}
