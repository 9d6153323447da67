//! Numbers that kernels have, too. They are written in `hip/` alone, and `build/constants.rs` says which are taken from there.

use crate::driver::Platform;

/// A number that AMD's kernels and NVIDIA's have differently.
#[derive(Debug, Clone, Copy)]
pub struct PerPlatform {
    pub amd: usize,
    pub nvidia: usize,
}

impl PerPlatform {
    pub const fn of(self, platform: Platform) -> usize {
        match platform {
            Platform::Hip => self.amd,
            Platform::Cuda => self.nvidia,
        }
    }
}

include!(concat!(env!("OUT_DIR"), "/constants.rs"));
