//! Code objects and their kernels.

use super::api::{Api, Vendor};
use super::status::Code;
use super::sys::hip;
use super::table::*;
use crate::{Error, Result};
use std::ffi::{CString, c_int};

/// What can be asked about a kernel. The numbers are the same on both platforms (a test checks).
#[derive(Debug, Clone, Copy)]
#[repr(u32)]
pub enum FunctionAttribute {
    /// Work items that one block may have.
    MaxBlockThreads = hip::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK,
    /// Static local memory in bytes.
    LdsBytes = hip::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES,
    /// Private memory a work item in bytes.
    ScratchBytes = hip::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES,
    /// Registers a work item.
    Registers = hip::HIP_FUNC_ATTRIBUTE_NUM_REGS,
}

impl Api {
    /// Loads a code object.
    ///
    /// # Errors
    /// `InvalidFile` if the driver refuses it.
    pub fn module_load(&self, code: &[u8]) -> Result<ModuleHandle> {
        // PTX is text that must end in a zero byte; of binaries the driver reads the length. The
        // copy also gives the alignment that some drivers want.
        let mut bytes = vec![0_u64; code.len() / 8 + 1];
        if let Some(target) = bytes_of(&mut bytes).get_mut(..code.len()) {
            target.copy_from_slice(code);
        }
        let mut module = ModuleHandle::NULL;
        // SAFETY: a zero-ended copy that outlives the call; the driver writes one handle.
        let status =
            Code(unsafe { (self.functions.module_load)(&mut module, bytes.as_ptr().cast()) });
        if status == Code::OK {
            return Ok(module);
        }
        match self.error(status, "loading a code object") {
            Error::Driver { message, .. } => Err(Error::InvalidFile(message)),
            other => Err(other),
        }
    }

    /// Unloads a code object.
    ///
    /// # Safety
    /// The handle is live; neither it nor its kernels are used afterwards.
    pub unsafe fn module_unload(&self, module: ModuleHandle) -> Code {
        // SAFETY: the caller's.
        Code(unsafe { (self.functions.module_unload)(module) })
    }

    /// The kernel `name` of a module; `None` if the module has none of this name.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn module_function(
        &self,
        module: ModuleHandle,
        name: &str,
    ) -> Result<Option<FunctionHandle>> {
        let Ok(text) = CString::new(name) else {
            return Ok(None);
        };
        let mut function = FunctionHandle::NULL;
        // SAFETY: the caller's; a C string; the driver writes one handle.
        let code =
            Code(unsafe { (self.functions.module_function)(&mut function, module, text.as_ptr()) });
        if u32::try_from(code.0) == Ok(hip::hipErrorNotFound) {
            return Ok(None);
        }
        self.check(code, || format!("finding the kernel '{name}'"))?;
        Ok(Some(function))
    }

    /// A fact of a kernel; 0 where the driver does not say.
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn function_attribute(
        &self,
        function: FunctionHandle,
        attribute: FunctionAttribute,
    ) -> u32 {
        let mut value = 0;
        // SAFETY: the caller's; the driver writes one integer.
        let code = Code(unsafe {
            (self.functions.function_attribute)(&mut value, attribute as u32, function)
        });
        match code {
            Code::OK => u32::try_from(value).unwrap_or(0),
            _ => 0,
        }
    }

    /// Lets a kernel use more dynamic local memory than the default (CUDA; HIP needs no leave).
    ///
    /// # Safety
    /// The handle is live.
    pub unsafe fn allow_dynamic_lds(&self, function: FunctionHandle, bytes: u32) -> Code {
        match &self.vendor {
            Vendor::Hip(..) => Code::OK,
            Vendor::Cuda(functions, ..) => {
                let attribute = super::sys::cuda::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
                let bytes = c_int::try_from(bytes).unwrap_or(c_int::MAX);
                // SAFETY: the caller's.
                Code(unsafe { (functions.function_set_attribute)(function, attribute, bytes) })
            }
        }
    }
}

fn bytes_of(words: &mut [u64]) -> &mut [u8] {
    let len = size_of_val(words);
    // SAFETY: the same memory; every byte of an integer is initialised.
    unsafe { std::slice::from_raw_parts_mut(words.as_mut_ptr().cast(), len) }
}
