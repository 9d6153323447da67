//! Global memory race checks: accesses of two waves to the same bytes that nothing orders. Per dword
//! the last writer and the last reader of the launch; waves of a workgroup are ordered by barriers,
//! workgroups by atomics (`releases`).

use super::footprint::{Footprint, PART_READ, PART_WRITE, READ, WRITE};
use super::releases::Releases;
use super::wave::{Fail, Wave, lanes_of};
use super::workgroup::{Access, Group};
use crate::memory::Snapshot;
use parking_lot::Mutex;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// Dwords of a block of a shadow.
const BLOCK: usize = 256;

/// The shadow of one region.
struct Shadow {
    /// Writer and reader of each dword.
    cells: Vec<AtomicU64>,
    /// One bit for each block of dwords that was touched.
    touched: Vec<AtomicU64>,
}

impl Shadow {
    fn new(bytes: usize) -> Shadow {
        let dwords = bytes / 4 + 2;
        Shadow {
            cells: cells(2 * dwords),
            touched: zeroed(dwords / BLOCK / 64 + 1),
        }
    }

    fn touch(&self, dword: usize) {
        let block = dword / BLOCK;
        if let Some(word) = self.touched.get(block / 64)
            && word.load(Ordering::Relaxed) >> (block % 64) & 1 == 0
        {
            word.fetch_or(1 << (block % 64), Ordering::Relaxed);
        }
    }

    /// Numbers of the blocks that were touched.
    fn blocks(&self) -> impl Iterator<Item = usize> + '_ {
        self.touched.iter().enumerate().flat_map(|(index, word)| {
            let bits = word.load(Ordering::Relaxed);
            (0..64)
                .filter(move |bit| bits >> bit & 1 == 1)
                .map(move |bit| 64 * index + bit)
        })
    }
}

/// The shadow of global memory for one launch: per dword its last writer and reader.
pub struct GlobalRace {
    /// One for each region of the snapshot, made at its first access.
    shadows: Vec<OnceLock<Shadow>>,
    sizes: Vec<usize>,
    pub releases: Releases,
}

/// Workgroup, bytes, atomics so far, wave, barrier interval and kind in 64 bits (0 is nobody).
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Who(u64);

const GROUP_BITS: u32 = 30;

/// Barriers that the workgroup has passed.
pub fn interval(g: &Group) -> u64 {
    u64::from(g.epoch - g.first_epoch) & 0xffff
}

impl Who {
    fn new(g: &Group, w: &Wave, atomic: bool) -> Who {
        Who(u64::from(atomic) << 63
            | u64::from(g.atomics.min(0xff)) << 55
            | interval(g) << 39
            | (u64::from(w.index) & 0x1f) << 34
            | (u64::from(g.number) + 1) & ((1 << GROUP_BITS) - 1))
    }

    fn without_bytes(self) -> u64 {
        self.0 & !(15 << GROUP_BITS)
    }

    fn with_bytes(self, bytes: u64) -> Who {
        Who(self.without_bytes() | bytes << GROUP_BITS)
    }

    fn bytes(self) -> u64 {
        self.0 >> GROUP_BITS & 15
    }

    pub fn group(self) -> u32 {
        ((self.0 & ((1 << GROUP_BITS) - 1)) as u32).wrapping_sub(1)
    }

    pub fn wave(self) -> u32 {
        (self.0 >> 34 & 31) as u32
    }

    pub fn interval(self) -> u64 {
        self.0 >> 39 & 0xffff
    }

    pub fn atomics(self) -> usize {
        (self.0 >> 55 & 0xff) as usize
    }

    fn is_atomic(self) -> bool {
        self.0 >> 63 != 0
    }
}

impl GlobalRace {
    pub fn new(snapshot: &Snapshot) -> GlobalRace {
        GlobalRace {
            shadows: snapshot.regions.iter().map(|_| OnceLock::new()).collect(),
            sizes: snapshot
                .regions
                .iter()
                .map(|r| (r.end() - r.start()) as usize)
                .collect(),
            releases: Releases::default(),
        }
    }

