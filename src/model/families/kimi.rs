//! Kimi Linear: a delta rule whose state's columns decay on their own, latent attention that does not turn in some layers.

use super::Family;
use super::state_space::MOST;
use crate::ir::Scores;
use crate::model::Config;
use crate::model::config::{Correction, Experts, Fields, GgufFields, Latent, Recurrent};
use crate::{Error, Result};
use serde_json::Value;

pub const KIMI_LINEAR: Family = Family {
    name: "kimi_linear",
    model_types: &["kimi_linear"],
    keys: &[
        "linear_attn_config",
        "kv_lora_rank",
        "q_lora_rank",
        "qk_nope_head_dim",
        "qk_rope_head_dim",
        "v_head_dim",
        "mla_use_nope",
        "num_experts",
        "num_experts_per_token",
        "moe_intermediate_size",
        "num_shared_experts",
        "moe_router_activation_func",
        "moe_renormalize",
        "routed_scaling_factor",
        "first_k_dense_replace",
        "moe_layer_freq",
        "use_grouped_topk",
        "num_expert_group",
        "topk_group",
    ],
    harmless: &["num_nextn_predict_layers"],
    folder_modules: &[
        ("mlp.correction", "mlp.e_score_correction_bias"),
        ("mlp.shared_expert.", "mlp.shared_experts."),
        ("mixer.", "self_attn."),
    ],
    read: kimi_linear,
    architectures: &["kimi-linear"],
    gguf_keys: &[
        "attention.kv_lora_rank",
        "attention.key_length_mla",
        "attention.value_length_mla",
        "ssm.conv_kernel",
        "kda.head_dim",
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "expert_shared_count",
        "expert_weights_scale",
        "expert_gating_func",
        "expert_group_count",
        "expert_group_used_count",
        "leading_dense_block_count",
    ],
    gguf_modules: &[
        ("self_attn.kv_a_proj_with_mqa", "attn_kv_a_mqa"),
        ("self_attn.kv_a_layernorm", "attn_kv_a_norm"),
        ("self_attn.kv_b_proj", "attn_kv_b"),
        ("self_attn.embed_q", "attn_k_b"),
        ("self_attn.unembed_out", "attn_v_b"),
        ("mixer.q_proj", "attn_q"),
        ("mixer.k_proj", "attn_k"),
        ("mixer.v_proj", "attn_v"),
        ("mixer.q_conv.conv", "ssm_conv1d_q"),
        ("mixer.k_conv.conv", "ssm_conv1d_k"),
        ("mixer.v_conv.conv", "ssm_conv1d_v"),
        ("mixer.f_a_proj", "ssm_f_a"),
        ("mixer.f_b_proj", "ssm_f_b"),
        ("mixer.g_a_proj", "ssm_g_a"),
        ("mixer.g_b_proj", "ssm_g_b"),
        ("mixer.b_proj", "ssm_beta"),
        ("mixer.A_log", "ssm_a"),
        ("mixer.dt_bias", "ssm_dt.bias"),
        ("mixer.o_norm", "ssm_norm"),
        ("mixer.o_proj", "attn_output"),
    ],
    read_gguf,
    quantizes: false,
    ..Family::PLAIN
};

