//! `exp(rate · logaddexp(a, floor))` and `sigmoid(b)` that only the gated delta rule reads → the rule computes them.

use crate::graph::matching::{Matcher, factors, through, vector};
use crate::ir::{Binary, GatedDelta, Graph, NodeId, Op, Unary, Value};

pub fn apply(graph: &mut Graph) -> usize {
    let matcher = Matcher::new(graph);
    let mut count = 0;
    for place in 0..graph.nodes.len() {
        let node = graph.node(NodeId(place));
        let (Op::GatedDelta(shape), &[q, k, v, decay, beta]) = (&node.op, &node.inputs[..]) else {
            continue;
        };
        if shape.columnwise || !shape.corrects {
            continue;
        }
        let (Some([a, rate, floor]), Some(b)) = (
            decay_of(graph, &matcher, decay),
            once(graph, &matcher, beta, |op| *op == Op::Unary(Unary::Sigmoid)),
        ) else {
            continue;
        };
        let op = Op::GatedDelta(GatedDelta {
            gates: true,
            ..*shape
        });
        let node = &mut graph.nodes[place];
        node.op = op;
        node.inputs = vec![q, k, v, a, b, rate, floor];
        count += 1;
    }
    count
}

/// a, rate and floor.
fn decay_of(graph: &Graph, matcher: &Matcher, decay: Value) -> Option<[Value; 3]> {
    let exponent = once(graph, matcher, decay, |op| *op == Op::Unary(Unary::Exp))?;
    let (sum, rate) = factors(graph, exponent.node)?
        .into_iter()
        .find_map(|(sum, rate)| Some((sum, spread(graph, rate)?)))?;
    let node = graph.node(sum.node);
    let (Op::Binary(Binary::LogAddExp), &[a, floor]) = (&node.op, &node.inputs[..]) else {
        return None;
    };
    let read = [exponent, sum].map(|value| matcher.is_read(graph, value.node, 1));
    (read == [true; 2]).then_some([a, rate, spread(graph, floor)?])
}

/// What an operation with one reader is applied to.
fn once(graph: &Graph, matcher: &Matcher, value: Value, is: fn(&Op) -> bool) -> Option<Value> {
    let input = through(graph, value, is)?;
    matcher.is_read(graph, value.node, 1).then_some(input)
}

/// The model's vector that `value` repeats for each token.
fn spread(graph: &Graph, value: Value) -> Option<Value> {
    let input = through(graph, value, |op| matches!(op, Op::Broadcast))?;
    vector(graph, input).map(|_| input)
}
