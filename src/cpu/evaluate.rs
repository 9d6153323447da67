//! Operations of a graph of arrays, one at a time.

use super::elements::{Elements, Storage};
use super::ops::{self, Out, View};
use super::threads::ThreadPool;
use super::{arrays, products, scores, workers};
use crate::ir::{Layout, Node, Op};
use crate::{Error, Result};
use std::sync::Arc;

/// The results of a node with these inputs.
///
/// # Errors
/// Those of its operation; `OutOfMemory`.
pub fn results(node: &Node, inputs: &[&Elements]) -> Result<Vec<Elements>> {
    match view(node, inputs)? {
        Some(result) => Ok(vec![result]),
        None => call(node, inputs),
    }
}

/// Runs an operation by its fast form if there is one, with the workers of a pool, else by its plain form.
///
/// # Errors
/// Those of the operation; `OutOfMemory`.
pub fn compute(
    op: &Op,
    views: &[View<'_>],
    outs: &mut [Out<'_>],
    pool: Option<&mut ThreadPool>,
) -> Result<()> {
    // All but these may want elements row after row.
    if !matches!(op, Op::Gather { .. } | Op::GatherAxis(_)) {
        views.iter().try_for_each(View::can_be_copied)?;
    }
    let fast = match op {
        Op::ScaledDotProductAttention { .. } => scores::run,
        _ => products::run,
    };
    match fast(op, views, outs, pool) {
        true => Ok(()),
        false => ops::run(op, views, outs),
    }
}

/// Runs an operation on results that may hold anything: all of it is written.
///
/// # Errors
/// Those of the operation.
pub fn fill(
    op: &Op,
    views: &[View<'_>],
    outs: &mut [Out<'_>],
    mut pool: Option<&mut ThreadPool>,
) -> Result<()> {
    if arrays::run(op, views, outs, pool.as_deref_mut()) {
        return Ok(());
    }
    for out in &mut *outs {
        // As new memory, which forms may rely on.
        out.bytes().fill(0);
    }
    compute(op, views, outs, pool)
}

/// The result as another layout of the input's elements, if it can be.
fn view(node: &Node, inputs: &[&Elements]) -> Result<Option<Elements>> {
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

fn call(node: &Node, inputs: &[&Elements]) -> Result<Vec<Elements>> {
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
        storages.push(Storage::any(count * ty.dtype.size())?);
        sizes.push(numbers);
    }
    let views: Vec<View<'_>> = inputs.iter().map(|input| View::of(input)).collect();
    let outs = storages.iter_mut().zip(&node.outputs).zip(&sizes);
    let outs = outs.map(|((storage, ty), sizes)| {
        Out::new(storage.bytes_mut().unwrap_or_default(), ty.dtype, sizes)
    });
    let mut outs = outs.collect::<Result<Vec<_>>>()?;
    workers::with_workers(|pool| fill(&node.op, &views, &mut outs, pool))?;
    drop(outs);
    let results = storages.into_iter().zip(&node.outputs).zip(&sizes);
    results
        .map(|((storage, ty), sizes)| {
            Elements::new(Arc::new(storage), ty.dtype, Layout::rows(sizes))
        })
        .collect()
}
