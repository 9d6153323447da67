//! Small models of every family with logits that mlx-lm gave (`golden/families/make.py`); their weights follow from
//! the names of their tensors.
#![allow(dead_code)] // each test program uses a part

#[path = "gguf_writer.rs"]
pub mod gguf_writer;
#[path = "tiny_tokenizer.rs"]
pub mod tiny_tokenizer;

use gguf_writer::GgufWriter;
use safetensors::tensor::{Dtype, TensorView};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Tokens of a text.
pub const TOKENS: usize = 45;
/// Every so many rows and columns of logits are kept.
const ROWS: usize = 4;
const COLUMNS: usize = 3;

/// The variants of a family.
pub fn variants(text: &str) -> BTreeMap<String, Variant> {
    serde_json::from_str(text).unwrap()
}

/// The text.
pub fn tokens(vocabulary: usize) -> Vec<u32> {
    let token = |i| ((i * i * 7 + i * 13 + 5) % vocabulary) as u32;
    (0..TOKENS).map(token).collect()
}

/// Those logits of the text that are kept.
pub fn kept(logits: &[f32], vocabulary: usize) -> Vec<f32> {
    let rows = logits.chunks(vocabulary).step_by(ROWS);
    rows.flat_map(|row| row.iter().copied().step_by(COLUMNS))
        .collect()
}

/// The largest difference, at logits of deviation 1.
pub fn farthest(a: &[f32], b: &[f32]) -> f32 {
    assert_eq!(a.len(), b.len());
    let squares: f32 = b.iter().map(|x| x * x).sum();
    let deviation = (squares / b.len() as f32).sqrt().max(1.0);
    let pairs = a.iter().zip(b).map(|(a, b)| (a - b).abs() / deviation);
    pairs.fold(0.0, |most, far| {
        if far > most || far.is_nan() {
            far
        } else {
            most
        }
    })
}

/// One model: its config, its tensors (shape, centre and spread of their numbers), some of its logits.
#[derive(Deserialize, Clone)]
pub struct Variant {
    pub config: serde_json::Value,
    pub tensors: BTreeMap<String, (Vec<usize>, f32, f32)>,
    pub logits: Vec<f32>,
    /// Hidden states, chosen alike.
    pub hidden: Vec<f32>,
    /// What a converter to GGUF makes of it.
    pub gguf: Option<Gguf>,
}

#[derive(Deserialize, Clone)]
pub struct Gguf {
    pub architecture: String,
    /// Without the architecture before the keys; with a slash before those that have none.
    pub metadata: BTreeMap<String, serde_json::Value>,
    /// By the names in a folder.
    pub names: BTreeMap<String, String>,
    /// The rows of q and k stand as llama.cpp's converter puts those of llama.
    pub permuted: bool,
    /// Added to norms.
    pub offset: f32,
}

/// Numbers in [-1, 1) that follow from the name: splitmix64 from its FNV-1a.
pub fn uniform(name: &str, count: usize) -> Vec<f32> {
    let mut state = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
    });
    let next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    std::iter::repeat_with(next).take(count).collect()
}

/// Writes the model as a folder.
pub fn write(folder: &Path, variant: &Variant) {
    std::fs::write(folder.join("config.json"), variant.config.to_string()).unwrap();
    let data: Vec<(&String, &Vec<usize>, Vec<u8>)> = variant
        .tensors
        .iter()
        .map(|(name, (shape, centre, spread))| {
            let numbers = uniform(name, shape.iter().product());
            let bytes = numbers
                .iter()
                .flat_map(|u| (centre + spread * u).to_le_bytes());
            (name, shape, bytes.collect())
        })
        .collect();
    let views = data.iter().map(|(name, shape, data)| {
        let view = TensorView::new(Dtype::F32, shape.to_vec(), data).unwrap();
        (name.as_str(), view)
    });
    let bytes = safetensors::serialize(views, None).unwrap();
    std::fs::write(folder.join("model.safetensors"), bytes).unwrap();
}

