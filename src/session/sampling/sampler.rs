//! A request's sampler: parameters, the tokens that penalties look at, and the steps of the chain.

use super::philox::random_bits;
use super::select::{Candidate, block_maxima, first_of};
use crate::model::{ALL_BANNED, Choice, NO_TOKEN, TokenSet};
use crate::session::{Sampling, TokenLogprob};
use crate::text::Allowed;
use crate::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Tokens that penalties look at when the request does not say.
const DEFAULT_WINDOW: usize = 64;
/// Stands for −∞: what a banned token's logit becomes, so that all logits stay finite.
const BANNED: f32 = f32::MIN;

/// A chosen token.
#[derive(Debug, Clone, PartialEq)]
pub struct Sampled {
    /// The token.
    pub token: u32,
    /// `ln softmax` of the model's logits (those of tokens) at the token, where log-probabilities were
    /// asked for.
    pub logprob: Option<f32>,
    /// The most probable tokens by the model's logits, best first.
    pub top: Vec<TokenLogprob>,
}

/// Buffers that samplers share, so that a step allocates nothing. One thread at a time.
#[derive(Debug, Default)]
pub struct Scratch {
    pub(super) maxima: Vec<f32>,
    pub(super) floats: Vec<f32>,
    pub(super) candidates: Vec<Candidate>,
    pub(super) undo: Vec<(u32, f32)>,
    pub(super) sums: Vec<u64>,
    pub(super) edge: Vec<Candidate>,
}

/// The sampler of one request. One thread at a time.
#[derive(Debug)]
pub struct Sampler {
    pub(super) params: Sampling,
    vocab: usize,
    pub(super) tokens: Arc<TokenSet>,
    /// What a device adds to logits: the biases of the request, −∞ for columns that are no tokens.
    device_biases: Vec<(u32, f32)>,
    penalties: bool,
    window: usize,
    recent: VecDeque<u32>,
    counts: HashMap<u32, u32>,
}

impl Sampler {
    /// A sampler over `vocab` tokens that continues `prompt` (tokens below `vocab`).
    /// [`Error::InvalidArgument`] names a parameter that is out of range, and its value.
    pub fn new(params: Sampling, vocab: usize, prompt: &[u32]) -> Result<Sampler> {
        params.validate(vocab)?;
        let repetition = params.repetition_penalty;
        let penalties = (repetition != 0.0 && repetition != 1.0)
            || params.presence_penalty != 0.0
            || params.frequency_penalty != 0.0;
        let window = match params.penalty_window {
            0 => DEFAULT_WINDOW,
            n => n as usize,
        };
        let mut sampler = Sampler {
            device_biases: params.logit_bias.clone(),
            params,
            vocab,
            tokens: Arc::new(TokenSet::all(vocab)),
            penalties,
            window,
            recent: VecDeque::new(),
            counts: HashMap::new(),
        };
        if penalties {
            for &token in prompt.iter().skip(prompt.len().saturating_sub(window)) {
                sampler.accept(token);
            }
        }
        Ok(sampler)
    }

    /// Never chooses another one than these: columns that stand for no token are as if they were not there.
    pub fn among(mut self, tokens: Arc<TokenSet>) -> Sampler {
        let holes = tokens.holes().iter().map(|id| (*id, f32::NEG_INFINITY));
        self.device_biases.extend(holes);
        self.tokens = tokens;
        self
    }

