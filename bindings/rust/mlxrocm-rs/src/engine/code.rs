//! Code, kernels and how they are launched.

use super::Arg;
use crate::device::Device;
use crate::error::{Result, call, field, handle, owned};
use mlxrocm_sys as sys;
use std::mem::zeroed;

handle!(ModuleHandle, mlxrocm_module, mlxrocm_module_free);
handle!(KernelHandle, mlxrocm_kernel, mlxrocm_kernel_free);

/// Code on a GPU.
#[derive(Debug)]
pub struct Module(ModuleHandle);

impl Module {
    /// Compiles a source in HIP's language, `extern "C"`, with the compiler's options; `name` is what messages call it.
    /// If it does not compile, the error's details are the compiler's log.
    pub fn compile(device: &Device, name: &str, source: &str, flags: &[&str]) -> Result<Module> {
        let (name, name_length) = field(name);
        let (flags, flag_lengths): (Vec<_>, Vec<_>) = flags.iter().map(|flag| field(flag)).unzip();
        let options = sys::mlxrocm_compile_options {
            struct_size: size_of::<sys::mlxrocm_compile_options>() as u32,
            flag_count: flags.len() as u32,
            flags: flags.as_ptr(),
            flag_lengths: flag_lengths.as_ptr(),
            name,
            name_length,
        };
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        ModuleHandle::make(|out, error| unsafe {
            sys::mlxrocm_module_compile(device.0.get(), source.as_ptr().cast(), source.len(), &options, out, error)
        })
        .map(Module)
    }

    /// Loads code that was compiled for a GPU: an ELF code object of its target (AMD), a cubin or PTX (NVIDIA).
    pub fn load(device: &Device, code: &[u8]) -> Result<Module> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        ModuleHandle::make(|out, error| unsafe {
            sys::mlxrocm_module_load(device.0.get(), code.as_ptr().cast(), code.len(), out, error)
        })
        .map(Module)
    }

    /// A kernel of the module.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        KernelHandle::make(|out, error| unsafe {
            sys::mlxrocm_module_get_kernel(self.0.get(), name.as_ptr().cast(), name.len(), out, error)
        })
        .map(Kernel)
    }
}

/// Facts about a kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KernelInfo {
    pub name: String,
    /// Vector registers of a work item.
    pub registers: u32,
    /// Bytes of private memory of a work item.
    pub scratch_bytes: u32,
    /// Bytes of local memory that it declares.
    pub lds_bytes: u32,
    /// Work items that a block may have.
    pub max_block_threads: u32,
    /// Work items of a wave.
    pub wave_size: u32,
}

/// A function that a GPU runs.
#[derive(Debug)]
pub struct Kernel(KernelHandle);

impl Kernel {
    /// One of the library's own, like "mlxrocm_vector_add_f32"; what they take is in the comments of their sources.
    pub fn of_library(device: &Device, name: &str) -> Result<Kernel> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        KernelHandle::make(|out, error| unsafe {
            sys::mlxrocm_device_get_kernel(device.0.get(), name.as_ptr().cast(), name.len(), out, error)
        })
        .map(Kernel)
    }

    pub(super) fn get(&self) -> *mut sys::mlxrocm_kernel {
        self.0.get()
    }

    /// Tells facts about the kernel.
    pub fn info(&self) -> Result<KernelInfo> {
        // SAFETY: zero is a value of each field: numbers, and pointers that are null.
        let mut info: sys::mlxrocm_kernel_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_kernel_get_info(self.0.get(), &mut info, error) })?;
        Ok(KernelInfo {
            name: owned(info.name),
            registers: info.registers,
            scratch_bytes: info.scratch_bytes,
            lds_bytes: info.lds_bytes,
            max_block_threads: info.max_block_threads,
            wave_size: info.wave_size,
        })
    }
}

/// Blocks, work items of a block (x, y and z; 0 in y or z is 1), and bytes of local memory beyond what is declared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Grid {
    pub blocks: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_lds: u32,
}

impl Grid {
    /// Blocks of so many work items in x.
    pub fn line(blocks: u32, block: u32) -> Grid {
        Grid { blocks: [blocks, 1, 1], block: [block, 1, 1], dynamic_lds: 0 }
    }

    /// The launch as C has it; it borrows the arguments.
    pub(super) fn of(self, args: &[Arg]) -> sys::mlxrocm_launch {
        sys::mlxrocm_launch {
            struct_size: size_of::<sys::mlxrocm_launch>() as u32,
            dynamic_lds: self.dynamic_lds,
            grid: self.blocks,
            block: self.block,
            // An Arg is C's struct and nothing else.
            args: args.as_ptr().cast(),
            arg_count: args.len(),
            // SAFETY: zero is a value of each field: numbers, and pointers that are null.
            ..unsafe { zeroed() }
        }
    }
}
