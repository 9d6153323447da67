//! Streams: queues of operations that are done in order, each.

use std::collections::VecDeque;
use std::ffi::{c_int, c_uint, c_void};

use super::entry::{hip_functions, write_out};
use super::error::{Error, Outcome};
use super::faults::Site;
use super::handles::HandleKind;
use super::operation::{HostCall, Operation, OperationId, What};
use super::order::Clock;
use super::runtime::runtime;
use super::state::State;

const NON_BLOCKING: c_uint = 1;
/// Priorities as HIP gives them for AMD: least, greatest.
const PRIORITIES: (c_int, c_int) = (1, -1);

/// A stream.
#[derive(Debug)]
pub struct Stream {
    /// Ordinal of its device.
    pub device: usize,
    /// Ordered with the null stream.
    pub blocking: bool,
    /// Flags it was created with.
    pub flags: c_uint,
    /// Priority it was created with; changes nothing here.
    pub priority: c_int,
    /// Operations that are not done, oldest first.
    pub queue: VecDeque<Operation>,
    /// What comes before the next operation, its own ones included.
    pub clock: Clock,
    /// The newest operation, done or not.
    pub last: Option<OperationId>,
    /// The program destroyed it; it goes when its queue is empty.
    pub destroyed: bool,
    /// It is the null stream of its device.
    pub null: bool,
    /// Number of the capture that it belongs to.
    pub capture: Option<u64>,
}

impl Stream {
    /// The null stream of a device.
    pub fn null_of(device: usize) -> Stream {
        Stream {
            null: true,
            blocking: false,
            ..Stream::new(device, 0, 0)
        }
    }

    fn new(device: usize, flags: c_uint, priority: c_int) -> Stream {
        Stream {
            device,
            blocking: flags & NON_BLOCKING == 0,
            flags,
            priority,
            queue: VecDeque::new(),
            clock: Clock::default(),
            last: None,
            destroyed: false,
            null: false,
            capture: None,
        }
    }
}

impl State {
    /// The stream that a handle names; null and 1 are the null stream of the thread's device.
    ///
    /// # Errors
    /// A handle that names no live stream.
    pub fn stream_handle(&mut self, stream: *mut c_void) -> Outcome<u64> {
        let handle = stream as u64;
        if handle <= 1 {
            return self.device().map(|device| device.null_stream);
        }
        match self.streams.get(&handle) {
            Some(found) if !found.destroyed && !found.null => Ok(handle),
            _ => Err(self.bad_handle(HandleKind::Stream, handle)),
        }
    }

    /// Ordinal of the device of a stream that exists.
    pub fn stream_device(&self, stream: u64) -> usize {
        self.streams.get(&stream).map_or(0, |found| found.device)
    }

    /// Removes a destroyed stream whose work is done.
    pub fn sweep_stream(&mut self, stream: u64) {
        if self
            .streams
            .get(&stream)
            .is_some_and(|found| found.destroyed && found.queue.is_empty())
        {
            self.streams.remove(&stream);
        }
    }

    fn create_stream(&mut self, flags: c_uint, priority: c_int) -> Outcome<u64> {
        let ordinal = self.usable_device()?;
        if flags & !NON_BLOCKING != 0 {
            return Err(Error::INVALID_VALUE);
        }
        if self.faults.strikes(Site::Stream) {
            return Err(Error::OUT_OF_MEMORY);
        }
        let handle = self.new_handle(HandleKind::Stream);
        self.streams
            .insert(handle, Stream::new(ordinal, flags, priority));
        Ok(handle)
    }
}

fn create(stream: *mut *mut c_void, flags: c_uint, priority: c_int) -> Outcome {
    if stream.is_null() {
        return Err(Error::INVALID_VALUE);
    }
    let handle = runtime().lock().create_stream(flags, priority)?;
    write_out(stream, handle as *mut c_void)
}

