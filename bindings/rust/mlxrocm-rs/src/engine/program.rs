//! Recorded work.

use super::{Arg, Buffer, Grid, Kernel};
use crate::device::Device;
use crate::error::{Result, call, filled_text, handle};
use mlxrocm_sys as sys;
use std::mem::zeroed;
use std::time::Duration;

handle!(ProgramHandle, mlxrocm_program, mlxrocm_program_free);

/// Facts about a program, and how it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramInfo {
    /// Whether the next run is a graph's replay.
    pub is_graph: bool,
    /// Why: `mlxrocm_sys::MLXROCM_REASON_…`; [`Program::explain`] says it in words.
    pub reason: u32,
    /// Launches, copies and fills.
    pub nodes: u64,
    /// Pairs of them of which one must wait for the other, without those that others imply.
    pub edges: u64,
    /// Where replays were compared with direct launches: whether they gave the same bits, and how long both took.
    pub same_bits: bool,
    pub direct: Duration,
    pub graph: Duration,
}

/// Launches that are recorded once, ordered by what each reads and writes, and run often.
#[derive(Debug)]
pub struct Program(ProgramHandle);

impl Program {
    /// Begins to record.
    pub fn new(device: &Device) -> Result<Program> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        ProgramHandle::make(|out, error| unsafe { sys::mlxrocm_program_new(device.0.get(), out, error) }).map(Program)
    }

    /// Records a kernel with its arguments.
    ///
    /// # Safety
    /// As for [`Stream::launch`], in each run.
    pub unsafe fn launch(&self, kernel: &Kernel, grid: Grid, args: &[Arg]) -> Result<()> {
        let launch = grid.of(args);
        // SAFETY: live handles, and a struct for the call; the caller answers for the kernel.
        call(|error| unsafe { sys::mlxrocm_program_launch(self.0.get(), kernel.get(), &launch, error) }).map(drop)
    }

    /// Records a copy of bytes from an offset of one buffer to one of another, both memory of the GPU.
    pub fn copy(&self, target: (&Buffer, u64), source: (&Buffer, u64), size: u64) -> Result<()> {
        let ((target, to), (source, from)) = (target, source);
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe {
            sys::mlxrocm_program_copy(self.0.get(), target.get(), to, source.get(), from, size, error)
        })
        .map(drop)
    }

    /// Records a fill of bytes of a GPU's memory.
    pub fn fill(&self, buffer: &Buffer, offset: u64, size: u64, value: u8) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_program_fill(self.0.get(), buffer.get(), offset, size, value, error) })
            .map(drop)
    }

    /// Records that all after it runs after all before it.
    pub fn barrier(&self) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_program_barrier(self.0.get(), error) }).map(drop)
    }

    /// Ends the recording; from then on it can be run.
    pub fn end(&self) -> Result<()> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_program_end(self.0.get(), error) }).map(drop)
    }

    /// Tells facts about a program whose recording has ended.
    pub fn info(&self) -> Result<ProgramInfo> {
        // SAFETY: zero is a value of each field, which are numbers.
        let mut info: sys::mlxrocm_program_info = unsafe { zeroed() };
        info.struct_size = size_of_val(&info) as u32;
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        call(|error| unsafe { sys::mlxrocm_program_get_info(self.0.get(), &mut info, error) })?;
        Ok(ProgramInfo {
            is_graph: info.mode == sys::MLXROCM_PROGRAM_GRAPH,
            reason: info.reason,
            nodes: info.nodes,
            edges: info.edges,
            same_bits: info.same_bits != 0,
            direct: Duration::from_nanos(info.direct_ns),
            graph: Duration::from_nanos(info.graph_ns),
        })
    }

    pub(super) fn get(&self) -> *mut sys::mlxrocm_program {
        self.0.get()
    }

    /// How the next run goes, and why.
    pub fn explain(&self) -> Result<String> {
        // SAFETY: live handles, and pointers with the lengths of what they point to.
        filled_text(|text, capacity, needed, error| unsafe {
            sys::mlxrocm_program_explain(self.0.get(), text, capacity, needed, error)
        })
    }
}
