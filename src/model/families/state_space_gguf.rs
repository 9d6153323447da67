//! Models with state spaces as GGUF files: what a block is made of is told by its tensors.

use crate::Result;
use crate::ir::Scores;
use crate::model::Config;
use crate::model::config::{
    Correction, Experts, Feed, GateNorm, GgufFields, Parts, Recurrent, StateSpace,
};

use super::granite;
use super::state_space::MOST;

/// Keys of state spaces.
macro_rules! space_keys {
    ($($more:literal),* $(,)?) => {
        &[
            "ssm.conv_kernel",
            "ssm.inner_size",
            "ssm.state_size",
            "ssm.time_step_rank",
            "ssm.group_count",
            $($more),*
        ]
    };
}

/// Names of a state space's modules, and others.
macro_rules! space_modules {
    ($($more:expr),* $(,)?) => {
        &[
            ("mixer.in_proj", "ssm_in"),
            ("mixer.conv1d", "ssm_conv1d"),
            ("mixer.dt_bias", "ssm_dt.bias"),
            ("mixer.A_log", "ssm_a"),
            ("mixer.D", "ssm_d"),
            ("mixer.norm", "ssm_norm"),
            ("mixer.out_proj", "ssm_out"),
            $($more),*
        ]
    };
}

/// Of Mamba 2.
pub const KEYS: &[&str] = space_keys![];
pub const MODULES: &[(&str, &str)] = space_modules![("norm", "attn_norm")];

/// Of Falcon-H1.
pub const FALCON_MODULES: &[(&str, &str)] = space_modules![("pre_ff_layernorm", "ffn_norm")];

/// Of Granite 4.
pub const GRANITE_KEYS: &[&str] = space_keys![
    "embedding_scale",
    "residual_scale",
    "attention.scale",
    "logit_scale",
    "rope.scaling.finetuned",
    "expert_count",
    "expert_used_count",
    "expert_shared_feed_forward_length",
];
pub const GRANITE_MODULES: &[(&str, &str)] = space_modules![];

/// Of Nemotron-H.
pub const NEMOTRON_KEYS: &[&str] = space_keys![
    "expert_count",
    "expert_used_count",
    "expert_feed_forward_length",
    "expert_shared_count",
    "expert_shared_feed_forward_length",
    "expert_weights_norm",
    "expert_weights_scale",
    "expert_group_count",
    "expert_group_used_count",
    "expert_gating_func",
];

/// Of Jamba.
pub const JAMBA_KEYS: &[&str] = &[
    "ssm.conv_kernel",
    "ssm.inner_size",
    "ssm.state_size",
    "ssm.time_step_rank",
    "expert_count",
    "expert_used_count",
];
pub const JAMBA_MODULES: &[(&str, &str)] = space_modules![
    ("mixer.x_proj", "ssm_x"),
    ("mixer.dt_proj", "ssm_dt"),
    ("mixer.dt_layernorm", "ssm_dt_norm"),
    ("mixer.b_layernorm", "ssm_b_norm"),
    ("mixer.c_layernorm", "ssm_c_norm"),
    ("pre_ff_layernorm", "ffn_norm"),
];

/// Mamba 2, Falcon-H1: the state spaces, and what blocks are made of.
pub fn read(fields: &GgufFields, config: &mut Config) -> Result<()> {
    config.parts = (0..config.layers)
        .map(|layer| parts(fields, config, layer))
        .collect();
    if let Some(first) = (0..config.layers).find(|layer| config.parts[*layer].recurrent) {
        config.recurrent = Some(Recurrent::Heads(space(fields, config, first)?));
    }
    Ok(())
}

/// Granite 4.
pub fn read_granite(fields: &GgufFields, config: &mut Config) -> Result<()> {
    // The residual stream is scaled, which changes the ε of its norms, but not of the states'.
    read(fields, config)?;
    (granite::GRANITE.read_gguf)(fields, config)?;
    if fields.integer("expert_count", 0..=1 << 16)?.unwrap_or(0) == 0 {
        return Ok(());
    }
    let shared = fields.integer("expert_shared_feed_forward_length", 0..=1 << 20)?;
    config.experts = Some(Experts {
        shared: shared.unwrap_or(0),
        ..Experts::counted_gguf(fields, config.intermediate_size)?
    });
    Ok(())
}

