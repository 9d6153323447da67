//! Graphs: operations whose inputs are results of earlier ones.

use super::{Dtype, Op, Shape};
use crate::{Error, Result};

/// The dtype and shape of an array.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Type {
    /// Dtype.
    pub dtype: Dtype,
    /// Shape.
    pub shape: Shape,
}

/// A node of a [`Graph`], by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub usize);

/// One result of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value {
    /// The node.
    pub node: NodeId,
    /// Which of its results.
    pub output: usize,
}

/// An operation with its inputs and the types of its results.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Node {
    /// What is done.
    pub op: Op,
    /// With what: results of earlier nodes.
    pub inputs: Vec<Value>,
    /// The results.
    pub outputs: Vec<Type>,
}

/// Operations in an order in which they can run; what is asked for comes out of `outputs`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Graph {
    /// Nodes refer to earlier ones only.
    pub nodes: Vec<Node>,
    /// The results that are asked for.
    pub outputs: Vec<Value>,
}

impl Graph {
    /// A node.
    pub fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.0]
    }

    /// The operation that a value is the result of.
    pub fn op(&self, value: Value) -> &Op {
        &self.nodes[value.node.0].op
    }

    /// A value's type.
    pub fn ty(&self, value: Value) -> &Type {
        &self.nodes[value.node.0].outputs[value.output]
    }

    /// Adds a node behind all others.
    pub fn push(&mut self, node: Node) -> NodeId {
        let id = NodeId(self.nodes.len());
        debug_assert!(node.inputs.iter().all(|input| input.node < id));
        self.nodes.push(node);
        id
    }

    /// The outputs, where `run` makes the results of a node of those of its inputs and `leaves` are there. Results
    /// that nothing needs any more are let go on the way.
    ///
    /// # Errors
    /// Those of `run`; `Internal` if a leaf or an input is missing.
    pub fn compute<T: Clone>(
        &self,
        leaves: &[T],
        mut run: impl FnMut(NodeId, &[&T]) -> Result<Vec<T>>,
    ) -> Result<Vec<T>> {
        let mut uses = vec![0usize; self.nodes.len()];
        let values = self.nodes.iter().flat_map(|node| &node.inputs);
        for value in values.chain(&self.outputs) {
            uses[value.node.0] += 1;
        }
        let mut made: Vec<Vec<T>> = vec![Vec::new(); self.nodes.len()];
        let lost = || Error::Internal("an operation ran before its input".into());
        for (place, node) in self.nodes.iter().enumerate() {
            if uses[place] == 0 {
                continue;
            }
            if let Op::Leaf(leaf) = node.op {
                made[place].push(leaves.get(leaf).ok_or_else(lost)?.clone());
                continue;
            }
            let find = |value: &Value| made[value.node.0].get(value.output).ok_or_else(lost);
            let inputs = node.inputs.iter().map(find).collect::<Result<Vec<_>>>()?;
            made[place] = run(NodeId(place), &inputs)?;
            for input in &node.inputs {
                uses[input.node.0] -= 1;
                if uses[input.node.0] == 0 {
                    made[input.node.0].clear();
                }
            }
        }
        let find = |value: &Value| {
            let result = made[value.node.0].get(value.output);
            result.cloned().ok_or_else(lost)
        };
        self.outputs.iter().map(find).collect()
    }

    /// The readers of every node, in order; a node that reads twice is there twice.
    pub fn readers(&self) -> Vec<Vec<NodeId>> {
        let mut readers = vec![Vec::new(); self.nodes.len()];
        for (place, node) in self.nodes.iter().enumerate() {
            for input in &node.inputs {
                readers[input.node.0].push(NodeId(place));
            }
        }
        readers
    }

    /// Whether a value is asked for.
    pub fn is_output(&self, id: NodeId) -> bool {
        self.outputs.iter().any(|value| value.node == id)
    }

    /// Of each node whether something that is asked for needs it.
    pub fn needed(&self) -> Vec<bool> {
        let mut needed = vec![false; self.nodes.len()];
        for output in &self.outputs {
            needed[output.node.0] = true;
        }
        for place in (0..self.nodes.len()).rev() {
            if needed[place] {
                for input in &self.nodes[place].inputs {
                    needed[input.node.0] = true;
                }
            }
        }
        needed
    }

    /// Drops nodes that nothing asked for needs.
    pub fn prune(&mut self) {
        let needed = self.needed();
        let mut new = vec![NodeId(0); self.nodes.len()];
        let mut kept = Vec::with_capacity(self.nodes.len());
        for (place, mut node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if needed[place] {
                for input in &mut node.inputs {
                    input.node = new[input.node.0];
                }
                new[place] = NodeId(kept.len());
                kept.push(node);
            }
        }
        self.nodes = kept;
        for output in &mut self.outputs {
            output.node = new[output.node.0];
        }
    }
}
