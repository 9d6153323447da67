//! Models with state spaces: Mamba 2, Granite 4 and Jamba (layers of it between attention), Falcon-H1 (beside attention).

use super::{Family, granite, state_space_gguf as gguf};
use crate::model::config::{Experts, Feed, Fields, Form, GateNorm, Parts, Recurrent, StateSpace};
use crate::{Error, Result};
use serde_json::Value;

/// More than any model has.
pub const MOST: std::ops::RangeInclusive<u64> = 1..=1 << 20;

pub const MAMBA2: Family = Family {
    name: "mamba2",
    model_types: &["mamba2"],
    keys: &[
        "num_heads",
        "n_groups",
        "state_size",
        "ssm_state_size",
        "conv_kernel",
        "use_bias",
        "use_conv_bias",
        "time_step_limit",
        "layer_norm_epsilon",
    ],
    harmless: &[
        "expand",
        "chunk_size",
        "rms_norm",
        "residual_in_fp32",
        "rescale_prenorm_residual",
        "time_step_rank",
        "time_step_min",
        "time_step_max",
        "time_step_floor",
        "time_step_init_scheme",
        "time_step_scale",
        "norm_before_gate",
    ],
    sizes: &[("num_attention_heads", 1)],
    form: Form {
        before_attention: Some("norm"),
        ..Form::LLAMA
    },
    folder_modules: &[
        ("model.embed_tokens", "model.embeddings"),
        ("model.norm", "model.norm_f"),
    ],
    read: |fields, config| {
        config.norm_eps = fields.norm_eps("layer_norm_epsilon", 1e-5)?;
        let state = match fields.integer("ssm_state_size", MOST)? {
            Some(state) => state,
            None => fields.needed("state_size", MOST)?,
        };
        let bias = fields.flag("use_bias")?.unwrap_or(false);
        config.recurrent = Some(Recurrent::Heads(StateSpace {
            heads: fields.needed("num_heads", MOST)?,
            dim: fields.needed("head_dim", MOST)?,
            groups: fields.integer("n_groups", MOST)?.unwrap_or(1),
            state,
            taps: fields.integer("conv_kernel", 1..=64)?.unwrap_or(4),
            conv_bias: fields.flag("use_conv_bias")?.unwrap_or(true),
            biases: [bias; 2],
            converted: false,
            exponentiated: false,
            steps: steps(fields, (0.0, f32::INFINITY))?,
            norm: GateNorm::After(1),
            eps: config.norm_eps,
        }));
        let parts = Parts {
            attention: false,
            recurrent: true,
            mlp: Feed::None,
        };
        config.parts = vec![parts; config.layers];
        Ok(())
    },
    architectures: &["mamba2"],
    gguf_keys: gguf::KEYS,
    gguf_modules: gguf::MODULES,
    read_gguf: gguf::read,
    quantizes: false,
    ..Family::PLAIN
};

/// The least and the largest step.
pub fn steps(fields: &Fields, default: (f32, f32)) -> Result<(f32, f32)> {
    const KEY: &str = "time_step_limit";
    let Some(value) = fields.get(KEY) else {
        return Ok(default);
    };
    // Infinity is written as the largest number, or in a word.
    let number = |value: &Value| match value {
        Value::String(text) => text.parse::<f64>().ok(),
        Value::Object(object) => object.get("__float__")?.as_str()?.parse().ok(),
        value => value.as_f64(),
    };
    let numbers = value
        .as_array()
        .map(|list| list.iter().map(number).collect::<Vec<_>>());
    match numbers.as_deref() {
        Some(&[Some(least), Some(most)]) if least <= most => Ok((least as f32, most as f32)),
        _ => Err(fields.bad(KEY, "not the least and the largest step")),
    }
}

