//! Graphs that come again: each result has its place in memory that stays, so that a run allocates what it gives
//! away and nothing else.

use super::arrays::{Chain, run_chain};
use super::chains;
use super::elements::{Elements, Storage};
use super::evaluate::fill;
use super::ops::{Out, View};
use super::threads::ThreadPool;
use super::workers;
use crate::ir::{Dtype, Graph, Layout, Op};
use crate::{Error, Result};
use smallvec::SmallVec;
use std::sync::Arc;

/// Where a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    Leaf(usize),
    Slot(usize),
}

/// A value: where its bytes are and how it lies in them.
#[derive(Debug, Clone, PartialEq)]
pub struct Placed {
    pub from: From,
    pub dtype: Dtype,
    pub layout: Layout,
}

/// What a step runs.
pub enum Work {
    Op(Op),
    /// Functions of elements, the last one of them an operation.
    Chain(Chain, Op),
}

/// A call of an operation, or of several at once.
pub struct Step {
    pub work: Work,
    pub inputs: SmallVec<[Placed; 3]>,
    pub outputs: SmallVec<[Made; 1]>,
}

/// A result: its slot, dtype and sizes.
pub type Made = (usize, Dtype, SmallVec<[usize; 4]>);

/// A graph with places for its results. One thread at a time.
pub struct Replay {
    steps: Vec<Step>,
    outputs: Vec<Placed>,
    /// Bytes of each slot.
    sizes: Vec<usize>,
    /// Slots whose bytes the results keep: new for every run.
    given: Vec<bool>,
    slots: Vec<Storage>,
}

impl Replay {
    /// Places for the results of a graph whose leaves lie so; `None` if a size is not known.
    pub fn new(graph: &Graph, leaves: &[&Layout]) -> Option<Replay> {
        let mut needed = vec![false; graph.nodes.len()];
        for output in &graph.outputs {
            needed[output.node.0] = true;
        }
        for place in (0..graph.nodes.len()).rev() {
            if needed[place] {
                for input in &graph.nodes[place].inputs {
                    needed[input.node.0] = true;
                }
            }
        }
        let mut values: Vec<Vec<Placed>> = Vec::with_capacity(graph.nodes.len());
        let mut steps: Vec<Step> = Vec::new();
        // Bytes of each result, before they share slots.
        let mut sizes: Vec<usize> = Vec::new();
        for (place, node) in graph.nodes.iter().enumerate() {
            let find =
                |value: &crate::ir::Value| values.get(value.node.0)?.get(value.output).cloned();
            if !needed[place] {
                values.push(Vec::new());
                continue;
            }
            if let Op::Leaf(leaf) = node.op {
                values.push(vec![Placed {
                    from: From::Leaf(leaf),
                    dtype: node.outputs.first()?.dtype,
                    layout: (*leaves.get(leaf)?).clone(),
                }]);
                continue;
            }
            let inputs: SmallVec<[Placed; 3]> =
                node.inputs.iter().map(find).collect::<Option<_>>()?;
            if node.op.may_be_view()
                && let (Some(x), Some(ty)) = (inputs.first(), node.outputs.first())
                && let Some(layout) = x.layout.view(&node.op, &ty.shape)
            {
                // A view that reaches beyond its input is an error, which running it finds.
                let dtype = ty.dtype;
                let from = x.from;
                values.push(vec![Placed {
                    from,
                    dtype,
                    layout,
                }]);
                continue;
            }
            let mut outputs = SmallVec::new();
            let mut results = Vec::with_capacity(node.outputs.len());
            for ty in &node.outputs {
                let (numbers, count) = (ty.shape.numbers()?, ty.shape.count()?);
                let slot = sizes.len();
                sizes.push(count * ty.dtype.size());
                results.push(Placed {
                    from: From::Slot(slot),
                    dtype: ty.dtype,
                    layout: Layout::rows(&numbers),
                });
                outputs.push((slot, ty.dtype, numbers));
            }
            steps.push(Step {
                work: Work::Op(node.op.clone()),
                inputs,
                outputs,
            });
            values.push(results);
        }
        let outputs = graph
            .outputs
            .iter()
            .map(|value| values.get(value.node.0)?.get(value.output).cloned());
        let outputs: Vec<Placed> = outputs.collect::<Option<_>>()?;
        let steps = chains::join(steps, &outputs);
        // The last step that reads a result, or makes it.
        let mut last: Vec<Option<usize>> = vec![None; sizes.len()];
        for (place, step) in steps.iter().enumerate() {
            let read = step.inputs.iter().filter_map(|input| match input.from {
                From::Slot(slot) => Some(slot),
                From::Leaf(_) => None,
            });
            for slot in read.chain(step.outputs.iter().map(|output| output.0)) {
                last[slot] = Some(place);
            }
        }
        let mut replay = Replay {
            steps,
            outputs,
            sizes: Vec::new(),
            given: Vec::new(),
            slots: Vec::new(),
        };
        replay.share(&sizes, &last);
        Some(replay)
    }