    /// Whether `before`, seen earlier at these bytes, is ordered before what the current wave does now.
    ///
    /// # Errors
    /// What is missing, in words.
    fn ordered(
        &self,
        g: &Group,
        w: &Wave,
        before: Who,
        bytes: (u64, u64),
        access: Access,
        wrote: bool,
    ) -> Result<(), &'static str> {
        if before.group() != g.number {
            return self.releases.check(g, w, before, bytes, access, wrote);
        }
        if before.wave() == w.index & 31 {
            return Ok(());
        }
        let v = &g.visible;
        if before.interval() == interval(g) {
            return if before.atomics() < (g.atomics as usize).min(0xff) {
                Ok(())
            } else {
                Err("nothing orders the two")
            };
        }
        if v.rules.near_caches {
            if v.open_at(w.index, bytes.0, bytes.1, false, access)
                .is_some()
            {
                return Err("its counter was not waited for before the barrier");
            }
            if wrote && access == Access::Read && w.near <= before.interval() {
                return Err("no L0 cache was invalidated since the barrier");
            }
        }
        Ok(())
    }

    /// All memory of the snapshot's regions that was touched. The shadows go back to be used again.
    pub fn footprint(self, snapshot: &Snapshot) -> Footprint {
        let mut footprint = Footprint::default();
        for (shadow, region) in self.shadows.into_iter().zip(&snapshot.regions) {
            let Some(mut shadow) = shadow.into_inner() else {
                continue;
            };
            let base = region.start() & !3;
            let blocks: Vec<usize> = shadow.blocks().collect();
            for block in blocks {
                let first = 2 * BLOCK * block;
                let end = (first + 2 * BLOCK).min(shadow.cells.len());
                let cells = shadow.cells.get_mut(first..end).unwrap_or_default();
                collect(
                    plain(cells),
                    base + 4 * (BLOCK * block) as u64,
                    &mut footprint,
                );
            }
            give_back(shadow.cells);
        }
        footprint
    }

    /// Checks and records the accesses of a wave (`w.addrs`) that lie in one region.
    pub fn check_lanes(
        &self,
        g: &Group,
        w: &Wave,
        mask: u64,
        len: u64,
        region: (u64, usize),
        access: Access,
    ) -> Result<(), Box<Fail>> {
        // Lanes that go on where the one before them ended, or share its address, are one access.
        let (mut start, mut end) = (0, 0);
        let mut all = Ok(());
        for lane in lanes_of(mask) {
            let addr = w.addrs[lane];
            if addr == end {
                end += len;
            } else if addr != end.wrapping_sub(len) || end == start {
                all = all.and_then(|()| self.range(g, w, (start, end), region, access));
                (start, end) = (addr, addr + len);
            }
        }
        all = all.and_then(|()| self.range(g, w, (start, end), region, access));
        let Err(fail) = all else {
            return Ok(());
        };
        // Once more to say which lane: what is recorded twice stays the same.
        for lane in lanes_of(mask) {
            self.check(g, w, (w.addrs[lane], len), region, access, lane)?;
        }
        Err(fail)
    }

    /// Checks and records an access to `[at, end)` in the region `(start, number)`.
    fn range(
        &self,
        g: &Group,
        w: &Wave,
        (at, end): (u64, u64),
        (start, index): (u64, usize),
        access: Access,
    ) -> Result<(), Box<Fail>> {
        let (Some(shadow), Some(size)) = (self.shadows.get(index), self.sizes.get(index)) else {
            return Ok(());
        };
        let shadow = shadow.get_or_init(|| Shadow::new(*size));
        let me = Who::new(g, w, access.is_atomic()).with_bytes(15).0;
        let base = start & !3;
        // Whole dwords first, then what is left at both ends.
        let (first, last) = (at.next_multiple_of(4), end & !3);
        if first < last {
            let (from, to) = ((first - base) as usize / 4, (last - base) as usize / 4);
            let Some(cells) = shadow.cells.get(2 * from..2 * to) else {
                return Ok(());
            };
            for block in from / BLOCK..=(to - 1) / BLOCK {
                shadow.touch(block * BLOCK);
            }
            for (i, pair) in cells.chunks_exact(2).enumerate() {
                let wrote = pair[0].load(Ordering::Relaxed);
                let read = pair[1].load(Ordering::Relaxed);
                // Nobody else was here: nothing to look into.
                let quiet = wrote == 0 || wrote == me;
                match access {
                    Access::Read | Access::AtomicRead | Access::Scalar if quiet => {
                        if read != me {
                            pair[1].store(me, Ordering::Relaxed);
                        }
                    }
                    Access::Write if quiet && (read == 0 || read == me) => {
                        if wrote != me {
                            pair[0].store(me, Ordering::Relaxed);
                        }
                    }
                    _ => {
                        let bytes = (first + 4 * i as u64, 4);
                        self.cell(g, w, (&pair[0], &pair[1]), Who(me), bytes, access, 0)?;
                    }
                }
            }
        }
        let ends = if first < last {
            [(at, first), (last, end)]
        } else {
            [(at, end), (end, end)]
        };
        for (at, end) in ends.into_iter().filter(|(at, end)| at < end) {
            self.check(g, w, (at, end - at), (start, index), access, 0)?;
        }
        Ok(())
    }

    /// Checks and records one access: `(address, bytes)` in the region `(start, number)`.
    pub fn check(
        &self,
        g: &Group,
        w: &Wave,
        (addr, len): (u64, u64),
        (start, index): (u64, usize),
        access: Access,
        lane: usize,
    ) -> Result<(), Box<Fail>> {
        let (Some(shadow), Some(size)) = (self.shadows.get(index), self.sizes.get(index)) else {
            return Ok(());
        };
        let shadow = shadow.get_or_init(|| Shadow::new(*size));
        let me = Who::new(g, w, access.is_atomic());
        let base = start & !3;
        let end = addr + len;
        let mut at = addr;
        while at < end {
            let n = (4 - at % 4).min(end - at);
            let cell = ((at - base) / 4) as usize * 2;
            let Some([writer, reader]) = shadow.cells.get(cell..cell + 2) else {
                return Ok(());
            };
            shadow.touch(cell / 2);
            self.cell(g, w, (writer, reader), me, (at, n), access, lane)?;
            at += n;
        }
        Ok(())
    }

    /// Checks and records an access to `n` bytes at `at` of the dword whose cells (writer, reader) are given.
    #[allow(clippy::too_many_arguments)]
    fn cell(
        &self,
        g: &Group,
        w: &Wave,
        (writer_cell, reader_cell): (&AtomicU64, &AtomicU64),
        me: Who,
        (at, n): (u64, u64),
        access: Access,
        lane: usize,
    ) -> Result<(), Box<Fail>> {
        let bytes = ((1 << n) - 1) << (at % 4);
        let (writer, reader) = (
            Who(writer_cell.load(Ordering::Relaxed)),
            Who(reader_cell.load(Ordering::Relaxed)),
        );
        let conflicts = |other: Who, wrote: bool| {
            let apart =
                other.0 == 0 || other.bytes() & bytes == 0 || (me.is_atomic() && other.is_atomic());
            if apart {
                return None;
            }
            if access == Access::Scalar && !w.scalar_fresh {
                return Some("scalar loads may see what was before the launch");
            }
            self.ordered(g, w, other, (at, at + n), access, wrote).err()
        };
        let verb = if access.reads() { "read" } else { "write" };
        if let Some(why) = conflicts(writer, true) {
            return Err(race(g, lane, verb, at, writer, "wrote", why));
        }
        if !access.reads()
            && let Some(why) = conflicts(reader, false)
        {
            return Err(race(g, lane, verb, at, reader, "read", why));
        }
        let (cell, old) = if access.reads() {
            (reader_cell, reader)
        } else {
            (writer_cell, writer)
        };
        let same = old.without_bytes() == me.without_bytes();
        let new = me.with_bytes(if same { bytes | old.bytes() } else { bytes });
        if new != old {
            cell.store(new.0, Ordering::Relaxed);
        }
        Ok(())
    }
}

