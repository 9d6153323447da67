//! A request's sampler: parameters, the tokens that penalties look at, and the steps of the chain.

use super::exp::{exp_nonpositive, sum_exp, units, weights};
use super::philox::random_bits;
use super::select::{Candidate, at_least, best_first, block_maxima, first_of, top_k};
use crate::model::{ALL_BANNED, Choice, NO_TOKEN, TokenSet};
use crate::session::{Sampling, TokenLogprob};
use crate::step::top_p_bits;
use crate::{Error, Result};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// Tokens that penalties look at when the request does not say.
const DEFAULT_WINDOW: usize = 64;
/// Most nuclei (top-p) of a language model hold no more tokens than this; sorting them is cheapest.
const SMALL_NUCLEUS: usize = 64;
/// Larger ones are found by a histogram of the distance from the best logit: buckets of one
/// logit / `STEPS`, the last for all the rest.
const STEPS: f32 = 64.0;
const BUCKETS: usize = 2048;
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
    maxima: Vec<f32>,
    floats: Vec<f32>,
    candidates: Vec<Candidate>,
    undo: Vec<(u32, f32)>,
    sums: Vec<u64>,
    edge: Vec<Candidate>,
}

/// The sampler of one request. One thread at a time.
#[derive(Debug)]
pub struct Sampler {
    params: Sampling,
    vocab: usize,
    tokens: Arc<TokenSet>,
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
    /// gave it; it is changed. [`Error::InvalidFile`] where a logit is not finite,
    /// [`Error::InvalidArgument`] where biases ban every token.
    pub fn sample(
        &self,
        logits: &mut [f32],
        position: u64,
        scratch: &mut Scratch,
    ) -> Result<Sampled> {
        self.sample_by(logits, random_bits(self.params.seed, position), scratch)
    }

