//! Runs the steps that were planned, and hands out what they give.
//!
//! Where the device chooses the tokens, and the next step is nothing but one more token of the sequences
//! of this one, that step is queued before this one's tokens are known: the device takes them from its
//! own memory and does not wait for the host. What a sequence that ended meanwhile has computed then is
//! thrown away: it lies behind the tokens that the cache knows it by, in a page that is not full and so
//! is not known. Those who get that page write to it in a later step, and steps run in order. Everything
//! else (arrivals, prompts, pages that run out) is planned when no step is queued.

use super::Scheduler;
use crate::log::{self, Level};
use crate::model::{CHOSEN, NO_TOKEN, PAGE_TOKENS, Slice, Wanted};
use crate::session::FinishReason;
use crate::session::evaluation::Output;
use crate::session::generating::Row;
use crate::session::sequence::Sequence;
use crate::{Error, Result};
use std::time::Instant;

/// A sequence's part of a step.
pub(super) struct Part {
    /// The sequence's.
    pub id: u64,
    /// Tokens to run.
    pub tokens: usize,
    /// Rows that it gives.
    pub rows: usize,
    /// The device gives the logits of its token, too.
    rated: bool,
    /// Tokens that the sequence has computed then.
    end: usize,
    /// Where its state then is kept.
    snapshot: Option<u32>,
}

impl Part {
    /// The next tokens of a sequence.
    pub fn new(sequence: &Sequence, tokens: usize, rows: usize) -> Part {
        Part {
            id: sequence.id,
            tokens,
            rows,
            rated: rows > 0 && sequence.rates(),
            end: sequence.computed + tokens,
            snapshot: None,
        }
    }
}

impl Scheduler {
    /// One step of the model, if there is anything to run.
    pub(super) fn step(&mut self) -> bool {
        std::mem::swap(&mut self.parts, &mut self.ahead);
        self.ahead.clear();
        let started = match self.parts.is_empty() {
            // It was queued.
            false => Ok(true),
            true => {
                self.plan();
                if self.parts.is_empty() {
                    return false;
                }
                self.start()
            }
        };
        let mut followed = Ok(());
        let ran = started.and_then(|on_device| {
            if on_device {
                followed = self.follow();
                self.collect()?;
            }
            Ok(on_device)
        });
        match ran {
            Ok(on_device) => self.absorb(on_device),
            Err(error) => {
                let parts = std::mem::take(&mut self.parts);
                self.fail(&parts, &error);
                self.parts = parts;
            }
        }
        if let Err(error) = followed {
            let parts = std::mem::take(&mut self.ahead);
            self.fail(&parts, &error);
        }
        let mut ended = std::mem::take(&mut self.ended);
        self.replan |= !ended.is_empty() && !self.waiting.is_empty();
        for (id, end) in ended.drain(..) {
            if let Some(index) = place(&self.running, id) {
                self.finish(index, end);
            }
        }
        self.ended = ended;
        true
    }

    /// A step failed: its sequences are over, if they are not anyway.
    fn fail(&mut self, parts: &[Part], error: &Error) {
        log::write(Level::Error, || {
            format!("a step of the model failed: {error}")
        });
        for part in parts {
            self.pool.give_back(part.snapshot);
            if self.ended.iter().all(|(id, _)| *id != part.id) {
                let end = (FinishReason::Error, Some(error.clone()));
                self.ended.push((part.id, end));
            }
        }
    }

    /// Starts `parts` on a device that chooses tokens, and says so; else runs them and leaves the rows
    /// in `logits`.
    fn start(&mut self) -> Result<bool> {
        let now = Instant::now();
        let (mut slices, mut choices, mut rows) = (Vec::new(), Vec::new(), 0);
        for part in &self.parts {
            if let Some(index) = place(&self.running, part.id) {
                let sequence = &mut self.running[index];
                sequence.begin(now);
                sequence.resume(&mut self.pool, &mut *self.forward)?;
            }
        }
        for part in &self.parts {
            let Some(index) = place(&self.running, part.id) else {
                continue;
            };
            let sequence = &self.running[index];
            rows += part.rows;
            if part.rows > 0 {
                choices.extend(sequence.choice(false));
            }
            slices.push(Slice {
                tokens: &sequence.tokens[sequence.computed..sequence.computed + part.tokens],
                start: sequence.computed,
                pages: &sequence.pages,
                wanted: sequence.wanted(part.tokens),
                slot: sequence.slot,
            });
        }
        if self.output == Output::Hidden {
            self.forward.hidden(&slices, &mut self.logits)?;
            return self.check_rows(rows * self.forward.hidden_size());
        }
        // Some may need more than a device gives.
        if choices.len() == rows && self.forward.queue(&slices, &choices)? {
            self.keep_states(false);
            return Ok(true);
        }
        let want = rows * self.forward.vocab_size();
        let usual = self.max_requests * self.forward.vocab_size();
        if want <= usual && self.logits.capacity() > 2 * usual {
            // An evaluation left a large buffer.
            self.logits = Vec::new();
        }
        self.forward.forward(&slices, &mut self.logits)?;
        self.keep_states(false);
        self.check_rows(want)
    }

