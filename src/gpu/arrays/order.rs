//! Running totals and sorted rows: `hip/ops/arrays/order.hip`, `sort_tiles.hip`, `sort_merge.hip`.

use super::numbers::{is_float, is_known, suffix};
use super::run::THREADS;
use super::wide::of_its_own;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::constants::{
    arrays_order as scans, arrays_scan_rows as scan_rows, arrays_sort_tiles as sort,
};
use crate::gpu::{Args, DeviceBuffer};
use crate::ir::{Dtype, Scan};
use smallvec::SmallVec;
use std::sync::Arc;

/// Elements of a thread that sorts, and the most of a block.
const EACH: u32 = sort::EACH as u32;
const TILE: u32 = sort::SORTED_TILE as u32;

/// Rows along an axis of elements that lie row after row.
struct Rows {
    count: u32,
    columns: u32,
    step: u32,
}

impl Rows {
    fn along(sizes: &[usize], axis: usize) -> Option<Rows> {
        let all: usize = sizes.iter().product();
        Some(Rows {
            count: u32::try_from(all / sizes[axis].max(1)).ok()?,
            columns: u32::try_from(sizes[axis]).ok()?,
            step: u32::try_from(sizes[axis + 1..].iter().product::<usize>()).ok()?,
        })
    }
}

impl Place {
    pub(super) fn scan(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        kind: Scan,
        (reverse, inclusive): (bool, bool),
        to: Dtype,
    ) -> Result<Option<Elements>> {
        if x.dtype() == to
            && let Some(of) = of_its_own(to)
        {
            return self.wide_scan(x, axis, kind, (reverse, inclusive), of);
        }
        let sums = kind != Scan::LogAddExp || is_float(x.dtype());
        if !is_known(x.dtype()) || x.dtype() != to || !sums {
            return Ok(None);
        }
        if let Some(made) = self.scan_well(x, axis, kind, (reverse, inclusive))? {
            return Ok(Some(made));
        }
        let scan = match kind {
            Scan::Sum => scans::SUM,
            Scan::Prod => scans::PROD,
            Scan::Min => scans::MIN,
            Scan::Max => scans::MAX,
            Scan::LogAddExp => scans::LOG_ADD_EXP,
        };
        let numbers = [
            ("scan", scan),
            ("dtype", x.dtype() as u32),
            ("backwards", reverse.into()),
            ("inclusive", inclusive.into()),
        ];
        self.by_axis("mlxrocm_array_scan", x, axis, to, &numbers)
    }

    /// By `scan_rows.hip` and `scan_columns.hip`, where they have a form.
    fn scan_well(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        kind: Scan,
        (reverse, inclusive): (bool, bool),
    ) -> Result<Option<Elements>> {
        let kind = match kind {
            Scan::Sum => scan_rows::SUM,
            Scan::Min => scan_rows::MIN,
            Scan::Max => scan_rows::MAX,
            Scan::Prod | Scan::LogAddExp => return Ok(None),
        };
        if !is_float(x.dtype()) {
            return Ok(None);
        }
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let sizes = x.layout().sizes.clone();
        let Some(rows) = Rows::along(&sizes, axis) else {
            return Ok(None);
        };
        let whole = (rows.columns as usize * x.dtype().size()).is_multiple_of(16);
        let outer = rows.count / rows.step.max(1);
        let form = match rows.step {
            1 if whole && x.is_aligned(16) => ("rows", [rows.count, 1, 1], THREADS),
            // Fewer columns or rows leave most of a block idle.
            16.. if rows.columns >= 32 && outer <= 65_535 => {
                ("columns", [rows.step.div_ceil(32), outer, 1], 1024)
            }
            _ => return Ok(None),
        };
        let (name, blocks, threads) = form;
        let Some((out, count)) = self.new_rows(&sizes, x.dtype())? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let kernel = format!("mlxrocm_array_scan_{name}_{}", suffix(x.dtype()));
        let kernel = self.device.kernel(&kernel)?;
        if kernel.facts().max_block_threads < threads {
            return Ok(None);
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0);
        let args = match name {
            "rows" => args.u32("columns", rows.columns),
            _ => args.u32("rows", rows.columns).u32("columns", rows.step),
        };
        let args = args
            .u32("scan", kind)
            .u32("backwards", reverse.into())
            .u32("inclusive", inclusive.into());
        self.launch_blocks(&kernel, blocks, ([threads, 1, 1], 0), &args)?;
        Ok(Some(out))
    }

