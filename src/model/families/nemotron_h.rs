//! Nemotron-H: blocks of one part each, which is a state space, attention, an MLP or experts.

use super::state_space::{MOST, steps};
use super::{Family, state_space_gguf as gguf};
use crate::Result;
use crate::ir::Scores;
use crate::model::Config;
use crate::model::config::{
    Activation, Correction, Experts, Feed, Fields, Form, GateNorm, Parts, Recurrent, StateSpace,
};
use serde_json::Value;

pub const NEMOTRON_H: Family = Family {
    name: "nemotron_h",
    model_types: &["nemotron_h"],
    keys: &[
        "layer_types",
        "layers_block_type",
        "hybrid_override_pattern",
        "layer_norm_epsilon",
        "mamba_num_heads",
        "mamba_head_dim",
        "mamba_proj_bias",
        "ssm_state_size",
        "conv_kernel",
        "n_groups",
        "use_bias",
        "use_conv_bias",
        "time_step_limit",
        "mlp_hidden_act",
        "n_routed_experts",
        "num_experts_per_tok",
        "moe_intermediate_size",
        "moe_shared_expert_intermediate_size",
        "moe_latent_size",
        "n_shared_experts",
        "n_group",
        "topk_group",
        "norm_topk_prob",
        "routed_scaling_factor",
        "sliding_window",
    ],
    harmless: &[
        "expand",
        "chunk_size",
        "mamba_hidden_act",
        "mamba_ssm_cache_dtype",
        "num_logits_to_keep",
        "rescale_prenorm_residual",
        "residual_in_fp32",
        "time_step_min",
        "time_step_max",
        "time_step_floor",
        "time_step_rank",
        "use_mamba_kernels",
        "num_nextn_predict_layers",
        "mtp_hybrid_override_pattern",
        "mtp_layers_block_type",
        "norm_eps",
        "moe_shared_expert_overlap",
    ],
    // As many as the list of blocks has.
    sizes: &[("num_hidden_layers", 0)],
    form: Form {
        before_attention: Some("norm"),
        before_mlp: Some("norm"),
        gated: false,
        activation: Activation::ReluSquared,
        ..Form::LLAMA
    },
    folder_modules: &[
        ("model.embed_tokens", "model.embeddings"),
        ("model.norm", "model.norm_f"),
        ("mlp.correction", "mixer.gate.e_score_correction_bias"),
        ("mlp.switch_mlp.up_proj", "mixer.switch_mlp.fc1"),
        ("mlp.switch_mlp.down_proj", "mixer.switch_mlp.fc2"),
        ("mlp.shared_expert.", "mixer.shared_experts."),
        ("mlp.latent_in", "mixer.fc1_latent_proj"),
        ("mlp.latent_out", "mixer.fc2_latent_proj"),
        ("mlp.", "mixer."),
        ("self_attn.", "mixer."),
    ],
    read: nemotron_h,
    architectures: &["nemotron_h", "nemotron_h_moe"],
    gguf_keys: gguf::NEMOTRON_KEYS,
    gguf_modules: gguf::MODULES,
    read_gguf: gguf::read_nemotron,
    quantizes: false,
    ..Family::PLAIN
};

fn nemotron_h(fields: &Fields, config: &mut Config) -> Result<()> {
    config.norm_eps = fields.norm_eps("layer_norm_epsilon", 1e-5)?;
    let bias = fields.flag("mamba_proj_bias")?.unwrap_or(false);
    config.recurrent = Some(Recurrent::Heads(StateSpace {
        heads: fields.needed("mamba_num_heads", MOST)?,
        dim: fields.needed("mamba_head_dim", MOST)?,
        groups: fields.needed("n_groups", MOST)?,
        state: fields.needed("ssm_state_size", MOST)?,
        taps: fields.needed("conv_kernel", 1..=64)?,
        conv_bias: fields.flag("use_conv_bias")?.unwrap_or(true),
        biases: [bias; 2],
        converted: false,
        exponentiated: false,
        steps: steps(fields, (0.0, f32::INFINITY))?,
        norm: GateNorm::After(fields.needed("n_groups", MOST)?),
        eps: config.norm_eps,
    }));
    let kinds = pattern(fields)?;
    if config.layers != 0 && config.layers != kinds.len() {
        let what = format_args!("{} of {} blocks", kinds.len(), config.layers);
        return Err(fields.bad("hybrid_override_pattern", what));
    }
    config.layers = kinds.len();
    config.unturned_layers = vec![true; config.layers];
    let width = config.intermediate_size;
    let parts = kinds.iter().map(|kind| Parts {
        attention: *kind == '*',
        recurrent: *kind == 'M',
        mlp: match kind {
            '-' => Feed::Dense(width),
            'E' => Feed::Experts,
            _ => Feed::None,
        },
    });
    config.parts = parts.collect();
    if !kinds.contains(&'E') {
        return Ok(());
    }
    let width = fields.needed("moe_intermediate_size", MOST)?;
    let experts = Experts::counted(fields, "n_routed_experts", width, false)?;
    let shared = fields
        .integer("n_shared_experts", 0..=1 << 16)?
        .unwrap_or(0);
    let experts = Experts {
        normalize: fields.flag("norm_topk_prob")? == Some(true) && experts.chosen > 1,
        scores: Scores::Sigmoid,
        correction: Correction::Always,
        factor: fields.positive("routed_scaling_factor")?.unwrap_or(1.0),
        latent: fields.integer("moe_latent_size", 0..=1 << 20)?.unwrap_or(0),
        shared: match shared {
            0 => 0,
            _ => fields.needed("moe_shared_expert_intermediate_size", MOST)?,
        },
        ..experts
    };
    config.experts = Some(experts.grouped(fields, ["n_group", "topk_group"], 2)?);
    Ok(())
}

/// The kinds of the blocks: `M` state space, `*` attention, `-` MLP, `E` experts.
fn pattern(fields: &Fields) -> Result<Vec<char>> {
    const PATTERN: &str = "hybrid_override_pattern";
    let keys = [PATTERN, "layers_block_type", "layer_types"];
    let Some((key, value)) = keys.iter().find_map(|key| Some((*key, fields.get(key)?))) else {
        return Err(fields.bad(PATTERN, "missing"));
    };
    let names: Vec<String> = match value {
        Value::String(pattern) => pattern.chars().map(String::from).collect(),
        Value::Array(list) => {
            let text = |name: &Value| name.as_str().unwrap_or_default().to_string();
            list.iter().map(text).collect()
        }
        _ => Vec::new(),
    };
    let kind = |name: &String| match name.as_str() {
        "*" | "full_attention" | "attention" => Ok('*'),
        "M" | "linear_attention" | "mamba" | "conv" => Ok('M'),
        "-" | "mlp" => Ok('-'),
        "E" | "moe" => Ok('E'),
        other => Err(fields.unsupported(key, format_args!("{other:?} is no kind of block"))),
    };
    let kinds = names.iter().map(kind).collect::<Result<Vec<char>>>()?;
    match kinds.len() {
        0 | 1025.. => Err(fields.bad(key, format_args!("{} blocks", kinds.len()))),
        _ => Ok(kinds),
    }
}
