//! Buffers in device memory and in pinned host memory.

use std::sync::Arc;

/// Device memory. A cheap handle: clones share it, and the last one gives the memory back to the
/// device's cache, where it is reused once the queued work that uses it is done.
#[derive(Clone)]
pub struct DeviceBuffer {
    inner: Arc<Inner>,
}

struct Inner {
    address: u64,
    len: u64,
}

impl DeviceBuffer {
    /// The device address.
    pub fn address(&self) -> u64 {
        self.inner.address
    }

    /// Length in bytes, as asked for.
    pub fn len(&self) -> u64 {
        self.inner.len
    }

    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// `len` bytes from `offset`. Checked by the launch that gets it.
    pub fn range(&self, offset: u64, len: u64) -> Range {
        Range {
            buffer: self.clone(),
            offset,
            len,
        }
    }

    /// All of it.
    pub fn whole(&self) -> Range {
        self.range(0, self.len())
    }
}

/// A part of a buffer that a launch reads or writes.
#[derive(Clone)]
pub struct Range {
    pub(super) buffer: DeviceBuffer,
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// Host memory that the device can read and write and that copies need not stage.
pub struct PinnedBuffer {
    bytes: Vec<u8>,
}

impl PinnedBuffer {
    /// The bytes. The caller waits for queued copies into it before reading.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes. The caller waits for queued copies from it before writing.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.bytes
    }

    /// The address at which the device sees it.
    pub fn address(&self) -> u64 {
        self.bytes.as_ptr().addr() as u64
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}
