//! A norm that only products read (experts' among them) → into the products.

use crate::graph::matching::{Matcher, vector};
use crate::ir::{Gathered, Graph, NodeId, Norm, Op};

pub fn apply(graph: &mut Graph) -> usize {
    let matcher = Matcher::new(graph);
    let mut count = 0;
    for place in 0..graph.nodes.len() {
        let id = NodeId(place);
        let node = graph.node(id);
        let (Op::RmsNorm(eps), &[x, weight]) = (&node.op, node.inputs.as_slice()) else {
            continue;
        };
        let Some(weight) = vector(graph, weight) else {
            continue;
        };
        let readers = matcher.readers(id);
        let takes = |reader: &NodeId| match &graph.node(*reader).op {
            Op::Products(products) => products.norm.is_none(),
            Op::Experts(experts) => {
                experts.norm.is_none() && matches!(experts.gathered, Gathered::SwiGlu { .. })
            }
            _ => false,
        };
        let reads_it_once = |reader: &NodeId| {
            let reader = graph.node(*reader);
            reader.inputs.iter().filter(|i| i.node == id).count() == 1
                && reader.inputs.first().is_some_and(|i| i.node == id)
        };
        let fits = !graph.is_output(id) && !readers.is_empty();
        if !fits || !readers.iter().all(|r| takes(r) && reads_it_once(r)) {
            continue;
        }
        let norm = Norm {
            weight,
            eps: eps.get() as f32,
        };
        for reader in readers {
            let reader = &mut graph.nodes[reader.0];
            match &mut reader.op {
                Op::Products(products) => products.norm = Some(norm),
                Op::Experts(experts) => experts.norm = Some(norm),
                _ => continue,
            }
            reader.inputs[0] = x;
        }
        count += 1;
    }
    count
}
