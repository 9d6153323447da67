//! Slices that are whole rows: `hip/ops/arrays/scatter_rows.hip`.

use super::super::numbers::{is_float, suffix};
use super::{Elements, Place, THREADS, Updates, grid, meeting};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Dtype, ScatterReduce};
use std::sync::Arc;

/// Elements of a slice that is a row, or several, of an array of these sizes, so that such slices are the same or apart.
pub(super) fn whole_rows(slice: &[usize], sizes: &[usize]) -> Option<usize> {
    let axes = slice.iter().zip(sizes);
    let mut inner = axes.skip_while(|(slice, _)| **slice == 1);
    inner
        .all(|(slice, size)| slice == size)
        .then(|| slice.iter().product())
}

impl Place {
    /// As [`Self::meet`] by `scatter_rows.hip`; false if slices, rows of `unit` elements, are not what it takes.
    pub(super) fn meet_rows(
        self: &Arc<Self>,
        out: &Elements,
        updates: &Updates<'_>,
        unit: usize,
    ) -> Result<bool> {
        let Updates {
            elements,
            places,
            reduce,
            ..
        } = updates;
        let bytes = unit * out.dtype().size();
        let rows = out.count() / unit;
        let units = elements.count() * out.dtype().size() / 16;
        let (true, Ok(units), Ok(rows)) = (
            bytes.is_multiple_of(16) && elements.is_aligned(16) && out.is_aligned(16),
            u32::try_from(units),
            u32::try_from(rows),
        ) else {
            return Ok(false);
        };
        let slices = places.count() as u32;
        let args = Args::new().buffer("updates", elements.buffer(), elements.offset());
        if *reduce == ScatterReduce::None {
            let claims = match slices {
                1 => None,
                _ => match self.claims(places, rows as usize, unit)? {
                    Some(claims) => Some(claims),
                    None => return Ok(false),
                },
            };
            let args = args
                .buffer("places", places.buffer(), 0)
                .buffer_or_null("claims", claims.as_ref().map(|claims| (claims.buffer(), 0)))
                .buffer("out", out.buffer(), 0)
                .u32("count", units)
                .u32("columns", (bytes / 16) as u32)
                .u32("unit", unit as u32);
            let grid = [units.div_ceil(4 * THREADS), 1, 1];
            self.launch("mlxrocm_array_replace_rows", grid, &args)?;
            return Ok(true);
        }
        if !is_float(out.dtype()) {
            return Ok(false);
        }
        let Some((numbers, _)) = self.new_rows(&[slices as usize], Dtype::U32)? else {
            return Ok(false);
        };
        let of_places = Args::new()
            .buffer("places", places.buffer(), 0)
            .buffer("units", numbers.buffer(), 0)
            .u32("count", slices)
            .u32("unit", unit as u32);
        self.launch("mlxrocm_array_place_units", grid(slices), &of_places)?;
        let Some(order) = self.sort(&numbers, 0, Dtype::U32, true)? else {
            return Ok(false);
        };
        let args = args
            .buffer("rows", numbers.buffer(), 0)
            .buffer("order", order.buffer(), order.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", units)
            .u32("slices", slices)
            .u32("how", meeting(*reduce))
            .u32("columns", unit as u32);
        let kernel = format!("mlxrocm_array_meet_rows_{}", suffix(out.dtype()));
        self.launch(&kernel, grid(units), &args)?;
        Ok(true)
    }
}
