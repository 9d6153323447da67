//! Filling device buffers from the host, through pinned memory, twice buffered.

use super::buffer::{DeviceBuffer, PinnedBuffer};
use super::device::Device;
use super::event::Event;
use super::stream::Stream;
use crate::{Error, Result};
use std::sync::Arc;
use std::time::Duration;

/// Fills device buffers while the caller produces the next bytes. Made by [`Device::uploader`]; one
/// thread at a time. What it writes may be used by other streams after [`Uploader::finish`].
pub struct Uploader {
    stream: Stream,
    /// Pieces of pinned memory, each with the event of its last copy.
    pieces: Vec<(PinnedBuffer, Event)>,
    next: usize,
}

/// Bytes of a piece: long enough that the copy, not its start, takes the time.
const PIECE: u64 = 8 << 20;

/// Pieces: one that is filled, one that is copied, one that waits for its turn.
const PIECES: usize = 3;

/// A copy of one piece takes a millisecond; a device that needs this long hangs.
const PATIENCE: Duration = Duration::from_secs(60);

impl Uploader {
    pub(super) fn new(device: &Arc<Device>) -> Result<Uploader> {
        let pieces = (0..PIECES).map(|_| Ok((device.alloc_pinned(PIECE)?, device.event()?)));
        Ok(Uploader {
            pieces: pieces.collect::<Result<_>>()?,
            stream: device.stream()?,
            next: 0,
        })
    }

    /// Writes `len` bytes to `target` from `offset`: `fill` is called with one piece of pinned memory
    /// after another (at most 8 MiB), in order, and fills all of each.
    ///
    /// # Errors
    /// What `fill` returns, which ends the write; driver errors; `Timeout` if the device hangs.
    pub fn write(
        &mut self,
        target: &DeviceBuffer,
        offset: u64,
        len: u64,
        mut fill: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let end = offset.checked_add(len).filter(|end| *end <= target.len());
        let Some(end) = end else {
            return Err(Error::InvalidArgument(format!(
                "upload to a buffer of {} bytes: {len} bytes from {offset} are outside",
                target.len()
            )));
        };
        let mut at = offset;
        while at < end {
            let bytes = (end - at).min(PIECE);
            let next = self.next % self.pieces.len().max(1);
            let Some((piece, copied)) = self.pieces.get_mut(next) else {
                return Err(Error::Internal("an uploader without memory".into()));
            };
            copied.wait(Some(PATIENCE))?;
            let length = usize::try_from(bytes).unwrap_or(0);
            if let Some(bytes) = piece.as_mut_slice().get_mut(..length) {
                fill(bytes)?;
            }
            self.stream.copy_from_pinned(target, at, piece, 0, bytes)?;
            self.stream.record(copied)?;
            self.next = next + 1;
            at += bytes;
        }
        Ok(())
    }

    /// Waits until all that was written is on the device.
    ///
    /// # Errors
    /// A fault of a copy; `Timeout` if the device hangs.
    pub fn flush(&mut self) -> Result<()> {
        self.stream.wait(Some(PATIENCE))
    }

    /// [`Self::flush`], and the end.
    pub fn finish(mut self) -> Result<()> {
        self.flush()
    }
}
