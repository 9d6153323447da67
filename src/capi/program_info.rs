//! Facts about a program: how it runs, and why.

use super::options::SizedStruct;
use crate::gpu::{ModeReason, Program, ProgramMode};
use std::time::Duration;

/// Program mode: one launch after another.
pub const MLXROCM_PROGRAM_DIRECT: u32 = 1;
/// Program mode: the driver replays the whole program as a graph.
pub const MLXROCM_PROGRAM_GRAPH: u32 = 2;

/// Reason of a mode: mlxrocm_device_set_graphs or the environment variable MLXROCM_GRAPHS.
pub const MLXROCM_REASON_SETTING: u32 = 1;
/// Reason of a mode: graphs were compared with direct launches on this device, bit for bit and in
/// time.
pub const MLXROCM_REASON_COMPARED: u32 = 2;
/// Reason of a mode: graphs were not compared on this device yet. The first run of a program of 8
/// launches or more, all of which say what they write, does it.
pub const MLXROCM_REASON_NOT_COMPARED: u32 = 3;
/// Reason of a mode: the driver does not build a graph of this program.
pub const MLXROCM_REASON_NOT_BUILT: u32 = 4;

/// Facts about a recorded program.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct mlxrocm_program_info {
    /// Set by the caller to sizeof(mlxrocm_program_info).
    pub struct_size: u32,
    /// How the next run goes: MLXROCM_PROGRAM_DIRECT or MLXROCM_PROGRAM_GRAPH.
    pub mode: u32,
    /// Why: one of MLXROCM_REASON_...
    pub reason: u32,
    /// COMPARED: 1 if replays gave the same bits as direct launches.
    pub same_bits: u32,
    /// Launches, copies and fills.
    pub nodes: u64,
    /// Pairs of them of which one must wait for the other, without those that others imply.
    pub edges: u64,
    /// COMPARED: nanoseconds of a direct run of the program that was compared.
    pub direct_ns: u64,
    /// COMPARED: nanoseconds of a replay of that program.
    pub graph_ns: u64,
}

// SAFETY: repr(C), size first, numbers, no padding (a test checks).
unsafe impl SizedStruct for mlxrocm_program_info {
    const NAME: &'static str = "mlxrocm_program_info";
    const FIRST_SIZE: usize = size_of::<Self>();
}

pub(super) fn facts(program: &Program) -> mlxrocm_program_info {
    let (mode, reason) = program.mode();
    let nanoseconds = |time: Duration| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
    let (reason, same_bits, direct_ns, graph_ns) = match reason {
        ModeReason::Policy => (MLXROCM_REASON_SETTING, false, 0, 0),
        ModeReason::Verdict(verdict) => (
            MLXROCM_REASON_COMPARED,
            verdict.right,
            nanoseconds(verdict.direct),
            nanoseconds(verdict.graph),
        ),
        ModeReason::NotJudged => (MLXROCM_REASON_NOT_COMPARED, false, 0, 0),
        ModeReason::NotBuilt => (MLXROCM_REASON_NOT_BUILT, false, 0, 0),
    };
    mlxrocm_program_info {
        struct_size: 0,
        mode: match mode {
            ProgramMode::Direct => MLXROCM_PROGRAM_DIRECT,
            ProgramMode::Graph => MLXROCM_PROGRAM_GRAPH,
        },
        reason,
        same_bits: u32::from(same_bits),
        nodes: program.len() as u64,
        edges: program.edges().len() as u64,
        direct_ns,
        graph_ns,
    }
}

pub(super) fn explanation(program: &Program) -> String {
    let (mode, reason) = program.mode();
    let mode = match mode {
        ProgramMode::Direct => "launched one by one",
        ProgramMode::Graph => "replayed as a graph",
    };
    let why = match reason {
        ModeReason::Policy => "by mlxrocm_device_set_graphs or MLXROCM_GRAPHS".into(),
        ModeReason::Verdict(verdict) => format!("graphs on this device: {verdict}"),
        ModeReason::NotJudged => {
            "graphs were not compared with direct launches on this device yet".into()
        }
        ModeReason::NotBuilt => "the driver does not build a graph of this program".into(),
    };
    format!("{} launches, {mode}: {why}", program.len())
}
