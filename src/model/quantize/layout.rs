//! Where every array lies in the files of the result, known before any number is read.

use super::tensor::{Part, Tensor};
use crate::ir::Dtype;
use crate::{Error, Result};
use serde_json::{Map, Value, json};

/// Bytes of tensors in one file, as in mlx-lm. A tensor that is larger has a file of its own.
pub(super) const SHARD_BYTES: u64 = 5 << 30;

/// One file.
#[derive(Debug)]
pub(super) struct Shard {
    /// Length, names, types, shapes and places.
    pub(super) header: Vec<u8>,
    /// Bytes of the whole file.
    pub(super) bytes: u64,
    /// Tensors in this file and those before it.
    pub(super) end: usize,
}

/// All files.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) shards: Vec<Shard>,
    /// Of each tensor: the places of its parts in their file.
    pub(super) places: Vec<Vec<u64>>,
    /// Bytes of all arrays.
    pub(super) bytes: u64,
}

/// A type as safetensors files spell it.
fn spelled(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F32 => "F32",
        Dtype::F16 => "F16",
        Dtype::Bf16 => "BF16",
        Dtype::U32 => "U32",
        _ => "U8",
    }
}

fn bytes(part: &Part, rows: usize) -> u64 {
    part.row_bytes as u64 * rows as u64
}

impl Layout {
    /// Places the tensors in their order into files of at most `limit` bytes.
    ///
    /// # Errors
    /// `InvalidFile` for two tensors of one name.
    pub(super) fn new(tensors: &[Tensor], limit: u64) -> Result<Layout> {
        let mut layout = Layout {
            shards: Vec::new(),
            places: Vec::with_capacity(tensors.len()),
            bytes: 0,
        };
        let (mut first, mut size) = (0, 0u64);
        for (index, tensor) in tensors.iter().enumerate() {
            let all: u64 = tensor
                .parts()
                .iter()
                .map(|part| bytes(part, tensor.rows))
                .sum();
            if index > first && size + all > limit {
                layout.close(&tensors[first..index])?;
                (first, size) = (index, 0);
            }
            size += all;
            layout.bytes += all;
        }
        layout.close(&tensors[first..])?;
        Ok(layout)
    }

    /// A file of these tensors. Larger elements come first, so that each array is aligned to its own.
    fn close(&mut self, tensors: &[Tensor]) -> Result<()> {
        let parts = tensors.iter().enumerate().flat_map(|(index, tensor)| {
            let parts = tensor.parts().into_iter().enumerate();
            parts.map(move |(n, part)| (index, n, bytes(&part, tensor.rows), part))
        });
        let mut parts: Vec<_> = parts.collect();
        parts.sort_by_key(|(.., part)| std::cmp::Reverse(part.dtype.size()));
        let mut header = Map::new();
        header.insert("__metadata__".into(), json!({"format": "mlx"}));
        let mut end = 0;
        let mut places: Vec<Vec<u64>> = tensors.iter().map(|t| vec![0; t.parts().len()]).collect();
        for (index, n, bytes, part) in parts {
            let entry = json!({
                "dtype": spelled(part.dtype), "shape": part.shape, "data_offsets": [end, end + bytes]
            });
            if header.insert(part.name.clone(), entry).is_some() {
                let what = format!("two tensors would be called {}", part.name);
                return Err(Error::InvalidFile(what));
            }
            places[index][n] = end;
            end += bytes;
        }
        let mut text = Value::Object(header).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(8), b' ');
        let mut header = (text.len() as u64).to_le_bytes().to_vec();
        header.append(&mut text);
        let start = header.len() as u64;
        for place in places.iter_mut().flatten() {
            *place += start;
        }
        self.places.append(&mut places);
        self.shards.push(Shard {
            bytes: start + end,
            header,
            end: self.places.len(),
        });
        Ok(())
    }

    /// The name of a file.
    pub(super) fn name(&self, shard: usize) -> String {
        match self.shards.len() {
            1 => "model.safetensors".into(),
            count => format!("model-{:05}-of-{count:05}.safetensors", shard + 1),
        }
    }

    /// The file that a tensor lies in.
    pub(super) fn shard_of(&self, tensor: usize) -> usize {
        self.shards.partition_point(|shard| shard.end <= tensor)
    }

    /// `model.safetensors.index.json`.
    pub(super) fn index(&self, tensors: &[Tensor]) -> Value {
        let mut files = Map::new();
        let mut parameters = 0;
        for (index, tensor) in tensors.iter().enumerate() {
            let name = self.name(self.shard_of(index));
            for part in tensor.parts() {
                files.insert(part.name, name.clone().into());
            }
            parameters += tensor.rows as u64 * tensor.columns as u64;
        }
        json!({
            "metadata": {"total_size": self.bytes, "total_parameters": parameters},
            "weight_map": files
        })
    }
}
