//! The numbers that describe a dense transformer, read from `config.json` or GGUF metadata.

mod delta;
mod experts;
mod fields;
mod form;
mod gemma4;
mod gguf;
mod gguf_keys;
mod gguf_rope;
mod hf;
mod keys;
mod layers;
mod limits;
mod rope;

pub use delta::Delta;
pub use experts::{Correction, Experts};
pub use fields::Fields;
pub use form::{Activation, Form, Growth, HeadNorm, NormKind, Qkv};
pub use gemma4::Gemma4;
pub use gguf::Fields as GgufFields;
pub use layers::{Feed, GateNorm, Latent, Parts, Recurrent, StateSpace};

use super::families::{self, Family};
use crate::formats::brief;
use crate::{Error, Result};
use std::path::Path;

/// How RoPE frequencies are scaled for long contexts.
#[derive(Debug, Clone, PartialEq)]
pub enum RopeScaling {
    /// Plain RoPE.
    None,
    /// Positions divided by the factor.
    Linear {
        /// Positions are divided by this.
        factor: f32,
    },
    /// Llama 3: low frequencies divided, high kept, smooth between.
    Llama3 {
        /// Divisor of low frequencies.
        factor: f32,
        /// Wavelengths above `original_context / low` are divided.
        low_freq_factor: f32,
        /// Wavelengths below `original_context / high` are kept.
        high_freq_factor: f32,
        /// Context of the original training.
        original_context: usize,
    },
    /// YaRN.
    Yarn {
        /// Context extension.
        factor: f32,
        /// Context of the original training.
        original_context: usize,
        /// Ramp start in rotations.
        beta_fast: f32,
        /// Ramp end in rotations.
        beta_slow: f32,
        /// The ramp begins and ends at whole pairs.
        truncate: bool,
        /// Multiplier of cos and sin (`mscale`); 0: 0.1·ln(factor)+1.
        attention_factor: f32,
    },
    /// A divisor of each frequency, and a multiplier of cos and sin (longrope).
    Long {
        /// Divisors.
        factors: Vec<f32>,
        /// Multiplier.
        magnitude: f32,
    },
    /// Only the first pairs of a head turn, in whose width their frequencies are spread (Gemma 4).
    Proportional {
        /// Of a head's columns.
        share: f32,
        /// Positions are divided by this.
        factor: f32,
    },
    /// Plain RoPE up to the trained context. Beyond it all frequencies would follow the length of the text, those
    /// of keys that are kept too: no longer context is given to a session.
    Dynamic,
    /// Divisor of each frequency, given by the file (`rope_freqs.weight` of GGUF).
    Factors(Vec<f32>),
}

impl RopeScaling {
    /// What YaRN multiplies cos and sin by.
    pub(super) fn set_magnitude(&mut self, magnitude: f32) {
        if let RopeScaling::Yarn {
            attention_factor, ..
        } = self
        {
            *attention_factor = magnitude;
        }
    }

    /// Divides what YaRN multiplies cos and sin by by `1 + weight·ln(factor)/10`.
    pub(super) fn divide_magnitude(&mut self, weight: f32) {
        if let RopeScaling::Yarn {
            factor,
            attention_factor,
            ..
        } = self
            && *factor > 1.0
        {
            if *attention_factor == 0.0 {
                *attention_factor = 0.1 * factor.ln() + 1.0;
            }
            *attention_factor /= 0.1 * weight * factor.ln() + 1.0;
        }
    }
}

