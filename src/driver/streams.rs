//! Streams, events, and graphs that are launched on streams.

use super::api::Api;
use super::status::Code;
use super::sys::hip;
use super::table::*;
use crate::Result;

impl Api {
    /// A new stream that does not wait for the default one.
    pub fn stream_create(&self) -> Result<StreamHandle> {
        let mut stream = StreamHandle::NULL;
        let flags = hip::hipStreamNonBlocking;
        // SAFETY: the driver writes one handle.
        let code = Code(unsafe { (self.functions.stream_create)(&mut stream, flags) });
        self.check(code, || "creating a stream".into())?;
        Ok(stream)
    }

    /// Destroys a stream; queued work still runs.
    ///
    /// # Safety
    /// The handle is live and not used afterwards.
    pub unsafe fn stream_destroy(&self, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.stream_destroy)(stream) })
    }

    /// Whether the queued work is done: success, not ready, or a fault of it.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn stream_query(&self, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.stream_query)(stream) })
    }

    /// Later work of the stream waits for the event.
    ///
    /// # Safety
    /// The handles are live.
    pub unsafe fn stream_wait_event(&self, stream: StreamHandle, event: EventHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.stream_wait_event)(stream, event, 0) })
    }

    /// A new event; `timing` costs a little at each record. Waits for it sleep.
    pub fn event_create(&self, timing: bool) -> std::result::Result<EventHandle, Code> {
        let mut event = EventHandle::NULL;
        let flags = hip::hipEventBlockingSync
            | if timing {
                0
            } else {
                hip::hipEventDisableTiming
            };
        // SAFETY: the driver writes one handle.
        let code = Code(unsafe { (self.functions.event_create)(&mut event, flags) });
        match code {
            Code::OK => Ok(event),
            code => Err(code),
        }
    }

    /// Destroys an event.
    ///
    /// # Safety
    /// The handle is live and not used afterwards.
    pub unsafe fn event_destroy(&self, event: EventHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.event_destroy)(event) })
    }

    /// Marks the end of the stream's queue.
    ///
    /// # Safety
    /// The handles are live.
    pub unsafe fn event_record(&self, event: EventHandle, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.event_record)(event, stream) })
    }

    /// Whether the event's last record is done: success, not ready, or a fault.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn event_query(&self, event: EventHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.event_query)(event) })
    }

    /// Sleeps until the event's last record is done.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn event_synchronize(&self, event: EventHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.event_synchronize)(event) })
    }

    /// Milliseconds of device time from `from` to `to`.
    ///
    /// # Safety
    /// The handles are live.
    pub unsafe fn event_elapsed(&self, from: EventHandle, to: EventHandle) -> Result<f32, Code> {
        let mut milliseconds = 0.0;
        // SAFETY: the caller's; the driver writes one number.
        match Code(unsafe { (self.functions.event_elapsed)(&mut milliseconds, from, to) }) {
            Code::OK => Ok(milliseconds),
            code => Err(code),
        }
    }

    /// Launches an executable graph.
    ///
    /// # Safety
    /// The handles are live, and so is all that the graph's kernels use.
    pub unsafe fn executable_launch(
        &self,
        executable: ExecutableHandle,
        stream: StreamHandle,
    ) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.executable_launch)(executable, stream) })
    }

    /// Destroys an executable graph.
    ///
    /// # Safety
    /// The handle is live, no launch of it is under way, and it is not used afterwards.
    pub unsafe fn executable_destroy(&self, executable: ExecutableHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.executable_destroy)(executable) })
    }
}
