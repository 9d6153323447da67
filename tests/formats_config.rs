//! `config.json`: every form of every field, and every field wrong.

#[path = "support/tiny_folder.rs"]
#[allow(dead_code)]
mod tiny_folder;

use mlxrocm::Error;
use mlxrocm::model::config::{Config, RopeScaling};
use mlxrocm::model::weights::Source;
use serde_json::{Value, json};
use tiny_folder::TinyFolder;

/// The tiny config with some fields changed; `null` removes a field.
fn changed(changes: &Value) -> Value {
    let mut config = tiny_folder::config();
    let object = config.as_object_mut().unwrap();
    for (key, value) in changes.as_object().unwrap() {
        match value {
            Value::Null => object.remove(key),
            value => object.insert(key.clone(), value.clone()),
        };
    }
    config
}

fn open(changes: &Value) -> Result<Config, Error> {
    let tiny = TinyFolder::new();
    tiny.json("config.json", &changed(changes));
    Source::open(&tiny.path).map(|source| source.config().clone())
}

#[track_caller]
fn config(changes: Value) -> Config {
    open(&changes).unwrap_or_else(|e| panic!("{changes}: {e}"))
}

#[test]
fn plain_values() {
    let c = config(json!({}));
    assert_eq!((c.family.name, c.name.as_str()), ("llama", "tiny"));
    assert_eq!((c.hidden_size, c.intermediate_size, c.layers), (64, 64, 1));
    assert_eq!(
        (c.heads, c.kv_heads, c.head_dim, c.rope_dims),
        (2, 1, 32, 32)
    );
    assert_eq!((c.vocab_size, c.context_length), (8, 128));
    assert_eq!((c.norm_eps, c.rope_theta), (1e-5, 10_000.0));
    assert_eq!(c.rope_scaling, RopeScaling::None);
    assert!(
        c.tied_embeddings && !c.rope_interleaved && !c.attention_bias && c.form.qk_norm.is_none()
    );
    assert_eq!((c.sliding_window, c.stop_tokens), (None, vec![2]));
    assert_eq!(
        config(json!({"_name_or_path": "org/Model-1B/"})).name,
        "Model-1B"
    );
    assert_eq!(config(json!({"rope_theta": 500000})).rope_theta, 500_000.0);
    assert_eq!(config(json!({"num_key_value_heads": null})).kv_heads, 2);
    assert_eq!(config(json!({"head_dim": 64})).head_dim, 64);
    assert_eq!(config(json!({"hidden_size": 64.0})).hidden_size, 64);
    // mlx-lm, transformers and llama.cpp rotate whole heads of these families.
    assert_eq!(config(json!({"partial_rotary_factor": 0.5})).rope_dims, 32);
    assert!(config(json!({"rope_traditional": true})).rope_interleaved);
    let qwen3 = json!({"rope_traditional": true, "model_type": "qwen3"});
    assert!(!config(qwen3).rope_interleaved);
    assert_eq!(
        config(json!({"max_position_embeddings": null})).context_length,
        2048
    );
}

