//! Graphs in which some operations are joined: several become one launch.

use super::chains::{self, Chain, ChainKernel};
use super::means::{self, Mean};
use super::rope_update::{self, RopeUpdate};
use super::siblings::{self, Siblings};
use super::{Elements, Place};
use crate::Result;
use crate::ir::{Graph, Node, NodeId, Op, Value};
use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

static LAUNCHED: AtomicU64 = AtomicU64::new(0);
static OPERATIONS: AtomicU64 = AtomicU64::new(0);

/// How many launches of several operations were queued (or recorded), and how many operations these were.
pub fn joined_counts() -> (u64, u64) {
    (
        LAUNCHED.load(Ordering::Relaxed),
        OPERATIONS.load(Ordering::Relaxed),
    )
}

/// Counts a launch of so many operations.
pub(super) fn count(operations: usize) {
    LAUNCHED.fetch_add(1, Ordering::Relaxed);
    OPERATIONS.fetch_add(operations as u64, Ordering::Relaxed);
}

/// Operations that are one node.
#[derive(Clone)]
pub enum Part {
    /// A sum over a number.
    Mean(Arc<Mean>),
    /// Elementwise operations.
    Chain(Arc<Chain>),
    /// Products of one row.
    Siblings(Arc<Siblings>),
    /// Rotations of q and k, and what replaces rows of keys and values.
    RopeUpdate(Arc<RopeUpdate>),
}

/// Which nodes of a graph stand for what.
pub(super) type Parts = HashMap<NodeId, Part>;

/// A graph with parts as nodes.
pub struct Joined {
    /// The graph.
    pub graph: Graph,
    pub(super) parts: Parts,
}

impl Joined {
    /// What a node of the graph stands for.
    pub fn part(&self, id: NodeId) -> Option<&Part> {
        self.parts.get(&id)
    }
}

/// A graph with what can be joined; `None` if nothing can.
pub fn joined(graph: &Graph) -> Option<Arc<Joined>> {
    // Means before chains, which would take their divisions.
    let steps: [fn(&Graph, &Parts) -> Option<Joined>; 3] = [
        |graph, parts| rewritten(graph, parts, means::find(graph)),
        chains::chained,
        |graph, parts| {
            let mut found = siblings::find(graph, parts);
            found.extend(rope_update::find(graph));
            rewritten(graph, parts, found)
        },
    ];
    let (none, mut joined) = (Parts::new(), None);
    for step in steps {
        let made = match &joined {
            Some(Joined { graph, parts }) => step(graph, parts),
            None => step(graph, &none),
        };
        joined = made.or(joined);
    }
    joined.map(Arc::new)
}

/// A part that takes the place of nodes.
pub(super) struct Found {
    /// The node at whose place it is computed. What it reads besides leaves is there by then.
    pub place: NodeId,
    /// What it is given.
    pub inputs: Vec<Value>,
    /// The values that it makes, in order.
    pub results: Vec<Value>,
    /// All nodes that go.
    pub members: Vec<NodeId>,
    pub part: Part,
}

/// The graph with what was found in it as nodes; `None` if that is nothing.
fn rewritten(graph: &Graph, parts: &Parts, found: Vec<Found>) -> Option<Joined> {
    if found.is_empty() {
        return None;
    }
    let mut gone = vec![false; graph.nodes.len()];
    let mut at: HashMap<NodeId, Found> = HashMap::new();
    for found in found {
        for member in &found.members {
            gone[member.0] = true;
        }
        at.insert(found.place, found);
    }
    let mut made = Graph::default();
    let mut new: HashMap<Value, Value> = HashMap::new();
    let mut new_parts = Parts::new();
    let push = |made: &mut Graph, new: &mut HashMap<Value, Value>, node: Node, old: &[Value]| {
        let node = made.push(node);
        for (output, old) in old.iter().enumerate() {
            new.insert(*old, Value { node, output });
        }
        node
    };
    let values = |place: usize, node: &Node| -> Vec<Value> {
        let outputs = 0..node.outputs.len();
        let value = |output| Value {
            node: NodeId(place),
            output,
        };
        outputs.map(value).collect()
    };
    for (place, node) in graph.nodes.iter().enumerate() {
        let id = NodeId(place);
        if let Some(found) = at.remove(&id) {
            // Leaves may come later in the graph: they are there from the beginning.
            for value in &found.inputs {
                if !new.contains_key(value) {
                    let leaf = graph.node(value.node).clone();
                    debug_assert!(matches!(leaf.op, Op::Leaf(_)), "{leaf:?} comes later");
                    push(&mut made, &mut new, leaf, &[*value]);
                }
            }
            let node = Node {
                op: graph.node(found.results[0].node).op.clone(),
                inputs: found.inputs.iter().map(|value| new[value]).collect(),
                outputs: found
                    .results
                    .iter()
                    .map(|value| graph.ty(*value).clone())
                    .collect(),
            };
            let id = push(&mut made, &mut new, node, &found.results);
            new_parts.insert(id, found.part);
        }
        let mine = values(place, node);
        if gone[place] || mine.iter().any(|value| new.contains_key(value)) {
            continue;
        }
        let mut node = node.clone();
        for input in &mut node.inputs {
            *input = new[input];
        }
        let made = push(&mut made, &mut new, node, &mine);
        if let Some(part) = parts.get(&id) {
            new_parts.insert(made, part.clone());
        }
    }
    made.outputs = graph.outputs.iter().map(|value| new[value]).collect();
    Some(Joined {
        graph: made,
        parts: new_parts,
    })
}

impl Place {
    /// Queues a part; `None` if an operation has no form here. Kernels of chains that are not compiled yet are added to
    /// `waiting`.
    ///
    /// # Errors
    /// `OutOfMemory`, `DeviceLost`.
    pub(super) fn part(
        self: &Arc<Self>,
        part: &Part,
        inputs: &[&Elements],
        waiting: &mut Vec<Arc<ChainKernel>>,
    ) -> Result<Option<Vec<Elements>>> {
        match part {
            Part::Mean(mean) => self.mean(mean, inputs),
            Part::Chain(chain) => Ok(self.chain(chain, inputs, waiting)?.map(|made| vec![made])),
            Part::Siblings(siblings) => self.siblings(siblings, inputs, waiting),
            Part::RopeUpdate(update) => self.rope_update(update, inputs),
        }
    }

    /// The same, for graphs that are not recorded.
    ///
    /// # Errors
    /// As for graphs that are.
    pub fn run_part(
        self: &Arc<Self>,
        part: &Part,
        inputs: &[&Elements],
    ) -> Result<Option<Vec<Elements>>> {
        self.part(part, inputs, &mut Vec::new())
    }
}
