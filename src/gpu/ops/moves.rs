//! Elements of 32 bits that only move, or are counted: `hip/ops/plain/strided.hip`, `join.hip`, `hip/ops/rows/gather.hip`.

use super::{Launch, Operand, THREADS, input, missing, number};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Layout, Op, Shape};

/// Axes that the kernel counts through.
const AXES: usize = 6;

/// Whether an operation only moves elements of its first input.
pub fn is_move(op: &Op) -> bool {
    op.may_be_view() || matches!(op, Op::Contiguous | Op::Copy)
}

pub fn launch(op: &Op, inputs: &[Operand], out: &Operand) -> Result<Launch> {
    if let Op::Arange { start, step } = op {
        let count = number(op, out.count())?;
        let args = Args::new()
            .buffer("out", &out.buffer, out.offset)
            .u32("count", count);
        return Ok(Launch {
            kernel: "mlxrocm_arange_u32",
            grid: [count.div_ceil(THREADS), 1, 1],
            args: args
                .u32("start", start.get() as u32)
                .u32("step", step.get() as u32),
        });
    }
    let x = input(op, inputs, 0)?;
    match op {
        Op::Concatenate(axis) => {
            let y = input(op, inputs, 1)?;
            let behind = |of: &Operand| of.sizes.iter().skip(*axis).product::<usize>();
            let args = Args::new()
                .buffer("a", &x.buffer, x.offset)
                .buffer("b", &y.buffer, y.offset)
                .buffer("out", &out.buffer, out.offset);
            let count = number(op, out.count())?;
            Ok(Launch {
                kernel: "mlxrocm_join_u32",
                grid: [count.div_ceil(THREADS), 1, 1],
                args: args
                    .u32("count", count)
                    .u32("first", number(op, behind(x))?)
                    .u32("second", number(op, behind(y))?),
            })
        }
        Op::Gather { axes, sizes } if axes.as_slice() == [0] => {
            let whole = sizes.first() == Some(&1) && sizes.get(1..) == x.sizes.get(1..);
            if !whole {
                return Err(missing(op));
            }
            let index = input(op, inputs, 1)?;
            let rows = x.sizes.first().copied().unwrap_or(1);
            let args = Args::new()
                .buffer("x", &x.buffer, x.offset)
                .buffer("index", &index.buffer, index.offset)
                .buffer("out", &out.buffer, out.offset)
                .u32("rows", number(op, rows)?)
                .u32("cols", number(op, x.count() / rows.max(1))?);
            Ok(Launch {
                kernel: "mlxrocm_gather_rows_f32",
                grid: [number(op, index.count())?, 1, 1],
                args,
            })
        }
        op if is_move(op) => {
            let rows = Layout::rows(&x.sizes);
            let shape = Shape::new(out.sizes.iter().copied());
            let layout = match op {
                Op::Contiguous | Op::Copy => Some(rows),
                op => rows.view(op, &shape),
            };
            let layout = layout.ok_or_else(|| missing(op))?;
            strided(op, x, &layout, out)
        }
        op => Err(missing(op)),
    }
}

fn strided(op: &Op, x: &Operand, layout: &Layout, out: &Operand) -> Result<Launch> {
    let Some(front) = AXES.checked_sub(layout.sizes.len()) else {
        return Err(missing(op));
    };
    let count = number(op, out.count())?;
    let offset = x.offset + (layout.offset * x.dtype.size()) as u64;
    let mut args = Args::new()
        .buffer("x", &x.buffer, offset)
        .buffer("out", &out.buffer, out.offset)
        .u32("count", count);
    let at = |axis: usize| axis.checked_sub(front);
    const AXIS: [&str; AXES] = ["0", "1", "2", "3", "4", "5"];
    for (axis, name) in AXIS.into_iter().enumerate().skip(1) {
        args = args.u32(
            ("s", name),
            match at(axis) {
                Some(axis) => number(op, layout.sizes[axis])?,
                None => 1,
            },
        );
    }
    for (axis, name) in AXIS.into_iter().enumerate() {
        let stride = at(axis).map_or(0, |axis| layout.strides[axis]);
        args = args.i32(("t", name), i32::try_from(stride).map_err(|_| missing(op))?);
    }
    Ok(Launch {
        kernel: "mlxrocm_strided_copy_u32",
        grid: [count.div_ceil(THREADS), 1, 1],
        args,
    })
}
