//! Devices: what there is to compute on.

use super::boundary::{boundary, boundary_free, boundary_on};
use super::device_info::{MLXROCM_DEVICE_CUDA, MLXROCM_DEVICE_HIP, mlxrocm_device_info};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::options::OutputStruct;
use super::outputs::{Buffer, Output};
use super::status::mlxrocm_status;
use super::strings::Text;
use super::symbols::since_0_1;
use crate::array::Home;
use crate::driver::Platform;
use crate::gpu::{Device, Stream};
use crate::model::DeviceChoice;
use crate::{Error, Result};
use parking_lot::Mutex;
use std::ffi::c_char;
use std::sync::Arc;

/// A device. Internally locked: any thread. What is made on a device keeps it alive. A GPU that is
/// opened twice is one device with one memory limit.
pub struct mlxrocm_device {
    _private: [u8; 0],
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
    pub(super) gpu: Option<Arc<Gpu>>,
    pub(super) name: Text,
    pub(super) isa: Text,
    pub(super) target: Text,
    pub(super) pci_id: Text,
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
