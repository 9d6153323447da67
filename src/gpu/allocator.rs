//! Memory: size classes and a best-fit cache over the driver's allocation.
//!
//! The driver's free waits for the device (90 to 500 ms on ROCm), so nothing is freed when its owner
//! drops it: it goes to the cache with the marks of the queued work that may still use it, and is
//! given out again once that work is done (or at once to the same stream, whose order protects it).
//! The driver frees only inside an allocation that would pass the limit or failed, and in a trim.

use super::uses::{Mark, Marks};
use crate::driver::{Code, DeviceFacts};
use crate::{Error, Result};
use std::collections::BTreeMap;

/// Memory counters of a device, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct MemoryCounters {
    /// Held by buffers that are alive.
    pub active: u64,
    /// The highest `active` so far.
    pub peak: u64,
    /// Freed by their owners and kept for reuse.
    pub cache: u64,
    /// `active + cache` stay at or below this.
    pub limit: u64,
    /// All of the device's memory.
    pub total: u64,
    /// What the driver says is free now.
    pub free: u64,
}

impl MemoryCounters {
    /// Bytes that could be allocated now, all of the cache freed: under the limit, and beside other programs.
    pub(super) fn room(&self) -> u64 {
        let free = self.free.saturating_add(self.cache);
        self.limit.saturating_sub(self.active).min(free)
    }
}

/// What differs between cards with memory of their own and APUs that share the system's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Policy {
    /// The limit that a device begins with.
    pub limit: u64,
    /// Whether free memory is the system's to tell.
    pub system_memory: bool,
}

impl Policy {
    pub fn of(facts: &DeviceFacts) -> Policy {
        // The rest is for the driver itself (and the display); of an APU's memory the whole system
        // lives.
        let percent = if facts.integrated { 80 } else { 85 };
        Policy {
            limit: facts.memory_total / 100 * percent,
            system_memory: facts.integrated,
        }
    }
}

/// One allocation of the driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Block {
    /// Where the device sees it.
    pub address: u64,
    /// Where the host sees it; 0 for device memory.
    pub host: usize,
    /// Bytes, a size class.
    pub size: u64,
}

struct Cached {
    block: Block,
    marks: Marks,
}

/// Where blocks come from and whether marked work is done.
pub(super) trait Source {
    fn allocate(&self, size: u64) -> Result<Block>;
    fn free(&self, block: Block) -> Code;
    fn is_done(&self, mark: Mark) -> bool;
}

/// Blocks of one kind of memory.
pub(super) struct Pool {
    free: BTreeMap<u64, Vec<Cached>>,
    counters: MemoryCounters,
    what: &'static str,
}

/// Alignment of every block's size, and of what the driver returns at least.
const GRAIN: u64 = 256;

/// The largest step between size classes.
const LARGE: u64 = 2 << 20;

/// The size class for `bytes`: at most an eighth larger, at least 256.
pub(super) fn size_class(bytes: u64) -> Option<u64> {
    let bytes = bytes.max(1);
    let step = (bytes.checked_next_power_of_two()? / 16).clamp(GRAIN, LARGE);
    bytes.checked_next_multiple_of(step)
}

/// The largest block to give out for a class: reuse wastes at most an eighth of large blocks.
fn largest(class: u64) -> u64 {
    class.saturating_add((class / 8).max((64 << 10_u64).min(class)))
}

impl Pool {
    pub fn new(what: &'static str, limit: u64, total: u64) -> Self {
        let counters = MemoryCounters {
            limit,
            total,
            ..MemoryCounters::default()
        };
        Pool {
            free: BTreeMap::new(),
            counters,
            what,
        }
    }

    pub fn counters(&self) -> MemoryCounters {
        self.counters
    }

    pub fn reset_peak(&mut self) {
        self.counters.peak = self.counters.active;
    }

    pub fn set_limit(&mut self, source: &impl Source, limit: u64) -> Result<()> {
        if self.counters.active > limit {
            return Err(Error::OutOfMemory(format!(
                "the limit of {limit} bytes is less than the {} bytes in use",
                self.counters.active
            )));
        }
        self.counters.limit = limit;
        self.shrink(source, limit - self.counters.active);
        Ok(())
    }

