//! Small random models: a GGUF file or an MLX folder of every format and family, the same on every
//! run. Weights are scaled so that logits have a standard deviation of about 1 to 3.
#![allow(dead_code, unused_imports)] // each test binary uses a part

pub mod gguf_writer;
pub mod prng;
mod random_collection;
mod random_folder;
pub mod random_formats;
pub mod random_matrix;
pub mod tiny_tokenizer;

use gguf_writer::GgufWriter;
use mlxrocm::formats::{Format, ScalarType};
use prng::Prng;
pub use random_collection::{GGUF_FORMATS, all, later_formats};
use std::path::{Path, PathBuf};

/// How the matrices are stored.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Storage {
    /// A GGUF file of this version; all matrices of this type.
    Gguf(u32, Format),
    /// A model folder; all matrices affine.
    Affine {
        bits: u8,
        group: usize,
        scale: ScalarType,
    },
    /// A model folder, unquantized.
    Dense(ScalarType),
    /// A model folder with settings of their own for some modules (f16 scales).
    Mixed,
    /// A model folder in one of MLX's float modes, or as another tool publishes it.
    Folder(Format),
}

/// How RoPE is scaled.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rope {
    Plain,
    Linear,
    /// Llama 3's scaling in a folder; frequency factors in a GGUF file.
    Llama3,
    Yarn,
}

/// A model to write.
#[derive(Debug, Clone)]
pub struct Spec {
    /// File or folder name.
    pub name: String,
    /// `llama`, `mistral`, `qwen2` or `qwen3` (GGUF has no `mistral`).
    pub family: &'static str,
    pub storage: Storage,
    pub tied: bool,
    pub head_dim: usize,
    pub rope: Rope,
    /// Keys further back are not seen (`mistral` folders).
    pub window: Option<usize>,
    /// Folder: `text_config` and names under `language_model.`.
    pub nested: bool,
    /// Folder: number of safetensors files.
    pub shards: usize,
    pub seed: u64,
}

pub const HIDDEN: usize = 256;
pub const MLP: usize = 512;
pub const VOCABULARY: usize = 320;
pub const LAYERS: usize = 2;
pub const HEADS: usize = 4;
pub const KV_HEADS: usize = 2;
pub const CONTEXT: usize = 512;

const F16: ScalarType = ScalarType::F16;

