//! What a config says about mixtures of experts.

use super::Config;
use super::fields::Fields;
use super::gguf::Fields as GgufFields;
use super::limits;
use crate::Result;
use crate::formats::brief;
use crate::ir::{Groups, Number, Route, Scores};
use serde_json::Value;

/// A mixture of experts in place of a block's MLP.
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
    /// What the router's logits become.
    pub scores: Scores,
    /// A vector of the file joins the scores where they decide, but not the weights.
    pub correction: Correction,
    /// Only experts of a token's best groups are chosen.
    pub groups: Option<Groups>,
    /// The weights are multiplied by this.
    pub factor: f32,
    /// Experts take their weight times x, and are summed as they are; one a token.
    pub weighted_input: bool,
    /// Width of one more that every token goes to; 0: there is none.
    pub shared: usize,
    /// That one has a gate of its own.
    pub shared_gate: bool,
    /// Width that x gets before the experts and loses behind them; 0: theirs is the model's.
    pub latent: usize,
    /// All products of the experts have biases.
    pub biases: bool,
    /// The router has one.
    pub router_bias: bool,
    /// gpt-oss' function with this limit (see [`crate::ir::Gathered::SwiGlu`]); `None`: the model's.
    pub limit: Option<f32>,
}

/// Whether a file has a vector that corrects scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Correction {
    /// No.
    Never,
    /// Some files of the family.
    Maybe,
    /// Yes.
    Always,
}

impl Experts {
    /// `chosen` of `count` experts `width` wide, by a softmax, and no more.
    pub fn plain(count: usize, chosen: usize, width: usize) -> Experts {
        Experts {
            count,
            chosen,
            width,
            normalize: false,
            scores: Scores::Softmax,
            correction: Correction::Never,
            groups: None,
            factor: 1.0,
            weighted_input: false,
            shared: 0,
            shared_gate: false,
            latent: 0,
            biases: false,
            router_bias: false,
            limit: None,
        }
    }

    /// The router.
    pub fn route(&self) -> Route {
        Route {
            chosen: self.chosen,
            normalize: self.normalize,
            scores: self.scores,
            groups: self.groups,
            factor: Number::new(self.factor.into()),
            shared: false,
        }
    }

    /// The experts of a model folder of a family that has them in every block.
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

    /// As many experts as `key` says, `num_experts_per_tok` of them for a token.
    pub fn counted(fields: &Fields, key: &str, width: usize, normalize: bool) -> Result<Experts> {
        let experts = Experts::keyed(fields, [key, "num_experts_per_tok"], width)?;
        Ok(Experts {
            normalize,
            ..experts
        })
    }

    /// As many experts, and of a token, as these keys say.
    pub fn keyed(fields: &Fields, keys: [&str; 2], width: usize) -> Result<Experts> {
        let count = fields.needed(keys[0], limits::EXPERTS)?;
        let chosen = fields.needed(keys[1], limits::EXPERTS)?;
        if chosen > count {
            let what = format_args!("{chosen} of {count} experts");
            return Err(fields.bad(keys[1], what));
        }
        Ok(Experts::plain(count, chosen, width))
    }

    /// The experts as DeepSeek's configs and those that follow them tell, and which blocks have them; none where
    /// `n_routed_experts` says so. By a sigmoid and a correction.
    pub fn routed(fields: &Fields, config: &mut Config) -> Result<()> {
        if fields.get("n_routed_experts").is_none() {
            return Ok(());
        }
        let width = fields.needed("moe_intermediate_size", limits::WIDTHS)?;
        let experts = Experts::counted(fields, "n_routed_experts", width, false)?;
        let method = fields.text("topk_method")?;
        if !matches!(method, None | Some("noaux_tc")) {
            let what = format_args!("{:?}; noaux_tc is supported", brief(method.unwrap_or("")));
            return Err(fields.unsupported("topk_method", what));
        }
        // dots1 names the method here.
        let scores = fields.text("scoring_func")?;
        if !matches!(scores, None | Some("sigmoid" | "noaux_tc")) {
            let what = format_args!("{:?}; sigmoid is supported", brief(scores.unwrap_or("")));
            return Err(fields.unsupported("scoring_func", what));
        }
        let normalize = fields.flag("norm_topk_prob")?.unwrap_or(true);
        let experts = Experts {
            normalize: normalize && experts.chosen > 1,
            scores: Scores::Sigmoid,
            correction: Correction::Always,
            ..experts
        };
        let experts = experts.grouped(fields, ["n_group", "topk_group"], 2)?;
        experts.of_blocks(fields, config)
    }

