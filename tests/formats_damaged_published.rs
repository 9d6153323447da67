//! Damaged model folders in MLX's float modes and in the formats of other tools: headers and settings
//! changed and cut at every byte, parts missing, of the wrong type or shape.

#[path = "support/counting_allocator.rs"]
mod counting_allocator;
#[path = "support/damage.rs"]
mod damage;
#[path = "support/tiny_folder.rs"]
#[allow(dead_code)]
mod tiny_folder;

use damage::{every_byte, every_length, survives};
use mlxrocm::model::weights::Source;
use safetensors::tensor::Dtype;
use serde_json::{Value, json};
use tiny_folder::{Tensor, TinyFolder, norm};

#[global_allocator]
static ALLOCATOR: counting_allocator::CountingAllocator = counting_allocator::CountingAllocator;

const KINDS: [&str; 9] = [
    "mxfp4", "mxfp8", "nvfp4", "gptq", "awq", "int4", "int8", "fp8", "fp8-rows",
];
const Q: &str = "model.layers.0.self_attn.q_proj";

/// The parts of a module of `[rows, 64]`.
fn module(kind: &str, path: &str, rows: usize) -> Vec<Tensor> {
    let part = |name: &str, dtype, shape: &[usize], bytes: usize, value| {
        let count: usize = shape.iter().product();
        (
            format!("{path}.{name}"),
            dtype,
            shape.to_vec(),
            vec![value; count * bytes],
        )
    };
    let (u8, u32, i32, f16) = (Dtype::U8, Dtype::U32, Dtype::I32, Dtype::F16);
    match kind {
        "mxfp4" => vec![
            part("weight", u32, &[rows, 8], 4, 0x5a),
            part("scales", u8, &[rows, 2], 1, 120),
        ],
        "mxfp8" => vec![
            part("weight", u32, &[rows, 16], 4, 0x5a),
            part("scales", u8, &[rows, 2], 1, 120),
        ],
        "nvfp4" => vec![
            part("weight", u32, &[rows, 8], 4, 0x5a),
            part("scales", u8, &[rows, 4], 1, 0x30),
        ],
        "gptq" => {
            let order = (0..64).flat_map(|k| (k / 32i32).to_le_bytes()).collect();
            vec![
                part("qweight", i32, &[8, rows], 4, 0x5a),
                part("qzeros", i32, &[2, rows / 8], 4, 0x77),
                part("scales", f16, &[2, rows], 2, 0x11),
                (format!("{path}.g_idx"), i32, vec![64], order),
            ]
        }
        "awq" => vec![
            part("qweight", i32, &[64, rows / 8], 4, 0x5a),
            part("qzeros", i32, &[2, rows / 8], 4, 0x77),
            part("scales", f16, &[2, rows], 2, 0x11),
        ],
        "int4" => vec![
            part("weight_packed", i32, &[rows, 8], 4, 0x5a),
            part("weight_scale", f16, &[rows, 2], 2, 0x11),
        ],
        "int8" => vec![
            part("weight_packed", i32, &[rows, 16], 4, 0x5a),
            part("weight_scale", f16, &[rows, 2], 2, 0x11),
        ],
        "fp8" => vec![
            part("weight", Dtype::F8_E4M3, &[rows, 64], 1, 0x2a),
            part(
                "weight_scale_inv",
                Dtype::F32,
                &[rows.div_ceil(24), 2],
                4,
                0x11,
            ),
        ],
        _ => vec![
            part("weight", Dtype::F8_E4M3, &[rows, 64], 1, 0x2a),
            part("weight_scale", Dtype::BF16, &[rows, 1], 2, 0x11),
        ],
    }
}

