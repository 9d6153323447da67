//! Model folders in the packed formats of compressed-tensors: integers with zero points (`int4_32`: bits and weights of
//! a group) and `nvfp4`.
#![allow(dead_code)] // each test program uses a part

#[path = "prng.rs"]
mod prng;
#[path = "tiny_folder.rs"]
pub mod tiny_folder;

use prng::Prng;
use safetensors::tensor::Dtype;
use serde_json::{Value, json};
use tiny_folder::{Tensor, TinyFolder};

fn settings(kind: &str) -> Value {
    let weights = match kind.split_once('_') {
        Some((int, group)) => {
            let number = |text: &str| text.parse::<u64>().unwrap();
            json!({"num_bits": number(&int[3..]), "type": "int", "symmetric": false, "strategy": "group",
                "group_size": number(group)})
        }
        None => {
            json!({"num_bits": 4, "type": "float", "symmetric": true, "strategy": "tensor_group",
            "group_size": 16})
        }
    };
    json!({"quant_method": "compressed-tensors",
        "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights}}, "ignore": ["lm_head"]})
}

/// A folder of these tensors.
pub fn folder(kind: &str, tensors: &[Tensor]) -> TinyFolder {
    let folder = TinyFolder::new();
    let mut config = tiny_folder::config();
    config.as_object_mut().unwrap().remove("quantization");
    config["quantization_config"] = settings(kind);
    folder.json("config.json", &config);
    folder.tensors("model.safetensors", tensors);
    folder
}

fn floats(name: String, shape: Vec<usize>, numbers: &[f32]) -> Tensor {
    let data = numbers.iter().flat_map(|x| x.to_le_bytes()).collect();
    (name, Dtype::F32, shape, data)
}

/// A random module: packed, and its numbers.
fn module(random: &mut Prng, kind: &str, path: &str, rows: usize) -> (Vec<Tensor>, Vec<f32>) {
    const COLS: usize = 64;
    let mut numbers = Vec::with_capacity(rows * COLS);
    let codes: Vec<u8> = (0..rows * COLS).map(|_| random.below(16) as u8).collect();
    let packed: Vec<u8> = codes.chunks(2).map(|pair| pair[0] | pair[1] << 4).collect();
    let name = |part: &str| format!("{path}.{part}");
    let tensors = if kind == "nvfp4" {
        const VALUES: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
        // Exponents of 1 to 4.
        let scales: Vec<u8> = (0..rows * COLS / 16)
            .map(|_| 56 + random.below(16) as u8)
            .collect();
        let global = random.uniform(20.0, 90.0) as f32;
        for (at, code) in codes.iter().enumerate() {
            let byte = scales[at / 16];
            let scale = (1.0 + f32::from(byte & 7) / 8.0) * f32::from(1u8 << (byte / 8 - 7));
            let value = VALUES[usize::from(code & 7)] * if code & 8 == 0 { 1.0 } else { -1.0 };
            numbers.push(value * (scale / global));
        }
        vec![
            (
                name("weight_packed"),
                Dtype::U8,
                vec![rows, COLS / 2],
                packed,
            ),
            (
                name("weight_scale"),
                Dtype::F8_E4M3,
                vec![rows, COLS / 16],
                scales,
            ),
            floats(name("weight_global_scale"), vec![1], &[global]),
        ]
    } else {
        let groups = rows * COLS / 32;
        // Powers of two by eleven to fifteen.
        let scales: Vec<f32> = (0..groups)
            .map(|_| (11 + random.below(5)) as f32 / 512.0)
            .collect();
        let zeros: Vec<u32> = (0..groups).map(|_| 4 + random.below(8) as u32).collect();
        for (at, code) in codes.iter().enumerate() {
            numbers.push(scales[at / 32] * (f32::from(*code) - zeros[at / 32] as f32));
        }
        let half = |scale: &f32| ((scale.to_bits() >> 16) as u16).to_le_bytes();
        let mut words = vec![0u32; rows.div_ceil(8) * 2];
        for (at, zero) in zeros.iter().enumerate() {
            words[at / 2 / 8 * 2 + at % 2] |= zero << (at / 2 % 8 * 4);
        }
        vec![
            (
                name("weight_packed"),
                Dtype::I32,
                vec![rows, COLS / 8],
                packed,
            ),
            (
                name("weight_scale"),
                Dtype::BF16,
                vec![rows, 2],
                scales.iter().flat_map(half).collect(),
            ),
            (
                name("weight_zero_point"),
                Dtype::I32,
                vec![rows.div_ceil(8), 2],
                words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            ),
        ]
    };
    (tensors, numbers)
}

/// A net whose matrices are packed, each with a scale of its own, and one of the same numbers in f32.
pub fn nets(kind: &str) -> [TinyFolder; 2] {
    let since = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap();
    let seed = since.as_nanos() as u64;
    println!("{kind}: seed {seed}");
    let mut random = Prng::new(seed);
    let (mut packed, mut plain) = (Vec::new(), Vec::new());
    for (name, rows) in [
        ("self_attn.q_proj", 64),
        ("self_attn.k_proj", 32),
        ("self_attn.v_proj", 32),
        ("self_attn.o_proj", 64),
        ("mlp.gate_proj", 64),
        ("mlp.up_proj", 64),
        ("mlp.down_proj", 64),
    ] {
        let path = format!("model.layers.0.{name}");
        let (tensors, numbers) = module(&mut random, kind, &path, rows);
        packed.extend(tensors);
        plain.push(floats(format!("{path}.weight"), vec![rows, 64], &numbers));
    }
    for (name, rows) in [
        ("model.embed_tokens", 8),
        ("model.norm", 1),
        ("model.layers.0.input_layernorm", 1),
        ("model.layers.0.post_attention_layernorm", 1),
    ] {
        let numbers: Vec<f32> = (0..rows * 64)
            .map(|_| random.uniform(0.1, 0.9) as f32)
            .collect();
        let shape = if rows == 1 { vec![64] } else { vec![rows, 64] };
        let tensor = floats(format!("{name}.weight"), shape, &numbers);
        packed.push(tensor.clone());
        plain.push(tensor);
    }
    let packed = folder(kind, &packed);
    let other = folder(kind, &plain);
    let mut config = tiny_folder::config();
    config.as_object_mut().unwrap().remove("quantization");
    other.json("config.json", &config);
    [packed, other]
}
