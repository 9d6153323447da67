//! Streams: queues of device work.

use super::args::Args;
use super::blas::Opened;
use super::buffer::{DeviceBuffer, PinnedBuffer};
use super::device::Device;
use super::encoder::LaunchOptions;
use super::event::{Event, timed_out};
use super::module::Kernel;
use super::uses::{Mark, Marks};
use crate::driver::{Code, EventHandle, Launch, Overlap, Platform, StreamHandle};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// A queue of device work in order. Internally locked: any thread. Dropping it does not wait: queued
/// work still runs.
pub struct Stream {
    device: Arc<Device>,
    core: Arc<StreamCore>,
    /// Memory of the core's handle of a BLAS.
    pub(super) workspace: OnceLock<DeviceBuffer>,
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.core.closed.store(true, Ordering::Release);
        if self.device.enter().is_ok() {
            self.device.sweep();
        }
    }
}

/// The largest piece that a copy through pinned memory moves at a time.
const PIECE: usize = 4 << 20;
/// The most bytes that a kernel copies between pinned memory and the device's.
const MOST_BY_KERNEL: usize = 16 << 10;
/// What a block of `mlxrocm_copy_u8` copies.
pub(super) const COPY_BLOCK: usize = 4096;

impl Stream {
    pub(super) fn new(device: Arc<Device>, core: Arc<StreamCore>) -> Self {
        Stream {
            device,
            core,
            workspace: OnceLock::new(),
        }
    }

    pub(super) fn core(&self) -> &StreamCore {
        &self.core
    }

    pub(super) fn id(&self) -> u64 {
        self.core.id
    }

    pub(super) fn handle(&self) -> StreamHandle {
        self.core.handle
    }

