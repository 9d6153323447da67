//! Recurrent state on the CPU: a slot for each sequence, with the numbers of every recurrent layer one after the
//! other.

use super::huge::Buffer;
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
    /// Copies of slots; each gets its memory when it is first used.
    snapshots: Vec<Option<Buffer>>,
}

impl Slots {
    /// Reserves `slots` slots for states of so many numbers; the system gives memory as they are first written.
    /// `snapshots` copies of them can be kept.
    pub fn new(slots: usize, snapshots: usize, states: &[usize]) -> Result<Slots> {
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
        let (slots, snapshots) = match floats {
            0 => (0, 0),
            _ => (slots, snapshots),
        };
        Ok(Slots {
            memory: Buffer::new(bytes)?,
            ends,
            book: SlotBook::new(slots, snapshots),
            snapshots: (0..snapshots).map(|_| None).collect(),
        })
    }

    /// Slots; none where no layer is recurrent.
    pub fn count(&self) -> usize {
        self.book.count()
    }

    /// Snapshots.
    pub fn snapshots(&self) -> usize {
        self.snapshots.len()
    }

    /// As [`SlotBook::keep`]; `false` if there is no memory for it.
    pub fn keep(&mut self, slot: u32, snapshot: u32) -> Result<bool> {
        self.book.keep(slot, snapshot)?;
        let bytes = self.slot_bytes();
        let place = &mut self.snapshots[snapshot as usize];
        if place.is_none() {
            *place = Buffer::new(bytes).ok();
        }
        let Some(copy) = place else { return Ok(false) };
        let from = slot as usize * bytes;
        // SAFETY: the book knows the slot, so it lies inside the memory; a snapshot has a slot's bytes; no worker
        // runs now.
        unsafe {
            let from = self.memory.as_ptr().add(from);
            std::ptr::copy_nonoverlapping(from, copy.as_ptr(), bytes);
        }
        Ok(true)
    }

    /// As [`SlotBook::restore`].
    pub fn restore(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        let bytes = self.slot_bytes();
        let Some(Some(copy)) = self.snapshots.get(snapshot as usize) else {
            return Err(Error::InvalidArgument(format!(
                "snapshot {snapshot}: there is none"
            )));
        };
        self.book.restore(snapshot, slot)?;
        let to = slot as usize * bytes;
        // SAFETY: as in `keep`.
        unsafe {
            let to = self.memory.as_ptr().add(to);
            std::ptr::copy_nonoverlapping(copy.as_ptr(), to, bytes);
        }
        Ok(())
    }

    /// Bytes of a slot.
    pub fn slot_bytes(&self) -> usize {
        self.ends[self.ends.len() - 1] * size_of::<f32>()
    }

    /// Copies the state of a slot, as [`SlotBook::seen`].
    pub fn read(&mut self, slot: u32, to: &mut [u8]) -> Result<()> {
        self.book.seen(slot)?;
        to.copy_from_slice(self.whole(slot, to.len())?);
        Ok(())
    }

    /// Gives a slot a state that was read, as [`SlotBook::write`].
    pub fn write(&mut self, slot: u32, tokens: usize, from: &[u8]) -> Result<()> {
        self.book.write(slot, tokens)?;
        self.whole(slot, from.len())?.copy_from_slice(from);
        Ok(())
    }

    /// The bytes of a slot. No worker runs meanwhile.
    fn whole(&mut self, slot: u32, bytes: usize) -> Result<&mut [u8]> {
        if slot as usize >= self.book.count() || bytes != self.slot_bytes() {
            let what = format!("{bytes} bytes for slot {slot} of recurrent states");
            return Err(Error::Internal(what));
        }
        // SAFETY: the slot lies inside the memory, which is initialised, and `self` is borrowed alone.
        let slot = unsafe {
            let start = self.memory.as_ptr().add(slot as usize * bytes);
            std::slice::from_raw_parts_mut(start, bytes)
        };
        Ok(slot)
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
