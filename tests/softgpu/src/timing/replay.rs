//! The replay: waves issue their instructions in order over the ports of a slice of a card.
//!
//! Events are taken in the order of time. A wave's next instruction has a moment from which on nothing of its
//! own holds it back (registers, counters); then it takes the first free place of its port. Loads know at
//! issue when they will end, since every server works in the order in which it was asked.

use super::affine::Affine;
use super::card::Card;
use super::class::{Move, Op, Unit};
use super::dispatch::{Dispatcher, Slice};
use super::memory::{Level, Memory, Server, TICKS};
use super::occupancy::Occupancy;
use super::trace::{GroupTrace, LINE, Stream, TAKEN};
use crate::isa::effect::{QUEUES, Queue};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, HashMap, VecDeque};

/// What a wave's time went into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Cause {
    /// Issuing its own instructions.
    Issue,
    /// A result of the vector or scalar unit that is not there yet.
    Dependency,
    /// Another wave's vector instruction.
    VectorPort,
    /// Another wave's, or its own, matrix instruction.
    MatrixPort,
    /// The address unit and first cache of the compute unit.
    MemoryPort,
    /// LDS: the queue before it, and the way there and back.
    Lds,
    /// Data from the first cache or L2.
    Cache,
    /// Data from the memory-side cache.
    Mall,
    /// Data from DRAM.
    Dram,
    /// Scalar loads.
    Scalar,
    /// Stores and atomics.
    Store,
    Barrier,
    Branch,
}

pub const CAUSES: usize = 13;

/// Where the traces of workgroups come from.
pub enum Source<'t> {
    Affine(&'t Affine),
    Listed(&'t BTreeMap<u64, GroupTrace>),
}

/// What a replay found.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// From the first workgroup's hand-out to the last one's end, in cycles.
    pub cycles: f64,
    /// Cycles from workgroup to workgroup in the steady state.
    pub interval: f64,
    /// Wave-cycles by cause.
    pub waits: [f64; CAUSES],
    /// Busy shares of all SIMDs' vector and matrix units, of the compute units' LDS and address units.
    pub valu_busy: f64,
    pub matrix_busy: f64,
    pub lds_busy: f64,
    pub vmem_busy: f64,
    pub dram_busy: f64,
    /// Multiply-adds of matrix instructions.
    pub macs: f64,
    pub instructions: u64,
    pub traffic: super::memory::Traffic,
}

#[derive(Clone, Copy, Default)]
struct Pending {
    done: u64,
    cause: usize,
}

struct Run<'t> {
    stream: Option<&'t Stream>,
    steps: &'t [[i64; 3]],
    block: [i64; 3],
    at: usize,
    access: usize,
    place: usize,
    cu: usize,
    simd: usize,
    /// When it may issue its next instruction.
    time: u64,
    ready: Vec<u64>,
    queues: [VecDeque<Pending>; QUEUES],
    phase: usize,
}

#[derive(Default)]
struct Place {
    unit: usize,
    waves: Vec<usize>,
    left: u32,
    arrived: u32,
    latest: u64,
    /// When each barrier so far opened.
    opened: Vec<u64>,
    parked: Vec<(usize, u64)>,
}

#[derive(Clone, Default)]
struct Simd {
    valu: Server,
    transcendental: Server,
    matrix: Server,
    salu: Server,
}

/// Everything fixed during a replay.
pub struct Setup<'t> {
    pub card: &'t Card,
    pub occupancy: Occupancy,
    pub slice: Slice,
    pub grid: [u64; 3],
    pub ops: &'t [Op],
    pub source: Source<'t>,
}

struct Replay<'t, 'm> {
    setup: &'t Setup<'t>,
    memory: &'m mut Memory,
    ops: Vec<Op>,
    runs: Vec<Run<'t>>,
    places: Vec<Place>,
    simds: Vec<Simd>,
    vmem: Vec<Server>,
    lds: Vec<Server>,
    dispatcher: Dispatcher,
    heap: BinaryHeap<Reverse<(u64, u32)>>,
    starts: Vec<u64>,
    end: u64,
    waits: [u64; CAUSES],
    macs: f64,
    instructions: u64,
    weights: HashMap<[i64; 3], f64>,
    resident: u64,
}

