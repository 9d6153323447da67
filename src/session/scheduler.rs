//! The scheduler thread: who runs when, with which pages.
//!
//! Each step of the loop is one call of the model: one token of every running sequence that is past
//! its prompt, and at most `chunk` tokens of prompts. Prompts take turns, a chunk each; further
//! prompts join in the same step where their whole chunk fits, so that how a prompt is cut depends
//! on itself only. A step gives logits or hidden states; where both are asked for, they take turns.
//!
//! Requests are admitted in the order of their age, when there are pages for all their tokens and
//! some more. When the pages run out, a sequence whose caller does not read, else the youngest, is
//! sent back to wait: its tokens are computed again later, and its caller sees nothing of it.
//!
//! In a model with recurrent layers the state of a sequence is kept for others where [`Sequence::keeps`] says so; it is
//! copied as soon as a step has come there. A prompt is cut for it where a second one was seen to part from the first.

mod follow;
mod guess;
mod pace;
mod part;
mod steps;

use super::FinishReason;
use super::evaluation::Output;
use super::pages::PagePool;
use super::sampling::Scratch;
use super::sequence::{End, Sequence};
use super::shared::{Counts, Shared};
use super::snapshots::Snapshots;
use super::speculation::{Guessers, Worth};
use crate::log::{self, Level};
use crate::model::{Forward, PAGE_TOKENS};
use crate::{Error, panics};
use pace::Pace;
use part::Part;
use std::collections::VecDeque;
use std::sync::Arc;
use steps::place;

/// All requests and the model. One thread at a time.
pub(super) struct Scheduler {
    shared: Arc<Shared>,
    forward: Box<dyn Forward>,
    pool: PagePool,
    /// Slots for recurrent state that no running sequence has; `None`: the model keeps no such state.
    slots: Option<Vec<u32>>,
    max_requests: usize,
    chunk: usize,
    /// A step is a piece of one prompt, or tokens of at most so many sequences.
    invariant: Option<usize>,
    /// Who guesses next tokens, and what that was worth.
    guessers: Guessers,
    worth: Worth,
    /// Both in order of age.
    waiting: VecDeque<Sequence>,
    running: Vec<Sequence>,
    turn: u64,
    /// There may be more to plan than one more token of each.
    replan: bool,
    // Buffers that every step uses again.
    arrivals: Vec<Sequence>,
    /// The step that runs, and what its rows are.
    parts: Vec<Part>,
    output: Output,
    /// The step that is queued after it, if any, and its tokens.
    ahead: Vec<Part>,
    next_tokens: Vec<u32>,
    pace: Pace,
    prompts: Vec<(u64, usize)>,
    ended: Vec<(u64, End)>,
    logits: Vec<f32>,
    tokens: Vec<u32>,
    scratch: Scratch,
}

impl Scheduler {
    /// At most `max_requests` sequences run at once, with `chunk` prompt tokens a step;
    /// `chunk + max_requests − 1` is at most what `forward` takes. `invariant`: its
    /// [`Forward::invariant_rows`] where no sequence may depend on others. `guessers` guess next tokens.
    pub fn new(
        shared: Arc<Shared>,
        forward: Box<dyn Forward>,
        max_requests: usize,
        chunk: usize,
        invariant: Option<usize>,
        guessers: Guessers,
    ) -> Scheduler {
        // The keys and values of a page are not all that its tokens leave behind in a model with recurrent state:
        // there they are of use with snapshots only. And those that others left may be of a prompt that was cut
        // otherwise, or of steps of single tokens.
        let slots = forward.slots();
        let snapshots = slots.map(|_| forward.snapshots());
        let reuses = snapshots != Some(0) && invariant.is_none();
        let mut pool = PagePool::new(forward.page_count(), reuses);
        pool.snapshots = snapshots
            .filter(|_| reuses)
            .map(|count| Snapshots::new(count, chunk));
        let max_requests = slots.map_or(max_requests, |slots| max_requests.min(slots));
        let slots = slots.map(|slots| (0..slots as u32).rev().collect());
        Scheduler {
            shared,
            forward,
            pool,
            slots,
            max_requests,
            chunk,
            invariant,
            guessers,
            worth: Worth::default(),
            waiting: VecDeque::new(),
            running: Vec::new(),
            turn: 0,
            replan: false,
            arrivals: Vec::new(),
            parts: Vec::new(),
            output: Output::Logits,
            ahead: Vec::new(),
            next_tokens: Vec::new(),
            pace: Pace::default(),
            prompts: Vec::new(),
            ended: Vec::new(),
            logits: Vec::new(),
            tokens: Vec::new(),
            scratch: Scratch::default(),
        }
    }

