//! What has to run for arrays to have their elements, as a graph.

use super::home::{Data, Home};
use super::lazy::{Array, Content, Inner};
use crate::ir::{Graph, Node, NodeId, Op, Type, Value};
use crate::{Error, Result};
use parking_lot::{Mutex, MutexGuard};
use smallvec::SmallVec;
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

/// A number that an array has while one graph is collected. A map would say the same, more slowly.
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
        let mut round = Round(ROUNDS.lock());
        round.next();
        round
    }

    /// Marks so far are no marks any more.
    fn next(&mut self) {
        *self.0 += 1;
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

impl Inner {
    fn note_read(&self, round: &Round) {
        let times = self.read.get(round).unwrap_or(0);
        self.read.set(round, times + 1);
    }
}

/// The mark of an array that is met and has no node yet.
const MET: usize = usize::MAX;

/// What takes the parts of a graph in the order in which they are its nodes. `None`: it wants no more of them.
pub(super) trait Parts {
    /// An array that has its elements; the node's place.
    fn leaf(&mut self, array: &Array, data: Data) -> Option<usize>;
    /// An operation with what it reads and the types of its results; its place.
    fn call(&mut self, op: &Op, home: &Home, inputs: &[Value], outputs: &[Type]) -> Option<usize>;
    /// An array that is asked for.
    fn output(&mut self, array: &Array, value: Value) -> Option<()>;
}

impl Collected {
    /// The leaf that an array with elements is.
    pub fn leaf_of(&self, array: &Array) -> Option<usize> {
        let inner = Arc::as_ptr(&array.0);
        self.arrays_of_leaves.iter().position(|leaf| *leaf == inner)
    }
}

impl Parts for Collected {
    fn leaf(&mut self, array: &Array, data: Data) -> Option<usize> {
        self.arrays_of_leaves.push(Arc::as_ptr(&array.0));
        self.leaves.push(data);
        // Leaves stay where they are.
        self.homes.push(Home::Cpu);
        let node = self.graph.push(Node {
            op: Op::Leaf(self.leaves.len() - 1),
            inputs: Vec::new(),
            outputs: vec![array.0.ty.clone()],
        });
        Some(node.0)
    }

    fn call(&mut self, op: &Op, home: &Home, inputs: &[Value], outputs: &[Type]) -> Option<usize> {
        self.homes.push(home.clone());
        let node = self.graph.push(Node {
            op: op.clone(),
            inputs: inputs.to_vec(),
            outputs: outputs.to_vec(),
        });
        Some(node.0)
    }

    fn output(&mut self, array: &Array, value: Value) -> Option<()> {
        self.graph.outputs.push(value);
        self.arrays.push(array.clone());
        Some(())
    }
}

/// The calls that have to run for arrays to have their elements, in an order in which they can. Marks are theirs until it
/// is dropped.
pub(super) struct Calls<'a> {
    /// Dropped first: to drop an array may call the application, which may evaluate.
    round: Round,
    wanted: &'a [Array],
    /// The arrays that are calls.
    calls: Vec<Array>,
    /// All others on the way.
    others: Vec<Array>,
    /// Marks are those of an earlier handing.
    were_handed: bool,
}

