//! Events: marks in streams, with the time at which the work before them was done.

use std::ffi::{c_float, c_uint, c_void};
use std::time::Instant;

use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::faults::Site;
use super::handles::HandleKind;
use super::operation::{OperationId, What};
use super::runtime::runtime;
use super::state::{Done, State};

const DISABLE_TIMING: c_uint = 2;
/// Default, blocking sync, disable timing, interprocess, release to device, release to system.
const KNOWN_FLAGS: c_uint = 0xE000_0007;

/// An event.
#[derive(Clone, Debug)]
pub struct Event {
    /// Ordinal of its device.
    pub device: usize,
    /// Keeps the time.
    pub timed: bool,
    /// The newest record, done or not.
    pub record: Option<Done>,
    /// When the newest record was done.
    pub stamp: Option<Instant>,
    /// Number of the capture in which it was recorded last.
    pub capture: Option<u64>,
}

impl State {
    /// The event that a handle names.
    ///
    /// # Errors
    /// A handle that names no live event.
    pub fn event_handle(&mut self, event: *mut c_void) -> Outcome<u64> {
        let handle = event as u64;
        if self.events.contains_key(&handle) {
            return Ok(handle);
        }
        Err(self.bad_handle(HandleKind::Event, handle))
    }

    /// Marks the record of an event as done now.
    pub fn stamp_event(&mut self, event: u64, record: OperationId) {
        if let Some(found) = self.events.get_mut(&event)
            && found.record.as_ref().is_some_and(|done| done.0 == record)
        {
            found.stamp = Some(Instant::now());
        }
    }

    /// Lets one operation run although no host thread waits.
    pub fn nudge(&mut self) {
        self.nudged = true;
        runtime().wake.notify_all();
    }

    fn host_saw_event(&mut self, event: u64) {
        if let Some((_, clock)) = self
            .events
            .get(&event)
            .and_then(|found| found.record.clone())
        {
            self.host_saw(&clock);
        }
    }

    fn event_done(&self, event: u64) -> bool {
        let record = self
            .events
            .get(&event)
            .and_then(|found| found.record.as_ref());
        record.is_none_or(|record| !self.pending.contains_key(&record.0))
    }
}

fn create(event: *mut *mut c_void, flags: c_uint) -> Outcome {
    if event.is_null() || flags & !KNOWN_FLAGS != 0 {
        return Err(Error::INVALID_VALUE);
    }
    let mut state = runtime().lock();
    let device = state.usable_device()?;
    if state.faults.strikes(Site::Event) {
        return Err(Error::OUT_OF_MEMORY);
    }
    let handle = state.new_handle(HandleKind::Event);
    let timed = flags & DISABLE_TIMING == 0;
    state.events.insert(
        handle,
        Event {
            device,
            timed,
            record: None,
            stamp: None,
            capture: None,
        },
    );
    drop(state);
    write_out(event, handle as *mut c_void)
}

hip_functions! {
    /// Creates an event.
    fn hipEventCreate(event: *mut *mut c_void) {
        create(event, 0)
    }

    /// Creates an event with flags.
    fn hipEventCreateWithFlags(event: *mut *mut c_void, flags: c_uint) {
        create(event, flags)
    }

    /// Destroys an event; work that waits for its record still does.
    fn hipEventDestroy(event: *mut c_void) {
        let mut state = runtime().lock();
        let handle = state.event_handle(event)?;
        state.events.remove(&handle);
        Ok(())
    }

    /// Records an event in a stream of its device.
    fn hipEventRecord(event: *mut c_void, stream: *mut c_void) {
        let mut state = runtime().lock();
        let event = state.event_handle(event)?;
        let stream = state.stream_handle(stream)?;
        if state.capture_record(stream, event)? {
            return Ok(());
        }
        let device = state.stream_device(stream);
        if state.events.get(&event).is_some_and(|found| found.device != device) {
            state.report.violation(
                "wrong_device",
                "an event was recorded in a stream of another device".to_owned(),
            );
            return Err(Error::INVALID_HANDLE);
        }
        let done = state.enqueue(stream, What::Record(event), None)?;
        if let Some(found) = state.events.get_mut(&event) {
            found.record = Some(done);
            found.stamp = None;
            found.capture = None;
        }
        Ok(())
    }

    /// Whether the newest record is done; an event without one is.
    fn hipEventQuery(event: *mut c_void) {
        let mut state = runtime().lock();
        let handle = state.event_handle(event)?;
        state.refuse_captured_event(handle)?;
        let device = state.events.get(&handle).map_or(0, |found| found.device);
        state.check_device(device)?;
        if !state.event_done(handle) {
            state.nudge();
            return Err(Error::NOT_READY);
        }
        state.host_saw_event(handle);
        state.take_fault(device)
    }

    /// Waits for the newest record.
    fn hipEventSynchronize(event: *mut c_void) {
        let mut state = runtime().lock();
        let handle = state.event_handle(event)?;
        state.refuse_captured_event(handle)?;
        let Some(found) = state.events.get(&handle) else { return Err(Error::INVALID_HANDLE) };
        let (device, record) = (found.device, found.record.clone());
        runtime().wait(&mut state, "hipEventSynchronize", |state| {
            let done = record.as_ref().is_none_or(|(id, _)| !state.pending.contains_key(id));
            (done || state.check_device(device).is_err()).then(|| state.take_fault(device))
        })?;
        if let Some((_, clock)) = record {
            state.host_saw(&clock);
        }
        Ok(())
    }

    /// Milliseconds between the work before two records was done.
    fn hipEventElapsedTime(milliseconds: *mut c_float, start: *mut c_void, stop: *mut c_void) {
        let mut state = runtime().lock();
        let start = state.event_handle(start)?;
        let stop = state.event_handle(stop)?;
        let (Some(first), Some(second)) = (state.events.get(&start), state.events.get(&stop)) else {
            return Err(Error::INVALID_HANDLE);
        };
        if !first.timed || !second.timed || first.record.is_none() || second.record.is_none() {
            return Err(Error::INVALID_HANDLE);
        }
        state.check_device(first.device)?;
        let (Some(from), Some(to)) = (first.stamp, second.stamp) else {
            state.nudge();
            return Err(Error::NOT_READY);
        };
        drop(state);
        let time = if to >= from {
            (to - from).as_secs_f64() * 1e3
        } else {
            -(from - to).as_secs_f64() * 1e3
        };
        write_out(milliseconds, time as c_float)
    }
}