fn kimi_linear(fields: &Fields, config: &mut Config) -> Result<()> {
    let number =
        |key: &str, default| Ok::<_, Error>(fields.integer(key, 0..=1 << 20)?.unwrap_or(default));
    if number("q_lora_rank", 0)? != 0 {
        return Err(fields.unsupported("q_lora_rank", "null is supported"));
    }
    let head_dim = config.head_dim;
    config.set_latent(Latent {
        query: None,
        rank: fields.needed("kv_lora_rank", MOST)?,
        still: number("qk_nope_head_dim", head_dim)?,
        turned: number("qk_rope_head_dim", 0)?,
        value: number("v_head_dim", head_dim)?,
        eps: config.norm_eps,
    });
    config.unturned_layers = vec![true; config.layers];
    let Some(delta) = fields.fields("linear_attn_config")? else {
        return Err(fields.bad("linear_attn_config", "missing"));
    };
    config.recurrent = Some(Recurrent::Delta {
        heads: delta.needed("num_heads", 1..=4096)?,
        dim: delta.needed("head_dim", 1..=4096)?,
        taps: delta
            .integer("short_conv_kernel_size", 1..=64)?
            .unwrap_or(4),
        exponentiated: false,
    });
    // Layers are counted from 1 here.
    let list = delta.get("kda_layers").and_then(Value::as_array);
    let layers = list.map(|list| list.iter().map(Value::as_u64).collect::<Option<Vec<u64>>>());
    let Some(layers) = layers.flatten() else {
        return Err(delta.bad("kda_layers", "not a list of layers"));
    };
    config.set_recurrent(|layer| layers.contains(&(layer as u64 + 1)));
    if number("num_experts", 0)? == 0 {
        return Ok(());
    }
    let width = fields.needed("moe_intermediate_size", MOST)?;
    let keys = ["num_experts", "num_experts_per_token"];
    let experts = Experts::keyed(fields, keys, width)?;
    let experts = Experts {
        normalize: fields.flag("moe_renormalize")?.unwrap_or(true) && experts.chosen > 1,
        scores: match fields.text("moe_router_activation_func")? {
            None | Some("sigmoid") => Scores::Sigmoid,
            Some("softmax") => Scores::Softmax,
            Some(other) => {
                let what = format_args!("{other:?}; sigmoid and softmax are supported");
                return Err(fields.unsupported("moe_router_activation_func", what));
            }
        },
        correction: Correction::Always,
        factor: fields.positive("routed_scaling_factor")?.unwrap_or(1.0),
        shared: number("num_shared_experts", 0)? * width,
        ..experts
    };
    let groups = ["num_expert_group", "topk_group"];
    config.experts = Some(experts.grouped(fields, groups, 2)?);
    let dense = number("first_k_dense_replace", 0)?;
    let every = number("moe_layer_freq", 1)?.max(1);
    config.set_experts(|layer| layer >= dense && layer % every == 0);
    Ok(())
}

fn read_gguf(fields: &GgufFields, config: &mut Config) -> Result<()> {
    const KEY: &str = "attention.key_length_mla";
    let turned = fields.needed("rope.dimension_count", MOST)?;
    let key = fields.needed(KEY, MOST)?;
    if key <= turned {
        return Err(fields.bad(KEY, format!("{key} columns, of which {turned} are apart")));
    }
    let heads = config.heads;
    config.set_latent(Latent {
        query: None,
        rank: fields.needed("attention.kv_lora_rank", MOST)?,
        still: key - turned,
        turned,
        value: fields.needed("attention.value_length_mla", MOST)?,
        eps: config.norm_eps,
    });
    config.unturned_layers = vec![true; config.layers];
    config.recurrent = Some(Recurrent::Delta {
        heads,
        dim: fields.needed("kda.head_dim", 1..=4096)?,
        taps: fields.needed("ssm.conv_kernel", 1..=64)?,
        exponentiated: true,
    });
    config.set_recurrent(|layer| fields.has(&format!("blk.{layer}.ssm_f_a.weight")));
    let experts = Experts::read_gguf(fields)?;
    let shared = fields.integer("expert_shared_count", 0..=1 << 16)?;
    let experts = Experts {
        scores: Experts::scores_gguf(fields, Scores::Sigmoid)?,
        correction: Correction::Always,
        factor: fields.positive("expert_weights_scale")?.unwrap_or(1.0),
        shared: shared.unwrap_or(0) * experts.width,
        ..experts
    };
    config.experts = Some(experts.grouped_gguf(fields, 2)?);
    let dense = fields.integer("leading_dense_block_count", 0..=1 << 20)?;
    config.set_experts(|layer| layer >= dense.unwrap_or(0));
    Ok(())
}
