//! Copies and fills of a stream.

use super::Stream;
use crate::driver::{Code, Launch, Overlap, Platform};
use crate::gpu::buffer::{DeviceBuffer, PinnedBuffer};
use crate::{Error, Result};

/// The largest piece that a copy through pinned memory moves at a time.
const PIECE: usize = 4 << 20;
/// The most bytes that a kernel copies between pinned memory and the device's.
const MOST_BY_KERNEL: usize = 16 << 10;
/// What a block of `mlxrocm_copy_u8` copies, and its threads.
pub(in crate::gpu) const COPY_BLOCK: usize = 4096;
pub(in crate::gpu) const COPY_THREADS: u32 = 256;

impl Stream {
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
        let (api, stream) = (self.device.api, self.handle());
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
            block: [COPY_THREADS, 1, 1],
            lds_bytes: 0,
            overlap: Overlap::None,
            cluster: 1,
        };
        // SAFETY: the caller's parts are inside their buffers; built-in kernels are kept as long as the device.
        Some(unsafe {
            let args = [to, from, len as u64];
            device.api.launch_once(&launch, &args, self.handle())
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
        let (api, stream) = (self.device.api, self.handle());
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
            api.copy_on_device(to, from, bytes, self.handle())
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
        let code = unsafe { self.device.api.fill(address, value, bytes, self.handle()) };
        let mark = self.queued(code, || format!("filling {len} bytes"))?;
        target.uses().add(mark);
        Ok(())
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
}

fn outside(what: &str, offset: u64, len: u64, size: u64) -> Error {
    Error::InvalidArgument(format!(
        "{what} a buffer of {size} bytes: {len} bytes from {offset} are outside"
    ))
}
