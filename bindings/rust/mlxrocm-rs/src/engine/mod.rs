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

use std::time::Duration;

/// As C has it; `None`: as long as it takes.
fn nanoseconds(timeout: Option<Duration>) -> i64 {
    timeout.map_or(-1, |timeout| timeout.as_nanos().try_into().unwrap_or(i64::MAX))
}
