//! Arrays put together, surrounded, and with slices taken out or replaced.

use super::arithmetic::{Arithmetic, larger, smaller};
use super::places::index;
use super::{Out, View, input, missing, output, with_type};
use crate::ir::{Binary, Dtype, Layout, Op, ScatterReduce};
use crate::{Error, Result};

/// Concatenation, padding, slices at places that are computed.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    let mut part = Layout::rows(out.sizes());
    match op {
        Op::Concatenate(axis) => {
            let step = part.strides[*axis] as usize;
            for x in inputs {
                part.sizes[*axis] = x.sizes()[*axis];
                put(x, &part, ScatterReduce::None, out);
                part.offset += step * x.sizes()[*axis];
            }
        }
        Op::Pad(low) => {
            let value = input(op, inputs, 1)?;
            let everywhere = Layout {
                sizes: out.sizes().into(),
                strides: out.sizes().iter().map(|_| 0).collect(),
                offset: value.layout().offset,
            };
            super::copy::copy(&value.with(everywhere), out);
            for (axis, &low) in low.iter().enumerate() {
                part.offset += low * part.strides[axis] as usize;
            }
            part.sizes = x.sizes().into();
            put(x, &part, ScatterReduce::None, out);
        }
        Op::SliceUpdate(spec, reduce) => {
            let update = input(op, inputs, 1)?;
            super::copy::copy(x, out);
            let shape = crate::ir::Shape::new(update.sizes().iter().copied());
            let slice = part.view(&Op::Slice(spec.clone()), &shape);
            put(update, &slice.ok_or_else(|| missing(op))?, *reduce, out);
        }
        Op::DynamicSlice(axes) => {
            let start = index(op, input(op, inputs, 1)?)?;
            let begin = begin(op, x.sizes(), out.sizes(), axes, &start)?;
            let mut layout = x.layout().clone();
            let mut offset = layout.offset as isize;
            for (axis, &at) in begin.iter().enumerate() {
                offset += at as isize * layout.strides[axis];
            }
            layout.offset = offset.max(0) as usize;
            layout.sizes = out.sizes().into();
            super::copy::copy(&x.with(layout), out);
        }
        Op::DynamicSliceUpdate(axes) => {
            let update = input(op, inputs, 1)?;
            let start = index(op, input(op, inputs, 2)?)?;
            let begin = begin(op, x.sizes(), update.sizes(), axes, &start)?;
            super::copy::copy(x, out);
            for (axis, &at) in begin.iter().enumerate() {
                part.offset += at * part.strides[axis] as usize;
            }
            part.sizes = update.sizes().into();
            put(update, &part, ScatterReduce::None, out);
        }
        op => return Err(missing(op)),
    }
    Ok(())
}

/// Where a slice begins along every axis.
fn begin(
    op: &Op,
    x: &[usize],
    slice: &[usize],
    axes: &[usize],
    start: &[i64],
) -> Result<Vec<usize>> {
    let mut begin = vec![0; x.len()];
    for (&axis, &at) in axes.iter().zip(start) {
        let place = usize::try_from(at).ok();
        let place = place.filter(|at| {
            at.checked_add(slice[axis])
                .is_some_and(|end| end <= x[axis])
        });
        begin[axis] = place.ok_or_else(|| {
            Error::InvalidArgument(format!(
                "{}: {} elements from {at} are outside axis {axis} of {}",
                op.name(),
                slice[axis],
                x[axis]
            ))
        })?;
    }
    Ok(begin)
}

/// How an update and what is there become one, if not by replacing it.
pub(super) fn meet<T: Arithmetic>(reduce: ScatterReduce) -> Option<fn(T, T) -> T> {
    match reduce {
        ScatterReduce::None => None,
        ScatterReduce::Sum => T::function(Binary::Add),
        ScatterReduce::Prod => T::function(Binary::Multiply),
        ScatterReduce::Max => Some(larger),
        ScatterReduce::Min => Some(smaller),
    }
}

/// Writes x where `part` of the result lies.
fn put(x: &View<'_>, part: &Layout, reduce: ScatterReduce, out: &mut Out<'_>) {
    let place = View::whole(&[], Dtype::U8, part.clone());
    let truths = out.dtype() == Dtype::Bool;
    with_type!(out.dtype(), T => {
        let values = x.values::<T>();
        let mut values = values.iter().copied();
        let to = out.values::<T>();
        let join = meet::<T>(reduce);
        place.each(|at| {
            if let Some(value) = values.next() {
                to[at] = match join {
                    Some(join) => join(to[at], value),
                    None => value,
                };
            }
        });
    });
    if truths {
        out.truths();
    }
}
