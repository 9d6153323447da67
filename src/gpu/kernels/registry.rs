//! Built-in kernels by name.

use crate::driver::Platform;
use crate::{Error, Result};
use std::sync::Arc;

/// Finds the code object of a built-in kernel for one target.
pub struct Registry {
    arch: String,
}

impl Registry {
    /// The kernels for `arch` ("gfx1151", "sm_90").
    pub fn new(arch: &str, _platform: Platform) -> Self {
        Registry {
            arch: arch.to_owned(),
        }
    }

    /// The code object that has the kernel `name`.
    ///
    /// # Errors
    /// `Unsupported` if there is no such kernel for this target.
    pub fn code(&self, name: &str) -> Result<Arc<[u8]>> {
        Err(Error::Unsupported(format!(
            "there is no built-in kernel '{name}' for {}",
            self.arch
        )))
    }
}