/// What `config.json` says: the key and the value.
fn settings(kind: &str) -> (&'static str, Value) {
    let compressed = |weights| json!({"quant_method": "compressed-tensors", "config_groups": {"group_0": {"weights": weights}}});
    let value = match kind {
        "mxfp4" => {
            return (
                "quantization",
                json!({"group_size": 32, "bits": 4, "mode": "mxfp4"}),
            );
        }
        "mxfp8" => return ("quantization", json!({"mode": "mxfp8"})),
        "nvfp4" => {
            return (
                "quantization",
                json!({"group_size": 16, "bits": 4, "mode": "nvfp4"}),
            );
        }
        "gptq" => json!({"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": false}),
        "awq" => json!({"quant_method": "awq", "bits": 4, "group_size": 32, "version": "gemm"}),
        "int4" => compressed(json!({"num_bits": 4, "type": "int", "group_size": 32})),
        "int8" => compressed(json!({"num_bits": 8, "type": "int", "group_size": 32})),
        "fp8" => json!({"quant_method": "fp8", "weight_block_size": [24, 32]}),
        _ => compressed(json!({"num_bits": 8, "type": "float"})),
    };
    ("quantization_config", value)
}

fn tensors(kind: &str) -> Vec<Tensor> {
    let table = "model.embed_tokens";
    let mut all = match kind {
        "mxfp4" | "mxfp8" | "nvfp4" => module(kind, table, 8),
        _ => vec![(
            format!("{table}.weight"),
            Dtype::F16,
            vec![8, 64],
            vec![0x11; 1024],
        )],
    };
    for (name, rows) in [
        ("self_attn.q_proj", 64),
        ("self_attn.k_proj", 32),
        ("mlp.down_proj", 64),
    ] {
        all.extend(module(kind, &format!("model.layers.0.{name}"), rows));
    }
    all.extend(["model.layers.0.input_layernorm", "model.norm"].map(norm));
    all
}

fn config(kind: &str) -> Value {
    let mut config = tiny_folder::config();
    config.as_object_mut().unwrap().remove("quantization");
    let (key, value) = settings(kind);
    config[key] = value;
    config
}

fn tiny(kind: &str) -> TinyFolder {
    let tiny = TinyFolder::new();
    tiny.json("config.json", &config(kind));
    tiny.tensors("model.safetensors", &tensors(kind));
    tiny
}

/// The error of opening the folder or of binding one module.
fn error(tiny: &TinyFolder) -> String {
    match Source::open(&tiny.path) {
        Err(error) => error.to_string(),
        Ok(source) => source.linear(Q, 64, 64).unwrap_err().to_string(),
    }
}

#[test]
fn undamaged_folders_open() {
    for kind in KINDS {
        let tiny = tiny(kind);
        assert!(
            survives(&tiny.path, &|| kind.into()),
            "{kind}: {}",
            error(&tiny)
        );
        let source = Source::open(&tiny.path).unwrap();
        assert!(source.linear(Q, 64, 64).is_ok());
    }
}

#[test]
fn every_byte_may_be_wrong() {
    for kind in ["nvfp4", "gptq", "awq", "int4", "fp8"] {
        let tiny = tiny(kind);
        let file = tiny.file("model.safetensors");
        let bytes = std::fs::read(&file).unwrap();
        let header = 8 + u64::from_le_bytes(bytes[..8].try_into().unwrap()) as usize;
        let (refused, accepted) = every_byte(&tiny.path, &file, header);
        assert!(
            refused > accepted,
            "{kind}: {refused} refused, {accepted} accepted"
        );
        let file = tiny.file("config.json");
        let length = std::fs::metadata(&file).unwrap().len() as usize;
        let (refused, accepted) = every_byte(&tiny.path, &file, length);
        assert!(
            refused > accepted,
            "{kind}: {refused} refused, {accepted} accepted"
        );
    }
}

#[test]
fn every_truncation_is_refused() {
    for kind in ["mxfp4", "gptq", "fp8"] {
        let tiny = tiny(kind);
        every_length(&tiny.path, &tiny.file("model.safetensors"));
    }
}