    /// Sorted elements, or their places (u32).
    pub(super) fn sort(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        to: Dtype,
        places: bool,
    ) -> Result<Option<Elements>> {
        if let Some(of) = of_its_own(x.dtype()) {
            return self.wide_sort(x, axis, places, of);
        }
        if !is_known(x.dtype()) {
            return Ok(None);
        }
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let sizes = x.layout().sizes.clone();
        let (Some(rows), Some((out, count))) =
            (Rows::along(&sizes, axis), self.new_rows(&sizes, to)?)
        else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        // Short rows take few threads, so that none of them idle.
        let threads = rows.columns.div_ceil(EACH).next_power_of_two();
        let threads = threads.clamp(self.device.facts().wave_size, THREADS);
        let tiles = rows.columns.div_ceil(threads * EACH);
        let blocks = [rows.count.saturating_mul(tiles), 1, 1];
        if blocks[0] > i32::MAX as u32 {
            return Ok(None);
        }
        let (bits, key) = match x.dtype() {
            Dtype::U64 | Dtype::I64 => (64, Dtype::U64),
            _ => (32, Dtype::U32),
        };
        let name = if places { "argsort" } else { "sort" };
        // Sorted runs, of which each pass makes longer ones in the other memory.
        let mut runs = SmallVec::<[(DeviceBuffer, DeviceBuffer); 2]>::new();
        for pass in 0..2 {
            // The last pass writes the result.
            let needed = if tiles > 1 + pass { count as usize } else { 0 };
            let of_places = if places { needed } else { 0 };
            runs.push((
                self.memory(needed, key)?,
                self.memory(of_places, Dtype::U32)?,
            ));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .buffer("runs", &runs[0].0, 0)
            .buffer("run_places", &runs[0].1, 0)
            .u32("columns", rows.columns)
            .u32("step", rows.step)
            .u32("dtype", x.dtype() as u32)
            .u32("tiles", tiles);
        let kernel = self
            .device
            .kernel(&format!("mlxrocm_array_{name}_{bits}"))?;
        self.launch_blocks(&kernel, blocks, ([threads, 1, 1], 0), &args)?;
        let mut run = TILE;
        while run < rows.columns {
            let args = Args::new()
                .buffer("runs", &runs[0].0, 0)
                .buffer("run_places", &runs[0].1, 0)
                .buffer("to", &runs[1].0, 0)
                .buffer("to_places", &runs[1].1, 0)
                .buffer("out", out.buffer(), 0)
                .u32("columns", rows.columns)
                .u32("step", rows.step)
                .u32("dtype", x.dtype() as u32)
                .u32("run", run)
                .u32("tiles", tiles);
            self.launch(&format!("mlxrocm_array_{name}_merge_{bits}"), blocks, &args)?;
            runs.swap(0, 1);
            run = run.saturating_mul(2);
        }
        Ok(Some(out))
    }

    /// By a kernel that goes along an axis of what lies row after row, a block a row.
    pub(super) fn by_axis(
        self: &Arc<Self>,
        kernel: &str,
        x: &Elements,
        axis: usize,
        to: Dtype,
        numbers: &[(&'static str, u32)],
    ) -> Result<Option<Elements>> {
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let sizes = x.layout().sizes.clone();
        let (Some(rows), Some((out, count))) =
            (Rows::along(&sizes, axis), self.new_rows(&sizes, to)?)
        else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("out", out.buffer(), 0)
            .u32("columns", rows.columns)
            .u32("step", rows.step);
        let args = numbers
            .iter()
            .fold(args, |args, &(name, number)| args.u32(name, number));
        self.launch(kernel, [rows.count, 1, 1], &args)?;
        Ok(Some(out))
    }
}
