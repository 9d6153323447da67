//! Single launches of reductions: logarithms of sums of rows that stay in registers (`hip/ops/arrays/logsumexp_rows.hip`), places
//! of pieces joined (`join_places` of `reduce_places.hip`), and few columns (`reduce_thin` of `reduce_columns.hip`).

use super::super::numbers::suffix;
use super::super::rows::lanes_of;
use super::{Elements, Form, Place, THREADS};
use crate::Result;
use crate::gpu::Args;
use crate::ir::Type;
use std::sync::Arc;

/// Threads of a block of `reduce_thin`.
const THIN_THREADS: u32 = 512;

impl Place {
    /// Whether columns of so many groups of 16 bytes are too few for the blocks of one launch of `reduce_columns` and enough for
    /// those of `reduce_thin`.
    fn is_thin(&self, groups: usize, rows: usize) -> bool {
        let facts = self.device.facts();
        let units = facts.compute_units as usize;
        let blocks = groups.div_ceil(8);
        facts.arch == "sm_90" && rows >= 256 && groups / 32 < 4 * units && blocks * 10 >= units * 9
    }

    /// The logarithm of the sum of exponentials of rows that stay in registers; `None` if they don't.
    pub(super) fn log_sum_exp(
        self: &Arc<Self>,
        x: &Elements,
        row_step: isize,
        columns: usize,
        kept: &[usize],
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let outputs: usize = kept.iter().product();
        let side_by_side = outputs <= 1 || row_step == columns as isize;
        let Some(lanes) = lanes_of(x, columns, &[]).filter(|_| side_by_side && outputs > 0) else {
            return Ok(None);
        };
        let Some((out, _)) = self.new_rows(kept, ty.dtype)? else {
            return Ok(None);
        };
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .u32("rows", outputs as u32)
            .u32("columns", columns as u32)
            .u32("lanes", lanes)
            .u32("to", ty.dtype as u32);
        let blocks = (outputs as u32).div_ceil(THREADS / lanes);
        let kernel = format!("mlxrocm_array_logsumexp_{}", suffix(x.dtype()));
        self.launch(&kernel, [blocks, 1, 1], &args)?;
        Ok(Some(out))
    }

    /// The place of the best element of each row of those that its pieces have.
    pub(super) fn join_places(
        self: &Arc<Self>,
        reduction: u32,
        x: &Elements,
        row_step: isize,
        places: &Elements,
        kept: &[usize],
    ) -> Result<Option<Elements>> {
        let Some((out, _)) = self.new_rows(kept, places.dtype())? else {
            return Ok(None);
        };
        let outputs: usize = kept.iter().product();
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("places", places.buffer(), places.offset())
            .buffer("out", out.buffer(), 0)
            .u32("pieces", (places.count() / outputs.max(1)) as u32)
            .u32("reduction", reduction)
            .i64("row_step", row_step as i64);
        let kernel = format!("mlxrocm_array_join_places_{}", suffix(x.dtype()));
        self.launch(&kernel, [outputs as u32, 1, 1], &args)?;
        Ok(Some(out))
    }

    /// Columns, if there are as many as `reduce_thin` needs and fewer than one launch of `reduce_columns` does.
    pub(super) fn thin_columns(
        self: &Arc<Self>,
        form: &Form,
        reduction: u32,
        x: &Elements,
        kept: &[usize],
        ty: &Type,
    ) -> Result<Option<Elements>> {
        let Form::Columns {
            columns,
            outer,
            outer_step,
            row_step,
        } = form
        else {
            return Ok(None);
        };
        let width = 16 / x.dtype().size();
        let outputs: usize = kept.iter().product();
        let joined = x.count().checked_div(outputs).unwrap_or(0);
        if !self.is_thin(*columns * *outer / width, joined) {
            return Ok(None);
        }
        let Some((out, _)) = self.new_rows(kept, ty.dtype)? else {
            return Ok(None);
        };
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .u32("columns", *columns as u32)
            .u32("rows", joined as u32)
            .u32("reduction", reduction)
            .u32("to", ty.dtype as u32)
            .i64("outer_step", *outer_step as i64)
            .i64("row_step", *row_step as i64);
        let kernel = format!("mlxrocm_array_reduce_thin_{}", suffix(x.dtype()));
        let kernel = self.device.kernel(&kernel)?;
        let grid = [columns.div_ceil(8 * width) as u32, *outer as u32, 1];
        self.launch_blocks(&kernel, grid, ([THIN_THREADS, 1, 1], 0), &args)?;
        Ok(Some(out))
    }
}
