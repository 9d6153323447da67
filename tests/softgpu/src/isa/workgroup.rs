//! One workgroup in execution: its LDS, its way to memory, and what it counts.

use super::decode::Class;
use super::launch::Shared;
use super::lds::Banks;
use super::lds_race::LdsCell;
use super::visible::Visible;
use super::wave::{Fail, Row, Wave, lanes_of};
use crate::memory::Region;
use std::sync::Arc;

/// High halves of the addresses of LDS and private memory in the flat address space.
pub const SHARED_APERTURE: u32 = 0x2000_0000;
pub const PRIVATE_APERTURE: u32 = 0x2000_0001;

/// What an access does, for the checks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    Read,
    /// A load that sees what other workgroups did atomically.
    AtomicRead,
    /// A scalar load, through a cache of its own.
    Scalar,
    Write,
    Atomic,
}

impl Access {
    pub fn reads(self) -> bool {
        matches!(self, Access::Read | Access::AtomicRead | Access::Scalar)
    }

    pub fn is_atomic(self) -> bool {
        matches!(self, Access::AtomicRead | Access::Atomic)
    }
}

/// A range that accesses may hit; `region` is none for the code object's image and the kernargs.
#[derive(Clone)]
pub struct Cover {
    pub start: u64,
    pub end: u64,
    pub region: Option<Arc<Region>>,
    writable: bool,
    /// Number of the region in the snapshot.
    index: usize,
}

/// Counters that accesses fill while they run.
#[derive(Clone, Copy, Debug, Default)]
pub struct Traffic {
    pub bytes_loaded: u64,
    pub bytes_stored: u64,
    pub last_store: u64,
    pub lines_64: u64,
    pub lines_128: u64,
    pub lds_conflicts: u64,
    pub load_widths: [u64; 6],
    pub load_bytes: [u64; 6],
    pub load_lines: [u64; 6],
}

/// The state that the waves of a workgroup share (reused for the next workgroup of a thread).
pub struct Group<'l> {
    pub shared: &'l Shared<'l>,
    pub block: [u32; 3],
    /// Number of the workgroup in the grid.
    pub number: u32,
    pub lds: Vec<u8>,
    pub cells: Vec<LdsCell>,
    /// Grows at every barrier, never falls back between workgroups.
    pub epoch: u32,
    /// First epoch of this workgroup: older LDS cells hold nothing.
    pub first_epoch: u32,
    recent: [Option<Cover>; 4],
    turn: usize,
    pub traffic: Traffic,
    /// Executions of each instruction of the kernel's range.
    pub counts: Vec<u64>,
    /// Bank conflicts of recent LDS accesses.
    pub banks: [Banks; 8],
    /// Scalars spread over lanes for one instruction.
    pub buffers: [Row; 3],
    /// Atomics of this workgroup so far, and the moment of the last one or of the last atomic load,
    /// for the global race check.
    pub atomics: u32,
    pub acquired: u64,
    /// What waits and fences have to do with it.
    pub visible: Visible,
}

