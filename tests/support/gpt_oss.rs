//! A small gpt-oss with mxfp4 experts in the three forms that its weights come in; numbers follow from the names of
//! tensors (`golden/gpt_oss/make.py`).

use super::golden_family::gguf_writer::GgufWriter;
use super::golden_family::uniform;
use safetensors::tensor::{Dtype, TensorView};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

pub const HIDDEN: usize = 64;
pub const WIDTH: usize = 96;
pub const HEADS: usize = 6;
const KV_HEADS: usize = 2;
const DIM: usize = 32;
pub const EXPERTS: usize = 5;
const LAYERS: usize = 2;
pub const VOCABULARY: usize = 61;

/// A tensor of a folder: name, type, shape, data.
pub type Tensor = (String, Dtype, Vec<usize>, Vec<u8>);

/// How the weights are stored.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Form {
    /// As mlx-lm writes it: mxfp4, the router in 8-bit affine codes.
    Mlx,
    /// As OpenAI published it: experts in blocks, rows of gate and up by turns, the rest dense.
    Published,
}

/// Bytes that follow from a name.
fn codes(name: &str, count: usize) -> Vec<u8> {
    let numbers = uniform(name, count);
    numbers.iter().map(|u| ((u + 1.0) * 128.0) as u8).collect()
}

/// Packed codes and scales of mxfp4.
fn mxfp4(module: &str, rows: usize, cols: usize) -> [Vec<u8>; 2] {
    let scales = codes(&format!("{module}.scales"), rows * cols / 32);
    let scales = scales.iter().map(|byte| 121 + byte % 3).collect();
    [codes(&format!("{module}.codes"), rows * cols / 2), scales]
}

fn bytes(numbers: impl IntoIterator<Item = f32>) -> Vec<u8> {
    numbers.into_iter().flat_map(f32::to_le_bytes).collect()
}

/// A dense tensor.
fn dense(name: &str, shape: &[usize]) -> Vec<u8> {
    let (centre, spread) = match name {
        name if name.ends_with(".bias") => {
            let limits = name.contains("gate") || name.contains("up");
            (0.0, if limits { 9.0 } else { 0.1 })
        }
        name if name.ends_with(".sinks") => (0.5, 2.0),
        _ if shape.len() == 1 => (1.0, 0.25),
        name if name.contains("embed") => (0.0, 1.5),
        _ => (0.0, (1.7 / (shape[shape.len() - 1] as f64).sqrt()) as f32),
    };
    let numbers = uniform(name, shape.iter().product());
    bytes(numbers.iter().map(|u| centre + spread * u))
}

/// The numbers that mxfp4 codes stand for.
fn values(codes: &[u8], scales: &[u8]) -> Vec<f32> {
    const E2M1: [f32; 8] = [0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0];
    let nibbles = codes.iter().flat_map(|byte| [byte & 15, byte >> 4]);
    let value = |(at, code): (usize, u8)| {
        let sign = if code & 8 != 0 { -1.0 } else { 1.0 };
        sign * E2M1[usize::from(code & 7)] * 2f32.powi(i32::from(scales[at / 32]) - 127)
    };
    nibbles.enumerate().map(value).collect()
}

/// The dense tensors: name, shape.
fn dense_tensors() -> Vec<(String, Vec<usize>)> {
    let mut all = vec![
        ("lm_head.weight".to_string(), vec![VOCABULARY, HIDDEN]),
        ("model.embed_tokens.weight".into(), vec![VOCABULARY, HIDDEN]),
        ("model.norm.weight".into(), vec![HIDDEN]),
    ];
    for layer in 0..LAYERS {
        let mut add = |name: &str, shape: &[usize]| {
            all.push((format!("model.layers.{layer}.{name}"), shape.to_vec()));
        };
        add("input_layernorm.weight", &[HIDDEN]);
        add("post_attention_layernorm.weight", &[HIDDEN]);
        add("self_attn.sinks", &[HEADS]);
        for (module, heads) in [
            ("q_proj", HEADS),
            ("k_proj", KV_HEADS),
            ("v_proj", KV_HEADS),
        ] {
            add(
                &format!("self_attn.{module}.weight"),
                &[heads * DIM, HIDDEN],
            );
            add(&format!("self_attn.{module}.bias"), &[heads * DIM]);
        }
        add("self_attn.o_proj.bias", &[HIDDEN]);
        add("mlp.router.bias", &[EXPERTS]);
        for (module, rows, _) in STACKS {
            add(&format!("mlp.experts.{module}.bias"), &[EXPERTS, rows]);
        }
    }
    all
}

