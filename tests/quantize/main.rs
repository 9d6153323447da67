//! Quantizing models, beside mlx-lm.

mod gguf;
mod interrupted;
mod refusals;
mod same;

#[path = "../support/random_model.rs"]
mod random_model;

use half::{bf16, f16};
use mlxrocm::Result;
use mlxrocm::ir::{QuantMode, Quantization};
use mlxrocm::model::quantize::{QuantizeOptions, Quantized, quantize};
use safetensors::tensor::{Dtype, TensorView};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A model as it is published, and what mlx-lm makes of it (`golden/quantize/make.py`).
#[derive(Deserialize)]
struct Model {
    config: Value,
    dtype: String,
    files: usize,
    /// Name → shape; numbers follow from the names.
    tensors: BTreeMap<String, Vec<usize>>,
    ways: BTreeMap<String, Way>,
}

/// A way to quantize a model.
#[derive(Deserialize)]
struct Way {
    /// Arguments of mlx-lm's `convert`.
    options: Map<String, Value>,
    /// Of the config that it writes.
    quantization: Value,
    /// What else that config says.
    config: Value,
    /// Name → type, shape, CRC-32 of the bytes.
    tensors: BTreeMap<String, (String, Vec<usize>, u32)>,
}

fn models() -> &'static BTreeMap<String, Model> {
    static MODELS: OnceLock<BTreeMap<String, Model>> = OnceLock::new();
    let text = include_str!("../golden/quantize/sums.json");
    MODELS.get_or_init(|| serde_json::from_str(text).unwrap())
}

/// Numbers in [-1, 1) that follow from the name: splitmix64 from its FNV-1a.
fn uniform(name: &str, count: usize) -> impl Iterator<Item = f32> {
    let mut state = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let next = move || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count)
}

type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

impl Model {
    /// All tensors of the source.
    fn source(&self) -> Vec<Tensor> {
        let tensors = self.tensors.iter().map(|(name, shape)| {
            let numbers = uniform(name, shape.iter().product()).map(|x| x * 0.25);
            let (dtype, bytes): (_, Vec<u8>) = match &*self.dtype {
                "float32" => (Dtype::F32, numbers.flat_map(f32::to_le_bytes).collect()),
                "float16" => {
                    let numbers = numbers.flat_map(|x| f16::from_f32(x).to_le_bytes());
                    (Dtype::F16, numbers.collect())
                }
                _ => {
                    let numbers = numbers.flat_map(|x| bf16::from_f32(x).to_le_bytes());
                    (Dtype::BF16, numbers.collect())
                }
            };
            (name.clone(), dtype, shape.clone(), bytes)
        });
        tensors.collect()
    }

    /// Writes the source.
    fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join("source");
        std::fs::create_dir(&path).unwrap();
        std::fs::write(path.join("config.json"), self.config.to_string()).unwrap();
        let all = self.source();
        for (part, tensors) in all.chunks(all.len().div_ceil(self.files)).enumerate() {
            let name = match self.files {
                1 => "model.safetensors".to_string(),
                files => format!("model-{:05}-of-{files:05}.safetensors", part + 1),
            };
            write_tensors(&path.join(name), tensors);
        }
        path
    }
}

fn write_tensors(path: &Path, tensors: &[Tensor]) {
    let views = tensors.iter().map(|(name, dtype, shape, data)| {
        (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    std::fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

fn affine(bits: usize, group: usize) -> QuantizeOptions {
    with(Quantization {
        group,
        bits,
        mode: QuantMode::Affine,
    })
}

fn with(base: Quantization) -> QuantizeOptions {
    QuantizeOptions {
        base,
        recipe: None,
        rules: Vec::new(),
        dtype: None,
        threads: 2,
        shard_bytes: 0,
    }
}

fn run(source: &Path, target: &Path, options: &QuantizeOptions) -> Result<Quantized> {
    quantize(source, target, options, &mut |_, _| true)
}

/// All tensors of a folder: type, shape, bytes. Their places are checked as any reader would.
fn read(folder: &Path) -> BTreeMap<String, (Dtype, Vec<usize>, Vec<u8>)> {
    let mut all = BTreeMap::new();
    let index: Value = json(&folder.join("model.safetensors.index.json"));
    for file in files(folder)
        .iter()
        .filter(|name| name.ends_with(".safetensors"))
    {
        let bytes = std::fs::read(folder.join(file)).unwrap();
        let tensors = safetensors::SafeTensors::deserialize(&bytes).unwrap();
        for (name, tensor) in tensors.tensors() {
            assert_eq!(index["weight_map"][&name], *file, "{name}");
            let tensor = (
                tensor.dtype(),
                tensor.shape().to_vec(),
                tensor.data().to_vec(),
            );
            assert!(all.insert(name.clone(), tensor).is_none(), "{name} twice");
        }
    }
    let count = index["weight_map"].as_object().unwrap().len();
    assert_eq!(count, all.len());
    let total: usize = all.values().map(|(.., bytes)| bytes.len()).sum();
    assert_eq!(index["metadata"]["total_size"], total);
    all
}

/// The names of a folder's files.
fn files(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.collect();
    names.sort();
    names
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}
