//! LDS race checks: every dword remembers its last writer and the readers since, with the number of
//! barriers passed; two accesses in one interval from different waves, one of them a write, are a race.

use super::wave::{Fail, Wave, lanes_of};
use super::workgroup::{Access, Group};

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

/// Who accesses LDS, and when: the interval between barriers, and the workgroup's first.
#[derive(Clone, Copy)]
struct Me {
    wave: u32,
    epoch: u32,
    first: u32,
}

impl LdsCell {
    /// Records a load of bytes that this workgroup wrote, unless another wave wrote here since the barrier.
    #[inline(always)]
    fn read(&mut self, me: Me, bytes: u8) -> bool {
        let foreign = self.write_epoch == me.epoch && u32::from(self.writer) != me.wave;
        if self.write_epoch < me.first || self.written & bytes != bytes || foreign {
            return false;
        }
        if self.read_epoch != me.epoch {
            (self.read_epoch, self.readers, self.read_bytes) = (me.epoch, 0, 0);
        }
        self.readers |= 1 << (me.wave & 31);
        self.read_bytes |= bytes;
        true
    }

    /// Records a store, unless another wave was here since the barrier.
    #[inline(always)]
    fn write(&mut self, me: Me, bytes: u8) -> bool {
        let same = self.write_epoch == me.epoch;
        let foreign = same && u32::from(self.writer) != me.wave;
        let read = self.read_epoch == me.epoch && self.readers & !(1 << (me.wave & 31)) != 0;
        if foreign || read {
            return false;
        }
        let before = if self.write_epoch < me.first {
            0
        } else {
            self.written & !ATOMIC
        };
        self.written = before | bytes;
        self.write_bytes = if same {
            self.write_bytes | bytes
        } else {
            bytes
        };
        self.write_epoch = me.epoch;
        self.writer = me.wave as u8;
        true
    }
}

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
        if self.visible.rules.lds {
            let (start, end) = (u64::from(offset), end);
            if !self.visible.open.is_empty()
                && let Some(other) = self.visible.open_at(wave, start, end, true, access)
            {
                let verb = if access.reads() { "read" } else { "write" };
                return Err(Fail::lane(
                    lane as u32,
                    format!(
                        "missing wait: {verb} of LDS offset {offset} while an access of wave {other} may be in flight: its counter was not waited for"
                    ),
                ));
            }
            self.visible.touch(start, u64::from(len), true, access);
        }
        Ok(&raw mut self.lds[offset as usize])
    }

    /// Checks the accesses of a wave's lanes at these offsets.
    pub fn lds_wave(
        &mut self,
        wave: u32,
        at: &[u32; 64],
        mask: u64,
        len: u32,
        access: Access,
    ) -> Result<(), Box<Fail>> {
        if !self.lds_is_quiet(wave, at, mask, len, access) {
            for lane in lanes_of(mask) {
                self.lds_at(wave, at[lane], len, access, lane)?;
            }
        }
        Ok(())
    }

    /// Makes `w.addrs` the host addresses of offsets that were checked.
    pub fn lds_addresses(&mut self, w: &mut Wave, at: &[u32; 64]) {
        let base = self.lds.as_mut_ptr() as u64;
        let lanes = w.lanes;
        for (address, at) in w.addrs[..lanes].iter_mut().zip(at) {
            *address = base + u64::from(*at);
        }
    }

    /// Checks and records loads or stores among which nothing is to be looked into. If there is something, the same
    /// lane by lane finds it: what is recorded twice stays the same.
    fn lds_is_quiet(
        &mut self,
        wave: u32,
        at: &[u32; 64],
        mut mask: u64,
        len: u32,
        access: Access,
    ) -> bool {
        let checks = self.shared.checks;
        if !checks.lds_race || !checks.uninitialised || access.is_atomic() {
            return false;
        }
        let (mut low, mut high, mut bits) = (u32::MAX, 0, 0);
        if mask == 0xffff_ffff {
            for a in &at[..32] {
                (low, high, bits) = (low.min(*a), high.max(*a), bits | a);
            }
            // Matrix instructions of gfx11 want the factors in both halves of the lanes.
            if access.reads() && at[..16] == at[16..32] {
                mask = 0xffff;
            }
        } else {
            for lane in lanes_of(mask) {
                let a = at[lane];
                (low, high, bits) = (low.min(a), high.max(a), bits | a);
            }
        }
        let end = u64::from(high) + u64::from(len);
        if mask == 0 || end > self.lds.len() as u64 || bits & (len.min(4) - 1) != 0 {
            return false;
        }
        let ordered = self.visible.rules.lds;
        if ordered && self.visible.open_in_lds(u64::from(low), end) {
            return false;
        }
        let me = Me {
            wave,
            epoch: self.epoch,
            first: self.first_epoch,
        };
        let mut last = u32::MAX;
        for lane in lanes_of(mask) {
            let at = at[lane];
            // Lanes that share an address make one access.
            if at == last {
                continue;
            }
            last = at;
            let bytes = if len < 4 {
                (((1u32 << len) - 1) << (at % 4)) as u8
            } else {
                15
            };
            let cells = &mut self.cells[at as usize / 4..(at + len).div_ceil(4) as usize];
            let quiet = if access.reads() {
                cells.iter_mut().all(|c| c.read(me, bytes))
            } else {
                cells.iter_mut().all(|c| c.write(me, bytes))
            };
            if !quiet {
                return false;
            }
            if ordered {
                self.visible
                    .touch(u64::from(at), u64::from(len), true, access);
            }
        }
        true
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
