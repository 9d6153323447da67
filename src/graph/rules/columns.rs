//! q, k and v that are columns of one array → the gated delta rule reads them there.

use crate::ir::{Graph, NodeId, Op};

pub fn apply(graph: &mut Graph) -> usize {
    let mut count = 0;
    for place in 0..graph.nodes.len() {
        let node = graph.node(NodeId(place));
        let Op::GatedDelta(mut shape) = node.op else {
            continue;
        };
        let mut inputs = node.inputs.clone();
        for (input, first) in inputs.iter_mut().zip(&mut shape.columns) {
            if let Op::Split { axis: 1, at } = *graph.op(*input) {
                *first += at;
                *input = graph.node(input.node).inputs[0];
            }
        }
        if inputs != node.inputs {
            let node = &mut graph.nodes[place];
            node.op = Op::GatedDelta(shape);
            node.inputs = inputs;
            count += 1;
        }
    }
    count
}
