//! The state of one wave: scalar registers, vector registers, mask and program counter.

use super::flight::Flight;
use super::operand::{EXEC, SCALARS, Src};
use super::workgroup::Group;

/// One vector register over 32 lanes; a wave of 64 has two of them a register.
pub type Row = [u32; 32];
pub type Row64 = [u64; 32];

/// What comes after an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    Next,
    /// Waits at a barrier; `pc` already points behind it.
    Barrier,
    End,
}

/// Why an instruction could not run.
#[derive(Debug)]
pub struct Fail {
    pub lane: u32,
    pub message: String,
}

impl Fail {
    pub fn lane(lane: u32, message: impl Into<String>) -> Box<Fail> {
        Box::new(Fail {
            lane,
            message: message.into(),
        })
    }
}

pub type Step = Result<Flow, Box<Fail>>;
/// A decoded instruction: its operands are captured in the closure.
pub type Run = Box<dyn Fn(&mut Wave, &mut Group) -> Step + Send + Sync>;

/// One wave.
#[derive(Clone, Debug)]
pub struct Wave {
    pub s: [u32; SCALARS],
    pub scc: bool,
    /// Index of the next instruction.
    pub pc: usize,
    /// Register r, half h at `r * halves + h`.
    pub rows: Vec<Row>,
    pub halves: usize,
    pub lanes: usize,
    /// Number of the wave in its workgroup.
    pub index: u32,
    /// Private memory, lane after lane.
    pub scratch: Vec<u8>,
    pub scratch_lane: usize,
    pub executed: u64,
    /// Addresses of the memory instruction that runs.
    pub addrs: [u64; 64],
    /// gfx12: signalled and not yet waited.
    pub signalled: bool,
    /// Index offsets of `s_set_gpr_idx_on` (gfx9): mode bits and offset.
    pub gpr_index: Option<(u32, u32)>,
    /// Memory instructions that no wait has covered.
    pub flight: Flight,
    /// Moment of this wave's last atomic.
    pub moment: u64,
    /// Loads see all that was released before this moment; the cache behind L0 (gfx10, gfx11) likewise.
    pub seen: u64,
    pub middle: u64,
    /// The interval between barriers in which L0 was last invalidated.
    pub near: u64,
    /// The scalar cache was invalidated.
    pub scalar_fresh: bool,
}

impl Wave {
    pub fn new(lanes: usize, registers: usize, index: u32, scratch_lane: usize) -> Wave {
        let halves = lanes / 32;
        Wave {
            s: [0; SCALARS],
            scc: false,
            pc: 0,
            rows: vec![[0xdead_beef; 32]; registers * halves],
            halves,
            lanes,
            index,
            scratch: vec![0xcd; scratch_lane * lanes],
            scratch_lane,
            executed: 0,
            addrs: [0; 64],
            signalled: false,
            gpr_index: None,
            flight: Flight::default(),
            moment: 0,
            seen: 0,
            middle: 0,
            near: 0,
            scalar_fresh: false,
        }
    }

    /// All lanes of the wave.
    #[inline(always)]
    pub fn all(&self) -> u64 {
        if self.lanes == 64 {
            u64::MAX
        } else {
            0xffff_ffff
        }
    }

    #[inline(always)]
    pub fn exec(&self) -> u64 {
        let low = u64::from(self.s[EXEC as usize]);
        if self.lanes == 64 {
            low | u64::from(self.s[EXEC as usize + 1]) << 32
        } else {
            low
        }
    }

    #[inline(always)]
    pub fn exec_half(&self, h: usize) -> u32 {
        self.s[EXEC as usize + (h & 1)]
    }

    #[inline(always)]
    pub fn s32(&self, src: Src) -> u32 {
        match src {
            Src::S(r) => self.s[r as usize],
            Src::K(v) => v as u32,
            Src::Scc => u32::from(self.scc),
            Src::V(_) => 0,
        }
    }

    #[inline(always)]
    pub fn s64(&self, src: Src) -> u64 {
        match src {
            Src::S(r) => self.pair(r),
            Src::K(v) => v,
            Src::Scc => u64::from(self.scc),
            Src::V(_) => 0,
        }
    }