/// Adds what the cells of a block say, the first of them at `base`, and clears them.
fn collect(cells: &mut [u64], base: u64, footprint: &mut Footprint) {
    let bytes = |cell: u64| Who(cell).bytes();
    let (mut all, mut any) = ([u64::MAX; 2], [0; 2]);
    for pair in cells.chunks_exact(2) {
        for kind in 0..2 {
            // Nobody has no bytes.
            all[kind] &= pair[kind];
            any[kind] |= pair[kind];
        }
    }
    for (kind, whole, part) in [(0, WRITE, PART_WRITE), (1, READ, PART_READ)] {
        if any[kind] == 0 {
            continue;
        }
        if bytes(all[kind]) == 15 {
            footprint.add(whole, base, base + 2 * cells.len() as u64);
            continue;
        }
        for (at, pair) in (base..).step_by(4).zip(cells.chunks_exact(2)) {
            if pair[kind] != 0 {
                let kind = if bytes(pair[kind]) == 15 { whole } else { part };
                footprint.add(kind, at, at + 4);
            }
        }
    }
    cells.fill(0);
}

fn plain(cells: &mut [AtomicU64]) -> &mut [u64] {
    // SAFETY: nobody else has them; AtomicU64 has the size, alignment and valid bits of u64.
    unsafe { &mut *(std::ptr::from_mut(cells) as *mut [u64]) }
}

