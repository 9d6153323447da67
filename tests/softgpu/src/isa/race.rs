//! Race checks: accesses of two waves to the same bytes that nothing orders.
//!
//! LDS: every dword remembers its last writer and the readers since, with the number of barriers
//! passed; two accesses in one interval from different waves, one of them a write, are a race.
//! Global memory: the same per dword over the whole launch. Between workgroups only atomics order:
//! a workgroup that performed an atomic after its write is ordered before one whose own later
//! atomic came after that (release and acquire, as tickets and last-block reductions do).

use super::wave::{Fail, Wave};
use super::workgroup::{Access, Group};
use parking_lot::Mutex;
use std::collections::HashMap;
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
        if align != 0 && offset % align != 0 {
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
            let verb = if access == Access::Read {
                "read"
            } else {
                "write"
            };
            return Err(format!(
                "LDS race: {verb} by wave {wave} of what wave {} wrote since the last barrier",
                c.writer
            ));
        }
        let own = 1u32 << (wave & 31);
        if access == Access::Read {
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

/// Dwords of one page of the global shadow.
const PAGE: usize = 1024;

/// Per dword: writer and reader of this launch, each as a packed identity.
struct Page {
    writers: [AtomicU64; PAGE],
    readers: [AtomicU64; PAGE],
}

/// The shadow of global memory for one launch.
#[derive(Default)]
pub struct GlobalRace {
    pages: [Mutex<HashMap<u64, Box<Page>>>; 16],
    clock: AtomicU64,
    /// Moments of each workgroup's atomics.
    moments: Mutex<HashMap<u32, Vec<u64>>>,
}

/// Workgroup, atomics so far, wave, barrier interval and kind in 64 bits (0 is nobody).
#[derive(Clone, Copy, PartialEq, Eq)]
struct Who(u64);

impl Who {
    fn new(g: &Group, w: &Wave, atomic: bool) -> Who {
        let interval = u64::from(g.epoch - g.first_epoch) & 0xffff;
        let atomics = u64::from(g.atomics.min(0xff));
        Who(u64::from(atomic) << 63
            | atomics << 54
            | interval << 38
            | (u64::from(w.index) & 0x1f) << 33
            | u64::from(g.number) + 1)
    }

    fn group(self) -> u32 {
        ((self.0 & 0x1_ffff_ffff) as u32).wrapping_sub(1)
    }

    fn wave(self) -> u32 {
        (self.0 >> 33 & 31) as u32
    }

    fn interval(self) -> u64 {
        self.0 >> 38 & 0xffff
    }

    fn atomics(self) -> usize {
        (self.0 >> 54 & 0xff) as usize
    }

    fn is_atomic(self) -> bool {
        self.0 >> 63 != 0
    }
}

impl GlobalRace {
    /// Notes that a workgroup performed an atomic (once a wave instruction).
    pub fn atomic(&self, g: &mut Group) {
        let now = self.clock.fetch_add(1, Ordering::Relaxed) + 1;
        self.moments.lock().entry(g.number).or_default().push(now);
        g.atomics += 1;
    }

    /// Whether `before`, seen earlier, is ordered before what the current wave does now.
    fn ordered(&self, g: &Group, w: &Wave, before: Who) -> bool {
        if before.group() == g.number {
            let interval = u64::from(g.epoch - g.first_epoch) & 0xffff;
            return before.wave() == w.index & 31
                || before.interval() != interval
                || before.atomics() < g.atomics as usize;
        }
        let moments = self.moments.lock();
        let released = moments
            .get(&before.group())
            .and_then(|m| m.get(before.atomics().min(m.len().saturating_sub(1))));
        let acquired = moments.get(&g.number).and_then(|m| m.last());
        matches!((released, acquired), (Some(r), Some(a)) if r < a)
    }

    /// Checks and records one access.
    pub fn check(
        &self,
        g: &Group,
        w: &Wave,
        addr: u64,
        len: u64,
        access: Access,
        lane: usize,
    ) -> Result<(), Box<Fail>> {
        let me = Who::new(g, w, access == Access::Atomic);
        let first = addr / 4;
        let last = (addr + len - 1) / 4;
        for dword in first..=last {
            // Sub-dword neighbours belong to different lanes; only whole dwords are tracked.
            if len < 4 {
                return Ok(());
            }
            let page = dword / PAGE as u64;
            let mut pages = self.pages[(page % 16) as usize].lock();
            let page = pages.entry(page).or_insert_with(|| {
                Box::new(Page {
                    writers: [const { AtomicU64::new(0) }; PAGE],
                    readers: [const { AtomicU64::new(0) }; PAGE],
                })
            });
            let at = dword as usize % PAGE;
            let writer = Who(page.writers[at].load(Ordering::Relaxed));
            let reader = Who(page.readers[at].load(Ordering::Relaxed));
            let both_atomic = me.is_atomic() && writer.is_atomic();
            let verb = if access == Access::Read {
                "read"
            } else {
                "write"
            };
            if writer.0 != 0 && !both_atomic && !self.ordered(g, w, writer) {
                let other = if writer.group() == g.number {
                    "wave"
                } else {
                    "workgroup"
                };
                return Err(Fail::lane(
                    lane as u32,
                    format!(
                        "global race: {verb} of {addr:#x} that another {other} (block {}, wave {}) wrote",
                        writer.group(),
                        writer.wave()
                    ),
                ));
            }
            if access == Access::Read {
                page.readers[at].store(me.0, Ordering::Relaxed);
                continue;
            }
            if reader.0 != 0
                && !(me.is_atomic() && reader.is_atomic())
                && !self.ordered(g, w, reader)
            {
                return Err(Fail::lane(
                    lane as u32,
                    format!(
                        "global race: {verb} of {addr:#x} that block {}, wave {} read",
                        reader.group(),
                        reader.wave()
                    ),
                ));
            }
            page.writers[at].store(me.0, Ordering::Relaxed);
        }
        Ok(())
    }
}