impl Spec {
    pub fn new(name: impl Into<String>, family: &'static str, storage: Storage) -> Spec {
        let name = name.into();
        // The seed follows from the name, so that adding a model changes no other.
        let seed = name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        });
        Spec {
            name,
            family,
            storage,
            tied: seed % 2 == 0,
            head_dim: 64,
            rope: Rope::Plain,
            window: None,
            nested: false,
            shards: 1,
            seed,
        }
    }

    /// Writes the model into `folder` and returns its path.
    pub fn write(&self, folder: &Path) -> PathBuf {
        let path = folder.join(&self.name);
        match self.storage {
            Storage::Gguf(version, format) => {
                std::fs::write(&path, self.gguf(version, format)).unwrap();
            }
            _ => self.write_folder(&path),
        }
        path
    }

    /// Matrices: Hugging Face path, rows, columns, standard deviation.
    fn matrices(&self) -> Vec<(String, usize, usize, f64)> {
        let (q, kv) = (HEADS * self.head_dim, KV_HEADS * self.head_dim);
        // The head's rows give logits of a standard deviation of 2 for a normed input.
        let head_std = 2.0 / (HIDDEN as f64).sqrt();
        let mut all = vec![("model.embed_tokens".into(), VOCABULARY, HIDDEN, head_std)];
        for layer in 0..LAYERS {
            for (module, rows, cols) in [
                ("self_attn.q_proj", q, HIDDEN),
                ("self_attn.k_proj", kv, HIDDEN),
                ("self_attn.v_proj", kv, HIDDEN),
                ("self_attn.o_proj", HIDDEN, q),
                ("mlp.gate_proj", MLP, HIDDEN),
                ("mlp.up_proj", MLP, HIDDEN),
                ("mlp.down_proj", HIDDEN, MLP),
            ] {
                let std = 1.0 / (cols as f64).sqrt();
                all.push((format!("model.layers.{layer}.{module}"), rows, cols, std));
            }
        }
        if !self.tied {
            all.push(("lm_head".into(), VOCABULARY, HIDDEN, head_std));
        }
        all
    }

    /// Vectors: tensor name, length, mean, standard deviation.
    fn vectors(&self) -> Vec<(String, usize, f64, f64)> {
        let (q, kv) = (HEADS * self.head_dim, KV_HEADS * self.head_dim);
        let mut all = vec![("model.norm.weight".to_string(), HIDDEN, 1.0, 0.1)];
        for layer in 0..LAYERS {
            let mut add = |module: &str, len, mean, std| {
                all.push((format!("model.layers.{layer}.{module}"), len, mean, std));
            };
            add("input_layernorm.weight", HIDDEN, 1.0, 0.1);
            add("post_attention_layernorm.weight", HIDDEN, 1.0, 0.1);
            if self.family == "qwen2" {
                add("self_attn.q_proj.bias", q, 0.0, 0.3);
                add("self_attn.k_proj.bias", kv, 0.0, 0.3);
                add("self_attn.v_proj.bias", kv, 0.0, 0.3);
            }
            if self.family == "qwen3" {
                add("self_attn.q_norm.weight", self.head_dim, 1.2, 0.2);
                add("self_attn.k_norm.weight", self.head_dim, 1.2, 0.2);
            }
        }
        all
    }

    fn gguf(&self, version: u32, format: Format) -> Vec<u8> {
        let mut prng = Prng::new(self.seed);
        let mut writer = GgufWriter::new(version);
        let family = self.family;
        let key = |name: &str| format!("{family}.{name}");
        writer
            .text("general.architecture", family)
            .text("general.name", &self.name)
            .u32(&key("context_length"), CONTEXT as u32)
            .u32(&key("embedding_length"), HIDDEN as u32)
            .u32(&key("block_count"), LAYERS as u32)
            .u32(&key("feed_forward_length"), MLP as u32)
            .u32(&key("attention.head_count"), HEADS as u32)
            .u32(&key("attention.head_count_kv"), KV_HEADS as u32)
            .f32(&key("attention.layer_norm_rms_epsilon"), 1e-5)
            .f32(&key("rope.freq_base"), 10_000.0)
            .u32(&key("rope.dimension_count"), self.head_dim as u32);
        if self.head_dim != HIDDEN / HEADS {
            writer
                .u32(&key("attention.key_length"), self.head_dim as u32)
                .u32(&key("attention.value_length"), self.head_dim as u32);
        }
        match self.rope {
            Rope::Plain | Rope::Llama3 => {}
            Rope::Linear => {
                writer
                    .text(&key("rope.scaling.type"), "linear")
                    .f32(&key("rope.scaling.factor"), 4.0);
            }
            Rope::Yarn => {
                writer
                    .text(&key("rope.scaling.type"), "yarn")
                    .f32(&key("rope.scaling.factor"), 4.0)
                    .u32(&key("rope.scaling.original_context_length"), 128);
            }
        }
        tiny_tokenizer::write_gguf(&mut writer);
        for (path, len, mean, std) in self.vectors() {
            let values = (0..len).map(|_| mean + std * prng.normal());
            let data = random_matrix::dense(ScalarType::F32, values);
            writer.tensor(&gguf_name(&path), &[len as u64], 0, data);
        }
        if self.rope == Rope::Llama3 {
            let factors = (0..self.head_dim / 2).map(|i| 1.0 + i as f64 / 8.0);
            let data = random_matrix::dense(ScalarType::F32, factors);
            writer.tensor("rope_freqs.weight", &[self.head_dim as u64 / 2], 0, data);
        }
        for (path, rows, cols, std) in self.matrices() {
            let data = random_matrix::gguf_matrix(&mut prng, format, rows, cols, std);
            let kind = random_matrix::ggml_type(format);
            let name = gguf_name(&format!("{path}.weight"));
            writer.tensor(&name, &[cols as u64, rows as u64], kind, data);
        }
        writer.bytes()
    }
}

/// The GGUF name of a tensor.
fn gguf_name(name: &str) -> String {
    let mut name = name.to_string();
    for (from, to) in [
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("model.layers.", "blk."),
        ("self_attn.q_norm", "attn_q_norm"),
        ("self_attn.k_norm", "attn_k_norm"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("mlp.gate_proj", "ffn_gate"),
        ("mlp.up_proj", "ffn_up"),
        ("mlp.down_proj", "ffn_down"),
        ("input_layernorm", "attn_norm"),
        ("post_attention_layernorm", "ffn_norm"),
    ] {
        name = name.replace(from, to);
    }
    name
}
