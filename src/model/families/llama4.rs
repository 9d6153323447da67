//! Llama 4, as text: some layers do not turn and see everything, the others see their run of tokens only; norms of heads
//! without weights; one expert a token, which takes x times its weight, beside a shared one.

use super::Family;
use crate::Result;
use crate::ir::Scores;
use crate::model::Config;
use crate::model::config::{Experts, Form, GgufFields, Growth, HeadNorm};

/// Tokens of a run in GGUF files, which do not say; llama.cpp takes no others.
const CHUNK: usize = 8192;

pub const LLAMA4: Family = Family {
    name: "llama4",
    model_types: &["llama4_text", "llama4"],
    keys: &[
        "layer_types",
        "intermediate_size_mlp",
        "num_local_experts",
        "num_experts_per_tok",
        "interleave_moe_layer_step",
        "moe_layers",
        "no_rope_layers",
        "no_rope_layer_interval",
        "use_qk_norm",
        "attention_chunk_size",
        "attn_temperature_tuning",
        "floor_scale",
        "attn_scale",
    ],
    harmless: &[
        "router_aux_loss_coef",
        "router_jitter_noise",
        "for_llm_compressor",
        "boi_token_index",
        "eoi_token_index",
    ],
    context: 131_072,
    rope_theta: 500_000.0,
    form: Form::LLAMA,
    folder_modules: &[
        ("mlp.gate", "feed_forward.router"),
        ("mlp.switch_mlp.", "feed_forward.experts."),
        ("mlp.", "feed_forward."),
    ],
    read: |fields, config| {
        config.rope_interleaved = true;
        config.unturned_layers = fields.unturned(config.layers)?;
        // Says the same once more.
        let kinds = fields.kinds(
            "layer_types",
            config.layers,
            ["chunked_attention", "full_attention"],
        )?;
        let agrees = |kinds: Vec<usize>| {
            let full = kinds.iter().map(|kind| *kind == 1);
            full.eq(config.unturned_layers.iter().copied())
        };
        if !kinds.is_none_or(agrees) {
            return Err(fields.unsupported("layer_types", "they are not those of no_rope_layers"));
        }
        config.form.chunk = fields.integer("attention_chunk_size", 1..=1 << 30)?;
        if fields.flag("use_qk_norm")? == Some(true) {
            config.form.qk_norm = Some(HeadNorm::Weightless);
        }
        let tunes = fields.get("attn_temperature_tuning");
        if tunes.is_none_or(|on| on.as_bool().unwrap_or(on.as_f64() != Some(0.0))) {
            config.form.query_growth = Some(Growth {
                beta: fields.positive("attn_scale")?.unwrap_or(0.1),
                length: fields.positive("floor_scale")?.unwrap_or(8192.0),
                from: 1.0,
                still_only: true,
            });
        }
        let width = config.intermediate_size;
        let dense = fields.integer("intermediate_size_mlp", 1..=1 << 20)?;
        config.intermediate_size = dense.unwrap_or(width);
        if fields.get("num_local_experts").is_none() {
            return Ok(());
        }
        let experts = Experts::counted(fields, "num_local_experts", width, false)?;
        if experts.chosen != 1 {
            return Err(fields.unsupported("num_experts_per_tok", "1 is supported"));
        }
        config.experts = Some(Experts {
            scores: Scores::Sigmoid,
            weighted_input: true,
            shared: width,
            ..experts
        });
        let every = fields.integer("interleave_moe_layer_step", 1..=1 << 20)?;
        let every = every.unwrap_or(1);
        let listed = match fields.get("moe_layers") {
            None => None,
            Some(list) => {
                let list = list.as_array().map(Vec::as_slice).unwrap_or_default();
                let layers = list.iter().map(|layer| layer.as_u64());
                match layers.collect::<Option<Vec<u64>>>() {
                    Some(layers) => Some(layers),
                    None => return Err(fields.bad("moe_layers", "not a list of layers")),
                }
            }
        };
        config.set_experts(|layer| match &listed {
            Some(layers) => layers.contains(&(layer as u64)),
            None => layer % every == every - 1,
        });
        Ok(())
    },
    architectures: &["llama4"],
    gguf_keys: &[
        "expert_count",
        "expert_used_count",
        "expert_feed_forward_length",
        "interleave_moe_layer_step",
        "attention.sliding_window",
    ],
    read_gguf,
    quantizes: false,
    ..Family::PLAIN
};

/// Files say little: the layers that do not turn, their queries' growth and the norms of heads are as in llama.cpp.
fn read_gguf(fields: &GgufFields, config: &mut Config) -> Result<()> {
    const WINDOW: &str = "attention.sliding_window";
    if let Some(window) = fields.integer(WINDOW, 0..=1 << 30)?
        && window != CHUNK
    {
        return Err(fields.unsupported(WINDOW, format_args!("{window}; {CHUNK} is supported")));
    }
    config.rope_interleaved = true;
    config.unturned_layers = (0..config.layers)
        .map(|layer| (layer + 1) % 4 == 0)
        .collect();
    config.form.chunk = Some(CHUNK);
    config.form.query_growth = Some(Growth {
        beta: 0.1,
        length: CHUNK as f32,
        from: 1.0,
        still_only: true,
    });
    let experts = Experts::read_gguf(fields)?;
    if experts.chosen != 1 {
        return Err(fields.unsupported("expert_used_count", "1 is supported"));
    }
    // The larger of the two models has none.
    if experts.count != 128 {
        config.form.qk_norm = Some(HeadNorm::Weightless);
    }
    config.experts = Some(Experts {
        normalize: false,
        scores: Scores::Sigmoid,
        weighted_input: true,
        shared: experts.width,
        ..experts
    });
    let every = fields.needed("interleave_moe_layer_step", 1..=1 << 20)?;
    config.set_experts(|layer| (layer + 1) % every == 0);
    Ok(())
}
