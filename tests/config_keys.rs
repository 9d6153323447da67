//! What keys of `config.json` do: as mlx-lm does, refused by name, or named in a warning.
//!
//! `golden/models/make_config_references.py` ran mlx-lm on the models that this test writes.

#[path = "support/log_lines.rs"]
mod log_lines;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::Error;
use mlxrocm::formats::ScalarType;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use mlxrocm::session::{Session, SessionOptions};
use random_model::{Spec, Storage, VOCABULARY};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Models by name: family, and what differs in their config.json.
fn variants() -> Vec<(&'static str, &'static str, Value)> {
    let sliding = |all: &[&str]| json!({"sliding_window": 8, "layer_types": all});
    let full = "full_attention";
    vec![
        ("llama-plain", "llama", json!({})),
        (
            "llama-traditional",
            "llama",
            json!({"rope_traditional": true}),
        ),
        (
            "mistral-traditional",
            "mistral",
            json!({"rope_traditional": true, "sliding_window": null}),
        ),
        (
            "qwen2-traditional",
            "qwen2",
            json!({"rope_traditional": true}),
        ),
        // mlx-lm's qwen3 always takes pairs half a head apart.
        (
            "qwen3-traditional",
            "qwen3",
            json!({"rope_traditional": true}),
        ),
        (
            "llama-traditional-llama3",
            "llama",
            json!({"rope_traditional": true, "rope_scaling": {
            "rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64}}),
        ),
        // mlx-lm, transformers (5.23: LlamaRotaryEmbedding) and llama.cpp's converter (rope_dim is the
        // head's width) rotate whole heads of these families whatever the key says.
        (
            "llama-partial",
            "llama",
            json!({"partial_rotary_factor": 0.5}),
        ),
        (
            "qwen2-partial",
            "qwen2",
            json!({"partial_rotary_factor": 0.25}),
        ),
        (
            "qwen3-partial",
            "qwen3",
            json!({"partial_rotary_factor": 0.5}),
        ),
        // A window counts in a llama only where layer_types says so.
        ("llama-window", "llama", json!({"sliding_window": 8})),
        (
            "llama-window-used",
            "llama",
            json!({"sliding_window": 8, "use_sliding_window": true}),
        ),
        ("llama-window-full", "llama", sliding(&[full, full])),
        // mlx-lm's qwen2 and transformers' Qwen2Config (max_window_layers is 28 by default) agree that
        // the two layers of this model see everything.
        (
            "qwen2-window",
            "qwen2",
            json!({"sliding_window": 8, "use_sliding_window": true}),
        ),
        (
            "qwen3-window",
            "qwen3",
            json!({"sliding_window": 8, "use_sliding_window": true}),
        ),
        (
            "qwen2-window-28",
            "qwen2",
            json!({"sliding_window": 8, "use_sliding_window": true, "max_window_layers": 28}),
        ),
    ]
}

fn patch(folder: &Path, changes: &Value) {
    let path = folder.join("config.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut config: Value = serde_json::from_str(&text).unwrap();
    for (key, value) in changes.as_object().unwrap() {
        config[key] = value.clone();
    }
    std::fs::write(&path, serde_json::to_string_pretty(&config).unwrap()).unwrap();
}

/// Writes a model of the family; the same weights for all variants of a family.
fn write(folder: &Path, family: &'static str, changes: &Value) -> PathBuf {
    let mut spec = Spec::new(
        format!("{family}-keys"),
        family,
        Storage::Dense(ScalarType::F32),
    );
    spec.tied = true;
    let path = spec.write(folder);
    patch(&path, changes);
    path
}

fn load(path: &Path) -> Result<Arc<Model>, Error> {
    let options = LoadOptions {
        threads: 2,
        device: DeviceChoice::Cpu,
        ..LoadOptions::default()
    };
    Model::load(path, &options, None)
}

/// A load of a model of the family with such changes. The weights are written once.
fn load_with(family: &'static str, changes: &Value) -> Result<Arc<Model>, Error> {
    static WRITTEN: Mutex<BTreeMap<&str, tempfile::TempDir>> = Mutex::new(BTreeMap::new());
    let mut written = WRITTEN.lock().unwrap_or_else(PoisonError::into_inner);
    let base = written.entry(family).or_insert_with(|| {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), family, &json!({}));
        folder
    });
    let base = base.path().join(format!("{family}-keys"));
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(base).unwrap() {
        let entry = entry.unwrap();
        let to = folder.path().join(entry.file_name());
        match entry.file_name() == "config.json" {
            true => drop(std::fs::copy(entry.path(), to).unwrap()),
            false => std::fs::hard_link(entry.path(), to).unwrap(),
        }
    }
    patch(folder.path(), changes);
    load(folder.path())
}

const TOKENS: [u32; 24] = [
    5, 42, 79, 116, 153, 190, 227, 275, 312, 33, 70, 107, 144, 181, 229, 266, 303, 24, 61, 98, 135,
    183, 220, 257,
];

/// mlx-lm keeps keys and values in f32 here, the library in f16.
const TOLERANCE: f32 = 1e-2;

#[test]
fn logits_are_those_of_mlx_lm() {
    if let Some(folder) = std::env::var_os("MLXROCM_WRITE_CONFIG_MODELS") {
        for (name, family, changes) in variants() {
            let written = write(Path::new(&folder), family, &changes);
            std::fs::rename(written, Path::new(&folder).join(name)).unwrap();
        }
        return;
    }
    let _turn = log_lines::capture();
    let golden = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/golden/models/config_keys.json"
    );
    let golden = std::fs::read_to_string(golden).unwrap();
    let golden: BTreeMap<String, Vec<f32>> = serde_json::from_str(&golden).unwrap();
    let mut failures = Vec::new();
    for (name, family, changes) in variants() {
        let model = load_with(family, &changes).unwrap();
        let session = Session::new(model, SessionOptions::default()).unwrap();
        let logits = session.logits(&TOKENS).unwrap();
        let last = logits.chunks(VOCABULARY).next_back().unwrap();
        // Every fifth logit of the last position.
        let far = last.iter().step_by(5).zip(&golden[name]);
        let far = far.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        if far > TOLERANCE || golden[name].len() != VOCABULARY / 5 {
            failures.push(format!("{name}: {far}"));
        }
    }
    assert!(failures.is_empty(), "{failures:?}");
    let differ = |a: &str, b: &str| {
        let pairs = golden[a].iter().zip(&golden[b]);
        pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f32::max) > 0.05
    };
    // The keys do something, or nothing at all.
    assert!(differ("llama-plain", "llama-traditional"));
    assert!(!differ("llama-plain", "llama-partial"));
}

