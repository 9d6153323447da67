//! `residual + W·x` → a product that adds; the same of a sum of experts.

use crate::graph::matching::{Matcher, product};
use crate::ir::{Binary, Ending, Gathered, Graph, NodeId, Op, Value};

pub fn apply(graph: &mut Graph) -> usize {
    let matcher = Matcher::new(graph);
    let mut count = 0;
    for place in 0..graph.nodes.len() {
        let Some((op, inputs)) = fused(graph, &matcher, NodeId(place)) else {
            continue;
        };
        let node = &mut graph.nodes[place];
        node.op = op;
        node.inputs = inputs;
        count += 1;
    }
    count
}

fn fused(graph: &Graph, matcher: &Matcher, id: NodeId) -> Option<(Op, Vec<Value>)> {
    let node = graph.node(id);
    let (Op::Binary(Binary::Add), &[a, b]) = (&node.op, node.inputs.as_slice()) else {
        return None;
    };
    [(a, b), (b, a)].into_iter().find_map(|(residual, result)| {
        let fits = graph.ty(residual) == graph.ty(result)
            && residual.node != result.node
            && matcher.is_read(graph, result.node, 1);
        let made = graph.node(result.node);
        if let Op::Experts(experts) = &made.op {
            let sums = experts.gathered == Gathered::Sum && made.inputs.len() == 3;
            let inputs = made.inputs.iter().copied().chain([residual]).collect();
            return (fits && sums).then(|| (made.op.clone(), inputs));
        }
        let mut products = product(graph, result)?.clone();
        products.ending = Ending::Add;
        let x = *graph.node(result.node).inputs.first()?;
        fits.then(|| (Op::Products(products), vec![x, residual]))
    })
}