    /// The same with a random number of 2^64.
    #[doc(hidden)] // for tests
    pub fn sample_by(
        &self,
        logits: &mut [f32],
        random: u64,
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

    /// Whether log-probabilities are asked for.
    pub fn rates(&self) -> bool {
        self.params.logprobs > 0
    }

    /// [`Error::InvalidFile`] where a logit of the model is not finite.
    pub fn check_finite(&self, logits: &[f32], scratch: &mut Scratch) -> Result<()> {
        let found = block_maxima(logits, &mut scratch.maxima);
        found.map(drop).map_err(|at| not_finite(logits, at))
    }

    /// A token that was chosen by other logits than the model's `logits`, which are changed: with the
    /// log-probabilities that these give.
    pub fn rated(&self, token: u32, logits: &mut [f32], scratch: &mut Scratch) -> Result<Sampled> {
        let columns = self.tokens.end().min(logits.len());
        let logits = &mut logits[..columns];
        self.hide_holes(logits);
        scratch.undo.clear();
        let max = block_maxima(logits, &mut scratch.maxima).map_err(|at| not_finite(logits, at))?;
        let n = self.params.logprobs as usize;
        let (logprob, top) = self.logprobs(logits, token, n, max, scratch);
        Ok(Sampled {
            token,
            logprob,
            top,
        })
    }

    /// Columns that are no tokens have no chance.
    fn hide_holes(&self, logits: &mut [f32]) {
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

    /// Steps 4 to 8. Top-k, top-p and min-p each keep the best of what was there before, so they
    /// only shorten one list. The draw goes through it in the order of the vocabulary, as devices do.
    fn draw(&self, logits: &[f32], max: f32, random: u64, scratch: &mut Scratch) -> u32 {
        let Sampling {
            temperature, min_p, ..
        } = self.params;
        let k = self.params.top_k as usize;
        // The share of a mass that the nucleus has.
        let top_p = top_p_bits(self.params.top_p);
        let goal = |top_p: u32, total: u64| {
            (((u128::from(total) * u128::from(top_p)) >> 32) as u64).max(1)
        };
        let Scratch {
            maxima,
            floats,
            candidates,
            sums,
            edge,
            ..
        } = scratch;
        if k > 0 && k < logits.len() {
            top_k(logits, maxima, k, candidates, floats);
            if let Some(top_p) = top_p {
                let total = candidates.iter().map(|c| mass(c, max)).sum();
                if let Some(n) = reach(candidates, max, goal(top_p, total)) {
                    candidates.truncate(n);
                }
            }
        } else if let Some(top_p) = top_p {
            weights(logits, max, 1.0, floats);
            let goal = goal(top_p, floats.iter().map(|&w| units(w)).sum());
            top_k(logits, maxima, SMALL_NUCLEUS, candidates, floats);
            match reach(candidates, max, goal) {
                Some(n) => candidates.truncate(n),
                None => large_nucleus(logits, max, goal, candidates, floats, sums, edge),
            }
        } else if min_p > 0.0 {
            at_least(logits, maxima, max + min_p.ln(), candidates);
        } else {
            weights(logits, max, temperature, floats);
            return pick(floats, random, sums) as u32;
        }
        if min_p > 0.0 {
            let threshold = max + min_p.ln();
            candidates.retain(|c| c.0 >= threshold);
        }
        candidates.sort_unstable_by_key(|c| c.1);
        floats.clear();
        floats.extend(
            candidates
                .iter()
                .map(|c| exp_nonpositive((c.0 - max) / temperature)),
        );
        // Rounding may leave nothing of a min-p of almost 1: then the best.
        let chosen = candidates.get(pick(floats, random, sums)).map(|c| c.1);
        chosen.unwrap_or_else(|| first_of(logits, maxima, max) as u32)
    }

    fn logprobs(
        &self,
        logits: &mut [f32],
        token: u32,
        n: usize,
        edited_max: f32,
        scratch: &mut Scratch,
    ) -> (Option<f32>, Vec<TokenLogprob>) {
        let mut max = edited_max;
        if !scratch.undo.is_empty() {
            for (id, old) in scratch.undo.drain(..).rev() {
                if let Some(l) = logits.get_mut(id as usize) {
                    *l = old;
                }
            }
            // The old values were finite, so there is a maximum.
            max = block_maxima(logits, &mut scratch.maxima).unwrap_or(edited_max);
        }
        let log_sum = f64::from(max) + sum_exp(logits, max, 1.0).ln();
        let logprob = |l: f32| (f64::from(l) - log_sum) as f32;
        top_k(
            logits,
            &scratch.maxima,
            n,
            &mut scratch.candidates,
            &mut scratch.floats,
        );
        let is_token = |(_, id): &&Candidate| self.tokens.holes().binary_search(id).is_err();
        let top = scratch
            .candidates
            .iter()
            .filter(is_token)
            .map(|&(l, token)| TokenLogprob {
                token,
                logprob: logprob(l),
            })
            .collect();
        (logits.get(token as usize).map(|&l| logprob(l)), top)
    }
}

fn mass(candidate: &Candidate, max: f32) -> u64 {
    units(exp_nonpositive(candidate.0 - max))
}

/// How many candidates from the front have the mass `goal` together.
fn reach(candidates: &[Candidate], max: f32, goal: u64) -> Option<usize> {
    let mut sum = 0;
    for (i, candidate) in candidates.iter().enumerate() {
        sum += mass(candidate, max);
        if sum >= goal {
            return Some(i + 1);
        }
    }
    None
}

/// The fewest largest logits that have the mass `goal` together, in order of id, when they are many.
///
/// The masses of the buckets tell in which bucket the edge lies: all before it are in, and only the
/// edge itself is sorted.
fn large_nucleus(
    logits: &[f32],
    max: f32,
    goal: u64,
    out: &mut Vec<Candidate>,
    floats: &mut Vec<f32>,
    masses: &mut Vec<u64>,
    edge: &mut Vec<Candidate>,
) {
    // A cast of a float to an integer saturates.
    let bucket = |l: f32| (((max - l) * STEPS) as usize).min(BUCKETS - 1);
    masses.clear();
    masses.resize(BUCKETS, 0);
    weights(logits, max, 1.0, floats);
    for (&l, &mass) in logits.iter().zip(floats.iter()) {
        if let Some(sum) = masses.get_mut(bucket(l)) {
            *sum += units(mass);
        }
    }
    let mut before = 0;
    let mut last = BUCKETS - 1;
    for (i, &m) in masses.iter().enumerate() {
        if before + m >= goal {
            last = i;
            break;
        }
        before += m;
    }
    let all = || (0..).zip(logits).map(|(id, &l)| (l, id));
    edge.clear();
    edge.extend(all().filter(|c| bucket(c.0) == last));
    edge.sort_unstable_by(best_first);
    let n = reach(edge, max, goal - before).unwrap_or(edge.len());
    let worst = edge.get(n.saturating_sub(1)).copied();
    let is_in = |c: &Candidate| match bucket(c.0) {
        at if at == last => worst.is_some_and(|worst| best_first(c, &worst).is_le()),
        at => at < last,
    };
    out.clear();
    out.extend(all().filter(is_in));
}

/// The index that `random`, of 2^64, falls on when every index is as wide as its weight. `sums` is used.
fn pick(weights: &[f32], random: u64, sums: &mut Vec<u64>) -> usize {
    const BLOCK: usize = 256;
    let sum = |block: &[f32]| block.iter().map(|&w| units(w)).sum::<u64>();
    sums.clear();
    sums.extend(weights.chunks(BLOCK).map(sum));
    let total: u64 = sums.iter().sum();
    let mut left = ((u128::from(random) * u128::from(total)) >> 64) as u64;
    for ((index, block), width) in weights.chunks(BLOCK).enumerate().zip(sums) {
        if left >= *width {
            left -= *width;
            continue;
        }
        for (i, &w) in block.iter().enumerate() {
            let width = units(w);
            if left < width {
                return index * BLOCK + i;
            }
            left -= width;
        }
    }
    // Nothing has a weight.
    0
}

fn all_banned() -> Error {
    Error::InvalidArgument(
        "every token is banned, by logit_bias or the logits processor; leave at least one".into(),
    )
}

fn not_finite(logits: &[f32], at: usize) -> Error {
    not_finite_at(at, logits.get(at).copied().unwrap_or(f32::NAN))
}

fn not_finite_at(token: usize, value: f32) -> Error {
    not_finite_of(&format!("token {token} is {value}"))
}

fn not_finite_of(what: &str) -> Error {
    // A device that fails says so itself; numbers that overflow come from the file.
    Error::InvalidFile(format!(
        "the model's logit of {what}: the weights in the model file are damaged; get the file again (and if \
         that does not help, check the device with its self-test)"
    ))
}

#[cfg(test)]
#[path = "sampler_tests.rs"]
mod tests;
