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
use mlxrocm::gpu::ExpertPolicy;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
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

/// Experts with biases and a limit in host memory, which the CPU computes.
#[test]
fn the_cpu_computes_experts_with_biases() {
    let golden: Value = serde_json::from_str(include_str!("golden/gpt_oss/logits.json")).unwrap();
    let whole: Vec<f32> = serde_json::from_value(golden["logits"].clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let config = config(Form::Mlx, &golden["config"]);
    write(folder.path(), &config, &tensors(Form::Mlx));
    tiny_tokenizer::write_files(folder.path());
    let target = gpu::todays(&["gfx1151", "gfx1201", "gfx942"]);
    let gpu = device(target);
    let device = gpu.device();
    device.set_host_experts(ExpertPolicy::On);
    let model = load(folder.path(), DeviceChoice::Gpu(0));
    let fetched = logits(&model, &tokens(VOCABULARY), &[19, 5, 12]).unwrap();
    let most = device.memory().unwrap().active / 3;
    drop(model);
    let options = LoadOptions {
        device: DeviceChoice::Gpu(0),
        gpu_weight_bytes: Some(most),
        ..LoadOptions::default()
    };
    let model = Model::load(folder.path(), &options, None).unwrap();
    assert!(model.info().host_weight_bytes > 0);
    let found = logits(&model, &tokens(VOCABULARY), &[19, 5, 12]).unwrap();
    assert!(found != fetched, "not computed by the CPU");
    let far = farthest(&kept(&found, VOCABULARY), &whole);
    println!("{target}: {far:.1e}");
    assert!(far <= TOLERANCE, "{target}: {far}");
    gpu.clean();
}
