//! What a caller asks for, and whether it can be done.

use super::LogitsProcessor;
use crate::text::Grammar;
use crate::{Error, Result};

/// The most alternatives that log-probabilities are given for.
const MAX_LOGPROBS: u32 = 20;

/// How the next token is chosen. `Default` is greedy.
///
/// In this order: the request's processor; biases; repetition, then presence and frequency penalties; the request's
/// grammar; top-k; top-p and min-p, both at a
/// temperature of 1; temperature; the draw.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampling {
    /// 0: greedy.
    pub temperature: f32,
    /// 0: off.
    pub top_k: u32,
    /// 1 (or 0): off.
    pub top_p: f32,
    /// 0: off.
    pub min_p: f32,
    /// 1 (or 0): off. Divides positive and multiplies negative logits of recent tokens.
    pub repetition_penalty: f32,
    /// Subtracted once from the logit of every recent token.
    pub presence_penalty: f32,
    /// Subtracted from the logit of a token as often as it occurred recently.
    pub frequency_penalty: f32,
    /// Tokens that count as recent, prompt included; 0: 64.
    pub penalty_window: u32,
    /// Added to logits; −∞ bans a token. Biases of the same token add up.
    pub logit_bias: Vec<(u32, f32)>,
    /// Same seed, same tokens.
    pub seed: u64,
    /// 0: none; n: the log-probability of the token and the n most probable ones, at most 20, by the model's
    /// logits before all of the above.
    pub logprobs: u32,
}

impl Default for Sampling {
    fn default() -> Self {
        Sampling {
            temperature: 0.0,
            top_k: 0,
            top_p: 1.0,
            min_p: 0.0,
            repetition_penalty: 1.0,
            presence_penalty: 0.0,
            frequency_penalty: 0.0,
            penalty_window: 0,
            logit_bias: Vec::new(),
            seed: 0,
            logprobs: 0,
        }
    }
}

/// One prompt and how to continue it.
#[derive(Debug, Clone, Default)]
pub struct Request {
    /// The prompt; at least one token.
    pub prompt: Vec<u32>,
    /// How tokens are chosen.
    pub sampling: Sampling,
    /// 0: until the context is full.
    pub max_tokens: usize,
    /// Strings that end the generation; not part of the text.
    pub stop: Vec<String>,
    /// Tokens that end the generation besides the model's own.
    pub stop_tokens: Vec<u32>,
    /// Go on past the model's own stop tokens.
    pub ignore_eos: bool,
    /// Edits logits before all that `sampling` does.
    pub logits_processor: Option<LogitsProcessor>,
    /// What the generated text must be, from its beginning. Tokens that do not fit are never chosen, whatever else the
    /// request asks for; tokens that end the generation are chosen only where the text is complete.
    pub grammar: Option<Grammar>,
}

impl Sampling {
    /// Checks every field for a vocabulary of `vocab` tokens; [`Error::InvalidArgument`] names the
    /// field and its value.
    pub fn validate(&self, vocab: usize) -> Result<()> {
        let at_least_0 = |name: &str, value: f32| {
            if value.is_finite() && value >= 0.0 {
                Ok(())
            } else {
                Err(Error::InvalidArgument(format!(
                    "{name} is {value}; it must be a finite number of at least 0"
                )))
            }
        };
        let share = |name: &str, value: f32| {
            if (0.0..=1.0).contains(&value) {
                Ok(())
            } else {
                Err(Error::InvalidArgument(format!(
                    "{name} is {value}; it must be between 0 and 1"
                )))
            }
        };
        let finite = |name: &str, value: f32| {
            if value.is_finite() {
                Ok(())
            } else {
                Err(Error::InvalidArgument(format!(
                    "{name} is {value}; it must be a finite number"
                )))
            }
        };
        at_least_0("temperature", self.temperature)?;
        share("top_p", self.top_p)?;
        share("min_p", self.min_p)?;
        at_least_0("repetition_penalty", self.repetition_penalty)?;
        finite("presence_penalty", self.presence_penalty)?;
        finite("frequency_penalty", self.frequency_penalty)?;
        if self.logprobs > MAX_LOGPROBS {
            return Err(Error::InvalidArgument(format!(
                "logprobs is {}; it must be at most {MAX_LOGPROBS}",
                self.logprobs
            )));
        }
        for (i, &(token, bias)) in self.logit_bias.iter().enumerate() {
            check_token("bias_tokens", i, token, vocab)?;
            if bias.is_nan() || bias == f32::INFINITY {
                return Err(Error::InvalidArgument(format!(
                    "bias_values[{i}] of token {token} is {bias}; it must be a number below infinity"
                )));
            }
        }
        Ok(())
    }
}

impl Request {
    /// Checks every field for a vocabulary of `vocab` tokens and a context of `context` tokens.
    pub fn validate(&self, vocab: usize, context: usize) -> Result<()> {
        if self.prompt.is_empty() {
            return Err(Error::InvalidArgument(
                "prompt has no tokens; it needs at least one".into(),
            ));
        }
        for (i, &token) in self.prompt.iter().enumerate() {
            check_token("prompt", i, token, vocab)?;
        }
        for (i, &token) in self.stop_tokens.iter().enumerate() {
            check_token("stop_tokens", i, token, vocab)?;
        }
        self.sampling.validate(vocab)?;
        if self.prompt.len() >= context {
            return Err(Error::ContextFull(format!(
                "the prompt has {} tokens and the context holds {context}: there is no room for a \
                 new token; shorten the prompt or give the session a larger context",
                self.prompt.len()
            )));
        }
        Ok(())
    }
}

/// [`Error::InvalidArgument`] unless `token`, at index `i` of the list `field`, is in the vocabulary.
pub(super) fn check_token(field: &str, i: usize, token: u32, vocab: usize) -> Result<()> {
    if (token as usize) < vocab {
        return Ok(());
    }
    Err(Error::InvalidArgument(format!(
        "{field}[{i}] is token {token}; the model's tokens are 0 to {}",
        vocab.saturating_sub(1)
    )))
}
