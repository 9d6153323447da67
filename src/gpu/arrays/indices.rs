//! Where slices begin that arrays name, and what lies there: `hip/ops/arrays/scatter.hip`.

use super::numbers::{is_float, is_known};
use super::scatter::grid;
use super::walk::Walk;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Dtype, Layout};
use smallvec::SmallVec;
use std::sync::Arc;

impl Place {
    /// Adds what an axis' index says to places (the first axis: begins them).
    fn place(
        &self,
        index: &Elements,
        places: &Elements,
        numbers: [usize; 2],
        step: isize,
        adds: bool,
    ) -> Result<()> {
        let count = places.count() as u32;
        let args = Args::new()
            .buffer("index", index.buffer(), index.offset())
            .buffer("places", places.buffer(), 0)
            .u32("count", count)
            .u32("dtype", index.dtype() as u32)
            .i64("limit", numbers[0] as i64)
            .i64("slice", numbers[1] as i64)
            .i64("step", step as i64)
            .u32("adds", adds.into());
        self.launch("mlxrocm_array_place", grid(count), &args)
    }

    /// Where slices of an array that lies so begin.
    pub(super) fn places(
        self: &Arc<Self>,
        layout: &Layout,
        axes: &[usize],
        slice: &[usize],
        indices: &[&Elements],
    ) -> Result<Option<Elements>> {
        let count = indices.first().map_or(1, |index| index.count());
        let Some((places, _)) = self.new_rows(&[count], Dtype::I64)? else {
            return Ok(None);
        };
        let fits = |axis: &usize| layout.sizes[*axis] > 0 && slice[*axis] <= layout.sizes[*axis];
        if indices.is_empty() || axes.len() != indices.len() || !axes.iter().all(fits) {
            return Ok((count == 0).then_some(places));
        }
        if count == 0 {
            return Ok(Some(places));
        }
        for (number, (&axis, index)) in axes.iter().zip(indices).enumerate() {
            if !is_known(index.dtype()) || is_float(index.dtype()) || index.count() != count {
                return Ok(None);
            }
            let Some(index) = self.rows(index)? else {
                return Ok(None);
            };
            let numbers = [layout.sizes[axis], slice[axis]];
            self.place(&index, &places, numbers, layout.strides[axis], number > 0)?;
        }
        Ok(Some(places))
    }

    /// The one place of a slice whose begin along axes is an array.
    pub(super) fn start(
        self: &Arc<Self>,
        layout: &Layout,
        axes: &[usize],
        slice: &[usize],
        start: &Elements,
    ) -> Result<Option<Elements>> {
        let Some(start) = self.rows(start)? else {
            return Ok(None);
        };
        let mut indices = Vec::with_capacity(axes.len());
        for number in 0..axes.len().min(start.count()) {
            let one = Layout {
                offset: start.layout().offset + number,
                ..Layout::rows(&[1])
            };
            indices.push(start.with(start.dtype(), one)?);
        }
        let indices: Vec<&Elements> = indices.iter().collect();
        self.places(layout, axes, slice, &indices)
    }

    /// The place of every element of `index` along an axis, among elements that lie as `rows`.
    pub(super) fn places_along(
        self: &Arc<Self>,
        rows: &Layout,
        axis: usize,
        index: &Elements,
    ) -> Result<Option<Elements>> {
        let sizes = index.layout().sizes.clone();
        // Where its line begins: places as numbers of the elements, gathered from all of them would be as many again.
        let mut lines = Layout {
            sizes: sizes.clone(),
            ..rows.clone()
        };
        lines.strides[axis] = 0;
        let flat = Layout::rows(&[index.count()]);
        let Some(index) = self.rows(index)? else {
            return Ok(None);
        };
        let offset = index.layout().offset;
        let index = index.with(index.dtype(), Layout { offset, ..flat })?;
        let ones: SmallVec<[usize; 4]> = SmallVec::from_elem(1, sizes.len());
        let Some(places) = self.places(rows, &[axis], &ones, &[&index])? else {
            return Ok(None);
        };
        let Some(walk) = Walk::of_layouts(&[&lines]) else {
            return Ok(None);
        };
        let count = places.count() as u32;
        if count > 0 {
            let args = Args::new()
                .buffer("places", places.buffer(), 0)
                .u32("count", count);
            self.launch(
                "mlxrocm_array_place_lines",
                grid(count),
                &walk.add(args, ["x"]),
            )?;
        }
        Ok(Some(places))
    }

    pub(super) fn gather(
        self: &Arc<Self>,
        x: &Elements,
        places: &Elements,
        slice: &[usize],
        sizes: &[usize],
        dtype: Dtype,
    ) -> Result<Option<Elements>> {
        let part = Layout {
            sizes: slice.into(),
            ..x.layout().clone()
        };
        let (Some(walk), Some((out, count))) =
            (Walk::of_layouts(&[&part]), self.new_rows(sizes, dtype)?)
        else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("places", places.buffer(), 0)
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("size", dtype.size() as u32)
            .u32("slice", part.count() as u32);
        self.launch("mlxrocm_array_gather", grid(count), &walk.add(args, ["x"]))?;
        Ok(Some(out))
    }
}
