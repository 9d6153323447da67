//! Gathering by index.

use super::{Out, View, input, missing, output};
use crate::ir::{Dtype, Layout, Op};
use crate::{Error, Result};

/// Gathers.
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
            let strides = Layout::rows(x.sizes()).strides;
            let slice = Layout {
                sizes: sizes.clone(),
                strides,
                offset: 0,
            };
            let starts = starts(op, x.sizes(), axes, sizes, &indices)?;
            match x.dtype().size() {
                1 => gather::<u8>(x, &slice, &starts, out),
                2 => gather::<u16>(x, &slice, &starts, out),
                4 => gather::<u32>(x, &slice, &starts, out),
                _ => gather::<u64>(x, &slice, &starts, out),
            }
        }
        op => return Err(missing(op)),
    }
    Ok(())
}

/// Index numbers of any integer dtype.
fn index(op: &Op, view: &View<'_>) -> Result<Vec<i64>> {
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

/// The first element, among those of x row after row, of each slice.
fn starts(
    op: &Op,
    x: &[usize],
    axes: &[usize],
    sizes: &[usize],
    indices: &[Vec<i64>],
) -> Result<Vec<usize>> {
    let strides = Layout::rows(x).strides;
    let count = indices.first().map_or(1, Vec::len);
    let mut starts = vec![0; count];
    for (&axis, index) in axes.iter().zip(indices) {
        let size = x[axis] as i64;
        for (start, &i) in starts.iter_mut().zip(index) {
            let place = if i < 0 { i + size } else { i };
            if place < 0 || place + sizes[axis] as i64 > size {
                return Err(Error::InvalidArgument(format!(
                    "{}: index {i} is outside axis {axis} of {size} elements",
                    op.name()
                )));
            }
            *start += place as usize * strides[axis] as usize;
        }
    }
    Ok(starts)
}

fn gather<T: bytemuck::Pod>(x: &View<'_>, slice: &Layout, starts: &[usize], out: &mut Out<'_>) {
    let x = x.values::<T>();
    let bytes: &[u8] = bytemuck::cast_slice(&x);
    let mut out = out.values::<T>().iter_mut();
    for &start in starts {
        let layout = Layout {
            offset: start,
            ..slice.clone()
        };
        View::whole(bytes, Dtype::U8, layout).each(|at| {
            if let Some(to) = out.next() {
                *to = x[at];
            }
        });
    }
}
