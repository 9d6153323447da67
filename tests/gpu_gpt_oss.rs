//! gpt-oss on a GPU, from folders of mlx-lm and as published: attention sinks, windows in every second layer, mxfp4 experts
//! with biases and a limit. Beside mlx-lm in f32.

#[path = "support/golden_family.rs"]
mod golden_family;
#[allow(dead_code)] // other tests use the rest
#[path = "support/gpt_oss.rs"]
mod gpt_oss;
#[path = "support/gpu.rs"]
mod gpu;
#[allow(dead_code)] // other tests use the rest
#[path = "support/on_gpu.rs"]
mod on_gpu;

use golden_family::{TOKENS, farthest, kept, tiny_tokenizer, tokens};
use gpt_oss::{Form, VOCABULARY, config, tensors, write};
use mlxrocm::model::{DeviceChoice, KvType, Slice, Wanted};
use on_gpu::{TOLERANCE, device, load};
use serde_json::Value;
use std::path::Path;

/// Logits of all tokens, in steps of these sizes, then one by one.
fn logits(path: &Path, steps: &[usize]) -> Vec<f32> {
    let model = load(path, DeviceChoice::Gpu(0));
    let mut forward = model.new_forward(2, 64, KvType::F16).unwrap();
    let tokens = tokens(VOCABULARY);
    let (mut all, mut some, mut start) = (Vec::new(), Vec::new(), 0);
    let mut steps = steps.iter().copied();
    while start < TOKENS {
        let end = (start + steps.next().unwrap_or(1)).min(TOKENS);
        let slice = Slice {
            tokens: &tokens[start..end],
            start,
            pages: &[1, 0],
            wanted: Wanted::All,
            slot: 0,
        };
        forward.forward(&[slice], &mut some).unwrap();
        all.extend_from_slice(&some);
        start = end;
    }
    kept(&all, VOCABULARY)
}

#[test]
fn logits_are_those_of_mlx_lm() {
    let golden: Value = serde_json::from_str(include_str!("golden/gpt_oss/logits.json")).unwrap();
    let whole: Vec<f32> = serde_json::from_value(golden["logits"].clone()).unwrap();
    let folders = [Form::Mlx, Form::Published].map(|form| {
        let folder = tempfile::tempdir().unwrap();
        write(
            folder.path(),
            &config(form, &golden["config"]),
            &tensors(form),
        );
        for (file, json) in [
            ("tokenizer.json", tiny_tokenizer::tokenizer_json()),
            ("tokenizer_config.json", tiny_tokenizer::tokenizer_config()),
        ] {
            std::fs::write(folder.path().join(file), json.to_string()).unwrap();
        }
        folder
    });
    let target = gpu::todays(&["gfx1151", "gfx1201", "gfx942"]);
    let gpu = device(target);
    for (form, folder) in ["mlx", "published"].into_iter().zip(&folders) {
        // All by the matrix unit, more than a decode step and not all of it, one by one.
        for steps in [&[TOKENS][..], &[19, 5, 12], &[]] {
            let far = farthest(&logits(folder.path(), steps), &whole);
            println!("{target}, {form}, {steps:?}: {far:.1e}");
            assert!(far <= TOLERANCE, "{target}, {form}, {steps:?}: {far}");
        }
    }
    if !gpu::is_real() {
        assert_eq!(gpu.report()["violations"].to_string(), "[]");
    }
}
