//! The GPU engine: devices, memory, streams, events, kernels, and programs that replay a recorded
//! list of launches, as one graph where that is right and faster.

pub mod kernels;

mod allocator;
mod args;
mod buffer;
mod device;
mod encoder;
mod event;
mod module;
mod program;
mod stream;
mod upload;

pub use allocator::MemoryCounters;
pub use args::Args;
pub use buffer::{DeviceBuffer, PinnedBuffer, Range};
pub use device::{Device, Devices};
pub use encoder::{Encoder, LaunchOptions};
pub use event::Event;
pub use module::{Kernel, KernelFacts, Module};
pub use program::{Program, ProgramMode};
pub use stream::Stream;
pub use upload::Uploader;
