//! Products of the same x (q, k and v) → one step with several matrices.

use crate::graph::matching::product;
use crate::ir::{Graph, NodeId, Norm, Op, Value};
use std::collections::HashMap;

/// The most matrices of a launch on any device; those that take fewer cut a step into several.
const MOST: usize = 4;

pub fn apply(graph: &mut Graph) -> usize {
    // The first of each group, and how many are in it.
    let mut groups: HashMap<(Value, Option<Norm>), NodeId> = HashMap::new();
    let mut moved: HashMap<NodeId, Value> = HashMap::new();
    for place in 0..graph.nodes.len() {
        for input in &mut graph.nodes[place].inputs {
            if let Some(value) = moved.get(&input.node) {
                *input = *value;
            }
        }
        let id = NodeId(place);
        let value = Value {
            node: id,
            output: 0,
        };
        // What is asked for stays a node of its own.
        let Some(products) = product(graph, value).filter(|_| !graph.is_output(id)) else {
            continue;
        };
        let (factor, x) = (products.factors[0], graph.node(id).inputs[0]);
        let first = *groups.entry((x, products.norm)).or_insert(id);
        if first == id {
            continue;
        }
        let ty = graph.nodes[place].outputs[0].clone();
        let group = &mut graph.nodes[first.0];
        let output = group.outputs.len();
        if let Op::Products(products) = &mut group.op
            && output < MOST
        {
            products.factors.push(factor);
            group.outputs.push(ty);
            let value = Value {
                node: first,
                output,
            };
            moved.insert(id, value);
        } else {
            // Full: this one begins the next group.
            groups.retain(|_, node| *node != first);
            groups.insert((x, products_norm(graph, id)), id);
        }
    }
    moved.len()
}

fn products_norm(graph: &Graph, id: NodeId) -> Option<Norm> {
    match &graph.node(id).op {
        Op::Products(products) => products.norm,
        _ => None,
    }
}
