//! Single launches of reductions: logarithms of sums of rows that stay in registers (`hip/ops/arrays/logsumexp_rows.hip`), places
//! of pieces joined (`join_places` of `reduce_places.hip`), and few columns (`reduce_thin` of `reduce_columns.hip`).

use super::super::numbers::suffix;
use super::super::rows::lanes_of;
use super::{Elements, Form, Place, THREADS};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::arrays_reduce_columns::MOST_THIN_THREADS;
use crate::ir::Type;
use std::sync::Arc;

/// How columns are shared out by `reduce_thin`: groups of 16 bytes, and threads, of a block.
#[derive(Debug, PartialEq, Eq)]
struct Thin {
    lanes: usize,
    threads: u32,
}

impl Thin {
    /// For so many times columns of so many groups; `None` if they keep too few multiprocessors busy, or there are enough of
    /// them for the blocks of one launch of `reduce_columns`.
    fn of(outer: usize, groups: usize, rows: usize, units: usize) -> Option<Thin> {
        let enough = |blocks: usize| blocks * 10 >= units * 9;
        let thin = |lanes: usize| {
            let blocks = groups.div_ceil(lanes) * outer;
            // A multiprocessor takes one block of most threads at a time.
            let threads = match blocks <= units {
                true => MOST_THIN_THREADS as u32,
                false => MOST_THIN_THREADS as u32 / 2,
            };
            (enough(blocks) && blocks < 16 * units).then_some(Thin { lanes, threads })
        };
        // Half a line a row is for columns that keep no GPU busy otherwise.
        let few = || thin(4).filter(|thin| thin.threads == MOST_THIN_THREADS as u32);
        thin(8).or_else(few).filter(|_| rows >= 256)
    }
}

impl Place {
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

    /// Columns in one launch, where `reduce_columns` takes two.
    pub(super) fn thin_columns(
        self: &Arc<Self>,
        form: &Form,
        reduction: u32,
        x: &Elements,
        kept: &[usize],
        ty: &Type,
        divisor: f32,
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
        let rows = x.count().checked_div(outputs).unwrap_or(0);
        let facts = self.device.facts();
        let units = facts.compute_units as usize;
        let Some(thin) =
            Thin::of(*outer, columns / width, rows, units).filter(|_| facts.arch == "sm_90")
        else {
            return Ok(None);
        };
        let Some((out, _)) = self.new_rows(kept, ty.dtype)? else {
            return Ok(None);
        };
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .u32("columns", *columns as u32)
            .u32("rows", rows as u32)
            .u32("reduction", reduction)
            .u32("to", ty.dtype as u32)
            .f32("divisor", divisor)
            .u32("lanes", thin.lanes as u32)
            .i64("outer_step", *outer_step as i64)
            .i64("row_step", *row_step as i64);
        let kernel = format!("mlxrocm_array_reduce_thin_{}", suffix(x.dtype()));
        let kernel = self.device.kernel(&kernel)?;
        let grid = [
            columns.div_ceil(thin.lanes * width) as u32,
            *outer as u32,
            1,
        ];
        self.launch_blocks(&kernel, grid, ([thin.threads, 1, 1], 0), &args)?;
        Ok(Some(out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On an H200: 132 multiprocessors.
    #[test]
    fn columns_are_shared_out_so_that_all_are_busy() {
        let thin = |lanes, threads| Some(Thin { lanes, threads });
        assert_eq!(Thin::of(1, 1024, 4096, 132), thin(8, 1024));
        assert_eq!(Thin::of(8, 128, 4096, 132), thin(8, 1024));
        assert_eq!(Thin::of(1, 512, 8192, 132), thin(4, 1024));
        assert_eq!(Thin::of(1, 1600, 4096, 132), thin(8, 512));
        // 70 of 132 would have work; few rows; as many as `reduce_columns` has blocks for.
        assert_eq!(Thin::of(1, 280, 8192, 132), None);
        assert_eq!(Thin::of(1, 1024, 255, 132), None);
        assert_eq!(Thin::of(1, 8 * 16 * 132, 4096, 132), None);
    }
}
