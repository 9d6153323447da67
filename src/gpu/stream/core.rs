//! What outlives a stream's handle: counts of its operations, and the events that tell how far it is.

use super::Stream;
use crate::driver::{Code, EventHandle, StreamHandle};
use crate::gpu::blas::Opened;
use crate::gpu::device::Device;
use crate::gpu::event::timed_out;
use crate::gpu::uses::Mark;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

/// What outlives the stream's handle: the device keeps it until the queued work is done.
///
/// A *ticket* is the number of operations queued so far. It is taken after the operation is queued,
/// so an event recorded after reading `submitted` covers all tickets up to it.
pub(in crate::gpu) struct StreamCore {
    id: u64,
    handle: StreamHandle,
    submitted: AtomicU64,
    completed: AtomicU64,
    /// Events recorded so that others know when this stream is so far; `None` when the driver's
    /// stream is destroyed.
    fences: Mutex<Option<Vec<(u64, EventHandle)>>>,
    fault: Mutex<Option<Error>>,
    closed: AtomicBool,
    /// Its own handle of a BLAS, whose products are queued here.
    pub(in crate::gpu) blas: Mutex<Option<Opened>>,
}

impl StreamCore {
    pub fn new(id: u64, handle: StreamHandle) -> Self {
        StreamCore {
            id,
            handle,
            submitted: AtomicU64::new(0),
            completed: AtomicU64::new(0),
            fences: Mutex::new(Some(Vec::new())),
            fault: Mutex::default(),
            closed: AtomicBool::new(false),
            blas: Mutex::default(),
        }
    }

    pub fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn handle(&self) -> StreamHandle {
        self.handle
    }

    /// Notes that the stream's handle is gone.
    pub(super) fn close(&self) {
        self.closed.store(true, Ordering::Release);
    }

    /// The last operation's ticket.
    pub(super) fn submitted(&self) -> u64 {
        self.submitted.load(Ordering::Acquire)
    }

    /// The error of work that failed, told once.
    pub(super) fn take_fault(&self) -> Option<Error> {
        self.fault.lock().take()
    }

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Counts an operation that was just queued.
    pub(super) fn mark(&self) -> Mark {
        Mark {
            stream: self.id,
            ticket: self.submitted.fetch_add(1, Ordering::AcqRel) + 1,
        }
    }

