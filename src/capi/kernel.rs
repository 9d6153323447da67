//! Kernels.

use super::boundary::{boundary_free, boundary_on};
use super::device::{DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::options::{OutputStruct, SizedStruct};
use super::outputs::Output;
use super::status::mlxrocm_status;
use super::strings::{Text, utf8};
use super::symbols::since_0_1;
use crate::gpu::Kernel;
use std::ffi::c_char;

/// A function that a GPU runs. Immutable: any thread.
pub struct mlxrocm_kernel {
    _private: [u8; 0],
}

/// Facts about a kernel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_kernel_info {
    /// Set by the caller to sizeof(mlxrocm_kernel_info).
    pub struct_size: u32,
    /// Vector registers of a work item.
    pub registers: u32,
    /// Bytes of local memory that it declares.
    pub lds_bytes: u32,
    /// Bytes of private memory of a work item: arrays, and registers that did not fit.
    pub scratch_bytes: u32,
    /// Work items that one block of it may have.
    pub max_block_threads: u32,
    /// Work items of a wave (a warp) on its device: 32 or 64.
    pub wave_size: u32,
    /// Its name; borrowed until the kernel is freed.
    pub name: *const c_char,
    /// Bytes of `name` without the NUL.
    pub name_length: usize,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_kernel_info {
    const NAME: &'static str = "mlxrocm_kernel_info";
    const FIRST_SIZE: usize = size_of::<Self>();
}

pub(super) struct KernelObject {
    pub(super) kernel: Kernel,
    name: Text,
}

impl Object for KernelObject {
    type Opaque = mlxrocm_kernel;
    const NOUN: &'static str = "mlxrocm_kernel";
}

impl KernelObject {
    pub(super) fn new(kernel: Kernel) -> KernelObject {
        KernelObject {
            name: Text::new(kernel.name()),
            kernel,
        }
    }
}

/// Finds one of the library's own kernels, e.g. "mlxrocm_vector_add_f32". What they take is in the
/// comments of their sources.
///
/// - `device`: borrowed; a GPU. The kernel keeps it alive.
/// - `name`: UTF-8, borrowed for the call.
/// - `name_length`: bytes of `name`, or MLXROCM_NUL.
/// - `kernel`: receives the kernel, owned: free it with mlxrocm_kernel_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, UNSUPPORTED (the CPU; no such kernel; none for this device
/// and no compiler on this machine), DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_device_get_kernel(
    device: *const mlxrocm_device,
    name: *const c_char,
    name_length: usize,
    kernel: *mut *mut mlxrocm_kernel,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's text, as documented.
        let name = unsafe { utf8(name, name_length, "name") }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(kernel, "kernel") }?;
        let kernel = object.gpu()?.device.kernel(name)?;
        output.write(handle::publish(KernelObject::new(kernel)));
        Ok(())
    })
}

/// Tells facts about a kernel.
///
/// - `kernel`: borrowed.
/// - `info`: receives the facts; its `struct_size` must be set.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_kernel_get_info(
    kernel: *const mlxrocm_kernel,
    info: *mut mlxrocm_kernel_info,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(kernel, "kernel", error, |object: &KernelObject| {
        // SAFETY: the caller's struct, as documented.
        let output = unsafe { OutputStruct::new(info, "info") }?;
        let facts = object.kernel.facts();
        output.write(mlxrocm_kernel_info {
            struct_size: 0,
            registers: facts.registers,
            lds_bytes: facts.lds_bytes,
            scratch_bytes: facts.scratch_bytes,
            max_block_threads: facts.max_block_threads,
            wave_size: object.kernel.device().facts().wave_size,
            name: object.name.pointer(),
            name_length: object.name.length(),
        });
        Ok(())
    })
}

/// Frees a kernel. Work that was queued with it still runs.
///
/// - `kernel`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_kernel_free(kernel: *mut mlxrocm_kernel) {
    boundary_free::<KernelObject>(kernel)
}

since_0_1! { mlxrocm_device_get_kernel mlxrocm_kernel_get_info mlxrocm_kernel_free }
