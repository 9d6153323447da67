//! Events: marks in a stream.

use super::device::Device;
use crate::driver::{Code, EventHandle};
use crate::{Error, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A mark in a stream, made by [`Device::event`]. Internally locked: any thread.
pub struct Event {
    device: Arc<Device>,
    handle: EventHandle,
    recorded: AtomicBool,
}

impl Drop for Event {
    fn drop(&mut self) {
        if self.device.enter().is_ok() {
            // SAFETY: this event's own handle; drivers keep a recorded event until it is done.
            unsafe { self.device.api.event_destroy(self.handle) };
        }
    }
}

impl Event {
    pub(super) fn new(device: Arc<Device>, handle: EventHandle) -> Self {
        Event {
            device,
            handle,
            recorded: AtomicBool::new(false),
        }
    }

    pub(super) fn handle(&self) -> EventHandle {
        self.handle
    }

    pub(super) fn device(&self) -> &Arc<Device> {
        &self.device
    }

    pub(super) fn set_recorded(&self) {
        self.recorded.store(true, Ordering::Release);
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.recorded.load(Ordering::Acquire)
    }

    /// Whether everything before the last record is done; true if never recorded.
    ///
    /// # Errors
    /// A fault of that work; `DeviceLost`.
    pub fn is_done(&self) -> Result<bool> {
        self.device.enter()?;
        // SAFETY: a live handle.
        match unsafe { self.device.api.event_query(self.handle) } {
            code if code.is_not_ready() => Ok(false),
            code => self.finished(code).map(|()| true),
        }
    }

    /// Sleeps until it is done; `None` waits for ever.
    ///
    /// # Errors
    /// `Timeout` when the time is over; a fault of the work before it; `DeviceLost`.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        self.device.enter()?;
        match self.device.wait_event(self.handle, timeout) {
            Some(code) => self.finished(code),
            None => Err(timed_out(timeout)),
        }
    }

    fn finished(&self, code: Code) -> Result<()> {
        self.device
            .check(code, || "GPU work before an event failed".into())
    }

    /// The device time from `earlier` to this event; both are recorded and done.
    ///
    /// # Errors
    /// `InvalidArgument` if one is not recorded or not done, or they are of different devices.
    pub fn elapsed_since(&self, earlier: &Event) -> Result<Duration> {
        self.device.enter()?;
        if !self.is_recorded() || !earlier.is_recorded() {
            return Err(Error::InvalidArgument(
                "an event was not recorded: record both before asking for the time between".into(),
            ));
        }
        if !Arc::ptr_eq(&self.device, &earlier.device) {
            return Err(Error::InvalidArgument(
                "the events are of different devices".into(),
            ));
        }
        // SAFETY: live handles.
        match unsafe { self.device.api.event_elapsed(earlier.handle, self.handle) } {
            Ok(milliseconds) => {
                Ok(Duration::try_from_secs_f32(milliseconds / 1e3).unwrap_or(Duration::ZERO))
            }
            Err(code) if code.is_not_ready() => Err(Error::InvalidArgument(
                "an event is not done: wait for both before asking for the time between".into(),
            )),
            Err(code) => Err(self
                .device
                .failed(code, "asking for the time between events")),
        }
    }
}

pub(super) fn timed_out(timeout: Option<Duration>) -> Error {
    Error::Timeout(format!(
        "GPU work is not done after {:?}; it goes on, wait again",
        timeout.unwrap_or_default()
    ))
}
