//! AMD machine code: code objects, decoding and execution.

mod code_object;
mod counters;
mod execute;

pub use code_object::{Arg, ArgKind, CodeObject, Kernel};
pub use counters::{Classes, Report};
pub use execute::{Checks, Fault, Launch, execute};
