//! Small random models: a GGUF file or an MLX folder of every format and family, the same on every
//! run. Weights are scaled so that logits have a standard deviation of about 1 to 3.
#![allow(dead_code)] // each test binary uses a part

pub mod gguf_writer;
pub mod prng;
pub mod random_formats;
pub mod random_matrix;
pub mod tiny_tokenizer;

use gguf_writer::GgufWriter;
use mlxrocm::formats::{Format, ScalarType};
use prng::Prng;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Map, Value, json};
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

    /// Bits, group and scale type of a module; `None`: dense, with the type of the vectors.
    fn affine(&self, path: &str) -> Option<(u8, usize, ScalarType)> {
        match self.storage {
            Storage::Affine { bits, group, scale } => Some((bits, group, scale)),
            Storage::Mixed => match path {
                "model.embed_tokens" => Some((8, 32, F16)),
                "lm_head" => Some((6, 64, F16)),
                "model.layers.0.mlp.down_proj" => Some((3, 128, F16)),
                "model.layers.1.self_attn.v_proj" => None,
                "model.layers.1.mlp.gate_proj" => Some((5, 32, F16)),
                _ => Some((4, 64, F16)),
            },
            _ => None,
        }
    }

    /// The format of a matrix of `Storage::Folder`; `None`: dense.
    fn folder_format(&self, path: &str) -> Option<Format> {
        let table = path == "model.embed_tokens" || path == "lm_head";
        match self.storage {
            Storage::Folder(format) if !table || random_formats::quantizes_tables(format) => {
                Some(format)
            }
            _ => None,
        }
    }

    /// The type of norms, biases and dense matrices.
    fn scalar(&self) -> ScalarType {
        match self.storage {
            Storage::Affine { scale, .. } | Storage::Dense(scale) => scale,
            _ => F16,
        }
    }

    fn write_folder(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let json = |name: &str, value: &Value| {
            let text = serde_json::to_string_pretty(value).unwrap();
            std::fs::write(folder.join(name), text).unwrap();
        };
        json("config.json", &self.config());
        json(
            "generation_config.json",
            &json!({
                "bos_token_id": tiny_tokenizer::BOS,
                "eos_token_id": [tiny_tokenizer::EOS, tiny_tokenizer::TURN_END]
            }),
        );
        tiny_tokenizer::write_files(folder);

        let tensors = self.tensors();
        let per_shard = tensors.len().div_ceil(self.shards);
        let mut index = Map::new();
        for (part, tensors) in tensors.chunks(per_shard).enumerate() {
            let file = match self.shards {
                1 => "model.safetensors".to_string(),
                shards => format!("model-{:05}-of-{shards:05}.safetensors", part + 1),
            };
            let views = tensors.iter().map(|(name, dtype, shape, data)| {
                index.insert(name.clone(), file.clone().into());
                (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
            });
            let metadata = [("format".to_string(), "mlx".to_string())].into();
            let bytes = safetensors::serialize(views, Some(metadata)).unwrap();
            std::fs::write(folder.join(&file), bytes).unwrap();
        }
        if self.shards > 1 {
            json(
                "model.safetensors.index.json",
                &json!({"weight_map": index}),
            );
        }
    }

    /// Tensors of a folder: name, type, shape, data.
    fn tensors(&self) -> Vec<(String, Dtype, Vec<usize>, Vec<u8>)> {
        let mut prng = Prng::new(self.seed);
        let prefix = if self.nested { "language_model." } else { "" };
        let dtype = |scalar| match scalar {
            ScalarType::F32 => Dtype::F32,
            ScalarType::F16 => Dtype::F16,
            ScalarType::BF16 => Dtype::BF16,
        };
        let own = self.scalar();
        let mut tensors = Vec::new();
        for (name, len, mean, std) in self.vectors() {
            let values = (0..len).map(|_| mean + std * prng.normal());
            let data = random_matrix::dense(own, values);
            tensors.push((format!("{prefix}{name}"), dtype(own), vec![len], data));
        }
        for (path, rows, cols, std) in self.matrices() {
            if let Some(format) = self.folder_format(&path) {
                let parts = random_formats::folder_matrix(&mut prng, format, rows, cols, std);
                for (part, dtype, shape, data) in parts {
                    tensors.push((format!("{prefix}{path}.{part}"), dtype, shape, data));
                }
                continue;
            }
            let mut add = |part: &str, dtype, cols, data| {
                tensors.push((
                    format!("{prefix}{path}.{part}"),
                    dtype,
                    vec![rows, cols],
                    data,
                ));
            };
            let Some((bits, group, scale)) = self.affine(&path) else {
                let values = (0..rows * cols).map(|_| std * prng.normal());
                add(
                    "weight",
                    dtype(own),
                    cols,
                    random_matrix::dense(own, values),
                );
                continue;
            };
            let [packed, scales, biases] =
                random_matrix::affine_matrix(&mut prng, bits, group, scale, rows, cols, std);
            add("weight", Dtype::U32, cols * usize::from(bits) / 32, packed);
            add("scales", dtype(scale), cols / group, scales);
            add("biases", dtype(scale), cols / group, biases);
        }
        tensors
    }

    fn config(&self) -> Value {
        let mut text = json!({
            "model_type": self.family, "hidden_size": HIDDEN, "intermediate_size": MLP,
            "num_hidden_layers": LAYERS, "num_attention_heads": HEADS,
            "num_key_value_heads": KV_HEADS, "head_dim": self.head_dim,
            "vocab_size": VOCABULARY, "max_position_embeddings": CONTEXT,
            "rms_norm_eps": 1e-5, "rope_theta": 10000.0, "hidden_act": "silu",
            "tie_word_embeddings": self.tied, "sliding_window": self.window,
            "bos_token_id": tiny_tokenizer::BOS, "eos_token_id": tiny_tokenizer::EOS,
            "architectures": ["ForCausalLM"], "attention_bias": self.family == "qwen2"
        });
        text["rope_scaling"] = match self.rope {
            Rope::Plain => Value::Null,
            Rope::Linear => json!({"type": "linear", "factor": 4.0}),
            Rope::Llama3 => json!({
                "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0,
                "high_freq_factor": 4.0, "original_max_position_embeddings": 64
            }),
            Rope::Yarn => json!({
                "rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128
            }),
        };
        if let Storage::Folder(format) = self.storage {
            let (key, value) = random_formats::quantization(format);
            text[key] = value;
            return text;
        }
        let quantization = self.quantization();
        if let Some(quantization) = &quantization {
            text["quantization"] = quantization.clone();
        }
        if !self.nested {
            if let Some(quantization) = quantization {
                text["quantization_config"] = quantization;
            }
            return text;
        }
        json!({"model_type": "llava", "text_config": text})
    }

    fn quantization(&self) -> Option<Value> {
        let settings = |bits: u8, group: usize| json!({"group_size": group, "bits": bits});
        match self.storage {
            Storage::Affine { bits, group, .. } => {
                let mut all = settings(bits, group);
                all["mode"] = "affine".into();
                Some(all)
            }
            Storage::Mixed => {
                let mut all = settings(4, 64);
                for (path, ..) in self.matrices() {
                    match self.affine(&path) {
                        Some((4, 64, _)) => {}
                        Some((bits, group, _)) => all[path] = settings(bits, group),
                        None => all[path] = false.into(),
                    }
                }
                all["model.layers.0.mlp.up_proj"] = true.into();
                // An empty object stands for the mode's defaults, 4 bits and groups of 64.
                all["model.layers.1.mlp.up_proj"] = json!({});
                Some(all)
            }
            _ => None,
        }
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

/// The GGUF formats with the names that files carry.
pub const GGUF_FORMATS: [(&str, Format); 13] = [
    ("f32", Format::Dense(ScalarType::F32)),
    ("f16", Format::Dense(F16)),
    ("bf16", Format::Dense(ScalarType::BF16)),
    ("q4_0", Format::Q4_0),
    ("q4_1", Format::Q4_1),
    ("q5_0", Format::Q5_0),
    ("q5_1", Format::Q5_1),
    ("q8_0", Format::Q8_0),
    ("q2_k", Format::Q2K),
    ("q3_k", Format::Q3K),
    ("q4_k", Format::Q4K),
    ("q5_k", Format::Q5K),
    ("q6_k", Format::Q6K),
];

/// The models of formats that came later, whose references are files of their own.
pub fn later_formats() -> Vec<Spec> {
    let gguf = [
        ("q8_1", Format::Q8_1),
        ("iq1_s", Format::Iq1S),
        ("iq1_m", Format::Iq1M),
        ("iq2_xxs", Format::Iq2Xxs),
        ("iq2_xs", Format::Iq2Xs),
        ("iq2_s", Format::Iq2S),
        ("iq3_xxs", Format::Iq3Xxs),
        ("iq3_s", Format::Iq3S),
        ("iq4_nl", Format::Iq4Nl),
        ("iq4_xs", Format::Iq4Xs),
        ("tq1_0", Format::Tq1_0),
        ("tq2_0", Format::Tq2_0),
        ("mxfp4", Format::GgufMxfp4),
        ("nvfp4", Format::GgufNvfp4),
    ];
    let float8 = |rows, cols, scale| Format::Float8 { rows, cols, scale };
    let centered = |bits, group, scale| Format::Centered { bits, group, scale };
    let folders = [
        ("mlx-mxfp4", Format::Mxfp4),
        ("mlx-mxfp8", Format::Mxfp8),
        ("mlx-nvfp4", Format::Nvfp4),
        (
            "gptq",
            Format::Gptq {
                group: 128,
                plus: 1,
            },
        ),
        ("gptq-v2", Format::Gptq { group: 32, plus: 0 }),
        ("awq", Format::Awq { group: 64 }),
        ("int4", centered(4, 128, ScalarType::BF16)),
        ("int8", centered(8, 64, F16)),
        ("fp8-blocks", float8(128, 128, ScalarType::F32)),
        ("fp8-rows", float8(1, 256, ScalarType::BF16)),
    ];
    let families = ["llama", "qwen2", "qwen3"];
    let mut specs = Vec::new();
    for (i, (name, format)) in gguf.into_iter().enumerate() {
        let family = families[i % 3];
        let storage = Storage::Gguf(3, format);
        specs.push(Spec::new(format!("{family}-{name}.gguf"), family, storage));
    }
    for (i, (name, format)) in folders.into_iter().enumerate() {
        let family = families[i % 3];
        let storage = Storage::Folder(format);
        specs.push(Spec::new(format!("{family}-{name}"), family, storage));
    }
    specs
}

const SCALARS: [(&str, ScalarType); 3] = [
    ("f16", F16),
    ("bf16", ScalarType::BF16),
    ("f32", ScalarType::F32),
];

/// Every model of the collection.
pub fn all() -> Vec<Spec> {
    let mut specs = Vec::new();
    for (name, format) in GGUF_FORMATS {
        let storage = Storage::Gguf(3, format);
        specs.push(Spec::new(format!("llama-{name}.gguf"), "llama", storage));
    }
    let q4_1 = Storage::Gguf(3, Format::Q4_1);
    for family in ["qwen2", "qwen3"] {
        for (name, format) in [("q4_1", Format::Q4_1), ("q6_k", Format::Q6K)] {
            let storage = Storage::Gguf(3, format);
            specs.push(Spec::new(format!("{family}-{name}.gguf"), family, storage));
        }
    }
    for version in [1, 2] {
        let storage = Storage::Gguf(version, Format::Q8_0);
        specs.push(Spec::new(
            format!("llama-v{version}.gguf"),
            "llama",
            storage,
        ));
    }
    // Every number of bits with every group; families and scale types take turns.
    let families = ["llama", "qwen2", "qwen3"];
    for (i, bits) in [2, 3, 4, 5, 6, 8].into_iter().enumerate() {
        for (j, group) in [32, 64, 128].into_iter().enumerate() {
            let (scalar_name, scale) = SCALARS[(i + j) % 3];
            let family = families[(i + 2 * j) % 3];
            let name = format!("{family}-mlx-b{bits}-g{group}-{scalar_name}");
            specs.push(Spec::new(
                name,
                family,
                Storage::Affine { bits, group, scale },
            ));
        }
    }
    for ((name, scalar), family) in SCALARS.into_iter().zip(families) {
        let name = format!("{family}-mlx-dense-{name}");
        specs.push(Spec::new(name, family, Storage::Dense(scalar)));
    }
    for family in families {
        let name = format!("{family}-mlx-mixed");
        specs.push(Spec::new(name, family, Storage::Mixed));
    }
    let b4 = Storage::Affine {
        bits: 4,
        group: 64,
        scale: F16,
    };
    let special = |name: &str, family, storage, change: fn(&mut Spec)| {
        let mut spec = Spec::new(name, family, storage);
        change(&mut spec);
        spec
    };
    specs.extend([
        special("llama-mlx-nested", "llama", b4, |s| s.nested = true),
        special("llama-mlx-sharded", "llama", b4, |s| s.shards = 3),
        special("mistral-mlx-window", "mistral", b4, |s| s.window = Some(16)),
        special("llama-mlx-rope-linear", "llama", b4, |s| {
            s.rope = Rope::Linear
        }),
        special("llama-mlx-rope-llama3", "llama", b4, |s| {
            s.rope = Rope::Llama3
        }),
        special("qwen2-mlx-rope-yarn", "qwen2", b4, |s| s.rope = Rope::Yarn),
        special("qwen3-mlx-wide-heads", "qwen3", b4, |s| s.head_dim = 128),
        special("llama-rope-linear.gguf", "llama", q4_1, |s| {
            s.rope = Rope::Linear
        }),
        special("llama-rope-factors.gguf", "llama", q4_1, |s| {
            s.rope = Rope::Llama3
        }),
        special("qwen2-rope-yarn.gguf", "qwen2", q4_1, |s| {
            s.rope = Rope::Yarn
        }),
        special("qwen3-wide-heads.gguf", "qwen3", q4_1, |s| s.head_dim = 128),
    ]);
    specs
}