/// Cells of finished launches, all zero: new ones would cost a page fault for each page.
static USED: Mutex<Vec<Vec<AtomicU64>>> = Mutex::new(Vec::new());
/// Of so many cells together.
const USED_MOST: usize = 32 << 20;

/// At least so many zeroed cells: used ones that are not much too many, or new ones, of which pages that nobody
/// touches cost nothing.
fn cells(n: usize) -> Vec<AtomicU64> {
    let mut used = USED.lock();
    let fits = (0..used.len()).filter(|i| (n..=8 * n.max(1 << 10)).contains(&used[*i].len()));
    if let Some(best) = fits.min_by_key(|i| used[*i].len()) {
        return used.swap_remove(best);
    }
    drop(used);
    zeroed(n)
}

fn give_back(cells: Vec<AtomicU64>) {
    let mut used = USED.lock();
    if used.iter().map(Vec::len).sum::<usize>() + cells.len() <= USED_MOST {
        used.push(cells);
    }
}

fn zeroed(n: usize) -> Vec<AtomicU64> {
    let mut plain = std::mem::ManuallyDrop::new(vec![0u64; n]);
    // SAFETY: the same allocation; AtomicU64 has the size, alignment and valid bits of u64.
    unsafe { Vec::from_raw_parts(plain.as_mut_ptr().cast(), plain.len(), plain.capacity()) }
}

fn race(
    g: &Group,
    lane: usize,
    verb: &str,
    addr: u64,
    other: Who,
    did: &str,
    why: &str,
) -> Box<Fail> {
    let [x, y, _] = g.shared.grid_blocks;
    let n = other.group();
    let (bx, by, bz) = (n % x, n / x % y, n / x / y);
    Fail::lane(
        lane as u32,
        format!(
            "global race: {verb} of {addr:#x} that block ({bx},{by},{bz}) wave {} {did}: {why}",
            other.wave()
        ),
    )
}
