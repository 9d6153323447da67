//! The weights of a model folder: dense or MLX affine, under Hugging Face paths.

use super::quantization::{Quantization, Rule, Settings};
use crate::formats::folder::Folder;
use crate::formats::safetensors::{Dtype, Tensor};
use crate::formats::{Format, Weight, brief};
use crate::{Error, Result};
use std::collections::HashMap;
use std::path::Path;

/// Where the language model's modules lie, most usual first; `embed_tokens` decides.
const PREFIXES: [&str; 4] = [
    "model.",
    "language_model.model.",
    "model.language_model.",
    "",
];

/// The tensors of one model folder.
#[derive(Debug)]
pub(super) struct FolderTensors {
    folder: Folder,
    prefix: &'static str,
    /// By tensor name in the files (`….weight`, `….bias`).
    weights: HashMap<String, Weight>,
}

impl FolderTensors {
    /// Opens the folder and takes all its tensors together into weights.
    pub(super) fn open(path: &Path) -> Result<FolderTensors> {
        let folder = Folder::open(path)?;
        let quantization = Quantization::read(&folder)?;
        let prefix = PREFIXES
            .into_iter()
            .find(|prefix| {
                folder
                    .tensor(&format!("{prefix}embed_tokens.weight"))
                    .is_some()
            })
            .unwrap_or("model.");
        let mut tensors = FolderTensors {
            folder,
            prefix,
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

    /// Whether the tensor is the scales or biases of a weight that is there too.
    fn is_part(&self, name: &str) -> bool {
        let module = name
            .strip_suffix(".scales")
            .or_else(|| name.strip_suffix(".biases"));
        module.is_some_and(|module| self.folder.tensor(&format!("{module}.weight")).is_some())
    }

    /// Whether the files hold an output head.
    pub(super) fn has_head(&self) -> bool {
        self.weights.contains_key(&self.name("lm_head", "weight"))
    }

    /// The name of `path.part` in the files.
    pub(super) fn name(&self, path: &str, part: &str) -> String {
        let module = self.module(path);
        format!("{module}.{part}")
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
            let weight = match name.strip_suffix(".weight") {
                Some(module) => self.module_weight(module, name, tensor, quantization)?,
                // Scales and biases belong to the weight beside them.
                None if name.ends_with(".scales") || name.ends_with(".biases") => None,
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
        let file = |what: String| {
            Error::InvalidFile(format!(
                "{}: tensor {name}: {what}",
                self.file(name).display()
            ))
        };
        // Configs list modules with or without the wrapper's prefix.
        let short = module.strip_prefix("language_model.").unwrap_or(module);
        let long = format!("language_model.{module}");
        let rule = quantization.rule(module, &[short, &long])?;
        match (rule, scales) {
            (Rule::Never | Rule::WhereScales(_) | Rule::Unsaid, None) => self.dense(name, tensor),
            (Rule::Always(settings) | Rule::WhereScales(settings), Some((scales, _))) => {
                self.affine(module, name, tensor, scales, settings)
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

    /// A vector or matrix of floats; `None` for other types and more dimensions.
    fn dense(&self, name: &str, tensor: &Tensor) -> Result<Option<Weight>> {
        let Dtype::Float(scalar) = tensor.dtype else {
            return Ok(None);
        };
        let (rows, cols) = match tensor.shape[..] {
            [] => (1, 1),
            [cols] => (1, cols),
            [rows, cols] => (rows, cols),
            _ => return Ok(None),
        };
        let data = tensor.data.clone();
        let weight = Weight::new(name, Format::Dense(scalar), rows, cols, data, None, None);
        weight.map(Some).map_err(|e| self.in_file(name, e))
    }

    /// An affine matrix of packed codes, scales and biases.
    fn affine(
        &self,
        module: &str,
        name: &str,
        packed: &Tensor,
        scales: &Tensor,
        settings: Settings,
    ) -> Result<Option<Weight>> {
        let bad = |what: String| {
            Err(Error::InvalidFile(format!(
                "{}: tensor {name}: {what}",
                self.file(name).display()
            )))
        };
        let Settings { bits, group } = settings;
        let Dtype::Float(scalar) = scales.dtype else {
            return bad(format!(
                "its scales have type {}; the affine mode has F32, F16 or BF16",
                scales.dtype
            ));
        };
        if packed.dtype != Dtype::U32 {
            return bad(format!(
                "type {} beside {module}.scales; packed codes are U32",
                packed.dtype
            ));
        }
        // Stacks of experts have three dimensions; no dense model uses one.
        let ([rows, words], [scale_rows, groups]) = (&packed.shape[..], &scales.shape[..]) else {
            return Ok(None);
        };
        let cols = groups.checked_mul(usize::from(group));
        let bits_needed = cols.and_then(|cols| cols.checked_mul(usize::from(bits)));
        let bits_there = words.checked_mul(32);
        let (Some(cols), true) = (cols, bits_needed == bits_there && rows == scale_rows) else {
            return bad(format!(
                "shape {:?} does not go with scales of shape {:?} at {bits} bits, group {group} \
                 (the quantization of config.json)",
                packed.shape, scales.shape
            ));
        };
        let Some((biases, _)) = self.folder.tensor(&format!("{module}.biases")) else {
            return bad(format!("{module}.biases is missing"));
        };
        if (&biases.dtype, &biases.shape) != (&scales.dtype, &scales.shape) {
            return bad(format!(
                "its biases ({} {:?}) differ from its scales ({} {:?})",
                biases.dtype, biases.shape, scales.dtype, scales.shape
            ));
        }
        let format = Format::Affine {
            bits,
            group,
            scale: scalar,
        };
        let weight = Weight::new(
            name,
            format,
            *rows,
            cols,
            packed.data.clone(),
            Some(scales.data.clone()),
            Some(biases.data.clone()),
        );
        weight.map(Some).map_err(|e| self.in_file(name, e))
    }

    /// The file that holds a tensor.
    pub(super) fn file(&self, name: &str) -> &Path {
        match self.folder.tensor(name) {
            Some((_, file)) => file,
            None => self.folder.path(),
        }
    }

    fn in_file(&self, name: &str, error: Error) -> Error {
        match error {
            Error::InvalidFile(message) => {
                Error::InvalidFile(format!("{}: {message}", self.file(name).display()))
            }
            other => other,
        }
    }
}
