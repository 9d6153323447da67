//! What recurrent layers keep for each sequence: the states of all slots, and copies of slots.
//!
//! A slot's states are there twice: a step reads one copy and writes the other, so it may run again with the same
//! result (trials of graphs, a BLAS that failed) until the next step of the slot begins.

use super::delta_chunks::ChunkMemory;
use super::inputs::SEQUENCE_WORDS;
use super::recurrent::delta_floats;
use crate::gpu::constants::recurrent_conv;
use crate::gpu::{Args, Device, DeviceBuffer, Range, Stream};
use crate::step::{Schedule, Slice, SlotBook, StateSize, Step};
use crate::{Error, Result};
use std::sync::Arc;

/// Flags of a sequence: its state is zero; the second copy is the one to read; from
/// this bit on, the rows behind it that are not used.
const FRESH: u32 = recurrent_conv::FRESH as u32;
const SECOND: u32 = recurrent_conv::SECOND as u32;
const UNUSED_ROWS: u32 = recurrent_conv::UNUSED_ROWS as u32;

/// The numbers of each state, as kernels lay it out.
fn sizes(schedule: &Schedule) -> Vec<usize> {
    let mut sizes = schedule.recurrent.clone();
    for step in &schedule.steps {
        if let Step::GatedDelta(step) = step {
            sizes[step.shape.state] = delta_floats(step);
        }
    }
    sizes
}

/// The states of all slots.
pub struct RecurrentMemory {
    pub(super) data: DeviceBuffer,
    /// Where each state begins in a slot, and where the last one ends; in numbers.
    ends: Vec<usize>,
    /// The numbers of each state, behind which there may be a gap.
    sizes: Vec<usize>,
    book: SlotBook,
    /// Whether the second copy of a slot is the newer one.
    second: Vec<bool>,
    /// Copies of slots that are kept; each gets its memory when it is first used.
    snapshots: Vec<Option<DeviceBuffer>>,
    /// Of many tokens of a sequence.
    pub(super) chunks: Option<ChunkMemory>,
}