    /// The device that it belongs to.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
    }

    /// Copies host bytes to `target` from `offset`. The bytes are taken before this returns; the copy
    /// itself is queued.
    pub fn copy_to_device(&self, target: &DeviceBuffer, offset: u64, bytes: &[u8]) -> Result<()> {
        let len = bytes.len() as u64;
        self.part("copy to", target, offset, len)?;
        let mut offset = offset;
        for piece in bytes.chunks(PIECE) {
            // Drivers differ in when they read pageable memory; pinned memory of our own is safe,
            // and goes back to the cache with this copy as its last use.
            let mut staging = self.device.alloc_pinned(piece.len() as u64)?;
            staging.as_mut_slice().copy_from_slice(piece);
            self.copy_from_pinned(target, offset, &staging, 0, piece.len() as u64)?;
            offset += piece.len() as u64;
        }
        Ok(())
    }

    /// Copies from `source` to host bytes and waits for them (and all work queued before), as long as for a step of
    /// a model.
    ///
    /// # Errors
    /// As [`Self::wait`].
    pub fn copy_to_host(&self, source: &DeviceBuffer, offset: u64, bytes: &mut [u8]) -> Result<()> {
        self.part("copy from", source, offset, bytes.len() as u64)?;
        let size = bytes.len().min(PIECE) as u64;
        let staging = self.device.alloc_pinned(size)?;
        let mut offset = offset;
        for piece in bytes.chunks_mut(PIECE) {
            let len = piece.len() as u64;
            self.copy_to_pinned(source, offset, &staging, 0, len)?;
            self.wait(Some(self.device.step_patience()))?;
            piece.copy_from_slice(staging.as_slice().get(..piece.len()).unwrap_or_default());
            offset += len;
        }
        Ok(())
    }

    /// Queues a copy of `len` bytes from pinned memory, which the caller leaves as it is until then.
    pub fn copy_from_pinned(
        &self,
        target: &DeviceBuffer,
        offset: u64,
        source: &PinnedBuffer,
        source_offset: u64,
        len: u64,
    ) -> Result<()> {
        let address = self.part("copy to", target, offset, len)?;
        let (host, len) = self.pinned_part(source, source_offset, len)?;
        if len == 0 {
            return Ok(());
        }
        self.device.enter()?;
        let (api, stream) = (self.device.api, self.core.handle);
        let code = match self.copy_by_kernel(address, source.address() + source_offset, len) {
            Some(code) => code,
            // SAFETY: both parts are inside their buffers, which keep the memory until the copy is done.
            None => unsafe { api.copy_to_device(address, host, len, stream) },
        };
        let mark = self.queued(code, || format!("copying {len} bytes to the device"))?;
        source.used(mark);
        target.uses().add(mark);
        Ok(())
    }

    /// Queues a copy between pinned memory and a buffer's by a kernel, on NVIDIA and where that is faster: a step's inputs and
    /// tokens. Copy engines and multiprocessors take a while to hand over to each other.
    fn copy_by_kernel(&self, to: u64, from: u64, len: usize) -> Option<Code> {
        let device = &self.device;
        if len > MOST_BY_KERNEL || device.facts().platform != Platform::Cuda {
            return None;
        }
        let kernel = device.kernel("mlxrocm_copy_u8").ok()?;
        let launch = Launch {
            function: kernel.function(),
            grid: [len.div_ceil(COPY_BLOCK) as u32, 1, 1],
            block: [256, 1, 1],
            lds_bytes: 0,
            overlap: Overlap::None,
        };
        // SAFETY: the caller's parts are inside their buffers; built-in kernels are kept as long as the device.
        Some(unsafe {
            let args = [to, from, len as u64];
            device.api.launch_once(&launch, &args, self.core.handle)
        })
    }

    /// Queues a copy of `len` bytes to pinned memory, which the caller reads after a wait.
    pub fn copy_to_pinned(
        &self,
        source: &DeviceBuffer,
        offset: u64,
        target: &PinnedBuffer,
        target_offset: u64,
        len: u64,
    ) -> Result<()> {
        let address = self.part("copy from", source, offset, len)?;
        let (host, len) = self.pinned_part(target, target_offset, len)?;
        if len == 0 {
            return Ok(());
        }
        self.device.enter()?;
        let (api, stream) = (self.device.api, self.core.handle);
        let code = match self.copy_by_kernel(target.address() + target_offset, address, len) {
            Some(code) => code,
            // SAFETY: as in the other direction.
            None => unsafe { api.copy_to_host(host, address, len, stream) },
        };
        let mark = self.queued(code, || format!("copying {len} bytes from the device"))?;
        target.used(mark);
        source.uses().add(mark);
        Ok(())
    }

    /// Queues a copy between device buffers; the parts do not overlap.
    pub fn copy_on_device(
        &self,
        source: &DeviceBuffer,
        source_offset: u64,
        target: &DeviceBuffer,
        target_offset: u64,
        len: u64,
    ) -> Result<()> {
        let from = self.part("copy from", source, source_offset, len)?;
        let to = self.part("copy to", target, target_offset, len)?;
        if len == 0 {
            return Ok(());
        }
        if from < to.saturating_add(len) && to < from.saturating_add(len) {
            return Err(Error::InvalidArgument(
                "copy on the device: the parts overlap".into(),
            ));
        }
        self.device.enter()?;
        let bytes = usize::try_from(len).unwrap_or(usize::MAX);
        // SAFETY: both parts are inside their buffers, which keep the memory until the copy is done.
        let code = unsafe {
            let api = self.device.api;
            api.copy_on_device(to, from, bytes, self.core.handle)
        };
        let mark = self.queued(code, || format!("copying {len} bytes on the device"))?;
        source.uses().add(mark);
        target.uses().add(mark);
        Ok(())
    }

    /// Queues a fill of `len` bytes with `value`.
    pub fn fill(&self, target: &DeviceBuffer, offset: u64, len: u64, value: u8) -> Result<()> {
        let address = self.part("fill", target, offset, len)?;
        if len == 0 {
            return Ok(());
        }
        self.device.enter()?;
        let bytes = usize::try_from(len).unwrap_or(usize::MAX);
        // SAFETY: the part is inside its buffer, which keeps the memory until the fill is done.
        let code = unsafe {
            self.device
                .api
                .fill(address, value, bytes, self.core.handle)
        };
        let mark = self.queued(code, || format!("filling {len} bytes"))?;
        target.uses().add(mark);
        Ok(())
    }

    /// Queues one launch. Programs do this faster. A grid or block with a zero is skipped.
    ///
    /// # Errors
    /// As [`super::Encoder::launch`].
    pub fn launch(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_lds: u32,
        args: &Args,
    ) -> Result<()> {
        let options = LaunchOptions::default();
        self.launch_with(kernel, grid, block, dynamic_lds, args, options)
    }

    /// The same with settings.
    ///
    /// # Errors
    /// As [`Self::launch`].
    pub fn launch_with(
        &self,
        kernel: &Kernel,
        grid: [u32; 3],
        block: [u32; 3],
        dynamic_lds: u32,
        args: &Args,
        options: LaunchOptions,
    ) -> Result<()> {
        self.device.enter()?;
        kernel.check_args(&self.device, args)?;
        if !kernel.check(&self.device, grid, block, dynamic_lds)? {
            return Ok(());
        }
        let launch = Launch {
            function: kernel.function(),
            grid,
            block,
            lds_bytes: dynamic_lds,
            overlap: options.overlap,
        };
        // SAFETY: the kernel is loaded, and it and the buffers are kept until it is done. That the
        // arguments are what the kernel takes is the caller's: a kernel is code that it brings.
        let code = unsafe {
            let api = self.device.api;
            api.launch_once(&launch, args.values(), self.core.handle)
        };
        let mark = self.queued(code, || format!("launching '{}'", kernel.name()))?;
        kernel.used(mark);
        args.buffers().iter().for_each(|b| b.uses().add(mark));
        Ok(())
    }

    /// Marks this point of the queue with `event`.
    pub fn record(&self, event: &Event) -> Result<()> {
        self.same_driver(event)?;
        self.device.enter()?;
        // SAFETY: live handles.
        let code = unsafe {
            self.device
                .api
                .event_record(event.handle(), self.core.handle)
        };
        self.queued(code, || "recording an event".into())?;
        event.set_recorded();
        Ok(())
    }

    /// Work queued from now on starts after the last record of `event` is done; nothing to wait for
    /// if it was never recorded.
    pub fn wait_for(&self, event: &Event) -> Result<()> {
        self.same_driver(event)?;
        if !event.is_recorded() {
            return Ok(());
        }
        self.device.enter()?;
        let (api, stream) = (self.device.api, self.core.handle);
        // SAFETY: live handles.
        let code = unsafe { api.stream_wait_event(stream, event.handle()) };
        self.queued(code, || "waiting for an event".into())?;
        Ok(())
    }

    /// The end of the queue: what was queued so far.
    pub(super) fn end(&self) -> Mark {
        Mark {
            stream: self.core.id,
            ticket: self.core.submitted.load(Ordering::Acquire),
        }
    }

    /// Leaves a mark at the end of the queue, so that who waits for what is queued by now does not wait for more.
    pub(super) fn note_end(&self) -> Result<()> {
        self.device.enter()?;
        self.core.note_end(&self.device)
    }

    /// Notes that what was queued so far uses a buffer: for kernels that reach one by an address in memory.
    pub fn note_use(&self, buffer: &DeviceBuffer) {
        buffer.uses().add(self.end());
    }

    /// Work queued from now on starts after marked work of this device, on whatever streams that was queued.
    pub(super) fn follow(&self, marks: &Marks) -> Result<()> {
        for mark in marks.iter().filter(|mark| mark.stream != self.core.id) {
            // A stream that is not listed was done before it was destroyed.
            if let Some(core) = self.device.core(mark.stream) {
                self.device.enter()?;
                core.precede(self, mark.ticket)?;
            }
        }
        Ok(())
    }

    /// Whether all queued work is done. A fault of it is kept for the next wait.
    pub fn is_idle(&self) -> Result<bool> {
        self.device.enter()?;
        let submitted = self.core.submitted.load(Ordering::Acquire);
        // SAFETY: a live handle.
        match unsafe { self.device.api.stream_query(self.core.handle) } {
            code if code.is_not_ready() => return Ok(false),
            Code::OK => {}
            code => self.core.latch(self.device.failed(code, "GPU work failed")),
        }
        self.core.complete(submitted);
        Ok(true)
    }

    /// Sleeps until all queued work is done; `None` waits for ever.
    ///
    /// # Errors
    /// `Timeout` when the time is over (the work goes on); the first fault of the queued work, once;
    /// `DeviceLost`.
    pub fn wait(&self, timeout: Option<Duration>) -> Result<()> {
        self.device.enter()?;
        let code = self.core.wait(&self.device, timeout)?;
        self.ended(code)
    }

    /// [`Self::wait`] for the work up to the last record of `event`, which was on this stream. Its
    /// first fault may be one of the work after that, if it came already.
    pub(super) fn wait_until(&self, event: &Event, timeout: Option<Duration>) -> Result<()> {
        self.device.enter()?;
        let code = self.device.wait_event(event.handle(), timeout);
        self.ended(code.ok_or_else(|| timed_out(timeout))?)
    }

    /// What work that ended with a code comes to.
    fn ended(&self, code: Code) -> Result<()> {
        // A fault seen earlier is the cause of what is seen now.
        let latched = self.core.fault.lock().take();
        let now = self.device.check(code, || "GPU work failed".into());
        match (latched, now) {
            (_, Err(lost @ Error::DeviceLost(_))) => Err(lost),
            (Some(fault), _) => Err(fault),
            (None, now) => now,
        }
    }

    /// Notes one queued operation, or its failure.
    pub(super) fn queued(&self, code: Code, what: impl FnOnce() -> String) -> Result<Mark> {
        self.device.check(code, what)?;
        Ok(self.core.mark())
    }

    /// The address of a part of a buffer.
    fn part(&self, what: &str, buffer: &DeviceBuffer, offset: u64, len: u64) -> Result<u64> {
        if !buffer.is_on(&self.device) {
            return Err(Error::InvalidArgument(format!(
                "{what} a buffer of another device"
            )));
        }
        match offset.checked_add(len) {
            Some(end) if end <= buffer.len() => Ok(buffer.address() + offset),
            _ => Err(outside(what, offset, len, buffer.len())),
        }
    }

    fn pinned_part(
        &self,
        buffer: &PinnedBuffer,
        offset: u64,
        len: u64,
    ) -> Result<(*mut u8, usize)> {
        if !buffer.is_on(&self.device) {
            return Err(Error::InvalidArgument(
                "copy with pinned memory of another device".into(),
            ));
        }
        if offset.checked_add(len).is_none_or(|end| end > buffer.len()) {
            return Err(outside(
                "copy with pinned memory",
                offset,
                len,
                buffer.len(),
            ));
        }
        let to_usize = |n| usize::try_from(n).unwrap_or(usize::MAX);
        Ok((buffer.host().wrapping_add(to_usize(offset)), to_usize(len)))
    }

    fn same_driver(&self, event: &Event) -> Result<()> {
        if !std::ptr::eq(self.device.api, event.device().api) {
            return Err(Error::InvalidArgument(
                "the event is of another driver's device".into(),
            ));
        }
        Ok(())
    }
}

