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
mod float_math;
mod footprint;
pub(crate) mod half;
mod kernel;
mod lanes;
mod launch;
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
mod program;
mod race;
mod releases;
mod salu;
mod salu_float;
mod salu_functions;
mod shadow;
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
mod waves;
mod wmma;
pub(crate) mod workgroup;

pub use code_object::CodeObject;
pub use counters::{Classes, Report};
pub use execute::execute;
pub(crate) use execute::observe;
pub use footprint::{Footprint, READ, WRITE};
pub use kernel::{Arg, ArgKind, Kernel};
pub(crate) use launch::Probe;
pub use launch::{Checks, Fault, Launch};
pub use mutation::{Mutant, Part, Verdict, mutants};
