//! Which tokens the recurrent state of each slot has seen, on any device.

use super::Slice;
use crate::{Error, Result};

/// What a slot holds after a step that failed: no tokens of any sequence.
const NOTHING_KNOWN: usize = usize::MAX;

/// The tokens that each slot's state has seen.
#[derive(Debug, Default)]
pub struct SlotBook {
    seen: Vec<usize>,
}

impl SlotBook {
    /// Empty slots; none where no layer is recurrent.
    pub fn new(slots: usize) -> SlotBook {
        SlotBook {
            seen: vec![0; slots],
        }
    }

    /// Slots.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// Checks that the slices go on where their slots are; until [`SlotBook::end`] says otherwise nothing is known
    /// of these slots.
    ///
    /// # Errors
    /// `InvalidArgument` for a slot that is not there, is another slice's too, or holds another state.
    pub fn begin(&mut self, slices: &[Slice<'_>]) -> Result<()> {
        if self.seen.is_empty() {
            return Ok(());
        }
        for (place, slice) in slices.iter().enumerate() {
            let slot = slice.slot;
            let bad = |what: String| Err(Error::InvalidArgument(format!("slot {slot}: {what}")));
            let Some(&seen) = self.seen.get(slot as usize) else {
                return bad(format!("there are {}", self.seen.len()));
            };
            if slices[..place].iter().any(|other| other.slot == slot) {
                return bad("two sequences of a batch".into());
            }
            if slice.start > 0 && seen != slice.start {
                return bad(match seen {
                    NOTHING_KNOWN => "what it held was lost in a step that failed".into(),
                    seen => format!(
                        "it holds {seen} tokens, the slice begins at {}",
                        slice.start
                    ),
                });
            }
        }
        for slice in slices {
            self.seen[slice.slot as usize] = NOTHING_KNOWN;
        }
        Ok(())
    }

    /// The step of [`SlotBook::begin`] is done.
    pub fn end(&mut self, slices: &[Slice<'_>]) {
        for slice in slices {
            if let Some(seen) = self.seen.get_mut(slice.slot as usize) {
                *seen = slice.start + slice.tokens.len();
            }
        }
    }
}