/// Runs the slice's workgroups through the card.
pub fn replay(setup: &Setup, memory: &mut Memory) -> Outcome {
    let mut r = Replay::new(setup, memory);
    r.begin();
    while let Some(Reverse((_, w))) = r.heap.pop() {
        r.run(w as usize);
    }
    r.outcome()
}

/// Numbers the registers that a kernel names from 0, so that a wave keeps few.
fn compact(ops: &[Op]) -> (Vec<Op>, usize) {
    let used: BTreeSet<u16> = ops
        .iter()
        .flat_map(|o| o.reads.iter().chain(&o.writes))
        .copied()
        .collect();
    let map: HashMap<u16, u16> = used
        .iter()
        .enumerate()
        .map(|(i, r)| (*r, i as u16))
        .collect();
    let ops = ops
        .iter()
        .map(|o| {
            let mut o = o.clone();
            o.reads
                .iter_mut()
                .chain(&mut o.writes)
                .for_each(|r| *r = map[r]);
            o
        })
        .collect();
    (ops, used.len())
}

impl<'t, 'm> Replay<'t, 'm> {
    fn new(setup: &'t Setup<'t>, memory: &'m mut Memory) -> Replay<'t, 'm> {
        let (card, o) = (setup.card, setup.occupancy);
        let units = setup.slice.units as usize;
        let cus = units * card.cus_per_unit as usize;
        let simds = cus * card.simds_per_cu as usize;
        let (ops, registers) = compact(setup.ops);
        let per_unit = o.groups as usize;
        let waves = o.waves_per_group as usize;
        let mut places = Vec::new();
        let mut runs = Vec::new();
        let mut load = vec![0u32; simds];
        let unit_simds = (card.cus_per_unit * card.simds_per_cu) as usize;
        // Breadth first: a place on each unit, then a second one.
        for slot in 0..per_unit {
            for unit in 0..units {
                let (first, n) = if o.cu_mode {
                    let n = card.simds_per_cu as usize;
                    (unit * unit_simds + slot % card.cus_per_unit as usize * n, n)
                } else {
                    (unit * unit_simds, unit_simds)
                };
                let mut place = Place {
                    unit,
                    ..Place::default()
                };
                for _ in 0..waves {
                    let simd = (first..first + n).min_by_key(|s| load[*s]).unwrap_or(first);
                    load[simd] += 1;
                    place.waves.push(runs.len());
                    runs.push(Run {
                        stream: None,
                        steps: &[],
                        block: [0; 3],
                        at: 0,
                        access: 0,
                        place: places.len(),
                        cu: simd / card.simds_per_cu as usize,
                        simd,
                        time: 0,
                        ready: vec![0; registers],
                        queues: Default::default(),
                        phase: 0,
                    });
                }
                places.push(place);
            }
        }
        Replay {
            setup,
            memory,
            ops,
            runs,
            places,
            simds: vec![Simd::default(); simds],
            vmem: vec![Server::default(); cus],
            lds: vec![Server::default(); cus],
            dispatcher: Dispatcher::new(card, &setup.slice),
            heap: BinaryHeap::new(),
            starts: Vec::new(),
            end: 0,
            waits: [0; CAUSES],
            macs: 0.0,
            instructions: 0,
            weights: HashMap::new(),
            resident: u64::from(
                if setup.slice.is_whole(card) {
                    card.units
                } else {
                    setup.slice.active
                } * o.groups,
            ),
        }
    }

    fn begin(&mut self) {
        for p in 0..self.places.len() {
            self.fill(p, 0);
        }
    }

    /// Puts the next workgroup into a free place.
    fn fill(&mut self, p: usize, at: u64) {
        let setup = self.setup;
        let waves = setup.occupancy.waves_per_group;
        let Some((i, start)) = self.dispatcher.hand_out(self.places[p].unit, at, waves) else {
            return;
        };
        let all = setup.grid.iter().product();
        let number = setup.slice.number(i, all);
        let [x, y, _] = setup.grid;
        let block = [number % x, number / x % y, number / x / y].map(|v| v as i64);
        let (trace, steps): (&GroupTrace, Option<&Vec<Vec<[i64; 3]>>>) = match &setup.source {
            Source::Affine(a) => (&a.origin, Some(&a.steps)),
            Source::Listed(all) => match all.get(&number) {
                Some(t) => (t, None),
                None => return,
            },
        };
        self.starts.push(at);
        let place = &mut self.places[p];
        (place.left, place.arrived, place.latest) = (trace.waves.len() as u32, 0, 0);
        place.opened.clear();
        for (wave, w) in place
            .waves
            .clone()
            .into_iter()
            .enumerate()
            .take(trace.waves.len())
        {
            let run = &mut self.runs[w];
            run.stream = Some(&trace.waves[wave]);
            run.steps = steps.map_or(&[], |s| &s[wave]);
            (run.block, run.at, run.access, run.phase) = (block, 0, 0, 0);
            run.time = start;
            run.ready.fill(0);
            run.queues.iter_mut().for_each(VecDeque::clear);
            self.heap.push(Reverse((start, w as u32)));
        }
    }

