//! A wave's memory instructions in flight.
//!
//! Instructions take effect at once here; on hardware they end later, and only a wait for their
//! counter says that they did. Each wave therefore keeps the instructions that no wait has covered:
//! a register that one of them writes may not be named meanwhile, and what one of them touches in
//! memory is not ordered by a barrier or an atomic (`visible` has that part).

use super::effect::{Issue, QUEUES, Queue, REGISTERS, Registers, register_name, registers};
use super::wave::Fail;
use std::collections::VecDeque;

/// Bytes that an instruction touched, in LDS or in global memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    pub start: u64,
    pub end: u64,
    pub lds: bool,
    pub writes: bool,
    pub atomic: bool,
}

impl Touch {
    pub fn meets(&self, start: u64, end: u64, lds: bool) -> bool {
        self.lds == lds && self.start < end && start < self.end
    }
}

/// One instruction in flight.
#[derive(Clone, Debug)]
pub struct Flying {
    /// Number in its queue, from 1.
    pub number: u32,
    /// Index of the instruction, for messages and for what mutation tests ask.
    pub at: u32,
    result: Option<(u16, u16)>,
    pub touches: Vec<Touch>,
    /// Moment of the atomic whose result this is: when it is there, what came before it is known.
    pub acquires: u64,
}

/// All of a wave's instructions in flight.
#[derive(Clone, Debug, Default)]
pub struct Flight {
    /// Registers whose value may not be there.
    pub pending: Registers,
    /// How many instructions in flight write each of them (made when the first begins).
    writers: Vec<u16>,
    issued: [u32; QUEUES],
    /// Instructions up to these numbers have ended.
    pub done: [u32; QUEUES],
    /// The same when the wave came to the last barrier.
    pub at_barrier: [u32; QUEUES],
    pub queues: [VecDeque<Flying>; QUEUES],
    flying: usize,
    /// Everything that the ended instructions' atomics were ordered after.
    pub acquired: u64,
    /// Used lists of touches.
    spare: Vec<Vec<Touch>>,
}

/// What a wait ended, as bits: for the account that mutation tests give.
pub const ENDED_LOAD: u8 = 1;
pub const ENDED_STORE: u8 = 2;
pub const ENDED_LDS_READ: u8 = 4;
pub const ENDED_LDS_WRITE: u8 = 8;
pub const ENDED_SCALAR: u8 = 16;
pub const ENDED_ATOMIC: u8 = 32;
/// A cache operation that is not a wait, or a barrier's wait, did something.
pub const DID: u8 = 64;

impl Flight {
    pub fn clear(&mut self) {
        for q in 0..QUEUES {
            while let Some(f) = self.queues[q].pop_front() {
                self.recycle(f.touches);
            }
        }
        let spare = std::mem::take(&mut self.spare);
        let mut writers = std::mem::take(&mut self.writers);
        writers.fill(0);
        *self = Flight {
            spare,
            writers,
            ..Flight::default()
        };
    }

    fn recycle(&mut self, mut touches: Vec<Touch>) {
        if touches.capacity() > 0 && self.spare.len() < 64 {
            touches.clear();
            self.spare.push(touches);
        }
    }

    #[inline(always)]
    pub fn is_busy(&self) -> bool {
        self.flying > 0
    }

    /// Takes note of an instruction that has begun; `trail` is what it touched and is left empty.
    /// Gives its number.
    pub fn begin(&mut self, issue: &Issue, at: usize, trail: &mut Vec<Touch>, moment: u64) -> u32 {
        let q = issue.queue as usize;
        self.issued[q] += 1;
        let number = self.issued[q];
        let touches = if trail.is_empty() {
            Vec::new()
        } else {
            std::mem::replace(trail, self.spare.pop().unwrap_or_default())
        };
        if let Some((first, n)) = issue.result {
            self.pending.add(first, n);
            self.writers.resize(REGISTERS, 0);
            for w in &mut self.writers[usize::from(first)..usize::from(first + n)] {
                *w += 1 + u16::from(issue.flat);
            }
        }
        let flying = Flying {
            number,
            at: at as u32,
            result: issue.result,
            touches,
            acquires: if issue.acquires { moment } else { 0 },
        };
        if issue.flat {
            // Ends when both counters say so; a copy without touches holds the registers.
            let lds = Queue::Lds as usize;
            self.issued[lds] += 1;
            let number = self.issued[lds];
            let touches = flying.touches.iter().filter(|t| t.lds).copied().collect();
            self.queues[lds].push_back(Flying {
                number,
                touches,
                acquires: 0,
                ..flying
            });
            self.flying += 1;
        }
        self.queues[q].push_back(flying);
        self.flying += 1;
        number
    }

