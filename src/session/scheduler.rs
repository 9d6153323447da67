//! The scheduler thread: who runs when, with which pages.
//!
//! Each step of the loop is one call of the model: one token of every running sequence that is past
//! its prompt, and at most `chunk` tokens of prompts. Prompts take turns, a chunk each; further
//! prompts join in the same step where their whole chunk fits, so that how a prompt is cut depends
//! on itself only.
//!
//! Requests are admitted in the order of their age, when there are pages for all their tokens and
//! some more. When the pages run out, a sequence whose caller does not read, else the youngest, is
//! sent back to wait: its tokens are computed again later, and its caller sees nothing of it.

use super::FinishReason;
use super::generating::Row;
use super::pages::PagePool;
use super::sampling::Scratch;
use super::sequence::{End, Sequence};
use super::shared::{Shared, set};
use crate::log::{self, Level};
use crate::model::{Forward, NO_TOKEN, PAGE_TOKENS, Slice, Wanted};
use crate::{Error, Result};
use std::any::Any;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Instant;

/// A sequence's part of a step.
struct Part {
    /// In `running`.
    index: usize,
    /// Tokens to run.
    tokens: usize,
    wanted: Wanted,
}

/// All requests and the model. One thread at a time.
pub(super) struct Scheduler {
    shared: Arc<Shared>,
    forward: Box<dyn Forward>,
    pool: PagePool,
    max_requests: usize,
    chunk: usize,
    /// Both in order of age.
    waiting: VecDeque<Sequence>,
    running: Vec<Sequence>,
    turn: u64,
    // Buffers that every step uses again.
    arrivals: Vec<Sequence>,
    parts: Vec<Part>,
    prompts: Vec<(u64, usize)>,
    ended: Vec<(usize, End)>,
    logits: Vec<f32>,
    /// Greedy tokens of the last run, if that is what it gave.
    tokens: Option<Vec<u32>>,
    scratch: Scratch,
}

impl Scheduler {
    /// At most `max_requests` sequences run at once, with `chunk` prompt tokens a step;
    /// `chunk + max_requests − 1` is at most what `forward` takes.
    pub fn new(
        shared: Arc<Shared>,
        forward: Box<dyn Forward>,
        max_requests: usize,
        chunk: usize,
    ) -> Scheduler {
        let pool = PagePool::new(forward.page_count());
        Scheduler {
            shared,
            forward,
            pool,
            max_requests,
            chunk,
            waiting: VecDeque::new(),
            running: Vec::new(),
            turn: 0,
            arrivals: Vec::new(),
            parts: Vec::new(),
            prompts: Vec::new(),
            ended: Vec::new(),
            logits: Vec::new(),
            tokens: None,
            scratch: Scratch::default(),
        }
    }

    /// The thread's body.
    pub fn run(mut self) {
        if let Err(panic) = catch_unwind(AssertUnwindSafe(|| self.work())) {
            let message = format!("the scheduler panicked: {}", panic_message(&*panic));
            let late = self.shared.fail(message.clone());
            // The rest of the state may be damaged, but telling everybody needs none of it.
            let _ = catch_unwind(AssertUnwindSafe(|| {
                let all = self.running.drain(..).chain(self.waiting.drain(..));
                for mut sequence in all.chain(self.arrivals.drain(..)).chain(late) {
                    sequence.pages.clear();
                    let error = Error::Internal(message.clone());
                    sequence.finish((FinishReason::Error, Some(error)));
                }
                log::write(Level::Error, || message);
            }));
        }
        // Dropping what is left (sequences tell their callers, the model frees its memory) must not
        // end the process either.
        let _ = catch_unwind(AssertUnwindSafe(|| drop(self)));
    }

    fn work(&mut self) {
        let mut idle = false;
        loop {
            let live = !self.running.is_empty() || !self.waiting.is_empty();
            let (poked, closed) = self.shared.receive(idle, live, &mut self.arrivals);
            // New ones have the largest numbers.
            self.waiting.extend(self.arrivals.drain(..));
            if poked {
                self.drop_cancelled_waiting();
            }
            idle = !self.step();
            self.publish();
            if idle && closed && self.running.is_empty() && self.waiting.is_empty() {
                return;
            }
        }
    }

