//! Taking back the last tokens of a sequence, as speculation does with those that the model would not have chosen.
//!
//! Keys and values of the tokens taken back are written over by those that follow. Recurrent state has no way back, so
//! copies of it are kept as the sequence grows; the sequence goes back to one of them, and the tokens from there on are
//! run again, in steps as small as those of decoding: to the bit what a sequence has that never went further.

use super::{Forward, Slice, Wanted};
use crate::{Error, Result};

/// A sequence that can lose its last tokens. One thread at a time.
#[derive(Debug)]
pub struct Rollback {
    slot: u32,
    /// Snapshots that are its own, and the tokens that each is of.
    marks: [(u32, Option<usize>); Rollback::SNAPSHOTS],
}

impl Rollback {
    /// The most tokens that can be taken back.
    pub const MOST: usize = 16;
    /// Snapshots that it needs.
    pub const SNAPSHOTS: usize = 3;
    /// Tokens that are run again at once. Devices run 16 as a prompt.
    const PIECE: usize = 15;

    /// Of the sequence of a slot, by snapshots that nobody else uses.
    pub fn new(slot: u32, snapshots: [u32; Rollback::SNAPSHOTS]) -> Rollback {
        Rollback {
            slot,
            marks: snapshots.map(|snapshot| (snapshot, None)),
        }
    }

    /// The sequence has `tokens` tokens now, all of them run. To be called after its prompt, from where on tokens can be
    /// taken back, and after each step that is not taken back, of at most [`Rollback::MOST`] tokens. `false`: there is no
    /// memory, and nothing can be taken back to here.
    pub fn mark(&mut self, forward: &mut dyn Forward, tokens: usize) -> Result<bool> {
        if forward.slots().is_none() {
            return Ok(true);
        }
        let is_far = |mark: Option<usize>| mark.is_none_or(|mark| mark + Rollback::MOST <= tokens);
        // The oldest one is needed until the next one is old enough; the latest one is the cheapest to go back to.
        self.marks.sort_by_key(|(_, mark)| *mark);
        if is_far(self.marks[1].1) {
            self.marks.rotate_left(1);
        }
        let (snapshot, mark) = &mut self.marks[Rollback::SNAPSHOTS - 1];
        *mark = None;
        let kept = forward.keep(self.slot, *snapshot)?;
        *mark = kept.then_some(tokens);
        Ok(kept)
    }

    /// The sequence has these tokens again, the first ones of those it had, in these pages: the next slice begins after
    /// them.
    ///
    /// # Errors
    /// `InvalidArgument` if no mark is left that is so far back; those of a step.
    pub fn back(&mut self, forward: &mut dyn Forward, tokens: &[u32], pages: &[u32]) -> Result<()> {
        if forward.slots().is_none() {
            return Ok(());
        }
        for (_, mark) in &mut self.marks {
            *mark = mark.filter(|mark| *mark <= tokens.len());
        }
        self.marks.sort_by_key(|(_, mark)| *mark);
        let (snapshot, Some(mut start)) = self.marks[Rollback::SNAPSHOTS - 1] else {
            return Err(Error::InvalidArgument(format!(
                "a sequence cannot go back to {} tokens: its state there was not kept",
                tokens.len()
            )));
        };
        forward.restore(snapshot, self.slot)?;
        let mut nothing = Vec::new();
        for piece in tokens[start..].chunks(Rollback::PIECE) {
            let slice = Slice {
                tokens: piece,
                start,
                pages,
                wanted: Wanted::Nothing,
                slot: self.slot,
            };
            forward.forward(&[slice], &mut nothing)?;
            start += piece.len();
        }
        Ok(())
    }
}
