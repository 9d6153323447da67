//! What rules ask of a graph.

use crate::ir::{Binary, Ending, Graph, NodeId, Op, Products, Unary, Value, VectorId};

/// A graph with the readers of its nodes, as they were when the rule began.
pub struct Matcher {
    readers: Vec<Vec<NodeId>>,
}

impl Matcher {
    pub fn new(graph: &Graph) -> Matcher {
        Matcher {
            readers: graph.readers(),
        }
    }

    /// The readers of a node.
    pub fn readers(&self, id: NodeId) -> &[NodeId] {
        &self.readers[id.0]
    }

    /// Whether a node's results are read `times` times in all, and not asked for.
    pub fn is_read(&self, graph: &Graph, id: NodeId, times: usize) -> bool {
        self.readers[id.0].len() == times && !graph.is_output(id)
    }
}

/// The node of one product that is stored as it is, if `value` is one.
pub fn product(graph: &Graph, value: Value) -> Option<&Products> {
    match graph.op(value) {
        Op::Products(products)
            if products.ending == Ending::Store && products.factors.len() == 1 =>
        {
            Some(products)
        }
        _ => None,
    }
}

/// The model's vector that `value` is.
pub fn vector(graph: &Graph, value: Value) -> Option<VectorId> {
    match graph.op(value) {
        Op::Vector(id) => Some(*id),
        _ => None,
    }
}

/// The one input of the operation that makes `value`, if the operation is as `is` says.
pub fn through(graph: &Graph, value: Value, is: fn(&Op) -> bool) -> Option<Value> {
    let node = graph.node(value.node);
    match node.inputs.as_slice() {
        [input] if is(&node.op) => Some(*input),
        _ => None,
    }
}

/// The g of `g · sigmoid(g)`.
pub fn silu_of(graph: &Graph, matcher: &Matcher, value: Value) -> Option<Value> {
    factors(graph, value.node)?
        .into_iter()
        .find_map(|(g, sigmoid)| {
            let node = graph.node(sigmoid.node);
            let fits = node.op == Op::Unary(Unary::Sigmoid)
                && node.inputs.as_slice() == [g]
                && matcher.is_read(graph, sigmoid.node, 1);
            fits.then_some(g)
        })
}

/// The factors of a product of elements, both ways round.
pub fn factors(graph: &Graph, id: NodeId) -> Option<[(Value, Value); 2]> {
    let node = graph.node(id);
    match (&node.op, node.inputs.as_slice()) {
        (Op::Binary(Binary::Multiply), &[a, b]) => Some([(a, b), (b, a)]),
        _ => None,
    }
}
