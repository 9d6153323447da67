//! Modules: code for a GPU, compiled from source or loaded as it is.

use super::boundary::{boundary_free, boundary_on};
use super::device::{DeviceObject, mlxrocm_device};
use super::error::mlxrocm_error;
use super::handle::{self, Object};
use super::kernel::{KernelObject, mlxrocm_kernel};
use super::options::{self, SizedStruct};
use super::outputs::Output;
use super::status::mlxrocm_status;
use super::strings::{array, field_length, optional_utf8, texts, utf8};
use super::symbols::since_0_1;
use crate::Error;
use crate::gpu::Module;
use std::ffi::{c_char, c_void};

/// Code loaded on a GPU. Immutable: any thread. Kernels keep their module loaded.
pub struct mlxrocm_module {
    _private: [u8; 0],
}

/// How to compile a source. Zero is each field's default.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_compile_options {
    /// Set by the caller to sizeof(mlxrocm_compile_options).
    pub struct_size: u32,
    /// Elements of `flags`.
    pub flag_count: u32,
    /// The compiler's options, UTF-8 like "-DROWS=4".
    pub flags: *const *const c_char,
    /// Bytes of each of `flags`; NULL: they are NUL-terminated.
    pub flag_lengths: *const usize,
    /// What the source is called in messages, UTF-8; NULL: "kernel source".
    pub name: *const c_char,
    /// Bytes of `name`; 0: it is NUL-terminated.
    pub name_length: usize,
}

// SAFETY: repr(C), size first, numbers and pointers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_compile_options {
    const NAME: &'static str = "mlxrocm_compile_options";
    const FIRST_SIZE: usize = size_of::<Self>();
}

struct ModuleObject {
    module: Module,
}

impl Object for ModuleObject {
    type Opaque = mlxrocm_module;
    const NOUN: &'static str = "mlxrocm_module";
}

/// Compiles kernels from source for a GPU and loads them. The language is HIP's (and CUDA's):
/// `extern "C" __global__ void name(float *out, unsigned count) { ... }`, without includes. Code that
/// was compiled before comes from a cache on disk.
///
/// - `device`: borrowed; a GPU. The module keeps it alive.
/// - `source`: UTF-8, borrowed for the call.
/// - `source_length`: bytes of `source`, or MLXROCM_NUL.
/// - `options`: borrowed for the call; NULL means defaults.
/// - `module`: receives the module, owned: free it with mlxrocm_module_free.
/// - `error`: nullable; receives an owned error object on failure. If the source does not compile its
///   message has the first error, and mlxrocm_error_details the compiler's log.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (the source does not compile), UNSUPPORTED (the CPU; no
/// compiler on this machine: the message says what to install), INVALID_FILE, OUT_OF_MEMORY,
/// DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_module_compile(
    device: *const mlxrocm_device,
    source: *const c_char,
    source_length: usize,
    options: *const mlxrocm_compile_options,
    module: *mut *mut mlxrocm_module,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's struct, as documented.
        let options = unsafe { options::read(options) }?;
        // SAFETY: the caller's text, as documented.
        let source = unsafe { utf8(source, source_length, "source") }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(module, "module") }?;
        let length = field_length(options.name_length);
        // SAFETY: the caller's text, as documented.
        let name = unsafe { optional_utf8(options.name, length, "options.name") }?;
        let name = name.unwrap_or("kernel source");
        let (count, lengths) = (options.flag_count as usize, options.flag_lengths);
        // SAFETY: the caller's texts, as documented.
        let flags = unsafe { texts(options.flags, lengths, count, "options.flags") }?;
        let module = Module::compile(&object.gpu()?.device, name, source, &flags)?;
        output.write(handle::publish(ModuleObject { module }));
        Ok(())
    })
}

/// Loads code that was compiled for a GPU: an ELF code object of its target (AMD), a cubin or PTX
/// (NVIDIA).
///
/// - `device`: borrowed; a GPU. The module keeps it alive.
/// - `code`: `size` bytes, borrowed for the call.
/// - `size`: bytes of `code`, at least 1.
/// - `module`: receives the module, owned: free it with mlxrocm_module_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT, INVALID_FILE (no code for this device), UNSUPPORTED (the
/// CPU), OUT_OF_MEMORY, DEVICE_FAILED, DEVICE_LOST. Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_module_load(
    device: *const mlxrocm_device,
    code: *const c_void,
    size: usize,
    module: *mut *mut mlxrocm_module,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(device, "device", error, |object: &DeviceObject| {
        // SAFETY: the caller's bytes, as documented.
        let code = unsafe { array(code.cast::<u8>(), size, "code") }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(module, "module") }?;
        if code.is_empty() {
            return Err(Error::InvalidArgument("size is 0: there is no code".into()));
        }
        let module = Module::from_code(&object.gpu()?.device, code)?;
        output.write(handle::publish(ModuleObject { module }));
        Ok(())
    })
}

/// Finds a kernel of a module.
///
/// - `module`: borrowed; the kernel keeps its code loaded.
/// - `name`: UTF-8, borrowed for the call; the kernel's name as it is in the code: `extern "C"`.
/// - `name_length`: bytes of `name`, or MLXROCM_NUL.
/// - `kernel`: receives the kernel, owned: free it with mlxrocm_kernel_free.
/// - `error`: nullable; receives an owned error object on failure.
///
/// Errors: NULL_ARGUMENT, INVALID_ARGUMENT (there is none of this name), DEVICE_FAILED, DEVICE_LOST.
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_module_get_kernel(
    module: *const mlxrocm_module,
    name: *const c_char,
    name_length: usize,
    kernel: *mut *mut mlxrocm_kernel,
    error: *mut *mut mlxrocm_error,
) -> mlxrocm_status {
    boundary_on(module, "module", error, |object: &ModuleObject| {
        // SAFETY: the caller's text, as documented.
        let name = unsafe { utf8(name, name_length, "name") }?;
        // SAFETY: the caller's pointer, as documented.
        let output = unsafe { Output::new(kernel, "kernel") }?;
        let kernel = object.module.kernel(name)?;
        output.write(handle::publish(KernelObject::new(kernel)));
        Ok(())
    })
}

/// Frees a module. Its kernels and work that was queued with them keep the code loaded.
///
/// - `module`: consumed; NULL is fine.
///
/// Any thread. Since 0.1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn mlxrocm_module_free(module: *mut mlxrocm_module) {
    boundary_free::<ModuleObject>(module)
}

since_0_1! {
    mlxrocm_module_compile mlxrocm_module_load mlxrocm_module_get_kernel mlxrocm_module_free
}
