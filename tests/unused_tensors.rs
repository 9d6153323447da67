//! Tensors that the model's family does not read: refused by name where they would change the results
//! (mlx-lm and llama.cpp refuse such files too), one warning where they are harmless.

// Both models bring what they are written with.
#![allow(clippy::duplicate_mod)]

#[path = "support/log_lines.rs"]
mod log_lines;
#[path = "support/plain_llama.rs"]
mod plain_llama;
#[path = "support/random_model.rs"]
mod random_model;

use mlxrocm::Error;
use mlxrocm::formats::ScalarType;
use mlxrocm::model::{DeviceChoice, LoadOptions, Model};
use plain_llama::PlainLlama;
use random_model::{Spec, Storage};
use safetensors::tensor::{Dtype, TensorView};
use std::path::Path;
use std::sync::Arc;

fn load(path: &Path) -> Result<Arc<Model>, Error> {
    let options = LoadOptions {
        threads: 2,
        device: DeviceChoice::Cpu,
        ..LoadOptions::default()
    };
    Model::load(path, &options, None)
}

/// A model folder with more tensors in a file of their own.
fn load_folder(family: &'static str, more: &[(&str, &[usize])]) -> Result<Arc<Model>, Error> {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = Spec::new("unused", family, Storage::Dense(ScalarType::F32));
    spec.tied = true;
    let path = spec.write(folder.path());
    let data: Vec<Vec<u8>> = more
        .iter()
        .map(|(_, shape)| vec![0; shape.iter().product::<usize>() * 4])
        .collect();
    let views = more.iter().zip(&data).map(|((name, shape), data)| {
        (
            *name,
            TensorView::new(Dtype::F32, shape.to_vec(), data).unwrap(),
        )
    });
    let bytes = safetensors::serialize(views, None).unwrap();
    std::fs::write(path.join("model-more.safetensors"), bytes).unwrap();
    load(&path)
}

fn load_gguf(more: &[(&str, &[u64])]) -> Result<Arc<Model>, Error> {
    let folder = tempfile::tempdir().unwrap();
    let path = PlainLlama::new(16, 16).write_with(folder.path(), |writer| {
        for (name, dims) in more {
            let bytes = dims.iter().product::<u64>() * 4;
            writer.tensor(name, dims, 0, vec![0; bytes as usize]);
        }
    });
    load(&path)
}

#[track_caller]
fn refused(result: Result<Arc<Model>, Error>, name: &str) {
    let Err(error) = result else {
        panic!("{name} was loaded");
    };
    assert!(matches!(error, Error::Unsupported(_)), "{error:?}");
    assert!(error.to_string().contains(name), "{name}: {error}");
}

#[test]
fn tensors_that_change_results_are_refused_by_name() {
    let _turn = log_lines::capture();
    let layer = |rest: &str| format!("model.layers.0.{rest}");
    for (name, shape) in [
        (layer("self_attn.sinks"), &[4][..]),
        (layer("self_attn.q_norm.weight"), &[64]),
        (layer("self_attn.k_norm.weight"), &[64]),
        (layer("self_attn.q_proj.lora_a"), &[256, 8]),
        (layer("mlp.gate.weight"), &[8, 256]),
        (layer("mlp.experts.0.up_proj.weight"), &[512, 256]),
        (layer("mlp.switch_mlp.up_proj.weight"), &[2, 512, 256]),
        (layer("mlp.router.scales"), &[8, 8]),
        (layer("input_layernorm.bias"), &[256]),
        (layer("pre_feedforward_layernorm.weight"), &[256]),
        ("model.layers.2.input_layernorm.weight".into(), &[256]),
        ("model.norm.bias".into(), &[256]),
        ("model.embed_positions.weight".into(), &[512, 256]),
        ("something.else".into(), &[3]),
    ] {
        refused(load_folder("llama", &[(&name, shape)]), &name);
    }
    for (name, dims) in [
        ("blk.0.attn_sinks.weight", &[4][..]),
        ("blk.0.attn_q_norm.weight", &[16]),
        ("blk.0.ffn_gate_inp.weight", &[64, 8]),
        ("blk.1.ffn_up_exps.weight", &[64, 96, 2]),
        ("blk.0.attn_norm.bias", &[64]),
        ("blk.0.attn_q.scale", &[1]),
        ("blk.2.attn_norm.weight", &[64]),
        ("output_norm.bias", &[64]),
        ("position_embd.weight", &[64, 16]),
    ] {
        refused(load_gguf(&[(name, dims)]), name);
    }
}

#[test]
fn harmless_ones_are_warned_of_once() {
    let lines = log_lines::capture();
    // What mlx-lm and transformers drop: frequencies that follow from the config, a head that the
    // config ties to the embedding.
    let model = load_folder(
        "llama",
        &[
            ("model.layers.0.self_attn.rotary_emb.inv_freq", &[32]),
            ("model.layers.1.self_attn.rotary_emb.inv_freq", &[32]),
            ("model.rotary_emb.inv_freq", &[32]),
            ("lm_head.weight", &[320, 256]),
        ],
    );
    assert!(model.is_ok(), "{:?}", model.err());
    let model = load_gguf(&[
        ("blk.0.attn_rot_embd.weight", &[8]),
        ("rope_freqs.weight", &[8]),
    ]);
    // Factors of 0 are no factors: the tensor is read.
    assert!(
        model
            .err()
            .unwrap()
            .to_string()
            .contains("rope_freqs.weight")
    );
    assert_eq!(lines.warnings(), Vec::<String>::new());
    // The parts of a model that sees or hears beside its language model.
    let names: Vec<String> = (0..20)
        .map(|i| format!("vision_tower.blocks.{i}.w"))
        .collect();
    let mut more: Vec<(&str, &[usize])> = names.iter().map(|n| (n.as_str(), &[2][..])).collect();
    more.push(("multi_modal_projector.linear_1.weight", &[2, 2]));
    let model = load_folder("llama", &more);
    assert!(model.is_ok(), "{:?}", model.err());
    let warnings = lines.warnings();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(
        warnings[0].contains("multi_modal_projector.linear_1.weight"),
        "{warnings:?}"
    );
    assert!(warnings[0].contains("21 tensors"), "{warnings:?}");
    assert!(warnings[0].len() < 500, "{warnings:?}");
}

#[test]
fn every_family_reads_all_of_its_own() {
    let lines = log_lines::capture();
    for spec in random_model::all() {
        let folder = tempfile::tempdir().unwrap();
        let model = load(&spec.write(folder.path()));
        assert!(model.is_ok(), "{}: {:?}", spec.name, model.err());
    }
    assert_eq!(lines.warnings(), Vec::<String>::new());
}