    fn publish(&self) {
        let counts = &self.shared.counts;
        set(&counts.running, self.running.len());
        set(&counts.waiting, self.waiting.len());
        set(
            &counts.pages_used,
            self.pool.count() - self.pool.available(),
        );
        set(&counts.pages_cached, self.pool.cached());
    }

    /// One call of the model, if there is anything to run.
    fn step(&mut self) -> bool {
        let mut i = 0;
        while let Some(sequence) = self.running.get_mut(i) {
            if sequence.is_cancelled() {
                self.finish(i, (FinishReason::Cancelled, None));
            } else {
                sequence.check_room();
                i += 1;
            }
        }
        self.admit();
        self.grow();
        self.plan();
        if self.parts.is_empty() {
            return false;
        }
        match self.call() {
            Ok(()) => self.absorb(),
            Err(error) => {
                log::write(Level::Error, || {
                    format!("a step of the model failed: {error}")
                });
                for part in &self.parts {
                    let end = (FinishReason::Error, Some(error.clone()));
                    self.ended.push((part.index, end));
                }
            }
        }
        // Last first, so that the indices stay right.
        self.ended.sort_unstable_by_key(|e| std::cmp::Reverse(e.0));
        let mut ended = std::mem::take(&mut self.ended);
        for (index, end) in ended.drain(..) {
            self.finish(index, end);
        }
        self.ended = ended;
        true
    }

    fn drop_cancelled_waiting(&mut self) {
        let mut i = 0;
        while let Some(sequence) = self.waiting.get(i) {
            if sequence.is_cancelled() {
                if let Some(sequence) = self.waiting.remove(i) {
                    sequence.finish((FinishReason::Cancelled, None));
                }
            } else {
                i += 1;
            }
        }
    }

    fn finish(&mut self, index: usize, end: End) {
        let mut sequence = self.running.remove(index);
        if end.0 == FinishReason::Error {
            // What a failing model computed is not for others.
            for &page in &sequence.pages {
                self.pool.forget(page);
            }
        }
        self.pool.release_all(&mut sequence.pages);
        sequence.finish(end);
    }

    /// Starts waiting requests while there is room for them, oldest first. The oldest that can run
    /// is not overtaken.
    fn admit(&mut self) {
        let mut i = 0;
        while let Some(sequence) = self.waiting.get_mut(i) {
            if !sequence.check_room() {
                i += 1;
                continue;
            }
            // So that those that run do not lose their pages again at once.
            let reserve = match self.running.len() {
                0 => 0,
                n => n + 1,
            };
            if self.running.len() < self.max_requests
                && sequence.take_pages(&mut self.pool, reserve)
            {
                if let Some(sequence) = self.waiting.remove(i) {
                    let at = self.running.partition_point(|s| s.id < sequence.id);
                    self.running.insert(at, sequence);
                }
            } else if let Some(stalled) = self.running.iter().rposition(|s| s.stalled) {
                self.preempt(stalled);
                // It waits now, possibly before this one.
                i = 0;
            } else {
                return;
            }
        }
    }

    /// Sends a running sequence back to wait.
    fn preempt(&mut self, index: usize) {
        let mut sequence = self.running.remove(index);
        sequence.drop_pages(&mut self.pool);
        let at = self.waiting.partition_point(|s| s.id < sequence.id);
        self.waiting.insert(at, sequence);
    }

    /// Gives a page to every sequence that needs one for its next token, oldest first.
    fn grow(&mut self) {
        let mut i = 0;
        while let Some(sequence) = self.running.get_mut(i) {
            if sequence.stalled || sequence.computed < sequence.pages.len() * PAGE_TOKENS {
                i += 1;
            } else if let Some(page) = self.pool.take() {
                sequence.pages.push(page);
                i += 1;
            } else if self.running.len() == 1 {
                // All pages are its own: there is no more room for it in this session.
                self.finish(i, (FinishReason::Context, None));
            } else {
                let stalled = self.running.iter().rposition(|s| s.stalled);
                let victim = stalled.unwrap_or(self.running.len() - 1);
                self.preempt(victim);
                if victim < i {
                    i -= 1;
                }
            }
        }
    }

