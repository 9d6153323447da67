//! What has to run for arrays to have their elements, as a graph.

use super::home::{Data, Home};
use super::lazy::{Array, Call, Content, Inner};
use crate::ir::{Graph, Node, NodeId, Op, Value};
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

/// The mark of a call that is met and has no node yet.
const MET: usize = usize::MAX;

/// What takes the parts of a graph in the order in which they are its nodes. `None`: it wants no more of them.
pub(super) trait Parts {
    /// An array that has its elements; the node's place.
    fn leaf(&mut self, array: &Array, data: Data) -> Option<usize>;
    /// An operation; its place.
    fn call(&mut self, call: &Call, home: &Home, inputs: &[Value]) -> Option<usize>;
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

    fn call(&mut self, call: &Call, home: &Home, inputs: &[Value]) -> Option<usize> {
        self.homes.push(home.clone());
        let node = self.graph.push(Node {
            op: call.op.clone(),
            inputs: inputs.to_vec(),
            outputs: call.outputs.to_vec(),
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
    calls: Vec<(Arc<Call>, Home)>,
    /// Marks are those of an earlier handing.
    were_handed: bool,
}

impl<'a> Calls<'a> {
    /// Those that `wanted` waits for.
    pub fn of(wanted: &'a [Array]) -> Calls<'a> {
        let calls = Vec::new();
        let round = Round::begin();
        let mut all = Calls {
            round,
            wanted,
            calls,
            were_handed: false,
        };
        wanted.iter().for_each(|array| all.meet(array));
        let mut seen = 0;
        while let Some((call, _)) = all.calls.get(seen) {
            let call = call.clone();
            for input in &call.inputs {
                all.note_read(input);
                all.meet(input);
            }
            seen += 1;
        }
        all.calls.sort_unstable_by_key(|(call, _)| call.stamp);
        all
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.calls.len()
    }

    /// The GPU where something is computed, else the CPU.
    pub fn home(&self) -> Home {
        let homes = self.calls.iter().map(|(_, home)| home);
        homes.fold(&Home::Cpu, Home::or).clone()
    }

    /// Notes the call that an array waits for.
    fn meet(&mut self, array: &Array) {
        if let Content::Pending(call, _) = &*array.0.content.lock()
            && call.node.get(&self.round).is_none()
        {
            call.node.set(&self.round, MET);
            self.calls.push((call.clone(), array.0.home.clone()));
        }
    }

    fn note_read(&self, array: &Array) {
        let times = array.0.read.get(&self.round).unwrap_or(0);
        array.0.read.set(&self.round, times + 1);
    }

    /// Hands them to `parts`, with what they start from and what is asked for: `wanted`, and arrays on the way that
    /// somebody else holds, so that nothing is computed twice. Whether all were taken.
    ///
    /// # Errors
    /// `Internal` if an array was lost.
    pub fn hand(&mut self, parts: &mut impl Parts) -> Result<bool> {
        if std::mem::replace(&mut self.were_handed, true) {
            self.round.next();
            for (call, _) in &self.calls {
                call.node.set(&self.round, MET);
                call.inputs.iter().for_each(|input| self.note_read(input));
            }
        }
        let all = self.handed(parts)?;
        Ok(all.is_some())
    }

    fn handed(&self, parts: &mut impl Parts) -> Result<Option<()>> {
        let mut inputs: SmallVec<[Value; 8]> = SmallVec::new();
        for (call, home) in &self.calls {
            inputs.clear();
            for (place, input) in call.inputs.iter().enumerate() {
                // A leaf that only one operation reads, which makes it anew with a part replaced, is given to it. That may
                // be done twice with the same result, should something fail meanwhile.
                let is_given = place == 0
                    && call.op.replaces_a_part()
                    && input.0.read.get(&self.round) == Some(1)
                    && Arc::strong_count(&input.0) == 1;
                match self.value(input, is_given, parts)? {
                    Some(value) => inputs.push(value),
                    None => return Ok(None),
                }
            }
            match parts.call(call, home, &inputs) {
                Some(node) => call.node.set(&self.round, node),
                None => return Ok(None),
            }
        }
        for array in self.wanted {
            if self.ask(array, parts)?.is_none() {
                return Ok(None);
            }
        }
        let held = self.calls.iter().flat_map(|(call, _)| &call.inputs);
        let mut shared: Vec<&Array> = held
            .filter(|array| Some(Arc::strong_count(&array.0)) > array.0.read.get(&self.round))
            .filter(|array| array.0.asked.get(&self.round).is_none() && array.is_pending())
            .collect();
        shared.sort_by_key(|array| array.0.stamp);
        for array in shared {
            if self.ask(array, parts)?.is_none() {
                return Ok(None);
            }
        }
        Ok(Some(()))
    }

    /// The place of an array that is computed, or of its elements.
    fn value(
        &self,
        array: &Array,
        is_given: bool,
        parts: &mut impl Parts,
    ) -> Result<Option<Value>> {
        let inner = &array.0;
        let at = |node, output| {
            let node = NodeId(node);
            Some(Value { node, output })
        };
        let mut data = match &*inner.content.lock() {
            Content::Pending(call, output) => {
                let node = call.node.get(&self.round).filter(|node| *node != MET);
                let lost = || Error::Internal("an array is older than its input".into());
                return Ok(at(node.ok_or_else(lost)?, *output));
            }
            Content::Ready(data) => match inner.leaf.get(&self.round) {
                Some(node) => return Ok(at(node, 0)),
                None => data.clone(),
            },
        };
        if is_given && let Data::Device(elements) = &mut data {
            // Its array has them too.
            elements.give(2);
        }
        let node = parts.leaf(array, data);
        if let Some(node) = node {
            inner.leaf.set(&self.round, node);
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
