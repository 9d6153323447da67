//! Devices.

use super::allocator::MemoryCounters;
use super::buffer::{DeviceBuffer, PinnedBuffer};
use super::encoder::Encoder;
use super::event::Event;
use super::module::Kernel;
use super::program::Program;
use super::stream::Stream;
use super::upload::Uploader;
use crate::driver::{DeviceFacts, Platform};
use crate::{Error, Result};
use std::sync::Arc;

/// What was found on this machine.
#[derive(Debug, Clone)]
pub struct Devices {
    /// The devices; a device's place here is its ordinal.
    pub found: Vec<DeviceFacts>,
    /// Why a platform has none.
    pub missing: Vec<(Platform, Error)>,
}

/// An open device. Internally locked: any thread.
pub struct Device {
    facts: DeviceFacts,
}

impl Device {
    /// All GPUs of this machine: AMD's first.
    pub fn list() -> Devices {
        Devices {
            found: Vec::new(),
            missing: vec![(Platform::Hip, missing()), (Platform::Cuda, missing())],
        }
    }

    /// Opens a device by its place in [`Self::list`]. While it is open, opening it again gives the
    /// same one.
    ///
    /// # Errors
    /// `NoDevice` with the reason and the remedy.
    pub fn open(_ordinal: usize) -> Result<Arc<Device>> {
        Err(missing())
    }

    /// What it is.
    pub fn facts(&self) -> &DeviceFacts {
        &self.facts
    }

    /// Memory counters.
    pub fn memory(&self) -> Result<MemoryCounters> {
        Err(missing())
    }

    /// Sets the limit of `active + cache` in bytes and gives back what is over it.
    pub fn set_memory_limit(&self, _bytes: u64) -> Result<()> {
        Err(missing())
    }

    /// Gives all cached memory back to the driver.
    pub fn trim(&self) -> Result<()> {
        Err(missing())
    }

    /// Allocates device memory; its content is undefined, its address a multiple of 256.
    ///
    /// # Errors
    /// `OutOfMemory`; everything stays usable.
    pub fn alloc(self: &Arc<Self>, _bytes: u64) -> Result<DeviceBuffer> {
        Err(missing())
    }

    /// [`Self::alloc`] for use on `stream` first: may reuse memory that work queued on it still uses.
    pub fn alloc_for(self: &Arc<Self>, _stream: &Stream, _bytes: u64) -> Result<DeviceBuffer> {
        Err(missing())
    }

    /// Allocates pinned host memory, zeroed.
    pub fn alloc_pinned(self: &Arc<Self>, _bytes: u64) -> Result<PinnedBuffer> {
        Err(missing())
    }

    /// A new stream.
    pub fn stream(self: &Arc<Self>) -> Result<Stream> {
        Err(missing())
    }

    /// A new event.
    pub fn event(self: &Arc<Self>) -> Result<Event> {
        Err(missing())
    }

    /// A built-in kernel by name.
    pub fn kernel(self: &Arc<Self>, _name: &str) -> Result<Kernel> {
        Err(missing())
    }

    /// Records a program: `body` encodes its launches.
    pub fn record(
        self: &Arc<Self>,
        _body: impl FnOnce(&mut Encoder<'_>) -> Result<()>,
    ) -> Result<Program> {
        Err(missing())
    }

    /// An uploader, for filling many buffers.
    pub fn uploader(self: &Arc<Self>) -> Result<Uploader> {
        Err(missing())
    }

    /// Fills all of `target` and waits: see [`Uploader::write`].
    pub fn upload(
        self: &Arc<Self>,
        target: &DeviceBuffer,
        fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let mut uploader = self.uploader()?;
        uploader.write(target, 0, target.len(), fill)?;
        uploader.finish()
    }
}

fn missing() -> Error {
    Error::NoDevice("no GPU driver is bound yet".into())
}