fn outside(what: &str, offset: u64, len: u64, size: u64) -> Error {
    Error::InvalidArgument(format!(
        "{what} a buffer of {size} bytes: {len} bytes from {offset} are outside"
    ))
}

/// What outlives the stream's handle: the device keeps it until the queued work is done.
///
/// A *ticket* is the number of operations queued so far. It is taken after the operation is queued,
/// so an event recorded after reading `submitted` covers all tickets up to it.
pub(super) struct StreamCore {
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
    pub(super) blas: Mutex<Option<Opened>>,
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

    pub fn is_closed(&self) -> bool {
        self.closed.load(Ordering::Acquire)
    }

    /// Counts an operation that was just queued.
    fn mark(&self) -> Mark {
        Mark {
            stream: self.id,
            ticket: self.submitted.fetch_add(1, Ordering::AcqRel) + 1,
        }
    }

    /// Notes that all work up to the ticket is over.
    fn complete(&self, upto: u64) {
        // No fetch_max: ThreadSanitizer does not see what that one orders (tests/tsan.sh).
        let later = |now| (now < upto).then_some(upto);
        let _ = self
            .completed
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, later);
    }

    /// Keeps the first fault for the next wait.
    fn latch(&self, error: Error) {
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
        let upto = self.submitted.load(Ordering::Acquire);
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
    fn note_end(&self, device: &Device) -> Result<()> {
        let mut fences = self.fences.lock();
        let Some(fences) = &mut *fences else {
            return Ok(());
        };
        fences.retain(|(upto, event)| !self.passed(device, *upto, *event));
        let end = self.submitted.load(Ordering::Acquire);
        let is_there = |(upto, _): &(u64, _)| *upto >= end;
        if self.completed.load(Ordering::Acquire) < end && !fences.iter().any(is_there) {
            fences.push(self.fence(device)?);
        }
        Ok(())
    }

    /// Whether work up to a ticket can be waited for without what is queued behind it: it is over, or there is a fence.
    pub fn is_noted(&self, ticket: u64) -> bool {
        let end = self.submitted.load(Ordering::Acquire);
        // Fences that are passed are not kept.
        if self.completed.load(Ordering::Acquire) >= ticket {
            return end > ticket;
        }
        let fences = self.fences.lock();
        let mut fences = fences.iter().flatten();
        fences.any(|(upto, _)| (ticket..end).contains(upto))
    }

    /// Sleeps until everything queued so far is done; the code that the work ended with.
    fn wait(&self, device: &Device, timeout: Option<Duration>) -> Result<Code> {
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
        let ticket = ticket.min(self.submitted.load(Ordering::Acquire));
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
        self.reached(device, self.submitted.load(Ordering::Acquire))
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
