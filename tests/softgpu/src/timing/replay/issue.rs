//! Issuing one instruction: ports, memory, barriers.

use super::{Cause, Pending, Replay, Source};
use crate::isa::effect::Queue;
use crate::timing::class::{Move, Unit};
use crate::timing::memory::{Level, TICKS};
use crate::timing::trace::{LINE, TAKEN};
use std::cmp::Reverse;
use std::collections::BTreeSet;

impl Replay<'_, '_> {
    /// Issues one instruction; gives when the wave may go on, or nothing when it ended or is parked.
    pub(super) fn issue(&mut self, w: usize, at: u64) -> Option<u64> {
        let card = self.setup.card;
        let run = &mut self.runs[w];
        let stream = run.stream?;
        let Some(code) = stream.ops.get(run.at).copied() else {
            run.stream = None;
            let p = run.place;
            // Its place is free when its stores are acknowledged.
            let stored = run
                .queues
                .iter()
                .filter_map(|q| q.back())
                .map(|p| p.done)
                .max();
            let end = stored.map_or(at, |s| s.max(at));
            self.account(Cause::Store, end - at);
            self.finish(p, end);
            return None;
        };
        run.at += 1;
        self.instructions += 1;
        let index = (code & !TAKEN) as usize;
        let cycle = u64::from(card.issue_cycles) * TICKS;
        let simd = run.simd;
        let unit = self.ops[index].unit;
        let (start, cause, latency) = match unit {
            Unit::Valu => (
                self.simds[simd].valu.take(at, cycle),
                Cause::VectorPort,
                card.valu_latency,
            ),
            Unit::Transcendental | Unit::IntMultiply | Unit::Double => {
                let cycles = match unit {
                    Unit::Transcendental => card.transcendental_cycles,
                    Unit::IntMultiply => card.int_multiply_cycles,
                    _ => card.double_cycles,
                };
                let s = &mut self.simds[simd];
                let work = u64::from(cycles) * TICKS;
                // RDNA's slow units work beside the fast one.
                let start = if card.cus_per_unit > 1 && unit == Unit::Transcendental {
                    let start = s.transcendental.take(at, work);
                    s.valu.take(start, cycle)
                } else {
                    s.valu.take(at, work)
                };
                (start, Cause::VectorPort, card.valu_latency + cycles)
            }
            Unit::Matrix { macs, bits } => {
                let cycles = card.matrix_cycles(macs, bits);
                self.macs += f64::from(macs);
                let s = &mut self.simds[simd];
                let work = u64::from(cycles) * TICKS;
                let start = if card.matrix_beside_valu {
                    let start = s.valu.take(at, cycle);
                    s.matrix.take(start, work)
                } else {
                    s.matrix.take(at, 0);
                    s.matrix.busy += work;
                    s.valu.take(at, work)
                };
                (start, Cause::MatrixPort, card.valu_latency + cycles)
            }
            Unit::Salu => (
                self.simds[simd].salu.take(at, cycle),
                Cause::VectorPort,
                card.salu_latency,
            ),
            Unit::Vmem => (self.vector_memory(w, index, at), Cause::MemoryPort, 0),
            Unit::Lds => (self.lds(w, at), Cause::Lds, 0),
            Unit::Smem => {
                self.scalar_memory(w, index, at);
                (at, Cause::Scalar, 0)
            }
            Unit::Barrier => return self.barrier(w, index, at, cycle),
            Unit::Branch => {
                let cycles = if code & TAKEN != 0 {
                    card.branch_cycles
                } else {
                    card.issue_cycles
                };
                self.account(Cause::Branch, u64::from(cycles) * TICKS);
                return Some(at + u64::from(cycles) * TICKS);
            }
            Unit::Nothing => (at, Cause::Issue, 0),
        };
        self.account(cause, start - at);
        self.account(Cause::Issue, cycle);
        if latency > 0 {
            let ready = start + u64::from(latency) * TICKS;
            let run = &mut self.runs[w];
            for r in &self.ops[index].writes {
                run.ready[usize::from(*r)] = ready;
            }
        }
        Some(start + cycle)
    }

    fn push(&mut self, w: usize, queue: Queue, done: u64, cause: Cause) {
        let queue = &mut self.runs[w].queues[queue as usize];
        let last = queue.back().map_or(0, |p| p.done);
        queue.push_back(Pending {
            done: done.max(last),
            cause: cause as usize,
        });
    }

    /// What share of a miss is this slice's own, for an access that moves so with the block.
    fn weight(&mut self, step: [i64; 3]) -> f64 {
        let setup = self.setup;
        if setup.slice.is_whole(setup.card) {
            return 1.0;
        }
        let resident = self.resident;
        *self.weights.entry(step).or_insert_with(|| {
            let all: u64 = setup.grid.iter().product();
            let [x, y, _] = setup.grid;
            let place = |n: u64| {
                let b = [n % x, n / x % y, n / x / y].map(|v| v as i64);
                step[0] * b[0] + step[1] * b[1] + step[2] * b[2]
            };
            let whole: BTreeSet<i64> = (0..resident.min(all)).map(place).collect();
            let here = resident * u64::from(setup.slice.units) / u64::from(setup.slice.active);
            let own: BTreeSet<i64> = (0..here.max(1))
                .map(|i| place(setup.slice.number(i, all)))
                .collect();
            let share = setup.slice.share();
            (whole.len() as f64 * share / own.len() as f64).min(1.0)
        })
    }

