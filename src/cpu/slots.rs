//! Recurrent state on the CPU: a slot for each sequence, with the numbers of every recurrent layer one after the
//! other.

use super::packed::Buffer;
use crate::step::Slice;
use crate::{Error, Result};
use std::ops::Range;

/// What a slot holds after a step that failed: no tokens of any sequence.
const NOTHING_KNOWN: usize = usize::MAX;

/// All slots. Workers write disjoint parts.
#[derive(Debug)]
pub struct Slots {
    memory: Buffer,
    /// Where each state begins in a slot, and where the last one ends.
    ends: Vec<usize>,
    /// Tokens that the state of each slot has seen.
    seen: Vec<usize>,
}

impl Slots {
    /// Reserves `slots` slots for states of so many numbers; the system gives memory as they are first written.
    pub fn new(slots: usize, states: &[usize]) -> Result<Slots> {
        let mut ends = vec![0];
        for floats in states {
            let last = ends.last().copied().unwrap_or(0);
            ends.push(last + floats);
        }
        let floats = ends.last().copied().unwrap_or(0);
        let bytes = floats
            .checked_mul(size_of::<f32>())
            .and_then(|bytes| bytes.checked_mul(slots));
        let bytes = bytes.ok_or_else(|| {
            Error::OutOfMemory(format!(
                "recurrent states of {slots} sequences are too large"
            ))
        })?;
        Ok(Slots {
            memory: Buffer::new(bytes)?,
            ends,
            seen: vec![0; if floats == 0 { 0 } else { slots }],
        })
    }

    /// Slots; none where no layer is recurrent.
    pub fn count(&self) -> usize {
        self.seen.len()
    }

    /// Checks that the slices go on where their slots are; until [`Slots::end`] says otherwise nothing is known of
    /// these slots.
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

    /// The step of [`Slots::begin`] is done.
    pub fn end(&mut self, slices: &[Slice<'_>]) {
        for slice in slices {
            if let Some(seen) = self.seen.get_mut(slice.slot as usize) {
                *seen = slice.start + slice.tokens.len();
            }
        }
    }

    /// A part of a state.
    ///
    /// # Safety
    /// Nobody else may use this part meanwhile.
    #[allow(clippy::mut_from_ref)] // workers share the slots and write disjoint parts
    pub unsafe fn part(&self, slot: u32, state: usize, part: Range<usize>) -> &mut [f32] {
        let floats = self.ends[self.ends.len() - 1];
        let (from, to) = (self.ends[state] + part.start, self.ends[state] + part.end);
        assert!(
            (slot as usize) < self.seen.len() && from <= to && to <= self.ends[state + 1],
            "outside the slots"
        );
        // SAFETY: inside the slot, which lies inside the memory; aligned as a mapping of f32; exclusive by
        // contract.
        unsafe {
            let start = self.memory.as_ptr().cast::<f32>();
            let start = start.add(slot as usize * floats + from);
            std::slice::from_raw_parts_mut(start, to - from)
        }
    }
}
