//! Workgroups that do the same at addresses linear in the block's coordinates.
//!
//! Three probes on each axis say by how much each access moves from block to block. Where all agree, every
//! workgroup's trace follows from the first one's. Not where a workgroup asks what others did (an atomic's result, as
//! the last of several does that adds their sums): the probes are never the last, and what it does would be missing.

use super::class::Move;
use super::trace::{GroupTrace, TAKEN, Trace, record};
use crate::isa::{Fault, Launch};

/// How far each access of each wave moves when x, y or z grows by one.
#[derive(Clone, Debug)]
pub struct Affine {
    pub origin: GroupTrace,
    /// For each wave, for each access.
    pub steps: Vec<Vec<[i64; 3]>>,
}

/// By how much each access of `b` is away from `a`'s; none where they did not do the same.
fn distance(a: &GroupTrace, b: &GroupTrace) -> Option<Vec<Vec<i64>>> {
    if a.waves.len() != b.waves.len() {
        return None;
    }
    let mut all = Vec::with_capacity(a.waves.len());
    for (x, y) in a.waves.iter().zip(&b.waves) {
        if x.ops != y.ops || x.accesses.len() != y.accesses.len() {
            return None;
        }
        let mut steps = Vec::with_capacity(x.accesses.len());
        for (p, q) in x.accesses.iter().zip(&y.accesses) {
            if p.bytes != q.bytes || p.passes.abs_diff(q.passes) > 1 {
                return None;
            }
            if p.count == 0 || q.count == 0 {
                steps.push(0);
                continue;
            }
            let low = |s: &super::trace::Stream, a: &super::trace::Access| {
                s.lines[a.first as usize..][..usize::from(a.count)]
                    .iter()
                    .copied()
                    .min()
                    .unwrap_or(0)
            };
            // Private memory lies elsewhere for each workgroup anyway.
            let (from, to) = (low(x, p), low(y, q));
            let step = if from >> 52 != 0 {
                0
            } else {
                to.wrapping_sub(from) as i64
            };
            steps.push(step);
        }
        all.push(steps);
    }
    Some(all)
}

/// Whether a workgroup waits for what an atomic gives back.
fn asks_others(trace: &Trace) -> bool {
    let asks: Vec<bool> = (trace.ops.iter())
        .map(|op| op.moves == Move::Atomic && op.issue.is_some_and(|i| i.result.is_some()))
        .collect();
    let mut waves = trace.groups.iter().flat_map(|g| &g.waves);
    waves.any(|w| w.ops.iter().any(|&o| asks[(o & !TAKEN) as usize]))
}

/// Finds the law of a launch's addresses, or gives the probes back where there is none.
///
/// # Errors
/// The fault in which a probe ended.
pub fn find(launch: &Launch) -> Result<Result<(Affine, Trace), Trace>, Fault> {
    let grid = launch.grid_blocks.map(u64::from);
    let number = |c: [u64; 3]| c[0] + grid[0] * (c[1] + grid[1] * c[2]);
    let mut probes = vec![[0, 0, 0]];
    for axis in 0..3 {
        for at in [1, 2, grid[axis] / 2, (grid[axis]).saturating_sub(2)] {
            if at > 0 && at < grid[axis] {
                let mut c = [0; 3];
                c[axis] = at;
                if !probes.contains(&c) {
                    probes.push(c);
                }
            }
        }
    }
    let middle = grid.map(|n| n / 2);
    if !probes.contains(&middle) {
        probes.push(middle);
    }
    let numbers: Vec<u64> = probes.iter().map(|c| number(*c)).collect();
    // One call: the kernel arguments have one address for all of them.
    let mut trace = record(launch, &numbers, None)?;
    if asks_others(&trace) {
        return Ok(Err(trace));
    }
    let origin = &trace.groups[0];
    let mut steps: Vec<Vec<[i64; 3]>> = origin
        .waves
        .iter()
        .map(|w| vec![[0; 3]; w.accesses.len()])
        .collect();
    for axis in 0..3 {
        let Some(i) = probes
            .iter()
            .position(|c| c[axis] == 1 && c.iter().sum::<u64>() == 1)
        else {
            continue;
        };
        let Some(found) = distance(origin, &trace.groups[i]) else {
            return Ok(Err(trace));
        };
        for (to, from) in steps.iter_mut().zip(found) {
            for (to, from) in to.iter_mut().zip(from) {
                to[axis] = from;
            }
        }
    }
    for (c, group) in probes.iter().zip(&trace.groups) {
        let Some(found) = distance(origin, group) else {
            return Ok(Err(trace));
        };
        for (law, seen) in steps.iter().zip(found) {
            for (law, seen) in law.iter().zip(seen) {
                let want: i64 = (0..3).map(|a| law[a] * c[a] as i64).sum();
                if want != seen {
                    return Ok(Err(trace));
                }
            }
        }
    }
    let origin = trace.groups.swap_remove(0);
    trace.groups.clear();
    Ok(Ok((Affine { origin, steps }, trace)))
}