/// The numbers of a dense transformer.
#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    /// Whose form it has.
    pub family: &'static Family,
    /// The name the file gives itself.
    pub name: String,
    /// Width of the residual stream.
    pub hidden_size: usize,
    /// Width of the MLP.
    pub intermediate_size: usize,
    /// Experts in place of MLPs, where the family has them.
    pub experts: Option<Experts>,
    /// The parts of each block; empty: attention, and experts or an MLP.
    pub parts: Vec<Parts>,
    /// Multi-head latent attention in place of the usual.
    pub latent: Option<Latent>,
    /// The numbers of Gemma 4.
    pub gemma4: Option<Gemma4>,
    /// What blocks with recurrent parts have.
    pub recurrent: Option<Recurrent>,
    /// Gated delta nets in place of most blocks' attention, where the family has them.
    pub delta: Option<Delta>,
    /// Blocks.
    pub layers: usize,
    /// Blocks behind them in the file that predict further tokens; they are not run.
    pub predicting: usize,
    /// Query heads.
    pub heads: usize,
    /// Key/value heads; divides `heads`.
    pub kv_heads: usize,
    /// Width of a head.
    pub head_dim: usize,
    /// Rows of the embedding table.
    pub vocab_size: usize,
    /// Trained context.
    pub context_length: usize,
    /// ε of RMSNorm.
    pub norm_eps: f32,
    /// RoPE base.
    pub rope_theta: f32,
    /// Dimensions of a head that are rotated (the first ones).
    pub rope_dims: usize,
    /// Pairs are (2i, 2i+1) instead of (i, i+dims/2): GGUF files of the llama family, and folders with
    /// MLX's `rope_traditional`.
    pub rope_interleaved: bool,
    /// Scaling of frequencies.
    pub rope_scaling: RopeScaling,
    /// Output head shares the embedding table.
    pub tied_embeddings: bool,
    /// q, k and v have biases.
    pub attention_bias: bool,
    /// The attention's output has a bias.
    pub output_bias: bool,
    /// The MLP's products have biases.
    pub mlp_bias: bool,
    /// The output head has a bias.
    pub head_bias: bool,
    /// The form of its blocks.
    pub form: Form,
    /// Keys further back than this are not seen (Mistral v0.1); `None`: all are.
    pub sliding_window: Option<usize>,
    /// Layers that see everything in spite of the window; empty: none.
    pub full_layers: Vec<bool>,
    /// Layers without RoPE; empty: none.
    pub unturned_layers: Vec<bool>,
    /// Tokens that end a generation.
    pub stop_tokens: Vec<u32>,
}

impl Config {
    /// The window of a layer.
    pub fn window(&self, layer: usize) -> Option<usize> {
        let full = self.full_layers.get(layer) == Some(&true);
        self.sliding_window.filter(|_| !full)
    }

    /// The parts of a layer.
    pub fn parts(&self, layer: usize) -> Parts {
        let mlp = match self.experts {
            Some(_) => Feed::Experts,
            None => Feed::Dense(self.intermediate_size),
        };
        let usual = Parts {
            attention: true,
            recurrent: false,
            mlp,
        };
        self.parts.get(layer).copied().unwrap_or(usual)
    }

    /// Gives the layers that `is_expert` does not name an MLP for all tokens.
    pub(super) fn set_experts(&mut self, is_expert: impl Fn(usize) -> bool) {
        let parts = (0..self.layers).map(|layer| Parts {
            mlp: match is_expert(layer) {
                true => Feed::Experts,
                false => Feed::Dense(self.intermediate_size),
            },
            ..self.parts(layer)
        });
        self.parts = parts.collect();
    }

    /// Gives the layers that `is_recurrent` names a recurrent part in place of attention.
    pub(super) fn set_recurrent(&mut self, is_recurrent: impl Fn(usize) -> bool) {
        let parts = (0..self.layers).map(|layer| Parts {
            attention: !is_recurrent(layer),
            recurrent: is_recurrent(layer),
            ..self.parts(layer)
        });
        self.parts = parts.collect();
    }

    /// Latent attention in place of the usual.
    pub(super) fn set_latent(&mut self, latent: Latent) {
        (self.kv_heads, self.head_dim) = (1, latent.rank + latent.turned);
        self.rope_dims = latent.turned;
        self.form.score_scale = Some(1.0 / ((latent.still + latent.turned) as f32).sqrt());
        self.latent = Some(latent);
    }

