//! The GPU engine: devices, memory, streams, events, kernels, and programs that replay a recorded
//! list of launches, as one graph where that is right and faster.

pub mod arrays;
pub mod kernels;
pub mod model;
pub mod network;
mod ops;
pub mod selftest;

mod allocator;
mod args;
mod blas;
mod blas_trial;
mod buffer;
mod constants;
mod device;
mod early;
mod encoder;
mod event;
mod graph;
mod graveyard;
mod hazards;
mod kept;
#[cfg(test)]
mod loads_tests;
mod module;
#[cfg(debug_assertions)]
mod parameters;
mod policy;
mod probation;
mod program;
mod signature;
mod stream;
mod upload;
mod uses;
mod verdict;
#[cfg(all(test, debug_assertions))]
mod waits_tests;

pub use allocator::MemoryCounters;
pub use args::{Args, MAX_ARGS, Name, UNNAMED};
pub use buffer::{DeviceBuffer, PinnedBuffer, Range};
pub use device::{Device, Devices};
pub use encoder::{Encoder, LaunchOptions};
pub use event::Event;
pub use module::{Kernel, KernelFacts, Module};
pub use policy::{Policy as BlasPolicy, Policy as ExpertPolicy, Policy as GraphPolicy};
pub use program::{ModeReason, Program, ProgramMode};
pub use stream::Stream;
pub use upload::Uploader;
pub use verdict::Verdict;
