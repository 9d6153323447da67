//! Ranges of memory, and which of their bytes are initialised.

use std::alloc::{Layout, dealloc};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

/// Alignment of allocations and size of the guards.
pub(super) const GUARD: usize = 256;

/// One allocation or imported range.
#[derive(Debug)]
pub struct Region {
    pub(super) start: u64,
    pub(super) len: usize,
    pub(super) label: String,
    pub(super) freed: AtomicBool,
    /// All bytes are initialised; the shadow need not be read.
    pub(super) whole: AtomicBool,
    /// Bytes that nothing has written.
    pub(super) left: AtomicUsize,
    /// One bit a byte; empty for imported ranges.
    pub(super) shadow: Box<[AtomicU64]>,
    /// The block to give back to the host; null for imported ranges.
    pub(super) block: *mut u8,
}

// SAFETY: `block` is only used to free in Drop; all else is atomic or immutable.
unsafe impl Send for Region {}
// SAFETY: as above.
unsafe impl Sync for Region {}

impl Drop for Region {
    fn drop(&mut self) {
        if !self.block.is_null()
            && let Ok(layout) = Layout::from_size_align(self.len + 2 * GUARD, GUARD)
        {
            // SAFETY: allocated by `allocate` with this very layout.
            unsafe { dealloc(self.block, layout) };
        }
    }
}

impl Region {
    pub fn start(&self) -> u64 {
        self.start
    }

    pub fn end(&self) -> u64 {
        self.start + self.len as u64
    }

    pub fn label(&self) -> &str {
        &self.label
    }

    pub fn is_freed(&self) -> bool {
        self.freed.load(Ordering::Relaxed)
    }

    /// Whether every byte is known to be initialised.
    pub fn is_whole(&self) -> bool {
        self.whole.load(Ordering::Relaxed)
    }

    /// Whether `[offset, offset+len)` is initialised; the range must lie inside.
    pub fn is_initialised(&self, offset: usize, len: usize) -> bool {
        if self.whole.load(Ordering::Relaxed) {
            return true;
        }
        each_shadow(offset, len, |word, mask| {
            self.shadow
                .get(word)
                .is_none_or(|s| s.load(Ordering::Relaxed) & mask == mask)
        })
    }

    /// Marks `[offset, offset+len)` as initialised.
    pub fn mark(&self, offset: usize, len: usize) {
        if self.whole.load(Ordering::Relaxed) {
            return;
        }
        if offset == 0 && len >= self.len {
            self.whole.store(true, Ordering::Relaxed);
            return;
        }
        let mut new = 0;
        each_shadow(offset, len, |word, mask| {
            new += self.set(word, mask);
            true
        });
        self.count(new);
    }

    /// Sets bits of the shadow; how many were clear.
    fn set(&self, word: usize, mask: u64) -> usize {
        match self.shadow.get(word) {
            Some(s) if s.load(Ordering::Relaxed) & mask != mask => {
                let before = s.fetch_or(mask, Ordering::Relaxed);
                (mask & !before).count_ones() as usize
            }
            _ => 0,
        }
    }

    /// Bytes were written for the first time; with the last of them the shadow has done its work.
    fn count(&self, new: usize) {
        if new > 0 && self.left.fetch_sub(new, Ordering::Relaxed) == new {
            self.whole.store(true, Ordering::Relaxed);
        }
    }

    /// Which of up to 64 bytes from `offset` on are initialised, from the lowest bit on.
    #[inline]
    pub(super) fn bits(&self, offset: usize, len: usize) -> u64 {
        if self.is_whole() {
            return u64::MAX;
        }
        let mut bits = 0;
        let mut at = 0;
        each_shadow(offset, len, |word, mask| {
            let part = self
                .shadow
                .get(word)
                .map_or(u64::MAX, |s| s.load(Ordering::Relaxed))
                & mask;
            bits |= part >> mask.trailing_zeros() << at;
            at += mask.count_ones();
            true
        });
        bits
    }

    /// Marks those of up to 64 bytes from `offset` on whose bit is set.
    #[inline]
    pub(super) fn mark_bits(&self, offset: usize, len: usize, bits: u64) {
        if self.is_whole() {
            return;
        }
        let (mut new, mut at) = (0, 0);
        each_shadow(offset, len, |word, mask| {
            new += self.set(word, bits >> at << mask.trailing_zeros() & mask);
            at += mask.count_ones();
            true
        });
        self.count(new);
    }
}

/// Calls `f(word of the shadow, mask)` for the bits of a byte range until it says false.
fn each_shadow(offset: usize, len: usize, mut f: impl FnMut(usize, u64) -> bool) -> bool {
    let (mut at, end) = (offset, offset + len);
    while at < end {
        let bit = at % 64;
        let n = (64 - bit).min(end - at);
        let mask = u64::MAX >> (64 - n) << bit;
        if !f(at / 64, mask) {
            return false;
        }
        at += n;
    }
    true
}

/// All ranges at one moment, sorted by address.
#[derive(Debug, Default)]
pub struct Snapshot {
    pub regions: Vec<Arc<Region>>,
}

impl Snapshot {
    /// The range that contains `addr`, or the nearest one below.
    pub fn find(&self, addr: u64) -> Option<&Arc<Region>> {
        let n = self.regions.partition_point(|r| r.start <= addr);
        self.regions
            .get(n.checked_sub(1)?)
            .filter(|r| addr < r.end())
    }

    /// The same with its number in `regions`.
    pub fn find_index(&self, addr: u64) -> Option<(usize, &Arc<Region>)> {
        let n = self
            .regions
            .partition_point(|r| r.start <= addr)
            .checked_sub(1)?;
        self.regions
            .get(n)
            .filter(|r| addr < r.end())
            .map(|r| (n, r))
    }

    /// Words for a message: what lies near an address that is in no range.
    pub fn describe(&self, addr: u64) -> String {
        let n = self.regions.partition_point(|r| r.start <= addr);
        let below = n.checked_sub(1).and_then(|n| self.regions.get(n));
        match (below, self.regions.get(n)) {
            (Some(r), _) if addr < r.end() + (1 << 20) => {
                format!(
                    "{} bytes past the end of \"{}\" ({} bytes)",
                    addr - r.end(),
                    r.label,
                    r.len
                )
            }
            (_, Some(r)) if r.start - addr < (1 << 20) => {
                format!(
                    "{} bytes before \"{}\" ({} bytes)",
                    r.start - addr,
                    r.label,
                    r.len
                )
            }
            _ => "near no allocation".into(),
        }
    }
}