    /// The thread's body.
    pub fn run(mut self) {
        if let Err(panic) = panics::caught(|| self.work()) {
            let message = format!("the scheduler panicked: {panic}");
            let late = self.shared.fail(message.clone());
            // The rest of the state may be damaged, but telling everybody needs none of it.
            let _ = panics::caught(|| {
                let all = self.running.drain(..).chain(self.waiting.drain(..));
                for mut sequence in all.chain(self.arrivals.drain(..)).chain(late) {
                    sequence.pages.clear();
                    let error = Error::Internal(message.clone());
                    sequence.finish((FinishReason::Error, Some(error)));
                }
                log::write(Level::Error, || message);
            });
        }
        // Dropping what is left (sequences tell their callers, the model frees its memory) must not
        // end the process either.
        let _ = panics::caught(|| drop(self));
    }

    fn work(&mut self) {
        let mut idle = false;
        loop {
            let live = !self.running.is_empty() || !self.waiting.is_empty();
            let (poked, closed) = self.shared.receive(idle, live, &mut self.arrivals);
            self.replan |= poked || !self.arrivals.is_empty();
            // New ones have the largest numbers.
            self.waiting.extend(self.arrivals.drain(..));
            if poked {
                self.drop_cancelled_waiting();
            }
            idle = !self.step();
            if idle {
                self.worth.rest();
            }
            self.publish();
            if idle && closed && self.running.is_empty() && self.waiting.is_empty() {
                return;
            }
        }
    }

    fn publish(&self) {
        self.shared.set_counts(Counts {
            running: self.running.len(),
            waiting: self.waiting.len(),
            pages_used: self.pool.count() - self.pool.available(),
            pages_cached: self.pool.cached(),
        });
    }

    fn drop_cancelled_waiting(&mut self) {
        let mut i = 0;
        while let Some(sequence) = self.waiting.get(i) {
            if sequence.is_cancelled() {
                if let Some(sequence) = self.waiting.remove(i) {
                    self.publish();
                    sequence.finish((FinishReason::Cancelled, None));
                }
            } else {
                i += 1;
            }
        }
    }

