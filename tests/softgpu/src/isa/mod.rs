//! AMD machine code: code objects, decoding and execution.
//!
//! A code object's text is disassembled once (`disassembly`) and each instruction becomes a closure
//! over its operands (`decode` asks the families in turn); `execute` runs workgroups of waves.

mod atomics;
mod branch;
pub(crate) mod code_object;
mod compare;
mod convert;
mod counters;
mod cross_lane;
pub(crate) mod decode;
pub(crate) mod disassembly;
mod dot;
pub(crate) mod effect;
mod elf;
mod execute;
mod flight;
mod footprint;
pub(crate) mod half;
mod lanes;
mod lds;
mod lds_race;
mod matrix;
mod metadata;
mod mfma;
mod modifiers;
mod mutation;
pub(crate) mod operand;
mod order;
mod packed;
mod packed32;
mod plain;
mod race;
mod releases;
mod salu;
mod salu_float;
mod smem;
mod start;
pub mod testing;
mod transfer;
mod valu;
mod valu_float;
mod valu_int;
mod visible;
mod vmem;
pub(crate) mod wave;
mod wmma;
pub(crate) mod workgroup;

pub use code_object::{Arg, ArgKind, CodeObject, Kernel};
pub use counters::{Classes, Report};
pub use execute::{Checks, Fault, Launch, execute};
pub(crate) use execute::{Probe, observe};
pub use footprint::{Footprint, READ, WRITE};
pub use mutation::{Mutant, Part, Verdict, mutants};
