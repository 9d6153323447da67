//! Steps with experts that the CPU computes between two pieces of a step's program: what of the GPU's memory comes to it and
//! goes back.

use super::work::{Factors, HostStack, Workers, sum};
use crate::gpu::model::FEW_ROWS;
use crate::step::{BufferId, ExpertProducts, Schedule, Step};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::ops::Range;

/// Experts of a model that the CPU computes. Internally locked: sessions take turns.
pub struct HostExperts {
    /// Of each step of the schedule.
    stacks: Vec<Option<HostStack>>,
    state: Mutex<State>,
}

struct State {
    workers: Workers,
    /// Results of the pairs of the step at hand and of the one before.
    results: [Vec<f32>; 2],
}

/// Consecutive steps that the CPU computes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HostRun {
    pub steps: Range<usize>,
    /// What they read: a buffer, and the byte in the memory that both sides see at which its rows begin.
    pub reads: Vec<(BufferId, u64)>,
    /// What they leave.
    pub gives: (BufferId, u64),
    /// Bytes of that memory.
    pub bytes: u64,
}

/// Where rows begin.
const ALIGNMENT: u64 = 256;

impl HostExperts {
    pub fn new(stacks: Vec<Option<HostStack>>, workers: Workers) -> HostExperts {
        HostExperts {
            stacks,
            state: Mutex::new(State {
                workers,
                results: Default::default(),
            }),
        }
    }

    fn stack(&self, place: usize) -> Option<&HostStack> {
        self.stacks.get(place)?.as_ref()
    }

    /// Whether the CPU computes a step of the schedule if it has few rows.
    pub fn has(&self, place: usize) -> bool {
        self.stack(place).is_some()
    }

    /// The runs of a schedule's steps, in order, among those that `is_here` takes.
    pub fn runs(&self, schedule: &Schedule, is_here: impl Fn(usize) -> bool) -> Vec<HostRun> {
        let mut runs: Vec<HostRun> = Vec::new();
        for (place, step) in schedule.steps.iter().enumerate() {
            let Step::Experts(step) = step else { continue };
            if !is_here(place) {
                continue;
            }
            let steps = match (runs.last(), experts_at(schedule, place.wrapping_sub(1))) {
                // Down after its gate and up.
                (Some(last), Some(before))
                    if last.steps.end == place && step.own && before.out == step.x =>
                {
                    last.steps.start..place + 1
                }
                _ => place..place + 1,
            };
            if steps.len() > 1 {
                runs.pop();
            }
            runs.push(run(schedule, steps));
        }
        runs
    }

    /// The most bytes of memory that a run of the schedule takes.
    pub fn bytes(&self, schedule: &Schedule) -> u64 {
        let runs = self.runs(schedule, |place| self.has(place));
        runs.iter().map(|run| run.bytes).max().unwrap_or(0)
    }

    /// Computes a run for the first `rows` rows; `memory` is the host's side of what both see, and nobody else uses it now.
    pub fn compute(
        &self,
        schedule: &Schedule,
        run: &HostRun,
        rows: usize,
        memory: &mut [u8],
    ) -> Result<()> {
        let State { workers, results } = &mut *self.state.lock();
        let width = |id: BufferId| schedule.buffers[id.0].width;
        let from = |(id, at): (BufferId, u64)| {
            let at = usize::try_from(at).unwrap_or(usize::MAX);
            at..at.saturating_add(rows * width(id) * 4)
        };
        let place = |id: BufferId| -> Result<Range<usize>> {
            let read = run.reads.iter().find(|(read, _)| *read == id);
            read.map(|read| from(*read))
                .ok_or_else(|| missing("a buffer"))
        };
        for at in run.steps.clone() {
            let (Some(stack), Some(step)) = (self.stack(at), experts_at(schedule, at)) else {
                return Err(missing("a stack"));
            };
            results.reverse();
            let [before, after] = results;
            let numbers = |id: BufferId| -> Result<&[f32]> { numbers(memory, place(id)?) };
            let x = match at > run.steps.start {
                true => &before[..],
                false => numbers(step.x)?,
            };
            let index: Vec<u32> = numbers(step.index)?.iter().map(|i| i.to_bits()).collect();
            let factors = Factors {
                x,
                own: step.own,
                index: &index,
                chosen: step.chosen,
            };
            workers.products(stack, &factors, after)?;
            if let Some(weights) = step.weights {
                let residual = step.residual.map(numbers).transpose()?;
                let mut sums = vec![0.0; rows * width(step.out)];
                let weights = numbers(weights)?;
                sum(after, weights, step.chosen, residual, &mut sums);
                *after = sums;
            }
        }
        let [_, after] = results;
        let bytes: &[u8] = bytemuck::cast_slice(after);
        let to = memory.get_mut(from(run.gives));
        let to = to.filter(|to| to.len() == bytes.len());
        to.ok_or_else(|| missing("room"))?.copy_from_slice(bytes);
        Ok(())
    }
}

fn missing(what: &str) -> Error {
    Error::Internal(format!("experts on the CPU: {what} is missing"))
}

fn numbers(memory: &[u8], place: Range<usize>) -> Result<&[f32]> {
    let bytes = memory.get(place).ok_or_else(|| missing("memory"))?;
    bytemuck::try_cast_slice(bytes).map_err(|_| missing("alignment"))
}

fn experts_at(schedule: &Schedule, place: usize) -> Option<&ExpertProducts> {
    match schedule.steps.get(place) {
        Some(Step::Experts(step)) => Some(step),
        _ => None,
    }
}

/// What the steps read that none of them makes, and what the last one gives.
fn run(schedule: &Schedule, steps: Range<usize>) -> HostRun {
    let bytes = |id: BufferId| {
        let bytes = FEW_ROWS * schedule.buffers[id.0].width * 4;
        (bytes as u64).next_multiple_of(ALIGNMENT)
    };
    let (mut reads, mut end): (Vec<(BufferId, u64)>, u64) = (Vec::new(), 0);
    let mut out = BufferId(0);
    for place in steps.clone() {
        let Some(step) = experts_at(schedule, place) else {
            continue;
        };
        let x = Some(step.x).filter(|_| place == steps.start);
        let all = [x, Some(step.index), step.weights, step.residual];
        for id in all.into_iter().flatten() {
            if reads.iter().all(|(read, _)| *read != id) {
                reads.push((id, end));
                end += bytes(id);
            }
        }
        out = step.out;
    }
    HostRun {
        steps,
        reads,
        gives: (out, end),
        bytes: end + bytes(out),
    }
}