    /// Fills `parts`.
    fn plan(&mut self) {
        self.parts.clear();
        self.prompts.clear();
        for (index, sequence) in self.running.iter().enumerate() {
            if sequence.stalled {
                continue;
            }
            if sequence.pending() == 1 {
                self.parts.push(Part {
                    index,
                    tokens: 1,
                    wanted: sequence.wanted(1),
                });
            } else {
                self.prompts.push((sequence.turn, index));
            }
        }
        self.prompts.sort_unstable();
        let mut room = self.chunk;
        for (place, &(_, index)) in self.prompts.iter().enumerate() {
            let Some(sequence) = self.running.get_mut(index) else {
                continue;
            };
            sequence.reuse(&mut self.pool);
            let tokens = sequence.chunk(self.chunk);
            if place > 0 && tokens > room {
                break;
            }
            room -= tokens;
            self.turn += 1;
            sequence.turn = self.turn;
            self.parts.push(Part {
                index,
                tokens,
                wanted: sequence.wanted(tokens),
            });
        }
    }

    /// Runs `parts`; leaves the rows in `logits`, or their greedy tokens in `tokens`.
    fn call(&mut self) -> Result<()> {
        let now = Instant::now();
        for part in &self.parts {
            self.running[part.index].begin(now);
        }
        let slices: Vec<Slice> = self
            .parts
            .iter()
            .map(|part| {
                let sequence = &self.running[part.index];
                Slice {
                    tokens: &sequence.tokens[sequence.computed..sequence.computed + part.tokens],
                    start: sequence.computed,
                    pages: &sequence.pages,
                    wanted: part.wanted,
                }
            })
            .collect();
        let rows: usize = self.parts.iter().map(Part::rows).sum();
        let mut tokens = self.tokens.take().unwrap_or_default();
        let mut wanting = self.parts.iter().filter(|part| part.rows() > 0);
        if wanting.all(|part| self.running[part.index].is_greedy())
            && self.forward.forward_greedy(&slices, &mut tokens)?
        {
            if tokens.len() != rows {
                return Err(Error::Internal(format!(
                    "the model gave {} tokens instead of {rows}",
                    tokens.len()
                )));
            }
            self.tokens = Some(tokens);
            return Ok(());
        }
        let want = rows * self.forward.vocab_size();
        let usual = self.max_requests * self.forward.vocab_size();
        if want <= usual && self.logits.capacity() > 2 * usual {
            // An evaluation left a large buffer.
            self.logits = Vec::new();
        }
        self.forward.forward(&slices, &mut self.logits)?;
        if self.logits.len() != want {
            return Err(Error::Internal(format!(
                "the model gave {} logits instead of {want}",
                self.logits.len()
            )));
        }
        Ok(())
    }

    /// Hands the rows out; fills `ended`.
    fn absorb(&mut self) {
        let vocab = self.forward.vocab_size();
        let now = Instant::now();
        let mut rest = self.logits.as_mut_slice();
        let mut tokens = self.tokens.iter().flatten();
        for part in &self.parts {
            let rows = match &self.tokens {
                // A part that wants none does not look at it.
                Some(_) => Row::Greedy(match part.rows() {
                    0 => NO_TOKEN,
                    _ => tokens.next().copied().unwrap_or(NO_TOKEN),
                }),
                None => {
                    let (rows, after) = rest.split_at_mut(part.rows() * vocab);
                    rest = after;
                    Row::Logits(rows)
                }
            };
            let sequence = &mut self.running[part.index];
            let end = if sequence.is_cancelled() {
                Some((FinishReason::Cancelled, None))
            } else {
                sequence.advance(part.tokens, rows, &mut self.pool, &mut self.scratch, now)
            };
            if let Some(end) = end {
                self.ended.push((part.index, end));
            }
        }
    }
}

impl Part {
    fn rows(&self) -> usize {
        match self.wanted {
            Wanted::Nothing => 0,
            Wanted::Last => 1,
            Wanted::All => self.tokens,
        }
    }
}

fn panic_message(panic: &(dyn Any + Send)) -> &str {
    panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied())
        .unwrap_or("no message")
}
