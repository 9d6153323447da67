//! Batches that wait for their evaluation, in order, while whoever handed them in goes on.

use super::moves::MOVES;
use super::net::{ChessNet, Evaluation};
use super::planes::PLANES;
use crate::{Error, Result, log, panics};
use parking_lot::{Condvar, Mutex};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Batches that a queue holds at most, those whose results wait included.
pub const MOST_BATCHES: usize = 64;

/// A batch that waits.
struct Job {
    id: u64,
    masks: Vec<u64>,
    values: Vec<f32>,
}

/// A batch whose result waits.
struct Done {
    id: u64,
    result: Result<Evaluation>,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Job>,
    /// Batches that are being evaluated.
    running: usize,
    done: VecDeque<Done>,
    next_id: u64,
    stopped: bool,
}

#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    /// Something waits, or the queue is gone.
    submitted: Condvar,
    /// Something is done.
    finished: Condvar,
}

/// What [`Queue::next`] finds.
#[derive(Debug)]
pub enum Taken {
    /// The oldest batch: its id and result.
    Batch(u64, Evaluation),
    /// It is not done yet.
    Pending,
    /// There is no batch.
    End,
}

/// Batches in the order in which they were handed in. Internally locked: any thread.
pub struct Queue {
    net: Arc<ChessNet>,
    shared: Arc<Shared>,
    worker: Option<std::thread::JoinHandle<()>>,
}

impl Queue {
    /// An empty queue.
    ///
    /// # Errors
    /// `OutOfMemory` if the system has no thread for it.
    pub fn new(net: Arc<ChessNet>) -> Result<Queue> {
        let shared = Arc::<Shared>::default();
        let (of_net, of_queue) = (net.clone(), shared.clone());
        let worker = std::thread::Builder::new()
            .name("mlxrocm-chess".into())
            .spawn(move || log::on_worker(|| of_queue.work(&of_net)))
            .map_err(|e| Error::OutOfMemory(format!("no thread for a queue: {e}")))?;
        Ok(Queue {
            net,
            shared,
            worker: Some(worker),
        })
    }

    /// Hands in a batch (see [`ChessNet::evaluate`]) and returns its id: 0, 1, 2, …; `None`: the queue is full.
    ///
    /// # Errors
    /// `InvalidArgument` as [`ChessNet::evaluate`].
    pub fn submit(&self, masks: &[u64], values: &[f32]) -> Result<Option<u64>> {
        self.net.check(masks, values)?;
        let mut state = self.shared.state.lock();
        if state.waiting.len() + state.running + state.done.len() >= MOST_BATCHES {
            return Ok(None);
        }
        let id = state.next_id;
        state.next_id += 1;
        state.waiting.push_back(Job {
            id,
            masks: masks.to_vec(),
            values: values.to_vec(),
        });
        self.shared.submitted.notify_one();
        Ok(Some(id))
    }

    /// Takes the oldest batch's result, once it is there and if it has at most `most` positions; waits up to
    /// `timeout`, or as long as it takes.
    ///
    /// # Errors
    /// `BufferTooSmall` for more positions: the batch stays. Those of [`ChessNet::evaluate`]: the batch is taken.
    pub fn next(&self, most: usize, timeout: Option<Duration>) -> Result<Taken> {
        // A time too far away to be represented is the same as none.
        let deadline = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
        let mut state = self.shared.state.lock();
        loop {
            if let Some(done) = state.done.front() {
                let count = done.result.as_ref().map_or(0, |e| e.moves_left.len());
                if count > most {
                    return Err(Error::BufferTooSmall { needed: count });
                }
            }
            if let Some(Done { id, result }) = state.done.pop_front() {
                // Another thread may wait for the batch behind it, or for the end.
                self.shared.finished.notify_all();
                return result.map(|evaluation| Taken::Batch(id, evaluation));
            }
            if state.waiting.is_empty() && state.running == 0 {
                return Ok(Taken::End);
            }
            match (timeout, deadline) {
                (Some(_), Some(deadline)) => {
                    let late = self.shared.finished.wait_until(&mut state, deadline);
                    if late.timed_out() && state.done.is_empty() {
                        return Ok(Taken::Pending);
                    }
                }
                _ => self.shared.finished.wait(&mut state),
            }
        }
    }
}

impl Drop for Queue {
    fn drop(&mut self) {
        self.shared.state.lock().stopped = true;
        self.shared.submitted.notify_one();
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

impl Shared {
    /// Evaluates batches until the queue is gone. Small ones that wait together are evaluated together.
    fn work(&self, net: &ChessNet) {
        let positions = |job: &Job| job.masks.len() / PLANES;
        loop {
            let mut jobs = Vec::new();
            {
                let mut state = self.state.lock();
                while state.waiting.is_empty() && !state.stopped {
                    self.submitted.wait(&mut state);
                }
                if state.stopped {
                    return;
                }
                let mut count = 0;
                while let Some(job) = state.waiting.front()
                    && (jobs.is_empty() || count + positions(job) <= net.together())
                {
                    count += positions(job);
                    jobs.extend(state.waiting.pop_front());
                }
                state.running = jobs.len();
            }
            let evaluated = panics::caught(|| evaluate(net, &jobs));
            let failed = |message| Err(Error::Internal(message));
            let mut results = evaluated.unwrap_or_else(failed).map(Vec::into_iter);
            let mut state = self.state.lock();
            state.running = 0;
            for job in jobs {
                let result = match &mut results {
                    Ok(all) => all.next().ok_or_else(|| Error::Internal("lost".into())),
                    Err(error) => Err(error.clone()),
                };
                state.done.push_back(Done { id: job.id, result });
            }
            self.finished.notify_all();
        }
    }
}

/// The evaluations of batches, as one.
fn evaluate(net: &ChessNet, jobs: &[Job]) -> Result<Vec<Evaluation>> {
    if let [job] = jobs {
        return Ok(vec![net.evaluate(&job.masks, &job.values)?]);
    }
    let masks: Vec<u64> = jobs.iter().flat_map(|job| &job.masks).copied().collect();
    let values: Vec<f32> = jobs.iter().flat_map(|job| &job.values).copied().collect();
    let mut all = net.evaluate(&masks, &values)?;
    let split = jobs.iter().map(|job| {
        let first = |of: &mut Vec<f32>, of_one: usize| {
            let rest = of.split_off(job.masks.len() / PLANES * of_one);
            std::mem::replace(of, rest)
        };
        Evaluation {
            policy: first(&mut all.policy, MOVES),
            wdl: first(&mut all.wdl, 3),
            moves_left: first(&mut all.moves_left, 1),
        }
    });
    Ok(split.collect())
}
