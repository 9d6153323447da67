//! Queues of work.

use super::buffer::elements;
use super::{Arg, Buffer, GpuEvent, Grid, Kernel, Program};
use crate::array::Element;
use crate::device::Device;
use crate::error::{Result, call, handle};
use crate::generation::nanoseconds;
use mlxrocm_sys as sys;
use std::time::Duration;

handle!(StreamHandle, mlxrocm_stream, mlxrocm_stream_free);

/// A queue of work that a GPU does in order. What fails while it runs comes out of the next wait.
#[derive(Debug)]
pub struct Stream(StreamHandle);

impl Stream {
    pub fn new(device: &Device) -> Result<Stream> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        StreamHandle::make(|out, error| unsafe { sys::mlxrocm_stream_new(device.0.get(), out, error) }).map(Stream)
    }

    /// Queues a kernel with its arguments.
    ///
    /// # Safety
    /// The kernel touches no memory but its arguments', within their sizes, and nothing else uses that meanwhile.
    pub unsafe fn launch(&self, kernel: &Kernel, grid: Grid, args: &[Arg]) -> Result<()> {
        let launch = grid.of(args);
        // SAFETY: live handles, and a struct for the call; the caller answers for the kernel.
        call(|error| unsafe { sys::mlxrocm_stream_launch(self.0.get(), kernel.get(), &launch, error) }).map(drop)
    }

    /// Queues a copy of bytes from an offset of one buffer to one of another.
    pub fn copy(&self, target: (&Buffer, u64), source: (&Buffer, u64), size: u64) -> Result<()> {
        let ((target, to), (source, from)) = (target, source);
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            sys::mlxrocm_stream_copy(self.0.get(), target.get(), to, source.get(), from, size, error)
        })
        .map(drop)
    }

    /// Queues a fill of bytes of a buffer.
    pub fn fill(&self, buffer: &Buffer, offset: u64, size: u64, value: u8) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_stream_fill(self.0.get(), buffer.get(), offset, size, value, error) })
            .map(drop)
    }

    /// Queues a run of a program.
    pub fn run(&self, program: &Program) -> Result<()> {
        // SAFETY: live handles; who recorded the launches answers for them.
        call(|error| unsafe { sys::mlxrocm_program_run(program.get(), self.0.get(), error) }).map(drop)
    }

    /// Queues a write of elements to a byte offset of a GPU's memory; they are taken before this returns.
    pub fn write<T: Element>(&self, buffer: &Buffer, offset: usize, elements: &[T]) -> Result<()> {
        let (stream, bytes, size) = (self.0.get(), elements.as_ptr().cast(), size_of_val(elements));
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_stream_write(stream, buffer.get(), offset as u64, bytes, size, error) })
            .map(drop)
    }

    /// Reads elements from a byte offset of a GPU's memory, after the work queued so far, and waits for it.
    pub fn read<T: Element>(&self, buffer: &Buffer, offset: usize, count: usize) -> Result<Vec<T>> {
        let mut bytes = buffer.room::<T>(count);
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            let (stream, place) = (self.0.get(), bytes.as_mut_ptr().cast());
            sys::mlxrocm_stream_read(stream, buffer.get(), offset as u64, place, bytes.len(), error)
        })?;
        Ok(elements(&bytes))
    }

    /// Marks this point of the queue with an event; an earlier mark of the event is forgotten.
    pub fn record(&self, event: &GpuEvent) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_stream_record(self.0.get(), event.get(), error) }).map(drop)
    }

    /// Work queued from now on begins after the work before the event's last record, on whatever stream that was.
    pub fn wait_for(&self, event: &GpuEvent) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_stream_wait_for(self.0.get(), event.get(), error) }).map(drop)
    }

    /// Whether all work queued so far is done. What failed comes out of the next wait.
    pub fn is_idle(&self) -> Result<bool> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_stream_query(self.0.get(), error) }).map(|status| status == sys::MLXROCM_OK)
    }

    /// Waits for all queued work.
    pub fn wait(&self) -> Result<()> {
        self.wait_ns(None)
    }

    /// The same for a while; then [`Status::Timeout`](crate::Status::Timeout), and the work goes on.
    pub fn wait_within(&self, timeout: Duration) -> Result<()> {
        self.wait_ns(Some(timeout))
    }

    fn wait_ns(&self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_stream_wait(self.0.get(), nanoseconds(timeout), error) }).map(drop)
    }
}