    #[inline(always)]
    pub fn pair(&self, r: u16) -> u64 {
        u64::from(self.s[r as usize]) | u64::from(self.s[r as usize + 1]) << 32
    }

    #[inline(always)]
    pub fn set_s32(&mut self, r: u16, v: u32) {
        self.s[r as usize] = v;
    }

    #[inline(always)]
    pub fn set_pair(&mut self, r: u16, v: u64) {
        self.s[r as usize] = v as u32;
        self.s[r as usize + 1] = (v >> 32) as u32;
    }

    /// A lane mask from a scalar source (one register in waves of 32).
    #[inline(always)]
    pub fn mask(&self, src: Src) -> u64 {
        if self.lanes == 64 {
            self.s64(src)
        } else {
            u64::from(self.s32(src))
        }
    }

    #[inline(always)]
    pub fn set_mask(&mut self, r: u16, v: u64) {
        if self.lanes == 64 {
            self.set_pair(r, v)
        } else {
            self.set_s32(r, v as u32)
        }
    }

    #[inline(always)]
    pub fn at(&self, r: u16, h: usize) -> usize {
        r as usize * self.halves + h
    }

    /// Row `h` of a source, broadcast into `buffer` when it is scalar.
    #[inline(always)]
    pub fn row<'a>(&'a self, src: Src, h: usize, buffer: &'a mut Row) -> &'a Row {
        match src {
            Src::V(r) => &self.rows[self.at(r, h)],
            Src::S(r) => {
                *buffer = [self.s[r as usize]; 32];
                buffer
            }
            Src::K(v) => {
                *buffer = [v as u32; 32];
                buffer
            }
            Src::Scc => {
                *buffer = [u32::from(self.scc); 32];
                buffer
            }
        }
    }

    /// Row `h` of a 64-bit source.
    #[inline(always)]
    pub fn row64(&self, src: Src, h: usize) -> Row64 {
        match src {
            Src::V(r) => {
                let (low, high) = (&self.rows[self.at(r, h)], &self.rows[self.at(r + 1, h)]);
                std::array::from_fn(|i| u64::from(low[i]) | u64::from(high[i]) << 32)
            }
            other => [self.s64(other); 32],
        }
    }

    /// Writes the lanes of `mask`.
    #[inline(always)]
    pub fn put(&mut self, r: u16, h: usize, value: &Row, mask: u32) {
        let at = self.at(r, h);
        let row = &mut self.rows[at];
        if mask == u32::MAX {
            *row = *value;
        } else {
            for i in 0..32 {
                if mask >> i & 1 != 0 {
                    row[i] = value[i];
                }
            }
        }
    }

    #[inline(always)]
    pub fn put64(&mut self, r: u16, h: usize, value: &Row64, mask: u32) {
        let low: Row = std::array::from_fn(|i| value[i] as u32);
        let high: Row = std::array::from_fn(|i| (value[i] >> 32) as u32);
        self.put(r, h, &low, mask);
        self.put(r + 1, h, &high, mask);
    }

    /// One lane of a source.
    #[inline(always)]
    pub fn lane(&self, src: Src, lane: usize) -> u32 {
        match src {
            Src::V(r) => self.rows[self.at(r, lane >> 5)][lane & 31],
            other => self.s32(other),
        }
    }

    #[inline(always)]
    pub fn lane64(&self, src: Src, lane: usize) -> u64 {
        match src {
            Src::V(r) => {
                u64::from(self.lane(src, lane)) | u64::from(self.lane(Src::V(r + 1), lane)) << 32
            }
            other => self.s64(other),
        }
    }

    #[inline(always)]
    pub fn set_lane(&mut self, r: u16, lane: usize, v: u32) {
        let at = self.at(r, lane >> 5);
        self.rows[at][lane & 31] = v;
    }

    /// `v_readfirstlane`: the first active lane, or lane 0.
    #[inline(always)]
    pub fn first_lane(&self) -> usize {
        let exec = self.exec();
        if exec == 0 {
            0
        } else {
            exec.trailing_zeros() as usize
        }
    }
}

/// Iterates over the set bits of a mask.
#[inline(always)]
pub fn lanes_of(mask: u64) -> impl Iterator<Item = usize> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        (rest != 0).then(|| {
            let lane = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            lane
        })
    })
}
