//! Device memory: a registry of allocations at real host addresses.
//!
//! Every access of a kernel is checked against it. Each allocation has 256 bytes of guard on both
//! sides, starts as 0xCD bytes that count as uninitialised (one shadow bit a byte), and stays in
//! quarantine after it is freed so that a late use is reported instead of hitting a neighbour.

mod region;

use parking_lot::Mutex;
use region::GUARD;
pub use region::{Region, Snapshot};
use std::alloc::{Layout, alloc};
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Freed bytes that are kept back before the oldest are really released.
const QUARANTINE_BYTES: usize = 256 << 20;
const POISON_NEW: u8 = 0xCD;
const POISON_FREED: u8 = 0xDD;

#[derive(Default)]
struct State {
    regions: BTreeMap<u64, Arc<Region>>,
    quarantine: VecDeque<Arc<Region>>,
    quarantine_bytes: usize,
    snapshot: Option<Arc<Snapshot>>,
}

/// The registry; internally locked, usable from any thread.
#[derive(Default)]
pub struct Memory {
    state: Mutex<State>,
}

impl Memory {
    pub fn new() -> Self {
        Self::default()
    }

    /// Allocates `bytes` (0 counts as 1), aligned to 256; contents are poison and uninitialised.
    /// None when the host has no memory left.
    pub fn allocate(&self, bytes: usize, label: &str) -> Option<u64> {
        let len = bytes.max(1);
        let layout = Layout::from_size_align(len.checked_add(2 * GUARD)?, GUARD).ok()?;
        // SAFETY: the layout has a size above zero.
        let block = unsafe { alloc(layout) };
        if block.is_null() {
            return None;
        }
        // SAFETY: the block has len + 2*GUARD bytes.
        unsafe { block.write_bytes(POISON_NEW, len + 2 * GUARD) };
        let start = block as u64 + GUARD as u64;
        let shadow = (0..len.div_ceil(64)).map(|_| AtomicU64::new(0)).collect();
        self.insert(Region {
            start,
            len,
            label: label.into(),
            freed: AtomicBool::new(false),
            whole: AtomicBool::new(false),
            left: AtomicUsize::new(len),
            shadow,
            block,
        });
        Some(start)
    }

    /// Frees an allocation by its start address.
    ///
    /// # Errors
    /// A message when the address is not the start of a live allocation.
    pub fn free(&self, addr: u64) -> Result<(), String> {
        let mut state = self.state.lock();
        let Some(region) = state
            .regions
            .get(&addr)
            .filter(|r| !r.block.is_null() && !r.is_freed())
            .cloned()
        else {
            return Err(match state.regions.get(&addr) {
                Some(r) if r.is_freed() => format!("{addr:#x} (\"{}\") is already freed", r.label),
                _ => format!("{addr:#x} is not the start of an allocation"),
            });
        };
        region.freed.store(true, Ordering::Relaxed);
        // SAFETY: the region owns these bytes; device code no longer may touch them.
        unsafe { (region.start as *mut u8).write_bytes(POISON_FREED, region.len) };
        state.quarantine_bytes += region.len;
        state.quarantine.push_back(region);
        while state.quarantine_bytes > QUARANTINE_BYTES {
            let Some(old) = state.quarantine.pop_front() else {
                break;
            };
            state.quarantine_bytes -= old.len;
            state.regions.remove(&old.start);
            state.snapshot = None;
        }
        Ok(())
    }

    /// Registers host memory that kernels may touch; counts as initialised.
    pub fn import(&self, addr: u64, bytes: usize, label: &str) {
        self.insert(Region {
            start: addr,
            len: bytes,
            label: label.into(),
            freed: AtomicBool::new(false),
            whole: AtomicBool::new(true),
            left: AtomicUsize::new(0),
            shadow: Box::default(),
            block: std::ptr::null_mut(),
        });
    }

    /// Takes an imported range out again.
    pub fn forget(&self, addr: u64) {
        let mut state = self.state.lock();
        if state.regions.get(&addr).is_some_and(|r| r.block.is_null()) {
            state.regions.remove(&addr);
            state.snapshot = None;
        }
    }

    /// Start and length of the live range that contains `addr`.
    pub fn find(&self, addr: u64) -> Option<(u64, usize)> {
        self.region(addr)
            .filter(|r| !r.is_freed())
            .map(|r| (r.start, r.len))
    }

    /// Whether every byte of `[addr, addr+len)` is initialised (false outside live ranges).
    pub fn check_initialised(&self, addr: u64, len: usize) -> bool {
        self.part(addr, len)
            .is_some_and(|(r, offset)| r.is_initialised(offset, len))
    }

    /// Marks `[addr, addr+len)` as initialised (copies and fills by the host call this).
    pub fn mark_initialised(&self, addr: u64, len: usize) {
        if let Some((region, offset)) = self.part(addr, len) {
            region.mark(offset, len);
        }
    }

