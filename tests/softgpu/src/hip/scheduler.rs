//! The scheduler thread: picks a runnable operation of any stream by a seeded random choice and
//! executes it. What the program did not order may come in any order.
//!
//! With seed 0 the oldest runnable operation is picked, which is the order of the calls.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use parking_lot::MutexGuard;

use super::allocation::Located;
use super::error::Error;
use super::execution::{Outcome, Task, TaskKind};
use super::faults::Site;
use super::operation::{KernelCall, OperationId, Use, What, Work};
use super::order::Access;
use super::runtime::runtime;
use super::state::State;
use crate::isa::Footprint;

/// Something that can be executed now.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    stream: u64,
    operation: OperationId,
    /// Node of a graph run.
    step: Option<usize>,
}

/// Starts the scheduler thread of the process.
pub fn start() {
    stay_loaded();
    let started = std::thread::Builder::new()
        .name("softgpu".to_owned())
        .spawn(run);
    if let Err(error) = started {
        eprintln!("softgpu: no scheduler thread: {error}");
    }
}

/// The thread never ends, so its code must not be unloaded when the program closes the library.
fn stay_loaded() {
    let mut info = std::mem::MaybeUninit::<libc::Dl_info>::zeroed();
    let here: fn() = run;
    // SAFETY: `info` is a place for the answer, and an answer's file name lives as long as the
    // library, which is loaded now. Opening it once more only raises its count.
    unsafe {
        if libc::dladdr(here as *const libc::c_void, info.as_mut_ptr()) != 0 {
            let file = info.assume_init().dli_fname;
            libc::dlopen(
                file,
                libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            );
        }
    }
}

fn run() {
    let runtime = runtime();
    let mut state = runtime.lock();
    loop {
        if let Some(pause) = state.pause() {
            runtime.wake.wait_for(&mut state, pause);
            continue;
        }
        let candidates = state.candidates();
        if candidates.is_empty() {
            // Work that waits for a hung operation stays; a new call wakes this thread.
            state.nudged = false;
            runtime
                .wake
                .wait_for(&mut state, Duration::from_millis(100));
            continue;
        }
        state.nudged = false;
        let index = if state.config.seed == 0 {
            0
        } else {
            state.random.below(candidates.len())
        };
        if let Some(candidate) = candidates.get(index).copied() {
            execute(&mut state, candidate);
        }
        runtime.done.notify_all();
    }
}

/// Executes one candidate, with the lock released meanwhile.
fn execute(state: &mut MutexGuard<'_, State>, candidate: Candidate) {
    let Some(task) = state.begin(candidate) else {
        return;
    };
    state.running = Some(candidate.operation);
    let outcome = MutexGuard::unlocked(state, || {
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| task.run())).unwrap_or_else(
            |panic| Outcome {
                failure: Some(Error::LAUNCH_FAILURE),
                violations: vec![(
                    "stand_in_panic",
                    format!(
                        "executing {}: {}",
                        task.name,
                        super::entry::panic_text(&panic)
                    ),
                )],
                ..Outcome::default()
            },
        )
    });
    state.running = None;
    state.end(candidate, &task, outcome);
}

impl State {
    /// How long the scheduler must still leave the queues alone; `None`: it may run.
    fn pause(&self) -> Option<Duration> {
        if self.pending.is_empty() {
            return Some(Duration::from_secs(3600));
        }
        if self.nudged || runtime().waiters.load(Ordering::Relaxed) > 0 {
            return None;
        }
        let delay = Duration::from_micros(self.config.delay_us);
        let quiet = self.last_enqueue.elapsed();
        if quiet >= delay {
            return None;
        }
        // A program that never stops enqueueing must not starve.
        let oldest = self
            .streams
            .values()
            .filter_map(|stream| stream.queue.front().map(|operation| operation.enqueued))
            .min()
            .unwrap_or_else(Instant::now);
        if oldest.elapsed() >= delay * 10 {
            None
        } else {
            Some(delay - quiet)
        }
    }

