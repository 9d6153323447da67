//! Devices: what there is to compute on.

use super::boundary::{boundary, boundary_free, boundary_on};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::options::{OutputStruct, SizedStruct};
use super::status::mlxrocm_status;
use super::strings::{Output, c_string};
use super::symbols::since_0_1;
use crate::Error;
use std::ffi::{CString, c_char};

/// Device kind: the processor itself. Always there, always device 0.
pub const MLXROCM_DEVICE_CPU: u32 = 1;

/// A device. Immutable: any thread.
pub struct mlxrocm_device {
    _private: [u8; 0],
}

/// Facts about a device.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_device_info {
    /// Set by the caller to sizeof(mlxrocm_device_info).
    pub struct_size: u32,
    /// One of MLXROCM_DEVICE_...
    pub kind: u32,
    /// The maker's name of it; borrowed until the device is freed.
    pub name: *const c_char,
    /// The kernels that run on it: "avx512-vnni", "avx2" or "portable"; borrowed until the device is
    /// freed.
    pub isa: *const c_char,
    /// Logical CPUs this process may run on.
    pub compute_units: u64,
    /// Memory in bytes.
    pub memory_total: u64,
    /// Memory in bytes that could be allocated now.
    pub memory_free: u64,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_device_info {
    const NAME: &'static str = "mlxrocm_device_info";
    const FIRST_SIZE: usize = size_of::<Self>();
}

struct DeviceObject {
    name: CString,
    isa: CString,
}

impl Object for DeviceObject {
    type Opaque = mlxrocm_device;
    const NOUN: &'static str = "mlxrocm_device";
}

/// Devices that exist.
const COUNT: usize = 1;

/// Counts the devices.
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
        count.write(COUNT);
        Ok(())
    })
}

/// Opens a device.
///
/// - `index`: 0 is the CPU, others follow up to the count.
/// - `device`: receives the device, owned: free it with mlxrocm_device_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, NO_DEVICE. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_open(
    index: usize,
    device: *mut *mut mlxrocm_device,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary(error, || {
        // SAFETY: the caller's pointer, as documented.
        let device = unsafe { Output::new(device, "device") }?;
        if index >= COUNT {
            return Err(Error::NoDevice(format!(
                "there is no device {index}: mlxrocm_device_count says {COUNT}"
            )));
        }
        let facts = crate::cpu::facts();
        device.write(handle::publish(DeviceObject {
            name: c_string(&facts.name),
            isa: c_string(facts.simd),
        }));
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
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_get_info(
    device: *const mlxrocm_device,
    info: *mut mlxrocm_device_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |device: &DeviceObject| {
        // SAFETY: the caller's struct, as documented.
        let info = unsafe { OutputStruct::new(info, "info") }?;
        let facts = crate::cpu::facts();
        info.write(mlxrocm_device_info {
            struct_size: 0,
            kind: MLXROCM_DEVICE_CPU,
            name: device.name.as_ptr(),
            isa: device.isa.as_ptr(),
            compute_units: facts.cpus as u64,
            memory_total: facts.memory_total,
            memory_free: facts.memory_free,
        });
        Ok(())
    })
}

/// Frees a device.
///
/// - `device`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_free(device: *mut mlxrocm_device) {
    boundary_free::<DeviceObject>(device)
}

since_0_1! {
    mlxrocm_device_count mlxrocm_device_open mlxrocm_device_get_info mlxrocm_device_free
}