pub const GRANITE_HYBRID: Family = Family {
    name: "granitemoehybrid",
    model_types: &["granitemoehybrid"],
    keys: &[
        "layer_types",
        "embedding_multiplier",
        "residual_multiplier",
        "attention_multiplier",
        "logits_scaling",
        "num_local_experts",
        "num_experts_per_tok",
        "shared_intermediate_size",
        "position_embedding_type",
        "mamba_n_heads",
        "mamba_d_head",
        "mamba_d_state",
        "mamba_d_conv",
        "mamba_n_groups",
        "mamba_conv_bias",
        "mamba_proj_bias",
        "time_step_limit",
    ],
    harmless: &[
        "mamba_chunk_size",
        "mamba_expand",
        "normalization_function",
        "router_aux_loss_coef",
        "init_method",
    ],
    folder_modules: &[
        ("mlp.gate", "block_sparse_moe.router.layer"),
        ("mlp.switch_mlp.", "block_sparse_moe.switch_mlp."),
        ("mlp.shared_expert.gate_up_proj", "shared_mlp.input_linear"),
        ("mlp.shared_expert.down_proj", "shared_mlp.output_linear"),
        ("mixer.", "mamba."),
    ],
    read: |fields, config| {
        // The residual stream is scaled, which changes the ε of its norms.
        let eps = config.norm_eps;
        (granite::GRANITE.read)(fields, config)?;
        let names = ["mamba", "attention"];
        let Some(kinds) = fields.kinds("layer_types", config.layers, names)? else {
            return Err(fields.bad("layer_types", "missing"));
        };
        if fields.text("position_embedding_type")? == Some("nope") {
            config.unturned_layers = vec![true; config.layers];
        }
        if kinds.contains(&0) {
            let bias = fields.flag("mamba_proj_bias")?.unwrap_or(false);
            config.recurrent = Some(Recurrent::Heads(StateSpace {
                heads: fields.needed("mamba_n_heads", MOST)?,
                dim: fields.needed("mamba_d_head", MOST)?,
                groups: fields.needed("mamba_n_groups", MOST)?,
                state: fields.needed("mamba_d_state", MOST)?,
                taps: fields.needed("mamba_d_conv", 1..=64)?,
                conv_bias: fields.flag("mamba_conv_bias")?.unwrap_or(true),
                biases: [bias; 2],
                converted: false,
                exponentiated: false,
                steps: steps(fields, (0.001, 100.0))?,
                norm: GateNorm::After(1),
                eps,
            }));
            config.set_recurrent(|layer| kinds[layer] == 0);
        }
        if fields
            .integer("num_local_experts", 0..=1 << 16)?
            .unwrap_or(0)
            > 0
        {
            let width = config.intermediate_size;
            config.experts = Some(Experts {
                shared: fields.needed("shared_intermediate_size", MOST)?,
                ..Experts::counted(fields, "num_local_experts", width, true)?
            });
            config.form.gate_up = true;
            config.set_experts(|_| true);
        }
        Ok(())
    },
    architectures: &["granitehybrid"],
    gguf_keys: gguf::GRANITE_KEYS,
    gguf_modules: gguf::GRANITE_MODULES,
    read_gguf: gguf::read_granite,
    quantizes: false,
    ..Family::PLAIN
};

pub const FALCON_H1: Family = Family {
    name: "falcon_h1",
    model_types: &["falcon_h1"],
    keys: &[
        "rope_traditional",
        "embedding_multiplier",
        "lm_head_multiplier",
        "mamba_n_heads",
        "mamba_d_head",
        "mamba_d_ssm",
        "mamba_d_state",
        "mamba_d_conv",
        "mamba_n_groups",
        "mamba_conv_bias",
        "mamba_proj_bias",
        "mamba_rms_norm",
        "mamba_norm_before_gate",
        "projectors_bias",
    ],
    harmless: &[
        // mlx-lm puts these into the weights.
        "attention_in_multiplier",
        "attention_out_multiplier",
        "key_multiplier",
        "mlp_multipliers",
        "ssm_in_multiplier",
        "ssm_multipliers",
        "ssm_out_multiplier",
        "mamba_chunk_size",
        "mamba_expand",
        "mamba_use_mlp",
        "mlp_expansion_factor",
        "num_logits_to_keep",
    ],
    rope_theta: 1e11,
    form: Form {
        before_mlp: Some("pre_ff_layernorm"),
        ..Form::LLAMA
    },
    folder_modules: &[
        ("model.norm", "model.final_layernorm"),
        ("mixer.", "mamba."),
        ("mlp.", "feed_forward."),
    ],
    read: |fields, config| {
        config.rope_interleaved = fields.flag("rope_traditional")?.unwrap_or(false);
        let (heads, dim) = (
            fields.needed("mamba_n_heads", MOST)?,
            fields.needed("mamba_d_head", MOST)?,
        );
        let groups = fields.needed("mamba_n_groups", MOST)?;
        if fields
            .integer("mamba_d_ssm", MOST)?
            .is_some_and(|width| width != heads * dim)
        {
            let what = format_args!("{heads} heads of {dim} columns have another width");
            return Err(fields.bad("mamba_d_ssm", what));
        }
        let norm = match fields.flag("mamba_rms_norm")? {
            Some(true) if groups > 1 => {
                let what = "a norm of states in more than one group is not supported";
                return Err(fields.unsupported("mamba_rms_norm", what));
            }
            Some(true) => match fields.flag("mamba_norm_before_gate")? {
                Some(true) => GateNorm::Before,
                _ => GateNorm::After(1),
            },
            _ => GateNorm::None,
        };
        let bias = |key: &str| Ok::<_, Error>(fields.flag(key)?.unwrap_or(false));
        config.recurrent = Some(Recurrent::Heads(StateSpace {
            heads,
            dim,
            groups,
            state: fields.needed("mamba_d_state", MOST)?,
            taps: fields.needed("mamba_d_conv", 1..=64)?,
            conv_bias: fields.flag("mamba_conv_bias")?.unwrap_or(true),
            biases: [bias("mamba_proj_bias")?, bias("projectors_bias")?],
            converted: true,
            exponentiated: false,
            steps: (0.0, f32::INFINITY),
            norm,
            eps: config.norm_eps,
        }));
        let parts = Parts {
            attention: true,
            recurrent: true,
            mlp: Feed::Dense(config.intermediate_size),
        };
        config.parts = vec![parts; config.layers];
        if config.tied_embeddings {
            // The table holds the embedding's multiplier already.
            let multiplier = |key: &str| Ok::<_, Error>(fields.positive(key)?.unwrap_or(1.0));
            config.form.logit_scale =
                multiplier("lm_head_multiplier")? / multiplier("embedding_multiplier")?;
        }
        Ok(())
    },
    architectures: &["falcon-h1"],
    gguf_keys: gguf::KEYS,
    gguf_modules: gguf::FALCON_MODULES,
    read_gguf: gguf::read,
    quantizes: false,
    ..Family::PLAIN
};

