//! A kernel launch: what it is given, what its workgroups share, why it stopped.

use super::kernel::Kernel;
use super::program::Program;
use super::race::GlobalRace;
use super::visible::Rules;
use super::wave::Wave;
use super::workgroup::Group;
use crate::memory::{Memory, Snapshot};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

/// Which checks run, and the limit after which a wave counts as hung.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checks {
    /// Report reads of device memory that nothing has written.
    pub uninitialised: bool,
    /// Report LDS accesses of two waves that no barrier orders.
    pub lds_race: bool,
    /// Report global memory accesses of two waves that neither barrier nor atomics order (slow).
    pub global_race: bool,
    /// Report registers named before the load that writes them was waited for, and with the race
    /// checks what waits, write-backs and invalidations fail to order.
    pub waits: bool,
    /// Instructions that one wave may execute.
    pub instruction_limit: u64,
}

impl Default for Checks {
    fn default() -> Self {
        Checks {
            uninitialised: true,
            lds_race: true,
            global_race: false,
            waits: true,
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
    /// Mutation tests: the waits and fences, by their index in the code, that are left out; the report
    /// then tells what each of the others did.
    pub without: Option<&'a [usize]>,
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

/// What all threads of a launch share.
pub struct Shared<'l> {
    pub program: &'l Program,
    pub kernel: &'l Kernel,
    pub checks: Checks,
    pub snapshot: Arc<Snapshot>,
    pub lds_bytes: usize,
    pub race: Option<GlobalRace>,
    pub rules: Rules,
    /// Indices of instructions that are left out (mutation tests).
    pub without: Option<&'l [usize]>,
    pub grid_blocks: [u32; 3],
    pub block: [u32; 3],
    pub kernarg: Vec<u64>,
    pub packet: [u64; 8],
    pub(crate) stop: AtomicBool,
}

impl Shared<'_> {
    /// Ranges beside the registered memory: kernargs, dispatch packet, the code object's image.
    pub fn extra_ranges(&self) -> [(u64, u64, bool); 3] {
        let of = |s: &[u64]| {
            (
                s.as_ptr() as u64,
                s.as_ptr() as u64 + 8 * s.len() as u64,
                false,
            )
        };
        [
            of(&self.kernarg),
            of(&self.packet),
            (self.program.base(), self.program.image_end(), true),
        ]
    }
}

/// Follows each instruction that waves execute, for the timing model. `()` follows nothing and costs nothing.
pub trait Probe {
    /// Before instruction `at` (an index into the code) runs.
    fn before(&mut self, wave: &Wave, group: &Group, at: usize);
    /// After it has run; a memory instruction's addresses are in `wave.addrs`.
    fn after(&mut self, wave: &Wave, group: &Group, at: usize);
}

impl Probe for () {
    #[inline(always)]
    fn before(&mut self, _: &Wave, _: &Group, _: usize) {}
    #[inline(always)]
    fn after(&mut self, _: &Wave, _: &Group, _: usize) {}
}
