//! The part of a sequence that makes text: sampler, text stream, stop conditions, counts.

use super::channel::Channel;
use super::sampling::{Sampled, Sampler, Scratch};
use super::sequence::{End, Sender};
use super::text::TextStream;
use super::{Event, FinishReason, LogitsProcessor, Usage};
use crate::model::NO_TOKEN;
use crate::text::{Grammar, StopMatcher};
use crate::{Error, Result};
use std::time::Instant;

/// What a run gave for a token.
pub(super) enum Row<'a> {
    Logits(&'a mut [f32]),
    /// The token, as the device chose it.
    Token(u32),
    /// The same with the logits that it was chosen by.
    Rated(u32, &'a mut [f32]),
}

/// What a run gave for several tokens, one after the other.
pub(super) struct Rows<'a> {
    /// One each, if the device chose.
    pub tokens: Option<&'a [u32]>,
    /// One row each; empty where tokens are all that came here.
    pub logits: &'a mut [f32],
    pub columns: usize,
}

impl Rows<'_> {
    /// The next one's. There is one.
    pub fn next(&mut self) -> Row<'_> {
        let row = match self.logits.len() {
            0 => None,
            length => {
                let (row, rest) =
                    std::mem::take(&mut self.logits).split_at_mut(self.columns.min(length));
                self.logits = rest;
                Some(row)
            }
        };
        let token = self.tokens.as_mut().map(|tokens| {
            let token = tokens.split_off_first();
            token.copied().unwrap_or(NO_TOKEN)
        });
        match (token, row) {
            (Some(token), Some(row)) => Row::Rated(token, row),
            (Some(token), None) => Row::Token(token),
            (None, row) => Row::Logits(row.unwrap_or_default()),
        }
    }
}

/// How a generation goes on and when it ends. One thread at a time.
pub(super) struct Generating {
    pub sampler: Sampler,
    /// Devices do not choose where there is one.
    processor: Option<LogitsProcessor>,
    grammar: Option<Grammar>,
    pub text: Box<dyn TextStream>,
    pub stops: StopMatcher,
    /// Tokens that end it.
    pub stop_tokens: Vec<u32>,
    pub prompt_tokens: usize,
    /// `max_tokens` ends it when the sequence has this many tokens…
    pub length_end: usize,
    /// …and the context at this many.
    pub context_end: usize,
    sender: Sender,
    cached_tokens: usize,
    /// Tokens that were guessed, and those of them that were right.
    guesses: (usize, usize),
    /// Prompt tokens reported so far.
    reported: usize,
    restarted: bool,
    started: Option<Instant>,
    first: Option<Instant>,
    last: Option<Instant>,
}

/// What a request asked for, ready to run.
pub(super) struct Plan {
    pub sampler: Sampler,
    pub processor: Option<LogitsProcessor>,
    pub grammar: Option<Grammar>,
    pub text: Box<dyn TextStream>,
    pub stops: StopMatcher,
    pub stop_tokens: Vec<u32>,
    pub prompt_tokens: usize,
    pub max_tokens: usize,
    pub context: usize,
}

impl Generating {
    pub fn new(plan: Plan, sender: Sender) -> Generating {
        Generating {
            sampler: plan.sampler,
            processor: plan.processor,
            grammar: plan.grammar,
            text: plan.text,
            stops: plan.stops,
            stop_tokens: plan.stop_tokens,
            prompt_tokens: plan.prompt_tokens,
            length_end: match plan.max_tokens {
                0 => usize::MAX,
                n => plan.prompt_tokens.saturating_add(n),
            },
            context_end: plan.context,
            sender,
            cached_tokens: 0,
            guesses: (0, 0),
            reported: 0,
            restarted: false,
            started: None,
            first: None,
            last: None,
        }
    }

    pub fn channel(&self) -> &Channel {
        &self.sender.0
    }

    /// Whether devices must not choose its tokens.
    pub fn chooses_itself(&self) -> bool {
        self.processor.is_some() || self.grammar.is_some()
    }

    /// So many tokens were found in the cache.
    pub fn reused(&mut self, tokens: usize) {
        // After a restart they are its own.
        if !self.restarted {
            self.cached_tokens += tokens;
        }
    }

    /// So many tokens were guessed, and so many of them were right.
    pub fn guessed(&mut self, guessed: usize, right: usize) {
        self.guesses.0 += guessed;
        self.guesses.1 += right;
    }

    /// Its pages were taken away.
    pub fn restarted(&mut self) {
        self.restarted = true;
    }

    /// A run of some of its tokens begins.
    pub fn begin(&mut self, now: Instant) {
        self.started.get_or_insert(now);
    }

    /// Tokens that it has at most, its prompt included.
    pub fn most_tokens(&self) -> usize {
        self.length_end.min(self.context_end)
    }

    /// Whether so many tokens are the end.
    pub fn ends_at(&self, tokens: usize) -> bool {
        tokens >= self.most_tokens()
    }