#[test]
fn families() {
    assert_eq!(
        config(json!({"model_type": "mistral"})).family.name,
        "llama"
    );
    let qwen2 = config(json!({"model_type": "qwen2"}));
    assert!(qwen2.attention_bias && qwen2.form.qk_norm.is_none());
    let qwen3 = config(json!({"model_type": "qwen3"}));
    assert!(!qwen3.attention_bias && qwen3.form.qk_norm.is_some());
    for family in ["gemma5", "qwen2_audio", "mamba", "Llama", ""] {
        let error = open(&json!({"model_type": family})).unwrap_err();
        assert!(matches!(error, Error::Unsupported(_)));
        let message = error.to_string();
        for part in [
            "config.json",
            &format!("{family:?}"),
            "llama, mistral, mistral3, qwen2, qwen3",
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
}

#[test]
fn nested_text_config() {
    let tiny = TinyFolder::new();
    let mut text = changed(&json!({"eos_token_id": null, "tie_word_embeddings": null}));
    tiny.json(
        "config.json",
        &json!({
            "model_type": "mistral3", "text_config": text, "eos_token_id": [1, 3],
            "tie_word_embeddings": true
        }),
    );
    let source = Source::open(&tiny.path).unwrap();
    assert_eq!(source.config().stop_tokens, [1, 3]);
    assert!(source.config().tied_embeddings);
    text["hidden_size"] = json!(0);
    tiny.json("config.json", &json!({"text_config": text}));
    let error = Source::open(&tiny.path).unwrap_err().to_string();
    assert!(error.contains("text_config.hidden_size"), "{error}");
}

#[test]
fn stop_tokens() {
    assert_eq!(
        config(json!({"eos_token_id": [2, 5, 2]})).stop_tokens,
        [2, 5]
    );
    assert_eq!(
        config(json!({"eos_token_id": null})).stop_tokens,
        Vec::<u32>::new()
    );
    // Ids outside the vocabulary can never be generated.
    assert_eq!(config(json!({"eos_token_id": [7, 8, -1]})).stop_tokens, [7]);
    let tiny = TinyFolder::new();
    tiny.json("generation_config.json", &json!({"eos_token_id": [4, 6]}));
    assert_eq!(
        Source::open(&tiny.path).unwrap().config().stop_tokens,
        [4, 6]
    );
    tiny.json("generation_config.json", &json!({"temperature": 1.0}));
    assert_eq!(Source::open(&tiny.path).unwrap().config().stop_tokens, [2]);
    tiny.json("generation_config.json", &json!({"eos_token_id": "x"}));
    let error = Source::open(&tiny.path).unwrap_err().to_string();
    assert!(
        error.contains("generation_config.json: eos_token_id"),
        "{error}"
    );
}

#[test]
fn head_presence_decides_where_the_config_is_silent() {
    let tiny = TinyFolder::new();
    tiny.json(
        "config.json",
        &changed(&json!({"tie_word_embeddings": null})),
    );
    assert!(Source::open(&tiny.path).unwrap().config().tied_embeddings);
    let mut tensors = tiny_folder::tensors();
    tensors.extend(tiny_folder::module("lm_head", 8, 4, 32));
    tiny.tensors("model.safetensors", &tensors);
    let source = Source::open(&tiny.path).unwrap();
    assert!(!source.config().tied_embeddings);
    assert_eq!(
        source.linear("lm_head", 8, 64).unwrap().weight.name,
        "lm_head.weight"
    );
    // A tied head wins over a stored one.
    tiny.json("config.json", &tiny_folder::config());
    let source = Source::open(&tiny.path).unwrap();
    let head = source.linear("lm_head", 8, 64).unwrap();
    assert_eq!(head.weight.name, "model.embed_tokens.weight");
    // An untied head that is missing is an error.
    let tiny = TinyFolder::new();
    tiny.json(
        "config.json",
        &changed(&json!({"tie_word_embeddings": false})),
    );
    let error = Source::open(&tiny.path)
        .unwrap()
        .linear("lm_head", 8, 64)
        .unwrap_err();
    assert!(
        error.to_string().contains("lm_head.weight is missing"),
        "{error}"
    );
}

#[test]
fn rope_scaling_forms() {
    let scaling = |value: Value| config(json!({"rope_scaling": value})).rope_scaling;
    assert_eq!(scaling(json!({"rope_type": "default"})), RopeScaling::None);
    assert_eq!(scaling(json!({})), RopeScaling::None);
    assert_eq!(
        scaling(json!({"type": "linear", "factor": 2.5})),
        RopeScaling::Linear { factor: 2.5 }
    );
    assert_eq!(
        scaling(json!({"type": "linear", "factor": 1})),
        RopeScaling::None
    );
    assert_eq!(
        scaling(json!({
            "rope_type": "llama3", "factor": 32.0, "low_freq_factor": 1.0,
            "high_freq_factor": 4.0, "original_max_position_embeddings": 8192
        })),
        RopeScaling::Llama3 {
            factor: 32.0,
            low_freq_factor: 1.0,
            high_freq_factor: 4.0,
            original_context: 8192
        }
    );
    let yarn = |more: Value| {
        let mut all = json!({"rope_type": "yarn", "factor": 4.0});
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        scaling(all)
    };
    let expected = |attention_factor, original_context, beta_fast| RopeScaling::Yarn {
        factor: 4.0,
        original_context,
        beta_fast,
        beta_slow: 1.0,
        truncate: true,
        attention_factor,
    };
    let standard = (0.1 * 4f64.ln() + 1.0) as f32;
    assert_eq!(yarn(json!({})), expected(standard, 128, 32.0));
    assert_eq!(
        yarn(json!({"original_max_position_embeddings": 64, "beta_fast": 16})),
        expected(standard, 64, 16.0)
    );
    let RopeScaling::Yarn { truncate, .. } = yarn(json!({"truncate": false})) else {
        panic!("not YaRN");
    };
    assert!(!truncate);
    assert_eq!(
        yarn(json!({"attention_factor": 1.5})),
        expected(1.5, 128, 32.0)
    );
    assert_eq!(
        yarn(json!({"mscale": 1.0, "mscale_all_dim": 1.0})),
        expected(1.0, 128, 32.0)
    );
    // The newer place of the same.
    let c = config(json!({"rope_parameters": {
        "rope_type": "linear", "factor": 8.0, "rope_theta": 1e6, "partial_rotary_factor": 0.25
    }}));
    assert_eq!(c.rope_scaling, RopeScaling::Linear { factor: 8.0 });
    assert_eq!((c.rope_theta, c.rope_dims), (1e6, 32));
    assert_eq!(
        scaling(json!({"type": "dynamic", "factor": 2.0})),
        RopeScaling::Dynamic
    );
    // Hunyuan's does not follow the text.
    assert_eq!(
        scaling(json!({"type": "dynamic", "alpha": 1000.0, "factor": 1.0})),
        RopeScaling::None
    );

    for (value, expected) in [
        (json!({"type": "longrope"}), "longrope"),
        (json!({"type": "linear"}), "factor"),
        (json!({"type": "linear", "factor": 0}), "factor"),
        (json!({"type": "linear", "factor": "2"}), "factor"),
        (json!({"type": 3}), "rope_scaling.type"),
        (
            json!({"rope_type": "yarn", "factor": 2, "truncate": 0}),
            "truncate",
        ),
        (
            json!({"rope_type": "llama3", "factor": 2}),
            "low_freq_factor",
        ),
        (
            json!({"rope_type": "llama3", "factor": 2, "low_freq_factor": 4, "high_freq_factor": 4,
            "original_max_position_embeddings": 64}),
            "high_freq_factor",
        ),
        (
            json!({"rope_type": "llama3", "factor": 2, "low_freq_factor": 1, "high_freq_factor": 4}),
            "original_max_position_embeddings",
        ),
        (json!("linear"), "rope_scaling"),
    ] {
        let error = open(&json!({"rope_scaling": value}))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("config.json") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn sliding_windows() {
    let window = |value: Value| config(value).sliding_window;
    assert_eq!(
        window(json!({"model_type": "mistral", "sliding_window": 4096})),
        Some(4096)
    );
    assert_eq!(window(json!({"model_type": "mistral"})), None);
    assert_eq!(
        window(json!({"model_type": "mistral", "sliding_window": 0})),
        None
    );
    // Qwen configs carry a window that is switched off.
    let qwen = |more: Value| {
        let mut all = json!({"model_type": "qwen2", "sliding_window": 64, "num_hidden_layers": 4});
        all.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        all
    };
    assert_eq!(window(qwen(json!({}))), None);
    assert_eq!(window(qwen(json!({"use_sliding_window": false}))), None);
    // transformers' Qwen2Config: max_window_layers is 28 where the file does not say.
    assert_eq!(window(qwen(json!({"use_sliding_window": true}))), None);
    let all = json!({"use_sliding_window": true, "max_window_layers": 0});
    assert_eq!(window(qwen(all)), Some(64));
    let deep = json!({"use_sliding_window": true, "num_hidden_layers": 30});
    let deep = config(qwen(deep));
    assert_eq!((deep.window(27), deep.window(28)), (None, Some(64)));
    assert_eq!(
        window(qwen(
            json!({"use_sliding_window": true, "max_window_layers": 4})
        )),
        None
    );
    let full = json!(vec!["full_attention"; 4]);
    assert_eq!(window(qwen(json!({"layer_types": full}))), None);
    let mixed = json!({"layer_types": ["full_attention", "sliding_attention", "full_attention", "sliding_attention"]});
    let mixed = config(qwen(mixed));
    let windows: Vec<_> = (0..4).map(|layer| mixed.window(layer)).collect();
    assert_eq!(windows, [None, Some(64), None, Some(64)]);
    for (types, expected) in [
        (
            json!(["full_attention", "sliding_attention", "full_attention", "x"]),
            "\"x\"",
        ),
        (json!(["full_attention"]), "1 kinds of 4 layers"),
        (json!(3), "0 kinds"),
    ] {
        let error = open(&qwen(json!({"layer_types": types}))).unwrap_err();
        let error = error.to_string();
        assert!(
            error.contains("layer_types") && error.contains(expected),
            "{error}"
        );
    }
}

#[test]
fn wrong_values_are_named() {
    let huge = json!(1u64 << 60);
    for field in [
        "hidden_size",
        "intermediate_size",
        "num_hidden_layers",
        "num_attention_heads",
        "vocab_size",
    ] {
        for value in [
            json!(0),
            json!(-1),
            json!(1.5),
            json!("64"),
            json!([64]),
            huge.clone(),
            json!(true),
            json!(1e300),
        ] {
            let error = open(&json!({field: value})).unwrap_err();
            assert!(matches!(error, Error::InvalidFile(_)), "{error:?}");
            let message = error.to_string();
            assert!(
                message.contains(&format!("config.json: {field}")),
                "{message}"
            );
        }
        let error = open(&json!({field: null})).unwrap_err().to_string();
        assert!(error.contains(&format!("{field}: missing")), "{error}");
    }
    for (changes, expected) in [
        (json!({"model_type": null}), "model_type"),
        (json!({"model_type": 1}), "model_type"),
        (json!({"num_attention_heads": 3}), "num_attention_heads"),
        (json!({"num_key_value_heads": 3}), "key/value heads"),
        (json!({"num_key_value_heads": 0}), "num_key_value_heads"),
        (json!({"head_dim": 1}), "head_dim"),
        (json!({"head_dim": 33}), "RoPE"),
        (
            json!({"num_attention_heads": 4096, "num_key_value_heads": 1, "head_dim": 4096}),
            "wider",
        ),
        (json!({"rms_norm_eps": -1.0}), "rms_norm_eps"),
        (json!({"rms_norm_eps": "tiny"}), "rms_norm_eps"),
        (json!({"rope_theta": 0}), "rope_theta"),
        (json!({"rope_theta": 1e300}), "rope_theta"),
        (
            json!({"max_position_embeddings": 0}),
            "max_position_embeddings",
        ),
        (json!({"tie_word_embeddings": 1}), "tie_word_embeddings"),
        (json!({"attention_bias": "no"}), "attention_bias"),
        (json!({"hidden_act": "gelu"}), "gelu"),
        (
            json!({"sliding_window": -5, "model_type": "mistral"}),
            "sliding_window",
        ),
        (json!({"eos_token_id": "x"}), "eos_token_id"),
        (json!({"eos_token_id": [2, null]}), "eos_token_id"),
        (
            json!({"model_type": "x\ny\u{1b}[2J".repeat(1000)}),
            "known families",
        ),
    ] {
        let error = open(&changes).unwrap_err().to_string();
        assert!(
            error.contains("config.json") && error.contains(expected),
            "{error}"
        );
        assert!(
            !error.contains(char::is_control) && error.len() < 1000,
            "{error}"
        );
    }
}

#[test]
fn damaged_json_is_an_error() {
    let tiny = TinyFolder::new();
    let deep = "[".repeat(1_000_000);
    let nested = format!("{{\"a\":{}1{}}}", "{\"a\":".repeat(5000), "}".repeat(5000));
    for text in ["", "{", "[]", "null", "{\"a\":1,}", "\u{0}", &deep, &nested] {
        tiny.text("config.json", text);
        let error = Source::open(&tiny.path).unwrap_err().to_string();
        assert!(error.contains("config.json"), "{error}");
    }
    // A byte order mark is harmless.
    tiny.text("config.json", format!("\u{feff}{}", tiny_folder::config()));
    assert!(Source::open(&tiny.path).is_ok());
}
