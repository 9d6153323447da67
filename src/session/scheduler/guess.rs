//! Steps that check guessed tokens: who gets how many, and what becomes of the states of recurrent layers.
//!
//! A recurrent state has no way back, so it is copied before such a step; where a guess was wrong the sequence gets the
//! copy again, and its next step begins with the tokens that were right. They are few enough for that to change no bit.

use super::Scheduler;
use super::steps::place;
use crate::Result;
use crate::log::{self, Level};
use crate::model::PAGE_TOKENS;
use crate::session::evaluation::Output;
use crate::session::speculation::{Guess, Likely, MOST_ROWS};

impl Scheduler {
    /// Rows that a step with guesses may have.
    fn guessing_rows(&self) -> usize {
        let most = self.forward.invariant_rows().unwrap_or(MOST_ROWS);
        most.min(MOST_ROWS).min(self.forward.max_tokens())
    }

    /// Leaves those parts for the next step that would make this one, with tokens that are run again, too large.
    /// Whether there are such tokens: prompts wait too.
    pub(super) fn make_room_again(&mut self) -> bool {
        if self.parts.iter().all(|part| part.tokens == 1) {
            return false;
        }
        let mut room = self.guessing_rows();
        let mut fit = Vec::new();
        for again in [true, false] {
            for part in self.parts.iter().filter(|part| (part.tokens > 1) == again) {
                if part.tokens <= room {
                    room -= part.tokens;
                    fit.push(part.id);
                }
            }
        }
        self.parts.retain(|part| fit.contains(&part.id));
        true
    }

    /// Adds guesses to `parts`, which are the next token of each sequence.
    pub(super) fn guess(&mut self) {
        let most = self.guessing_rows();
        let rows: usize = self.parts.iter().map(|part| part.tokens).sum();
        if self.guessers.are_none() || rows >= most || self.output != Output::Logits {
            return;
        }
        let ids: Vec<u64> = self.parts.iter().map(|part| part.id).collect();
        let mut guesses: Vec<Guess> = ids.iter().map(|id| self.guess_of(*id)).collect();
        let lengths: Vec<(Likely, usize)> = guesses
            .iter()
            .filter(|guess| guess.length > 0)
            .map(|guess| (guess.likely, guess.length))
            .collect();
        let count = match lengths.is_empty() {
            true => 0,
            false => self.worth.count(&lengths, (ids.len(), rows), most),
        };
        if count == 0 {
            return;
        }
        guesses
            .iter_mut()
            .for_each(|guess| guess.length = guess.length.min(count));
        self.draft(&ids, &mut guesses, count);
        for (part, guess) in self.parts.iter_mut().zip(guesses) {
            let Some(at) = place(&self.running, part.id) else {
                continue;
            };
            let sequence = &mut self.running[at];
            let mut tokens = guess.tokens;
            tokens.truncate(guess.length);
            let known = sequence.tokens.len();
            while sequence.pages.len() * PAGE_TOKENS < known + tokens.len() {
                match self.pool.take() {
                    Some(page) => sequence.pages.push(page),
                    None => tokens.truncate(sequence.pages.len() * PAGE_TOKENS - known),
                }
            }
            part.guess(tokens, guess.likely);
        }
    }

    /// What may follow a sequence's tokens. The draft model has not written it yet.
    fn guess_of(&mut self, id: u64) -> Guess {
        let Some(at) = place(&self.running, id) else {
            return Guess::default();
        };
        let sequence = &mut self.running[at];
        let most = sequence.most_guessed(&self.pool);
        let found = match self.guessers.lookup {
            true => sequence.look_up(most),
            false => Guess::default(),
        };
        match self.guessers.draft {
            Some(_) if !found.is_sure() => Guess {
                tokens: Vec::new(),
                length: most,
                likely: Likely::Drafted,
            },
            _ => found,
        }
    }

    /// Lets the draft model write what it is to guess, up to `count` tokens.
    fn draft(&mut self, ids: &[u64], guesses: &mut [Guess], count: usize) {
        let Some(draft) = &mut self.guessers.draft else {
            return;
        };
        let (mut sequences, mut drafted) = (Vec::new(), Vec::new());
        for (id, guess) in ids.iter().zip(guesses) {
            if guess.likely == Likely::Drafted
                && guess.length > 0
                && let Some(at) = place(&self.running, *id)
            {
                sequences.push(&self.running[at]);
                drafted.push(guess);
            }
        }
        let vocab = self.forward.vocab_size();
        match draft.guess(&sequences, count, vocab, &mut self.scratch) {
            Ok(found) => {
                for (guess, tokens) in drafted.into_iter().zip(found) {
                    guess.tokens = tokens;
                }
            }
            Err(error) => {
                // No request needs it.
                log::write(Level::Warn, || {
                    format!("the draft model failed and guesses no more: {error}")
                });
                self.guessers.draft = None;
            }
        }
    }

    /// Whether a sequence is better off with guesses in its next step than with one that is queued now.
    pub(super) fn may_guess(&mut self, index: usize) -> bool {
        let (parts, most) = (self.parts.len(), self.guessing_rows());
        if self.guessers.are_none() || parts >= most || self.running[index].stalled {
            return false;
        }
        let guess = self.guess_of(self.running[index].id);
        let guesses = [(guess.likely, guess.length)];
        guess.length > 0 && self.worth.count(&guesses, (parts, parts), most) > 0
    }

    /// Copies the states that the guesses of `parts` may spoil; without a copy there is no guess.
    pub(super) fn hold_states(&mut self) -> Result<()> {
        if self.slots.is_none() {
            return Ok(());
        }
        for part in self.parts.iter_mut().filter(|part| !part.guess.is_empty()) {
            let slot = place(&self.running, part.id).map(|at| self.running[at].slot);
            let mut held = None;
            while held.is_none()
                && let (Some(slot), Some(snapshots)) = (slot, &mut self.pool.snapshots)
                && let Some(id) = snapshots.take()
            {
                match self.forward.keep(slot, id) {
                    Ok(true) => held = Some(id),
                    Ok(false) => snapshots.lose(id),
                    Err(error) => {
                        snapshots.lose(id);
                        return Err(error);
                    }
                }
            }
            part.held = held;
            if held.is_none() {
                part.guess(Vec::new(), Likely::default());
            }
        }
        Ok(())
    }
}