pub const JAMBA: Family = Family {
    name: "jamba",
    model_types: &["jamba"],
    keys: &[
        "layers_block_type",
        "attn_layer_offset",
        "attn_layer_period",
        "expert_layer_offset",
        "expert_layer_period",
        "num_experts",
        "num_experts_per_tok",
        "mamba_d_conv",
        "mamba_d_state",
        "mamba_expand",
        "mamba_dt_rank",
        "mamba_conv_bias",
        "mamba_proj_bias",
    ],
    harmless: &[
        "router_aux_loss_coef",
        "use_mamba_kernels",
        "num_logits_to_keep",
    ],
    form: Form {
        before_mlp: Some("pre_ff_layernorm"),
        ..Form::LLAMA
    },
    folder_modules: &[
        ("model.norm", "model.final_layernorm"),
        ("mixer.", "mamba."),
        ("mlp.gate", "feed_forward.router"),
        ("mlp.", "feed_forward."),
    ],
    read: |fields, config| {
        let number = |key: &str, default| {
            Ok::<_, Error>(fields.integer(key, 0..=1 << 16)?.unwrap_or(default))
        };
        config.recurrent = Some(Recurrent::Channels {
            width: fields.integer("mamba_expand", 1..=64)?.unwrap_or(2) * config.hidden_size,
            state: fields.needed("mamba_d_state", MOST)?,
            taps: fields.needed("mamba_d_conv", 1..=64)?,
            rank: match fields.get("mamba_dt_rank") {
                Some(rank) if rank.as_str() != Some("auto") => {
                    fields.needed("mamba_dt_rank", MOST)?
                }
                _ => config.hidden_size.div_ceil(16),
            },
            conv_bias: fields.flag("mamba_conv_bias")?.unwrap_or(true),
            bias: fields.flag("mamba_proj_bias")?.unwrap_or(false),
            exponentiated: false,
        });
        let names = ["mamba", "attention"];
        match fields.kinds("layers_block_type", config.layers, names)? {
            Some(kinds) => config.set_recurrent(|layer| kinds[layer] == 0),
            None => {
                let every = number("attn_layer_period", 8)?.max(1);
                let first = number("attn_layer_offset", 4)?;
                config.set_recurrent(|layer| layer % every != first);
            }
        }
        config.unturned_layers = vec![true; config.layers];
        if number("num_experts", 16)? > 1 {
            let width = config.intermediate_size;
            // The softmax of the chosen ones is that of all, divided by their sum.
            config.experts = Some(Experts::counted(fields, "num_experts", width, true)?);
            let every = number("expert_layer_period", 2)?.max(1);
            let first = number("expert_layer_offset", 1)?;
            config.set_experts(|layer| layer % every == first);
        }
        Ok(())
    },
    architectures: &["jamba"],
    gguf_keys: gguf::JAMBA_KEYS,
    gguf_modules: gguf::JAMBA_MODULES,
    read_gguf: gguf::read_jamba,
    quantizes: false,
    ..Family::PLAIN
};
