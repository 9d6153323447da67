//! The weights of a model folder: dense, in MLX's formats, or (`published.rs`) in those of other tools,
//! under Hugging Face paths.

use super::quantization::{Mode, Quantization, Rule, Settings};
use crate::formats::folder::Folder;
use crate::formats::safetensors::{Dtype, Tensor};
use crate::formats::{Bytes, Format, Weight, brief};
use crate::model::families::{self, Family};
use crate::{Error, Result};
use serde_json::Value;
use std::collections::HashMap;
use std::path::Path;

/// Where the language model's modules lie, most usual first; `embed_tokens` decides.
const PREFIXES: [&str; 5] = [
    "model.",
    "backbone.",
    "language_model.model.",
    "model.language_model.",
    "",
];

/// The tensors of one model folder.
#[derive(Debug)]
pub(super) struct FolderTensors {
    pub(super) folder: Folder,
    prefix: &'static str,
    family: Option<&'static Family>,
    /// By tensor name in the files (`….weight`, `….bias`).
    weights: HashMap<String, Weight>,
}

/// The family that the folder's config names.
fn of_folder(folder: &Folder) -> Option<&'static Family> {
    let top = folder.config();
    let text = top.get("text_config").and_then(Value::as_object);
    let kind = [text, Some(top)]
        .into_iter()
        .flatten()
        .find_map(|fields| fields.get("model_type").and_then(Value::as_str));
    families::of_model_type(kind?)
}

/// What a module is called in folders of the family, if not as usual.
fn renamed(family: Option<&'static Family>, module: &str) -> Option<String> {
    let modules = family?.folder_modules;
    if let Some((_, name)) = modules.iter().find(|(usual, _)| *usual == module) {
        return Some(name.to_string());
    }
    modules.iter().find_map(|(usual, name)| {
        let rest = module
            .strip_prefix(usual)
            .filter(|_| usual.ends_with('.'))?;
        Some(format!("{name}{rest}"))
    })
}

impl FolderTensors {
    /// Opens the folder and takes all its tensors together into weights.
    pub(super) fn open(path: &Path) -> Result<FolderTensors> {
        let folder = Folder::open(path)?;
        let quantization = Quantization::read(&folder)?;
        let family = of_folder(&folder);
        let table = renamed(family, "model.embed_tokens");
        let table = table.unwrap_or_else(|| "model.embed_tokens".into());
        let table = table.strip_prefix("model.").unwrap_or(&table);
        let prefix = PREFIXES
            .into_iter()
            .find(|prefix| folder.tensor(&format!("{prefix}{table}.weight")).is_some())
            .unwrap_or("model.");
        let mut tensors = FolderTensors {
            folder,
            prefix,
            family,
            weights: HashMap::new(),
        };
        tensors.weights = tensors.collect(&quantization)?;
        Ok(tensors)
    }

    pub(super) fn folder(&self) -> &Folder {
        &self.folder
    }

    pub(super) fn weights(&self) -> impl Iterator<Item = &Weight> {
        self.weights.values()
    }