    /// Carries out a wait; says what it ended.
    pub fn wait(&mut self, left: &[Option<u32>; QUEUES]) -> u8 {
        let mut ended = 0;
        for (q, left) in left.iter().enumerate() {
            let Some(left) = left else { continue };
            let done = self.issued[q].saturating_sub(*left);
            if done <= self.done[q] {
                continue;
            }
            self.done[q] = done;
            while self.queues[q].front().is_some_and(|f| f.number <= done) {
                let Some(f) = self.queues[q].pop_front() else {
                    break;
                };
                ended |= self.end(q, f);
            }
        }
        ended
    }

    fn end(&mut self, q: usize, f: Flying) -> u8 {
        self.flying -= 1;
        self.acquired = self.acquired.max(f.acquires);
        if let Some((first, n)) = f.result {
            for r in first..first + n {
                let left = &mut self.writers[usize::from(r)];
                *left -= 1;
                if *left == 0 {
                    self.pending.remove(r);
                }
            }
        }
        let writes = f.touches.iter().any(|t| t.writes);
        let kind = match q {
            _ if f.acquires != 0 => ENDED_ATOMIC,
            q if q == Queue::Scalar as usize => ENDED_SCALAR,
            q if q == Queue::Lds as usize && writes => ENDED_LDS_WRITE,
            q if q == Queue::Lds as usize => ENDED_LDS_READ,
            _ if f.result.is_none() => ENDED_STORE,
            _ => ENDED_LOAD,
        };
        self.recycle(f.touches);
        kind
    }

    /// Whether an instruction that names these registers may run now. A load may follow a load of the
    /// same queue into the same register, for they end in order; anything else must have been preceded
    /// by a wait.
    ///
    /// # Errors
    /// The register and the instruction (by its index) that still writes it.
    pub fn check(&self, text: &str, issue: Option<&Issue>) -> Result<(), (u16, u32)> {
        let mut named = registers(text);
        let Some(register) = named.first_of_both(&self.pending) else {
            return Ok(());
        };
        if let Some(issue) = issue
            && !issue.merges
            && !issue.flat
            && issue.queue != Queue::Scalar
            && let Some((first, n)) = issue.result
        {
            for r in first..first + n {
                let other = self.queues.iter().enumerate().any(|(q, flying)| {
                    q != issue.queue as usize && flying.iter().any(|f| f.writes(r))
                });
                if !other {
                    named.remove(r);
                }
            }
            // The result's register may be a source too.
            let sources = text.split_once(',').map_or("", |(_, rest)| rest);
            if !named.meets(&self.pending) && !registers(sources).meets(&self.pending) {
                return Ok(());
            }
        }
        let register = named.first_of_both(&self.pending).unwrap_or(register);
        let by = self.queues.iter().flatten().find(|f| f.writes(register));
        Err((register, by.map_or(0, |f| f.at)))
    }
}

impl Flying {
    fn writes(&self, r: u16) -> bool {
        self.result
            .is_some_and(|(first, n)| (first..first + n).contains(&r))
    }
}

/// The violation of [`Flight::check`].
pub fn too_early(register: u16, by: &str) -> Box<Fail> {
    let name = register_name(register);
    Fail::lane(
        0,
        format!(
            "missing wait: {name} is named before the counter of \"{by}\", which writes it, was waited for"
        ),
    )
}
