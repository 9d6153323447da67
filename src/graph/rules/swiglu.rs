//! `gate · sigmoid(gate) · up` of two products of the same x → one step with two matrices.

use crate::graph::matching::{Matcher, factors, product, silu_of};
use crate::ir::{Ending, Graph, NodeId, Op, Value};

pub fn apply(graph: &mut Graph) -> usize {
    let matcher = Matcher::new(graph);
    let mut count = 0;
    for place in 0..graph.nodes.len() {
        let Some((gate, up)) = gate_and_up(graph, &matcher, NodeId(place)) else {
            continue;
        };
        let (Some(first), Some(second)) = (product(graph, gate), product(graph, up)) else {
            continue;
        };
        let mut products = first.clone();
        products.factors.extend(&second.factors);
        products.ending = Ending::SwiGlu;
        let inputs = graph.node(gate.node).inputs.clone();
        let node = &mut graph.nodes[place];
        node.op = Op::Products(products);
        node.inputs = inputs;
        count += 1;
    }
    count
}

/// The products under `silu(gate) · up`.
fn gate_and_up(graph: &Graph, matcher: &Matcher, id: NodeId) -> Option<(Value, Value)> {
    factors(graph, id)?.into_iter().find_map(|(silu, up)| {
        let gate = silu_of(graph, matcher, silu)?;
        let (first, second) = (product(graph, gate)?, product(graph, up)?);
        let fits = gate.node != up.node
            && graph.node(gate.node).inputs == graph.node(up.node).inputs
            && first.norm == second.norm
            && graph.ty(gate) == graph.ty(up)
            // By the sigmoid and by its product.
            && matcher.is_read(graph, gate.node, 2)
            && matcher.is_read(graph, silu.node, 1)
            && matcher.is_read(graph, up.node, 1);
        fits.then_some((gate, up))
    })
}
