//! Global memory race checks: accesses of two waves to the same bytes that nothing orders. Per dword
//! the last writer and the last reader of the launch; waves of a workgroup are ordered by barriers,
//! workgroups by atomics (`releases`).

use super::footprint::{Footprint, PART_READ, PART_WRITE, READ, WRITE};
use super::releases::Releases;
use super::shadow::{BLOCK, Block, Shadow};
use super::wave::{Fail, Wave, lanes_of};
use super::workgroup::{Access, Group};
use crate::memory::Snapshot;
use std::ops::Range;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

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

    /// All memory of the snapshot's regions that was touched.
    pub fn footprint(self, snapshot: &Snapshot) -> Footprint {
        let mut footprint = Footprint::default();
        for (shadow, region) in self.shadows.into_iter().zip(&snapshot.regions) {
            let Some(mut shadow) = shadow.into_inner() else {
                continue;
            };
            let base = region.start() & !3;
            shadow.drain(|number, block| {
                let base = base + 4 * (BLOCK * number) as u64;
                let (writers, readers) = block.cells();
                if let Some(writers) = writers {
                    collect(writers, (WRITE, PART_WRITE), base, &mut footprint);
                }
                collect(readers, (READ, PART_READ), base, &mut footprint);
            });
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
        let (mut from, to) = ((first - base) as usize / 4, (last - base) as usize / 4);
        while first < last && from < to {
            let number = from / BLOCK;
            let end = to.min((number + 1) * BLOCK);
            let Some(block) = shadow.block(number) else {
                return Ok(());
            };
            let part = from % BLOCK..from % BLOCK + end - from;
            let first = base + 4 * from as u64;
            self.whole(g, w, block, part, (first, me), access)?;
            from = end;
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
            let dword = ((at - base) / 4) as usize;
            let Some(block) = shadow.block(dword / BLOCK) else {
                return Ok(());
            };
            if !access.reads() {
                block.note_writer();
            }
            let cell = (&block.writers[dword % BLOCK], &block.readers[dword % BLOCK]);
            self.cell(g, w, cell, me, (at, n), access, lane)?;
            at += n;
        }
        Ok(())
    }

    /// Checks and records an access to whole dwords of a block, the first of them at an address; `me` of all bytes.
    fn whole(
        &self,
        g: &Group,
        w: &Wave,
        block: &Block,
        dwords: Range<usize>,
        (first, me): (u64, u64),
        access: Access,
    ) -> Result<(), Box<Fail>> {
        let (Some(writers), Some(readers)) =
            (block.writers.get(dwords.clone()), block.readers.get(dwords))
        else {
            return Ok(());
        };
        if !access.reads() {
            block.note_writer();
        } else if !block.has_writers() {
            // Nobody wrote here: nothing to look into.
            for reader in readers {
                reader.store(me, Ordering::Relaxed);
            }
            return Ok(());
        }
        for (i, (writer, reader)) in writers.iter().zip(readers).enumerate() {
            let wrote = writer.load(Ordering::Relaxed);
            let read = reader.load(Ordering::Relaxed);
            // Nobody else was here.
            let quiet = wrote == 0 || wrote == me;
            match access {
                Access::Read | Access::AtomicRead | Access::Scalar if quiet => {
                    if read != me {
                        reader.store(me, Ordering::Relaxed);
                    }
                }
                Access::Write if quiet && (read == 0 || read == me) => {
                    if wrote != me {
                        writer.store(me, Ordering::Relaxed);
                    }
                }
                _ => {
                    let bytes = (first + 4 * i as u64, 4);
                    self.cell(g, w, (writer, reader), Who(me), bytes, access, 0)?;
                }
            }
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

/// Adds what a block's writers or readers say, the first of them at `base`.
fn collect(cells: &[u64], (whole, part): (usize, usize), base: u64, footprint: &mut Footprint) {
    let bytes = |cell: u64| Who(cell).bytes();
    // Nobody has no bytes.
    let all = cells.iter().fold(u64::MAX, |all, cell| all & cell);
    if bytes(all) == 15 {
        return footprint.add(whole, base, base + 4 * cells.len() as u64);
    }
    for (at, cell) in (base..).step_by(4).zip(cells) {
        if *cell != 0 {
            let kind = if bytes(*cell) == 15 { whole } else { part };
            footprint.add(kind, at, at + 4);
        }
    }
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
