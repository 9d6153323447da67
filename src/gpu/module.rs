//! Loaded code objects and their kernels.

use super::device::Device;
use crate::{Error, Result};
use std::sync::Arc;

/// A code object loaded on a device. Immutable: any thread.
#[derive(Clone)]
pub struct Module {}

impl Module {
    /// Loads a code object (AMD: ELF of the device's target; NVIDIA: cubin or PTX).
    ///
    /// # Errors
    /// `InvalidFile` if the driver refuses it.
    pub fn from_code(_device: &Arc<Device>, _code: &[u8]) -> Result<Module> {
        Err(Error::Unsupported("no GPU driver is bound yet".into()))
    }

    /// The kernel `name`.
    ///
    /// # Errors
    /// `InvalidArgument` if the module has none of this name.
    pub fn kernel(&self, _name: &str) -> Result<Kernel> {
        Err(Error::Unsupported("no GPU driver is bound yet".into()))
    }
}

/// A kernel of a loaded module. Immutable: any thread.
#[derive(Clone)]
pub struct Kernel {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    facts: KernelFacts,
}

/// What the driver says about a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KernelFacts {
    /// Registers a work item.
    pub registers: u32,
    /// Static local memory in bytes.
    pub lds_bytes: u32,
    /// Private memory a work item in bytes (spills and arrays).
    pub scratch_bytes: u32,
    /// Work items that one block may have.
    pub max_block_threads: u32,
}

impl Kernel {
    /// Its name.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// Its facts.
    pub fn facts(&self) -> KernelFacts {
        self.inner.facts
    }
}
