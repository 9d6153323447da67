//! Evaluations on the CPU and on GPUs.

use super::format::{Format, ValueFormat};
use super::moves::MOVES;
use super::net::{LARGEST_BATCH, Results};
use super::planes::PLANES;
use crate::Result;
use crate::array::{Compiled, Network, Planes};
use crate::cpu::{Program, ThreadPool, Workspace};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

/// Positions that a worker takes through the network at once: what lies between two layers stays in its cache, and
/// weights are read once for all of them.
const AT_ONCE: usize = 6;

/// What evaluates.
pub enum Runs {
    /// The CPU.
    Cpu(Box<CpuRuns>),
    /// A GPU.
    Gpu(Box<Network>),
}

/// A program and what its runs need.
pub struct CpuRuns {
    program: Program,
    /// Workers. A call that finds them taken computes by itself.
    pool: Mutex<ThreadPool>,
    threads: usize,
    /// How fewer positions than threads are evaluated.
    few: Few,
    /// Memory of runs that have ended, for the next ones.
    workspaces: Mutex<Vec<Workspace>>,
}

impl Runs {
    /// Of a network's graph; CPU threads as [`ThreadPool::new`] takes them.
    pub fn new(compiled: Compiled, threads: usize) -> Runs {
        match compiled {
            Compiled::Cpu(program) => {
                let pool = ThreadPool::new(threads);
                Runs::Cpu(Box::new(CpuRuns {
                    program,
                    threads: pool.threads(),
                    pool: Mutex::new(pool),
                    few: Few::default(),
                    workspaces: Mutex::default(),
                }))
            }
            Compiled::Gpu(network) => Runs::Gpu(network),
        }
    }

    /// Evaluates positions that were checked.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub fn evaluate(
        &self,
        format: &Format,
        planes: (&[u64], &[f32]),
        results: Results<'_>,
    ) -> Result<()> {
        match self {
            Runs::Cpu(runs) => runs.evaluate(format, planes, results),
            Runs::Gpu(network) => on_gpu(network, format, planes, results),
        }
    }

    /// Positions that keep the device busy: larger batches are not faster for each.
    pub fn together(&self) -> usize {
        match self {
            Runs::Cpu(runs) => (runs.threads * AT_ONCE).min(LARGEST_BATCH),
            Runs::Gpu(_) => Network::AT_ONCE,
        }
    }
}

/// Whether workers share each layer of a few positions, or the caller computes by itself. Workers that share wait for each
/// other: not for processors that other calls want; else what takes less time (they wait long if no cache is common to them).
#[derive(Default)]
struct Few {
    /// Calls under way, of many positions too.
    calls: AtomicUsize,
    /// Nanoseconds a position, by the caller and shared; 0: not known yet.
    took: [AtomicU64; 2],
    /// Choices by time.
    choices: AtomicUsize,
}

/// A call under way, until it is dropped.
struct Call<'a>(&'a Few);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.calls.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Few {
    /// So many choices after another the slower way is tried again; sooner at first.
    const AGAIN: usize = 64;

    /// A call, and how many are under way with it.
    fn begin(&self) -> (Call<'_>, usize) {
        let others = self.calls.fetch_add(1, Ordering::Relaxed);
        (Call(self), others + 1)
    }

    fn shares(&self, calls: usize, threads: usize) -> bool {
        if calls > 1 && 2 * calls > threads {
            return false;
        }
        let choice = self.choices.fetch_add(1, Ordering::Relaxed);
        match self
            .took
            .each_ref()
            .map(|took| took.load(Ordering::Relaxed))
        {
            [_, 0] => true,
            [0, _] => false,
            [alone, shared] => {
                let tries = choice.is_multiple_of(Few::AGAIN) || choice.is_power_of_two();
                (shared < alone) != tries
            }
        }
    }

    /// A shorter time counts at once, a longer one little by little: the first call of all is slow, and some are disturbed.
    fn note(&self, shared: bool, count: usize, time: Duration) {
        let took = &self.took[usize::from(shared)];
        let now = (time.as_nanos() as u64 / count as u64).max(1);
        let next = match took.load(Ordering::Relaxed) {
            known if known > 0 && now > known => known + (now - known) / 8,
            _ => now,
        };
        took.store(next, Ordering::Relaxed);
    }
}

