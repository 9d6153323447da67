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
use mlxrocm::model::DeviceChoice;
use on_gpu::{TOLERANCE, device, load, logits};
use serde_json::Value;

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
        tiny_tokenizer::write_files(folder.path());
        folder
    });
    let target = gpu::todays(&["gfx1151", "gfx1201", "gfx942"]);
    let gpu = device(target);
    for (form, folder) in ["mlx", "published"].into_iter().zip(&folders) {
        // All by the matrix unit, more than a decode step and not all of it, one by one.
        for steps in [&[TOKENS][..], &[19, 5, 12], &[]] {
            let model = load(folder.path(), DeviceChoice::Gpu(0));
            let found = logits(&model, &tokens(VOCABULARY), steps).unwrap();
            let far = farthest(&kept(&found, VOCABULARY), &whole);
            println!("{target}, {form}, {steps:?}: {far:.1e}");
            assert!(far <= TOLERANCE, "{target}, {form}, {steps:?}: {far}");
        }
    }
    if !gpu::is_real() {
        assert_eq!(gpu.report()["violations"].to_string(), "[]");
    }
}
