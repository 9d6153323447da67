//! Damaged model folders: safetensors headers changed and cut at every byte, shards missing,
//! contradicting shapes and settings, odd small files.

#[path = "support/counting_allocator.rs"]
mod counting_allocator;
#[path = "support/damage.rs"]
mod damage;
#[path = "support/tiny_folder.rs"]
mod tiny_folder;

use damage::{every_byte, every_length, survives};
use mlxrocm::Error;
use mlxrocm::model::weights::Source;
use safetensors::tensor::Dtype;
use serde_json::{Value, json};
use tiny_folder::{Tensor, TinyFolder, module, norm, tensors};

#[global_allocator]
static ALLOCATOR: counting_allocator::CountingAllocator = counting_allocator::CountingAllocator;

/// The error of opening the folder, or of binding one module where it opens.
fn error(tiny: &TinyFolder) -> String {
    let error = match Source::open(&tiny.path) {
        Err(error) => error,
        Ok(source) => source
            .linear("model.layers.0.self_attn.q_proj", 64, 64)
            .unwrap_err(),
    };
    assert!(
        matches!(
            error,
            Error::InvalidFile(_) | Error::Unsupported(_) | Error::Io(_)
        ),
        "{error:?}"
    );
    error.to_string()
}

#[track_caller]
fn assert_names(error: &str, parts: &[&str]) {
    for part in parts {
        assert!(error.contains(part), "{part} is not in: {error}");
    }
}

#[test]
fn undamaged_folder_opens() {
    let tiny = TinyFolder::new();
    assert!(survives(&tiny.path, &|| "undamaged".into()));
    let source = Source::open(&tiny.path).unwrap();
    assert_eq!(source.config().stop_tokens, [2]);
    assert_eq!(source.config().name, "tiny");
    assert_eq!(source.quantization(), "affine 4-bit g32");
    assert_eq!(source.chat_template(), None);
}

#[test]
fn every_byte_of_a_safetensors_header_may_be_wrong() {
    let tiny = TinyFolder::new();
    let file = tiny.file("model.safetensors");
    let bytes = std::fs::read(&file).unwrap();
    let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
    let (refused, accepted) = every_byte(&tiny.path, &file, header);
    assert!(refused > accepted, "{refused} refused, {accepted} accepted");
}

#[test]
fn every_byte_of_the_config_may_be_wrong() {
    let tiny = TinyFolder::new();
    let file = tiny.file("config.json");
    let length = std::fs::metadata(&file).unwrap().len() as usize;
    let (refused, accepted) = every_byte(&tiny.path, &file, length);
    assert!(
        refused > 3 * accepted,
        "{refused} refused, {accepted} accepted"
    );
    every_length(&tiny.path, &file);
}

#[test]
fn every_truncation_of_safetensors_is_refused() {
    let tiny = TinyFolder::new();
    every_length(&tiny.path, &tiny.file("model.safetensors"));
}

