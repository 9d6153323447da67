//! The graph that tracing a model's forward pass leaves behind.

use crate::step::{Attention, MatrixId, Norm, Rope, Rows, VectorId};

/// A node of a [`Graph`]; nodes only refer to earlier ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub usize);

/// One array operation. Shapes were checked when it was traced.
#[derive(Debug, Clone, PartialEq)]
pub enum Op {
    /// Rows of a table by token id.
    Embedding(MatrixId),
    /// RMSNorm over the last axis.
    RmsNorm(NodeId, Norm),
    /// RMSNorm over each head of `head_dim`.
    HeadNorm(NodeId, Norm, usize),
    /// `W·x + b`.
    Linear(NodeId, MatrixId, Option<VectorId>),
    /// Rotary position embedding of each head.
    Rope(NodeId),
    /// Causal attention of (q, k, v) over the paged cache of a layer, to which k and v are added.
    Attention([NodeId; 3], usize, Attention),
    /// `x·sigmoid(x)`.
    Silu(NodeId),
    /// Elementwise product.
    Mul(NodeId, NodeId),
    /// Elementwise sum.
    Add(NodeId, NodeId),
    /// The rows whose logits are wanted.
    SelectWanted(NodeId),
}

impl Op {
    /// The nodes it reads.
    pub fn inputs(&self) -> Vec<NodeId> {
        match self {
            Op::Embedding(_) => vec![],
            Op::RmsNorm(x, _)
            | Op::HeadNorm(x, ..)
            | Op::Linear(x, ..)
            | Op::Rope(x)
            | Op::Silu(x)
            | Op::SelectWanted(x) => vec![*x],
            Op::Mul(a, b) | Op::Add(a, b) => vec![*a, *b],
            Op::Attention(qkv, ..) => qkv.to_vec(),
        }
    }
}

/// A node: an operation and the shape of its result.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    /// The operation.
    pub op: Op,
    /// Rows of the result.
    pub rows: Rows,
    /// Columns of the result.
    pub width: usize,
}

/// A traced forward pass. The last node is the logits.
#[derive(Debug, Default)]
pub struct Graph {
    /// In order of tracing.
    pub nodes: Vec<Node>,
    /// The model's RoPE.
    pub rope: Option<Rope>,
}
