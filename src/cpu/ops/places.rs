//! Elements by index, read and written.

use super::join::meet;
use super::{Out, View, input, missing, output, with_type};
use crate::ir::{Dtype, Layout, Op, ScatterReduce};
use crate::{Error, Result};

/// Gathers and scatters.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    match op {
        Op::Gather { axes, sizes } => {
            let indices = inputs.get(1..).unwrap_or_default();
            let indices: Vec<Vec<i64>> = indices
                .iter()
                .map(|i| index(op, i))
                .collect::<Result<_>>()?;
            // Where the elements lie, whatever their layout: a few of many are not worth a copy of all.
            let starts = starts(op, x.layout(), axes, sizes, &indices)?;
            let slice = Layout {
                sizes: sizes.clone(),
                ..x.layout().clone()
            };
            match x.dtype().size() {
                1 => gather::<u8>(x, &slice, &starts, out),
                2 => gather::<u16>(x, &slice, &starts, out),
                4 => gather::<u32>(x, &slice, &starts, out),
                _ => gather::<u64>(x, &slice, &starts, out),
            }
        }
        Op::GatherAxis(axis) => {
            let index = input(op, inputs, 1)?;
            let places = along(op, x.layout(), index, *axis)?;
            with_type!(x.dtype(), T => {
                for (to, &at) in out.values::<T>().iter_mut().zip(&places) {
                    *to = x.at(at);
                }
            });
        }
        Op::ScatterAxis(axis, reduce) => {
            let places = along(op, &Layout::rows(x.sizes()), input(op, inputs, 1)?, *axis)?;
            super::copy::copy(x, out);
            write(&places, input(op, inputs, 2)?, *reduce, out);
        }
        Op::Scatter(axes, reduce) => {
            let Some((updates, indices)) = inputs[1..].split_last() else {
                return Err(missing(op));
            };
            let sizes = &updates.sizes()[updates.sizes().len() - x.sizes().len()..];
            let indices: Vec<Vec<i64>> = indices
                .iter()
                .map(|i| index(op, i))
                .collect::<Result<_>>()?;
            let rows = Layout::rows(x.sizes());
            let starts = starts(op, &rows, axes, sizes, &indices)?;
            let slice = Layout {
                sizes: sizes.into(),
                ..rows
            };
            let mut places = Vec::with_capacity(updates.layout().count());
            for &offset in &starts {
                let layout = Layout {
                    offset,
                    ..slice.clone()
                };
                View::whole(&[], Dtype::U8, layout).each(|at| places.push(at));
            }
            super::copy::copy(x, out);
            write(&places, updates, *reduce, out);
        }
        Op::MaskedScatter => {
            let mask = input(op, inputs, 1)?.values::<u8>();
            let source = input(op, inputs, 2)?;
            let held = mask.iter().enumerate().filter(|(_, holds)| **holds != 0);
            let places: Vec<usize> = held.map(|(at, _)| at).collect();
            if places.len() > source.layout().count() {
                return Err(Error::InvalidArgument(format!(
                    "{}: {} elements for {} places where the mask holds",
                    op.name(),
                    source.layout().count(),
                    places.len()
                )));
            }
            super::copy::copy(x, out);
            write(&places, source, ScatterReduce::None, out);
        }
        op => return Err(missing(op)),
    }
    Ok(())
}

/// Writes values at places of the result.
fn write(places: &[usize], values: &View<'_>, reduce: ScatterReduce, out: &mut Out<'_>) {
    let truths = out.dtype() == Dtype::Bool;
    with_type!(out.dtype(), T => {
        let to = out.values::<T>();
        let join = meet::<T>(reduce);
        for (&at, &value) in places.iter().zip(values.values::<T>().iter()) {
            to[at] = match join {
                Some(join) => join(to[at], value),
                None => value,
            };
        }
    });
    if truths {
        out.truths();
    }
}

/// The place in x's buffer that each index along an axis names.
fn along(op: &Op, x: &Layout, indices: &View<'_>, axis: usize) -> Result<Vec<usize>> {
    let (size, step) = (x.sizes[axis] as i64, x.strides[axis]);
    let mut layout = x.clone();
    layout.sizes = indices.sizes().into();
    layout.strides[axis] = 0;
    let mut places = Vec::with_capacity(layout.count());
    View::whole(&[], Dtype::U8, layout).each(|at| places.push(at));
    for (place, i) in places.iter_mut().zip(index(op, indices)?) {
        let at = if i < 0 { i + size } else { i };
        if !(0..size).contains(&at) {
            return Err(Error::InvalidArgument(format!(
                "{}: index {i} is outside axis {axis} of {size} elements",
                op.name()
            )));
        }
        *place = (*place as isize + at as isize * step) as usize;
    }
    Ok(places)
}

/// Index numbers of any integer dtype.
pub fn index(op: &Op, view: &View<'_>) -> Result<Vec<i64>> {
    Ok(match view.dtype() {
        Dtype::U8 | Dtype::Bool => view.values::<u8>().iter().map(|&i| i.into()).collect(),
        Dtype::U16 => view.values::<u16>().iter().map(|&i| i.into()).collect(),
        Dtype::U32 => view.values::<u32>().iter().map(|&i| i.into()).collect(),
        Dtype::U64 => view.values::<u64>().iter().map(|&i| i as i64).collect(),
        Dtype::I8 => view.values::<i8>().iter().map(|&i| i.into()).collect(),
        Dtype::I16 => view.values::<i16>().iter().map(|&i| i.into()).collect(),
        Dtype::I32 => view.values::<i32>().iter().map(|&i| i.into()).collect(),
        Dtype::I64 => view.values::<i64>().into_owned(),
        dtype => {
            return Err(Error::InvalidArgument(format!(
                "{}: an index of {dtype}, which is no integer",
                op.name()
            )));
        }
    })
}

/// The place in x's buffer of the first element of each slice.
pub fn starts(
    op: &Op,
    x: &Layout,
    axes: &[usize],
    sizes: &[usize],
    indices: &[Vec<i64>],
) -> Result<Vec<usize>> {
    let count = indices.first().map_or(1, Vec::len);
    let mut starts = vec![x.offset; count];
    for (&axis, index) in axes.iter().zip(indices) {
        let size = x.sizes[axis] as i64;
        for (start, &i) in starts.iter_mut().zip(index) {
            let place = if i < 0 { i + size } else { i };
            if place < 0 || place + sizes[axis] as i64 > size {
                return Err(Error::InvalidArgument(format!(
                    "{}: index {i} is outside axis {axis} of {size} elements",
                    op.name()
                )));
            }
            *start = (*start as isize + place as isize * x.strides[axis]) as usize;
        }
    }
    Ok(starts)
}

fn gather<T: bytemuck::Pod>(x: &View<'_>, slice: &Layout, starts: &[usize], out: &mut Out<'_>) {
    let mut out = out.values::<T>().iter_mut();
    for &offset in starts {
        let layout = Layout {
            offset,
            ..slice.clone()
        };
        x.with(layout).each(|at| {
            if let Some(to) = out.next() {
                *to = x.at(at);
            }
        });
    }
}