/// Stacks of experts: module, rows and columns of each.
const STACKS: [(&str, usize, usize); 3] = [
    ("gate_proj", WIDTH, HIDDEN),
    ("up_proj", WIDTH, HIDDEN),
    ("down_proj", HIDDEN, WIDTH),
];

fn layers() -> impl Iterator<Item = String> {
    (0..LAYERS).map(|layer| format!("model.layers.{layer}."))
}

/// The tensors of a folder.
pub fn tensors(form: Form) -> Vec<Tensor> {
    let mut all: Vec<Tensor> = dense_tensors()
        .into_iter()
        .map(|(name, shape)| {
            let data = dense(&name, &shape);
            (name, Dtype::F32, shape, data)
        })
        .collect();
    for layer in layers() {
        let (o_proj, router) = (
            format!("{layer}self_attn.o_proj"),
            format!("{layer}mlp.router"),
        );
        let [data, scales] = mxfp4(&o_proj, HIDDEN, HEADS * DIM);
        let of_router = codes(&format!("{router}.codes"), EXPERTS * HIDDEN);
        let mut add = |name: String, dtype, shape: &[usize], data: Vec<u8>| {
            all.push((name, dtype, shape.to_vec(), data));
        };
        if form == Form::Published {
            let weight = values(&data, &scales);
            let shape = [HIDDEN, HEADS * DIM];
            add(
                format!("{o_proj}.weight"),
                Dtype::F32,
                &shape,
                bytes(weight),
            );
            let weight = of_router.iter().map(|&q| f32::from(q) / 512.0 - 0.25);
            let shape = [EXPERTS, HIDDEN];
            add(
                format!("{router}.weight"),
                Dtype::F32,
                &shape,
                bytes(weight),
            );
            continue;
        }
        let words = HEADS * DIM / 8;
        add(
            format!("{o_proj}.weight"),
            Dtype::U32,
            &[HIDDEN, words],
            data,
        );
        add(
            format!("{o_proj}.scales"),
            Dtype::U8,
            &[HIDDEN, words / 4],
            scales,
        );
        add(
            format!("{router}.weight"),
            Dtype::U32,
            &[EXPERTS, HIDDEN / 4],
            of_router,
        );
        for (part, number) in [("scales", 1.0 / 512.0), ("biases", -0.25)] {
            let numbers = bytes([number; EXPERTS * HIDDEN / 32]);
            add(
                format!("{router}.{part}"),
                Dtype::F32,
                &[EXPERTS, HIDDEN / 32],
                numbers,
            );
        }
        for (module, rows, cols) in STACKS {
            let path = format!("{layer}mlp.experts.{module}");
            let [data, scales] = mxfp4(&path, EXPERTS * rows, cols);
            add(
                format!("{path}.weight"),
                Dtype::U32,
                &[EXPERTS, rows, cols / 8],
                data,
            );
            add(
                format!("{path}.scales"),
                Dtype::U8,
                &[EXPERTS, rows, cols / 32],
                scales,
            );
        }
    }
    if form == Form::Published {
        publish(&mut all);
    }
    all
}

