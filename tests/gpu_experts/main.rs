//! Mixtures of experts on GPUs beside the CPU: few rows (pair by pair), prompts (sorted by expert), and batches; the same
//! weights behind another router beside mlx-lm.
//! `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "../support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "../support/on_gpu.rs"]
mod on_gpu;
#[path = "../support/random_model.rs"]
mod random_model;

mod host;

use mlxrocm::formats::Format;
use mlxrocm::gpu::ExpertPolicy;
use mlxrocm::model::{DeviceChoice, Forward, KvType, LoadOptions, Model, Slice, Wanted};
use on_gpu::{TOLERANCE, device, farthest, load};
use random_model::{
    gguf_writer::GgufWriter, prng::Prng, random_formats, random_matrix, tiny_tokenizer,
};
use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use std::path::{Path, PathBuf};

const TOKENS: usize = 61;

fn tokens() -> Vec<u32> {
    (0..TOKENS as u32).map(|i| (i * 37 + 11) % 96).collect()
}

fn slice<'a>(tokens: &'a [u32], start: usize, pages: &'a [u32]) -> Slice<'a> {
    Slice {
        tokens,
        start,
        pages,
        wanted: Wanted::All,
        slot: 0,
    }
}

/// Logits of all tokens, in steps of these sizes, then one by one.
fn logits(forward: &mut dyn Forward, steps: &[usize]) -> Vec<f32> {
    let tokens = tokens();
    let (mut all, mut some, mut start) = (Vec::new(), Vec::new(), 0);
    let mut steps = steps.iter().copied();
    while start < tokens.len() {
        let end = (start + steps.next().unwrap_or(1)).min(tokens.len());
        let slice = slice(&tokens[start..end], start, &[1, 0]);
        forward.forward(&[slice], &mut some).unwrap();
        all.extend_from_slice(&some);
        start = end;
    }
    all
}

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/experts")
}

/// The golden model with a tokenizer, which loading it needs.
fn folder() -> tempfile::TempDir {
    let golden = golden();
    let folder = tempfile::tempdir().unwrap();
    for file in ["config.json", "model.safetensors"] {
        std::fs::copy(golden.join(file), folder.path().join(file)).unwrap();
    }
    let bytes = serde_json::json!({"type": "ByteLevel", "add_prefix_space": false, "trim_offsets": true, "use_regex": true});
    let words = (0..96).map(|token| (format!("t{token}"), token.into()));
    let words: serde_json::Map<String, serde_json::Value> = words.collect();
    let tokenizer = serde_json::json!({
        "version": "1.0", "added_tokens": [], "normalizer": null, "pre_tokenizer": bytes, "decoder": bytes,
        "model": {"type": "BPE", "vocab": words, "merges": []},
    });
    let path = folder.path().join("tokenizer.json");
    std::fs::write(path, tokenizer.to_string()).unwrap();
    folder
}

#[test]
fn experts_give_what_the_cpu_gives() {
    let folder = folder();
    let path = folder.path();
    let cpu = load(path, DeviceChoice::Cpu);
    let forward = || cpu.new_forward(4, 64, KvType::F16).unwrap();
    let expected = logits(&mut *forward(), &[TOKENS]);
    let vocabulary = forward().vocab_size();
    let wanted = ["gfx1151", "gfx942", "gfx1201", "gfx1030", "gfx90a"];
    for target in gpu::by_turns(&wanted) {
        let gpu = device(target);
        let model = load(path, DeviceChoice::Gpu(0));
        let forward = || model.new_forward(4, 64, KvType::F16).unwrap();
        for steps in [&[TOKENS][..], &[33, 1, 15], &[40, 16, 3]] {
            let far = farthest(&logits(&mut *forward(), steps), &expected);
            assert!(far < TOLERANCE, "{target}, steps {steps:?}: {far}");
        }
        // Up to 16 rows a row's bits do not depend on the others.
        let tokens = tokens();
        let (mut alone, mut both) = (Vec::new(), Vec::new());
        let mine = || slice(&tokens[..5], 0, &[3]);
        forward().forward(&[mine()], &mut alone).unwrap();
        let other = slice(&tokens[20..30], 0, &[2]);
        forward().forward(&[other, mine()], &mut both).unwrap();
        assert_eq!(both[10 * vocabulary..], alone, "{target}");
        // Nor do those of a row that takes its experts one by one when it is alone.
        forward()
            .forward(&[slice(&tokens[7..8], 0, &[3])], &mut alone)
            .unwrap();
        let others = [
            slice(&tokens[20..23], 0, &[2]),
            slice(&tokens[7..8], 0, &[3]),
        ];
        forward().forward(&others, &mut both).unwrap();
        assert_eq!(both[3 * vocabulary..], alone, "{target}");
        if !gpu::is_real() {
            assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
        }
    }
}