hip_functions! {
    /// Creates a stream.
    fn hipStreamCreate(stream: *mut *mut c_void) {
        create(stream, 0, 0)
    }

    /// Creates a stream with flags (1: not ordered with the null stream).
    fn hipStreamCreateWithFlags(stream: *mut *mut c_void, flags: c_uint) {
        create(stream, flags, 0)
    }

    /// Creates a stream with flags and a priority.
    fn hipStreamCreateWithPriority(stream: *mut *mut c_void, flags: c_uint, priority: c_int) {
        create(stream, flags, priority.clamp(PRIORITIES.1, PRIORITIES.0))
    }

    /// The range of priorities.
    fn hipDeviceGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        runtime().lock().device()?;
        if !least.is_null() {
            write_out(least, PRIORITIES.0)?;
        }
        if greatest.is_null() { Ok(()) } else { write_out(greatest, PRIORITIES.1) }
    }

    /// Flags of a stream.
    fn hipStreamGetFlags(stream: *mut c_void, flags: *mut c_uint) {
        let mut state = runtime().lock();
        let handle = state.stream_handle(stream)?;
        let value = state.streams.get(&handle).map_or(0, |found| found.flags);
        drop(state);
        write_out(flags, value)
    }

    /// Priority of a stream.
    fn hipStreamGetPriority(stream: *mut c_void, priority: *mut c_int) {
        let mut state = runtime().lock();
        let handle = state.stream_handle(stream)?;
        let value = state.streams.get(&handle).map_or(0, |found| found.priority);
        drop(state);
        write_out(priority, value)
    }

    /// Destroys a stream; its queued work is still done.
    fn hipStreamDestroy(stream: *mut c_void) {
        let mut state = runtime().lock();
        if (stream as u64) <= 1 {
            return Err(Error::INVALID_HANDLE);
        }
        let handle = state.stream_handle(stream)?;
        if state.streams.get(&handle).is_some_and(|found| found.capture.is_some()) {
            let message = "a stream was destroyed while capturing".to_owned();
            state.report.violation("capture", message);
        }
        if let Some(found) = state.streams.get_mut(&handle) {
            found.destroyed = true;
        }
        state.sweep_stream(handle);
        Ok(())
    }

    /// Whether all work of a stream is done.
    fn hipStreamQuery(stream: *mut c_void) {
        let mut state = runtime().lock();
        let handle = state.stream_handle(stream)?;
        state.refuse_capturing_stream(handle, "hipStreamQuery")?;
        let ordinal = state.stream_device(handle);
        state.check_device(ordinal)?;
        if state.streams.get(&handle).is_some_and(|found| !found.queue.is_empty()) {
            state.nudge();
            return Err(Error::NOT_READY);
        }
        state.host_saw_stream(handle);
        state.take_fault(ordinal)
    }

    /// Waits for all work of a stream.
    fn hipStreamSynchronize(stream: *mut c_void) {
        let mut state = runtime().lock();
        let handle = state.stream_handle(stream)?;
        state.refuse_capturing_stream(handle, "hipStreamSynchronize")?;
        let Some(found) = state.streams.get(&handle) else { return Err(Error::INVALID_HANDLE) };
        let (ordinal, last, null) = (found.device, found.last, found.null);
        let mut clock = found.clock.clone();
        // The null stream's work is all that came before in the blocking streams too.
        let mut until: Vec<OperationId> = last.into_iter().collect();
        if null {
            let mine = |other: &&Stream| other.device == ordinal && other.blocking;
            for other in state.streams.values().filter(mine) {
                until.extend(other.last);
                clock.join(&other.clock);
            }
        }
        runtime().wait(&mut state, "hipStreamSynchronize", |state| {
            let ended = state.check_device(ordinal).is_err()
                || until.iter().all(|id| !state.pending.contains_key(id));
            ended.then(|| state.take_fault(ordinal))
        })?;
        state.host_saw(&clock);
        Ok(())
    }

    /// Later work of a stream comes after the newest record of an event.
    fn hipStreamWaitEvent(stream: *mut c_void, event: *mut c_void, _flags: c_uint) {
        let mut state = runtime().lock();
        let handle = state.stream_handle(stream)?;
        let event = state.event_handle(event)?;
        if state.capture_wait(handle, event)? {
            return Ok(());
        }
        let Some(record) = state.events.get(&event).and_then(|found| found.record.clone()) else {
            return state.check_device(state.stream_device(handle));
        };
        if !state.pending.contains_key(&record.0) {
            state.check_device(state.stream_device(handle))?;
            if let Some(found) = state.streams.get_mut(&handle) {
                found.clock.join(&record.1);
            }
            return Ok(());
        }
        state.enqueue(handle, What::Wait, Some(record)).map(|_| ())
    }

    /// Calls a host function in stream order. Cannot be captured.
    fn hipLaunchHostFunc(
        stream: *mut c_void,
        function: Option<unsafe extern "C" fn(*mut c_void)>,
        user_data: *mut c_void,
    ) {
        let function = function.ok_or(Error::INVALID_VALUE)?;
        let mut state = runtime().lock();
        let handle = state.stream_handle(stream)?;
        state.refuse_capturing_stream(handle, "hipLaunchHostFunc")?;
        state.enqueue(handle, What::Host(HostCall { function, user_data }), None).map(|_| ())
    }
}