    fn vector_memory(&mut self, w: usize, index: usize, at: u64) -> u64 {
        let card = self.setup.card;
        let run = &mut self.runs[w];
        let Some(stream) = run.stream else { return at };
        let access = stream.accesses[run.access];
        let step = run.steps.get(run.access).copied().unwrap_or_default();
        run.access += 1;
        let (cu, block, unit) = (run.cu, run.block, self.places[run.place].unit);
        let op = &self.ops[index];
        let (moves, issue) = (op.moves, op.issue);
        let bytes = access.bytes.div_ceil(card.vector_bytes);
        let cycles = u32::from(access.count)
            .div_ceil(card.vector_lines)
            .max(bytes)
            .max(1);
        let work = u64::from(cycles) * TICKS;
        let start = self.vmem[cu].take(at, work);
        let shift: i64 = (0..3).map(|a| step[a] * block[a]).sum();
        let weight = if matches!(self.setup.source, Source::Affine(_)) {
            self.weight(step)
        } else {
            1.0
        };
        let lines = &stream.lines[access.first as usize..][..usize::from(access.count)];
        let past_first = issue.is_some_and(|i| i.acquires);
        let (mut done, mut level) = (start + work, Level::First);
        for (i, line) in lines.iter().enumerate() {
            let line = line.wrapping_add_signed(shift) / LINE;
            let asked = start + work * i as u64 / u64::from(access.count.max(1));
            if moves == Move::Load {
                let (when, from) = self.memory.load(cu, unit, line, asked, past_first, weight);
                if when > done {
                    (done, level) = (when, from);
                }
            } else {
                done = done.max(self.memory.store(unit, line, asked));
            }
        }
        let cause = match (moves, level) {
            (Move::Store | Move::Atomic, _) => Cause::Store,
            (_, Level::Dram) => Cause::Dram,
            (_, Level::Mall) => Cause::Mall,
            _ => Cause::Cache,
        };
        if let Some(issue) = issue {
            self.push(w, issue.queue, done, cause);
            if issue.flat {
                self.push(w, Queue::Lds, done, cause);
            }
        }
        start
    }

    fn lds(&mut self, w: usize, at: u64) -> u64 {
        let card = self.setup.card;
        let run = &mut self.runs[w];
        let Some(stream) = run.stream else { return at };
        let access = stream.accesses[run.access];
        run.access += 1;
        let pair = card.cus_per_unit > 1 && !self.setup.occupancy.cu_mode;
        let pass = if pair {
            card.lds_pair_cycles
        } else {
            card.lds_pass_cycles
        };
        let work = (f64::from(access.passes.max(1)) * pass * TICKS as f64) as u64;
        let cu = run.cu;
        let start = self.lds[cu].take(at, work);
        let done = start + work + u64::from(card.lds_latency) * TICKS;
        self.push(w, Queue::Lds, done, Cause::Lds);
        start
    }

    fn scalar_memory(&mut self, w: usize, index: usize, at: u64) {
        // Cache maintenance is of this unit, too, and moves nothing.
        if self.ops[index].issue.is_none() {
            return;
        }
        let run = &mut self.runs[w];
        let Some(stream) = run.stream else { return };
        let access = stream.accesses[run.access];
        let step = run.steps.get(run.access).copied().unwrap_or_default();
        run.access += 1;
        let shift: i64 = (0..3).map(|a| step[a] * run.block[a]).sum();
        let unit = self.places[run.place].unit;
        let mut done = at;
        for line in &stream.lines[access.first as usize..][..usize::from(access.count)] {
            let line = line.wrapping_add_signed(shift) / LINE;
            done = done.max(self.memory.scalar(unit, line, at).0);
        }
        self.push(w, Queue::Scalar, done, Cause::Scalar);
    }

    fn barrier(&mut self, w: usize, index: usize, at: u64, cycle: u64) -> Option<u64> {
        let p = self.runs[w].place;
        if self.ops[index].arrives {
            let place = &mut self.places[p];
            place.arrived += 1;
            place.latest = place.latest.max(at);
            if place.arrived >= place.left {
                self.open(p);
            }
        }
        if !self.ops[index].waits {
            return Some(at + cycle);
        }
        let phase = self.runs[w].phase;
        self.runs[w].phase += 1;
        if let Some(opened) = self.places[p].opened.get(phase).copied() {
            self.account(Cause::Barrier, opened.saturating_sub(at));
            return Some(opened.max(at) + cycle);
        }
        self.places[p].parked.push((w, at));
        None
    }

    /// All have come: lets the parked waves go on.
    pub(super) fn open(&mut self, p: usize) {
        let wait = u64::from(self.setup.card.barrier_cycles) * TICKS;
        let place = &mut self.places[p];
        let opened = place.latest + wait;
        place.opened.push(opened);
        (place.arrived, place.latest) = (0, 0);
        for (w, since) in std::mem::take(&mut place.parked) {
            self.waits[Cause::Barrier as usize] += opened.saturating_sub(since);
            self.runs[w].time = opened;
            self.heap.push(Reverse((opened, w as u32)));
        }
    }
}
