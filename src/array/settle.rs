//! Graphs of a GPU in which the CPU has some work first: that is done, and its results become leaves.

use super::eval::on_host;
use super::home::{Data, Home};
use super::lazy::Collected;
use crate::Result;
use crate::ir::{Graph, Node, NodeId, Op, Value};

/// The same results, without the CPU's operations that wait for nothing of a GPU: they are computed now. Nothing is done
/// where all of them are views, which plans take as they are, or where no GPU computes anything.
///
/// # Errors
/// Those of the operations.
pub(super) fn settle(collected: &mut Collected) -> Result<()> {
    let graph = &collected.graph;
    let is_leaf = |node: &Node| matches!(node.op, Op::Leaf(_));
    let nodes = || graph.nodes.iter().zip(&collected.homes);
    let on_gpus = nodes().any(|(node, home)| *home != Home::Cpu && !is_leaf(node));
    let works = |(node, home): (&Node, &Home)| {
        *home == Home::Cpu && !is_leaf(node) && !node.op.may_be_view()
    };
    if !on_gpus || !nodes().any(works) {
        return Ok(());
    }
    // What each node of the CPU makes, as far as it is known.
    let mut made: Vec<Option<Vec<Data>>> = Vec::with_capacity(graph.nodes.len());
    for (node, home) in nodes() {
        let results = match &node.op {
            Op::Leaf(leaf) => match &collected.leaves[*leaf] {
                Data::Host(elements) => Some(vec![Data::Host(elements.clone())]),
                Data::Device(_) => None,
            },
            _ if *home != Home::Cpu => None,
            _ => {
                let input = |value: &Value| made[value.node.0].as_ref()?.get(value.output);
                let inputs: Option<Vec<&Data>> = node.inputs.iter().map(input).collect();
                inputs.map(|inputs| on_host(node, &inputs)).transpose()?
            }
        };
        made.push(results);
    }
    let mut settled = Settled {
        old: graph,
        made: &made,
        graph: Graph::default(),
        leaves: Vec::new(),
        homes: Vec::new(),
        new: vec![Vec::new(); graph.nodes.len()],
    };
    for (place, (node, home)) in nodes().enumerate() {
        if made[place].is_some() {
            continue;
        }
        let mut node = node.clone();
        for input in &mut node.inputs {
            *input = settled.value(*input);
        }
        if let Op::Leaf(leaf) = &mut node.op {
            settled.leaves.push(collected.leaves[*leaf].clone());
            *leaf = settled.leaves.len() - 1;
        }
        let outputs = node.outputs.len();
        let id = settled.push(node, home.clone());
        let value = |output| Some(Value { node: id, output });
        settled.new[place] = (0..outputs).map(value).collect();
    }
    let outputs = graph.outputs.iter();
    settled.graph.outputs = outputs.map(|output| settled.value(*output)).collect();
    let Settled {
        graph,
        leaves,
        homes,
        ..
    } = settled;
    (collected.graph, collected.leaves, collected.homes) = (graph, leaves, homes);
    Ok(())
}

struct Settled<'a> {
    old: &'a Graph,
    made: &'a [Option<Vec<Data>>],
    graph: Graph,
    leaves: Vec<Data>,
    homes: Vec<Home>,
    /// Where the results of the old graph's nodes are in the new one.
    new: Vec<Vec<Option<Value>>>,
}

impl Settled<'_> {
    fn push(&mut self, node: Node, home: Home) -> NodeId {
        self.homes.push(home);
        self.graph.push(node)
    }

    /// A value of the old graph in the new one; what the CPU made becomes a leaf when it is first asked for.
    fn value(&mut self, value: Value) -> Value {
        let known = self.new[value.node.0].get(value.output).copied().flatten();
        if let Some(known) = known {
            return known;
        }
        let made = self.made[value.node.0].as_ref();
        let Some(data) = made.and_then(|made| made.get(value.output)) else {
            return value;
        };
        let ty = self.old.ty(value).clone();
        self.leaves.push(data.clone());
        let leaf = Node {
            op: Op::Leaf(self.leaves.len() - 1),
            inputs: Vec::new(),
            outputs: vec![ty],
        };
        let node = self.push(leaf, Home::Cpu);
        let new = Value { node, output: 0 };
        let of_node = &mut self.new[value.node.0];
        if of_node.len() <= value.output {
            of_node.resize(value.output + 1, None);
        }
        of_node[value.output] = Some(new);
        new
    }
}