/// Writes the same model as a GGUF file.
pub fn write_gguf(folder: &Path, variant: &Variant, gguf: &Gguf) -> PathBuf {
    write_gguf_with(folder, variant, gguf, |_| {})
}

/// The same with what `more` adds.
pub fn write_gguf_with(
    folder: &Path,
    variant: &Variant,
    gguf: &Gguf,
    more: impl FnOnce(&mut GgufWriter),
) -> PathBuf {
    let mut writer = GgufWriter::new(3);
    more(&mut writer);
    writer.text("general.architecture", &gguf.architecture);
    for (key, value) in &gguf.metadata {
        let key = match key.strip_prefix('/') {
            Some(whole) => whole.to_string(),
            None => format!("{}.{key}", gguf.architecture),
        };
        match value {
            serde_json::Value::Bool(flag) => writer.flag(&key, *flag),
            serde_json::Value::String(text) => writer.text(&key, text),
            serde_json::Value::Array(list) if list[0].is_boolean() => {
                let flags = list.iter().map(|flag| flag.as_bool().unwrap());
                writer.flags(&key, &flags.collect::<Vec<_>>())
            }
            serde_json::Value::Array(list) if list[0].is_f64() => {
                let numbers = list.iter().map(|number| number.as_f64().unwrap() as f32);
                writer.f32s(&key, &numbers.collect::<Vec<_>>())
            }
            serde_json::Value::Array(list) => {
                let numbers = list.iter().map(|number| number.as_i64().unwrap() as i32);
                writer.i32s(&key, &numbers.collect::<Vec<_>>())
            }
            number => match number.as_u64() {
                Some(number) => writer.u32(&key, number as u32),
                None => writer.f32(&key, number.as_f64().unwrap() as f32),
            },
        };
    }
    let size = |key: &str| gguf.metadata[key].as_u64().unwrap() as usize;
    for (name, (shape, centre, spread)) in &variant.tensors {
        let is_norm = name.ends_with("norm.weight");
        let offset = if is_norm { gguf.offset } else { 0.0 };
        let numbers = uniform(name, shape.iter().product());
        let mut numbers: Vec<f32> = numbers
            .iter()
            .map(|u| centre + spread * u + offset)
            .collect();
        if name == "rope_freqs.weight" {
            // Pairs that do not turn.
            let half = numbers.len() / 2;
            numbers[half..].fill(1e30);
        }
        let heads = match name {
            _ if !gguf.permuted => None,
            name if name.contains("q_proj") => Some(size("attention.head_count")),
            name if name.contains("k_proj") => Some(size("attention.head_count_kv")),
            _ => None,
        };
        if let Some(heads) = heads {
            numbers = permuted(&numbers, heads, shape[0] / heads);
        }
        let bytes = numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect();
        // Convolutions lose the axis of one channel.
        let kept =
            |(axis, size): &(usize, &usize)| !(*axis == 2 && **size == 1 && shape.len() == 3);
        let sizes = shape.iter().enumerate().filter(kept);
        let dims: Vec<u64> = sizes.rev().map(|(_, &size)| size as u64).collect();
        writer.tensor(&gguf.names[name], &dims, 0, bytes);
    }
    let path = folder.join("model.gguf");
    std::fs::write(&path, writer.bytes()).unwrap();
    path
}

/// Each head's rows `[2, dim / 2]` as `[dim / 2, 2]`.
fn permuted(numbers: &[f32], heads: usize, dim: usize) -> Vec<f32> {
    let cols = numbers.len() / (heads * dim);
    let rows = (0..heads * dim).flat_map(|row| {
        let (head, row) = (row / dim, row % dim);
        let from = head * dim + row % 2 * (dim / 2) + row / 2;
        &numbers[from * cols..(from + 1) * cols]
    });
    rows.copied().collect()
}
