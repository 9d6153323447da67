//! Orders and running totals of complex numbers: `hip/ops/arrays/complex_order.hip`, `complex_scan.hip`.

use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::arrays_complex_scan as scans;
use crate::ir::{Dtype, Scan};
use std::sync::Arc;

impl Place {
    /// Whole numbers (u64) in the order of complex ones, row after row.
    pub(super) fn complex_keys(self: &Arc<Self>, x: &Elements) -> Result<Option<Elements>> {
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
            self.launch("mlxrocm_array_complex_keys", grid, &args)?;
        }
        Ok(Some(keys))
    }

    /// As [`Place::sort`]: equal numbers, and those with a NaN, as they were.
    pub(super) fn complex_sort(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        places: bool,
    ) -> Result<Option<Elements>> {
        let Some(keys) = self.complex_keys(x)? else {
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
    pub(super) fn complex_scan(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        kind: Scan,
        (reverse, inclusive): (bool, bool),
    ) -> Result<Option<Elements>> {
        let scan = match kind {
            Scan::Sum => Some(scans::SUM),
            Scan::Prod => Some(scans::PROD),
            Scan::Min => Some(scans::MIN),
            Scan::Max => Some(scans::MAX),
            Scan::LogAddExp => None,
        };
        let how = [
            ("backwards", reverse.into()),
            ("inclusive", inclusive.into()),
        ];
        match scan {
            Some(scan) => {
                let numbers = [("scan", scan), how[0], how[1]];
                self.by_axis("mlxrocm_array_complex_scan", x, axis, Dtype::C64, &numbers)
            }
            None => self.by_axis("mlxrocm_array_complex_scan_logs", x, axis, Dtype::C64, &how),
        }
    }
}
