//! Marks in streams.

use crate::device::Device;
use crate::error::{Result, call, handle};
use crate::generation::nanoseconds;
use mlxrocm_sys as sys;
use std::time::Duration;

handle!(EventHandle, mlxrocm_gpu_event, mlxrocm_gpu_event_free);

/// A mark in the queue of a stream ([`Stream::record`](super::Stream::record)), which other streams and the program wait
/// for. What is said of its work is of the last record; one that was never recorded is done.
#[derive(Debug)]
pub struct GpuEvent(EventHandle);

impl GpuEvent {
    pub fn new(device: &Device) -> Result<GpuEvent> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        EventHandle::make(|out, error| unsafe { sys::mlxrocm_gpu_event_new(device.0.get(), out, error) }).map(GpuEvent)
    }

    /// Sleeps until the work before it is done; what that failed with comes out here.
    pub fn wait(&self) -> Result<()> {
        self.wait_ns(None)
    }

    /// The same for a while; then [`Status::Timeout`](crate::Status::Timeout), and the work goes on.
    pub fn wait_within(&self, timeout: Duration) -> Result<()> {
        self.wait_ns(Some(timeout))
    }

    fn wait_ns(&self, timeout: Option<Duration>) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_gpu_event_wait(self.0.get(), nanoseconds(timeout), error) }).map(drop)
    }

    /// Whether the work before it is done.
    pub fn is_done(&self) -> Result<bool> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_gpu_event_query(self.0.get(), error) })
            .map(|status| status == sys::MLXROCM_OK)
    }

    /// The GPU's time from an earlier event of the same device to this one; both are recorded and done.
    pub fn since(&self, earlier: &GpuEvent) -> Result<Duration> {
        let mut milliseconds = 0.0;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            sys::mlxrocm_gpu_event_elapsed(earlier.0.get(), self.0.get(), &mut milliseconds, error)
        })?;
        Ok(Duration::try_from_secs_f64(milliseconds / 1e3).unwrap_or_default())
    }

    pub(super) fn get(&self) -> *mut sys::mlxrocm_gpu_event {
        self.0.get()
    }
}