/// Experts that more rows of a prompt chose than one block takes.
#[test]
fn long_prompts_give_what_the_cpu_gives() {
    const LONG: usize = 450;
    let folder = folder();
    let tokens: Vec<u32> = (0..LONG as u32)
        .map(|i| (i * i * 7 + i * 37) % 96)
        .collect();
    let pages: Vec<u32> = (0..16).rev().collect();
    let logits = |device| {
        let model = load(folder.path(), device);
        let mut forward = model.new_forward(16, LONG, KvType::F16).unwrap();
        let mut all = Vec::new();
        forward
            .forward(&[slice(&tokens, 0, &pages)], &mut all)
            .unwrap();
        all
    };
    let expected = logits(DeviceChoice::Cpu);
    for target in gpu::by_turns(&["gfx1151", "gfx90a"]) {
        let gpu = device(target);
        let given = logits(DeviceChoice::Gpu(0));
        let width = given.len() / LONG;
        let rows = given.chunks_exact(width).zip(expected.chunks_exact(width));
        let far = rows.filter(|(given, expected)| farthest(given, expected) >= TOLERANCE);
        // Of one row two experts' scores are so close that rounding chooses between them.
        let far = far.count();
        assert!(far <= 1, "{target}: {far} rows");
        if !gpu::is_real() {
            assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
        }
    }
}

/// Half of the weights, then hardly any, lie on the device: the rest of the experts is read where it is.
#[test]
fn experts_in_host_memory_say_the_same() {
    let folder = folder();
    let load = |most| {
        let options = LoadOptions {
            device: DeviceChoice::Gpu(0),
            gpu_weight_bytes: most,
            ..LoadOptions::default()
        };
        Model::load(folder.path(), &options, None).unwrap()
    };
    for target in gpu::by_turns(&["gfx1151", "gfx90a"]) {
        let gpu = device(target);
        let device = gpu.device();
        // Those that the CPU computes: `host.rs`.
        device.set_host_experts(ExpertPolicy::Off);
        let run = |model: &Model| {
            let mut forward = model.new_forward(4, 64, KvType::F16).unwrap();
            logits(&mut *forward, &[40, 3, 16])
        };
        let whole = load(None);
        let all = device.memory().unwrap().active;
        let expected = run(&whole);
        drop(whole);
        let mut last = 0;
        for percent in [90, 50, 20] {
            let most = all * percent / 100;
            let model = load(Some(most));
            let on_device = device.memory().unwrap().active;
            let in_host = device.pinned_memory().active;
            assert!(on_device <= most, "{target}, {percent} %: {on_device}");
            assert!(in_host > last, "{target}, {percent} %: {in_host}");
            last = in_host;
            assert!(run(&model) == expected, "{target}, {percent} %");
        }
        if !gpu::is_real() {
            assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
        }
    }
}

