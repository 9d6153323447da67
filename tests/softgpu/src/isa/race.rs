//! Race checks: accesses of two waves to the same bytes that nothing orders.
//!
//! LDS: every dword remembers its last writer and the readers since, with the number of barriers
//! passed; two accesses in one interval from different waves, one of them a write, are a race.
//! Global memory: the same per dword over the whole launch. Between workgroups only atomics order:
//! a workgroup that performed an atomic after its write is ordered before one whose own later
//! atomic or atomic load came after that (release and acquire, as tickets and last-block reductions
//! do).

use super::footprint::{Footprint, PART_READ, PART_WRITE, READ, WRITE};
use super::wave::{Fail, Wave, lanes_of};
use super::workgroup::{Access, Group};
use crate::memory::Snapshot;
use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// History of one LDS dword.
#[derive(Clone, Copy, Debug, Default)]
pub struct LdsCell {
    write_epoch: u32,
    read_epoch: u32,
    /// One bit a wave.
    readers: u32,
    writer: u8,
    /// Bytes that the last write touched.
    write_bytes: u8,
    read_bytes: u8,
    /// Bytes ever written by this workgroup; bit 7 says that the last write was atomic.
    written: u8,
}

const ATOMIC: u8 = 0x80;

impl<'l> Group<'l> {
    /// Checks an LDS access and gives its host address.
    pub fn lds_at(
        &mut self,
        wave: u32,
        offset: u32,
        len: u32,
        access: Access,
        lane: usize,
    ) -> Result<*mut u8, Box<Fail>> {
        let end = u64::from(offset) + u64::from(len);
        if end > self.lds.len() as u64 {
            return Err(Fail::lane(
                lane as u32,
                format!(
                    "LDS out of bounds: {len} bytes at {offset} of {}",
                    self.lds.len()
                ),
            ));
        }
        let align = if len < 4 { len } else { 4 };
        if align != 0 && !offset.is_multiple_of(align) {
            return Err(Fail::lane(
                lane as u32,
                format!("misaligned LDS access: {len} bytes at {offset}"),
            ));
        }
        let checks = self.shared.checks;
        if checks.lds_race || checks.uninitialised {
            let mut at = offset;
            while u64::from(at) < end {
                let n = (4 - at % 4).min(end as u32 - at);
                let bytes = (((1u32 << n) - 1) << (at % 4)) as u8;
                if let Err(what) = self.lds_cell(wave, at / 4, bytes, access) {
                    return Err(Fail::lane(
                        lane as u32,
                        format!("{what} at LDS offset {at}"),
                    ));
                }
                at += n;
            }
        }
        Ok(&raw mut self.lds[offset as usize])
    }

    /// Counts all of LDS as written (tests that bring their own contents).
    pub fn mark_lds_written(&mut self) {
        let epoch = self.epoch;
        for c in &mut self.cells {
            (c.write_epoch, c.written, c.write_bytes) = (epoch, 15, 0);
        }
    }

    #[inline(always)]
    fn lds_cell(&mut self, wave: u32, dword: u32, bytes: u8, access: Access) -> Result<(), String> {
        let (epoch, first) = (self.epoch, self.first_epoch);
        let checks = self.shared.checks;
        let c = &mut self.cells[dword as usize];
        if c.write_epoch < first {
            c.written = 0;
        }
        let other_writer =
            c.write_epoch == epoch && u32::from(c.writer) != wave && c.write_bytes & bytes != 0;
        let both_atomic = access == Access::Atomic && c.written & ATOMIC != 0;
        if other_writer && !both_atomic && checks.lds_race {
            let verb = if access.reads() { "read" } else { "write" };
            return Err(format!(
                "LDS race: {verb} by wave {wave} of what wave {} wrote since the last barrier",
                c.writer
            ));
        }
        let own = 1u32 << (wave & 31);
        if access.reads() {
            if checks.uninitialised && c.written & bytes != bytes {
                return Err("uninitialised LDS read".into());
            }
            if c.read_epoch != epoch {
                (c.read_epoch, c.readers, c.read_bytes) = (epoch, 0, 0);
            }
            c.readers |= own;
            c.read_bytes |= bytes;
            return Ok(());
        }
        if checks.lds_race
            && c.read_epoch == epoch
            && c.readers & !own != 0
            && c.read_bytes & bytes != 0
        {
            let reader = (c.readers & !own).trailing_zeros();
            return Err(format!(
                "LDS race: write by wave {wave} of what wave {reader} read since the last barrier"
            ));
        }
        if access == Access::Atomic && checks.uninitialised && c.written & bytes != bytes {
            return Err("uninitialised LDS read".into());
        }
        let same = c.write_epoch == epoch && u32::from(c.writer) == wave;
        c.write_bytes = if same { c.write_bytes | bytes } else { bytes };
        c.write_epoch = epoch;
        c.writer = wave as u8;
        let atomic = if access == Access::Atomic { ATOMIC } else { 0 };
        c.written = c.written & !ATOMIC | bytes | atomic;
        Ok(())
    }
}

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
            cells: zeroed(2 * dwords),
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
    clock: AtomicU64,
    /// Held while an atomic is noted and carried out, so that moments are in the order of its effects.
    turn: Mutex<()>,
    /// Moments of each workgroup's atomics.
    moments: Mutex<HashMap<u32, Vec<u64>>>,
}

