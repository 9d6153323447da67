//! Elements by index and parts of arrays: `hip/ops/arrays/gather.hip`.

use super::numbers::is_known;
use super::run::{BLOCK, THREADS};
use super::walk::{Walk, has_many_axes, merged, parts};
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Layout, Op, ScatterReduce, SliceSpec, Type};
use smallvec::SmallVec;
use std::sync::Arc;

impl Place {
    /// Slices of `x` where indices of one axis say.
    pub(super) fn take(
        self: &Arc<Self>,
        x: &Elements,
        index: &Elements,
        axis: usize,
        slice: &[usize],
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let (Some(index), Some(sizes)) = (self.rows(index)?, ty.shape.numbers()) else {
            return Ok(None);
        };
        let part = Layout {
            sizes: slice.into(),
            ..x.layout().clone()
        };
        let (Some(walk), Some((out, count))) =
            (Walk::of_layouts(&[&part]), self.new_rows(&sizes, ty.dtype)?)
        else {
            return Ok(None);
        };
        let limit = x.layout().sizes[axis];
        let (Ok(step), Ok(limit), true) = (
            i32::try_from(x.layout().strides[axis]),
            u32::try_from(limit),
            slice[axis] == 1 && is_known(index.dtype()) && limit > 0,
        ) else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        if let Some((unit, columns, row)) = rows_of(x, &part, step) {
            let units = count / (unit / x.dtype().size()) as u32;
            let args = Args::new()
                .buffer("x", x.buffer(), x.offset())
                .buffer("index", index.buffer(), index.offset())
                .buffer("out", out.buffer(), 0)
                .u32("count", units)
                .u32("columns", columns)
                .u32("index_dtype", index.dtype() as u32)
                .u32("limit", limit)
                .i32("x_row", row);
            let blocks = units.div_ceil(4 * THREADS);
            self.launch("mlxrocm_array_take_rows_16", [blocks, 1, 1], &args)?;
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("index", index.buffer(), index.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("size", x.dtype().size() as u32)
            .u32("index_dtype", index.dtype() as u32)
            .u32("slice", part.count() as u32)
            .u32("limit", limit)
            .i32("step", step);
        self.launch(
            "mlxrocm_array_take",
            [count.div_ceil(THREADS), 1, 1],
            &walk.add(args, ["x"]),
        )?;
        Ok(Some(out))
    }

    /// Elements of `x` along an axis, where an index for each says.
    pub(super) fn take_along(
        self: &Arc<Self>,
        x: &Elements,
        index: &Elements,
        axis: usize,
    ) -> Result<Option<Elements>> {
        let limit = x.layout().sizes[axis];
        let step = x.layout().strides[axis];
        let mut across = Layout {
            sizes: index.layout().sizes.clone(),
            ..x.layout().clone()
        };
        across.strides[axis] = 0;
        let sizes = index.layout().sizes.clone();
        let (Some(walk), Some((out, count))) = (
            Walk::of_layouts(&[&across, index.layout()]),
            self.new_rows(&sizes, x.dtype())?,
        ) else {
            return Ok(None);
        };
        let (Ok(step), Ok(limit), true) = (
            i32::try_from(step),
            u32::try_from(limit),
            is_known(index.dtype()) && limit > 0,
        ) else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("index", index.buffer(), index.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("size", x.dtype().size() as u32)
            .u32("index_dtype", index.dtype() as u32)
            .u32("limit", limit);
        let (of_x, of_index) = (x.layout(), index.layout());
        if axis + 1 == sizes.len()
            && of_x.is_rows()
            && of_index.is_rows()
            && of_x.sizes[..axis] == sizes[..axis]
        {
            let args = args.u32("columns", sizes[axis] as u32);
            let grid = [count.div_ceil(BLOCK), 1, 1];
            self.launch("mlxrocm_array_take_along_rows", grid, &args)?;
            return Ok(Some(out));
        }
        let args = args.i32("step", step);
        self.launch(
            "mlxrocm_array_take_along",
            [count.div_ceil(THREADS), 1, 1],
            &walk.add(args, ["x", "i"]),
        )?;
        Ok(Some(out))
    }

    /// Arrays one after the other, a value around one, or a slice replaced.
    pub(super) fn put_together(
        self: &Arc<Self>,
        op: &Op,
        inputs: &[&Elements],
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let Some(sizes) = ty.shape.numbers() else {
            return Ok(None);
        };
        if let (Op::SliceUpdate(spec, ScatterReduce::None), [x, update]) = (op, inputs) {
            let Some(out) = self.copied(x)? else {
                return Ok(None);
            };
            let Some(at) = slice(out.layout(), spec, update.layout()) else {
                return Ok(None);
            };
            return Ok(self.put(update, &out, &at)?.then_some(out));
        }
        let Some((out, _)) = self.new_rows(&sizes, ty.dtype)? else {
            return Ok(None);
        };
        let whole = out.layout().clone();
        let done = match (op, inputs) {
            (Op::Concatenate(axis), parts) => {
                let mut at = whole;
                let mut done = true;
                for part in parts {
                    at.sizes = part.layout().sizes.clone();
                    done = done && self.put(part, &out, &at)?;
                    at.offset += at.strides[*axis] as usize * at.sizes[*axis];
                }
                done
            }
            (Op::Pad(low), [x, value]) if value.count() == 1 => {
                let everywhere = Layout {
                    sizes: whole.sizes.clone(),
                    strides: SmallVec::from_elem(0, whole.sizes.len()),
                    offset: value.layout().offset,
                };
                let value = value.with(value.dtype(), everywhere)?;
                let mut at = whole.clone();
                at.sizes = x.layout().sizes.clone();
                for (axis, &low) in low.iter().enumerate() {
                    at.offset += low * at.strides[axis] as usize;
                }
                self.put(&value, &out, &whole)? && self.put(x, &out, &at)?
            }
            _ => false,
        };
        Ok(done.then_some(out))
    }

    /// Copies `x` to elements of `out`; whether it could.
    pub(super) fn put(&self, x: &Elements, out: &Elements, at: &Layout) -> Result<bool> {
        if x.count() > 0 && self.copy_well(x, out, at)? {
            return Ok(true);
        }
        if has_many_axes(&[x.layout(), at]) {
            let mut done = true;
            for part in parts(&[x.layout(), at]) {
                let [from, to] = part.as_slice() else {
                    return Ok(false);
                };
                done = done && self.put(&x.with(x.dtype(), from.clone())?, out, to)?;
            }
            return Ok(done);
        }
        let Some(walk) = Walk::of_layouts(&[x.layout(), at]) else {
            return Ok(false);
        };
        let Ok(count) = u32::try_from(x.count()) else {
            return Ok(false);
        };
        if count == 0 {
            return Ok(true);
        }
        let size = x.dtype().size();
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), (at.offset * size) as u64)
            .u32("count", count)
            .u32("size", size as u32);
        self.launch(
            "mlxrocm_array_put",
            [count.div_ceil(THREADS), 1, 1],
            &walk.add(args, ["x", "o"]),
        )?;
        Ok(true)
    }
}

/// Slices that lie side by side and aligned: bytes of a unit, units of a slice, and between slices.
fn rows_of(x: &Elements, part: &Layout, step: i32) -> Option<(usize, u32, i32)> {
    const UNIT: usize = 16;
    let size = x.dtype().size();
    let axes = merged(&part.sizes, &[part]);
    let [(columns, strides)] = axes.as_slice() else {
        return None;
    };
    let (bytes, row) = (columns * size, step as isize * size as isize);
    let whole =
        bytes.is_multiple_of(UNIT) && x.is_aligned(UNIT) && row.unsigned_abs().is_multiple_of(UNIT);
    let row = i32::try_from(row / UNIT as isize).ok()?;
    (strides[0] == 1 && whole).then_some((UNIT, (bytes / UNIT) as u32, row))
}

/// Where a slice of elements that lie as `whole` lies.
fn slice(whole: &Layout, spec: &SliceSpec, update: &Layout) -> Option<Layout> {
    let shape = crate::ir::Shape::new(update.sizes.iter().copied());
    whole.view(&Op::Slice(spec.clone()), &shape)
}
