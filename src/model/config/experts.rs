//! What a config says about mixtures of experts.

use super::gguf::Fields as GgufFields;
use super::hf::Fields;
use super::limits;
use crate::Result;
use serde_json::Value;

/// A mixture of experts in place of every block's MLP.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Experts {
    /// Experts of a block.
    pub count: usize,
    /// Experts of a token.
    pub chosen: usize,
    /// Width of an expert's MLP.
    pub width: usize,
    /// The weights of a token's experts are divided by their sum.
    pub normalize: bool,
    /// Width of one more that every token goes to, behind a gate of its own; 0: there is none.
    pub shared: usize,
    /// The router and all products of the experts have biases.
    pub biases: bool,
    /// gpt-oss' function with this limit (see [`crate::ir::Gathered::SwiGlu`]); `None`: `silu(gate) · up`.
    pub limit: Option<f32>,
}

impl Experts {
    /// The experts of a model folder of a family that has them.
    pub fn read(fields: &Fields) -> Result<Experts> {
        // Every block has experts; mlx-lm's other layouts would be dense blocks in between.
        let step = fields.integer("decoder_sparse_step", 0..=1 << 20)?;
        if step.is_some_and(|step| step != 1) {
            return Err(fields.unsupported(
                "decoder_sparse_step",
                "only blocks with experts are supported",
            ));
        }
        match fields.get("mlp_only_layers") {
            None => {}
            Some(Value::Array(layers)) if layers.is_empty() => {}
            Some(_) => {
                return Err(
                    fields.unsupported("mlp_only_layers", "only blocks with experts are supported")
                );
            }
        }
        let width = fields.needed("moe_intermediate_size", limits::WIDTHS)?;
        let normalize = fields.flag("norm_topk_prob")?.unwrap_or(false);
        Experts::counted(fields, "num_experts", width, normalize)
    }

    /// As many experts as `key` says.
    pub fn counted(fields: &Fields, key: &str, width: usize, normalize: bool) -> Result<Experts> {
        let count = fields.needed(key, limits::EXPERTS)?;
        let chosen = fields.needed("num_experts_per_tok", limits::EXPERTS)?;
        if chosen > count {
            let what = format_args!("{chosen} of {count} experts");
            return Err(fields.bad("num_experts_per_tok", what));
        }
        Ok(Experts {
            count,
            chosen,
            width,
            normalize,
            shared: 0,
            biases: false,
            limit: None,
        })
    }

    /// The experts of a GGUF file of a family that has them.
    pub fn read_gguf(fields: &GgufFields) -> Result<Experts> {
        let count = fields.needed("expert_count", limits::EXPERTS)?;
        let chosen = fields.needed("expert_used_count", limits::EXPERTS)?;
        if chosen > count {
            let what = format_args!("{chosen} of {count} experts");
            return Err(fields.bad("expert_used_count", what));
        }
        Ok(Experts {
            count,
            chosen,
            width: fields.needed("expert_feed_forward_length", limits::WIDTHS)?,
            // llama.cpp's form of these architectures always divides.
            normalize: true,
            shared: 0,
            biases: false,
            limit: None,
        })
    }
}