/// Workgroup, bytes, atomics so far, wave, barrier interval and kind in 64 bits (0 is nobody).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Who(u64);

const GROUP_BITS: u32 = 30;

fn interval(g: &Group) -> u64 {
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

    fn with_bytes(self, bytes: u64) -> Who {
        Who(self.0 | bytes << GROUP_BITS)
    }

    fn bytes(self) -> u64 {
        self.0 >> GROUP_BITS & 15
    }

    fn group(self) -> u32 {
        ((self.0 & ((1 << GROUP_BITS) - 1)) as u32).wrapping_sub(1)
    }

    fn wave(self) -> u32 {
        (self.0 >> 34 & 31) as u32
    }

    fn interval(self) -> u64 {
        self.0 >> 39 & 0xffff
    }

    fn atomics(self) -> usize {
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
            clock: AtomicU64::new(0),
            turn: Mutex::default(),
            moments: Mutex::default(),
        }
    }

    /// Notes that a workgroup performs an atomic (once a wave instruction), which is to be carried out
    /// before the result is dropped.
    pub fn atomic(&self, g: &mut Group) -> MutexGuard<'_, ()> {
        let turn = self.atomic_read(g);
        let mut moments = self.moments.lock();
        moments.entry(g.number).or_default().push(g.acquired);
        g.atomics += 1;
        turn
    }

    /// The same for an atomic load, which acquires and does not release.
    pub fn atomic_read(&self, g: &mut Group) -> MutexGuard<'_, ()> {
        let turn = self.turn.lock();
        g.acquired = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        turn
    }

    /// Whether `before`, seen earlier, is ordered before what the current wave does now.
    fn ordered(&self, g: &Group, w: &Wave, before: Who) -> bool {
        if before.group() == g.number {
            return before.wave() == w.index & 31
                || before.interval() != interval(g)
                || before.atomics() < (g.atomics as usize).min(0xff);
        }
        let moments = self.moments.lock();
        let released = moments
            .get(&before.group())
            .and_then(|m| m.get(before.atomics()));
        released.is_some_and(|moment| *moment < g.acquired)
    }

    /// All memory of the snapshot's regions that was touched so far.
    pub fn footprint(&self, snapshot: &Snapshot) -> Footprint {
        let mut footprint = Footprint::default();
        for (shadow, region) in self.shadows.iter().zip(&snapshot.regions) {
            let Some(shadow) = shadow.get() else {
                continue;
            };
            let base = region.start() & !3;
            for block in shadow.blocks() {
                let first = 2 * BLOCK * block;
                let end = (first + 2 * BLOCK).min(shadow.cells.len());
                let cells = shadow.cells.get(first..end).unwrap_or_default();
                for (index, pair) in cells.chunks_exact(2).enumerate() {
                    let start = base + 4 * (BLOCK * block + index) as u64;
                    for (cell, whole, part) in
                        [(&pair[0], WRITE, PART_WRITE), (&pair[1], READ, PART_READ)]
                    {
                        let who = Who(cell.load(Ordering::Relaxed));
                        if who.0 != 0 {
                            let kind = if who.bytes() == 15 { whole } else { part };
                            footprint.add(kind, start, start + 4);
                        }
                    }
                }
            }
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
        (start, index): (u64, usize),
        access: Access,
    ) -> Result<(), Box<Fail>> {
        let (Some(shadow), Some(size)) = (self.shadows.get(index), self.sizes.get(index)) else {
            return Ok(());
        };
        let shadow = shadow.get_or_init(|| Shadow::new(*size));
        let me = Who::new(g, w, access.is_atomic()).with_bytes(15).0;
        let base = start & !3;
        let (mut last, mut block) = (u64::MAX, usize::MAX);
        for lane in lanes_of(mask) {
            let addr = w.addrs[lane];
            // Lanes that share an address make one access.
            if addr == last {
                continue;
            }
            last = addr;
            if len < 4 {
                self.check(g, w, (addr, len), (start, index), access, lane)?;
                continue;
            }
            let first = ((addr - base) / 4) as usize;
            for dword in first..first + (len / 4) as usize {
                let Some([writer, reader]) = shadow.cells.get(2 * dword..2 * dword + 2) else {
                    return Ok(());
                };
                if dword / BLOCK != block {
                    block = dword / BLOCK;
                    shadow.touch(dword);
                }
                let (wrote, read) = (
                    writer.load(Ordering::Relaxed),
                    reader.load(Ordering::Relaxed),
                );
                // Nobody else was here: nothing to look into.
                let quiet = wrote == 0 || wrote == me;
                match access {
                    Access::Read | Access::AtomicRead if quiet => {
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
                        let at = base + 4 * dword as u64;
                        self.check(g, w, (at, 4), (start, index), access, lane)?;
                    }
                }
            }
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
            let bytes = ((1 << n) - 1) << (at % 4);
            let cell = ((at - base) / 4) as usize * 2;
            at += n;
            let Some([writer_cell, reader_cell]) = shadow.cells.get(cell..cell + 2) else {
                return Ok(());
            };
            shadow.touch(cell / 2);
            let (writer, reader) = (
                Who(writer_cell.load(Ordering::Relaxed)),
                Who(reader_cell.load(Ordering::Relaxed)),
            );
            let conflicts = |other: Who| {
                other.0 != 0
                    && other.bytes() & bytes != 0
                    && !(me.is_atomic() && other.is_atomic())
                    && !self.ordered(g, w, other)
            };
            let verb = if access.reads() { "read" } else { "write" };
            if conflicts(writer) {
                return Err(race(g, lane, verb, at - n, writer, "wrote"));
            }
            if !access.reads() && conflicts(reader) {
                return Err(race(g, lane, verb, at - n, reader, "read"));
            }
            let (cell, old) = if access.reads() {
                (reader_cell, reader)
            } else {
                (writer_cell, writer)
            };
            let same = old.0 & !(15 << GROUP_BITS) == me.0;
            let new = me.with_bytes(if same { bytes | old.bytes() } else { bytes });
            if new != old {
                cell.store(new.0, Ordering::Relaxed);
            }
        }
        Ok(())
    }
}

/// Zeroed cells; pages that nobody touches cost nothing.
fn zeroed(n: usize) -> Vec<AtomicU64> {
    let mut plain = std::mem::ManuallyDrop::new(vec![0u64; n]);
    // SAFETY: the same allocation; AtomicU64 has the size, alignment and valid bits of u64.
    unsafe { Vec::from_raw_parts(plain.as_mut_ptr().cast(), plain.len(), plain.capacity()) }
}

fn race(g: &Group, lane: usize, verb: &str, addr: u64, other: Who, did: &str) -> Box<Fail> {
    let [x, y, _] = g.shared.grid_blocks;
    let n = other.group();
    let (bx, by, bz) = (n % x, n / x % y, n / x / y);
    Fail::lane(
        lane as u32,
        format!(
            "global race: {verb} of {addr:#x} that block ({bx},{by},{bz}) wave {} {did}, and nothing orders the two",
            other.wave()
        ),
    )
}