    /// Gives the blocks of a config these experts, with a shared one and a factor, in DeepSeek's words.
    pub fn of_blocks(self, fields: &Fields, config: &mut Config) -> Result<()> {
        let shared = fields
            .integer("n_shared_experts", 0..=1 << 16)?
            .unwrap_or(0);
        config.experts = Some(Experts {
            factor: fields.positive("routed_scaling_factor")?.unwrap_or(1.0),
            shared: shared * self.width,
            ..self
        });
        let dense = fields
            .integer("first_k_dense_replace", 0..=1 << 20)?
            .unwrap_or(0);
        let every = fields.integer("moe_layer_freq", 1..=1 << 20)?.unwrap_or(1);
        config.set_experts(|layer| layer >= dense && layer % every == 0);
        Ok(())
    }

    /// The groups that these keys tell, ranked by the sum of so many scores.
    pub fn grouped(self, fields: &Fields, keys: [&str; 2], best: usize) -> Result<Experts> {
        let count = fields.integer(keys[0], limits::EXPERTS)?.unwrap_or(1);
        let kept = fields.integer(keys[1], limits::EXPERTS)?.unwrap_or(1);
        match self.in_groups(count, kept, best) {
            Ok(experts) => Ok(experts),
            Err(what) => Err(fields.bad(keys[0], what)),
        }
    }

    /// The same of a GGUF file.
    pub fn grouped_gguf(self, fields: &GgufFields, best: usize) -> Result<Experts> {
        let count = fields.integer("expert_group_count", 0..=1 << 16)?;
        let kept = fields.integer("expert_group_used_count", 0..=1 << 16)?;
        let [count, kept] = [count, kept].map(|number| number.unwrap_or(1).max(1));
        match self.in_groups(count, kept, best) {
            Ok(experts) => Ok(experts),
            Err(what) => Err(fields.bad("expert_group_count", what)),
        }
    }

    /// The experts of a GGUF file in DeepSeek's words, and which blocks have them.
    pub fn routed_gguf(fields: &GgufFields, config: &mut Config) -> Result<()> {
        let experts = Experts::read_gguf(fields)?;
        let shared = fields
            .integer("expert_shared_count", 0..=1 << 16)?
            .unwrap_or(0);
        let usual = match fields.architecture() {
            "deepseek2" => Scores::Softmax,
            _ => Scores::Sigmoid,
        };
        let scores = Experts::scores_gguf(fields, usual)?;
        let experts = Experts {
            normalize: fields.flag("expert_weights_norm")?.unwrap_or(false) && experts.chosen > 1,
            scores,
            correction: Correction::Maybe,
            factor: fields.positive("expert_weights_scale")?.unwrap_or(1.0),
            shared: shared * experts.width,
            ..experts
        };
        let best = if scores == Scores::Softmax { 1 } else { 2 };
        config.experts = Some(experts.grouped_gguf(fields, best)?);
        let dense = fields.integer("leading_dense_block_count", 0..=1 << 20)?;
        let dense = dense.unwrap_or(0);
        config.set_experts(|layer| layer >= dense);
        Ok(())
    }

    /// What the router's logits become in a GGUF file, which only the newest say.
    pub fn scores_gguf(fields: &GgufFields, usual: Scores) -> Result<Scores> {
        match fields.integer("expert_gating_func", 0..=3)? {
            None | Some(0) => Ok(usual),
            Some(1) => Ok(Scores::Softmax),
            Some(2) => Ok(Scores::Sigmoid),
            Some(other) => Err(fields.bad("expert_gating_func", format!("{other}"))),
        }
    }

    fn in_groups(self, count: usize, kept: usize, best: usize) -> Result<Experts, String> {
        if count == 1 || kept == count {
            return Ok(self);
        }
        let width = self.count / count;
        if !self.count.is_multiple_of(count) || kept > count || width < best {
            return Err(format!(
                "{kept} of {count} groups of {} experts",
                self.count
            ));
        }
        let groups = Some(Groups { count, kept, best });
        Ok(Experts { groups, ..self })
    }

    /// The experts of a GGUF file of a family that has them.
    pub fn read_gguf(fields: &GgufFields) -> Result<Experts> {
        let width = fields.needed("expert_feed_forward_length", limits::WIDTHS)?;
        Experts::counted_gguf(fields, width)
    }

    /// The same, `width` wide.
    pub fn counted_gguf(fields: &GgufFields, width: usize) -> Result<Experts> {
        let count = fields.needed("expert_count", limits::EXPERTS)?;
        let chosen = fields.needed("expert_used_count", limits::EXPERTS)?;
        if chosen > count {
            let what = format_args!("{chosen} of {count} experts");
            return Err(fields.bad("expert_used_count", what));
        }
        Ok(Experts {
            // llama.cpp's form of most of these architectures always divides.
            normalize: true,
            ..Experts::plain(count, chosen, width)
        })
    }
}
