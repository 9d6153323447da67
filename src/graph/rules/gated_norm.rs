//! `norm(x) · silu(z)` with a norm of each head → one operation.

use crate::graph::matching::{Matcher, factors, silu_of, through, vector};
use crate::ir::{Dtype, GatedNorm, Graph, NodeId, Op, Value};

pub fn apply(graph: &mut Graph) -> usize {
    let matcher = Matcher::new(graph);
    let mut count = 0;
    for place in 0..graph.nodes.len() {
        let Some((shape, inputs)) = parts(graph, &matcher, NodeId(place)) else {
            continue;
        };
        let node = &mut graph.nodes[place];
        node.op = Op::GatedNorm(shape);
        node.inputs = inputs;
        count += 1;
    }
    count
}

/// x, weight and z.
fn parts(graph: &Graph, matcher: &Matcher, id: NodeId) -> Option<(GatedNorm, Vec<Value>)> {
    factors(graph, id)?.into_iter().find_map(|(normed, silu)| {
        let z = silu_of(graph, matcher, silu)?;
        let rows = through(graph, normed, |op| matches!(op, Op::Reshape))?;
        let norm = graph.node(rows.node);
        let (Op::RmsNorm(eps), &[x, weight]) = (&norm.op, norm.inputs.as_slice()) else {
            return None;
        };
        let ty = graph.ty(x);
        let fits = vector(graph, weight).is_some()
            && ty.shape.rank() == 3
            && ty.dtype == Dtype::F32
            && graph.ty(z) == graph.ty(normed)
            && graph.ty(z).shape.rank() == 2
            && ty.shape.dims()[0] == graph.ty(z).shape.dims()[0]
            && matcher.is_read(graph, silu.node, 1)
            && matcher.is_read(graph, normed.node, 1)
            && matcher.is_read(graph, rows.node, 1);
        let dim = ty.shape.dims().last()?.number()?;
        fits.then(|| (GatedNorm { dim, eps: *eps }, vec![x, weight, z]))
    })
}