impl CpuRuns {
    fn evaluate(
        &self,
        format: &Format,
        (masks, values): (&[u64], &[f32]),
        results: Results<'_>,
    ) -> Result<()> {
        let count = masks.len() / PLANES;
        let is_few = count < self.threads;
        let (_call, calls) = self.few.begin();
        let mut pool = match is_few && !self.few.shares(calls, self.threads) {
            true => None,
            false => self.pool.try_lock(),
        };
        let begin = Instant::now();
        let threads = pool.as_ref().map_or(1, |_| self.threads);
        // Parts of one size, as many for each worker.
        let parts = count.div_ceil(AT_ONCE).next_multiple_of(threads);
        let size = count.div_ceil(parts);
        let part = |at: usize, results: Results<'_>, pool: Option<&mut ThreadPool>| {
            let planes = at * size * PLANES..((at + 1) * size).min(count) * PLANES;
            self.evaluate_part(
                format,
                &masks[planes.clone()],
                &values[planes],
                results,
                pool,
            )
        };
        let mut left = results;
        let all = (0..count.div_ceil(size)).map(|_| left.split(size));
        match pool.as_deref_mut() {
            // Every worker takes parts, each by itself.
            Some(pool) if count >= threads && threads > 1 => {
                let failed = Mutex::new(None);
                let all: Vec<_> = all.map(|results| Mutex::new(Some(results))).collect();
                pool.run(all.len(), &|_, at| {
                    if let Some(results) = all[at].lock().take()
                        && let Err(error) = part(at, results, None)
                    {
                        *failed.lock() = Some(error);
                    }
                });
                failed.into_inner().map_or(Ok(()), Err)
            }
            // Too few positions: workers share each layer, or the caller computes.
            mut pool => {
                for (at, results) in all.enumerate() {
                    part(at, results, pool.as_deref_mut())?;
                }
                if is_few {
                    self.few.note(pool.is_some(), count, begin.elapsed());
                }
                Ok(())
            }
        }
    }

    fn evaluate_part(
        &self,
        format: &Format,
        masks: &[u64],
        values: &[f32],
        results: Results<'_>,
        pool: Option<&mut ThreadPool>,
    ) -> Result<()> {
        let program = &self.program;
        let kept = self.workspaces.lock().pop();
        let mut workspace = match kept {
            Some(workspace) => workspace,
            None => program.workspace(AT_ONCE, self.threads)?,
        };
        let count = masks.len() / PLANES;
        let planes = masks.chunks_exact(PLANES).zip(values.chunks_exact(PLANES));
        for (item, (masks, values)) in planes.enumerate() {
            fill(masks, values, program.input(&mut workspace, 0, item));
        }
        program.run(&mut workspace, count, pool)?;
        for (item, to) in results.policy.chunks_exact_mut(MOVES).enumerate() {
            to.copy_from_slice(program.output(&mut workspace, 0, item));
        }
        for (item, to) in results.wdl.chunks_exact_mut(3).enumerate() {
            let value = program.output(&mut workspace, 1, item);
            put_value(format, value, to);
        }
        for (item, to) in results.moves_left.iter_mut().enumerate() {
            *to = match format.moves_left {
                true => program.output(&mut workspace, 2, item)[0],
                false => 0.0,
            };
        }
        self.workspaces.lock().push(workspace);
        Ok(())
    }
}

/// Chances of win, draw and loss of what a network says of a position's value.
fn put_value(format: &Format, value: &[f32], to: &mut [f32]) {
    match (format.value, value) {
        (ValueFormat::Classical, &[q]) => {
            to.copy_from_slice(&[(1.0 + q) / 2.0, 0.0, (1.0 - q) / 2.0]);
        }
        _ => to.copy_from_slice(value),
    }
}

fn on_gpu(
    network: &Network,
    format: &Format,
    (masks, values): (&[u64], &[f32]),
    results: Results<'_>,
) -> Result<()> {
    let count = masks.len() / PLANES;
    let Results {
        policy,
        wdl,
        moves_left,
    } = results;
    let planes = Planes { masks, values };
    let run = |value: &mut [f32]| {
        let mut outputs = vec![policy, value];
        match format.moves_left {
            true => outputs.push(moves_left),
            false => moves_left.fill(0.0),
        }
        network.run(count, &[planes], &mut outputs)
    };
    match format.value {
        ValueFormat::Wdl => run(wdl),
        ValueFormat::Classical => {
            let mut value = vec![0.0; if wdl.is_empty() { 0 } else { count }];
            run(&mut value)?;
            for (to, value) in wdl.chunks_exact_mut(3).zip(value.chunks_exact(1)) {
                put_value(format, value, to);
            }
            Ok(())
        }
    }
}

/// Writes planes as `[8, 8, 112]`.
fn fill(masks: &[u64], values: &[f32], squares: &mut [f32]) {
    squares.fill(0.0);
    for (plane, (&mask, &value)) in masks.iter().zip(values).enumerate() {
        let mut left = mask;
        while left != 0 {
            squares[left.trailing_zeros() as usize * PLANES + plane] = value;
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions that are shared of 640, once both ways took so many microseconds.
    fn shared(alone: u64, together: u64, calls: usize, threads: usize) -> usize {
        let few = Few::default();
        let time = |shared: bool| Duration::from_micros(if shared { together } else { alone });
        // The first one is slow, whichever it is.
        few.note(few.shares(1, threads), 1, Duration::from_millis(50));
        let choose = || {
            let shares = few.shares(calls, threads);
            few.note(shares, 1, time(shares));
            usize::from(shares)
        };
        (0..640).map(|_| choose()).sum()
    }

    #[test]
    fn a_few_positions_go_the_faster_way() {
        assert!(shared(200, 300, 1, 2) <= 16);
        assert!(shared(300, 200, 1, 2) >= 620);
        // Not where other calls want the processors.
        assert_eq!(shared(300, 200, 2, 2), 0);
        assert!(shared(300, 200, 2, 8) >= 620);
    }
}