    fn finish(&mut self, index: usize, mut end: End) {
        let mut sequence = self.running.remove(index);
        if end.0 != FinishReason::Error
            && let Err(error) = sequence.complete(&mut self.pool, &mut *self.forward)
        {
            end = (FinishReason::Error, Some(error));
        }
        if end.0 == FinishReason::Error {
            // What a failing model computed is not for others.
            for &page in &sequence.pages {
                self.pool.forget(page);
            }
        }
        sequence.release_pages(&mut self.pool);
        self.give_slot_back(&sequence);
        self.publish();
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
            let reserve = match (self.running.len(), self.invariant) {
                (0, _) => 0,
                // So that those that run do not lose their pages again at once.
                (n, None) => n + 1,
                // Or ever: what is computed again as a prompt differs.
                (_, Some(_)) => {
                    let all = self.running.iter().chain([&*sequence]);
                    all.map(|s| s.most_pages() - s.pages.len()).sum::<usize>()
                        - sequence.first_pages()
                }
            };
            if self.running.len() < self.max_requests
                && sequence.take_pages(&mut self.pool, reserve)
            {
                if let Some(mut sequence) = self.waiting.remove(i) {
                    // There is one: no more run than there are slots.
                    sequence.slot = self.slots.as_mut().and_then(Vec::pop).unwrap_or(0);
                    let at = self.running.partition_point(|s| s.id < sequence.id);
                    self.running.insert(at, sequence);
                }
            } else if self.invariant.is_none()
                && let Some(stalled) = self.running.iter().rposition(|s| s.stalled)
            {
                self.preempt(stalled);
                // It waits now, possibly before this one.
                i = 0;
            } else {
                return;
            }
        }
    }

    /// Ends the states that need no step. Whether there were some: others may have their places.
    fn settle(&mut self) -> bool {
        let (before, mut i) = (self.running.len(), 0);
        while let Some(sequence) = self.running.get_mut(i) {
            match sequence.is_settled(&mut self.pool, &mut *self.forward) {
                Ok(false) => i += 1,
                Ok(true) => self.finish(i, (FinishReason::Length, None)),
                Err(error) => self.finish(i, (FinishReason::Error, Some(error))),
            }
        }
        self.running.len() < before
    }

    /// Sends a running sequence back to wait.
    fn preempt(&mut self, index: usize) {
        let mut sequence = self.running.remove(index);
        sequence.drop_pages(&mut self.pool);
        self.give_slot_back(&sequence);
        let at = self.waiting.partition_point(|s| s.id < sequence.id);
        self.waiting.insert(at, sequence);
    }

    /// The sequence runs no more.
    fn give_slot_back(&mut self, sequence: &Sequence) {
        if let Some(draft) = &mut self.guessers.draft {
            draft.forget(sequence.id);
        }
        if let Some(slots) = &mut self.slots {
            slots.push(sequence.slot);
        }
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

    /// Leaves one prompt, or single tokens of at most `most` sequences: those whose turn is the longest ago.
    fn keep_one_kind(&mut self, most: usize) {
        let turn = |part: &Part| place(&self.running, part.id).map(|at| self.running[at].turn);
        let mut turns: Vec<_> = self.parts.iter().map(turn).zip(0..).collect();
        turns.sort_unstable();
        let single = turns.first().and_then(|(turn, _)| *turn);
        self.prompts.truncate(1);
        match (single, self.prompts.first()) {
            (Some(single), Some((prompt, _))) if *prompt < single => self.parts.clear(),
            (None, _) => {}
            _ => {
                self.prompts.clear();
                turns.truncate(most);
                turns.sort_unstable_by_key(|(_, place)| *place);
                let kept: Vec<u64> = turns.iter().map(|(_, at)| self.parts[*at].id).collect();
                self.parts.retain(|part| kept.contains(&part.id));
                self.turn += 1;
                for id in kept {
                    if let Some(at) = place(&self.running, id) {
                        self.running[at].turn = self.turn;
                    }
                }
            }
        }
    }

    /// Fills `parts`. No step is queued.
    fn plan(&mut self) {
        self.replan = false;
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
        while self.settle() {
            self.admit();
        }
        self.grow();
        self.parts.clear();
        self.prompts.clear();
        let ready = |s: &&Sequence| !s.stalled;
        let other = |s: &Sequence| s.output() != self.output;
        if self.running.iter().filter(ready).any(other) {
            self.output = match self.output {
                Output::Logits => Output::Hidden,
                Output::Hidden => Output::Logits,
            };
        }
        for (index, sequence) in self.running.iter().enumerate() {
            if sequence.stalled || sequence.output() != self.output {
                continue;
            }
            if sequence.decodes() {
                let tokens = sequence.pending();
                self.parts
                    .push(Part::new(sequence, tokens, sequence.rows(tokens)));
            } else {
                self.prompts.push((sequence.turn, index));
            }
        }
        if self.make_room_again() {
            self.prompts.clear();
        }
        self.prompts.sort_unstable();
        if let Some(most) = self.invariant {
            self.keep_one_kind(most);
        }
        let mut room = self.chunk;
        for (place, &(_, index)) in self.prompts.iter().enumerate() {
            let Some(sequence) = self.running.get_mut(index) else {
                continue;
            };
            sequence.reuse(&mut self.pool);
            let tokens = sequence.chunk(self.chunk, &self.pool);
            if place > 0 && tokens > room {
                break;
            }
            room -= tokens;
            self.turn += 1;
            sequence.turn = self.turn;
            let rows = sequence.rows(tokens);
            self.parts.push(Part::new(sequence, tokens, rows));
        }
        if self.prompts.is_empty() {
            self.guess();
        }
        self.publish();
    }
}
