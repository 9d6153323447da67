//! Process-wide log: one callback, set by the application; silent by default.
//! With `MLXROCM_LOG=error|warn|info|debug` in the environment and no callback, lines go to stderr.
//!
//! The callback is called only on the application's own threads, while these are in the library:
//! some languages can run it on no other, or wait for their main thread, which waits for us. Lines
//! of the library's threads ([`on_worker`]) wait until an application's thread writes one or leaves
//! the library ([`deliver`]).

use parking_lot::{Mutex, RwLock};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// Severity of a log line; lower is more severe.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u32)]
pub enum Level {
    /// Something failed.
    Error = 1,
    /// Something works worse than the user may expect.
    Warn = 2,
    /// What was chosen: device, kernels, formats.
    Info = 3,
    /// Details for a bug report.
    Debug = 4,
}

type Sink = Arc<dyn Fn(Level, &str) + Send + Sync>;

static SINK: RwLock<Option<(Level, Sink)>> = RwLock::new(None);
static STDERR_LEVEL: OnceLock<Option<Level>> = OnceLock::new();

/// Lines that wait at most; further ones are counted and left out.
const WAITING_LINES: usize = 1024;

/// Lines of the library's threads, the oldest first.
#[derive(Default)]
struct Waiting {
    lines: VecDeque<(Level, String)>,
    left_out: usize,
}

static WAITING: Mutex<Waiting> = Mutex::new(Waiting {
    lines: VecDeque::new(),
    left_out: 0,
});
/// Whether there may be waiting lines: every call asks.
static ANY_WAITING: AtomicBool = AtomicBool::new(false);

thread_local! {
    static IS_WORKER: Cell<bool> = const { Cell::new(false) };
    static IS_DELIVERING: Cell<bool> = const { Cell::new(false) };
}

/// Sends lines at `level` and above to `sink`; `None` restores the default. Lines that wait go to
/// the one before.
pub fn set_sink(level: Level, sink: Option<Sink>) {
    deliver();
    let old = std::mem::replace(&mut *SINK.write(), sink.map(|s| (level, s)));
    // The caller's destructor runs outside the lock.
    drop(old);
}

/// Runs the body of one of the library's own threads: its lines wait for a thread of the
/// application.
pub fn on_worker<R>(body: impl FnOnce() -> R) -> R {
    IS_WORKER.set(true);
    body()
}

fn stderr_level() -> Option<Level> {
    *STDERR_LEVEL.get_or_init(|| match std::env::var("MLXROCM_LOG").as_deref() {
        Ok("error") => Some(Level::Error),
        Ok("warn") => Some(Level::Warn),
        Ok("info") => Some(Level::Info),
        Ok("debug") => Some(Level::Debug),
        _ => None,
    })
}

/// Writes one line. `message` is built only when somebody listens.
pub fn write(level: Level, message: impl FnOnce() -> String) {
    let most = SINK.read().as_ref().map(|(max, _)| *max);
    match most {
        Some(max) if level > max => {}
        // Without a hold on the callback: its destructor is none of this thread's business either.
        Some(_) if IS_WORKER.get() => wait(level, message()),
        Some(_) => {
            deliver();
            let sink = SINK.read().as_ref().map(|(_, sink)| sink.clone());
            if let Some(sink) = sink {
                sink(level, &message());
            }
        }
        None if stderr_level().is_some_and(|max| level <= max) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "mlxrocm: {}", message());
        }
        None => {}
    }
}

fn wait(level: Level, message: String) {
    let mut waiting = WAITING.lock();
    if waiting.lines.len() < WAITING_LINES {
        waiting.lines.push_back((level, message));
    } else {
        waiting.left_out += 1;
    }
    ANY_WAITING.store(true, Ordering::Release);
}

/// Whether there are lines for [`deliver`].
pub fn is_waiting() -> bool {
    ANY_WAITING.load(Ordering::Acquire)
}

/// Gives the lines of the library's threads to the callback, on this thread. Nothing of the library
/// may be locked by it.
pub fn deliver() {
    if !is_waiting() || IS_WORKER.get() || IS_DELIVERING.get() {
        return;
    }
    /// Also when the callback panics.
    struct Done;
    impl Drop for Done {
        fn drop(&mut self) {
            IS_DELIVERING.set(false);
        }
    }
    IS_DELIVERING.set(true);
    let _done = Done;
    let Waiting { lines, left_out } = {
        let mut waiting = WAITING.lock();
        ANY_WAITING.store(false, Ordering::Release);
        std::mem::take(&mut *waiting)
    };
    // The callback may be another one by now, or none.
    for (level, message) in lines {
        write(level, || message);
    }
    if left_out > 0 {
        write(Level::Warn, || {
            format!(
                "{left_out} log lines of the library's threads were left out: no call took them"
            )
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_worker_wait_for_another_thread() {
        type Seen = Vec<(std::thread::ThreadId, String)>;
        static SEEN: Mutex<Seen> = Mutex::new(Vec::new());
        let ours = |text: &str| text.starts_with("log test");
        set_sink(
            Level::Warn,
            Some(Arc::new(move |_, text: &str| {
                if ours(text) {
                    SEEN.lock()
                        .push((std::thread::current().id(), text.to_string()));
                }
            })),
        );
        let worker = std::thread::spawn(|| {
            on_worker(|| {
                write(Level::Warn, || "log test 1".into());
                write(Level::Info, || "log test: not wanted".into());
                deliver(); // a worker never does
                write(Level::Error, || "log test 2".into());
            })
        });
        worker.join().unwrap();
        write(Level::Warn, || "log test 3".into());
        set_sink(Level::Warn, None);
        let here = std::thread::current().id();
        let expected: Seen = (1..=3).map(|i| (here, format!("log test {i}"))).collect();
        assert_eq!(*SEEN.lock(), expected);
    }
}
