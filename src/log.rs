//! Process-wide log: one callback, set by the application; silent by default.
//! With `MLXROCM_LOG=error|warn|info|debug` in the environment and no callback, lines go to stderr.

use parking_lot::RwLock;
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

/// Sends lines at `level` and above to `sink`; `None` restores the default.
pub fn set_sink(level: Level, sink: Option<Sink>) {
    let old = std::mem::replace(&mut *SINK.write(), sink.map(|s| (level, s)));
    // The caller's destructor runs outside the lock.
    drop(old);
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
    let sink = match &*SINK.read() {
        Some((max, sink)) if level <= *max => Some(sink.clone()),
        Some(_) => return,
        None => None,
    };
    match sink {
        Some(sink) => sink(level, &message()),
        None if stderr_level().is_some_and(|max| level <= max) => {
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "mlxrocm: {}", message());
        }
        None => {}
    }
}
