//! Kimi Linear: a delta rule whose state's columns decay on their own, latent attention that does not turn in some layers.

use super::Family;
use super::state_space::MOST;
use crate::ir::Scores;
use crate::model::Config;
use crate::model::config::{Correction, Experts, Fields, Latent, Recurrent};
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