    /// DeepSeek's scale of scores where frequencies are scaled: `(1 + weight·ln(factor)/10)²` times the usual.
    pub(super) fn scale_scores(&mut self, weight: f64, factor: f64) {
        if factor > 1.0 {
            let scale = (0.1 * weight * factor.ln() + 1.0).powi(2) as f32;
            self.form.score_scale = self.form.score_scale.map(|usual| usual * scale);
        }
    }

    /// Layers behind the last one that predict further tokens, by `num_nextn_predict_layers`.
    pub(super) fn set_predicting(&mut self, fields: &Fields) -> Result<()> {
        let predicting = fields.integer("num_nextn_predict_layers", 0..=1024)?;
        self.predicting = predicting.unwrap_or(0);
        Ok(())
    }

    /// The same of a GGUF file, whose layers are counted with them.
    pub(super) fn set_predicting_gguf(&mut self, fields: &GgufFields) -> Result<()> {
        let predicting = fields.integer("nextn_predict_layers", 0..=1024)?;
        self.predicting = predicting.unwrap_or(0);
        if self.predicting >= self.layers {
            let what = format!("{} of {} blocks", self.predicting, self.layers);
            return Err(fields.bad("nextn_predict_layers", what));
        }
        self.layers -= self.predicting;
        Ok(())
    }

    /// Gives the layers that `is_windowed` names a window.
    pub(super) fn set_windows(
        &mut self,
        window: Option<usize>,
        is_windowed: impl Fn(usize) -> bool,
    ) {
        let full: Vec<bool> = (0..self.layers).map(|layer| !is_windowed(layer)).collect();
        self.sliding_window = window.filter(|_| full.contains(&false));
        self.full_layers = match self.sliding_window {
            Some(_) if full.contains(&true) => full,
            _ => Vec::new(),
        };
    }

    /// Checks what no single field shows: heads that divide, products that fit.
    fn check(self, file: &Path) -> Result<Config> {
        let bad = |what: String| Err(Error::InvalidFile(format!("{}: {what}", file.display())));
        if self.kv_heads > self.heads || !self.heads.is_multiple_of(self.kv_heads) {
            return bad(format!(
                "{} attention heads are not a multiple of {} key/value heads",
                self.heads, self.kv_heads
            ));
        }
        if self.rope_dims > self.head_dim || !self.rope_dims.is_multiple_of(2) {
            return bad(format!(
                "RoPE over {} dimensions of heads {} wide: it must be even and at most the width",
                self.rope_dims, self.head_dim
            ));
        }
        if let RopeScaling::Factors(factors) | RopeScaling::Long { factors, .. } =
            &self.rope_scaling
            && factors.len() != self.rope_dims / 2
        {
            return bad(format!(
                "{} RoPE frequency factors for {} rotated dimensions; half as many are needed",
                factors.len(),
                self.rope_dims
            ));
        }
        let latent = self.latent.and_then(|latent| latent.wrong(self.heads));
        let recurrent = self.recurrent.and_then(|recurrent| recurrent.wrong());
        if let Some(what) = latent.or(recurrent) {
            return bad(what);
        }
        // Each factor is limited on its own, so that products of two of them fit; the width of all
        // heads together is limited here.
        if self.heads * self.head_dim > limits::WIDTH {
            return bad(format!(
                "{} heads of width {} are wider than {} together",
                self.heads,
                self.head_dim,
                limits::WIDTH
            ));
        }
        Ok(self)
    }
}

/// The error for a model of a family this library has no forward pass for.
fn unknown_family(file: &Path, family: &str) -> Error {
    Error::Unsupported(format!(
        "{}: the model family {:?} is not supported; known families are {}",
        file.display(),
        brief(family),
        families::names()
    ))
}

/// The warning about keys that nothing here reads; names a few.
fn ignored(file: &Path, keys: &[String]) -> String {
    const SHOWN: usize = 5;
    let named: Vec<String> = keys.iter().take(SHOWN).map(brief).collect();
    let more = match keys.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "{}: ignored, because nothing is known that they do in such a model: {}{more}",
        file.display(),
        named.join(", ")
    )
}
