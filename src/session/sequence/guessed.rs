//! Tokens of a sequence that are run before they are known to come next.

use super::{End, Sequence, Work};
use crate::model::{NO_TOKEN, PAGE_TOKENS};
use crate::session::generating::Rows;
use crate::session::pages::PagePool;
use crate::session::sampling::Scratch;
use crate::session::speculation::{Guess, MOST_GUESSED};
use std::time::Instant;

impl Sequence {
    /// Whether the next step gives its next token, as the one before did.
    pub fn decodes(&self) -> bool {
        self.pending() == 1 || self.taken_back
    }

    /// What may follow its tokens by what they are.
    pub fn look_up(&mut self, most: usize) -> Guess {
        match most {
            0 => Guess::default(),
            most => self.lookup.guess(&self.tokens, most),
        }
    }

    /// A draft model's choice of a token `ahead` places after the next one, by its row.
    pub fn draft(&self, row: &[f32], ahead: usize, scratch: &mut Scratch) -> u32 {
        match &self.work {
            Work::Generate(work) => {
                let position = self.tokens.len() - work.prompt_tokens + ahead;
                let chosen = work.sampler.draft(row, position as u64, scratch);
                chosen.unwrap_or(NO_TOKEN)
            }
            Work::Evaluate(_) | Work::State(_) => NO_TOKEN,
        }
    }

    /// How many of its next tokens can be guessed: one less than it can still have, and none over the end of a page where
    /// its recurrent state is to be kept, which has to be that of known tokens.
    pub fn most_guessed(&self, pool: &PagePool) -> usize {
        let Work::Generate(work) = &self.work else {
            return 0;
        };
        let left = work.most_tokens().saturating_sub(self.tokens.len() + 1);
        // With the last token, or those that are run again.
        let at_once = (MOST_GUESSED + 1).saturating_sub(self.pending());
        let border = self.tokens.len().next_multiple_of(PAGE_TOKENS);
        let before_border = match &pool.snapshots {
            Some(snapshots) if self.keeps(border, snapshots.piece) => {
                (border - self.tokens.len()).saturating_sub(1)
            }
            _ => at_once,
        };
        left.min(before_border).min(at_once)
    }

    /// As [`Sequence::advance`], after a run of its `known` next tokens and of these guesses, whose rows are those of the
    /// last known one and of all that are guessed. How many guesses were right. `goes_back`: its state, as it was before,
    /// is there if not all were; then it is as if nothing had been run, but for the tokens chosen.
    pub fn advance_guessed(
        &mut self,
        (known, guess): (usize, &[u32]),
        goes_back: bool,
        rows: &mut Rows<'_>,
        pool: &mut PagePool,
        scratch: &mut Scratch,
        now: Instant,
    ) -> (usize, Option<End>) {
        let Work::Generate(work) = &mut self.work else {
            return (0, None);
        };
        let (mut right, mut end) = (0, None);
        while end.is_none() {
            let computed = self.tokens.len();
            end = work.advance(&mut self.tokens, computed, rows.next(), scratch, now);
            if guess.get(right) != self.tokens.last() || self.tokens.len() == computed {
                break;
            }
            right += 1;
        }
        work.guessed(guess.len(), right);
        self.taken_back = goes_back && right < guess.len();
        if !self.taken_back {
            self.computed += known + right;
            self.register(pool);
        }
        (right, end)
    }
}
