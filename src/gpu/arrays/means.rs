//! Sums of floats over a number of elements, as means are, by the launch that ends the sum (`hip/ops/arrays/means.h`), with the bits of
//! the operations one by one.

use super::joined::{Found, Part};
use super::numbers::{is_float, reduction_number};
use super::walk::has_many_axes;
use super::{Elements, Place};
use crate::Result;
use crate::ir::{Binary, Dtype, Graph, Layout, NodeId, Op, Reduce, Type, Value};
use smallvec::SmallVec;
use std::sync::Arc;

/// A sum over a number. Input: what is summed; result: of its dtype.
pub struct Mean {
    axes: SmallVec<[usize; 4]>,
    divisor: f32,
    ty: Type,
    /// How many it stands for.
    operations: usize,
}

/// What can be joined.
pub(super) fn find(graph: &Graph) -> Vec<Found> {
    let readers = graph.readers();
    let sums = (0..graph.nodes.len()).map(NodeId);
    sums.filter_map(|sum| found(graph, &readers, sum)).collect()
}

/// With this sum.
fn found(graph: &Graph, readers: &[Vec<NodeId>], sum: NodeId) -> Option<Found> {
    let node = graph.node(sum);
    let (Op::Reduce(Reduce::Sum, axes), [x]) = (&node.op, node.inputs.as_slice()) else {
        return None;
    };
    let ty = node.outputs.first()?;
    if !is_float(ty.dtype) || graph.ty(*x).dtype != ty.dtype {
        return None;
    }
    // The one that reads what nobody else sees.
    let reader = |id: NodeId| match readers[id.0].as_slice() {
        &[one] if !graph.is_output(id) => Some(one),
        _ => None,
    };
    let as_dtype = |id: NodeId, dtype: Dtype| {
        let reader = reader(id)?;
        let node = graph.node(reader);
        let is_it = node.op == Op::AsType && node.outputs[0].dtype == dtype;
        is_it.then_some(reader)
    };
    let is_short = ty.dtype != Dtype::F32;
    let mut members = vec![sum];
    if is_short {
        members.push(as_dtype(sum, Dtype::F32)?);
    }
    let divided = *members.last()?;
    let quotient = reader(divided)?;
    members.push(quotient);
    let node = graph.node(quotient);
    let (Op::Binary(Binary::Divide), &[of, number]) = (&node.op, node.inputs.as_slice()) else {
        return None;
    };
    let divisor = number_of(graph, number)?;
    let made = &node.outputs[0];
    if of.node != divided || made.dtype != Dtype::F32 || made.shape != ty.shape {
        return None;
    }
    if is_short {
        members.push(as_dtype(quotient, ty.dtype)?);
    }
    let last = *members.last()?;
    let operations = members.len() + 1;
    // The number goes, too, unless somebody else wants it.
    let mut of_number = Some(number.node);
    while let Some(id) = of_number.filter(|id| reader(*id).is_some()) {
        members.push(id);
        let node = graph.node(id);
        of_number = (node.op == Op::Broadcast).then(|| node.inputs[0].node);
    }
    let part = Mean {
        axes: axes.iter().copied().collect(),
        divisor,
        ty: ty.clone(),
        operations,
    };
    Some(Found {
        place: last,
        inputs: vec![*x],
        results: vec![Value {
            node: last,
            output: 0,
        }],
        members,
        part: Part::Mean(Arc::new(part)),
    })
}

/// How many elements a value (or what it repeats) is the number of, as f32; `None` for none.
fn number_of(graph: &Graph, value: Value) -> Option<f32> {
    let node = graph.node(value.node);
    let (axes, of) = match (&node.op, node.inputs.as_slice()) {
        (Op::Broadcast, &[number]) => return number_of(graph, number),
        (
            Op::NumberOfElements {
                axes,
                inverted: false,
            },
            &[of],
        ) => (axes, of),
        _ => return None,
    };
    let sizes = graph.ty(of).shape.numbers()?;
    let count: usize = axes.iter().map(|&axis| sizes[axis]).product();
    let fits = count > 0 && node.outputs[0].dtype == Dtype::F32;
    fits.then_some(count as f32)
}

impl Place {
    /// Queues a sum over a number; `None` if GPUs have no form of the sum.
    pub(super) fn mean(
        self: &Arc<Self>,
        mean: &Mean,
        inputs: &[&Elements],
    ) -> Result<Option<Vec<Elements>>> {
        let (&[x], Some(sizes)) = (inputs, mean.ty.shape.numbers()) else {
            return Ok(None);
        };
        let x = match has_many_axes(&[x.layout()]) {
            true => self.rows(x)?,
            false => Some(x.clone()),
        };
        let Some(x) = x else {
            return Ok(None);
        };
        let sum = reduction_number(Reduce::Sum);
        let Some(made) = self.reduce(sum, &x, &mean.axes, &mean.ty, mean.divisor)? else {
            return Ok(None);
        };
        if made.count() > 0 {
            super::joined::count(mean.operations);
        }
        let made = made.with(mean.ty.dtype, Layout::rows(&sizes))?;
        Ok(Some(vec![made]))
    }
}
