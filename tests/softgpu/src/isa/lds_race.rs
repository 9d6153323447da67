//! LDS race checks: every dword remembers its last writer and the readers since, with the number of
//! barriers passed; two accesses in one interval from different waves, one of them a write, are a race.

use super::wave::Fail;
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
