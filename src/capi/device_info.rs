//! Facts about a device.

use super::device::DeviceObject;
use super::options::SizedStruct;
use crate::Result;
use crate::driver::Platform;
use std::ffi::c_char;

/// Device kind: the processor itself. Always there, always device 0.
pub const MLXROCM_DEVICE_CPU: u32 = 1;
/// Device kind: an AMD GPU, through HIP.
pub const MLXROCM_DEVICE_HIP: u32 = 2;
/// Device kind: an NVIDIA GPU, through CUDA's driver.
pub const MLXROCM_DEVICE_CUDA: u32 = 3;

/// Facts about a device. What does not apply to a device, or is not known, is 0 or "".
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_device_info {
    /// Set by the caller to sizeof(mlxrocm_device_info).
    pub struct_size: u32,
    /// One of MLXROCM_DEVICE_...
    pub kind: u32,
    /// The maker's name of it; borrowed until the device is freed.
    pub name: *const c_char,
    /// Bytes of `name` without the NUL.
    pub name_length: usize,
    /// The kernels that run on it. CPU: "avx512-vnni", "avx2" or "portable"; GPU: the target of its
    /// code, like "gfx1151" or "sm_90". Borrowed until the device is freed.
    pub isa: *const c_char,
    /// Bytes of `isa` without the NUL.
    pub isa_length: usize,
    /// CPU: logical CPUs this process may run on. AMD: compute units (work-group processors where
    /// HIP counts those). NVIDIA: multiprocessors.
    pub compute_units: u64,
    /// Memory in bytes; of a GPU that shares the processor's memory, all of that.
    pub memory_total: u64,
    /// Memory in bytes that could be allocated now.
    pub memory_free: u64,
    /// GPU: the target as the driver spells it, like "gfx942:sramecc+:xnack-"; borrowed until the
    /// device is freed.
    pub target: *const c_char,
    /// Bytes of `target` without the NUL.
    pub target_length: usize,
    /// GPU: its address on the PCI bus, like "0000:03:00.0"; borrowed until the device is freed.
    pub pci_id: *const c_char,
    /// Bytes of `pci_id` without the NUL.
    pub pci_id_length: usize,
    /// GPU: bytes of level 2 cache.
    pub l2_bytes: u64,
    /// GPU: bytes of local memory (LDS, shared memory) that one block may use.
    pub lds_bytes: u32,
    /// GPU: work items of a wave (a warp): 32 or 64.
    pub wave_size: u32,
    /// GPU: work items that one block may have.
    pub max_block_threads: u32,
    /// GPU: 1 if it shares the processor's memory.
    pub integrated: u32,
    /// GPU: highest core clock in kHz.
    pub clock_khz: u32,
    /// GPU: highest memory clock in kHz.
    pub memory_clock_khz: u32,
    /// GPU: width of the memory bus in bits.
    pub memory_bus_bits: u32,
    /// GPU: the driver's version. HIP: major * 10000000 + minor * 100000 + patch; CUDA: major * 1000
    /// + minor * 10.
    pub driver_version: u32,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_device_info {
    const NAME: &'static str = "mlxrocm_device_info";
    const FIRST_SIZE: usize = std::mem::offset_of!(mlxrocm_device_info, target);
}

impl DeviceObject {
    pub(super) fn info(&self) -> Result<mlxrocm_device_info> {
        let empty = mlxrocm_device_info {
            struct_size: 0,
            kind: MLXROCM_DEVICE_CPU,
            name: self.name.pointer(),
            name_length: self.name.length(),
            isa: self.isa.pointer(),
            isa_length: self.isa.length(),
            compute_units: 0,
            memory_total: 0,
            memory_free: 0,
            target: self.target.pointer(),
            target_length: self.target.length(),
            pci_id: self.pci_id.pointer(),
            pci_id_length: self.pci_id.length(),
            l2_bytes: 0,
            lds_bytes: 0,
            wave_size: 0,
            max_block_threads: 0,
            integrated: 0,
            clock_khz: 0,
            memory_clock_khz: 0,
            memory_bus_bits: 0,
            driver_version: 0,
        };
        let Some(gpu) = &self.gpu else {
            let facts = crate::cpu::facts();
            return Ok(mlxrocm_device_info {
                compute_units: facts.cpus as u64,
                memory_total: facts.memory_total,
                memory_free: facts.memory_free,
                ..empty
            });
        };
        let facts = gpu.device.facts();
        Ok(mlxrocm_device_info {
            kind: match facts.platform {
                Platform::Hip => MLXROCM_DEVICE_HIP,
                Platform::Cuda => MLXROCM_DEVICE_CUDA,
            },
            compute_units: u64::from(facts.compute_units),
            memory_total: facts.memory_total,
            memory_free: gpu.device.memory()?.free,
            l2_bytes: facts.l2_bytes,
            lds_bytes: facts.lds_bytes_opt_in,
            wave_size: facts.wave_size,
            max_block_threads: facts.max_block_threads,
            integrated: u32::from(facts.integrated),
            clock_khz: facts.clock_khz,
            memory_clock_khz: facts.memory_clock_khz,
            memory_bus_bits: facts.memory_bus_bits,
            driver_version: facts.driver_version,
            ..empty
        })
    }
}
