//! Devices: what there is to compute on.

use super::boundary::{boundary, boundary_free, boundary_on};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::options::{OutputStruct, SizedStruct};
use super::status::mlxrocm_status;
use super::strings::{Buffer, Output, Text};
use super::symbols::since_0_1;
use crate::array::Home;
use crate::driver::Platform;
use crate::gpu::{Device, Stream};
use crate::model::DeviceChoice;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::ffi::c_char;
use std::sync::Arc;

/// Device kind: the processor itself. Always there, always device 0.
pub const MLXROCM_DEVICE_CPU: u32 = 1;
/// Device kind: an AMD GPU, through HIP.
pub const MLXROCM_DEVICE_HIP: u32 = 2;
/// Device kind: an NVIDIA GPU, through CUDA's driver.
pub const MLXROCM_DEVICE_CUDA: u32 = 3;

/// A device. Internally locked: any thread. What is made on a device keeps it alive. A GPU that is
/// opened twice is one device with one memory limit.
pub struct mlxrocm_device {
    _private: [u8; 0],
}

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

/// An open GPU, and its synchronous copies.
pub(super) struct Gpu {
    pub(super) device: Arc<Device>,
    /// Its place among the GPUs.
    ordinal: usize,
    pub(super) copies: Arc<Copies>,
}

impl Gpu {
    fn open(ordinal: usize) -> Result<Arc<Gpu>> {
        let device = Device::open(ordinal)?;
        Ok(Arc::new(Gpu {
            copies: Arc::new(Copies::of(&device)),
            device,
            ordinal,
        }))
    }
}

/// Copies of a device that the caller waits for, on a stream of their own.
pub(super) struct Copies {
    pub(super) device: Arc<Device>,
    stream: Mutex<Option<Arc<Stream>>>,
}

impl Copies {
    pub(super) fn of(device: &Arc<Device>) -> Copies {
        Copies {
            device: device.clone(),
            stream: Mutex::default(),
        }
    }

    /// The stream, made now if it is the first time.
    pub(super) fn stream(&self) -> Result<Arc<Stream>> {
        let mut made = self.stream.lock();
        if let Some(stream) = &*made {
            return Ok(stream.clone());
        }
        let stream = Arc::new(self.device.stream()?);
        *made = Some(stream.clone());
        Ok(stream)
    }
}

pub(super) struct DeviceObject {
    /// `None`: the CPU.
    gpu: Option<Arc<Gpu>>,
    name: Text,
    isa: Text,
    target: Text,
    pci_id: Text,
}

impl Object for DeviceObject {
    type Opaque = mlxrocm_device;
    const NOUN: &'static str = "mlxrocm_device";
}

impl DeviceObject {
    fn cpu() -> DeviceObject {
        let facts = crate::cpu::facts();
        DeviceObject {
            gpu: None,
            name: Text::new(&facts.name),
            isa: Text::new(facts.simd),
            target: Text::default(),
            pci_id: Text::default(),
        }
    }

    fn of(gpu: Arc<Gpu>) -> DeviceObject {
        let facts = gpu.device.facts();
        DeviceObject {
            name: Text::new(&facts.name),
            isa: Text::new(&facts.arch),
            target: Text::new(&facts.target),
            pci_id: Text::new(&facts.pci_id),
            gpu: Some(gpu),
        }
    }

    /// The GPU that it is.
    ///
    /// # Errors
    /// `Unsupported` if it is the CPU.
    pub(super) fn gpu(&self) -> Result<&Arc<Gpu>> {
        self.gpu.as_ref().ok_or_else(|| {
            Error::Unsupported(
                "device is the CPU, which has no engine functions: open a GPU (device 1 and up)"
                    .into(),
            )
        })
    }

    /// The GPU that it is, or none for the CPU.
    pub(super) fn gpu_or_cpu(&self) -> Option<&Arc<Gpu>> {
        self.gpu.as_ref()
    }

    /// The device as a home of arrays.
    pub(super) fn home(&self) -> Result<Home> {
        match &self.gpu {
            None => Ok(Home::Cpu),
            Some(gpu) => Home::of(&gpu.device),
        }
    }