    fn account(&mut self, cause: Cause, ticks: u64) {
        self.waits[cause as usize] += ticks;
    }

    /// From when on nothing of its own holds the wave's next instruction back.
    fn ready(&mut self, w: usize) -> u64 {
        let run = &mut self.runs[w];
        let Some(code) = run.stream.and_then(|s| s.ops.get(run.at)) else {
            return run.time;
        };
        let op = &self.ops[(code & !TAKEN) as usize];
        let mut t = run.time;
        for r in &op.reads {
            t = t.max(run.ready[usize::from(*r)]);
        }
        self.waits[Cause::Dependency as usize] += t - run.time;
        if let Some(wait) = &op.wait {
            for (queue, left) in run.queues.iter_mut().zip(wait) {
                let Some(left) = left else { continue };
                while queue.len() > *left as usize {
                    let Some(p) = queue.pop_front() else { break };
                    if p.done > t {
                        self.waits[p.cause] += p.done - t;
                        t = p.done;
                    }
                }
            }
        }
        t
    }

    /// Issues a wave's instructions until another wave's turn comes.
    fn run(&mut self, w: usize) {
        // The moment in the heap is when the instruction may go.
        let mut at = self.ready(w);
        loop {
            let Some(next) = self.issue(w, at) else {
                return;
            };
            self.runs[w].time = next;
            at = self.ready(w);
            if self.heap.peek().is_some_and(|Reverse((t, _))| *t < at) {
                self.runs[w].time = at;
                self.heap.push(Reverse((at, w as u32)));
                return;
            }
        }
    }

    /// Issues one instruction; gives when the wave may go on, or nothing when it ended or is parked.
    fn issue(&mut self, w: usize, at: u64) -> Option<u64> {
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
    fn open(&mut self, p: usize) {
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

    /// A wave has ended; with the last one the place is free.
    fn finish(&mut self, p: usize, at: u64) {
        self.end = self.end.max(at);
        let place = &mut self.places[p];
        place.left -= 1;
        place.latest = place.latest.max(at);
        if place.left > 0 {
            if place.arrived >= place.left && !place.parked.is_empty() {
                self.open(p);
            }
            return;
        }
        self.fill(p, at);
    }

    fn outcome(self) -> Outcome {
        let cycles = |t: u64| t as f64 / TICKS as f64;
        let end = self.end.max(1);
        let mean = |busy: u64, n: usize| busy as f64 / n.max(1) as f64 / end as f64;
        let mut starts = self.starts;
        starts.sort_unstable();
        let n = starts.len();
        // The rate between the first places that came free and the last hand-out.
        let first = n
            .saturating_sub(1)
            .min(self.places.len() + n.saturating_sub(self.places.len()) / 4);
        let interval = if n > first + 1 {
            cycles(starts[n - 1] - starts[first]) / (n - 1 - first) as f64
        } else {
            cycles(end) / n.max(1) as f64
        };
        Outcome {
            cycles: cycles(end),
            interval,
            waits: self.waits.map(cycles),
            valu_busy: mean(
                self.simds.iter().map(|s| s.valu.busy).sum(),
                self.simds.len(),
            ),
            matrix_busy: mean(
                self.simds.iter().map(|s| s.matrix.busy).sum(),
                self.simds.len(),
            ),
            lds_busy: mean(self.lds.iter().map(|s| s.busy).sum(), self.lds.len()),
            vmem_busy: mean(self.vmem.iter().map(|s| s.busy).sum(), self.vmem.len()),
            dram_busy: self.memory.dram_busy(end),
            macs: self.macs,
            instructions: self.instructions,
            traffic: self.memory.traffic,
        }
    }
}