    /// Notes that all work up to the ticket is over.
    pub(super) fn complete(&self, upto: u64) {
        // No fetch_max: ThreadSanitizer does not see what that one orders (tests/tsan.sh).
        let later = |now| (now < upto).then_some(upto);
        let _ = self
            .completed
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, later);
    }

    /// Keeps the first fault for the next wait.
    pub(super) fn latch(&self, error: Error) {
        self.fault.lock().get_or_insert(error);
    }

    /// Whether all work up to the ticket is over. The device is current.
    pub fn reached(&self, device: &Device, ticket: u64) -> bool {
        if self.completed.load(Ordering::Acquire) >= ticket {
            return true;
        }
        let mut fences = self.fences.lock();
        let Some(fences) = &mut *fences else {
            return true;
        };
        for recorded in [false, true] {
            fences.retain(|(upto, event)| !self.passed(device, *upto, *event));
            if self.completed.load(Ordering::Acquire) >= ticket {
                return true;
            }
            if recorded || fences.iter().any(|(upto, _)| *upto >= ticket) {
                return false;
            }
            match self.fence(device) {
                Ok(fence) => fences.push(fence),
                Err(error) => {
                    self.latch(error);
                    return false;
                }
            }
        }
        false
    }

    /// Whether a fence is passed; its event is given back then.
    fn passed(&self, device: &Device, upto: u64, event: EventHandle) -> bool {
        // SAFETY: a live handle.
        match unsafe { device.api.event_query(event) } {
            code if code.is_not_ready() => return false,
            Code::OK => {}
            code => self.latch(device.failed(code, "GPU work failed")),
        }
        self.complete(upto);
        device.give_back_event(event);
        true
    }

    /// A newly recorded event, and the ticket that it covers.
    fn fence(&self, device: &Device) -> Result<(u64, EventHandle)> {
        let event = device.take_event()?;
        let upto = self.submitted();
        // SAFETY: live handles.
        match unsafe { device.api.event_record(event, self.handle) } {
            Code::OK => Ok((upto, event)),
            code => {
                device.give_back_event(event);
                Err(device.failed(code, "recording an event"))
            }
        }
    }

    /// Keeps a fence at the end of the queue, if there is none.
    pub(super) fn note_end(&self, device: &Device) -> Result<()> {
        let mut fences = self.fences.lock();
        let Some(fences) = &mut *fences else {
            return Ok(());
        };
        fences.retain(|(upto, event)| !self.passed(device, *upto, *event));
        let end = self.submitted();
        let is_there = |(upto, _): &(u64, _)| *upto >= end;
        if self.completed.load(Ordering::Acquire) < end && !fences.iter().any(is_there) {
            fences.push(self.fence(device)?);
        }
        Ok(())
    }

    /// Whether work up to a ticket can be waited for without what is queued behind it: it is over, or there is a fence.
    pub fn is_noted(&self, ticket: u64) -> bool {
        let end = self.submitted();
        // Fences that are passed are not kept.
        if self.completed.load(Ordering::Acquire) >= ticket {
            return end > ticket;
        }
        let fences = self.fences.lock();
        let mut fences = fences.iter().flatten();
        fences.any(|(upto, _)| (ticket..end).contains(upto))
    }

    /// Sleeps until everything queued so far is done; the code that the work ended with.
    pub(super) fn wait(&self, device: &Device, timeout: Option<Duration>) -> Result<Code> {
        let (upto, event) = self.fence(device)?;
        let Some(code) = device.wait_event(event, timeout) else {
            if let Some(fences) = &mut *self.fences.lock() {
                fences.push((upto, event));
            }
            return Err(timed_out(timeout));
        };
        self.complete(upto);
        device.give_back_event(event);
        Ok(code)
    }

    /// Orders later work of `stream` after this stream's work up to a ticket (of what is queued by now).
    pub fn precede(&self, stream: &Stream, ticket: u64) -> Result<()> {
        let device = &stream.device;
        let ticket = ticket.min(self.submitted());
        if self.completed.load(Ordering::Acquire) >= ticket {
            return Ok(());
        }
        // Its handle may be gone, and another thread may find it drained and destroy it just now.
        let mut fences = self.fences.lock();
        let Some(fences) = &mut *fences else {
            return Ok(());
        };
        fences.retain(|(upto, event)| !self.passed(device, *upto, *event));
        if self.completed.load(Ordering::Acquire) >= ticket {
            return Ok(());
        }
        // The first one behind the ticket that is there already, or a new one at the end of the queue. Its event may be
        // recorded again only when it is passed: the wait refers to it.
        let behind = fences.iter().filter(|(upto, _)| *upto >= ticket);
        let event = match behind.min_by_key(|(upto, _)| *upto) {
            Some((_, event)) => *event,
            None => {
                let fence = self.fence(device)?;
                fences.push(fence);
                fence.1
            }
        };
        // SAFETY: live handles.
        let code = unsafe { device.api.stream_wait_event(stream.core.handle, event) };
        stream.queued(code, || "waiting for another stream".into())?;
        Ok(())
    }

    /// Whether nothing is queued.
    pub fn is_drained(&self, device: &Device) -> bool {
        self.reached(device, self.submitted())
    }

    /// Destroys the driver's stream, if no other thread did; it is drained and nobody queues on it.
    pub fn destroy(&self, device: &Device) {
        let mut fences = self.fences.lock();
        let Some(events) = fences.take() else { return };
        for (_, event) in events {
            device.give_back_event(event);
        }
        if let Some((blas, handle)) = self.blas.lock().take() {
            // SAFETY: a live handle whose work is done and that is not used afterwards.
            unsafe { blas.destroy(handle) };
        }
        // SAFETY: a live handle that is not used afterwards.
        unsafe { device.api.stream_destroy(self.handle) };
    }
}
