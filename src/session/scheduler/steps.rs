//! Runs the steps that were planned, and hands out what they give.
//!
//! A device that chooses tokens does so for every row that it can; those of the others are brought here, beside
//! those that log-probabilities are made of. `follow.rs` has what is queued before a step's tokens are known.

use super::Scheduler;
use super::part::{Brings, Part};
use crate::log::{self, Level};
use crate::model::{Slice, Wanted};
use crate::session::FinishReason;
use crate::session::evaluation::Output;
use crate::session::generating::{Row, Rows};
use crate::session::sequence::Sequence;
use crate::{Error, Result};
use std::time::Instant;

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
            Ok(on_device) => {
                let began = Instant::now();
                self.absorb(on_device);
                if on_device {
                    let rows = self.parts.iter().filter(|part| part.brings == Brings::Rows);
                    self.pace.chose(rows.count(), began.elapsed());
                }
                if !self.guessers.are_none() {
                    let decodes = |part: &Part| part.rows == part.guess.len() + 1;
                    let decodes = self.parts.iter().all(decodes).then_some(&self.parts);
                    let rows = decodes.map(|parts| parts.iter().map(|part| part.tokens).sum());
                    let drafted = self.parts.iter().any(Part::is_drafted);
                    self.worth.step(rows, drafted);
                }
            }
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
            self.pool.give_back(part.held);
            if self.ended.iter().all(|(id, _)| *id != part.id) {
                let end = (FinishReason::Error, Some(error.clone()));
                self.ended.push((part.id, end));
            }
        }
    }

    /// Starts `parts` on a device that chooses tokens, and says so; else runs them and leaves the rows
    /// in `logits`.
    fn start(&mut self) -> Result<bool> {
        self.begin(false)?;
        self.hold_states()?;
        let guesses = self.guesses();
        let (mut slices, mut choices, mut rows) = (Vec::new(), Vec::new(), 0);
        for (part, (tokens, wanted)) in self.parts.iter_mut().zip(&guesses) {
            let Some(index) = place(&self.running, part.id) else {
                continue;
            };
            let sequence = &self.running[index];
            rows += part.rows;
            part.choose(sequence, false, &mut choices);
            let (tokens, wanted) = match part.guess.is_empty() {
                true => {
                    let end = sequence.computed + part.tokens;
                    let tokens = &sequence.tokens[sequence.computed..end];
                    (tokens, sequence.wanted(part.tokens))
                }
                false => (tokens.as_slice(), Wanted::At(wanted)),
            };
            slices.push(Slice {
                tokens,
                start: sequence.computed,
                pages: &sequence.pages,
                wanted,
                slot: sequence.slot,
            });
        }
        if self.output == Output::Hidden {
            self.forward.hidden(&slices, &mut self.logits)?;
            return self.check_rows(rows * self.forward.hidden_size());
        }
        // Of rows that all come here a device would choose tokens for nobody.
        let chooses = self.parts.iter().any(|part| part.brings != Brings::Rows);
        if chooses && self.forward.queue(&slices, &choices)? {
            self.pace.started();
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

    /// Of each part the tokens to run and the positions whose rows are wanted, if there is a guess among them.
    fn guesses(&self) -> Vec<(Vec<u32>, Vec<u32>)> {
        let of = |part: &Part| {
            let index = place(&self.running, part.id).filter(|_| !part.guess.is_empty())?;
            let sequence = &self.running[index];
            let known = &sequence.tokens[sequence.computed..];
            let first = sequence.tokens.len() as u32 - 1;
            let wanted = first..=first + part.guess.len() as u32;
            Some(([known, &part.guess].concat(), wanted.collect()))
        };
        let all = self.parts.iter().map(of);
        all.map(Option::unwrap_or_default).collect()
    }

    /// Prepares the sequences of the step that is started next.
    pub(super) fn begin(&mut self, ahead: bool) -> Result<()> {
        let now = Instant::now();
        let parts = match ahead {
            true => &self.ahead,
            false => &self.parts,
        };
        for part in parts {
            if let Some(index) = place(&self.running, part.id) {
                let sequence = &mut self.running[index];
                sequence.begin(now);
                sequence.resume(&mut self.pool, &mut *self.forward)?;
            }
        }
        Ok(())
    }

    /// Keeps the states that the step which was started last leaves, where others can go on after them. A step that
    /// is queued later runs after the copies.
    pub(super) fn keep_states(&mut self, ahead: bool) {
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
            // No guess ends where a state is to be kept.
            if !part.guess.is_empty() || !sequence.keeps(part.end, snapshots.piece) {
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

    /// Waits for `parts`; leaves their tokens in `tokens`.
    fn collect(&mut self) -> Result<()> {
        self.forward.collect(&mut self.tokens)?;
        let is_single = |part: &Part| part.tokens == 1;
        self.pace
            .ended(self.parts.iter().all(is_single), !self.ahead.is_empty());
        let rows: usize = self.parts.iter().map(|part| part.rows).sum();
        if self.tokens.len() != rows {
            return Err(Error::Internal(format!(
                "the model gave {} tokens instead of {rows}",
                self.tokens.len()
            )));
        }
        let brought: usize = self.parts.iter().map(Part::brought).sum();
        self.forward.rated(&mut self.logits);
        self.check_rows(brought * self.forward.vocab_size())
            .map(drop)
    }

    /// Hands the rows of `parts` out, `tokens` or `logits`; fills `ended`.
    fn absorb(&mut self, on_device: bool) {
        let columns = match self.output {
            Output::Logits => self.forward.vocab_size(),
            Output::Hidden => self.forward.hidden_size(),
        };
        let now = Instant::now();
        let mut rest = self.logits.as_mut_slice();
        let mut tokens = self.tokens.as_slice();
        for part in &mut self.parts {
            let (snapshot, held) = (part.snapshot.take(), part.held.take());
            if !on_device {
                part.brings = Brings::Rows;
            }
            let (logits, after) = rest.split_at_mut(part.brought() * columns);
            rest = after;
            let (own, after) = tokens.split_at(part.rows.min(tokens.len()));
            tokens = after;
            let mut rows = Rows {
                tokens: (part.brings != Brings::Rows).then_some(own),
                logits,
                columns,
            };
            // One that ended while this step was queued is not there any more.
            let index = place(&self.running, part.id);
            let cancelled = index.is_some_and(|index| self.running[index].is_cancelled());
            if cancelled {
                self.ended.push((part.id, (FinishReason::Cancelled, None)));
            }
            let Some(index) = index.filter(|_| !cancelled) else {
                self.pool.give_back(snapshot);
                self.pool.give_back(held);
                continue;
            };
            let sequence = &mut self.running[index];
            let end = match part.guess.is_empty() {
                true => {
                    let passing = part.end >= sequence.tokens.len();
                    let row = match part.brings {
                        // All rows, or none.
                        Brings::Rows => Row::Logits(rows.logits),
                        _ => rows.next(),
                    };
                    let end =
                        sequence.advance(part.tokens, row, &mut self.pool, &mut self.scratch, now);
                    if let Some(id) = snapshot {
                        sequence.attach(id, passing, &mut self.pool);
                    }
                    end
                }
                false => {
                    let run = (part.known(), part.guess.as_slice());
                    let goes_back = held.is_some();
                    let (right, end) = sequence.advance_guessed(
                        run,
                        goes_back,
                        &mut rows,
                        &mut self.pool,
                        &mut self.scratch,
                        now,
                    );
                    self.worth.found(part.likely, part.guess.len(), right);
                    match sequence.taken_back {
                        true => sequence.go_back(held),
                        false => self.pool.give_back(held),
                    }
                    end
                }
            };
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