    /// Whether anything can be executed now.
    pub fn has_candidate(&self) -> bool {
        self.streams
            .keys()
            .any(|stream| self.stream_candidates(*stream).next().is_some())
    }

    fn candidates(&self) -> Vec<Candidate> {
        let mut found: Vec<Candidate> = self
            .streams
            .keys()
            .flat_map(|stream| self.stream_candidates(*stream))
            .collect();
        found.sort_by_key(|candidate| (candidate.operation, candidate.step));
        found
    }

    fn stream_candidates(&self, stream: u64) -> impl Iterator<Item = Candidate> + '_ {
        let head = self
            .streams
            .get(&stream)
            .and_then(|found| found.queue.front());
        let head = head.filter(|operation| {
            !operation.hung
                && operation
                    .after
                    .iter()
                    .all(|id| !self.pending.contains_key(id))
        });
        let steps = head.and_then(|operation| match &operation.what {
            What::Graph(run) if !run.steps.is_empty() => Some(run.ready()),
            _ => None,
        });
        let whole = head.filter(|_| steps.is_none()).map(|operation| Candidate {
            stream,
            operation: operation.id,
            step: None,
        });
        let operation = head.map_or(0, |operation| operation.id);
        whole
            .into_iter()
            .chain(steps.into_iter().flatten().map(move |step| Candidate {
                stream,
                operation,
                step: Some(step),
            }))
    }

    /// Prepares a candidate; `None` when it failed before it began.
    fn begin(&mut self, candidate: Candidate) -> Option<Task> {
        let stream = self.streams.get_mut(&candidate.stream)?;
        let ordinal = stream.device;
        let operation = stream.queue.front_mut()?;
        let mut task = Task::new(operation.name());
        let mut executable = None;
        let (work, first, last) = match (&mut operation.what, candidate.step) {
            (What::Graph(run), Some(index)) => {
                let (first, last) = (run.is_new(), run.left() == 1);
                let step = run.steps.get(index)?.clone();
                run.begin(index);
                executable = Some(run.executable);
                (Some(step), first, last)
            }
            (What::Work(work), _) => (Some(work.clone()), false, false),
            (What::Host(call), _) => {
                task.kind = TaskKind::Host(*call);
                (None, false, false)
            }
            _ => (None, false, false),
        };
        let Some(work) = work else { return Some(task) };
        if executable.is_some() {
            task.name = work.name();
        }
        let problem = self.check_uses(&work.uses());
        if let Some(message) = problem {
            self.report
                .violation("use_after_free", format!("{}: {message}", task.name));
            let failed = Outcome {
                failure: Some(Error::ILLEGAL_ADDRESS),
                ..Outcome::default()
            };
            self.end(candidate, &task, failed);
            return None;
        }
        let kernel = matches!(*work, Work::Kernel(_));
        task.injected = kernel && self.faults.strikes(Site::Kernel);
        task.corrupt = executable.is_some() && last && self.faults.graph_wrong;
        task.corrupt |= kernel && self.faults.strikes(Site::Wrong);
        task.slow = if first {
            Duration::from_millis(self.faults.graph_slow_ms)
        } else if executable.is_none() && kernel {
            Duration::from_micros(self.faults.direct_slow_us)
        } else {
            Duration::ZERO
        };
        task.seed = if self.config.seed == 0 {
            0
        } else {
            self.random.next() | 1
        };
        task.threads = self.config.threads;
        let is_named = |part: &str| {
            let has = |call: &KernelCall| !part.is_empty() && call.kernel.name.contains(part);
            matches!(&*work, Work::Kernel(call) if has(call))
        };
        task.checks.uninitialised = self.config.uninitialised && !is_named(&self.config.unwritten);
        task.checks.lds_race = self.config.checks;
        task.checks.global_race = self.config.checks;
        task.checks.waits = self.config.checks;
        task.host_reads = self.config.host_reads;
        task.mutate = is_named(&self.config.mutate).then_some(self.config.part);
        task.memory = self
            .devices
            .get(ordinal)
            .map(|device| device.memory.clone());
        task.memories = self.memories();
        task.kind = TaskKind::Work(Arc::clone(&work));
        Some(task)
    }

    /// Words for the first range that is not live memory any more.
    fn check_uses(&mut self, uses: &[Use]) -> Option<String> {
        uses.iter().find_map(
            |used| match self.locate(used.address, used.bytes.unwrap_or(0)) {
                Located::Freed(found) => Some(format!(
                    "{} is in freed memory: {}",
                    used.role,
                    found.describe()
                )),
                Located::Beyond(found) => Some(format!(
                    "{} goes past the end of its allocation: {}",
                    used.role,
                    found.describe()
                )),
                Located::Known(_) | Located::Host => None,
            },
        )
    }

    /// Lets go of accesses that nothing can conflict with any more.
    fn forget_accesses(&mut self) {
        if !self.pending.len().is_multiple_of(128) {
            return;
        }
        let queued = self.streams.values().flat_map(|stream| &stream.queue);
        self.accesses
            .forget(&self.host_clock, queued.map(|operation| &*operation.clock));
    }

    /// Books what an executed candidate did.
    fn end(&mut self, candidate: Candidate, task: &Task, outcome: Outcome) {
        for (kind, message) in outcome.violations {
            self.report.violation(kind, message);
        }
        if let Some(counters) = &outcome.counters {
            self.report.count_kernel(counters);
            self.report.add_mutants(&counters.kernel, &outcome.mutants);
        }
        self.report.executed(task.count_as(), task.name.clone());
        let Some(stream) = self.streams.get_mut(&candidate.stream) else {
            return;
        };
        let ordinal = stream.device;
        let mine = |id: OperationId| id == candidate.operation;
        let mut record = None;
        let mut executable = None;
        let mut whole = true;
        let mut access = None;
        let touched = if self.config.order && outcome.failure.is_none() {
            task.touched(outcome.counters, |address| {
                self.allocations
                    .containing(address)
                    .is_some_and(|found| !found.freed)
            })
        } else {
            Footprint::default()
        };
        if let Some(operation) = stream
            .queue
            .front_mut()
            .filter(|operation| mine(operation.id))
        {
            match &mut operation.what {
                What::Record(event) => record = Some(*event),
                What::Graph(run) => {
                    if let Some(index) = candidate.step {
                        run.end(index);
                    }
                    whole = run.left() == 0 || outcome.failure.is_some();
                    executable = Some(run.executable);
                }
                _ => {}
            }
            if !touched.is_empty() {
                let node = match &operation.what {
                    What::Graph(run) => candidate
                        .step
                        .map(|index| (index, Arc::clone(&run.shape.ancestors))),
                    _ => None,
                };
                access = Some(Access {
                    stream: candidate.stream,
                    operation: candidate.operation,
                    clock: Arc::clone(&operation.clock),
                    node,
                    name: task.name.clone(),
                    footprint: touched,
                });
            }
            if whole {
                stream.queue.pop_front();
            }
        }
        if let Some(access) = access
            && let Some(message) = self.accesses.add(access)
        {
            self.report.violation("unordered_access", message);
        }
        if !whole {
            return;
        }
        self.pending.remove(&candidate.operation);
        self.forget_accesses();
        if let Some(event) = record {
            self.stamp_event(event, candidate.operation);
        }
        if let Some(handle) = executable {
            self.report.executed("graphs", "graph done".to_owned());
            self.graph_run_ended(handle);
        }
        self.sweep_stream(candidate.stream);
        if let Some(error) = outcome.failure {
            if let Some(device) = self.devices.get_mut(ordinal) {
                device.fault.get_or_insert(error);
            }
            if self.config.sticky {
                self.discard_work(ordinal);
            }
        }
    }
}