    /// Keeps the states that the step which was started last leaves, where others can go on after them. A step that
    /// is queued later runs after the copies.
    fn keep_states(&mut self, ahead: bool) {
        let Some(snapshots) = &mut self.pool.snapshots else {
            return;
        };
        let parts = match ahead {
            true => &mut self.ahead,
            false => &mut self.parts,
        };
        for part in parts {
            let Some(index) = place(&self.running, part.id) else {
                continue;
            };
            let sequence = &self.running[index];
            if !sequence.keeps(part.end, snapshots.piece) {
                continue;
            }
            while part.snapshot.is_none()
                && let Some(id) = snapshots.take()
            {
                match self.forward.keep(sequence.slot, id) {
                    Ok(true) => part.snapshot = Some(id),
                    // The next one is in the place of an older one.
                    Ok(false) => snapshots.lose(id),
                    // No request needs it. A device that is lost says so in the next step.
                    Err(error) => {
                        snapshots.lose(id);
                        log::write(Level::Warn, || format!("a state was not kept: {error}"));
                    }
                }
            }
        }
    }

    /// The rows were left in `logits`, and not chosen from on the device.
    fn check_rows(&self, want: usize) -> Result<bool> {
        match self.logits.len() {
            found if found == want => Ok(false),
            found => Err(Error::Internal(format!(
                "the model gave {found} numbers instead of {want}"
            ))),
        }
    }

    /// Queues the step after `parts`, which is on the device, if that is one more token of each sequence
    /// that does not end or pause now; leaves it in `ahead`.
    fn follow(&mut self) -> Result<()> {
        let going = self.running.iter().filter(|s| !s.stalled).count();
        let is_ready = |part: &&Part| {
            let sequence = place(&self.running, part.id).map(|index| &self.running[index]);
            part.rows == 1 && sequence.is_some_and(|s| s.pending() == part.tokens)
        };
        if self.replan || self.parts.iter().filter(is_ready).count() != going {
            return Ok(());
        }
        self.unseen.clear();
        for (row, part) in (0..).zip(self.parts.iter().filter(|part| part.rows > 0)) {
            let Some(index) = place(&self.running, part.id) else {
                continue;
            };
            let sequence = &mut self.running[index];
            if sequence.ends_next() {
                continue;
            }
            if !sequence.check_room() {
                // Somebody who waits may have its place.
                self.replan |= !self.waiting.is_empty();
                continue;
            }
            if sequence.tokens.len() >= sequence.pages.len() * PAGE_TOKENS {
                let Some(page) = self.pool.take() else {
                    self.ahead.clear();
                    return Ok(());
                };
                sequence.pages.push(page);
            }
            self.unseen.push(CHOSEN + row);
            let mut part = Part::new(sequence, 1, 1);
            // After the one that is being chosen.
            part.end = sequence.tokens.len() + 1;
            self.ahead.push(part);
        }
        if self.ahead.is_empty() {
            return Ok(());
        }
        let (mut slices, mut choices) = (Vec::new(), Vec::new());
        for (part, token) in self.ahead.iter().zip(self.unseen.chunks(1)) {
            if let Some(index) = place(&self.running, part.id) {
                let sequence = &self.running[index];
                choices.extend(sequence.choice(true));
                slices.push(Slice {
                    tokens: token,
                    start: sequence.tokens.len(),
                    pages: &sequence.pages,
                    wanted: Wanted::Last,
                    slot: sequence.slot,
                });
            }
        }
        match self.forward.queue(&slices, &choices)? {
            true => self.keep_states(true),
            false => self.ahead.clear(),
        }
        Ok(())
    }

    /// Waits for `parts`; leaves their tokens in `tokens`.
    fn collect(&mut self) -> Result<()> {
        self.forward.collect(&mut self.tokens)?;
        let rows: usize = self.parts.iter().map(|part| part.rows).sum();
        if self.tokens.len() != rows {
            return Err(Error::Internal(format!(
                "the model gave {} tokens instead of {rows}",
                self.tokens.len()
            )));
        }
        let rated = self.parts.iter().filter(|part| part.rated).count();
        self.forward.rated(&mut self.logits);
        self.check_rows(rated * self.forward.vocab_size()).map(drop)
    }

    /// Hands the rows of `parts` out, `tokens` or `logits`; fills `ended`.
    fn absorb(&mut self, on_device: bool) {
        let columns = match self.output {
            Output::Logits => self.forward.vocab_size(),
            Output::Hidden => self.forward.hidden_size(),
        };
        let now = Instant::now();
        let mut rest = self.logits.as_mut_slice();
        let mut tokens = self.tokens.iter();
        for part in &mut self.parts {
            let snapshot = part.snapshot.take();
            let rows = match on_device {
                // A part that wants none does not look at it.
                true if part.rows == 0 => Row::Token(NO_TOKEN),
                true => {
                    let token = tokens.next().copied().unwrap_or(NO_TOKEN);
                    let (row, after) = rest.split_at_mut(usize::from(part.rated) * columns);
                    rest = after;
                    match part.rated {
                        true => Row::Rated(token, row),
                        false => Row::Token(token),
                    }
                }
                false => {
                    let (rows, after) = rest.split_at_mut(part.rows * columns);
                    rest = after;
                    Row::Logits(rows)
                }
            };
            // One that ended while this step was queued is not there any more.
            let Some(index) = place(&self.running, part.id) else {
                self.pool.give_back(snapshot);
                continue;
            };
            let sequence = &mut self.running[index];
            if sequence.is_cancelled() {
                self.ended.push((part.id, (FinishReason::Cancelled, None)));
                self.pool.give_back(snapshot);
                continue;
            }
            let passing = part.end >= sequence.tokens.len();
            let end = sequence.advance(part.tokens, rows, &mut self.pool, &mut self.scratch, now);
            if let Some(id) = snapshot {
                sequence.attach(id, passing, &mut self.pool);
            }
            if let Some(end) = end {
                self.ended.push((part.id, end));
            }
        }
    }
}

/// Where a sequence is among the running ones, which are in order of age.
pub(super) fn place(running: &[Sequence], id: u64) -> Option<usize> {
    running.binary_search_by_key(&id, |s| s.id).ok()
}
