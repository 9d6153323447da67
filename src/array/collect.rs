//! What has to run for arrays to have their elements, as a graph.

use super::home::{Data, Home};
use super::lazy::{Array, Call, Content, Inner};
use crate::ir::{Graph, Node, NodeId, Op, Value};
use crate::{Error, Result};
use parking_lot::{Mutex, MutexGuard};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// A graph of arrays: what has to run, what it starts from, and which arrays get its results.
#[derive(Default)]
pub(super) struct Collected {
    pub graph: Graph,
    /// The graph's leaves.
    pub leaves: Vec<Data>,
    /// Where each node of the graph is computed.
    pub homes: Vec<Home>,
    /// The array of each output of the graph.
    pub arrays: Vec<Array>,
    arrays_of_leaves: Vec<*const Inner>,
}

/// A number that an array or a call has while one graph is collected. A map would say the same, more slowly.
#[derive(Default)]
pub(super) struct Mark {
    round: AtomicU64,
    number: AtomicUsize,
}

/// The collecting of one graph. There is one at a time, so that marks need no order of their own.
struct Round(MutexGuard<'static, u64>);

impl Round {
    fn begin() -> Round {
        static ROUNDS: Mutex<u64> = Mutex::new(0);
        let mut round = ROUNDS.lock();
        *round += 1;
        Round(round)
    }
}

impl Mark {
    fn get(&self, round: &Round) -> Option<usize> {
        let is_of_round = self.round.load(Ordering::Relaxed) == *round.0;
        is_of_round.then(|| self.number.load(Ordering::Relaxed))
    }

    fn set(&self, round: &Round, number: usize) {
        self.round.store(*round.0, Ordering::Relaxed);
        self.number.store(number, Ordering::Relaxed);
    }
}

/// The mark of a call that is met and has no node yet.
const MET: usize = usize::MAX;

impl Collected {
    /// The leaf that an array with elements is.
    pub fn leaf(&self, array: &Array) -> Option<usize> {
        let inner = Arc::as_ptr(&array.0);
        self.arrays_of_leaves.iter().position(|leaf| *leaf == inner)
    }

    /// The place in the graph of an array that is computed there, or of its elements.
    fn value(&mut self, array: &Array, round: &Round) -> Result<Value> {
        let inner = &array.0;
        let data = match &*inner.content.lock() {
            Content::Pending(call, output) => {
                let node = call.node.get(round).filter(|node| *node != MET);
                let lost = || Error::Internal("an array is older than its input".into());
                return Ok(Value {
                    node: NodeId(node.ok_or_else(lost)?),
                    output: *output,
                });
            }
            Content::Ready(data) => match inner.leaf.get(round) {
                Some(node) => {
                    return Ok(Value {
                        node: NodeId(node),
                        output: 0,
                    });
                }
                None => data.clone(),
            },
        };
        self.arrays_of_leaves.push(Arc::as_ptr(inner));
        self.leaves.push(data);
        let node = self.graph.push(Node {
            op: Op::Leaf(self.leaves.len() - 1),
            inputs: Vec::new(),
            outputs: vec![inner.ty.clone()],
        });
        inner.leaf.set(round, node.0);
        // Leaves stay where they are.
        self.homes.push(Home::Cpu);
        Ok(Value { node, output: 0 })
    }

    /// Makes an array an output, unless it is one.
    fn ask(&mut self, array: &Array, round: &Round) -> Result<()> {
        if array.0.asked.get(round).is_none() {
            let output = self.value(array, round)?;
            self.graph.outputs.push(output);
            self.arrays.push(array.clone());
            array.0.asked.set(round, 0);
        }
        Ok(())
    }
}

/// Notes the call that an array waits for.
fn meet(array: &Array, round: &Round, calls: &mut Vec<(Arc<Call>, Home)>) {
    if let Content::Pending(call, _) = &*array.0.content.lock()
        && call.node.get(round).is_none()
    {
        call.node.set(round, MET);
        calls.push((call.clone(), array.0.home.clone()));
    }
}

/// The graph that makes `wanted`. Arrays on the way that somebody else holds become outputs too, so
/// that nothing is computed twice.
///
/// # Errors
/// `Internal` if an array was lost.
pub(super) fn collect(wanted: &[Array]) -> Result<Collected> {
    // What holds arrays is declared before the round: to drop one may call the application, which may evaluate.
    let mut calls: Vec<(Arc<Call>, Home)> = Vec::new();
    let mut collected = Collected::default();
    let round = Round::begin();
    wanted.iter().for_each(|x| meet(x, &round, &mut calls));
    let mut seen = 0;
    while let Some((call, _)) = calls.get(seen) {
        let call = call.clone();
        for input in &call.inputs {
            let times = input.0.read.get(&round).unwrap_or(0);
            input.0.read.set(&round, times + 1);
            meet(input, &round, &mut calls);
        }
        seen += 1;
    }
    calls.sort_unstable_by_key(|(call, _)| call.stamp);
    for (call, home) in &calls {
        let inputs = call.inputs.iter();
        let inputs: Result<Vec<Value>> = inputs.map(|x| collected.value(x, &round)).collect();
        let node = Node {
            op: call.op.clone(),
            inputs: inputs?,
            outputs: call.outputs.clone(),
        };
        let id = collected.graph.push(node);
        call.node.set(&round, id.0);
        collected.homes.push(home.clone());
    }
    // Leaves that only one operation reads, which makes them anew with a part replaced, are given to it. That may be done
    // twice with the same result, should something fail meanwhile.
    for (call, _) in calls.iter().filter(|(call, _)| call.op.replaces_a_part()) {
        if let Some(array) = call.inputs.first()
            && array.0.read.get(&round) == Some(1)
            && Arc::strong_count(&array.0) == 1
            && let Some(leaf) = array.0.leaf.get(&round)
            && let Op::Leaf(leaf) = collected.graph.node(NodeId(leaf)).op
            && let Data::Device(elements) = &mut collected.leaves[leaf]
        {
            // Its array has them too.
            elements.give(2);
        }
    }
    for array in wanted {
        collected.ask(array, &round)?;
    }
    let held = calls.iter().flat_map(|(call, _)| &call.inputs);
    let mut shared: Vec<&Array> = held
        .filter(|array| Some(Arc::strong_count(&array.0)) > array.0.read.get(&round))
        .filter(|array| array.0.asked.get(&round).is_none() && array.is_pending())
        .collect();
    shared.sort_by_key(|array| array.0.stamp);
    for array in shared {
        collected.ask(array, &round)?;
    }
    Ok(collected)
}

/// The graph of a model's forward pass, which `logits` are the result of.
///
/// # Errors
/// `Internal` if an array has elements: a model's constants are vectors and matrices.
pub fn trace(logits: &Array) -> Result<Graph> {
    let Collected {
        mut graph, leaves, ..
    } = collect(std::slice::from_ref(logits))?;
    if !leaves.is_empty() {
        return Err(Error::Internal(
            "a model's trace holds arrays with elements".into(),
        ));
    }
    // What the caller still holds is not asked for.
    graph.outputs.truncate(1);
    Ok(graph)
}
