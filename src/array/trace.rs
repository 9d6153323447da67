//! Tracing: arrays are handles to nodes of a graph under construction.

use crate::program::{Graph, Node, NodeId, Op};
use crate::step::{Rope, Rows};
use std::cell::RefCell;

/// A forward pass being traced. One thread at a time.
#[derive(Debug)]
pub struct Trace {
    graph: RefCell<Graph>,
}

/// A lazy array `[rows, width]` of f32.
#[derive(Debug, Clone, Copy)]
pub struct Array<'t> {
    pub(super) trace: &'t Trace,
    pub(super) id: NodeId,
    pub(super) rows: Rows,
    pub(super) width: usize,
}

impl Trace {
    /// An empty trace of a model with this RoPE.
    pub fn new(rope: Rope) -> Trace {
        Trace {
            graph: RefCell::new(Graph {
                nodes: Vec::new(),
                rope: Some(rope),
            }),
        }
    }

    /// The graph traced so far; the array made last is its result.
    pub fn finish(self) -> Graph {
        self.graph.into_inner()
    }

    pub(super) fn push(&self, op: Op, rows: Rows, width: usize) -> Array<'_> {
        let mut graph = self.graph.borrow_mut();
        let id = NodeId(graph.nodes.len());
        graph.nodes.push(Node { op, rows, width });
        Array {
            trace: self,
            id,
            rows,
            width,
        }
    }
}

impl Array<'_> {
    /// Columns.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Rows.
    pub fn rows(&self) -> Rows {
        self.rows
    }
}