impl<'l> Group<'l> {
    pub fn new(shared: &'l Shared<'l>) -> Group<'l> {
        let lds = shared.lds_bytes;
        Group {
            shared,
            block: [0; 3],
            number: 0,
            lds: vec![0xcd; lds],
            cells: vec![LdsCell::default(); lds.div_ceil(4)],
            epoch: 1,
            first_epoch: 1,
            recent: [const { None }; 4],
            turn: 0,
            traffic: Traffic::default(),
            counts: vec![0; shared.kernel.range.len()],
            banks: [Banks::default(); 8],
            buffers: [[0; 32]; 3],
            atomics: 0,
            acquired: 0,
            visible: Visible {
                rules: shared.rules,
                did: vec![
                    0;
                    if shared.without.is_some() {
                        shared.program.code.len()
                    } else {
                        0
                    }
                ],
                ..Visible::default()
            },
        }
    }

    /// Begins the next workgroup.
    pub fn begin(&mut self, block: [u32; 3], number: u32) {
        self.block = block;
        self.number = number;
        self.epoch += 1;
        self.first_epoch = self.epoch;
        if !self.shared.checks.uninitialised {
            self.lds.fill(0xcd);
        }
        self.atomics = 0;
        self.acquired = 0;
        self.visible.begin();
    }

    /// Difference between run-time addresses and those in the code object.
    pub fn base(&self) -> u64 {
        self.shared.program.base()
    }

    pub fn instruction_at(&self, address: u64) -> Result<usize, Box<Fail>> {
        let pc = address.wrapping_sub(self.base());
        self.shared.program.map.find(pc).ok_or_else(|| {
            Fail::lane(
                0,
                format!("jump to {address:#x}, where no instruction begins"),
            )
        })
    }

    /// Finds what `[addr, addr+len)` lies in.
    pub fn cover(
        &mut self,
        addr: u64,
        len: u64,
        access: Access,
        lane: usize,
    ) -> Result<&Cover, Box<Fail>> {
        let end = addr.wrapping_add(len);
        let hit = self.recent.iter().position(|c| {
            c.as_ref()
                .is_some_and(|c| addr >= c.start && end <= c.end && end > addr)
        });
        let i = match hit {
            Some(i) => i,
            None => {
                let found = self.look_up(addr, len, lane)?;
                self.turn = (self.turn + 1) % self.recent.len();
                self.recent[self.turn] = Some(found);
                self.turn
            }
        };
        let Some(cover) = self.recent[i].as_ref() else {
            return Err(Fail::lane(lane as u32, "no memory"));
        };
        if let Some(r) = &cover.region
            && r.is_freed()
        {
            return Err(Fail::lane(
                lane as u32,
                format!("use after free: {addr:#x} in freed \"{}\"", r.label()),
            ));
        }
        if !cover.writable && !access.reads() {
            return Err(Fail::lane(
                lane as u32,
                format!("write to read-only memory at {addr:#x}"),
            ));
        }
        Ok(cover)
    }

    fn look_up(&self, addr: u64, len: u64, lane: usize) -> Result<Cover, Box<Fail>> {
        let shared = self.shared;
        for (start, end, writable) in shared.extra_ranges() {
            if addr >= start && addr.wrapping_add(len) <= end && addr < end {
                return Ok(Cover {
                    start,
                    end,
                    region: None,
                    writable,
                    index: usize::MAX,
                });
            }
        }
        let snapshot = &shared.snapshot;
        let (index, region) = match snapshot.find_index(addr) {
            Some((i, r)) if addr + len <= r.end() => (i, r),
            Some((_, r)) => {
                return Err(Fail::lane(
                    lane as u32,
                    format!(
                        "out of bounds: {len} bytes at {addr:#x} cross the end of \"{}\"",
                        r.label()
                    ),
                ));
            }
            None => {
                return Err(Fail::lane(
                    lane as u32,
                    format!(
                        "out of bounds: {len} bytes at {addr:#x}, {}",
                        snapshot.describe(addr)
                    ),
                ));
            }
        };
        Ok(Cover {
            start: region.start(),
            end: region.end(),
            region: Some(region.clone()),
            writable: true,
            index,
        })
    }

    /// Checks one access of one lane: bounds, use after free, initialisation, races.
    pub fn check(
        &mut self,
        w: &Wave,
        addr: u64,
        len: u64,
        access: Access,
        lane: usize,
    ) -> Result<(), Box<Fail>> {
        let uninitialised = self.shared.checks.uninitialised;
        let cover = self.cover(addr, len, access, lane)?;
        let (start, index) = (cover.start, cover.index);
        if let Some(region) = &cover.region {
            let offset = (addr - cover.start) as usize;
            if access == Access::Write {
                region.mark(offset, len as usize);
            } else {
                if uninitialised && !region.is_initialised(offset, len as usize) {
                    let what = format!(
                        "uninitialised read of {len} bytes at offset {offset} of \"{}\"",
                        region.label()
                    );
                    return Err(Fail::lane(lane as u32, what));
                }
                if access == Access::Atomic {
                    region.mark(offset, len as usize);
                }
            }
        }
        if let Some(race) = &self.shared.race {
            race.check(self, w, (addr, len), (start, index), access, lane)?;
            if self.visible.rules.global {
                self.visible.touch(addr, len, false, access);
            }
        }
        Ok(())
    }

    /// What addresses of an access of vector memory must be multiples of.
    ///
    /// AMD's hardware has them anywhere: Linux sets `SH_MEM_CONFIG.alignment_mode` to UNALIGNED, and LLVM counts on it for
    /// amdhsa (`unaligned-access-mode`); atomics and scalar loads have rules of their own (`atomics.rs`, `smem.rs`), as
    /// local memory has (`lds_race.rs`). NVIDIA's hardware refuses them, and the kernels' sources are the same, so what
    /// is no multiple of a word is refused here too. But for CDNA the compiler makes loads of words from a loop's loads of
    /// 16-bit numbers, which the source cannot be blamed for.
    fn alignment(&self, len: u64, access: Access) -> u64 {
        let joins = matches!(access, Access::Read) && self.shared.program.target.cdna;
        len.min(if joins { 2 } else { 4 })
    }

    /// Checks the accesses of a whole wave (addresses in `w.addrs`) at once; lane by lane only where one
    /// range does not do.
    pub fn check_wave(
        &mut self,
        w: &Wave,
        mask: u64,
        len: u64,
        access: Access,
    ) -> Result<(), Box<Fail>> {
        if mask == 0 {
            return Ok(());
        }
        let addrs = &w.addrs;
        let (mut low, mut high, mut bits) = (u64::MAX, 0, 0);
        let full = mask == w.all();
        let first = addrs[0];
        // Lane after lane without a gap is the common case and cheap to see.
        let in_order = full && {
            let mut differs = 0;
            for (i, a) in addrs[..w.lanes].iter().enumerate() {
                differs |= a ^ first.wrapping_add(i as u64 * len);
            }
            differs == 0
        };
        if in_order {
            (low, high, bits) = (first, first.wrapping_add((w.lanes as u64 - 1) * len), first);
        } else if full {
            for &a in &addrs[..w.lanes] {
                low = low.min(a);
                high = high.max(a);
                bits |= a;
            }
        } else {
            for lane in lanes_of(mask) {
                let a = addrs[lane];
                low = low.min(a);
                high = high.max(a);
                bits |= a;
            }
        }
        let align = self.alignment(len, access);
        if bits & (align - 1) != 0 {
            let lane = lanes_of(mask)
                .find(|l| addrs[*l] & (align - 1) != 0)
                .unwrap_or(0);
            return Err(Fail::lane(
                lane as u32,
                format!(
                    "misaligned access: {len} bytes at {:#x} (alignment {align})",
                    addrs[lane]
                ),
            ));
        }
        let span = high.wrapping_sub(low).wrapping_add(len);
        if in_order || low == high {
            let last = low.wrapping_add(span.wrapping_sub(1));
            self.traffic.lines_64 += (last >> 6).wrapping_sub(low >> 6) + 1;
            self.traffic.lines_128 += (last >> 7).wrapping_sub(low >> 7) + 1;
        } else {
            self.count_lines(addrs, mask, len, w.lanes);
        }
        // One range around all lanes: then only the shadow may need a closer look.
        if span < 1 << 32 {
            let uninitialised = self.shared.checks.uninitialised;
            let dense = in_order || span == len * u64::from(mask.count_ones());
            if let Ok(cover) = self.cover(low, span, access, 0) {
                let (start, index) = (cover.start, cover.index);
                let done = match (&cover.region, access) {
                    (None, _) => true,
                    (Some(r), _) if r.is_whole() => true,
                    (Some(_), Access::Read | Access::AtomicRead | Access::Scalar)
                        if !uninitialised =>
                    {
                        true
                    }
                    (Some(r), Access::Read | Access::AtomicRead | Access::Scalar) => {
                        // A wide span would cost more to look through than the lanes alone.
                        span <= 4096 && r.is_initialised((low - start) as usize, span as usize)
                    }
                    (Some(r), Access::Write) if dense && distinct(addrs, mask, in_order) => {
                        r.mark((low - start) as usize, span as usize);
                        true
                    }
                    _ => false,
                };
                if done {
                    let Some(race) = &self.shared.race else {
                        return Ok(());
                    };
                    race.check_lanes(self, w, mask, len, (start, index), access)?;
                    if self.visible.rules.global {
                        if in_order || low == high {
                            self.visible.touch(low, span, false, access);
                        } else {
                            for lane in lanes_of(mask) {
                                self.visible.touch(w.addrs[lane], len, false, access);
                            }
                        }
                    }
                    return Ok(());
                }
            }
        }
        for lane in lanes_of(mask) {
            self.check(w, addrs[lane], len, access, lane)?;
        }
        Ok(())
    }

    /// Distinct cache lines of one wave access.
    fn count_lines(&mut self, addrs: &[u64; 64], mask: u64, len: u64, lanes: usize) {
        // Lines of 64 bytes first; those of 128 follow from them.
        let (mut narrow, mut broad, mut last, mut ordered) = (0u64, 0u64, u64::MAX - 1, true);
        let mut visit = |a: u64| {
            let (first, end) = (a >> 6, a.wrapping_add(len - 1) >> 6);
            ordered &= last == u64::MAX - 1 || first >= last;
            narrow += u64::from(first != last) + end.wrapping_sub(first).min(1);
            broad +=
                u64::from(first >> 1 != last >> 1) + (end >> 1).wrapping_sub(first >> 1).min(1);
            last = end;
        };
        if mask == u64::MAX || (lanes == 32 && mask == 0xffff_ffff) {
            addrs[..lanes].iter().for_each(|a| visit(*a));
        } else {
            lanes_of(mask).for_each(|l| visit(addrs[l]));
        }
        if !ordered {
            let mut lines = [0u64; 128];
            let mut k = 0;
            for lane in lanes_of(mask) {
                lines[k] = addrs[lane] >> 6;
                lines[k + 1] = addrs[lane].wrapping_add(len - 1) >> 6;
                k += 2;
            }
            let lines = &mut lines[..k];
            lines.sort_unstable();
            let count = |shift: u32| {
                1 + lines
                    .windows(2)
                    .filter(|p| p[0] >> shift != p[1] >> shift)
                    .count() as u64
            };
            (narrow, broad) = if k == 0 { (0, 0) } else { (count(0), count(1)) };
        }
        self.traffic.lines_64 += narrow;
        self.traffic.lines_128 += broad;
    }

    /// The host address of one lane's access in the flat address space, checked.
    pub fn flat(
        &mut self,
        w: &mut Wave,
        addr: u64,
        len: u64,
        access: Access,
        lane: usize,
    ) -> Result<*mut u8, Box<Fail>> {
        match (addr >> 32) as u32 {
            SHARED_APERTURE => self.lds_at(w.index, addr as u32, len as u32, access, lane),
            PRIVATE_APERTURE => scratch_at(w, i64::from(addr as u32), len, lane),
            _ => {
                self.check(w, addr, len, access, lane)?;
                Ok(addr as *mut u8)
            }
        }
    }

    /// Adds the executions of each instruction to the classes.
    pub fn classes(&self) -> super::Classes {
        let mut c = super::Classes::default();
        // Idle instructions that were stepped over ran as often as the one before them.
        let mut before = 0;
        let code = &self.shared.program.code[self.shared.kernel.range.clone()];
        let mut code = code.iter().zip(&self.counts).peekable();
        while let Some((inst, direct)) = code.next() {
            let n = &(direct + before);
            let idle_next = code.peek().is_some_and(|(next, _)| next.idle);
            before = if inst.falls_through() && idle_next {
                *n
            } else {
                0
            };
            *match inst.class {
                Class::Valu => &mut c.valu,
                Class::Salu => &mut c.salu,
                Class::Smem => &mut c.smem,
                Class::Load => &mut c.vmem_load,
                Class::Store => &mut c.vmem_store,
                Class::Atomic => &mut c.vmem_atomic,
                Class::Lds => &mut c.lds,
                Class::Matrix => &mut c.matrix,
                Class::Dot => &mut c.dot,
                Class::Branch => &mut c.branch,
                Class::Barrier => &mut c.barrier,
                Class::Other => &mut c.other,
            } += n;
        }
        c
    }
}

/// A lane's private memory.
pub fn scratch_at(w: &mut Wave, offset: i64, len: u64, lane: usize) -> Result<*mut u8, Box<Fail>> {
    let inside = offset >= 0 && offset as u64 + len <= w.scratch_lane as u64;
    if !inside {
        return Err(Fail::lane(
            lane as u32,
            format!(
                "private memory out of bounds: {len} bytes at {offset} of {}",
                w.scratch_lane
            ),
        ));
    }
    let at = lane * w.scratch_lane + offset as usize;
    Ok(&raw mut w.scratch[at])
}

/// Whether no two lanes share an address (so that a span as long as all lanes has no gap).
fn distinct(addrs: &[u64; 64], mask: u64, in_order: bool) -> bool {
    in_order || {
        let mut last = None;
        lanes_of(mask).all(|l| last.replace(addrs[l]).is_none_or(|p| p < addrs[l]))
    }
}
