//! Buffers in device memory and in pinned host memory.

use super::allocator::Block;
use super::device::Device;
use super::uses::{Mark, Marks, Uses};
use std::sync::Arc;

/// Memory that kernels work on: the device's, or the host's, which they read over the bus
/// ([`Device::alloc_mapped`]). A cheap handle: clones share it, and the last one gives the memory back to
/// the device's cache, where it is reused once the queued work that uses it is done. Immutable handle:
/// any thread.
#[derive(Clone)]
pub struct DeviceBuffer {
    inner: Arc<Inner>,
    /// Where it begins in its block.
    offset: u64,
    len: u64,
}

struct Inner {
    device: Arc<Device>,
    block: Block,
    uses: Uses,
}

impl Drop for Inner {
    fn drop(&mut self) {
        match self.block.host {
            0 => self.device.give_back(self.block, self.uses.take()),
            _ => self.device.give_back_pinned(self.block, self.uses.take()),
        }
    }
}

impl DeviceBuffer {
    /// `marks` is work that may still use the block, all of it on the stream that uses it first.
    pub(super) fn new(device: Arc<Device>, block: Block, len: u64, marks: Marks) -> Self {
        DeviceBuffer {
            inner: Arc::new(Inner {
                device,
                block,
                uses: marks.into(),
            }),
            offset: 0,
            len,
        }
    }

    /// A part as a buffer of its own: it keeps all of the memory, and what uses one part uses all for the allocator. Parts
    /// that programs and arrays use do not overlap. `offset` is a multiple of 256; the part is cut off at the end.
    pub(super) fn part(&self, offset: u64, len: u64) -> DeviceBuffer {
        let offset = offset.min(self.len);
        DeviceBuffer {
            inner: self.inner.clone(),
            offset: self.offset + offset,
            len: len.min(self.len - offset),
        }
    }

    /// The device address, a multiple of 256.
    pub fn address(&self) -> u64 {
        self.inner.block.address + self.offset
    }

    /// Where the host sees it, if it is the host's memory.
    pub(super) fn host(&self) -> Option<*mut u8> {
        let host = self.inner.block.host;
        let offset = usize::try_from(self.offset).ok()?;
        (host != 0).then(|| std::ptr::with_exposed_provenance_mut(host + offset))
    }

    /// Length in bytes, as asked for.
    pub fn len(&self) -> u64 {
        self.len
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

    /// The device that it is on.
    pub fn device(&self) -> &Arc<Device> {
        &self.inner.device
    }

    pub(super) fn uses(&self) -> &Uses {
        &self.inner.uses
    }

    pub(super) fn is_on(&self, device: &Device) -> bool {
        std::ptr::eq(Arc::as_ptr(&self.inner.device), device)
    }
}

/// A part of a buffer that a launch reads or writes.
#[derive(Clone)]
pub struct Range {
    pub(super) buffer: DeviceBuffer,
    pub(super) offset: u64,
    pub(super) len: u64,
}

/// Host memory that the device can read and write and that copies need not stage. Dropped memory is
/// reused once the queued copies and kernels that use it are done.
pub struct PinnedBuffer(DeviceBuffer);

impl PinnedBuffer {
    /// Of a buffer in host memory, whose bytes are initialised and which nobody else has.
    pub(super) fn new(buffer: DeviceBuffer) -> Self {
        PinnedBuffer(buffer)
    }

    /// The bytes. The caller waits for queued copies and kernels that write them before reading.
    pub fn as_slice(&self) -> &[u8] {
        // SAFETY: the host's side of the block is this buffer's alone, initialised, and at least so long.
        unsafe { std::slice::from_raw_parts(self.host(), self.0.len as usize) }
    }

    /// The bytes. The caller waits for queued copies and kernels that use them before writing.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.host(), self.0.len as usize) }
    }

    /// The memory as kernels see it.
    pub fn on_device(&self) -> &DeviceBuffer {
        &self.0
    }

    /// The address at which the device sees it.
    pub fn address(&self) -> u64 {
        self.0.address()
    }

    /// Length in bytes.
    pub fn len(&self) -> u64 {
        self.0.len()
    }

    /// Whether the length is 0.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where the host sees the bytes.
    pub fn host(&self) -> *mut u8 {
        std::ptr::with_exposed_provenance_mut(self.0.inner.block.host)
    }

    pub(super) fn used(&self, mark: Mark) {
        self.0.uses().add(mark);
    }

    pub(super) fn is_on(&self, device: &Device) -> bool {
        self.0.is_on(device)
    }
}