/// A glm4_moe of the golden model's weights: sigmoids, a correction, groups (`golden/experts/routers.py`).
#[test]
fn quantized_experts_behind_another_router_are_those_of_mlx_lm() {
    let golden = std::fs::read_to_string(golden().join("glm4_moe.json")).unwrap();
    let golden: serde_json::Value = serde_json::from_str(&golden).unwrap();
    let expected: Vec<f32> = serde_json::from_value(golden["logits"].clone()).unwrap();
    let corrections: Vec<Vec<f32>> = serde_json::from_value(golden["corrections"].clone()).unwrap();
    let folder = folder();
    let path = folder.path();
    std::fs::write(path.join("config.json"), golden["config"].to_string()).unwrap();
    let bytes = std::fs::read(path.join("model.safetensors")).unwrap();
    let numbers = corrections.iter().map(|layer| {
        let bytes = layer.iter().flat_map(|number| number.to_le_bytes());
        bytes.collect::<Vec<u8>>()
    });
    let numbers: Vec<Vec<u8>> = numbers.collect();
    let added = numbers.iter().enumerate().map(|(layer, bytes)| {
        let name = format!("model.layers.{layer}.mlp.gate.e_score_correction_bias");
        let shape = vec![bytes.len() / 4];
        (name, TensorView::new(Dtype::F32, shape, bytes).unwrap())
    });
    let old = SafeTensors::deserialize(&bytes).unwrap();
    let all: Vec<(String, TensorView<'_>)> = old.tensors().into_iter().chain(added).collect();
    let new = safetensors::serialize(all, None).unwrap();
    std::fs::write(path.join("model.safetensors"), new).unwrap();
    for target in gpu::among(&["gfx1151", "gfx942", "gfx1201"]) {
        let gpu = device(target);
        let model = load(path, DeviceChoice::Gpu(0));
        let vocabulary = model.info().vocab_size;
        for steps in [&[TOKENS][..], &[33, 1, 15], &[]] {
            let mut forward = model.new_forward(4, 64, KvType::F16).unwrap();
            let found = logits(&mut *forward, steps);
            let rows = found.chunks(vocabulary).step_by(4);
            let kept: Vec<f32> = rows
                .flat_map(|row| row.iter().copied().step_by(3))
                .collect();
            let far = farthest(&kept, &expected);
            println!("{target}, steps {steps:?}: {far:.1e}");
            assert!(far < TOLERANCE, "{target}, steps {steps:?}: {far}");
        }
        if !gpu::is_real() {
            assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
        }
    }
}

/// The golden model with random stacks in one of MLX's float modes.
fn float_mode(format: Format) -> tempfile::TempDir {
    let folder = folder();
    let path = folder.path().join("model.safetensors");
    let bytes = std::fs::read(&path).unwrap();
    let old = SafeTensors::deserialize(&bytes).unwrap();
    let mut prng = Prng::new(5);
    let (key, mut quantization) = random_formats::quantization(format);
    // All else stays as it is.
    let others = serde_json::json!({"group_size": 32, "bits": 4, "mode": "affine"});
    let mut made = Vec::new();
    // In the same order each time: another draw may have two experts as good as each other, of which f16 takes either.
    let mut tensors = old.tensors();
    tensors.sort_by(|a, b| a.0.cmp(&b.0));
    for (name, tensor) in tensors {
        let Some(module) = name.strip_suffix(".weight") else {
            continue;
        };
        let has_scales = old.tensor(&format!("{module}.scales")).is_ok();
        if !module.contains("switch_mlp") {
            if has_scales {
                quantization[module] = others.clone();
            }
            continue;
        }
        let [experts, rows, words] = tensor.shape()[..] else {
            panic!("{name}: {:?}", tensor.shape());
        };
        let cols = words * 8;
        for (part, dtype, shape, data) in
            random_formats::folder_matrix(&mut prng, format, experts * rows, cols, 0.1)
        {
            let shape = vec![experts, rows, shape[1]];
            made.push((format!("{module}.{part}"), dtype, shape, data));
        }
    }
    assert!(!made.is_empty());
    let old = old.tensors().into_iter();
    let old = old.filter(|(name, _)| !name.contains("switch_mlp"));
    let made = made.iter().map(|(name, dtype, shape, data)| {
        let view = TensorView::new(*dtype, shape.clone(), data).unwrap();
        (name.clone(), view)
    });
    let new = safetensors::serialize(old.chain(made).collect::<Vec<_>>(), None).unwrap();
    std::fs::write(&path, new).unwrap();
    let config = folder.path().join("config.json");
    let text = std::fs::read_to_string(&config).unwrap();
    let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
    json[key] = quantization;
    std::fs::write(config, json.to_string()).unwrap();
    folder
}

/// A random model of one layer whose matrices are all of one GGUF type.
fn gguf(folder: &Path, format: Format) -> PathBuf {
    const WIDTH: usize = 256;
    const EXPERTS: usize = 6;
    let mut writer = GgufWriter::new(3);
    writer.text("general.architecture", "qwen3moe");
    for (key, value) in [
        ("context_length", 512),
        ("embedding_length", WIDTH as u32),
        ("block_count", 1),
        ("feed_forward_length", 256),
        ("attention.head_count", 4),
        ("attention.head_count_kv", 2),
        ("attention.key_length", 64),
        ("attention.value_length", 64),
        ("expert_count", EXPERTS as u32),
        ("expert_used_count", 3),
        ("expert_feed_forward_length", 256),
    ] {
        writer.u32(&format!("qwen3moe.{key}"), value);
    }
    writer
        .f32("qwen3moe.attention.layer_norm_rms_epsilon", 1e-6)
        .f32("qwen3moe.rope.freq_base", 10_000.0);
    tiny_tokenizer::write_gguf(&mut writer);
    let mut prng = Prng::new(6);
    let mut dense = |name: &str, dims: &[u64], middle: f64, std: f64| {
        let count = dims.iter().product::<u64>();
        let values = (0..count).map(|_| middle + std * prng.normal());
        let data = random_matrix::dense(mlxrocm::formats::ScalarType::F32, values);
        writer.tensor(name, dims, 0, data);
    };
    for name in ["output_norm", "blk.0.attn_norm", "blk.0.ffn_norm"] {
        dense(&format!("{name}.weight"), &[WIDTH as u64], 1.0, 0.1);
    }
    for name in ["attn_q_norm", "attn_k_norm"] {
        dense(&format!("blk.0.{name}.weight"), &[64], 1.0, 0.1);
    }
    let gate = [WIDTH as u64, EXPERTS as u64];
    dense("blk.0.ffn_gate_inp.weight", &gate, 0.0, 0.1);
    for (name, stack, rows) in [
        ("token_embd", 1, 320),
        ("output", 1, 320),
        ("blk.0.attn_q", 1, 256),
        ("blk.0.attn_k", 1, 128),
        ("blk.0.attn_v", 1, 128),
        ("blk.0.attn_output", 1, 256),
        ("blk.0.ffn_gate_exps", EXPERTS, 256),
        ("blk.0.ffn_up_exps", EXPERTS, 256),
        ("blk.0.ffn_down_exps", EXPERTS, 256),
    ] {
        let data = random_matrix::gguf_matrix(&mut prng, format, stack * rows, WIDTH, 0.06);
        let mut dims = vec![WIDTH as u64, rows as u64];
        dims.extend((stack > 1).then_some(stack as u64));
        let kind = random_matrix::ggml_type(format);
        writer.tensor(&format!("{name}.weight"), &dims, kind, data);
    }
    let path = folder.join("model.gguf");
    std::fs::write(&path, writer.bytes()).unwrap();
    path
}

/// Codes that are 8-bit floats, or places in a table, and scales that are 8-bit floats.
#[test]
fn experts_in_other_formats_give_what_the_cpu_gives() {
    let written = tempfile::tempdir().unwrap();
    let folders = [Format::Mxfp8, Format::Nvfp4].map(|format| (format, float_mode(format)));
    let mut models: Vec<(Format, PathBuf)> = Vec::new();
    for (format, folder) in &folders {
        models.push((*format, folder.path().to_owned()));
    }
    for format in [Format::Iq4Xs, Format::Iq2S] {
        let folder = written.path().join(format.to_string());
        std::fs::create_dir(&folder).unwrap();
        models.push((format, gguf(&folder, format)));
    }
    for (format, path) in models {
        let cpu = load(&path, DeviceChoice::Cpu);
        let forward = || cpu.new_forward(4, 64, KvType::F16).unwrap();
        let expected = logits(&mut *forward(), &[TOKENS]);
        for target in gpu::by_turns(&["gfx1151", "gfx942"]) {
            let gpu = device(target);
            let model = load(&path, DeviceChoice::Gpu(0));
            let forward = || model.new_forward(4, 64, KvType::F16).unwrap();
            // By the matrix unit, in runs, and one by one.
            for steps in [&[TOKENS][..], &[33, 1, 15]] {
                let far = farthest(&logits(&mut *forward(), steps), &expected);
                println!("{format}, {target}, steps {steps:?}: {far:.1e}");
                assert!(
                    far < TOLERANCE,
                    "{format}, {target}, steps {steps:?}: {far}"
                );
            }
            if !gpu::is_real() {
                assert_eq!(gpu.report()["violations"].to_string(), "[]", "{target}");
            }
        }
    }
}
