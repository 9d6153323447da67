//! The start of a replay: places for workgroups, and how workgroups get into them.

use super::{Place, Replay, Run, Setup, Simd, Source};
use crate::timing::class::Op;
use crate::timing::dispatch::Dispatcher;
use crate::timing::memory::{Memory, Server};
use crate::timing::trace::GroupTrace;
use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap, VecDeque};

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
    pub(super) fn new(setup: &'t Setup<'t>, memory: &'m mut Memory) -> Replay<'t, 'm> {
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
            waits: [0; super::CAUSES],
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

    pub(super) fn begin(&mut self) {
        for p in 0..self.places.len() {
            self.fill(p, 0);
        }
    }

    /// Puts the next workgroup into a free place.
    pub(super) fn fill(&mut self, p: usize, at: u64) {
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
}