    /// Results that are read no more leave their slots to later ones of the same size.
    fn share(&mut self, sizes: &[usize], last: &[Option<usize>]) {
        let given = |result: usize| {
            let from = From::Slot(result);
            self.outputs.iter().any(|output| output.from == from)
        };
        let given: Vec<bool> = (0..sizes.len()).map(given).collect();
        let mut slot_of = vec![usize::MAX; sizes.len()];
        // Free slots, and results by the step after which they are free.
        let mut free: Vec<usize> = Vec::new();
        let mut ends: Vec<Vec<usize>> = vec![Vec::new(); self.steps.len()];
        for (result, step) in last.iter().enumerate() {
            if let Some(step) = step.filter(|_| !given[result]) {
                ends[step].push(result);
            }
        }
        for (place, step) in self.steps.iter_mut().enumerate() {
            for (slot, ..) in &mut step.outputs {
                let result = *slot;
                let fits = |&free: &usize| self.sizes[free] == sizes[result];
                let found = match given[result] {
                    true => None,
                    false => free.iter().position(fits).map(|at| free.swap_remove(at)),
                };
                slot_of[result] = found.unwrap_or_else(|| {
                    self.sizes.push(sizes[result]);
                    self.given.push(given[result]);
                    self.sizes.len() - 1
                });
                *slot = slot_of[result];
            }
            free.extend(ends[place].iter().map(|&result| slot_of[result]));
        }
        let inputs = self.steps.iter_mut().flat_map(|step| &mut step.inputs);
        for placed in inputs.chain(&mut self.outputs) {
            if let From::Slot(result) = placed.from {
                placed.from = From::Slot(slot_of[result]);
            }
        }
    }

    /// Bytes that stay between runs.
    pub fn bytes(&self) -> usize {
        let kept = self.sizes.iter().zip(&self.given);
        kept.filter(|(_, given)| !**given)
            .map(|(size, _)| size)
            .sum()
    }

    /// The results, of leaves that lie as those it was made for.
    ///
    /// # Errors
    /// Those of the operations; `OutOfMemory`.
    pub fn run(&mut self, leaves: &[&Elements]) -> Result<Vec<Elements>> {
        for (slot, &size) in self.sizes.iter().enumerate() {
            match self.slots.get_mut(slot) {
                None => self.slots.push(Storage::any(size)?),
                Some(storage) if self.given[slot] => *storage = Storage::any(size)?,
                Some(_) => {}
            }
        }
        workers::with_workers(|mut pool| {
            let mut steps = self.steps.iter();
            steps.try_for_each(|step| run(step, &mut self.slots, leaves, pool.as_deref_mut()))
        })?;
        let mut shared: Vec<Option<Arc<Storage>>> = vec![None; self.slots.len()];
        let mut results = Vec::with_capacity(self.outputs.len());
        for output in &self.outputs {
            let storage = match output.from {
                From::Leaf(leaf) => lost(leaves.get(leaf))?.storage().clone(),
                From::Slot(slot) => {
                    let empty = Storage::Owned(Vec::new(), 0);
                    let kept = &mut shared[slot];
                    kept.get_or_insert_with(|| {
                        Arc::new(std::mem::replace(&mut self.slots[slot], empty))
                    })
                    .clone()
                }
            };
            results.push(Elements::new(storage, output.dtype, output.layout.clone())?);
        }
        Ok(results)
    }
}

fn lost<T>(found: Option<T>) -> Result<T> {
    found.ok_or_else(|| Error::Internal("a planned graph without one of its arrays".into()))
}

impl Step {
    fn op(&self) -> &Op {
        match &self.work {
            Work::Op(op) | Work::Chain(_, op) => op,
        }
    }
}

/// Runs a chain, on copies of the inputs where some are not aligned.
fn chained(
    chain: &Chain,
    views: &[View<'_>],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) {
    if run_chain(chain, views, out, pool.as_deref_mut()) {
        return;
    }
    let copies: Vec<Vec<u64>> = views.iter().map(View::aligned).collect();
    let copied = views.iter().zip(&copies).map(|(view, copy)| {
        let layout = Layout::rows(view.sizes());
        View::whole(bytemuck::cast_slice(copy), view.dtype(), layout)
    });
    run_chain(chain, &copied.collect::<Vec<_>>(), out, pool);
}

/// Runs one step: its results are taken out of their slots while it writes them.
fn run(
    step: &Step,
    slots: &mut [Storage],
    leaves: &[&Elements],
    pool: Option<&mut ThreadPool>,
) -> Result<()> {
    let mut results: SmallVec<[Storage; 1]> = SmallVec::new();
    for (slot, ..) in &step.outputs {
        let empty = Storage::Owned(Vec::new(), 0);
        results.push(std::mem::replace(&mut slots[*slot], empty));
    }
    let ran = (|| {
        let mut views: SmallVec<[View<'_>; 3]> = SmallVec::new();
        for input in &step.inputs {
            let bytes = match input.from {
                From::Leaf(leaf) => lost(leaves.get(leaf))?.bytes(),
                From::Slot(slot) => slots[slot].bytes(),
            };
            let reach = input.layout.reach();
            if reach.is_none_or(|reach| reach.to * input.dtype.size() > bytes.len()) {
                return Err(Error::InvalidArgument(format!(
                    "{}: an array of shape {:?} and strides {:?} from element {} does not lie within its data",
                    step.op().name(),
                    input.layout.sizes,
                    input.layout.strides,
                    input.layout.offset
                )));
            }
            views.push(View::whole(bytes, input.dtype, input.layout.clone()));
        }
        let mut outs: SmallVec<[Out<'_>; 1]> = SmallVec::new();
        for (storage, (_, dtype, sizes)) in results.iter_mut().zip(&step.outputs) {
            let bytes = storage.bytes_mut().unwrap_or_default();
            outs.push(Out::new(bytes, *dtype, sizes)?);
        }
        match (&step.work, &mut outs[..]) {
            (Work::Op(op), outs) => fill(op, &views, outs, pool),
            (Work::Chain(chain, _), [out]) => {
                chained(chain, &views, out, pool);
                Ok(())
            }
            (Work::Chain(..), _) => lost(None),
        }
    })();
    for (storage, (slot, ..)) in results.into_iter().zip(&step.outputs) {
        slots[*slot] = storage;
    }
    ran
}
