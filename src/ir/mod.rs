//! The vocabulary of everything that computes: dtypes, shapes, layouts, operations and graphs of them.
//!
//! A leaf: `array` and `model` write graphs, `graph` rewrites them, `plan` orders and places them, every
//! device executes their operations.

mod alike;
mod custom;
mod dtype;
mod experts;
mod functions;
mod graph;
mod layout;
mod model;
mod op;
mod parameters;
mod quick;
mod recurrent;
mod shape;

pub use alike::{Alike, LeafForm, Met, Next};
pub use custom::CustomKernel;
pub use dtype::{Dtype, Kind};
pub use experts::{CLAMPED_ALPHA, Experts, Gathered, Groups, Route, Scores};
pub use functions::{ArgReduce, Binary, Reduce, Scan, ScatterReduce, Unary};
pub use graph::{Graph, Node, NodeId, Type, Value};
pub use layout::{Layout, Reach};
pub use model::{
    Attend, Attention, Ending, Factor, MatrixId, Norm, PAGE_TOKENS, Products, Rotary, Turn,
    VectorId,
};
pub use op::{Input, Op};
pub use parameters::{
    Conv, Fft, FftNorm, Fp8, LinearAlgebra, Number, QuantMode, Quantization, Rope, SliceSpec,
};
pub use quick::QuickHasher;
pub use recurrent::{GatedDelta, GatedNorm, ShortConv};
pub use shape::{Dim, Shape, Symbol, axis_of};