/// Nemotron-H.
pub fn read_nemotron(fields: &GgufFields, config: &mut Config) -> Result<()> {
    read(fields, config)?;
    config.unturned_layers = vec![true; config.layers];
    if !config.parts.iter().any(|parts| parts.mlp == Feed::Experts) {
        return Ok(());
    }
    let experts = Experts::read_gguf(fields)?;
    let shared = fields.integer("expert_shared_feed_forward_length", 0..=1 << 20)?;
    let experts = Experts {
        normalize: fields.flag("expert_weights_norm")?.unwrap_or(false) && experts.chosen > 1,
        scores: Experts::scores_gguf(fields, Scores::Sigmoid)?,
        correction: Correction::Maybe,
        factor: fields.positive("expert_weights_scale")?.unwrap_or(1.0),
        shared: shared.unwrap_or(0),
        ..experts
    };
    config.experts = Some(experts.grouped_gguf(fields, 2)?);
    Ok(())
}

/// Jamba.
pub fn read_jamba(fields: &GgufFields, config: &mut Config) -> Result<()> {
    config.parts = (0..config.layers)
        .map(|layer| parts(fields, config, layer))
        .collect();
    config.unturned_layers = vec![true; config.layers];
    if let Some(first) = (0..config.layers).find(|layer| config.parts[*layer].recurrent) {
        let has = |tensor: &str| fields.has(&format!("blk.{first}.{tensor}"));
        config.recurrent = Some(Recurrent::Channels {
            width: fields.needed("ssm.inner_size", MOST)?,
            state: fields.needed("ssm.state_size", MOST)?,
            taps: fields.needed("ssm.conv_kernel", 1..=64)?,
            rank: fields.needed("ssm.time_step_rank", MOST)?,
            conv_bias: has("ssm_conv1d.bias"),
            bias: has("ssm_in.bias"),
            exponentiated: true,
        });
    }
    if config.parts.iter().any(|parts| parts.mlp == Feed::Experts) {
        config.experts = Some(Experts {
            // As llama.cpp and the model's makers; folders are read as mlx-lm reads them, which divides.
            normalize: false,
            ..Experts::counted_gguf(fields, config.intermediate_size)?
        });
    }
    Ok(())
}

fn parts(fields: &GgufFields, config: &Config, layer: usize) -> Parts {
    let has = |tensor: &str| fields.has(&format!("blk.{layer}.{tensor}.weight"));
    Parts {
        attention: has("attn_q"),
        recurrent: has("ssm_in"),
        mlp: match (has("ffn_gate_inp"), has("ffn_up")) {
            (true, _) => Feed::Experts,
            (_, true) => Feed::Dense(config.intermediate_size),
            _ => Feed::None,
        },
    }
}

/// The state space of a layer, which those of all others are alike.
fn space(fields: &GgufFields, config: &Config, layer: usize) -> Result<StateSpace> {
    let has = |tensor: &str| fields.has(&format!("blk.{layer}.{tensor}"));
    let heads = fields.needed("ssm.time_step_rank", MOST)?;
    let width = fields.needed("ssm.inner_size", MOST)?;
    let groups = fields.needed("ssm.group_count", MOST)?;
    if !width.is_multiple_of(heads) || !width.is_multiple_of(groups) {
        let what = format!("{width} columns of {heads} heads in {groups} groups");
        return Err(fields.bad("ssm.inner_size", what));
    }
    Ok(StateSpace {
        heads,
        dim: width / heads,
        groups,
        state: fields.needed("ssm.state_size", MOST)?,
        taps: fields.needed("ssm.conv_kernel", 1..=64)?,
        conv_bias: has("ssm_conv1d.bias"),
        biases: [has("ssm_in.bias"), has("ssm_out.bias")],
        steps: (0.0, f32::INFINITY),
        converted: false,
        exponentiated: true,
        norm: match has("ssm_norm.weight") {
            true => GateNorm::After(groups),
            false => GateNorm::None,
        },
        eps: config.norm_eps,
    })
}
