//! Long rows in order: `hip/ops/arrays/sort_long.hip`.

use super::numbers::is_known;
use super::order::Rows;
use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::Dtype;
use std::sync::Arc;

/// Elements of a run that one block sorts.
const RUN: u32 = 2048;

impl Place {
    /// Sorted elements along an axis, or their places; `x` lies row after row.
    pub(super) fn sort_long(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        to: Dtype,
        places: bool,
    ) -> Result<Option<Elements>> {
        let sizes = x.layout().sizes.clone();
        let (Some(rows), Some((out, count))) =
            (Rows::along(&sizes, axis), self.new_rows(&sizes, to)?)
        else {
            return Ok(None);
        };
        if rows.count > 65_535 || count == 0 {
            return Ok((count == 0).then_some(out));
        }
        let pair = |_| -> Result<Option<(Elements, Elements)>> {
            let keys = self.new_rows(&[count as usize], Dtype::U64)?;
            let places = self.new_rows(&[count as usize], Dtype::U32)?;
            Ok(keys
                .zip(places)
                .map(|((keys, _), (places, _))| (keys, places)))
        };
        let (Some(mut now), Some(mut next)) = (pair(0)?, pair(1)?) else {
            return Ok(None);
        };
        let args = Args::new()
            .buffer(x.buffer(), x.offset())
            .buffer(now.0.buffer(), 0)
            .buffer(now.1.buffer(), 0)
            .u32(rows.columns)
            .u32(rows.step)
            .u32(x.dtype() as u32);
        let runs = [rows.columns.div_ceil(RUN), rows.count, 1];
        self.launch("mlxrocm_array_sort_runs", runs, &args)?;
        let grid = [count.div_ceil(THREADS), 1, 1];
        let mut width = RUN;
        while width < rows.columns {
            let args = Args::new()
                .buffer(now.0.buffer(), 0)
                .buffer(now.1.buffer(), 0)
                .buffer(next.0.buffer(), 0)
                .buffer(next.1.buffer(), 0)
                .u32(count)
                .u32(rows.columns)
                .u32(width);
            self.launch("mlxrocm_array_sort_merge", grid, &args)?;
            std::mem::swap(&mut now, &mut next);
            width = width.saturating_mul(2);
        }
        let args = Args::new()
            .buffer(x.buffer(), x.offset())
            .buffer(now.1.buffer(), 0)
            .buffer(out.buffer(), 0)
            .u32(count)
            .u32(rows.columns)
            .u32(rows.step)
            .u32(x.dtype().size() as u32)
            .u32(places.into());
        self.launch("mlxrocm_array_sort_finish", grid, &args)?;
        Ok(Some(out))
    }

    /// Where values would be put in a sorted `x`.
    pub(super) fn search_sorted(
        self: &Arc<Self>,
        x: &Elements,
        values: &Elements,
        right: bool,
    ) -> Result<Option<Elements>> {
        if !is_known(x.dtype()) || x.dtype() != values.dtype() {
            return Ok(None);
        }
        let (Some(x), Some(values)) = (self.rows(x)?, self.rows(values)?) else {
            return Ok(None);
        };
        let Some((out, count)) = self.new_rows(&values.layout().sizes, Dtype::U32)? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer(x.buffer(), x.offset())
            .buffer(values.buffer(), values.offset())
            .buffer(out.buffer(), 0)
            .u32(count)
            .u32(x.count() as u32)
            .u32(x.dtype() as u32)
            .u32(right.into());
        self.launch(
            "mlxrocm_array_search",
            [count.div_ceil(THREADS), 1, 1],
            &args,
        )?;
        Ok(Some(out))
    }
}
