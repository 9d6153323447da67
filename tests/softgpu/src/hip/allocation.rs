//! The memory that the program knows: device allocations and pinned host ranges, live and freed.

use std::alloc::Layout;
use std::collections::BTreeMap;

/// Page of pinned memory, bytes.
const PAGE: usize = 4096;

/// What an allocation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Memory of the device with this ordinal.
    Device(usize),
    /// Page-locked host memory that the runtime allocated.
    Pinned,
    /// Host memory of the program that it registered.
    Registered,
}

/// One allocation.
#[derive(Clone, Debug)]
pub struct Allocation {
    /// First address.
    pub start: u64,
    /// Bytes that were asked for.
    pub bytes: u64,
    /// Where it is.
    pub place: Place,
    /// It was freed; kept to explain late uses.
    pub freed: bool,
    /// Counts allocations, for messages.
    pub number: u64,
}

impl Allocation {
    /// Words for messages: `device 0 allocation #3 of 4096 bytes at 0x…`.
    pub fn describe(&self) -> String {
        let place = match self.place {
            Place::Device(ordinal) => format!("device {ordinal} allocation"),
            Place::Pinned => "pinned allocation".to_owned(),
            Place::Registered => "registered host range".to_owned(),
        };
        format!(
            "{place} #{} of {} bytes at {:#x}",
            self.number, self.bytes, self.start
        )
    }
}

/// What an address range is to the runtime.
#[derive(Clone, Debug)]
pub enum Located {
    /// Inside one live allocation.
    Known(Allocation),
    /// Touches no allocation: ordinary host memory.
    Host,
    /// Begins in an allocation that was freed.
    Freed(Allocation),
    /// Begins in a live allocation and goes past its end.
    Beyond(Allocation),
}

/// The registry of allocations.
#[derive(Debug, Default)]
pub struct Allocations {
    by_start: BTreeMap<u64, Allocation>,
    count: u64,
}

impl Allocations {
    /// Adds a live allocation.
    pub fn insert(&mut self, start: u64, bytes: u64, place: Place) {
        self.count += 1;
        // Freed neighbours that the host has reused must not shadow the new range.
        let stale: Vec<u64> = self
            .by_start
            .range(..start + bytes.max(1))
            .rev()
            .take_while(|(_, old)| old.start + old.bytes.max(1) > start || old.start >= start)
            .filter(|(_, old)| old.freed && old.start + old.bytes.max(1) > start)
            .map(|(old, _)| *old)
            .collect();
        for old in stale {
            self.by_start.remove(&old);
        }
        let number = self.count;
        self.by_start.insert(
            start,
            Allocation {
                start,
                bytes,
                place,
                freed: false,
                number,
            },
        );
    }

    /// The live allocation that starts at `start`.
    pub fn at(&self, start: u64) -> Option<&Allocation> {
        self.by_start.get(&start).filter(|found| !found.freed)
    }

    /// Marks the allocation at `start` as freed.
    pub fn mark_freed(&mut self, start: u64) {
        if let Some(found) = self.by_start.get_mut(&start) {
            found.freed = true;
        }
    }

    /// Forgets a range altogether (unregistered host memory goes back to the program).
    pub fn remove(&mut self, start: u64) {
        self.by_start.remove(&start);
    }

    /// The allocation, live or freed, that contains `address`.
    pub fn containing(&self, address: u64) -> Option<&Allocation> {
        let (_, found) = self.by_start.range(..=address).next_back()?;
        (address < found.start + found.bytes.max(1)).then_some(found)
    }

    /// What `[address, address + bytes)` is.
    pub fn locate(&self, address: u64, bytes: u64) -> Located {
        match self.containing(address) {
            None => Located::Host,
            Some(found) if found.freed => Located::Freed(found.clone()),
            Some(found) if address - found.start + bytes > found.bytes => {
                Located::Beyond(found.clone())
            }
            Some(found) => Located::Known(found.clone()),
        }
    }

    /// All live allocations, by address.
    pub fn live(&self) -> impl Iterator<Item = &Allocation> {
        self.by_start.values().filter(|found| !found.freed)
    }

    /// Bytes of a device's memory that its live allocations take, by pages.
    pub fn device_bytes(&self, ordinal: usize) -> u64 {
        self.live()
            .filter(|found| found.place == Place::Device(ordinal))
            .map(|found| found.bytes.max(1).next_multiple_of(PAGE as u64))
            .sum()
    }
}

/// Takes page-aligned host memory, filled with a pattern that no program wants; `None` when the host
/// has none left.
pub fn take_pinned(bytes: usize) -> Option<u64> {
    let layout = pinned_layout(bytes)?;
    // SAFETY: the layout has a size of at least a page.
    let block = unsafe { std::alloc::alloc(layout) };
    if block.is_null() {
        return None;
    }
    // SAFETY: the block has `layout.size()` bytes.
    unsafe { block.write_bytes(0xCE, layout.size()) };
    Some(block as u64)
}

/// Gives back what [`take_pinned`] gave, with the same size.
///
/// # Safety
/// `start` came from `take_pinned(bytes)` and nothing uses it any more.
pub unsafe fn give_pinned(start: u64, bytes: usize) {
    if let Some(layout) = pinned_layout(bytes) {
        let block = start as *mut u8;
        // SAFETY: the caller's contract: the block is ours with this layout.
        unsafe { std::alloc::dealloc(block, layout) };
    }
}

fn pinned_layout(bytes: usize) -> Option<Layout> {
    let size = bytes.max(1).checked_next_multiple_of(PAGE)?;
    Layout::from_size_align(size, PAGE).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_found_and_freed_ones_explained() {
        let mut known = Allocations::default();
        known.insert(0x1000, 0x100, Place::Device(0));
        known.insert(0x2000, 0x10, Place::Pinned);
        assert!(matches!(known.locate(0x1080, 0x80), Located::Known(a) if a.number == 1));
        assert!(matches!(known.locate(0x1080, 0x81), Located::Beyond(_)));
        assert!(matches!(known.locate(0x1100, 1), Located::Host));
        known.mark_freed(0x1000);
        assert!(matches!(known.locate(0x1000, 1), Located::Freed(_)));
        assert!(known.at(0x1000).is_none());
        known.insert(0x0f80, 0x100, Place::Device(0));
        assert!(matches!(known.locate(0x1010, 1), Located::Known(a) if a.number == 3));
        assert_eq!(known.device_bytes(0), 4096);
        assert_eq!(known.live().count(), 2);
    }
}
