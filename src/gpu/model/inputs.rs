//! What a step of the model reads besides weights and cache: tokens, positions, page tables. One
//! block of pinned memory, copied to the device in one piece before the program runs.

use crate::gpu::{Device, DeviceBuffer, PinnedBuffer, Stream};
use crate::step::Slice;
use crate::{Error, Result};
use std::sync::Arc;

/// A row of the batch, or of the wanted logits, that is not used.
pub const UNUSED: u32 = u32::MAX;

/// The sizes that a program is recorded for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Bucket {
    /// Tokens of the batch.
    pub rows: usize,
    /// Rows of logits.
    pub wanted: usize,
    /// Pages of the longest sequence.
    pub pages: usize,
}

/// Places in the block, in 32-bit numbers.
#[derive(Debug, Clone, Copy)]
pub struct Places {
    pub tokens: usize,
    pub positions: usize,
    pub slots: usize,
    /// 0, 1, 2, …: the rows of the batch themselves.
    pub all: usize,
    pub wanted: usize,
    /// `[slots][pages]`.
    pub pages: usize,
    pub end: usize,
}

impl Bucket {
    pub fn places(self) -> Places {
        let rows = self.rows;
        Places {
            tokens: 0,
            positions: rows,
            slots: 2 * rows,
            all: 3 * rows,
            wanted: 4 * rows,
            pages: 4 * rows + self.wanted,
            end: 4 * rows + self.wanted + rows * self.pages,
        }
    }
}

/// The block, on the host and on the device.
pub struct Inputs {
    host: PinnedBuffer,
    pub device: DeviceBuffer,
}

impl Inputs {
    /// Room for every bucket up to `most`.
    pub fn new(device: &Arc<Device>, most: Bucket) -> Result<Inputs> {
        let bytes = (most.places().end * 4) as u64;
        Ok(Inputs {
            host: device.alloc_pinned(bytes)?,
            device: device.alloc(bytes)?,
        })
    }

    /// Writes a batch and queues its copy. The last batch's copy has ended.
    pub fn send(&mut self, bucket: Bucket, slices: &[Slice<'_>], stream: &Stream) -> Result<()> {
        let places = bucket.places();
        let block = self.host.as_mut_slice();
        let (numbers, _) = block.as_chunks_mut::<4>();
        let numbers = numbers
            .get_mut(..places.end)
            .ok_or_else(|| Error::Internal("a batch larger than its bucket".into()))?;
        let mut put = |at: usize, value: u32| numbers[at] = value.to_le_bytes();
        let (mut row, mut wanted) = (0, 0);
        for (slot, slice) in slices.iter().enumerate() {
            let asked = slice.tokens.len() - slice.wanted_rows();
            for (i, &token) in slice.tokens.iter().enumerate() {
                put(places.tokens + row, token);
                put(places.positions + row, (slice.start + i) as u32);
                put(places.slots + row, slot as u32);
                put(places.all + row, row as u32);
                if i >= asked {
                    put(places.wanted + wanted, row as u32);
                    wanted += 1;
                }
                row += 1;
            }
            for (i, &page) in slice.pages.iter().take(bucket.pages).enumerate() {
                put(places.pages + slot * bucket.pages + i, page);
            }
        }
        for row in row..bucket.rows {
            put(places.tokens + row, UNUSED);
            put(places.positions + row, UNUSED);
            put(places.slots + row, 0);
            put(places.all + row, UNUSED);
        }
        for wanted in wanted..bucket.wanted {
            put(places.wanted + wanted, UNUSED);
        }
        let used = places.pages + slices.len() * bucket.pages;
        stream.copy_from_pinned(&self.device, 0, &self.host, 0, (used * 4) as u64)
    }
}
