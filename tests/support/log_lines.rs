//! Captures what the library logs. The log is one for the whole process: captures take turns.
#![allow(dead_code)] // each test binary uses a part

use mlxrocm::log::{Level, set_sink};
use std::sync::{Arc, Mutex, MutexGuard};

static TURN: Mutex<()> = Mutex::new(());

/// Lines since [`capture`]; the log is as before when this is dropped.
pub struct Lines {
    lines: Arc<Mutex<Vec<(Level, String)>>>,
    _turn: MutexGuard<'static, ()>,
}

/// Captures every line from now on.
pub fn capture() -> Lines {
    let turn = TURN.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sink = lines.clone();
    let sink = Arc::new(move |level: Level, line: &str| {
        sink.lock().unwrap().push((level, line.to_string()));
    });
    set_sink(Level::Debug, Some(sink));
    Lines { lines, _turn: turn }
}

impl Lines {
    pub fn all(&self) -> Vec<(Level, String)> {
        self.lines.lock().unwrap().clone()
    }

    fn of(&self, level: Level) -> Vec<String> {
        let lines = self.lines.lock().unwrap();
        let lines = lines.iter().filter(|(at, _)| *at == level);
        lines.map(|(_, line)| line.clone()).collect()
    }

    pub fn warnings(&self) -> Vec<String> {
        self.of(Level::Warn)
    }

    pub fn infos(&self) -> Vec<String> {
        self.of(Level::Info)
    }

    pub fn errors(&self) -> Vec<String> {
        self.of(Level::Error)
    }
}

impl Drop for Lines {
    fn drop(&mut self) {
        set_sink(Level::Debug, None);
    }
}
