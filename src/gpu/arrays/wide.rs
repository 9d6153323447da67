//! Orders and running totals of complex numbers and of f64: `hip/ops/arrays/complex_order.hip`, `complex_scan.hip`,
//! `complex_rows.hip`, `f64_order.hip`.

use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::arrays_f64_order as scans;
use crate::ir::{Dtype, Scan};
use std::sync::Arc;

/// What the kernels of a dtype that has its own are called; `None` for others.
pub(super) fn of_its_own(dtype: Dtype) -> Option<&'static str> {
    match dtype {
        Dtype::C64 => Some("complex"),
        Dtype::F64 => Some("f64"),
        _ => None,
    }
}

impl Place {
    /// Whole numbers (u64) in the order of wide ones, row after row.
    pub(super) fn keys(self: &Arc<Self>, x: &Elements, of: &str) -> Result<Option<Elements>> {
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let Some((keys, count)) = self.new_rows(&x.layout().sizes, Dtype::U64)? else {
            return Ok(None);
        };
        if count > 0 {
            let args = Args::new()
                .buffer("x", x.buffer(), x.offset())
                .buffer("out", keys.buffer(), 0)
                .u32("count", count);
            let grid = [count.div_ceil(THREADS), 1, 1];
            self.launch(&format!("mlxrocm_array_{of}_keys"), grid, &args)?;
        }
        Ok(Some(keys))
    }

    /// As [`Place::sort`]: equal numbers, and those with a NaN, as they were.
    pub(super) fn wide_sort(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        places: bool,
        of: &str,
    ) -> Result<Option<Elements>> {
        let Some(keys) = self.keys(x, of)? else {
            return Ok(None);
        };
        let Some(order) = self.sort(&keys, axis, Dtype::U32, true)? else {
            return Ok(None);
        };
        match places {
            true => Ok(Some(order)),
            false if x.count() == 0 => self.rows(x),
            false => self.take_along(x, &order, axis),
        }
    }

    /// As [`Place::scan`].
    pub(super) fn wide_scan(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        kind: Scan,
        (reverse, inclusive): (bool, bool),
        of: &str,
    ) -> Result<Option<Elements>> {
        let scan = match kind {
            Scan::Sum => scans::SUM,
            Scan::Prod => scans::PROD,
            Scan::Min => scans::MIN,
            Scan::Max => scans::MAX,
            Scan::LogAddExp => scans::LOGS,
        };
        let numbers = [
            ("scan", scan),
            ("backwards", reverse.into()),
            ("inclusive", inclusive.into()),
        ];
        let dtype = x.dtype();
        // Logarithms of complex numbers have a kernel of their own.
        match (kind, dtype) {
            (Scan::LogAddExp, Dtype::C64) => {
                let kernel = "mlxrocm_array_complex_scan_logs";
                self.by_axis(kernel, x, axis, dtype, &numbers[1..])
            }
            _ => {
                let kernel = format!("mlxrocm_array_{of}_scan");
                self.by_axis(&kernel, x, axis, dtype, &numbers)
            }
        }
    }

    /// Softmax of rows.
    pub(super) fn wide_softmax(
        self: &Arc<Self>,
        x: &Elements,
        of: &str,
    ) -> Result<Option<Elements>> {
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let sizes = x.layout().sizes.clone();
        let Some((out, count)) = self.new_rows(&sizes, x.dtype())? else {
            return Ok(None);
        };
        if count > 0 {
            let columns = sizes.last().map_or(1, |&columns| columns as u32);
            let args = Args::new()
                .buffer("x", x.buffer(), x.offset())
                .buffer("out", out.buffer(), 0)
                .u32("columns", columns);
            let rows = [count / columns, 1, 1];
            self.launch(&format!("mlxrocm_array_{of}_softmax"), rows, &args)?;
        }
        Ok(Some(out))
    }
}