impl RecurrentMemory {
    /// Memory for the schedule's recurrent layers, if it has any, in batches of up to so many rows.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        size: &StateSize,
        rows: usize,
    ) -> Result<Option<Self>> {
        let slots = size.sequences;
        if schedule.recurrent.is_empty() {
            return Ok(None);
        }
        let sizes = sizes(schedule);
        let mut ends = vec![0];
        for size in &sizes {
            ends.push(ends.last().copied().unwrap_or(0) + size.next_multiple_of(4));
        }
        Ok(Some(RecurrentMemory {
            data: device.alloc(Self::bytes(schedule, slots)?)?,
            ends,
            sizes,
            book: SlotBook::new(slots, size.snapshots),
            second: vec![false; slots],
            snapshots: vec![None; size.snapshots],
            chunks: ChunkMemory::new(device, schedule, rows, slots)?,
        }))
    }

    /// Bytes of the states of so many sequences.
    ///
    /// # Errors
    /// `OutOfMemory` if they are too many to be counted.
    pub fn bytes(schedule: &Schedule, slots: usize) -> Result<u64> {
        let floats = sizes(schedule)
            .into_iter()
            .map(|size| size.next_multiple_of(4));
        let floats = floats.sum::<usize>();
        let too_large = || {
            let bytes = floats as f64 * 8.0 / 1e6;
            Error::OutOfMemory(format!(
                "recurrent states of {slots} sequences with {bytes} MB each are too large"
            ))
        };
        let numbers = floats.checked_mul(2 * slots).ok_or_else(too_large)?;
        u32::try_from(floats).map_err(|_| too_large())?;
        Ok((numbers * 4) as u64)
    }

    /// Sequences that have room.
    pub fn slots(&self) -> usize {
        self.book.count()
    }

    /// Snapshots.
    pub fn snapshots(&self) -> usize {
        self.snapshots.len()
    }

    /// As [`SlotBook::keep`], in the stream's order; `false` if there is no memory for it.
    pub fn keep(&mut self, stream: &Stream, slot: u32, snapshot: u32) -> Result<bool> {
        self.book.keep(slot, snapshot)?;
        let newer = self.place(slot, self.second[slot as usize]);
        let place = &mut self.snapshots[snapshot as usize];
        let copy = match place {
            Some(copy) => copy,
            None => match self.data.device().alloc(newer.1) {
                Ok(copy) => place.insert(copy),
                Err(Error::OutOfMemory(_)) => return Ok(false),
                Err(error) => return Err(error),
            },
        };
        stream.copy_on_device(&self.data, newer.0, copy, 0, newer.1)?;
        Ok(true)
    }

    /// As [`SlotBook::restore`], in the stream's order.
    pub fn restore(&mut self, stream: &Stream, snapshot: u32, slot: u32) -> Result<()> {
        let Some(Some(copy)) = self.snapshots.get(snapshot as usize) else {
            return Err(Error::InvalidArgument(format!(
                "snapshot {snapshot}: there is none"
            )));
        };
        self.book.restore(snapshot, slot)?;
        let (at, bytes) = self.place(slot, self.second[slot as usize]);
        stream.copy_on_device(copy, 0, &self.data, at, bytes)
    }

    /// Bytes of a slot.
    pub fn slot_bytes(&self) -> usize {
        self.floats() * 4
    }

    /// Where the state of a slot lies, as [`SlotBook::seen`].
    pub fn newer(&self, slot: u32) -> Result<(DeviceBuffer, u64)> {
        self.book.seen(slot)?;
        let (at, _) = self.place(slot, self.second[slot as usize]);
        Ok((self.data.clone(), at))
    }

    /// The same of one that is about to be written: nothing is known of it until [`RecurrentMemory::is_of`].
    pub fn replace(&mut self, slot: u32) -> Result<(DeviceBuffer, u64)> {
        self.book.lose(slot)?;
        let (at, _) = self.place(slot, self.second[slot as usize]);
        Ok((self.data.clone(), at))
    }

    /// As [`SlotBook::write`].
    pub fn is_of(&mut self, slot: u32, tokens: usize) -> Result<()> {
        self.book.write(slot, tokens)
    }

    /// Clears what no state owns of a slot's bytes: it may be of anybody.
    pub fn clear_gaps(&self, slot: &mut [u8]) {
        for ((start, end), size) in self.ends.iter().zip(&self.ends[1..]).zip(&self.sizes) {
            if let Some(gap) = slot.get_mut((start + size) * 4..end * 4) {
                gap.fill(0);
            }
        }
    }

    /// Where a copy of a slot's states lies, and its bytes.
    fn place(&self, slot: u32, second: bool) -> (u64, u64) {
        let from = (usize::from(second) * self.slots() + slot as usize) * self.floats();
        ((from * 4) as u64, (self.floats() * 4) as u64)
    }

    /// Begins a step, as [`SlotBook::begin`]; gives what kernels ask of each sequence of a batch of `rows`.
    pub fn begin(
        &mut self,
        slices: &[Slice<'_>],
        rows: usize,
    ) -> Result<Vec<[u32; SEQUENCE_WORDS]>> {
        self.book.begin(slices)?;
        let mut first = 0;
        let used: usize = slices.iter().map(|slice| slice.tokens.len()).sum();
        let numbers = slices.iter().map(|slice| {
            let tokens = slice.tokens.len() as u32;
            let mut flags = if slice.start == 0 { FRESH } else { 0 };
            if self.second[slice.slot as usize] {
                flags |= SECOND;
            }
            first += tokens;
            if first as usize == used {
                flags |= ((rows - used) as u32) << UNUSED_ROWS;
            }
            [first - tokens, tokens, slice.slot, flags]
        });
        Ok(numbers.collect())
    }

    /// The step is queued: the copies that it writes are the newer ones.
    pub fn end(&mut self, slices: &[Slice<'_>]) {
        self.book.end(slices);
        for slice in slices.iter().filter(|slice| !slice.tokens.is_empty()) {
            if let Some(second) = self.second.get_mut(slice.slot as usize) {
                *second = !*second;
            }
        }
    }

    /// What a step of the slices writes.
    pub fn written(&self, slices: &[Slice<'_>]) -> impl Iterator<Item = Range> {
        slices.iter().map(move |slice| {
            let other = !self.second[slice.slot as usize];
            let (at, bytes) = self.place(slice.slot, other);
            self.data.range(at, bytes)
        })
    }

    /// Numbers of a slot.
    fn floats(&self) -> usize {
        self.ends[self.ends.len() - 1]
    }

    /// The memory of all slots.
    pub(super) fn whole(&self) -> Range {
        self.data.whole()
    }

    /// A state's place in the first slot, the slots, the numbers of a slot.
    pub(super) fn args(&self, args: Args, state: usize) -> Args {
        self.state(args, "state", state)
            .u32("slots", self.slots() as u32)
            .u32("floats", self.floats() as u32)
    }

    /// Where a state lies, under a name.
    pub(super) fn state(&self, args: Args, name: &'static str, state: usize) -> Args {
        args.buffer(name, &self.data, (self.ends[state] * 4) as u64)
    }
}
