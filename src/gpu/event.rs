//! Events: marks in a stream.

use crate::{Error, Result};
use std::time::Duration;

/// A mark in a stream, made by [`super::Device::event`]. Internally locked: any thread.
pub struct Event {}

impl Event {
    /// Whether everything before the last record is done; true if never recorded.
    pub fn is_done(&self) -> Result<bool> {
        Err(missing())
    }

    /// Sleeps until it is done; `None` waits for ever.
    ///
    /// # Errors
    /// `Timeout` when the time is over.
    pub fn wait(&self, _timeout: Option<Duration>) -> Result<()> {
        Err(missing())
    }

    /// The device time from `earlier` to this event; both are recorded and done.
    pub fn elapsed_since(&self, _earlier: &Event) -> Result<Duration> {
        Err(missing())
    }
}

fn missing() -> Error {
    Error::Unsupported("no GPU driver is bound yet".into())
}