    /// The names of all tensors, without the scales and biases of quantized ones.
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let all = self.folder.shards().iter().flat_map(|s| s.tensors());
        all.map(|(name, _)| name.as_str())
            .filter(|name| !self.is_part(name))
    }

    /// Whether the tensor is a part (scales, biases, zero points and the like) of a weight that is there too.
    fn is_part(&self, name: &str) -> bool {
        // What holds the codes stands for its weight, which is found by another name.
        let codes = [".qweight", ".weight_packed", "_blocks"];
        let is_codes = codes
            .iter()
            .filter_map(|end| name.strip_suffix(end))
            .any(|module| self.weights.contains_key(&format!("{module}.weight")));
        let is_beside = |module: &str| {
            self.weights.contains_key(&format!("{module}.weight")) || name.ends_with("_scales")
        };
        let module = name.rsplit_once('.').map_or(name, |(module, _)| module);
        is_codes || self.belongs_to_another(name) && is_beside(module)
    }

    /// Whether the files hold an output head.
    pub(super) fn has_head(&self) -> bool {
        self.weights.contains_key(&self.name("lm_head", "weight"))
    }

    /// The name of `path.part` in the files.
    pub(super) fn name(&self, path: &str, part: &str) -> String {
        super::find::joined(&self.module(path), part)
    }

    /// The tensor of `path.part`; with a tied head, the embedding table for `lm_head`.
    pub(super) fn find(&self, path: &str, part: &str, tied: bool) -> Result<Option<Weight>> {
        let path = match path {
            "lm_head" if tied => "model.embed_tokens",
            path => path,
        };
        let name = self.name(path, part);
        if let Some(weight) = self.weights.get(&name) {
            return Ok(Some(weight.clone()));
        }
        // Gemma 4's experts as published are no modules of their own.
        let bare = name.strip_suffix(".weight");
        if let Some(bare) = bare.filter(|name| name.contains(".experts.switch_glu."))
            && let Some(weight) = self.weights.get(&bare.replace(".switch_glu.", "."))
        {
            return Ok(Some(weight.clone()));
        }
        match self.folder.tensor(&name) {
            None => Ok(None),
            Some((tensor, file)) => Err(Error::InvalidFile(format!(
                "{}: tensor {name} has type {} and shape {}; a vector or matrix of F32, F16 or \
                 BF16, or a quantized one with scales, is needed",
                file.display(),
                tensor.dtype,
                brief(format_args!("{:?}", tensor.shape))
            ))),
        }
    }

    /// A module's path in the files.
    fn module(&self, path: &str) -> String {
        let layer = path.strip_prefix("model.layers.");
        let renamed_path = match layer.and_then(|rest| rest.split_once('.')) {
            Some((layer, module)) => {
                renamed(self.family, module).map(|module| format!("model.layers.{layer}.{module}"))
            }
            None => renamed(self.family, path),
        };
        let path = renamed_path.as_deref().unwrap_or(path);
        match path.strip_prefix("model.") {
            Some(rest) => format!("{}{rest}", self.prefix),
            None if self.prefix == "language_model.model." => format!("language_model.{path}"),
            None => path.to_string(),
        }
    }

    /// All usable tensors of the folder as weights.
    fn collect(&self, quantization: &Quantization) -> Result<HashMap<String, Weight>> {
        let mut weights = HashMap::new();
        let names = self
            .folder
            .shards()
            .iter()
            .flat_map(|shard| shard.tensors());
        for (name, tensor) in names {
            let published = self.published(name, tensor, quantization)?;
            if !published.is_empty() {
                weights.extend(published);
                continue;
            }
            let weight = match name.strip_suffix(".weight") {
                Some(module) => self.module_weight(module, name, tensor, quantization)?,
                None if self.belongs_to_another(name) => None,
                None => self.dense(name, tensor)?,
            };
            if let Some(weight) = weight {
                weights.insert(name.clone(), weight);
            }
        }
        Ok(weights)
    }

    /// `module.weight` as the config's rule for the module and the presence of scales say.
    fn module_weight(
        &self,
        module: &str,
        name: &str,
        tensor: &Tensor,
        quantization: &Quantization,
    ) -> Result<Option<Weight>> {
        let scales = self.folder.tensor(&format!("{module}.scales"));
        // Most tensors of an unquantized model end here.
        if scales.is_none() && tensor.shape.len() != 2 {
            return self.dense(name, tensor);
        }
        if let (Some(method), true) = (quantization.method(), scales.is_none()) {
            return self.unpacked(module, name, tensor, method);
        }
        let file = |what: String| self.bad(name, what);
        // Configs list modules with or without the wrapper's prefix.
        let short = module.strip_prefix("language_model.").unwrap_or(module);
        let long = format!("language_model.{module}");
        let rule = quantization.rule(module, &[short, &long])?;
        match (rule, scales) {
            (Rule::Never | Rule::WhereScales(_) | Rule::Unsaid, None) => self.dense(name, tensor),
            (Rule::Always(settings) | Rule::WhereScales(settings), Some((scales, _))) => {
                self.quantized(module, name, tensor, scales, settings)
            }
            (Rule::Always(_), None) => Err(file(format!(
                "config.json lists the module as quantized, but {module}.scales is missing"
            ))),
            (Rule::Never, Some(_)) => Err(file(format!(
                "config.json lists the module as not quantized, but there is {module}.scales"
            ))),
            (Rule::Unsaid, Some(_)) => Err(file(format!(
                "there is {module}.scales, but config.json has no \"quantization\""
            ))),
        }
    }

    /// A vector, matrix or stack of matrices of floats; `None` for other types and more dimensions.
    pub(super) fn dense(&self, name: &str, tensor: &Tensor) -> Result<Option<Weight>> {
        let Dtype::Float(scalar) = tensor.dtype else {
            return Ok(None);
        };
        let (stack, rows, cols) = match tensor.shape[..] {
            [] => (1, 1, 1),
            [cols] => (1, 1, cols),
            [rows, cols] => (1, rows, cols),
            // Of no model, but some towers of others have such.
            [0, ..] | [_, 0, _] => return Ok(None),
            [stack, rows, cols] => (stack, rows, cols),
            // A vector with axes around it.
            ref all if all.iter().filter(|size| **size != 1).count() <= 1 => {
                (1, 1, all.iter().product())
            }
            _ => return Ok(None),
        };
        let data = tensor.data.clone();
        let format = Format::Dense(scalar);
        self.weight(name, format, (stack, rows, cols), data, None, None)
            .map(Some)
    }

    /// A matrix or a stack of matrices in one of MLX's formats: packed codes, scales, biases.
    fn quantized(
        &self,
        module: &str,
        name: &str,
        packed: &Tensor,
        scales: &Tensor,
        settings: Settings,
    ) -> Result<Option<Weight>> {
        let bad = |what: String| Err(self.bad(name, what));
        let Settings { mode, bits, group } = settings;
        let format = match (mode, &scales.dtype) {
            (Mode::Affine, Dtype::Float(scale)) => Format::Affine {
                bits,
                group,
                scale: *scale,
            },
            (Mode::Mxfp4, Dtype::U8) => Format::Mxfp4,
            (Mode::Mxfp8, Dtype::U8) => Format::Mxfp8,
            (Mode::Nvfp4, Dtype::U8) => Format::Nvfp4,
            (mode, dtype) => {
                let needed = match mode {
                    Mode::Affine => "F32, F16 or BF16",
                    _ => "U8",
                };
                return bad(format!(
                    "its scales have type {dtype}; the {} mode has {needed}",
                    mode.name()
                ));
            }
        };
        if packed.dtype != Dtype::U32 {
            return bad(format!(
                "type {} beside {module}.scales; packed codes are U32",
                packed.dtype
            ));
        }
        let (stack, rows, words, scale_shape) = match (&packed.shape[..], &scales.shape[..]) {
            ([rows, words], [scale_rows, groups]) => (1, *rows, *words, (1, *scale_rows, *groups)),
            ([stack, rows, words], [scale_stack, scale_rows, groups]) => {
                (*stack, *rows, *words, (*scale_stack, *scale_rows, *groups))
            }
            _ => return Ok(None),
        };
        let cols = scale_shape.2.checked_mul(usize::from(group));
        let bits_needed = cols.and_then(|cols| cols.checked_mul(usize::from(bits)));
        let bits_there = words.checked_mul(32);
        let same = bits_needed == bits_there && (stack, rows) == (scale_shape.0, scale_shape.1);
        let (Some(cols), true) = (cols, same) else {
            return bad(format!(
                "shape {:?} does not go with scales of shape {:?} at {bits} bits, group {group} \
                 (the quantization of config.json)",
                packed.shape, scales.shape
            ));
        };
        let biases = self.folder.tensor(&format!("{module}.biases"));
        let biases = match (mode, biases) {
            (Mode::Affine, None) => return bad(format!("{module}.biases is missing")),
            (Mode::Affine, Some((biases, _))) => {
                if (&biases.dtype, &biases.shape) != (&scales.dtype, &scales.shape) {
                    return bad(format!(
                        "its biases ({} {:?}) differ from its scales ({} {:?})",
                        biases.dtype, biases.shape, scales.dtype, scales.shape
                    ));
                }
                Some(biases.data.clone())
            }
            (mode, Some(_)) => {
                return bad(format!(
                    "there is {module}.biases, which the {} mode has not",
                    mode.name()
                ));
            }
            (_, None) => None,
        };
        let (data, scales) = (packed.data.clone(), Some(scales.data.clone()));
        self.weight(name, format, (stack, rows, cols), data, scales, biases)
            .map(Some)
    }

    /// `stack` matrices of `rows` by `cols`; errors name the file.
    pub(super) fn weight(
        &self,
        name: &str,
        format: Format,
        (stack, rows, cols): (usize, usize, usize),
        data: Bytes,
        scales: Option<Bytes>,
        biases: Option<Bytes>,
    ) -> Result<Weight> {
        let Some(all) = stack.checked_mul(rows) else {
            return Err(self.bad(name, format!("shape [{stack}, {rows}, {cols}] overflows")));
        };
        Weight::new(name, format, all, cols, data, scales, biases)
            .and_then(|weight| weight.stacked(stack))
            .map_err(|e| self.in_file(name, e))
    }

    /// An error about a tensor of the files.
    pub(super) fn bad(&self, name: &str, what: impl std::fmt::Display) -> Error {
        let file = self.file(name).display();
        Error::InvalidFile(format!("{file}: tensor {name}: {what}"))
    }

    /// The file that holds a tensor.
    pub(super) fn file(&self, name: &str) -> &Path {
        match self.folder.tensor(name) {
            Some((_, file)) => file,
            None => self.folder.path(),
        }
    }

    pub(super) fn in_file(&self, name: &str, error: Error) -> Error {
        match error {
            Error::InvalidFile(message) => {
                Error::InvalidFile(format!("{}: {message}", self.file(name).display()))
            }
            other => other,
        }
    }
}