    /// The device as a model's options name it.
    pub(super) fn choice(&self) -> DeviceChoice {
        match &self.gpu {
            None => DeviceChoice::Cpu,
            Some(gpu) => DeviceChoice::Gpu(gpu.ordinal),
        }
    }

    fn info(&self) -> Result<mlxrocm_device_info> {
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

/// Devices before the GPUs: the CPU.
const CPUS: usize = 1;

/// Counts the devices: the CPU, then AMD's GPUs, then NVIDIA's. The vendors' drivers are opened at
/// the first call; where one is missing its GPUs are not counted, and mlxrocm_device_why_none says
/// why.
///
/// - `count`: receives the number, at least 1: the CPU is device 0.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_count(
    count: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's number, as documented.
        let count = unsafe { Output::new(count, "count") }?;
        count.write(CPUS + Device::list().found.len());
        Ok(())
    })
}

/// Says why there is no GPU of a kind on this machine, and what to do about it: the library that is
/// missing or too old, the permission, the device.
///
/// - `kind`: MLXROCM_DEVICE_HIP or MLXROCM_DEVICE_CUDA.
/// - `text`: receives one line of UTF-8 and its NUL; "" if there are GPUs of that kind.
/// - `capacity`: bytes of room in `text`; 0: only measure.
/// - `needed`: receives the bytes of the text and its NUL, also when they do not fit; nullable
///   unless measuring.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, BUFFER_TOO_SMALL. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_why_none(
    kind: u32,
    text: *mut c_char,
    capacity: usize,
    needed: *mut usize,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's buffer, as documented.
        let buffer = unsafe { Buffer::new(text, capacity, needed, "text") }?;
        let platform = match kind {
            MLXROCM_DEVICE_HIP => Platform::Hip,
            MLXROCM_DEVICE_CUDA => Platform::Cuda,
            _ => {
                return Err(Error::InvalidArgument(format!(
                    "kind is {kind}, it must be MLXROCM_DEVICE_HIP (2) or MLXROCM_DEVICE_CUDA (3)"
                )));
            }
        };
        let missing = Device::list().missing;
        let reason = missing.iter().find(|(missing, _)| *missing == platform);
        buffer.fill_text(
            reason
                .map_or_else(String::new, |(_, error)| error.to_string())
                .as_bytes(),
        )
    })
}

/// Opens a device, to work on it or to run a model on it (mlxrocm_model_options.device).
///
/// - `index`: 0 is the CPU; GPUs follow from 1 up to the count, in the order of
///   mlxrocm_device_count. Devices have numbers here only: everything else takes the open device.
/// - `device`: receives the device, owned: free it with mlxrocm_device_free.
/// - `error`: nullable; receives an owned error object on failure. With no GPU at all it says why.
///
/// Errors: NULL_ARGUMENT, NO_DEVICE, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_open(
    index: usize,
    device: *mut *mut mlxrocm_device,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's pointer, as documented.
        let device = unsafe { Output::new(device, "device") }?;
        let object = match index.checked_sub(CPUS) {
            None => DeviceObject::cpu(),
            Some(ordinal) => {
                let found = Device::list().found.len();
                if found > 0 && ordinal >= found {
                    return Err(Error::NoDevice(format!(
                        "there is no device {index}: mlxrocm_device_count says {}",
                        CPUS + found
                    )));
                }
                DeviceObject::of(Gpu::open(ordinal)?)
            }
        };
        device.write(handle::publish(object));
        Ok(())
    })
}

/// Tells facts about a device.
///
/// - `device`: borrowed.
/// - `info`: receives the facts; its `struct_size` must be set. Strings are borrowed until the
///   device is freed. Free memory is read at each call.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_get_info(
    device: *const mlxrocm_device,
    info: *mut mlxrocm_device_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |device: &DeviceObject| {
        // SAFETY: the caller's struct, as documented.
        let info = unsafe { OutputStruct::new(info, "info") }?;
        info.write(device.info()?);
        Ok(())
    })
}

/// Frees a device. What was made on it works on.
///
/// - `device`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_free(device: *mut mlxrocm_device) {
    boundary_free::<DeviceObject>(device)
}

since_0_1! {
    mlxrocm_device_count mlxrocm_device_why_none mlxrocm_device_open mlxrocm_device_get_info
    mlxrocm_device_free
}
