//! Streams: queues of device work.

use super::args::Args;
use super::buffer::{DeviceBuffer, PinnedBuffer};
use super::event::Event;
use super::module::Kernel;
use crate::{Error, Result};
use std::time::Duration;

/// A queue of device work in order. Internally locked: any thread.
pub struct Stream {}

impl Stream {
    /// Copies host bytes to `target` from `offset`. The bytes are taken before this returns.
    pub fn copy_to_device(
        &self,
        _target: &DeviceBuffer,
        _offset: u64,
        _bytes: &[u8],
    ) -> Result<()> {
        Err(missing())
    }

    /// Copies from `source` to host bytes and waits for them (and all work queued before).
    pub fn copy_to_host(
        &self,
        _source: &DeviceBuffer,
        _offset: u64,
        _bytes: &mut [u8],
    ) -> Result<()> {
        Err(missing())
    }

    /// Queues a copy of `len` bytes from pinned memory; the caller keeps and leaves it until done.
    pub fn copy_from_pinned(
        &self,
        _target: &DeviceBuffer,
        _offset: u64,
        _source: &PinnedBuffer,
        _source_offset: u64,
        _len: u64,
    ) -> Result<()> {
        Err(missing())
    }

    /// Queues a copy of `len` bytes to pinned memory; the caller keeps it until done.
    pub fn copy_to_pinned(
        &self,
        _source: &DeviceBuffer,
        _offset: u64,
        _target: &PinnedBuffer,
        _target_offset: u64,
        _len: u64,
    ) -> Result<()> {
        Err(missing())
    }

    /// Queues a copy between device buffers.
    pub fn copy_on_device(
        &self,
        _source: &DeviceBuffer,
        _source_offset: u64,
        _target: &DeviceBuffer,
        _target_offset: u64,
        _len: u64,
    ) -> Result<()> {
        Err(missing())
    }

    /// Queues a fill of `len` bytes with `value`.
    pub fn fill(&self, _target: &DeviceBuffer, _offset: u64, _len: u64, _value: u8) -> Result<()> {
        Err(missing())
    }

    /// Queues one launch. Programs do this faster.
    pub fn launch(
        &self,
        _kernel: &Kernel,
        _grid: [u32; 3],
        _block: [u32; 3],
        _dynamic_lds: u32,
        _args: &Args,
    ) -> Result<()> {
        Err(missing())
    }

    /// Marks this point of the queue with `event`.
    pub fn record(&self, _event: &Event) -> Result<()> {
        Err(missing())
    }

    /// Work queued from now on starts after the last record of `event` is done.
    pub fn wait_for(&self, _event: &Event) -> Result<()> {
        Err(missing())
    }

    /// Whether all queued work is done.
    pub fn is_idle(&self) -> Result<bool> {
        Err(missing())
    }

    /// Sleeps until all queued work is done; `None` waits for ever.
    ///
    /// # Errors
    /// `Timeout` when the time is over (the work goes on); the first fault of the queued work, once;
    /// `DeviceLost`.
    pub fn wait(&self, _timeout: Option<Duration>) -> Result<()> {
        Err(missing())
    }
}

fn missing() -> Error {
    Error::Unsupported("no GPU driver is bound yet".into())
}
