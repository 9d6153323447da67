//! The stand-in HIP runtime: the C functions of `libamdhip64`, `libhiprtc`, `librocblas` and
//! `libhipblaslt` over [`crate::isa`].
//!
//! Calls that are not modelled are absent, so that `dlsym` fails as it would on an old runtime. What
//! is modelled keeps HIP's rules where they bite: work runs after the call returned, in an order that
//! only streams, events and graph edges fix (anything else is a seeded random choice); graph nodes
//! keep their arguments by pointer; a kernel fault comes out of a later wait and stays. What a real
//! GPU would let pass silently is written to the report ([`control`]).

mod allocation;
pub mod attributes;
pub mod capture;
mod clang;
pub mod config;
pub mod control;
pub mod copy;
pub mod device;
mod entry;
pub mod error;
pub mod event;
mod execution;
mod facts;
pub mod faults;
pub mod graph;
pub mod graph_exec;
pub mod graph_node;
mod handles;
pub mod hipblaslt;
pub mod hiprtc;
mod host_read;
pub mod launch;
pub mod memory_api;
pub mod module;
mod operation;
mod order;
mod random;
mod report;
pub mod rocblas;
mod runtime;
mod scheduler;
mod state;
pub mod stream;
