//! Memory of the current device, pinned host memory, and copies between them.

use super::api::Api;
use super::status::Code;
use super::sys::hip;
use super::table::*;
use crate::Result;

impl Api {
    /// Free and all memory of the current device in bytes.
    pub fn memory_info(&self) -> Result<(u64, u64)> {
        let (mut free, mut total) = (0, 0);
        // SAFETY: the driver writes two integers.
        let code = Code(unsafe { (self.functions.memory_info)(&mut free, &mut total) });
        self.check(code, || "asking for free memory".into())?;
        Ok((free as u64, total as u64))
    }

    /// Allocates device memory.
    pub fn alloc(&self, bytes: usize) -> Result<u64> {
        let mut address = 0;
        // SAFETY: the driver writes one address.
        let code = Code(unsafe { (self.functions.alloc)(&mut address, bytes) });
        self.check(code, || format!("allocating {bytes} bytes"))?;
        Ok(address)
    }

    /// Frees device memory; waits for the device.
    ///
    /// # Safety
    /// `address` came from [`Self::alloc`] and is not used afterwards.
    pub unsafe fn free(&self, address: u64) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.free)(address) })
    }

    /// Allocates pinned host memory that the device sees; returns its host and device addresses. What is mapped is coherent: what
    /// one side wrote before the other was told (a launch, an event) is seen there.
    pub fn host_alloc(&self, bytes: usize) -> Result<(usize, u64)> {
        let (mut host, mut address) = (0, 0);
        let flags = hip::hipHostMallocPortable | hip::hipHostMallocMapped;
        // SAFETY: the driver writes one address.
        let code = Code(unsafe { (self.functions.host_alloc)(&mut host, bytes, flags) });
        self.check(code, || {
            format!("allocating {bytes} bytes of pinned memory")
        })?;
        // SAFETY: the driver writes one address; the host address is its own.
        let code = Code(unsafe { (self.functions.host_address)(&mut address, host, 0) });
        if code != Code::OK {
            // SAFETY: just allocated.
            unsafe { self.host_free(host) };
            return Err(self.error(code, "mapping pinned memory"));
        }
        Ok((host, address))
    }

    /// Frees pinned memory.
    ///
    /// # Safety
    /// `host` came from [`Self::host_alloc`] and is not used afterwards.
    pub unsafe fn host_free(&self, host: usize) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.host_free)(host) })
    }

    /// Queues a copy from host memory.
    ///
    /// # Safety
    /// `source` stays valid until the copy is done (pinned) or this returns (pageable); the target
    /// is `bytes` of device memory.
    pub unsafe fn copy_to_device(
        &self,
        target: u64,
        source: *const u8,
        bytes: usize,
        stream: StreamHandle,
    ) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.copy_to_device)(target, source.cast(), bytes, stream) })
    }

    /// Queues a copy to host memory.
    ///
    /// # Safety
    /// `target` stays valid until the copy is done; the source is `bytes` of device memory.
    pub unsafe fn copy_to_host(
        &self,
        target: *mut u8,
        source: u64,
        bytes: usize,
        stream: StreamHandle,
    ) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.copy_to_host)(target.cast(), source, bytes, stream) })
    }

    /// Queues a copy between device memory.
    ///
    /// # Safety
    /// Both are `bytes` of device memory that live until the copy is done.
    pub unsafe fn copy_on_device(
        &self,
        target: u64,
        source: u64,
        bytes: usize,
        stream: StreamHandle,
    ) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.copy_on_device)(target, source, bytes, stream) })
    }

    /// Queues a fill with one byte.
    ///
    /// # Safety
    /// The target is `bytes` of device memory that lives until the fill is done.
    pub unsafe fn fill(&self, target: u64, value: u8, bytes: usize, stream: StreamHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.fill)(target, value, bytes, stream) })
    }
}