/// Puts the experts into OpenAI's form.
fn publish(all: &mut Vec<Tensor>) {
    let bias = |name: &str| name.contains("experts.") && name.ends_with(".bias");
    all.retain(|(name, ..)| !bias(name));
    for layer in layers() {
        let path = |module: &str| format!("{layer}mlp.experts.{module}");
        let [gate, up, down] = STACKS.map(|(module, rows, cols)| {
            let [data, scales] = mxfp4(&path(module), EXPERTS * rows, cols);
            let bias = dense(&format!("{}.bias", path(module)), &[EXPERTS, rows]);
            [data, scales, bias]
        });
        let mut add = |module: &str, rows, cols, [data, scales, bias]: [Vec<u8>; 3]| {
            let groups = cols / 32;
            let mut part = |part: &str, dtype, shape: &[usize], data| {
                all.push((
                    format!("{}_{part}", path(module)),
                    dtype,
                    shape.to_vec(),
                    data,
                ));
            };
            part("blocks", Dtype::U8, &[EXPERTS, rows, groups, 16], data);
            part("scales", Dtype::U8, &[EXPERTS, rows, groups], scales);
            part("bias", Dtype::F32, &[EXPERTS, rows], bias);
        };
        let both = [0, 1, 2].map(|part| {
            let row = gate[part].len() / (EXPERTS * WIDTH);
            let rows = gate[part].chunks(row).zip(up[part].chunks(row));
            rows.flat_map(|(gate, up)| [gate, up])
                .flatten()
                .copied()
                .collect()
        });
        add("gate_up_proj", 2 * WIDTH, HIDDEN, both);
        add("down_proj", HIDDEN, WIDTH, down);
    }
}

/// The config of a form.
pub fn config(form: Form, plain: &Value) -> Value {
    let mut config = plain.clone();
    match form {
        Form::Mlx => {
            let mut quantization = json!({"group_size": 32, "bits": 4, "mode": "mxfp4"});
            for layer in layers() {
                // Without a mode it is affine.
                let router = json!({"group_size": 32, "bits": 8});
                quantization[format!("{layer}mlp.router")] = router;
            }
            config["quantization"] = quantization;
        }
        Form::Published => {
            config["quantization_config"] = json!({
                "quant_method": "mxfp4",
                "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router"]
            });
        }
    }
    config
}

/// Writes a folder.
pub fn write(folder: &Path, config: &Value, tensors: &[Tensor]) {
    std::fs::write(folder.join("config.json"), config.to_string()).unwrap();
    let view = |(name, dtype, shape, data): &Tensor| {
        let view = TensorView::new(*dtype, shape.clone(), data).unwrap();
        (name.clone(), view.data().to_vec(), *dtype, shape.clone())
    };
    let owned: Vec<_> = tensors.iter().map(view).collect();
    let views = owned.iter().map(|(name, data, dtype, shape)| {
        let view = TensorView::new(*dtype, shape.clone(), data).unwrap();
        (name.as_str(), view)
    });
    let bytes = safetensors::serialize(views, None).unwrap();
    std::fs::write(folder.join("model.safetensors"), bytes).unwrap();
}

/// Blocks of GGUF's MXFP4 of packed codes and scales.
fn blocks(codes: &[u8], scales: &[u8]) -> Vec<u8> {
    let block = |(codes, &scale): (&[u8], &u8)| {
        let code = |k: usize| codes[k / 2] >> (4 * (k % 2)) & 15;
        let bytes = (0..16).map(|j| code(j) | code(j + 16) << 4);
        std::iter::once(scale).chain(bytes).collect::<Vec<u8>>()
    };
    codes.chunks(16).zip(scales).flat_map(block).collect()
}

