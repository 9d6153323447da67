//! A tiny model folder (llama: hidden 64, one layer, two heads of 32, eight tokens), affine 4-bit,
//! group 32, f16 scales; small enough to damage every byte of it.

use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// Name, type, shape, data.
pub type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// A folder that is removed at the end.
pub struct TinyFolder {
    folder: TempDir,
    pub path: PathBuf,
}

impl TinyFolder {
    pub fn new() -> TinyFolder {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("tiny");
        std::fs::create_dir(&path).unwrap();
        let tiny = TinyFolder { folder, path };
        tiny.json("config.json", &config());
        tiny.tensors("model.safetensors", &tensors());
        tiny
    }

    /// A sibling of the folder.
    pub fn beside(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    pub fn json(&self, name: &str, value: &Value) {
        std::fs::write(self.file(name), value.to_string()).unwrap();
    }

    pub fn text(&self, name: &str, text: impl AsRef<[u8]>) {
        std::fs::write(self.file(name), text).unwrap();
    }

    pub fn tensors(&self, name: &str, tensors: &[Tensor]) {
        write_tensors(&self.file(name), tensors);
    }

    pub fn remove(&self, name: &str) {
        std::fs::remove_file(self.file(name)).unwrap();
    }
}

pub fn write_tensors(path: &Path, tensors: &[Tensor]) {
    let views = tensors.iter().map(|(name, dtype, shape, data)| {
        (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    std::fs::write(path, safetensors::serialize(views, None).unwrap()).unwrap();
}

pub fn config() -> Value {
    json!({
        "model_type": "llama", "hidden_size": 64, "intermediate_size": 64,
        "num_hidden_layers": 1, "num_attention_heads": 2, "num_key_value_heads": 1,
        "vocab_size": 8, "max_position_embeddings": 128, "rms_norm_eps": 1e-5,
        "tie_word_embeddings": true, "eos_token_id": 2,
        "quantization": {"group_size": 32, "bits": 4}
    })
}

/// A quantized module of `[rows, 64]`.
pub fn module(path: &str, rows: usize, bits: usize, group: usize) -> Vec<Tensor> {
    let scales = vec![0x11; rows * 64 / group * 2];
    vec![
        (
            format!("{path}.weight"),
            Dtype::U32,
            vec![rows, 64 * bits / 32],
            vec![0x5a; rows * 64 * bits / 8],
        ),
        (
            format!("{path}.scales"),
            Dtype::F16,
            vec![rows, 64 / group],
            scales.clone(),
        ),
        (
            format!("{path}.biases"),
            Dtype::F16,
            vec![rows, 64 / group],
            scales,
        ),
    ]
}

pub fn norm(path: &str) -> Tensor {
    (
        format!("{path}.weight"),
        Dtype::F16,
        vec![64],
        vec![0x3c; 128],
    )
}

pub fn tensors() -> Vec<Tensor> {
    let mut all = module("model.embed_tokens", 8, 4, 32);
    for (name, rows) in [
        ("self_attn.q_proj", 64),
        ("self_attn.k_proj", 32),
        ("self_attn.v_proj", 32),
        ("self_attn.o_proj", 64),
        ("mlp.gate_proj", 64),
        ("mlp.up_proj", 64),
        ("mlp.down_proj", 64),
    ] {
        all.extend(module(&format!("model.layers.0.{name}"), rows, 4, 32));
    }
    all.push(norm("model.layers.0.input_layernorm"));
    all.push(norm("model.layers.0.post_attention_layernorm"));
    all.push(norm("model.norm"));
    all
}
