//! Running totals and sorted rows: `hip/ops/arrays/order.hip`.

use super::numbers::{is_float, is_known};
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Dtype, Scan};
use std::sync::Arc;

/// The longest row that one block sorts.
const SORTED: usize = 2048;

/// Rows along an axis of elements that lie row after row.
pub(super) struct Rows {
    pub count: u32,
    pub columns: u32,
    pub step: u32,
}

impl Rows {
    pub fn along(sizes: &[usize], axis: usize) -> Option<Rows> {
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
        let sums = kind != Scan::LogAddExp || is_float(x.dtype());
        if !is_known(x.dtype()) || x.dtype() != to || !sums {
            return Ok(None);
        }
        let numbers = [
            match kind {
                Scan::Sum => 0,
                Scan::Prod => 1,
                Scan::Min => 2,
                Scan::Max => 3,
                Scan::LogAddExp => 4,
            },
            x.dtype() as u32,
            reverse.into(),
            inclusive.into(),
        ];
        self.by_axis("mlxrocm_array_scan", x, axis, to, &numbers)
    }

    /// Sorted elements, or their places (u32).
    pub(super) fn sort(
        self: &Arc<Self>,
        x: &Elements,
        axis: usize,
        to: Dtype,
        places: bool,
    ) -> Result<Option<Elements>> {
        if !is_known(x.dtype()) {
            return Ok(None);
        }
        if x.layout().sizes[axis] > SORTED {
            return match self.rows(x)? {
                Some(x) => self.sort_long(&x, axis, to, places),
                None => Ok(None),
            };
        }
        let numbers = [x.dtype() as u32, places.into()];
        self.by_axis("mlxrocm_array_sort", x, axis, to, &numbers)
    }

    fn by_axis(
        self: &Arc<Self>,
        kernel: &str,
        x: &Elements,
        axis: usize,
        to: Dtype,
        numbers: &[u32],
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
            .buffer(x.buffer(), x.offset())
            .buffer(out.buffer(), 0)
            .u32(rows.columns)
            .u32(rows.step);
        let args = numbers.iter().fold(args, |args, &number| args.u32(number));
        self.launch(kernel, [rows.count, 1, 1], &args)?;
        Ok(Some(out))
    }
}
