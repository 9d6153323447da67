//! Kernels of one's own on a GPU: memory, streams, events, compiled modules and recorded programs.

mod buffer;
mod code;
mod event;
mod program;
mod stream;

pub use buffer::{Arg, Buffer};
pub use code::{Grid, Kernel, KernelInfo, Module};
pub use event::GpuEvent;
pub use program::{Program, ProgramInfo};
pub use stream::Stream;
