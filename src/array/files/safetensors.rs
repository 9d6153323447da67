//! Named arrays in safetensors files.

use super::{Metadata, NamedArrays, bytes_of, mapped};
use crate::formats::safetensors::SafeTensors;
use crate::formats::{bad_name, brief, write_whole};
use crate::ir::Dtype;
use crate::{Error, Result};
use serde_json::{Map, Value, json};
use std::path::Path;

/// The format's name of a dtype.
fn name(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::Bool => "BOOL",
        Dtype::U8 => "U8",
        Dtype::U16 => "U16",
        Dtype::U32 => "U32",
        Dtype::U64 => "U64",
        Dtype::I8 => "I8",
        Dtype::I16 => "I16",
        Dtype::I32 => "I32",
        Dtype::I64 => "I64",
        Dtype::F16 => "F16",
        Dtype::F32 => "F32",
        Dtype::F64 => "F64",
        Dtype::Bf16 => "BF16",
        Dtype::C64 => "C64",
    }
}

/// The arrays of a file; their elements stay in it, mapped. 8-bit floats are their codes, as in MLX.
pub(super) fn load(path: &Path) -> Result<NamedArrays> {
    let file = SafeTensors::open(path)?;
    let mut named = NamedArrays::default();
    for (key, tensor) in file.tensors() {
        let spelled = tensor.dtype.to_string();
        let dtype = match spelled.as_str() {
            "F8_E4M3" | "F8_E8M0" => Some(Dtype::U8),
            spelled => Dtype::ALL.into_iter().find(|&d| name(d) == spelled),
        };
        let dtype = dtype.ok_or_else(|| {
            Error::Unsupported(format!(
                "{}: tensor {key}: {spelled} is no dtype of arrays",
                path.display()
            ))
        })?;
        let array = match dtype {
            // Bytes of a file may be anything.
            Dtype::Bool => mapped(&tensor.data, Dtype::U8, &tensor.shape)?.astype(Dtype::Bool),
            dtype => mapped(&tensor.data, dtype, &tensor.shape)?,
        };
        named.arrays.insert(key.clone(), array);
    }
    for (key, text) in file.metadata() {
        let text = Metadata::Text(text.clone());
        named.metadata.insert(key.clone(), text);
    }
    Ok(named)
}

impl NamedArrays {
    /// Saves arrays and metadata as a safetensors file, which is there whole or not at all.
    ///
    /// # Errors
    /// Those of computing the arrays; `InvalidArgument` for names that the format has not, and for metadata that is
    /// no text; `Io`.
    pub fn save_safetensors(&self, path: &Path) -> Result<()> {
        let refused = |what: String| Error::InvalidArgument(format!("save_safetensors: {what}"));
        let mut header = Map::new();
        if !self.metadata.is_empty() {
            let mut texts = Map::new();
            for (key, value) in &self.metadata {
                let Metadata::Text(text) = value else {
                    let what = format!("metadata {} is no text", brief(key));
                    return Err(refused(what));
                };
                texts.insert(key.clone(), Value::String(text.clone()));
            }
            header.insert("__metadata__".into(), Value::Object(texts));
        }
        // Wide elements first, so that each lies at a multiple of its size.
        let mut order: Vec<_> = self.arrays.iter().collect();
        order.sort_by_key(|(_, array)| std::cmp::Reverse(array.dtype().size()));
        let mut end = 0;
        for (key, array) in &order {
            if let Some(what) = bad_name(key) {
                return Err(refused(format!("name of an array: {what}")));
            }
            if *key == "__metadata__" {
                return Err(refused("__metadata__ is no name of an array".into()));
            }
            let sizes = array.shape().numbers().unwrap_or_default();
            let begin = end;
            end += sizes.iter().product::<usize>() * array.dtype().size();
            let entry = json!({
                "dtype": name(array.dtype()), "shape": sizes.to_vec(), "data_offsets": [begin, end]
            });
            header.insert((*key).clone(), entry);
        }
        let mut header = Value::Object(header).to_string().into_bytes();
        header.resize(header.len().next_multiple_of(8), b' ');
        write_whole(path, |file| {
            let length = (header.len() as u64).to_le_bytes();
            let mut written = file
                .write_all(&length)
                .and_then(|()| file.write_all(&header));
            for (_, array) in &order {
                // One array's bytes at a time.
                let bytes = bytes_of(array)?;
                written = written.and_then(|()| file.write_all(&bytes));
            }
            Ok(written)
        })
    }
}
