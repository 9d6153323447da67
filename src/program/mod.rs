//! Programs: a traced graph of array operations, fused into steps and planned onto one arena.

mod fuse;
mod graph;
mod plan;

pub use fuse::compile;
pub use graph::{Graph, Node, NodeId, Op};
