//! Steps that the fake model has queued.

use crate::fake::VOCAB;
use mlxrocm::Error;
use mlxrocm::model::{ALL_BANNED, Choice, NO_TOKEN, Slice, Wanted};
use mlxrocm::session::Sampling;
use mlxrocm::session::sampling::{Sampler, Scratch};

/// A copy of a state.
pub enum Copy {
    Keep(u32, u32),
    Restore(u32, u32),
}

/// A queued step, and what is copied after it.
pub struct Queued {
    pub slices: Vec<OwnedSlice>,
    pub choices: Vec<OwnedChoice>,
    pub copies: Vec<Copy>,
}

/// A row's choice: what a sampler needs, but for the row's own token.
pub struct OwnedChoice {
    pub sampling: Sampling,
    pub recent: Vec<u32>,
    pub own: bool,
    pub random: u64,
    pub rated: bool,
}

impl OwnedChoice {
    pub fn new(choice: &Choice) -> Self {
        OwnedChoice {
            sampling: Sampling {
                temperature: choice.temperature,
                top_k: choice.top_k,
                top_p: choice.top_p,
                min_p: choice.min_p,
                repetition_penalty: choice.repetition,
                presence_penalty: choice.presence,
                frequency_penalty: choice.frequency,
                penalty_window: u32::MAX,
                logit_bias: choice.biases.to_vec(),
                seed: 0,
                logprobs: 0,
            },
            recent: choice.recent.concat(),
            own: choice.own_is_recent,
            random: choice.random,
            rated: choice.rated,
        }
    }

    pub fn token(&self, own: u32, row: &[f32]) -> u32 {
        let mut recent = self.recent.clone();
        recent.extend(self.own.then_some(own));
        if recent.contains(&NO_TOKEN) {
            // Of no use to anybody.
            return 0;
        }
        let sampler = Sampler::new(self.sampling.clone(), VOCAB, &recent).unwrap();
        let mut scratch = Scratch::default();
        match sampler.sample_by(&mut row.to_vec(), self.random, None, &mut scratch) {
            Ok(sampled) => sampled.token,
            Err(Error::InvalidFile(_)) => NO_TOKEN,
            Err(_) => ALL_BANNED,
        }
    }
}

/// A slice of a queued step.
pub struct OwnedSlice {
    pub tokens: Vec<u32>,
    pub start: usize,
    pub pages: Vec<u32>,
    /// Positions.
    pub wanted: Vec<u32>,
    pub slot: u32,
}

impl OwnedSlice {
    pub fn slice(&self) -> Slice<'_> {
        Slice {
            tokens: &self.tokens,
            start: self.start,
            pages: &self.pages,
            wanted: Wanted::At(&self.wanted),
            slot: self.slot,
        }
    }
}