#[test]
fn damaged_safetensors_headers_are_named() {
    let tiny = TinyFolder::new();
    let with = |length: u64, header: &str| {
        let mut bytes = length.to_le_bytes().to_vec();
        bytes.extend(header.as_bytes());
        bytes.extend([0; 64]);
        tiny.text("model.safetensors", bytes);
        let error = error(&tiny);
        assert!(error.contains("model.safetensors"), "{error}");
        error
    };
    for length in [1000, 100_000_001, 1 << 40, 1 << 63, u64::MAX] {
        assert_names(&with(length, "{}"), &["header length"]);
    }
    let entry = |entry: &str| {
        let header = format!("{{\"model.norm.weight\":{entry}}}");
        with(header.len() as u64, &header)
    };
    for (text, expected) in [
        (
            r#"{"dtype":"F32","shape":[4],"data_offsets":[0,17]}"#,
            "does not take",
        ),
        (
            r#"{"dtype":"F32","shape":[4],"data_offsets":[16,0]}"#,
            "data_offsets [16, 0]",
        ),
        (
            r#"{"dtype":"F32","shape":[17],"data_offsets":[0,68]}"#,
            "truncated",
        ),
        (
            r#"{"dtype":"F32","shape":[4],"data_offsets":[18446744073709551600,18446744073709551615]}"#,
            "truncated",
        ),
        (
            r#"{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}"#,
            "overflows",
        ),
        (
            r#"{"dtype":"F32","shape":[4611686018427387904],"data_offsets":[0,0]}"#,
            "does not take",
        ),
        (
            r#"{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}"#,
            "model.norm.weight",
        ),
        (r#"{"dtype":"F32","shape":[1]}"#, "data_offsets"),
        (
            r#"{"dtype":7,"shape":[1],"data_offsets":[0,4]}"#,
            "model.norm.weight",
        ),
        (r#"[]"#, "model.norm.weight"),
    ] {
        assert_names(&entry(text), &["model.norm.weight", expected]);
    }
    let twice = r#"{"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    assert_names(&with(twice.len() as u64, twice), &["a appears twice"]);
    let deep = format!("{{\"a\":{}", "[".repeat(100_000));
    assert_names(&with(deep.len() as u64, &deep), &["damaged header"]);
    assert_names(&with(2, "[]"), &["damaged header"]);
    let control = r#"{"a\nb":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}"#;
    assert_names(
        &with(control.len() as u64, control),
        &["control characters"],
    );
}

#[test]
fn missing_shards_are_named() {
    let all = tensors();
    let (first, second) = all.split_at(12);
    let index = |file: &dyn Fn(usize) -> Value| {
        let map: serde_json::Map<String, Value> = all
            .iter()
            .enumerate()
            .map(|(i, (name, ..))| (name.clone(), file(usize::from(i >= 12))))
            .collect();
        json!({"weight_map": map})
    };
    const FILES: [&str; 2] = [
        "model-00001-of-00002.safetensors",
        "model-00002-of-00002.safetensors",
    ];
    let sharded = || {
        let tiny = TinyFolder::new();
        tiny.remove("model.safetensors");
        tiny.tensors(FILES[0], first);
        tiny.tensors(FILES[1], second);
        tiny
    };
    let tiny = sharded();
    assert!(survives(&tiny.path, &|| "without index".into()));
    tiny.json("model.safetensors.index.json", &index(&|i| FILES[i].into()));
    assert!(survives(&tiny.path, &|| "with index".into()));
    for with_index in [true, false] {
        for missing in FILES {
            let tiny = sharded();
            if with_index {
                tiny.json("model.safetensors.index.json", &index(&|i| FILES[i].into()));
            }
            tiny.remove(missing);
            assert_names(&error(&tiny), &[missing, "missing"]);
        }
    }
    // An index of other names.
    for (name, expected) in [
        (
            json!("model-of-another.safetensors"),
            "model-of-another.safetensors",
        ),
        (json!("../tiny/model.safetensors"), "is no file name"),
        (json!("a\u{0}b"), "is no file name"),
        (json!(5), "is no file name"),
    ] {
        let tiny = sharded();
        tiny.json("model.safetensors.index.json", &index(&|_| name.clone()));
        assert_names(&error(&tiny), &[expected]);
    }
    let tiny = sharded();
    tiny.json("model.safetensors.index.json", &json!({"weight_map": []}));
    assert_names(&error(&tiny), &["index.json", "weight_map"]);
    tiny.remove("model.safetensors.index.json");
    tiny.tensors("model-extra.safetensors", &first[..1]);
    assert_names(&error(&tiny), &[&first[0].0, "also in"]);

    let tiny = TinyFolder::new();
    tiny.remove("model.safetensors");
    assert_names(&error(&tiny), &["no model*.safetensors"]);
    tiny.text("model.safetensors", b"");
    assert_names(&error(&tiny), &["model.safetensors", "0 bytes"]);
    tiny.remove("model.safetensors");
    std::fs::create_dir(tiny.file("model.safetensors")).unwrap();
    assert_names(&error(&tiny), &["model.safetensors", "not a regular file"]);
}

/// The tiny model with the q projection replaced.
fn with_q(replacement: Vec<Tensor>) -> TinyFolder {
    let tiny = TinyFolder::new();
    let mut all = tensors();
    all.retain(|(name, ..)| !name.contains("q_proj"));
    all.extend(replacement);
    tiny.tensors("model.safetensors", &all);
    tiny
}

const Q: &str = "model.layers.0.self_attn.q_proj";

#[test]
fn contradicting_quantized_tensors_are_named() {
    let q = || module(Q, 64, 4, 32);
    assert!(survives(&with_q(q()).path, &|| "unchanged".into()));
    type Change = fn(&mut Vec<Tensor>);
    let cases: &[(&str, Change)] = &[
        ("q_proj.biases is missing", |q| q.truncate(2)),
        ("does not go with scales", |q| {
            q[0] = module(Q, 64, 8, 32).swap_remove(0)
        }),
        ("does not go with scales", |q| {
            q[0] = module(Q, 32, 4, 32).swap_remove(0)
        }),
        ("does not go with scales", |q| *q = module(Q, 64, 4, 64)),
        ("differ from its scales", |q| q[2].1 = Dtype::BF16),
        ("differ from its scales", |q| {
            q[2] = (q[2].0.clone(), Dtype::F16, vec![2, 64], q[2].3.clone())
        }),
        ("scales have type I16", |q| q[1].1 = Dtype::I16),
        ("packed codes are U32", |q| q[0].1 = Dtype::I32),
        ("packed codes are U32", |q| q[0].1 = Dtype::F32),
        ("is missing", |q| q.clear()),
        ("[32, 64]", |q| *q = module(Q, 32, 4, 32)),
        ("type U32", |q| q.truncate(1)),
        ("[64, 8, 1]", |q| {
            q[0].2 = vec![64, 8, 1];
            q[1].2 = vec![64, 2, 1];
            q[2].2 = vec![64, 2, 1];
        }),
    ];
    for (expected, change) in cases {
        let mut q = q();
        change(&mut q);
        assert_names(&error(&with_q(q)), &["q_proj", expected, "tiny"]);
    }
    // Dense weights beside quantized ones are fine.
    let dense = (
        format!("{Q}.weight"),
        Dtype::F16,
        vec![64, 64],
        vec![0; 8192],
    );
    assert!(survives(&with_q(vec![dense]).path, &|| "dense".into()));
    let cube = (
        format!("{Q}.weight"),
        Dtype::F16,
        vec![64, 8, 8],
        vec![0; 8192],
    );
    assert_names(&error(&with_q(vec![cube])), &["q_proj", "[64, 8, 8]"]);
    let bytes = (
        format!("{Q}.weight"),
        Dtype::F8_E4M3,
        vec![64, 64],
        vec![0; 4096],
    );
    assert_names(&error(&with_q(vec![bytes])), &["q_proj", "F8_E4M3"]);
    let mut biased = q();
    biased.push((format!("{Q}.bias"), Dtype::F16, vec![63], vec![0; 126]));
    let tiny = with_q(biased);
    // A bias that the config does not promise is a tensor without a place; one that it does must fit.
    let unused = Source::open(&tiny.path).unwrap().unused();
    assert!(unused.iter().any(|name| name.ends_with("q_proj.bias")));
    let mut promised = tiny_folder::config();
    promised["attention_bias"] = json!(true);
    tiny.json("config.json", &promised);
    assert_names(&error(&tiny), &["q_proj.bias", "[64]"]);
}

#[test]
fn quantization_settings_are_read_in_every_form() {
    // What the config says → the error, or none.
    let cases: &[(Value, &str)] = &[
        (json!({"group_size": 32, "bits": 4, "mode": "affine"}), ""),
        (json!({"group_size": 32}), ""),
        (json!({"group_size": 32, "bits": 4, Q: true}), ""),
        (
            json!({"group_size": 64, "bits": 8, "mode": "mxfp8", "model.embed_tokens": {"group_size": 32},
            Q: {"group_size": 32, "bits": 4}}),
            "k_proj",
        ),
        (
            json!({"group_size": 32, "bits": 4, Q: {"group_size": 64, "bits": 4}}),
            "does not go with scales",
        ),
        (
            json!({"group_size": 32, "bits": 4, Q: {}}),
            "does not go with scales",
        ),
        (
            json!({"group_size": 32, "bits": 4, Q: false}),
            "not quantized",
        ),
        (json!({"group_size": 32, "bits": 4, Q: 7}), "q_proj"),
        (
            json!({"group_size": 32, "bits": 4, Q: {"mode": "mxfp4"}}),
            "mxfp4",
        ),
        (
            json!({"group_size": 32, "bits": 4, "mode": "nvfp4"}),
            "nvfp4",
        ),
        (json!({"group_size": 32, "bits": 7}), "bits"),
        (json!({"group_size": 32, "bits": "4"}), "bits"),
        (json!({"group_size": 16, "bits": 4}), "group_size"),
        (json!({"group_size": 1e300, "bits": 4}), "group_size"),
        (json!({"quant_method": "gptq", "bits": 4}), "gptq"),
        (json!({"quant_method": "awq"}), "awq"),
        (json!([1]), "an object is needed"),
        (Value::Null, "no \"quantization\""),
    ];
    for place in ["quantization", "quantization_config", "text_config"] {
        for (settings, expected) in cases {
            let tiny = TinyFolder::new();
            let mut config = tiny_folder::config();
            config.as_object_mut().unwrap().remove("quantization");
            if place == "text_config" {
                config["quantization_config"] = settings.clone();
                config = json!({"model_type": "some_vl", "text_config": config});
            } else {
                config[place] = settings.clone();
            }
            tiny.json("config.json", &config);
            if expected.is_empty() {
                assert!(survives(&tiny.path, &|| settings.to_string()));
            } else if *expected == "k_proj" {
                // Modules with settings of their own pass; the first one without is refused.
                assert_names(&error(&tiny), &["mxfp8", "config.json"]);
            } else {
                assert_names(&error(&tiny), &[expected]);
            }
        }
    }
    // Listed as quantized, but dense in the file.
    let dense = (
        format!("{Q}.weight"),
        Dtype::F16,
        vec![64, 64],
        vec![0; 8192],
    );
    let tiny = with_q(vec![dense]);
    let mut config = tiny_folder::config();
    config["quantization"][Q] = json!({"group_size": 32, "bits": 4});
    tiny.json("config.json", &config);
    assert_names(&error(&tiny), &["q_proj.scales is missing"]);
}

#[test]
fn prefixes_of_wrapped_models_are_found() {
    for prefix in ["language_model.model.", "model.language_model.", ""] {
        let tiny = TinyFolder::new();
        let mut all = tensors();
        for (name, ..) in &mut all {
            *name = name.replacen("model.", prefix, 1);
        }
        all.push(norm("vision_tower.norm"));
        tiny.tensors("model.safetensors", &all);
        assert!(survives(&tiny.path, &|| prefix.into()));
        let source = Source::open(&tiny.path).unwrap();
        assert!(source.linear(Q, 64, 64).is_ok());
        let unused = source.unused();
        assert!(unused.contains(&"vision_tower.norm.weight".to_string()));
        assert!(!unused.iter().any(|name| name.contains("q_proj")));
    }
}

#[test]
fn chat_templates_are_found_where_they_may_be() {
    let tiny = TinyFolder::new();
    let template = || {
        let source = Source::open(&tiny.path).unwrap();
        source.chat_template().map(str::to_string)
    };
    tiny.json(
        "tokenizer_config.json",
        &json!({"chat_template": "from config"}),
    );
    assert_eq!(template().unwrap(), "from config");
    let named = json!([{"name": "rag", "template": "r"}, {"name": "default", "template": "d"}]);
    tiny.json("tokenizer_config.json", &json!({"chat_template": named}));
    assert_eq!(template().unwrap(), "d");
    let named = json!([{"name": "rag", "template": "r"}]);
    tiny.json("tokenizer_config.json", &json!({"chat_template": named}));
    assert_eq!(template().unwrap(), "r");
    tiny.json("chat_template.json", &json!({"chat_template": "own json"}));
    assert_eq!(template().unwrap(), "own json");
    tiny.text("chat_template.jinja", "own file");
    assert_eq!(template().unwrap(), "own file");
    tiny.text("chat_template.jinja", b"\xff\xfe");
    assert_names(&error(&tiny), &["chat_template.jinja", "UTF-8"]);
    tiny.remove("chat_template.jinja");
    for bad in [
        json!(7),
        json!([]),
        json!([1]),
        json!([{"name": "default"}]),
    ] {
        tiny.json("chat_template.json", &json!({"chat_template": bad}));
        assert_names(&error(&tiny), &["chat_template.json"]);
    }
    for bad in [&b"{"[..], b"[]", b"\xff", b"{}{}", b""] {
        tiny.text("chat_template.json", bad);
        assert_names(&error(&tiny), &["chat_template.json"]);
    }
}

#[test]
fn odd_paths_are_errors() {
    use std::os::unix::ffi::OsStrExt;
    let tiny = TinyFolder::new();
    let odd = |name: &[u8]| tiny.beside("").join(std::ffi::OsStr::from_bytes(name));
    for name in [&b"missing"[..], b"nul\0inside", b"bad\xff\xfe"] {
        assert!(Source::open(&odd(name)).is_err());
    }
    std::fs::create_dir(odd(b"empty")).unwrap();
    let error = Source::open(&odd(b"empty")).unwrap_err().to_string();
    assert_names(&error, &["empty", "config.json is missing"]);
    // A good folder under a name that is not UTF-8 opens; so does one with odd neighbours.
    tiny.text("model-\u{fffd}", "no safetensors");
    std::fs::write(
        tiny.path
            .join(std::ffi::OsStr::from_bytes(b"model-\xff.safetensors")),
        "x",
    )
    .unwrap();
    std::fs::rename(&tiny.path, odd(b"bad\xff")).unwrap();
    assert!(Source::open(&odd(b"bad\xff")).is_ok());
}
