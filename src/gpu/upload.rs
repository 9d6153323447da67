//! Filling device buffers from the host, through pinned memory, twice buffered.

use super::buffer::DeviceBuffer;
use crate::{Error, Result};

/// Fills device buffers while the caller produces the next bytes. Made by
/// [`super::Device::uploader`]; one thread at a time.
pub struct Uploader {}

impl Uploader {
    /// Writes `len` bytes to `target` from `offset`: `fill` is called with one piece of pinned memory
    /// after another, in order, and fills all of each.
    pub fn write(
        &mut self,
        _target: &DeviceBuffer,
        _offset: u64,
        _len: u64,
        _fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        Err(Error::Unsupported("no GPU driver is bound yet".into()))
    }

    /// Waits until all is on the device.
    pub fn finish(self) -> Result<()> {
        Err(Error::Unsupported("no GPU driver is bound yet".into()))
    }
}