#[test]
fn keys_that_change_results_are_refused_by_name() {
    let _turn = log_lines::capture();
    for (family, key, value) in [
        ("llama", "num_local_experts", json!(8)),
        ("qwen3", "num_experts", json!(64)),
        ("qwen2", "moe_intermediate_size", json!(128)),
        ("llama", "n_routed_experts", json!(4)),
        ("llama", "logits_scaling", json!(8.0)),
        ("llama", "embedding_multiplier", json!(12.0)),
        ("llama", "residual_multiplier", json!(0.22)),
        ("llama", "attention_multiplier", json!(0.015)),
        ("llama", "logit_scale", json!(0.5)),
        ("llama", "scale_emb", json!(12)),
        ("qwen3", "final_logit_softcapping", json!(30.0)),
        ("qwen3", "attn_logit_softcapping", json!(50.0)),
        ("llama", "query_pre_attn_scalar", json!(256)),
        ("llama", "clip_qkv", json!(8.0)),
        ("llama", "use_qk_norm", json!(true)),
        ("llama", "qk_layernorm", json!(true)),
        ("llama", "no_rope_layers", json!([1, 0])),
        ("llama", "use_parallel_residual", json!(true)),
        ("llama", "parallel_attn", json!(true)),
        ("llama", "alibi", json!(true)),
        ("llama", "is_causal", json!(false)),
        ("llama", "is_encoder_decoder", json!(true)),
        ("llama", "add_cross_attention", json!(true)),
        ("llama", "attention_chunk_size", json!(8192)),
        ("llama", "kv_lora_rank", json!(512)),
        ("llama", "hidden_activation", json!("gelu")),
        (
            "llama",
            "rope_scaling",
            json!({"rope_type": "longrope", "factor": 2.0}),
        ),
    ] {
        let error = match load_with(family, &json!({key: value})) {
            Err(error) => error,
            Ok(_) => panic!("{family} with {key} {value} was loaded"),
        };
        let message = error.to_string();
        assert!(matches!(error, Error::Unsupported(_)), "{error:?}");
        let named = message.contains("config.json") && message.contains(key);
        assert!(named, "{key}: {message}");
    }
    // As are biases that the config promises and the files do not have.
    for (key, tensor) in [
        ("attention_bias", "q_proj.bias"),
        ("mlp_bias", "gate_proj.bias"),
    ] {
        let error = load_with("llama", &json!({key: true})).err().unwrap();
        assert!(error.to_string().contains(tensor), "{error}");
        assert!(matches!(error, Error::InvalidFile(_)), "{error:?}");
    }
}