impl<'a> Calls<'a> {
    /// Those that `wanted` waits for.
    pub fn of(wanted: &'a [Array]) -> Calls<'a> {
        let round = Round::begin();
        let (mut calls, mut others) = (Vec::new(), Vec::new());
        let mut left = Vec::new();
        let meet = |left: &mut Vec<Array>, array: &Array| {
            if array.0.node.get(&round).is_none() {
                array.0.node.set(&round, MET);
                left.push(array.clone());
            }
        };
        wanted.iter().for_each(|array| meet(&mut left, array));
        // The last one first: so they come nearly in order, from the youngest to the oldest.
        while let Some(array) = left.pop() {
            let content = array.0.content.lock();
            let met = match &*content {
                Content::Call(call) => {
                    for input in &call.inputs {
                        input.0.note_read(&round);
                        meet(&mut left, input);
                    }
                    &mut calls
                }
                Content::Part(whole, _) => {
                    meet(&mut left, whole);
                    &mut others
                }
                Content::Ready(_) => &mut others,
            };
            drop(content);
            met.push(array);
        }
        calls.sort_by_key(|array: &Array| array.0.stamp);
        Calls {
            round,
            wanted,
            calls,
            others,
            were_handed: false,
        }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// The GPU where something is computed, else the CPU.
    pub fn home(&self) -> Home {
        let homes = self.calls.iter().map(Array::home);
        homes.fold(&Home::Cpu, Home::or).clone()
    }

    /// Hands them to `parts`, with what they start from and what is asked for: `wanted`, and arrays on the way that
    /// somebody else holds, so that nothing is computed twice. Whether all were taken.
    ///
    /// # Errors
    /// `Internal` if an array was lost.
    pub fn hand(&mut self, parts: &mut impl Parts) -> Result<bool> {
        if std::mem::replace(&mut self.were_handed, true) {
            self.round.next();
            for array in &self.calls {
                array.0.node.set(&self.round, MET);
                if let Content::Call(call) = &*array.0.content.lock() {
                    let inputs = call.inputs.iter();
                    inputs.for_each(|input| input.0.note_read(&self.round));
                }
            }
        }
        let all = self.handed(parts)?;
        Ok(all.is_some())
    }

    fn handed(&self, parts: &mut impl Parts) -> Result<Option<()>> {
        let mut inputs: SmallVec<[Value; 8]> = SmallVec::new();
        for array in &self.calls {
            let content = array.0.content.lock();
            // Else another thread computed it meanwhile.
            let Content::Call(call) = &*content else {
                continue;
            };
            inputs.clear();
            for (place, input) in call.inputs.iter().enumerate() {
                // A leaf that only one operation reads, which makes it anew with a part replaced, is given to it. That may
                // be done twice with the same result, should something fail meanwhile.
                let is_given = place == 0
                    && call.op.replaces_a_part()
                    && input.0.read.get(&self.round) == Some(1)
                    && !self.is_held(input);
                match self.value(input, is_given, parts)? {
                    Some(value) => inputs.push(value),
                    None => return Ok(None),
                }
            }
            let outputs = match call.several.as_slice() {
                [] => std::slice::from_ref(&array.0.ty),
                several => several,
            };
            match parts.call(&call.op, array.home(), &inputs, outputs) {
                Some(node) => array.0.node.set(&self.round, node),
                None => return Ok(None),
            }
        }
        for array in self.wanted {
            if self.ask(array, parts)?.is_none() {
                return Ok(None);
            }
        }
        let met = self.calls.iter().chain(&self.others);
        let mut shared: Vec<&Array> = met
            .filter(|array| self.is_held(array) && array.0.asked.get(&self.round).is_none())
            .filter(|array| array.is_a_result())
            .collect();
        shared.sort_by_key(|array| array.0.stamp);
        for array in shared {
            if self.ask(array, parts)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// Whether somebody holds a met array besides the calls that read it and this.
    fn is_held(&self, array: &Array) -> bool {
        let read = array.0.read.get(&self.round).unwrap_or(0);
        Arc::strong_count(&array.0) > read + 1
    }

    /// The place of an array that is computed, or of its elements.
    fn value(
        &self,
        array: &Array,
        is_given: bool,
        parts: &mut impl Parts,
    ) -> Result<Option<Value>> {
        let inner = &array.0;
        let node_of = |array: &Array| array.0.node.get(&self.round).filter(|node| *node != MET);
        let at = |node, output| {
            let node = NodeId(node);
            Some(Value { node, output })
        };
        if let Some(node) = node_of(array) {
            return Ok(at(node, 0));
        }
        let lost = || Error::Internal("an array is older than its input".into());
        let mut data = match &*inner.content.lock() {
            Content::Call(_) => return Err(lost()),
            Content::Part(whole, output) => {
                return Ok(at(node_of(whole).ok_or_else(lost)?, *output));
            }
            Content::Ready(data) => data.clone(),
        };
        if is_given && let Data::Device(elements) = &mut data {
            // Its array has them too.
            elements.give(2);
        }
        let node = parts.leaf(array, data);
        if let Some(node) = node {
            inner.node.set(&self.round, node);
        }
        Ok(node.and_then(|node| at(node, 0)))
    }

    /// Makes an array an output, unless it is one.
    fn ask(&self, array: &Array, parts: &mut impl Parts) -> Result<Option<()>> {
        if array.0.asked.get(&self.round).is_some() {
            return Ok(Some(()));
        }
        array.0.asked.set(&self.round, 0);
        let value = self.value(array, false, parts)?;
        Ok(value.and_then(|value| parts.output(array, value)))
    }
}

/// The graph that makes `wanted`.
///
/// # Errors
/// As [`Calls::hand`].
pub(super) fn collect(wanted: &[Array]) -> Result<Collected> {
    let mut collected = Collected::default();
    let mut calls = Calls::of(wanted);
    calls.hand(&mut collected)?;
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
