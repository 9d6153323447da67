//! The config of the result, from that of a folder.

use super::choice::entry;
use crate::formats::ScalarType;
use crate::formats::folder::Folder;
use crate::ir::Quantization;
use crate::{Error, Result};
use serde_json::{Map, Value};

/// A config.json.
pub(super) type Object = Map<String, Value>;

/// Names of types, as configs have them.
const TYPES: [(&str, ScalarType); 3] = [
    ("float16", ScalarType::F16),
    ("bfloat16", ScalarType::BF16),
    ("float32", ScalarType::F32),
];

/// The type that configs call so.
pub fn named(name: &str) -> Option<ScalarType> {
    let (_, scalar) = TYPES.iter().find(|(known, _)| *known == name)?;
    Some(*scalar)
}

/// The name of a type.
pub(super) fn name(scalar: ScalarType) -> &'static str {
    let found = TYPES.iter().find(|(_, known)| *known == scalar);
    found.map_or("float32", |(name, _)| name)
}

/// The type that mlx-lm casts all numbers to, if the config names one.
pub(super) fn wanted(config: &Object) -> Option<ScalarType> {
    let text = config.get("text_config").and_then(|text| text.get("dtype"));
    let dtype = config.get("torch_dtype").filter(|dtype| !dtype.is_null());
    named(dtype.or(text)?.as_str()?)
}

/// What is read of a folder's config: with the end-of-text tokens of generation_config.json, as mlx-lm has it.
///
/// # Errors
/// `Unsupported` for models that are quantized.
pub(super) fn of_folder(folder: &Folder, tied: bool) -> Result<Object> {
    let mut config = folder.config().clone();
    let text = config.get("text_config");
    let quantized = ["quantization", "quantization_config"]
        .into_iter()
        .find(|key| {
            let places = [config.get(*key), text.and_then(|text| text.get(*key))];
            places.into_iter().flatten().any(|value| !value.is_null())
        });
    if let Some(key) = quantized {
        return Err(Error::Unsupported(format!(
            "{}: {key} says that the model is quantized; quantize the original of 16- or 32-bit numbers",
            folder.path().join("config.json").display()
        )));
    }
    let is_said = |object: Option<&Value>| {
        object.is_some_and(|object| {
            object
                .get("tie_word_embeddings")
                .is_some_and(|v| !v.is_null())
        })
    };
    if !tied && !is_said(text) && config.get("tie_word_embeddings").is_none_or(Value::is_null) {
        // mlx-lm takes the table for the head where nothing is said, also beside a head.
        config.insert("tie_word_embeddings".into(), false.into());
    }
    match folder.generation_config().get("eos_token_id") {
        None | Some(Value::Null | Value::Bool(false)) => {}
        Some(eos) => {
            config.insert("eos_token_id".into(), eos.clone());
        }
    }
    config.remove("_name_or_path");
    config.remove("vision_config");
    Ok(config)
}

/// Adds what was quantized how; `modules` that differ have entries of their own.
pub(super) fn add_quantization(
    config: &mut Object,
    base: &Quantization,
    modules: Vec<(String, Value)>,
) {
    let mut all = entry(base);
    if let Some(all) = all.as_object_mut() {
        all.extend(modules);
    }
    config.insert("quantization".into(), all.clone());
    config.insert("quantization_config".into(), all);
}