/// Every part of a module missing, empty, of another type, with a row or a column less.
#[test]
fn damaged_parts_are_named() {
    for kind in KINDS {
        let tiny = tiny(kind);
        for (at, (name, dtype, shape, data)) in tensors(kind).into_iter().enumerate() {
            if !name.starts_with(Q) {
                continue;
            }
            let with = |change: Option<Tensor>| {
                let mut all = tensors(kind);
                match change {
                    Some(tensor) => all[at] = tensor,
                    None => drop(all.remove(at)),
                }
                tiny.tensors("model.safetensors", &all);
                error(&tiny)
            };
            // An order that is not said is the usual one.
            if !name.ends_with("g_idx") {
                let missing = with(None);
                assert!(missing.contains("q_proj"), "{kind}: {missing}");
            }
            let width = data.len() / shape.iter().product::<usize>();
            let empty = with(Some((name.clone(), dtype, vec![0; shape.len()], vec![])));
            assert!(empty.contains("q_proj"), "{kind}: {empty}");
            for dimension in 0..shape.len() {
                let mut less = shape.clone();
                less[dimension] -= 1;
                let bytes = less.iter().product::<usize>() * width;
                let error = with(Some((name.clone(), dtype, less, data[..bytes].to_vec())));
                assert!(error.contains("q_proj"), "{kind} {name}: {error}");
            }
            let bytes = shape.iter().product();
            let other = with(Some((name.clone(), Dtype::BOOL, shape, vec![0; bytes])));
            assert!(other.contains("q_proj"), "{kind}: {other}");
        }
    }
}

#[test]
fn settings_that_are_not_supported_are_named() {
    let cases = [
        ("gptq", json!({"bits": 3}), "bits"),
        ("gptq", json!({"bits": null}), "bits"),
        ("gptq", json!({"group_size": -1}), "group_size"),
        (
            "gptq",
            json!({"checkpoint_format": "marlin"}),
            "checkpoint_format",
        ),
        ("awq", json!({"version": "gemv"}), "version"),
        ("awq", json!({"quant_method": "gptq"}), ".qweight"),
        ("awq", json!({"quant_method": "fp8"}), "fp8"),
        ("int4", json!({"config_groups": {}}), "config_groups"),
        (
            "int4",
            json!({"config_groups": {"g": {"weights": null}}}),
            "config_groups.g.weights",
        ),
        (
            "int4",
            json!({"config_groups": {"g": {"weights": {"type": "int", "num_bits": 4,
            "group_size": 32, "symmetric": false}}}}),
            "weight_zero_point",
        ),
        (
            "int4",
            json!({"config_groups": {"g": {"weights": {"type": "float", "num_bits": 4,
            "group_size": 16, "symmetric": false}}}}),
            "symmetric",
        ),
        (
            "int4",
            json!({"config_groups": {"g": {"weights": {"type": "float", "num_bits": 4,
            "group_size": 32}}}}),
            "group_size",
        ),
        (
            "int4",
            json!({"config_groups": {"g": {"weights": {"type": "int", "num_bits": 4,
            "group_size": 32, "actorder": "group"}}}}),
            "actorder",
        ),
        (
            "fp8",
            json!({"weight_block_size": [24, 33]}),
            "weight_block_size",
        ),
        (
            "fp8",
            json!({"weight_block_size": [0, 32]}),
            "weight_block_size",
        ),
        (
            "fp8",
            json!({"weight_block_size": 128}),
            "weight_block_size",
        ),
        (
            "fp8",
            json!({"weight_block_size": [4294967296u64, 32]}),
            "weight_block_size",
        ),
        (
            "fp8",
            json!({"weight_block_size": [128, 128]}),
            "weight_scale_inv",
        ),
        (
            "fp8",
            json!({"quant_method": "bitsandbytes"}),
            "bitsandbytes",
        ),
        ("fp8", json!({"quant_method": 7}), "quant_method"),
    ];
    for (kind, change, expected) in cases {
        let tiny = tiny(kind);
        let mut config = config(kind);
        for (key, value) in change.as_object().unwrap() {
            config["quantization_config"][key] = value.clone();
        }
        tiny.json("config.json", &config);
        let error = error(&tiny);
        assert!(error.contains(expected), "{kind} {change}: {error}");
    }
    let tiny = tiny("gptq");
    let mut all = tensors("gptq");
    let order = all
        .iter_mut()
        .find(|(name, ..)| name.ends_with("q_proj.g_idx"))
        .unwrap();
    order.3[0] = 1;
    tiny.tensors("model.safetensors", &all);
    assert!(error(&tiny).contains("reordered"), "{}", error(&tiny));
}

