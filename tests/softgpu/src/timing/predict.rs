//! From a launch to a prediction.

use super::affine::find;
use super::card::Card;
use super::class::{Move, Unit};
use super::dispatch::Slice;
use super::memory::Memory;
use super::occupancy::Occupancy;
use super::replay::{Setup, Source, replay};
use super::report::Prediction;
use super::trace::{LINE, TAKEN, record};
use crate::isa::{Fault, Launch};
use std::collections::BTreeMap;

/// How much to simulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Instructions to replay at most, about.
    pub budget: u64,
    /// Launches before the one that is timed: they leave their lines in L2 and the memory-side cache.
    pub warm: u32,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            budget: 30_000_000,
            warm: 0,
        }
    }
}

/// Predicts how long `card` takes for a launch. The kernel's code must be for the card's target; memory is
/// changed by the workgroups that are executed.
///
/// # Errors
/// The fault in which an executed workgroup ended.
pub fn predict(launch: &Launch, card: &Card, options: Options) -> Result<Prediction, Fault> {
    let occupancy = Occupancy::of(launch, card);
    let grid = launch.grid_blocks.map(u64::from);
    let groups: u64 = grid.iter().product();
    let found = find(launch)?;
    let (trace, per_group) = match &found {
        Ok((affine, trace)) => (trace, affine.origin.instructions()),
        Err(trace) => {
            let all: usize = trace.groups.iter().map(|g| g.instructions()).sum();
            (trace, all / trace.groups.len().max(1))
        }
    };
    let slice = Slice::choose(card, &occupancy, groups, per_group, options.budget);
    let mut listed = BTreeMap::new();
    let source = match &found {
        Ok((affine, _)) => Source::Affine(affine),
        Err(_) => {
            let mut numbers: Vec<u64> = (0..slice.simulated)
                .map(|i| slice.number(i, groups))
                .collect();
            numbers.sort_unstable();
            numbers.dedup();
            let all = record(launch, &numbers, Some(trace))?;
            listed.extend(all.groups.into_iter().map(|g| (g.number, g)));
            Source::Listed(&listed)
        }
    };
    let affine = matches!(source, Source::Affine(_));
    let setup = Setup {
        card,
        occupancy,
        slice,
        grid,
        ops: &trace.ops,
        source,
    };
    let mut memory = Memory::new(card, &slice);
    memory.streams_out = written(&setup, groups) > card.cached_bytes();
    for _ in 0..options.warm {
        replay(&setup, &mut memory);
        memory.settle();
    }
    let outcome = replay(&setup, &mut memory);
    Ok(Prediction::new(launch, &setup, &outcome, affine))
}

/// Bytes of the lines that all workgroups write, from those that were traced.
fn written(setup: &Setup, groups: u64) -> u64 {
    let traced: Vec<_> = match &setup.source {
        Source::Affine(a) => vec![&a.origin],
        Source::Listed(all) => all.values().collect(),
    };
    let mut lines = 0;
    for wave in traced.iter().flat_map(|g| &g.waves) {
        let memory = wave
            .ops
            .iter()
            .map(|o| &setup.ops[(o & !TAKEN) as usize])
            .filter(|o| o.issue.is_some());
        for (op, access) in memory.zip(&wave.accesses) {
            if op.moves == Move::Store && op.unit == Unit::Vmem {
                lines += u64::from(access.count);
            }
        }
    }
    lines * LINE * groups / traced.len().max(1) as u64
}
