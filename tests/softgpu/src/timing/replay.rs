//! The replay: waves issue their instructions in order over the ports of a slice of a card.
//!
//! Events are taken in the order of time. A wave's next instruction has a moment from which on nothing of its
//! own holds it back (registers, counters); then it takes the first free place of its port. Loads know at
//! issue when they will end, since every server works in the order in which it was asked.

mod issue;
mod places;

use super::affine::Affine;
use super::card::Card;
use super::class::Op;
use super::dispatch::{Dispatcher, Slice};
use super::memory::{Memory, Server, TICKS};
use super::occupancy::Occupancy;
use super::trace::{GroupTrace, Stream, TAKEN};
use crate::isa::effect::QUEUES;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, VecDeque};

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

impl Replay<'_, '_> {
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
        let drain = self.memory.write_back_all();
        let end = self.end.max(1) + drain;
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
