//! Mixtures of experts on GPUs beside the CPU: few rows (pair by pair), prompts (sorted by expert), and batches; the same
//! weights behind another router beside mlx-lm.
//! `MLXROCM_TEST_GPU=real` uses this machine's GPU.

#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;

use mlxrocm::model::{DeviceChoice, Forward, KvType, Slice, Wanted};
use on_gpu::{TOLERANCE, device, farthest, load};
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
    for target in gpu::among(&wanted) {
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
