//! A device's memory: its own and pinned host memory, through pools of freed blocks.

use super::Device;
use crate::driver::{self, Code};
use crate::gpu::allocator::{Block, MemoryCounters, Source};
use crate::gpu::buffer::{DeviceBuffer, PinnedBuffer};
use crate::gpu::stream::Stream;
use crate::gpu::uses::{Mark, Marks};
use crate::{Error, Result};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long an allocation waits for queued work that holds cached memory.
const MEMORY_WAIT: Duration = Duration::from_secs(10);

impl Device {
    /// Memory counters.
    pub fn memory(&self) -> Result<MemoryCounters> {
        self.enter()?;
        let (mut free, _) = self.api.memory_info()?;
        if self.policy.system_memory {
            free = free.max(driver::system_memory("MemAvailable:").unwrap_or(0));
        }
        let counters = self.memory.lock().counters();
        Ok(MemoryCounters { free, ..counters })
    }

    /// Counters of pinned memory; it has no limit but the system's.
    pub fn pinned_memory(&self) -> MemoryCounters {
        self.pinned.lock().counters()
    }

    /// Sets the limit of `active + cache` in bytes and gives back what is over it.
    ///
    /// # Errors
    /// `OutOfMemory` if more than that is in use; the limit stays as it was.
    pub fn set_memory_limit(&self, bytes: u64) -> Result<()> {
        self.enter()?;
        self.memory.lock().set_limit(&DeviceSource(self), bytes)
    }

    /// Sets the peak counter to what is in use now.
    pub fn reset_peak_memory(&self) {
        self.memory.lock().reset_peak();
    }

    /// Gives all cached memory back to the driver, except what queued work still uses. May wait for
    /// the device.
    pub fn trim(&self) -> Result<()> {
        self.enter()?;
        self.sweep();
        self.memory.lock().shrink(&DeviceSource(self), 0);
        self.pinned.lock().shrink(&PinnedSource(self), 0);
        Ok(())
    }

    /// Gives cached device memory back to the driver, the largest blocks first, until at most `keep` bytes are cached;
    /// not what queued work still uses. May wait for the device.
    pub(in crate::gpu) fn shrink_cache(&self, keep: u64) -> Result<()> {
        self.enter()?;
        self.memory.lock().shrink(&DeviceSource(self), keep);
        Ok(())
    }

    /// Allocates device memory; its content is undefined, its address a multiple of 256.
    ///
    /// # Errors
    /// `OutOfMemory`; everything stays usable.
    pub fn alloc(self: &Arc<Self>, bytes: u64) -> Result<DeviceBuffer> {
        self.alloc_device(bytes, None)
    }

    /// [`Self::alloc`] for use on `stream` first: may reuse memory that work queued on it still uses.
    pub fn alloc_for(self: &Arc<Self>, stream: &Stream, bytes: u64) -> Result<DeviceBuffer> {
        self.alloc_device(bytes, Some(stream.id()))
    }

    fn alloc_device(self: &Arc<Self>, bytes: u64, stream: Option<u64>) -> Result<DeviceBuffer> {
        self.enter()?;
        let source = DeviceSource(self);
        let end = Instant::now() + MEMORY_WAIT;
        loop {
            let (error, pending) = {
                let mut pool = self.memory.lock();
                match pool.take(&source, bytes, stream) {
                    Ok((block, marks)) => {
                        return Ok(DeviceBuffer::new(self.clone(), block, bytes, marks));
                    }
                    Err(error) => (error, pool.pending(&source)),
                }
            };
            // Freed memory that queued work still uses comes back when that work is done.
            let waits = matches!(error, Error::OutOfMemory(_)) && !pending.is_empty();
            if !waits || Instant::now() >= end {
                return Err(self.refused(error));
            }
            self.wait_until(end, || !pending.iter().all(|mark| !self.is_done(*mark)));
        }
    }

    /// Allocates pinned host memory; its content is undefined.
    ///
    /// # Errors
    /// `OutOfMemory`; everything stays usable.
    pub fn alloc_pinned(self: &Arc<Self>, bytes: u64) -> Result<PinnedBuffer> {
        Ok(PinnedBuffer::new(self.alloc_mapped(bytes)?))
    }

    /// Allocates pinned host memory for kernels, which read and write it over the bus.
    ///
    /// # Errors
    /// `OutOfMemory`; everything stays usable.
    pub fn alloc_mapped(self: &Arc<Self>, bytes: u64) -> Result<DeviceBuffer> {
        self.enter()?;
        let taken = self.pinned.lock().take(&PinnedSource(self), bytes, None);
        let (block, _) = taken.map_err(|error| self.refused(error))?;
        Ok(DeviceBuffer::new(
            self.clone(),
            block,
            bytes,
            Marks::default(),
        ))
    }

    pub(in crate::gpu) fn give_back(&self, block: Block, marks: Marks) {
        self.memory.lock().give_back(block, marks);
    }

    pub(in crate::gpu) fn give_back_pinned(&self, block: Block, marks: Marks) {
        self.pinned.lock().give_back(block, marks);
    }
}

/// Device memory of a device. The device is current.
pub(super) struct DeviceSource<'a>(pub &'a Device);

impl Source for DeviceSource<'_> {
    fn allocate(&self, size: u64) -> Result<Block> {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let address = self.0.api.alloc(bytes)?;
        Ok(Block {
            address,
            host: 0,
            size,
        })
    }

    fn free(&self, block: Block) -> Code {
        // SAFETY: the block came from alloc; its owner and the work that used it are gone.
        unsafe { self.0.api.free(block.address) }
    }

    fn is_done(&self, mark: Mark) -> bool {
        self.0.is_done(mark)
    }
}

/// Pinned host memory of a device. The device is current.
pub(super) struct PinnedSource<'a>(pub &'a Device);

impl Source for PinnedSource<'_> {
    fn allocate(&self, size: u64) -> Result<Block> {
        let bytes = usize::try_from(size).unwrap_or(usize::MAX);
        let (host, address) = self.0.api.host_alloc(bytes)?;
        // SAFETY: just allocated with this length. Initialised, for the slices given out.
        unsafe {
            std::ptr::write_bytes(std::ptr::with_exposed_provenance_mut::<u8>(host), 0, bytes);
        }
        Ok(Block {
            address,
            host,
            size,
        })
    }

    fn free(&self, block: Block) -> Code {
        // SAFETY: the block came from host_alloc; its owner and the work that used it are gone.
        unsafe { self.0.api.host_free(block.host) }
    }

    fn is_done(&self, mark: Mark) -> bool {
        self.0.is_done(mark)
    }
}
