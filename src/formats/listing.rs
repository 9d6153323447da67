//! What tensors a model file or folder has, also of models and formats that this library does not run.

use super::folder::Folder;
use super::gguf::Gguf;
use super::safetensors::SafeTensors;
use crate::Result;
use std::path::Path;

/// A tensor as its file describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its name in the file.
    pub name: String,
    /// How the file spells the format of its numbers: `Q4_K`, `BF16`, `U32`.
    pub format: String,
    /// Dimensions, outermost first; none of a single number.
    pub shape: Vec<usize>,
    /// Bytes of the file that hold it; `None` of a format whose size is not known.
    pub bytes: Option<usize>,
}

/// The tensors of a GGUF file (of a split model: of all its files), of a safetensors file or of a model
/// folder, in the order of the files. No tensor data is read.
///
/// # Errors
/// `Io`, `InvalidFile` and `Unsupported` as opening such a file gives them.
pub fn list(path: &Path) -> Result<Vec<Listed>> {
    if path.is_dir() {
        return Ok(Folder::open(path)?.shards().iter().flat_map(of).collect());
    }
    if path.extension().is_some_and(|end| end == "safetensors") {
        return Ok(of(&SafeTensors::open(path)?).collect());
    }
    let file = Gguf::open(path)?;
    let all = file.all().map(|(name, tensor, dims)| Listed {
        name: name.to_string(),
        format: match tensor {
            Ok(weight) => weight.format.to_string(),
            Err(type_name) => type_name.to_string(),
        },
        // Stored the other way round.
        shape: dims.iter().rev().copied().collect(),
        bytes: match tensor {
            Ok(weight) => Some(weight.byte_len()),
            Err(type_name) => number_bytes(type_name)
                .and_then(|size| dims.iter().try_fold(size, |bytes, n| bytes.checked_mul(*n))),
        },
    });
    Ok(all.collect())
}

fn of(file: &SafeTensors) -> impl Iterator<Item = Listed> + '_ {
    file.tensors().iter().map(|(name, tensor)| Listed {
        name: name.clone(),
        format: tensor.dtype.to_string(),
        shape: tensor.shape.clone(),
        bytes: Some(tensor.data.len()),
    })
}

/// Bytes of a number of those plain GGUF types that are no weights.
fn number_bytes(type_name: &str) -> Option<usize> {
    match type_name {
        "I8" => Some(1),
        "I16" => Some(2),
        "I32" => Some(4),
        "I64" | "F64" => Some(8),
        _ => None,
    }
}