    /// A block of at least `bytes`. `stream` says on which stream it is used first; the marks are those of that stream's
    /// work that may still use it: they are the next owner's, who might never use it there.
    pub fn take(
        &mut self,
        source: &impl Source,
        bytes: u64,
        stream: Option<u64>,
    ) -> Result<(Block, Marks)> {
        let class = size_class(bytes).ok_or_else(|| self.too_much(bytes))?;
        if let Some(cached) = self.reuse(source, class, stream) {
            let of_stream = |mark: &Mark| Some(mark.stream) == stream;
            let mark = cached.marks.iter().find(of_stream);
            let marks = mark.map_or_else(Marks::default, Marks::from);
            return Ok((self.activate(cached.block), marks));
        }
        let Some(room) = self.counters.limit.checked_sub(self.counters.active) else {
            return Err(self.too_much(bytes));
        };
        if class > room {
            return Err(self.too_much(bytes));
        }
        self.shrink(source, room - class);
        if self.counters.cache > room - class {
            return Err(self.too_much(bytes));
        }
        let block = match source.allocate(class) {
            Err(Error::OutOfMemory(_)) => {
                self.shrink(source, 0);
                source.allocate(class).map_err(|error| match error {
                    Error::OutOfMemory(_) => self.used_up(bytes),
                    other => other,
                })?
            }
            other => other?,
        };
        Ok((self.activate(block), Marks::default()))
    }

    fn activate(&mut self, block: Block) -> Block {
        let counters = &mut self.counters;
        counters.active += block.size;
        counters.peak = counters.peak.max(counters.active);
        block
    }

    /// The smallest cached block that fits and is free to use.
    fn reuse(&mut self, source: &impl Source, class: u64, stream: Option<u64>) -> Option<Cached> {
        let (size, place) =
            self.free
                .range(class..=largest(class))
                .find_map(|(size, blocks)| {
                    let ready = |cached: &Cached| {
                        cached
                            .marks
                            .iter()
                            .all(|mark| Some(mark.stream) == stream || source.is_done(mark))
                    };
                    Some((*size, blocks.iter().rposition(ready)?))
                })?;
        let blocks = self.free.get_mut(&size)?;
        let cached = blocks.swap_remove(place);
        if blocks.is_empty() {
            self.free.remove(&size);
        }
        self.counters.cache -= size;
        Some(cached)
    }

    /// Takes back a block whose owner is gone; `marks` is the work that may still use it.
    pub fn give_back(&mut self, block: Block, marks: Marks) {
        self.counters.active = self.counters.active.saturating_sub(block.size);
        self.counters.cache += block.size;
        self.free
            .entry(block.size)
            .or_default()
            .push(Cached { block, marks });
    }

    /// Frees cached blocks, the largest first, until at most `keep` bytes are cached. Blocks that
    /// queued work may use stay.
    pub fn shrink(&mut self, source: &impl Source, keep: u64) {
        let sizes: Vec<u64> = self.free.keys().rev().copied().collect();
        for size in sizes {
            let Some(blocks) = self.free.get_mut(&size) else {
                continue;
            };
            let mut place = 0;
            while self.counters.cache > keep
                && let Some(cached) = blocks.get(place)
            {
                if !cached.marks.iter().all(|mark| source.is_done(mark)) {
                    place += 1;
                    continue;
                }
                source.free(cached.block);
                blocks.swap_remove(place);
                self.counters.cache -= size;
            }
            if blocks.is_empty() {
                self.free.remove(&size);
            }
        }
    }

    /// Work that keeps cached blocks from use.
    pub fn pending(&self, source: &impl Source) -> Vec<Mark> {
        let marks = self.free.values().flatten().flat_map(|c| c.marks.iter());
        marks.filter(|mark| !source.is_done(*mark)).collect()
    }

    /// All cached blocks, without a look at their marks: for the end of the device.
    pub fn drain(&mut self) -> Vec<Block> {
        self.counters.cache = 0;
        let free = std::mem::take(&mut self.free);
        free.into_values().flatten().map(|c| c.block).collect()
    }

    fn too_much(&self, bytes: u64) -> Error {
        let MemoryCounters { active, limit, .. } = self.counters;
        Error::OutOfMemory(format!(
            "{bytes} bytes of {} do not fit: {active} of the limit of {limit} bytes are in use; \
             free something, raise the limit, or use a smaller model, context or batch",
            self.what
        ))
    }

    fn used_up(&self, bytes: u64) -> Error {
        let MemoryCounters { active, total, .. } = self.counters;
        Error::OutOfMemory(format!(
            "{bytes} bytes of {} are not free: this process uses {active} of {total} bytes and \
             other programs the rest; close them, or use a smaller model, context or batch",
            self.what
        ))
    }
}

#[cfg(test)]
#[path = "allocator_tests.rs"]
mod tests;
