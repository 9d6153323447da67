//! Folders of small random models.

use super::prng::Prng;
use super::{
    CONTEXT, F16, HEADS, HIDDEN, KV_HEADS, LAYERS, MLP, Rope, Spec, Storage, VOCABULARY,
    random_formats, random_matrix, tiny_tokenizer,
};
use mlxrocm::formats::{Format, ScalarType};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Map, Value, json};
use std::path::Path;

impl Spec {
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

    pub(super) fn write_folder(&self, folder: &Path) {
        std::fs::create_dir_all(folder).unwrap();
        let json = |name: &str, value: &Value| {
            // References know the bytes.
            let mut value = value.clone();
            value.sort_all_objects();
            let text = serde_json::to_string_pretty(&value).unwrap();
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
