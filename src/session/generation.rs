//! A running request, seen from the caller's side.

use super::channel::Channel;
use super::shared::{Shared, Worker};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::time::Duration;

/// Why a generation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u32)]
pub enum FinishReason {
    /// A stop token of the model or the request.
    StopToken = 1,
    /// A stop string.
    StopString = 2,
    /// `max_tokens`.
    Length = 3,
    /// The context is full.
    Context = 4,
    /// `cancel` was called.
    Cancelled = 5,
    /// It failed; [`Event::Finished`] carries the error.
    Error = 6,
    /// The request's grammar: the text is complete and nothing may follow.
    Grammar = 7,
}

/// A token and its natural-log probability.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TokenLogprob {
    /// The token.
    pub token: u32,
    /// ln p.
    pub logprob: f32,
}

/// Counts and times of a finished generation.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Usage {
    /// Tokens of the prompt.
    pub prompt_tokens: usize,
    /// Prompt tokens that were already in the KV cache.
    pub cached_tokens: usize,
    /// Tokens generated, the stop token included.
    pub generated_tokens: usize,
    /// Tokens that were guessed by speculation.
    pub guessed_tokens: usize,
    /// Of these, those that the model chose too; each saved a step.
    pub accepted_tokens: usize,
    /// From the first prefill chunk's start to the first token.
    pub prompt_seconds: f64,
    /// From the first token to the last.
    pub decode_seconds: f64,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Prompt tokens done so far; after each chunk.
    Prompt {
        /// Done.
        done: usize,
        /// Of.
        total: usize,
    },
    /// A token. `text` may be empty (unfinished character, text that may begin a stop string, the
    /// stop token itself).
    Token {
        /// The token.
        token: u32,
        /// Text that became complete.
        text: String,
        /// ln p of the token, where log-probabilities were asked for.
        logprob: Option<f32>,
        /// The most probable tokens, best first.
        top: Vec<TokenLogprob>,
    },
    /// The end; `text` is what was held back. Nothing follows.
    Finished {
        /// Why.
        reason: FinishReason,
        /// Text that was held back.
        text: String,
        /// Counts and times.
        usage: Usage,
        /// The error, when `reason` is `Error`.
        error: Option<Error>,
    },
}

/// What [`Generation::next`] found.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// An event.
    Event(Event),
    /// Nothing within the timeout.
    Pending,
    /// `Finished` was given out before.
    End,
}

/// A running request. Internally locked: any thread. Dropping it cancels.
///
/// It outlives its session: it runs on until it ends or is dropped. A generation whose events are
/// not read pauses after some hundreds of them and goes on when they are; others do not wait for it.
pub struct Generation {
    pub(super) prompt: Arc<[u32]>,
    /// Tokens whose events were given out.
    pub(super) given: Mutex<Vec<u32>>,
    pub(super) channel: Arc<Channel>,
    pub(super) shared: Arc<Shared>,
    /// The last handle waits for the scheduler thread's end.
    pub(super) _worker: Arc<Worker>,
}

impl Generation {
    /// The next event; waits at most `timeout` (`None`: as long as it takes). Where several threads
    /// wait, each event goes to one of them. Always `Ok` as of now.
    pub fn next(&self, timeout: Option<Duration>) -> Result<Next> {
        let (next, room) = self.channel.next(timeout);
        if room {
            self.shared.poke();
        }
        if let Next::Event(Event::Token { token, .. }) = &next {
            self.given.lock().push(*token);
        }
        Ok(next)
    }

    /// The prompt and the tokens whose events were given out: a request with this prompt goes on from here, on pages
    /// that both use.
    pub fn tokens(&self) -> Vec<u32> {
        [&*self.prompt, &*self.given.lock()].concat()
    }

    /// A file descriptor (Linux's eventfd) that poll, epoll and event loops find readable while an event can be
    /// taken. It is this generation's and is closed with it: wait for it, but do not read from it. One, however
    /// often it is asked for.
    pub fn fd(&self) -> Result<RawFd> {
        self.channel.fd()
    }

    /// Ends it soon; the `Finished` event still comes. May be called often, from any thread.
    pub fn cancel(&self) {
        if self.channel.cancel() {
            self.shared.poke();
        }
    }
}

impl Drop for Generation {
    fn drop(&mut self) {
        if self.channel.abandon() {
            self.shared.poke();
        }
    }
}

impl std::fmt::Debug for Generation {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Generation").finish_non_exhaustive()
    }
}
