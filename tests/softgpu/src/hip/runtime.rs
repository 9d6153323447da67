//! The process's runtime: all objects behind one lock, and host waits.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex, MutexGuard};

use super::allocation::Place;
use super::config::Config;
use super::error::{Error, Outcome};
use super::state::State;

/// The runtime of the process.
pub struct Runtime {
    state: Mutex<State>,
    /// Wakes the scheduler.
    pub wake: Condvar,
    /// Wakes host waits.
    pub done: Condvar,
    /// Host threads that wait.
    pub waiters: AtomicUsize,
    /// Ends the kernel being executed.
    pub stop: AtomicBool,
}

static RUNTIME: LazyLock<Runtime> = LazyLock::new(|| {
    super::hiprtc::watch_forks();
    let text = std::env::var("SOFTGPU_CONFIG").unwrap_or_default();
    let mut mistakes = Vec::new();
    let config = Config::parse(&text).unwrap_or_else(|message| {
        mistakes.push(message);
        Config {
            devices: Vec::new(),
            ..Config::default()
        }
    });
    let mut state = State::new(config.clone()).unwrap_or_else(|message| {
        mistakes.push(message);
        State::empty(Config {
            devices: Vec::new(),
            ..config
        })
    });
    let faults = state.config.faults.clone();
    mistakes.extend(state.faults.arm(&faults).err());
    for message in mistakes {
        eprintln!("softgpu: SOFTGPU_CONFIG: {message}");
        state.report.violation("configuration", message);
    }
    Runtime {
        state: Mutex::new(state),
        wake: Condvar::new(),
        done: Condvar::new(),
        waiters: AtomicUsize::new(0),
        stop: AtomicBool::new(false),
    }
});

/// The runtime of this process.
pub fn runtime() -> &'static Runtime {
    &RUNTIME
}

impl Runtime {
    /// Locks all objects. Never held while a kernel, copy or host function runs.
    pub fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock()
    }

    /// Blocks the calling host thread until `finished` answers. Lets the scheduler run at once.
    ///
    /// # Errors
    /// What `finished` says; `hipErrorLaunchTimeOut`, with an entry in the report, when nothing can
    /// end the wait for the configured time; `hipErrorContextIsDestroyed` after a reset.
    pub fn wait<T>(
        &self,
        state: &mut MutexGuard<'_, State>,
        what: &str,
        mut finished: impl FnMut(&mut State) -> Option<Outcome<T>>,
    ) -> Outcome<T> {
        let generation = state.generation;
        let mut stuck: Option<Instant> = None;
        self.waiters.fetch_add(1, Ordering::Relaxed);
        self.wake.notify_all();
        let outcome = loop {
            if state.generation != generation {
                break Err(Error::CONTEXT_IS_DESTROYED);
            }
            if let Some(outcome) = finished(state) {
                break outcome;
            }
            if state.running.is_some() || state.has_candidate() {
                stuck = None;
            } else {
                let since = *stuck.get_or_insert_with(Instant::now);
                let limit = Duration::from_millis(state.config.hang_limit_ms);
                if since.elapsed() >= limit {
                    let message = format!(
                        "{what} waited {} ms for work that cannot end",
                        limit.as_millis()
                    );
                    state.report.violation("host_wait_without_end", message);
                    break Err(Error::LAUNCH_TIMEOUT);
                }
            }
            self.done.wait_for(state, Duration::from_millis(20));
        };
        self.waiters.fetch_sub(1, Ordering::Relaxed);
        outcome
    }

    /// Throws everything away and starts again with `config`. Ends waits with an error.
    ///
    /// # Errors
    /// A device of the configuration that is not modelled; then nothing changes.
    pub fn restart(&self, config: Config) -> Result<(), String> {
        let mut fresh = State::new(config)?;
        let mut state = self.lock();
        self.stop.store(true, Ordering::Relaxed);
        while state.running.is_some() {
            self.done.wait_for(&mut state, Duration::from_millis(20));
        }
        self.stop.store(false, Ordering::Relaxed);
        fresh.generation = state.generation + 1;
        fresh.next = state.next;
        fresh.scheduler_started = state.scheduler_started;
        super::hiprtc::forget_programs();
        let pinned: Vec<(u64, u64)> = state
            .allocations
            .live()
            .filter(|found| found.place == Place::Pinned)
            .map(|found| (found.start, found.bytes))
            .chain(state.freed_pinned.iter().copied())
            .collect();
        *state = fresh;
        for (start, bytes) in pinned {
            // SAFETY: the registry that is gone held this block; no operation runs.
            unsafe { super::allocation::give_pinned(start, bytes as usize) };
        }
        self.done.notify_all();
        Ok(())
    }
}
