//! AMD machine code: code objects, decoding and execution.
//!
//! A code object's text is disassembled once (`disassembly`) and each instruction becomes a closure
//! over its operands (`decode` asks the families in turn); `execute` runs workgroups of waves.

mod atomics;
mod branch;
mod code_object;
mod compare;
mod convert;
mod counters;
mod cross_lane;
mod decode;
mod disassembly;
mod dot;
mod effect;
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
mod operand;
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
mod valu;
mod valu_float;
mod valu_int;
mod visible;
mod vmem;
mod wave;
mod wmma;
mod workgroup;

pub use code_object::{Arg, ArgKind, CodeObject, Kernel};
pub use counters::{Classes, Report};
pub use execute::{Checks, Fault, Launch, execute};
pub use footprint::{Footprint, READ, WRITE};
pub use mutation::{Mutant, Part, Verdict, mutants};