    /// Takes note of a token that was generated.
    pub fn accept(&mut self, token: u32) {
        if !self.penalties {
            return;
        }
        self.recent.push_back(token);
        *self.counts.entry(token).or_insert(0) += 1;
        if self.recent.len() > self.window
            && let Some(old) = self.recent.pop_front()
            && let Some(count) = self.counts.get_mut(&old)
        {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&old);
            }
        }
    }

    /// How a device has to choose token number `position` (from 0) of the generation, if it can. `own`: the
    /// token before is not known here yet.
    pub fn choice(&self, position: u64, own: bool) -> Option<Choice<'_>> {
        let params = &self.params;
        let (mut one, mut two) = self.recent.as_slices();
        if own && self.recent.len() == self.window {
            // That one pushes the oldest out.
            match one.split_first() {
                Some((_, rest)) => one = rest,
                None => two = two.get(1..).unwrap_or_default(),
            }
        }
        let choice = Choice {
            temperature: params.temperature,
            top_k: params.top_k,
            top_p: params.top_p,
            min_p: params.min_p,
            random: random_bits(params.seed, position),
            repetition: self.repetition(),
            presence: params.presence_penalty,
            frequency: params.frequency_penalty,
            recent: [one, two],
            own_is_recent: own && self.penalties,
            biases: &self.device_biases,
            rated: params.logprobs > 0,
        };
        choice.fits().then_some(choice)
    }

    /// Whether what it chooses depends on the tokens before.
    pub fn has_penalties(&self) -> bool {
        self.penalties
    }

    fn repetition(&self) -> f32 {
        match self.params.repetition_penalty {
            0.0 => 1.0,
            r => r,
        }
    }

    /// Takes the token that a device chose, [`NO_TOKEN`] and [`ALL_BANNED`] for none.
    pub fn chosen(&self, token: u32) -> Result<Sampled> {
        match token {
            NO_TOKEN => return Err(not_finite_of("a token is not finite")),
            ALL_BANNED => return Err(all_banned()),
            _ => {}
        }
        if token as usize >= self.tokens.end() {
            return Err(Error::Internal(format!("the device chose token {token}")));
        }
        Ok(Sampled {
            token,
            logprob: None,
            top: Vec::new(),
        })
    }

    /// Chooses token number `position` (from 0) of the generation. `logits` is a row as the model
    /// gave it; it is changed. `allowed`: only these, whatever biases say. [`Error::InvalidFile`] where a logit is not
    /// finite, [`Error::InvalidArgument`] where biases ban every token.
    pub fn sample(
        &self,
        logits: &mut [f32],
        position: u64,
        allowed: Option<&Allowed>,
        scratch: &mut Scratch,
    ) -> Result<Sampled> {
        let random = random_bits(self.params.seed, position);
        self.sample_by(logits, random, allowed, scratch)
    }

    /// What it would choose by another model's row, as far as that is about the same tokens.
    pub fn draft(&self, row: &[f32], position: u64, scratch: &mut Scratch) -> Option<u32> {
        let mut logits = row.to_vec();
        logits.resize(self.vocab, BANNED);
        let sampled = self.sample(&mut logits, position, None, scratch);
        sampled.ok().map(|sampled| sampled.token)
    }

    /// The same with a random number of 2^64.
    #[doc(hidden)] // for tests
    pub fn sample_by(
        &self,
        logits: &mut [f32],
        random: u64,
        allowed: Option<&Allowed>,
        scratch: &mut Scratch,
    ) -> Result<Sampled> {
        if logits.len() != self.vocab {
            return Err(Error::Internal(format!(
                "a row of {} logits for a vocabulary of {}",
                logits.len(),
                self.vocab
            )));
        }
        let columns = self.tokens.end().min(logits.len());
        let logits = &mut logits[..columns];
        self.hide_holes(logits);
        self.edit(logits, scratch)?;
        if let Some(allowed) = allowed {
            allowed.ban_others(logits, BANNED);
        }
        let max = block_maxima(logits, &mut scratch.maxima).map_err(|at| not_finite(logits, at))?;
        if max <= BANNED {
            return Err(all_banned());
        }
        let token = if self.params.temperature == 0.0 || self.params.top_k == 1 {
            first_of(logits, &scratch.maxima, max) as u32
        } else {
            self.draw(logits, max, random, scratch)
        };
        let (logprob, top) = match self.params.logprobs {
            0 => (None, Vec::new()),
            n => self.logprobs(logits, token, n as usize, max, scratch),
        };
        Ok(Sampled {
            token,
            logprob,
            top,
        })
    }

    /// Columns that are no tokens have no chance.
    pub(super) fn hide_holes(&self, logits: &mut [f32]) {
        for id in self.tokens.holes() {
            if let Some(l) = logits.get_mut(*id as usize) {
                *l = BANNED;
            }
        }
    }

    /// Steps 1 and 2: bias and penalties, in place. Old values go to `undo` when log-probabilities
    /// need them again.
    fn edit(&self, logits: &mut [f32], scratch: &mut Scratch) -> Result<()> {
        scratch.undo.clear();
        let keep = self.params.logprobs > 0;
        let mut change = |id: u32, new: &dyn Fn(f32) -> f32| -> Result<()> {
            let Some(l) = logits.get_mut(id as usize) else {
                return Ok(());
            };
            let old = *l;
            if !old.is_finite() {
                return Err(not_finite_at(id as usize, old));
            }
            if keep {
                scratch.undo.push((id, old));
            }
            // Also turns a bias of −∞ into BANNED, and keeps every value finite.
            *l = new(old).clamp(BANNED, f32::MAX);
            Ok(())
        };
        for &(id, bias) in &self.params.logit_bias {
            change(id, &|l| l + bias)?;
        }
        if self.penalties {
            let repetition = self.repetition();
            let (presence, frequency) =
                (self.params.presence_penalty, self.params.frequency_penalty);
            for (&id, &count) in &self.counts {
                change(id, &|l| {
                    let l = if l > 0.0 {
                        l / repetition
                    } else {
                        l * repetition
                    };
                    l - (count as f32 * frequency + presence)
                })?;
            }
        }
        Ok(())
    }
}
pub(super) fn all_banned() -> Error {
    Error::InvalidArgument(
        "every token is banned, by biases, the logits processor or the grammar; leave at least one"
            .into(),
    )
}

pub(super) fn not_finite(logits: &[f32], at: usize) -> Error {
    not_finite_at(at, logits.get(at).copied().unwrap_or(f32::NAN))
}

pub(super) fn not_finite_at(token: usize, value: f32) -> Error {
    not_finite_of(&format!("token {token} is {value}"))
}

pub(super) fn not_finite_of(what: &str) -> Error {
    // A device that fails says so itself; numbers that overflow come from the file.
    Error::InvalidFile(format!(
        "the model's logit of {what}: the weights in the model file are damaged; get the file again (and if \
         that does not help, check the device with its self-test)"
    ))
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
