//! Streams: queues of device work.

mod copies;
mod core;

use super::args::Args;
use super::buffer::DeviceBuffer;
use super::device::Device;
use super::encoder::LaunchOptions;
use super::event::{Event, timed_out};
use super::module::Kernel;
use super::uses::{Mark, Marks};
use crate::driver::{Code, Launch, StreamHandle};
use crate::{Error, Result};
pub(super) use copies::{COPY_BLOCK, COPY_THREADS};
pub(super) use core::StreamCore;
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
        self.core.close();
        if self.device.enter().is_ok() {
            self.device.sweep();
        }
    }
}

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
        self.core.id()
    }

    pub(super) fn handle(&self) -> StreamHandle {
        self.core.handle()
    }

    /// The device that it belongs to.
    pub fn device(&self) -> &Arc<Device> {
        &self.device
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
            cluster: options.cluster,
        };
        // SAFETY: the kernel is loaded, and it and the buffers are kept until it is done. That the
        // arguments are what the kernel takes is the caller's: a kernel is code that it brings.
        let code = unsafe {
            let api = self.device.api;
            api.launch_once(&launch, args.values(), self.handle())
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
        let code = unsafe { self.device.api.event_record(event.handle(), self.handle()) };
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
        let (api, stream) = (self.device.api, self.handle());
        // SAFETY: live handles.
        let code = unsafe { api.stream_wait_event(stream, event.handle()) };
        self.queued(code, || "waiting for an event".into())?;
        Ok(())
    }

    /// The end of the queue: what was queued so far.
    pub(super) fn end(&self) -> Mark {
        Mark {
            stream: self.core.id(),
            ticket: self.core.submitted(),
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
        for mark in marks.iter().filter(|mark| mark.stream != self.core.id()) {
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
        let submitted = self.core.submitted();
        // SAFETY: a live handle.
        match unsafe { self.device.api.stream_query(self.handle()) } {
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
        let latched = self.core.take_fault();
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

    fn same_driver(&self, event: &Event) -> Result<()> {
        if !std::ptr::eq(self.device.api, event.device().api) {
            return Err(Error::InvalidArgument(
                "the event is of another driver's device".into(),
            ));
        }
        Ok(())
    }
}
