//! Programs: recorded launches that are replayed.

use super::stream::Stream;
use crate::{Error, Result};

/// How a program is run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProgramMode {
    /// One launch after another on the stream.
    Direct,
    /// One graph launch (or one a segment).
    Graph,
}

/// A recorded list of launches at fixed addresses. Owns its argument packs and keeps its buffers
/// alive. Internally locked: any thread; runs of one program follow each other.
pub struct Program {}

impl Program {
    /// Queues one run. The first run on a device whose graphs are not yet judged compares both modes
    /// (and waits for them); every later one queues and returns, without an allocation.
    pub fn run(&self, _stream: &Stream) -> Result<()> {
        Err(missing())
    }

    /// Queues one run in the given mode.
    pub fn run_as(&self, _stream: &Stream, _mode: ProgramMode) -> Result<()> {
        Err(missing())
    }

    /// The number of launches, copies and fills.
    pub fn len(&self) -> usize {
        0
    }

    /// Whether it does nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

fn missing() -> Error {
    Error::Unsupported("no GPU driver is bound yet".into())
}
