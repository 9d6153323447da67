//! A graph of arrays, operation by operation.

use super::elements::{Elements, Storage};
use super::ops::{self, Out, View};
use super::threads::ThreadPool;
use super::{products, scores};
use crate::ir::{Graph, Layout, Op, Value};
use crate::{Error, Result};
use std::sync::Arc;

/// Computes the outputs of a graph whose leaves are `leaves`. Results that nothing needs any more are
/// let go on the way. Large products are shared by the workers of `pool`.
///
/// # Errors
/// Those of the operations; `OutOfMemory`.
pub fn evaluate(
    graph: &Graph,
    leaves: &[Elements],
    mut pool: Option<&mut ThreadPool>,
) -> Result<Vec<Elements>> {
    let mut uses = vec![0usize; graph.nodes.len()];
    let values = graph.nodes.iter().flat_map(|node| &node.inputs);
    for value in values.chain(&graph.outputs) {
        uses[value.node.0] += 1;
    }
    let mut made: Vec<Vec<Elements>> = vec![Vec::new(); graph.nodes.len()];
    let lost = || Error::Internal("an operation ran before its input".into());
    for (place, node) in graph.nodes.iter().enumerate() {
        if uses[place] == 0 {
            continue;
        }
        if let Op::Leaf(leaf) = node.op {
            let elements = leaves.get(leaf).ok_or_else(lost)?;
            made[place].push(elements.clone());
            continue;
        }
        let find = |value: &Value| made[value.node.0].get(value.output).ok_or_else(lost);
        let inputs = node.inputs.iter().map(find).collect::<Result<Vec<_>>>()?;
        let results = match view(graph, place, &inputs)? {
            Some(result) => vec![result],
            None => call(graph, place, &inputs, pool.as_deref_mut())?,
        };
        made[place] = results;
        for input in &node.inputs {
            uses[input.node.0] -= 1;
            if uses[input.node.0] == 0 {
                made[input.node.0].clear();
            }
        }
    }
    let find = |value: &Value| {
        made[value.node.0]
            .get(value.output)
            .cloned()
            .ok_or_else(lost)
    };
    graph.outputs.iter().map(find).collect()
}

/// The result as another layout of the input's elements, if it can be.
fn view(graph: &Graph, place: usize, inputs: &[&Elements]) -> Result<Option<Elements>> {
    let node = &graph.nodes[place];
    let (Some(x), Some(ty)) = (inputs.first(), node.outputs.first()) else {
        return Ok(None);
    };
    if !node.op.may_be_view() {
        return Ok(None);
    }
    match x.layout().view(&node.op, &ty.shape) {
        Some(layout) => x.with(ty.dtype, layout).map(Some),
        None => Ok(None),
    }
}

fn call(
    graph: &Graph,
    place: usize,
    inputs: &[&Elements],
    pool: Option<&mut ThreadPool>,
) -> Result<Vec<Elements>> {
    let node = &graph.nodes[place];
    let mut sizes = Vec::with_capacity(node.outputs.len());
    let mut storages = Vec::with_capacity(node.outputs.len());
    for ty in &node.outputs {
        let numbers = ty.shape.numbers();
        let (Some(numbers), Some(count)) = (numbers, ty.shape.count()) else {
            return Err(Error::Internal(format!(
                "{}: a result of shape {} has no size",
                node.op.name(),
                ty.shape
            )));
        };
        storages.push(Storage::zeros(count * ty.dtype.size())?);
        sizes.push(numbers);
    }
    let views: Vec<View<'_>> = inputs.iter().map(|input| View::of(input)).collect();
    let outs = storages.iter_mut().zip(&node.outputs).zip(&sizes);
    let outs = outs.map(|((storage, ty), sizes)| {
        Out::new(storage.bytes_mut().unwrap_or_default(), ty.dtype, sizes)
    });
    let mut outs = outs.collect::<Result<Vec<_>>>()?;
    let fast = match node.op {
        Op::ScaledDotProductAttention { .. } => scores::run,
        _ => products::run,
    };
    if !fast(&node.op, &views, &mut outs, pool) {
        ops::run(&node.op, &views, &mut outs)?;
    }
    drop(outs);
    let results = storages.into_iter().zip(&node.outputs).zip(&sizes);
    results
        .map(|((storage, ty), sizes)| {
            Elements::new(Arc::new(storage), ty.dtype, Layout::rows(sizes))
        })
        .collect()
}
