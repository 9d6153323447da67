//! Kinds of handles, and their values.

/// Kinds of handles; the kind is part of the handle's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandleKind {
    /// `hipStream_t`
    Stream = 1,
    /// `hipEvent_t`
    Event = 2,
    /// `hipModule_t`
    Module = 3,
    /// `hipFunction_t`
    Function = 4,
    /// `hipGraph_t`
    Graph = 5,
    /// `hipGraphNode_t`
    Node = 6,
    /// `hipGraphExec_t`
    Executable = 7,
    /// `hiprtcProgram`
    Program = 8,
    /// `rocblas_handle`
    Blas = 9,
    /// What hipBLASLt makes
    BlasLt = 10,
}

/// Handles are addresses that no memory has, so that a program that follows one crashes at once.
pub(super) const HANDLE_BASE: u64 = 0x5347_0000_0000_0000;

/// The handle of the program with this number.
pub fn program_handle(number: u64) -> u64 {
    HANDLE_BASE | (HandleKind::Program as u64) << 40 | number << 4
}
