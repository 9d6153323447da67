//! Recurrent state on the CPU: a slot for each sequence, with the numbers of every recurrent layer one after the
//! other.

use super::packed::Buffer;
use crate::step::{Slice, SlotBook};
use crate::{Error, Result};
use std::ops::Range;

/// All slots. Workers write disjoint parts.
#[derive(Debug)]
pub struct Slots {
    memory: Buffer,
    /// Where each state begins in a slot, and where the last one ends.
    ends: Vec<usize>,
    book: SlotBook,
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
            book: SlotBook::new(if floats == 0 { 0 } else { slots }),
        })
    }

    /// Slots; none where no layer is recurrent.
    pub fn count(&self) -> usize {
        self.book.count()
    }

    /// As [`SlotBook::begin`].
    pub fn begin(&mut self, slices: &[Slice<'_>]) -> Result<()> {
        self.book.begin(slices)
    }

    /// As [`SlotBook::end`].
    pub fn end(&mut self, slices: &[Slice<'_>]) {
        self.book.end(slices);
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
            (slot as usize) < self.book.count() && from <= to && to <= self.ends[state + 1],
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
