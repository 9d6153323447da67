//! Queues a step before the tokens of the one before it are known.
//!
//! Where the device chooses the tokens, and the next step is nothing but one more token of each sequence, that step
//! is queued while this one runs: the device takes the tokens from its own memory and does not wait for the host.
//! What a sequence that ended meanwhile has computed then is thrown away: it lies behind the tokens that the cache
//! knows it by, in a page that is not full and so is not known. Those who get that page write to it in a later step,
//! and steps run in order. Everything else (arrivals, prompts, pages that run out) is planned when no step is queued.
//!
//! A sequence whose token is chosen here (a logits processor has to see its row, say) cannot be in a step that is
//! queued before. Either that step goes without it, and it is in every second one; or all wait for it: what others gain
//! is weighed against what it loses ([`super::pace::Pace`]).

use super::Scheduler;
use super::part::{Brings, Part};
use super::steps::place;
use crate::Result;
use crate::model::{CHOSEN, PAGE_TOKENS, Slice, Wanted};

impl Scheduler {
    /// Queues the step after `parts`, which is on the device, if that is one more token of each sequence
    /// that does not end or pause now, or waits for its token; leaves it in `ahead`.
    pub(super) fn follow(&mut self) -> Result<()> {
        if self.replan || !self.forward.works_ahead() {
            return Ok(());
        }
        let Some(resting) = self.resting() else {
            return Ok(());
        };
        let brings_rows = |part: &&Part| part.brings == Brings::Rows;
        let here = self.parts.iter().filter(brings_rows).count();
        if here > 0 && !self.pace.goes_on(self.parts.len() - here, here) {
            return Ok(());
        }
        for index in 0..self.running.len() {
            if self.may_guess(index) {
                return Ok(());
            }
        }
        // Each part has one row.
        let chosen = (0..).zip(&self.parts).filter_map(|(row, part)| {
            let index = place(&self.running, part.id)?;
            (part.brings != Brings::Rows).then_some((index, Some(row)))
        });
        let resting = resting.into_iter().map(|index| (index, None));
        let next: Vec<(usize, Option<u32>)> = chosen.chain(resting).collect();
        self.next_tokens.clear();
        for (index, row) in next {
            let sequence = &mut self.running[index];
            if row.is_some() && sequence.ends_next() {
                continue;
            }
            if !sequence.check_room() {
                // Somebody who waits may have its place.
                self.replan |= !self.waiting.is_empty();
                continue;
            }
            let mut part = Part::new(sequence, 1, 1);
            if row.is_some() {
                // After the one that is being chosen.
                part.end = sequence.tokens.len() + 1;
            }
            if part.end > sequence.pages.len() * PAGE_TOKENS {
                let Some(page) = self.pool.take() else {
                    self.ahead.clear();
                    return Ok(());
                };
                sequence.pages.push(page);
            }
            self.next_tokens.push(match row {
                Some(row) => CHOSEN + row,
                None => sequence.tokens[part.end - 1],
            });
            self.ahead.push(part);
        }
        match self.ahead.is_empty() {
            true => Ok(()),
            false => self.queue_ahead(),
        }
    }

    /// The running sequences whose next token is known and is not in `parts`. `None`: the next step is more than one
    /// token of each sequence.
    fn resting(&self) -> Option<Vec<usize>> {
        let going = self.running.iter().filter(|s| !s.stalled).count();
        let is_ready = |part: &&Part| {
            let sequence = place(&self.running, part.id).map(|index| &self.running[index]);
            part.rows == 1 && sequence.is_some_and(|s| s.pending() == part.tokens)
        };
        let ready = self.parts.iter().filter(is_ready).count();
        let mut resting = Vec::new();
        if ready < going {
            let is_part = |id: u64| self.parts.iter().any(|part| part.id == id);
            let all = (0..).zip(&self.running);
            let all = all.filter(|(_, s)| !s.stalled && s.is_resting() && !is_part(s.id));
            resting.extend(all.map(|(index, _)| index));
        }
        let fits = self.invariant.is_none_or(|most| going <= most);
        (fits && ready + resting.len() == going).then_some(resting)
    }

    /// Queues `ahead`, whose tokens are in `next_tokens`.
    fn queue_ahead(&mut self) -> Result<()> {
        self.begin(true)?;
        let (mut slices, mut choices) = (Vec::new(), Vec::new());
        for (part, token) in self.ahead.iter_mut().zip(self.next_tokens.chunks(1)) {
            if let Some(index) = place(&self.running, part.id) {
                let sequence = &self.running[index];
                part.choose(sequence, token[0] >= CHOSEN, &mut choices);
                slices.push(Slice {
                    tokens: token,
                    start: part.end - 1,
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
}