/// Stacks of experts: MLX's three dimensions and gpt-oss' own four.
#[test]
fn stacks_are_found_and_checked() {
    let path = "model.layers.0.mlp.experts.down_proj";
    let part = |name: &str, dtype, shape: &[usize], value| {
        let bytes = shape.iter().product::<usize>() * if dtype == Dtype::U32 { 4 } else { 1 };
        (
            format!("{path}{name}"),
            dtype,
            shape.to_vec(),
            vec![value; bytes],
        )
    };
    let good: [(&str, Vec<Tensor>); 2] = [
        (
            "mxfp4",
            vec![
                part(".weight", Dtype::U32, &[3, 5, 8], 0x5a),
                part(".scales", Dtype::U8, &[3, 5, 2], 120),
            ],
        ),
        (
            "gpt-oss",
            vec![
                part("_blocks", Dtype::U8, &[3, 5, 2, 16], 0x5a),
                part("_scales", Dtype::U8, &[3, 5, 2], 120),
            ],
        ),
    ];
    for (kind, parts) in good {
        let tiny = tiny("mxfp4");
        if kind == "gpt-oss" {
            let mut config = config("mxfp4");
            config["quantization"] = Value::Null;
            config["quantization_config"] = json!({"quant_method": "mxfp4"});
            tiny.json("config.json", &config);
        }
        let with = |parts: &[Tensor]| {
            let mut all: Vec<Tensor> = vec![(
                "model.embed_tokens.weight".into(),
                Dtype::F16,
                vec![8, 64],
                vec![0x11; 1024],
            )];
            all.extend_from_slice(parts);
            tiny.tensors("model.safetensors", &all);
            Source::open(&tiny.path).and_then(|source| source.stack(path, 3, 5, 64))
        };
        let stack = with(&parts).unwrap();
        assert_eq!((stack.stack, stack.rows, stack.cols), (3, 15, 64));
        let mut values = vec![0.0; 64];
        stack
            .matrix(2)
            .unwrap()
            .dequantize_row(4, &mut values)
            .unwrap();
        // 0x5a is 3 and -1, low nibble first.
        assert_eq!((values[0], values[1]), (-1.0 / 128.0, 3.0 / 128.0));
        let source = Source::open(&tiny.path).unwrap();
        for (count, rows, cols) in [(1, 15, 64), (3, 5, 32), (5, 3, 64), (usize::MAX, 5, 64)] {
            assert!(source.stack(path, count, rows, cols).is_err());
        }
        assert!(source.linear(path, 15, 64).is_err());
        for at in 0..2 {
            let mut missing = parts.clone();
            missing.remove(at);
            assert!(with(&missing).is_err(), "{kind} {at}");
            for dimension in 0..3 {
                let mut other = parts.clone();
                let (_, dtype, shape, data) = &mut other[at];
                shape[dimension] -= 1;
                let width = if *dtype == Dtype::U32 { 4 } else { 1 };
                data.truncate(shape.iter().product::<usize>() * width);
                assert!(with(&other).is_err(), "{kind} {at} {dimension}");
            }
        }
    }
}