    /// `computed` tokens are in the cache now; `row` is that of the last one, if those are all.
    /// Returns why it is over, if it is.
    pub fn advance(
        &mut self,
        tokens: &mut Vec<u32>,
        computed: usize,
        row: Row<'_>,
        scratch: &mut Scratch,
        now: Instant,
    ) -> Option<End> {
        let done = computed.min(self.prompt_tokens);
        if done > self.reported {
            self.reported = done;
            self.sender.0.push(Event::Prompt {
                done,
                total: self.prompt_tokens,
            });
        }
        if computed < tokens.len() {
            return None;
        }
        let position = (tokens.len() - self.prompt_tokens) as u64;
        let sampled = match row {
            Row::Logits(logits) => self.sample(tokens, logits, position, scratch),
            Row::Token(token) => self.sampler.chosen(token),
            Row::Rated(token, logits) => {
                let chosen = self.sampler.chosen(token);
                chosen.and_then(|chosen| self.sampler.rated(chosen.token, logits, scratch))
            }
        };
        let sampled = match sampled {
            Ok(sampled) => sampled,
            Err(error) => return Some((FinishReason::Error, Some(error))),
        };
        let token = sampled.token;
        self.sampler.accept(token);
        tokens.push(token);
        self.first.get_or_insert(now);
        self.last = Some(now);

        let mut end = None;
        let mut text = String::new();
        if self.stop_tokens.contains(&token) {
            end = Some((FinishReason::StopToken, None));
        } else {
            match self.text.push(token) {
                Ok(new) => {
                    let (safe, found) = self.stops.push(&new);
                    text = safe;
                    if found {
                        end = Some((FinishReason::StopString, None));
                    }
                }
                Err(error) => end = Some((FinishReason::Error, Some(error))),
            }
            if end.is_none()
                && let Some(grammar) = &mut self.grammar
            {
                match grammar.accept(token) {
                    Ok(()) if grammar.is_complete() => end = Some((FinishReason::Grammar, None)),
                    Ok(()) => {}
                    Err(error) => end = Some((FinishReason::Error, Some(error))),
                }
            }
        }
        self.sender.0.push(Event::Token {
            token,
            text,
            logprob: sampled.logprob,
            top: sampled.top,
        });
        if end.is_none() {
            if tokens.len() >= self.length_end {
                end = Some((FinishReason::Length, None));
            } else if tokens.len() >= self.context_end {
                end = Some((FinishReason::Context, None));
            }
        }
        end
    }

    /// Chooses a token of a row, which the request's processor edits before, among those that its grammar allows.
    fn sample(
        &mut self,
        tokens: &[u32],
        logits: &mut [f32],
        position: u64,
        scratch: &mut Scratch,
    ) -> Result<Sampled> {
        if !self.chooses_itself() {
            return self.sampler.sample(logits, position, None, scratch);
        }
        self.sampler.check_finite(logits, scratch)?;
        // Log-probabilities are the model's.
        let plain = self.sampler.rates().then(|| logits.to_vec());
        if let Some(processor) = &self.processor {
            processor.edit(tokens, logits)?;
        }
        let allowed = self.grammar.as_mut();
        let allowed = allowed.map(|grammar| grammar.allowed(&self.stop_tokens));
        let allowed = allowed.transpose()?;
        let sampled = self
            .sampler
            .sample(logits, position, allowed.as_ref(), scratch)?;
        match plain {
            Some(mut plain) => self.sampler.rated(sampled.token, &mut plain, scratch),
            None => Ok(sampled),
        }
    }

    /// Gives out what was held back and the end. `tokens`: how many the sequence has.
    pub fn finish(mut self, tokens: usize, mut reason: FinishReason, error: Option<Error>) {
        // What belongs to the request is the caller's again when the end can be read.
        self.processor = None;
        let mut text = String::new();
        if reason != FinishReason::StopString {
            let rest = self.text.finish();
            let (safe, found) = self.stops.push(&rest);
            text = safe;
            if !found {
                text.push_str(&self.stops.finish());
            } else if error.is_none() && reason != FinishReason::Cancelled {
                reason = FinishReason::StopString;
            }
        }
        let seconds = |from: Option<Instant>, to: Option<Instant>| match (from, to) {
            (Some(from), Some(to)) => to.saturating_duration_since(from).as_secs_f64(),
            _ => 0.0,
        };
        self.sender.0.push(Event::Finished {
            reason,
            text,
            usage: Usage {
                prompt_tokens: self.prompt_tokens,
                cached_tokens: self.cached_tokens,
                generated_tokens: tokens - self.prompt_tokens,
                guessed_tokens: self.guesses.0,
                accepted_tokens: self.guesses.1,
                prompt_seconds: seconds(self.started, self.first),
                decode_seconds: seconds(self.first, self.last),
            },
            error,
        });
    }
}
