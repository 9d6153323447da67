//! Devices.

use crate::error::{Result, call, filled_text, handle, owned};
use mlxrocm_sys as sys;
use std::mem::zeroed;

handle!(DeviceHandle, mlxrocm_device, mlxrocm_device_free);

/// What drives a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceKind {
    Cpu,
    /// An AMD GPU.
    Hip,
    /// An NVIDIA GPU.
    Cuda,
}

/// Facts about a device; what a CPU has not is 0 or "".
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceInfo {
    pub kind: DeviceKind,
    pub name: String,
    /// Like "avx2", "gfx1151" or "sm_90".
    pub isa: String,
    pub compute_units: u64,
    pub memory_total: u64,
    pub memory_free: u64,
    /// Where the GPU is on the PCI bus.
    pub pci_id: String,
    /// Bytes of local memory that a block may use.
    pub lds_bytes: u32,
    /// Work items of a wave.
    pub wave_size: u32,
    /// Work items that a block may have.
    pub max_block_threads: u32,
}

/// A GPU's counters, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct DeviceMemory {
    /// Held by buffers that are alive.
    pub active: u64,
    /// The most that `active` ever was.
    pub peak: u64,
    /// Freed and kept for reuse.
    pub cache: u64,
    /// The most that `active + cache` may be.
    pub limit: u64,
    pub total: u64,
    /// What the driver says is free now.
    pub free: u64,
    pub pinned_active: u64,
    pub pinned_cache: u64,
}

/// An open device.
#[derive(Debug)]
pub struct Device(pub(crate) DeviceHandle);

impl Device {
    /// Devices of this machine: the CPU, then GPUs.
    pub fn count() -> Result<usize> {
        let mut count = 0;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_count(&mut count, error) })?;
        Ok(count)
    }

    /// Why there is no GPU of a kind, and what to do about it; "" if there is one.
    pub fn why_none(kind: DeviceKind) -> Result<String> {
        let kind = match kind {
            DeviceKind::Cpu => sys::MLXROCM_DEVICE_CPU,
            DeviceKind::Hip => sys::MLXROCM_DEVICE_HIP,
            DeviceKind::Cuda => sys::MLXROCM_DEVICE_CUDA,
        };
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        filled_text(|text, capacity, needed, error| unsafe {
            sys::mlxrocm_device_why_none(kind, text, capacity, needed, error)
        })
    }

    /// Opens a device: 0 is the CPU, GPUs follow from 1.
    pub fn open(index: usize) -> Result<Device> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        DeviceHandle::make(|out, error| unsafe { sys::mlxrocm_device_open(index, out, error) }).map(Device)
    }

    /// Tells facts about the device.
    pub fn info(&self) -> Result<DeviceInfo> {
        // SAFETY: zero is a value of each field: numbers, and pointers that are null.
        let mut info: sys::mlxrocm_device_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_get_info(self.0.get(), &mut info, error) })?;
        Ok(DeviceInfo {
            kind: match info.kind {
                sys::MLXROCM_DEVICE_HIP => DeviceKind::Hip,
                sys::MLXROCM_DEVICE_CUDA => DeviceKind::Cuda,
                _ => DeviceKind::Cpu,
            },
            name: owned(info.name),
            isa: owned(info.isa),
            compute_units: info.compute_units,
            memory_total: info.memory_total,
            memory_free: info.memory_free,
            pci_id: owned(info.pci_id),
            lds_bytes: info.lds_bytes,
            wave_size: info.wave_size,
            max_block_threads: info.max_block_threads,
        })
    }

    /// Reads a GPU's counters.
    pub fn memory(&self) -> Result<DeviceMemory> {
        // SAFETY: zero is a value of each field, which are numbers.
        let mut memory: sys::mlxrocm_device_memory = unsafe { zeroed() };
        memory.struct_size = size_of_val(&memory) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_get_memory(self.0.get(), &mut memory, error) })?;
        Ok(DeviceMemory {
            active: memory.active,
            peak: memory.peak,
            cache: memory.cache,
            limit: memory.limit,
            total: memory.total,
            free: memory.free,
            pinned_active: memory.pinned_active,
            pinned_cache: memory.pinned_cache,
        })
    }

    /// Sets the most memory of a GPU that this process uses through the library.
    pub fn set_memory_limit(&self, bytes: u64) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_set_memory_limit(self.0.get(), bytes, error) }).map(drop)
    }

    /// Gives a GPU's freed memory back to the driver.
    pub fn trim(&self) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_device_trim(self.0.get(), error) }).map(drop)
    }
}
