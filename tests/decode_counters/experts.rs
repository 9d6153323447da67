//! Mixtures of experts at decode: what the products with experts load, by counters.

use crate::{cards, gpu};
use mlxrocm::gpu::model::{GpuExecutor, GpuWeights, Room};
use mlxrocm::graph::Rules;
use mlxrocm::model::families;
use mlxrocm::model::weights::Source;
use mlxrocm::step::{KvType, Slice, StateSize, Wanted};
use safetensors::tensor::{Dtype, TensorView};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;

const WIDTH: usize = 512;
/// Bytes of an expert: three matrices of 4-bit codes with scales and biases for 64.
const EXPERT: usize = 3 * WIDTH * (WIDTH / 2 + WIDTH / 64 * 4);

/// A qwen3_moe of one layer. Its numbers are zeros: what is counted does not depend on them.
fn write(folder: &Path, experts: usize, chosen: usize) {
    let config = json!({
        "model_type": "qwen3_moe", "hidden_size": WIDTH, "intermediate_size": WIDTH, "num_hidden_layers": 1,
        "num_attention_heads": 4, "num_key_value_heads": 4, "head_dim": 64, "vocab_size": 64,
        "max_position_embeddings": 128, "rms_norm_eps": 1e-6, "rope_theta": 10000.0, "tie_word_embeddings": true,
        "num_experts": experts, "num_experts_per_tok": chosen, "moe_intermediate_size": WIDTH,
        "norm_topk_prob": true, "decoder_sparse_step": 1, "mlp_only_layers": [],
        "quantization": {"group_size": 64, "bits": 4},
    });
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let mut tensors: Vec<(String, Dtype, Vec<usize>)> = Vec::new();
    for name in ["self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"] {
        tensors.push((format!("{name}.weight"), Dtype::F16, vec![256, WIDTH]));
    }
    tensors.push((
        "self_attn.o_proj.weight".into(),
        Dtype::F16,
        vec![WIDTH, 256],
    ));
    for name in ["self_attn.q_norm", "self_attn.k_norm"] {
        tensors.push((format!("{name}.weight"), Dtype::F16, vec![64]));
    }
    for name in ["input_layernorm", "post_attention_layernorm"] {
        tensors.push((format!("{name}.weight"), Dtype::F16, vec![WIDTH]));
    }
    tensors.push(("mlp.gate.weight".into(), Dtype::F16, vec![experts, WIDTH]));
    for name in ["gate_proj", "up_proj", "down_proj"] {
        let path = format!("mlp.switch_mlp.{name}");
        let groups = vec![experts, WIDTH, WIDTH / 64];
        tensors.push((
            format!("{path}.weight"),
            Dtype::U32,
            vec![experts, WIDTH, WIDTH / 8],
        ));
        tensors.push((format!("{path}.scales"), Dtype::BF16, groups.clone()));
        tensors.push((format!("{path}.biases"), Dtype::BF16, groups));
    }
    for (name, ..) in &mut tensors {
        *name = format!("model.layers.0.{name}");
    }
    tensors.push((
        "model.embed_tokens.weight".into(),
        Dtype::F16,
        vec![64, WIDTH],
    ));
    tensors.push(("model.norm.weight".into(), Dtype::F16, vec![WIDTH]));
    let size = |dtype: &Dtype, shape: &[usize]| {
        let bytes = if *dtype == Dtype::U32 { 4 } else { 2 };
        shape.iter().product::<usize>() * bytes
    };
    let most = tensors.iter().map(|(_, dtype, shape)| size(dtype, shape));
    let zeros = vec![0; most.max().unwrap()];
    let views = tensors.iter().map(|(name, dtype, shape)| {
        let data = &zeros[..size(dtype, shape)];
        (name, TensorView::new(*dtype, shape.clone(), data).unwrap())
    });
    let bytes = safetensors::serialize(views, None).unwrap();
    std::fs::write(folder.join("model.safetensors"), bytes).unwrap();
}

/// Bytes that the products with experts ask for, for one token.
fn loaded(target: &str, experts: usize, chosen: usize) -> u64 {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), experts, chosen);
    let source = Source::open(folder.path()).unwrap();
    let (bound, schedule) = families::schedule(&source, Rules::All).unwrap();
    let gpu = gpu::soft(&format!("devices={target};compute_units=4;checks=0"));
    let weights = GpuWeights::new(
        &gpu.device(),
        &schedule,
        &bound.matrices,
        &bound.vectors,
        0,
        Room::All,
        &mut |_| Ok(()),
    );
    let size = StateSize::any(1, 1, KvType::F16);
    let mut executor = GpuExecutor::new(Arc::new(weights.unwrap()), schedule, size).unwrap();
    let slice = Slice {
        tokens: &[3],
        start: 0,
        pages: &[0],
        wanted: Wanted::Last,
        slot: 0,
    };
    executor.run(&[slice], &mut Vec::new()).unwrap();
    let report = gpu.report();
    let kernels = report["kernels"].as_object().expect("kernels");
    let of_experts = kernels
        .iter()
        .filter(|(name, _)| name.starts_with("mlxrocm_matmul_experts_"));
    let bytes = of_experts.flat_map(|(_, kernel)| kernel["load_bytes"].as_array().unwrap());
    let bytes = bytes.map(|bytes| bytes.as_u64().unwrap()).sum();
    gpu.clean();
    bytes
}

/// More experts that are not chosen add their logits alone, and each that is chosen adds its own bytes once.
#[test]
fn only_the_chosen_experts_are_read() {
    for card in cards() {
        let few = loaded(card.target, 8, 2);
        let many = loaded(card.target, 40, 2);
        // Every block of gate and up chooses for itself, by all logits: 4 bytes of each expert, for 512 blocks at the most.
        let logits = 32 * 4 * 512;
        assert!(
            (few..=few + logits).contains(&many),
            "{}: {few} bytes of 8 experts, {many} of 40",
            card.target
        );
        let more = loaded(card.target, 40, 6);
        let each = (more - many) as f64 / (4 * EXPERT) as f64;
        println!("{}: {each:.3} of each further one's bytes", card.target);
        // Beside the weights each block loads x, which is much for experts as small as these.
        assert!(each >= 1.0, "{}: {each}", card.target);
    }
}
