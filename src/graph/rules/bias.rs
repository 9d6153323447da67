//! `W·x + b` → one product with a bias.

use crate::graph::matching::{Matcher, product, through, vector};
use crate::ir::{Binary, Graph, NodeId, Op};

pub fn apply(graph: &mut Graph) -> usize {
    let matcher = Matcher::new(graph);
    let mut count = 0;
    for place in 0..graph.nodes.len() {
        let Some(fused) = fused(graph, &matcher, NodeId(place)) else {
            continue;
        };
        let (op, input) = fused;
        let node = &mut graph.nodes[place];
        node.op = op;
        node.inputs = vec![input];
        count += 1;
    }
    count
}

fn fused(graph: &Graph, matcher: &Matcher, id: NodeId) -> Option<(Op, crate::ir::Value)> {
    let node = graph.node(id);
    let (Op::Binary(Binary::Add), &[a, b]) = (&node.op, node.inputs.as_slice()) else {
        return None;
    };
    [(a, b), (b, a)].into_iter().find_map(|(result, bias)| {
        let products = product(graph, result)?;
        let spread = through(graph, bias, |op| matches!(op, Op::Broadcast))?;
        let bias = vector(graph, spread)?;
        let width = graph.ty(result).shape.dims().last()?;
        let fits = graph.ty(spread).shape.dims().last() == Some(width)
            && products.factors[0].bias.is_none()
            && matcher.is_read(graph, result.node, 1);
        let mut products = products.clone();
        products.factors[0].bias = Some(bias);
        let x = *graph.node(result.node).inputs.first()?;
        fits.then_some((Op::Products(products), x))
    })
}
