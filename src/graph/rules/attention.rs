//! Head norms and rotations of queries and keys → into the attention.

use crate::graph::matching::{through, vector};
use crate::ir::{Graph, Input, NodeId, Norm, Op, Symbol, Turn, Value};

pub fn apply(graph: &mut Graph) -> usize {
    let mut count = 0;
    for place in 0..graph.nodes.len() {
        let node = graph.node(NodeId(place));
        let (Op::Attend(attend), &[q, k, ..]) = (&node.op, node.inputs.as_slice()) else {
            continue;
        };
        let (Some(queries), Some(keys)) = (turned(graph, q), turned(graph, k)) else {
            continue;
        };
        if queries.turn != keys.turn || attend.turn.is_some() {
            continue;
        }
        let mut attend = attend.clone();
        attend.turn = Some(queries.turn);
        attend.q_norm = queries.norm;
        attend.k_norm = keys.norm;
        let node = &mut graph.nodes[place];
        node.op = Op::Attend(attend);
        node.inputs[..2].copy_from_slice(&[queries.x, keys.x]);
        count += 1;
    }
    count
}

/// What queries or keys were before they were normed and turned.
struct Turned {
    x: Value,
    norm: Option<Norm>,
    turn: Turn,
}

fn turned(graph: &Graph, value: Value) -> Option<Turned> {
    let reshape: fn(&Op) -> bool = |op| matches!(op, Op::Reshape);
    let rotary = through(graph, value, reshape)?;
    let node = graph.node(rotary.node);
    let (Op::Rotary(kind), &[heads, positions, frequencies]) = (&node.op, node.inputs.as_slice())
    else {
        return None;
    };
    is_own_positions(graph, value, positions).then_some(())?;
    let turn = Turn {
        frequencies: vector(graph, frequencies)?,
        rotary: *kind,
    };
    let node = graph.node(heads.node);
    let (norm, heads) = match (&node.op, node.inputs.as_slice()) {
        (Op::RmsNorm(eps), &[heads, weight]) => {
            let norm = Norm {
                weight: vector(graph, weight)?,
                eps: eps.get() as f32,
            };
            (Some(norm), heads)
        }
        _ => (None, heads),
    };
    let x = through(graph, heads, reshape)?;
    (graph.ty(x) == graph.ty(value)).then_some(Turned { x, norm, turn })
}

/// Whether `positions` are those of the rows of `value`: all tokens', or the wanted ones'.
fn is_own_positions(graph: &Graph, value: Value, positions: Value) -> bool {
    let rows = graph.ty(value).shape.dims().first().copied();
    let is = |value: Value, input: Input| *graph.op(value) == Op::Input(input);
    if rows == Some(Symbol::Tokens.into()) {
        return is(positions, Input::Positions);
    }
    let Some(gathered) = squeezed(graph, positions) else {
        return false;
    };
    let node = graph.node(gathered.node);
    match (&node.op, node.inputs.as_slice()) {
        (Op::Gather { .. }, &[x, index]) => is(x, Input::Positions) && is(index, Input::Wanted),
        _ => false,
    }
}

fn squeezed(graph: &Graph, value: Value) -> Option<Value> {
    through(graph, value, |op| matches!(op, Op::Squeeze))
}