    /// Copies the initialised bits with a copy of device memory, byte for byte.
    pub fn copy_initialised(&self, to: u64, from: u64, len: usize) {
        let (Some((to, to_at)), Some((from, from_at))) = (self.part(to, len), self.part(from, len))
        else {
            return;
        };
        if from.is_initialised(from_at, len) {
            return to.mark(to_at, len);
        }
        for i in (0..len).step_by(64) {
            let n = (len - i).min(64);
            to.mark_bits(to_at + i, n, from.bits(from_at + i, n));
        }
    }

    /// Live allocations as (address, bytes, label); imported ranges are left out.
    pub fn live(&self) -> Vec<(u64, usize, String)> {
        let state = self.state.lock();
        let own = state
            .regions
            .values()
            .filter(|r| !r.block.is_null() && !r.is_freed());
        own.map(|r| (r.start, r.len, r.label.clone())).collect()
    }

    /// Checks the guards of all allocations (host code writing past an end); the labels of damaged ones.
    pub fn damaged_guards(&self) -> Vec<String> {
        let snapshot = self.snapshot();
        let own = snapshot.regions.iter().filter(|r| !r.block.is_null());
        own.filter(|r| {
            // SAFETY: both guards belong to the region's block, which the Arc keeps alive.
            let guards = unsafe {
                [
                    std::slice::from_raw_parts(r.block, GUARD),
                    std::slice::from_raw_parts(r.block.add(GUARD + r.len), GUARD),
                ]
            };
            guards.iter().any(|g| g.iter().any(|b| *b != POISON_NEW))
        })
        .map(|r| r.label.clone())
        .collect()
    }

    /// All ranges now; cheap while nothing was allocated since the last call.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        let mut state = self.state.lock();
        if let Some(s) = &state.snapshot {
            return s.clone();
        }
        let s = Arc::new(Snapshot {
            regions: state.regions.values().cloned().collect(),
        });
        state.snapshot = Some(s.clone());
        s
    }

    fn insert(&self, region: Region) {
        let mut state = self.state.lock();
        state.snapshot = None;
        state.regions.insert(region.start, Arc::new(region));
    }

    fn region(&self, addr: u64) -> Option<Arc<Region>> {
        let state = self.state.lock();
        let (_, region) = state.regions.range(..=addr).next_back()?;
        (addr < region.end()).then(|| region.clone())
    }

    fn part(&self, addr: u64, len: usize) -> Option<(Arc<Region>, usize)> {
        let region = self.region(addr).filter(|r| !r.is_freed())?;
        (addr.checked_add(len as u64)? <= region.end()).then(|| {
            let offset = (addr - region.start) as usize;
            (region, offset)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shadow_follows_marks() {
        let m = Memory::new();
        let a = m.allocate(100, "a").unwrap();
        assert_eq!(a % 256, 0);
        assert!(!m.check_initialised(a, 4));
        m.mark_initialised(a + 3, 10);
        assert!(m.check_initialised(a + 3, 10));
        assert!(!m.check_initialised(a + 2, 4));
        assert!(!m.check_initialised(a + 3, 11));
        m.mark_initialised(a, 100);
        assert!(m.check_initialised(a, 100));
        assert!(!m.check_initialised(a, 101));
        assert_eq!(m.find(a + 99), Some((a, 100)));
        assert_eq!(m.find(a + 100), None);
    }

    #[test]
    fn copies_carry_the_shadow_along() {
        let m = Memory::new();
        let (a, b) = (m.allocate(300, "a").unwrap(), m.allocate(300, "b").unwrap());
        for (at, n) in [(0, 3), (5, 1), (63, 70), (200, 1)] {
            m.mark_initialised(a + at, n);
        }
        m.copy_initialised(b + 17, a, 250);
        for i in 0..300 {
            let copied = (17..267).contains(&i) && m.check_initialised(a + i - 17, 1);
            assert_eq!(m.check_initialised(b + i, 1), copied, "{i}");
        }
        // Written in parts, all of it is initialised.
        for i in (0..300).step_by(7) {
            assert!(!m.snapshot().find(b).unwrap().is_whole());
            m.mark_initialised(b + i, 7.min(300 - i as usize));
        }
        assert!(m.snapshot().find(b).unwrap().is_whole());
    }

    #[test]
    fn freed_memory_is_kept_and_known() {
        let m = Memory::new();
        let a = m.allocate(64, "a").unwrap();
        m.free(a).unwrap();
        assert!(m.free(a).unwrap_err().contains("already freed"));
        assert!(m.find(a).is_none());
        assert!(m.snapshot().find(a).unwrap().is_freed());
        assert!(m.free(a + 8).is_err());
        assert!(m.live().is_empty());
    }
}