#[test]
fn keys_that_change_nothing_are_fine() {
    let lines = log_lines::capture();
    for (family, changes) in [
        // Real configs: SmolLM2, Llama 3.2, Qwen 2.5, Qwen 3, Mistral 7B.
        (
            "llama",
            json!({"architectures": ["LlamaForCausalLM"], "attention_dropout": 0.0,
            "initializer_range": 0.041666666666666664, "is_llama_config": true, "pad_token_id": 2,
            "pretraining_tp": 1, "rope_interleaved": false, "torch_dtype": "bfloat16",
            "transformers.js_config": {"kv_cache_dtype": {}}, "transformers_version": "4.42.3",
            "use_cache": true, "attention_bias": false, "mlp_bias": false}),
        ),
        (
            "qwen2",
            json!({"use_sliding_window": false, "max_window_layers": 21, "sliding_window": 32768,
            "use_mrope": false, "dtype": "bfloat16", "_attn_implementation": "eager"}),
        ),
        (
            "qwen3",
            json!({"use_sliding_window": false, "max_window_layers": 36, "sliding_window": null,
            "layer_types": ["full_attention", "full_attention"], "unsloth_fixed": true}),
        ),
        (
            "llama",
            json!({"num_local_experts": 0, "num_experts": null, "logit_scale": 1.0,
            "final_logit_softcapping": null, "use_qk_norm": false, "is_causal": true,
            "rope_traditional": false, "partial_rotary_factor": 1.0}),
        ),
    ] {
        let model = load_with(family, &changes);
        assert!(model.is_ok(), "{changes}: {:?}", model.err());
    }
    assert_eq!(lines.warnings(), Vec::<String>::new());
}

#[test]
fn keys_that_nobody_knows_give_a_warning() {
    for (family, changes, named) in [
        (
            "llama",
            json!({"frobnication_depth": 3}),
            "frobnication_depth",
        ),
        (
            "llama",
            json!({"partial_rotary_factor": 0.5}),
            "partial_rotary_factor",
        ),
        ("llama", json!({"sliding_window": 8}), "sliding_window"),
        (
            "qwen3",
            json!({"rope_traditional": true}),
            "rope_traditional",
        ),
        (
            "llama",
            json!({"rope_scaling": {"rope_type": "linear", "factor": 2.0, "wobble": 1}}),
            "rope_scaling.wobble",
        ),
    ] {
        let lines = log_lines::capture();
        load_with(family, &changes).unwrap();
        let warnings = lines.warnings();
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        let named = warnings[0].contains("config.json") && warnings[0].contains(named);
        assert!(named, "{warnings:?}");
        assert!(warnings[0].contains("ignored"), "{warnings:?}");
    }
}