/// Writes a GGUF file.
pub fn write_gguf(folder: &Path, plain: &Value, leave_out: &str) -> PathBuf {
    let mut writer = GgufWriter::new(3);
    writer.text("general.architecture", "gpt-oss");
    writer.text("gpt-oss.rope.scaling.type", "yarn");
    let scaling = &plain["rope_scaling"];
    for (key, value) in [
        ("block_count", &plain["num_hidden_layers"]),
        ("context_length", &plain["max_position_embeddings"]),
        ("embedding_length", &plain["hidden_size"]),
        ("feed_forward_length", &plain["intermediate_size"]),
        ("expert_feed_forward_length", &plain["intermediate_size"]),
        ("attention.head_count", &plain["num_attention_heads"]),
        ("attention.head_count_kv", &plain["num_key_value_heads"]),
        ("attention.key_length", &plain["head_dim"]),
        ("attention.value_length", &plain["head_dim"]),
        ("attention.sliding_window", &plain["sliding_window"]),
        ("expert_count", &plain["num_local_experts"]),
        ("expert_used_count", &plain["num_experts_per_tok"]),
        (
            "rope.scaling.original_context_length",
            &scaling["original_max_position_embeddings"],
        ),
    ] {
        writer.u32(&format!("gpt-oss.{key}"), value.as_u64().unwrap() as u32);
    }
    for (key, value) in [
        ("attention.layer_norm_rms_epsilon", &plain["rms_norm_eps"]),
        ("rope.freq_base", &plain["rope_theta"]),
        ("rope.scaling.factor", &scaling["factor"]),
        ("rope.scaling.yarn_beta_fast", &scaling["beta_fast"]),
        ("rope.scaling.yarn_beta_slow", &scaling["beta_slow"]),
    ] {
        writer.f32(&format!("gpt-oss.{key}"), value.as_f64().unwrap() as f32);
    }
    let mut all = tensors(Form::Published);
    all.retain(|(name, ..)| !name.contains("experts.") && !name.ends_with("o_proj.weight"));
    all.extend(dense_tensors().into_iter().filter_map(|(name, shape)| {
        let data = name.contains("experts.").then(|| dense(&name, &shape))?;
        Some((name, Dtype::F32, shape, data))
    }));
    let mut add = |name: &str, shape: &[usize], kind, data| {
        let name = gguf_name(name);
        if name == leave_out {
            return;
        }
        let dims: Vec<u64> = shape.iter().rev().map(|&size| size as u64).collect();
        writer.tensor(&name, &dims, kind, data);
    };
    for (name, _, shape, data) in all {
        add(&name, &shape, 0, data);
    }
    for layer in layers() {
        let o_proj = format!("{layer}self_attn.o_proj");
        let [data, scales] = mxfp4(&o_proj, HIDDEN, HEADS * DIM);
        let shape = [HIDDEN, HEADS * DIM];
        add(
            &format!("{o_proj}.weight"),
            &shape,
            39,
            blocks(&data, &scales),
        );
        for (module, rows, cols) in STACKS {
            let path = format!("{layer}mlp.experts.{module}");
            let [data, scales] = mxfp4(&path, EXPERTS * rows, cols);
            let shape = [EXPERTS, rows, cols];
            add(
                &format!("{path}.weight"),
                &shape,
                39,
                blocks(&data, &scales),
            );
        }
    }
    let path = folder.join("model.gguf");
    std::fs::write(&path, writer.bytes()).unwrap();
    path
}

fn gguf_name(name: &str) -> String {
    let mut name = name.to_string();
    for (from, to) in [
        ("model.embed_tokens", "token_embd"),
        ("model.norm", "output_norm"),
        ("lm_head", "output"),
        ("model.layers.", "blk."),
        ("post_attention_layernorm", "post_attention_norm"),
        ("input_layernorm", "attn_norm"),
        ("self_attn.sinks", "attn_sinks.weight"),
        ("self_attn.q_proj", "attn_q"),
        ("self_attn.k_proj", "attn_k"),
        ("self_attn.v_proj", "attn_v"),
        ("self_attn.o_proj", "attn_output"),
        ("mlp.router", "ffn_gate_inp"),
        ("mlp.experts.gate_proj", "ffn_gate_exps"),
        ("mlp.experts.up_proj", "ffn_up_exps"),
        ("mlp.experts.down_proj", "ffn_down_exps"),
    ] {
        name = name.replace(from, to);
    }
    name
}
