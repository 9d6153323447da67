//! Launching a kernel.

use super::{Kernel, Report};
use crate::memory::Memory;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Which checks run, and the limit after which a wave counts as hung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Report reads of device memory that nothing has written.
    pub uninitialised: bool,
    /// Report LDS accesses of two waves that no barrier orders.
    pub lds_race: bool,
    /// Report global memory accesses of two waves that neither barrier nor atomics order.
    pub global_race: bool,
    /// Instructions that one wave may execute.
    pub instruction_limit: u64,
}

impl Default for Checks {
    fn default() -> Self {
        Checks {
            uninitialised: true,
            lds_race: true,
            global_race: true,
            instruction_limit: 2_000_000_000,
        }
    }
}

/// One kernel launch.
pub struct Launch<'a> {
    pub kernel: &'a Arc<Kernel>,
    pub grid_blocks: [u32; 3],
    pub block: [u32; 3],
    pub dynamic_lds: u32,
    /// The explicit arguments as the host packs them; hidden ones are filled here.
    pub kernarg: &'a [u8],
    pub memory: &'a Memory,
    /// Order of workgroups and waves: 0 is the natural order, anything else shuffles.
    pub seed: u64,
    /// Host threads that share the workgroups (at least 1).
    pub threads: usize,
    pub checks: Checks,
    /// Ends the launch with a fault when another thread sets it.
    pub stop: Option<&'a AtomicBool>,
}

/// Why a launch stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    pub kernel: String,
    pub block: [u32; 3],
    pub wave: u32,
    /// First lane concerned.
    pub lane: u32,
    /// Byte offset in the code object's text.
    pub pc: u64,
    pub instruction: String,
    pub message: String,
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [x, y, z] = self.block;
        write!(
            f,
            "{}: {} [kernel {} block ({x},{y},{z}) wave {} lane {} pc {:#x}]",
            self.instruction, self.message, self.kernel, self.wave, self.lane, self.pc
        )
    }
}

impl std::error::Error for Fault {}

/// Runs a kernel to its end.
///
/// # Errors
/// The first fault found: bad access, race, divergent barrier, hang, or an instruction that is not implemented.
pub fn execute(launch: &Launch) -> Result<Report, Fault> {
    Err(Fault {
        kernel: launch.kernel.name.clone(),
        block: [0; 3],
        wave: 0,
        lane: 0,
        pc: 0,
        instruction: String::new(),
        message: "not yet".into(),
    })
}
