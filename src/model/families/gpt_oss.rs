//! gpt-oss: experts with biases and a function of their own, attention sinks, a window in every second layer.

use super::Family;
use crate::ir::CLAMPED_ALPHA;
use crate::model::config::{Experts, Form};

/// Experts' limit where the config does not say; GGUF has no key for it.
const LIMIT: f32 = 7.0;

pub const GPT_OSS: Family = Family {
    name: "gpt_oss",
    model_types: &["gpt_oss"],
    architectures: &["gpt-oss"],
    keys: &[
        "num_local_experts",
        "num_experts_per_tok",
        "sliding_window",
        "swiglu_alpha",
        "swiglu_limit",
    ],
    harmless: &[
        "router_aux_loss_coef",
        // The same as num_experts_per_tok and the RoPE scaling's original context.
        "experts_per_token",
        "initial_context_length",
    ],
    gguf_keys: &[
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "attention.sliding_window",
    ],
    context: 131_072,
    rope_theta: 150_000.0,
    wide_modules: &["mlp.router"],
    folder_modules: &[
        ("mlp.gate", "mlp.router"),
        ("mlp.switch_mlp.gate_proj", "mlp.experts.gate_proj"),
        ("mlp.switch_mlp.up_proj", "mlp.experts.up_proj"),
        ("mlp.switch_mlp.down_proj", "mlp.experts.down_proj"),
    ],
    gguf_modules: &[
        ("post_attention_layernorm", "post_attention_norm"),
        ("self_attn.sinks", "attn_sinks.weight"),
    ],
    form: Form {
        sinks: true,
        ..Form::LLAMA
    },
    read: |fields, config| {
        let biases = fields.flag("attention_bias")?.unwrap_or(true);
        (config.attention_bias, config.output_bias) = (biases, biases);
        let alpha = fields.positive("swiglu_alpha")?.unwrap_or(CLAMPED_ALPHA);
        if alpha != CLAMPED_ALPHA {
            let what = format_args!("{alpha}; {CLAMPED_ALPHA} is supported");
            return Err(fields.unsupported("swiglu_alpha", what));
        }
        let width = config.intermediate_size;
        // The softmax of the chosen ones is that of all, divided by their sum.
        let experts = Experts::counted(fields, "num_local_experts", width, true)?;
        config.experts = Some(Experts {
            biases: true,
            router_bias: true,
            limit: Some(fields.positive("swiglu_limit")?.unwrap_or(LIMIT)),
            ..experts
        });
        match (fields.get("layer_types"), fields.window()?) {
            (None, window) => {
                config.set_windows(Some(window.unwrap_or(128)), |layer| layer % 2 == 0);
                Ok(())
            }
            (Some(_), None) => Err(fields.bad("sliding_window", "missing beside layer_types")),
            (Some(_), Some(_)) => Ok(()),
        }
    },
    read_gguf: |fields, config| {
        config.experts = Some(Experts {
            biases: true,
            router_bias: true,
            limit: Some(LIMIT),
            ..Experts::read_gguf(fields)?
        });
        config.set_windows(fields.window()?, |layer| layer % 2 == 0);
        Ok(())
    },
    ..Family::PLAIN
};
