//! Places in sorted arrays: `hip/ops/arrays/search.hip`.

use super::numbers::is_known;
use super::run::THREADS;
use super::wide::of_its_own;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::Dtype;
use std::sync::Arc;

impl Place {
    /// Where values would be put in a sorted `x`.
    pub(super) fn search_sorted(
        self: &Arc<Self>,
        x: &Elements,
        values: &Elements,
        right: bool,
    ) -> Result<Option<Elements>> {
        if x.dtype() == values.dtype()
            && let Some(of) = of_its_own(x.dtype())
        {
            return match (self.keys(x, of)?, self.keys(values, of)?) {
                (Some(x), Some(values)) => self.search_sorted(&x, &values, right),
                _ => Ok(None),
            };
        }
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
            .buffer("x", x.buffer(), x.offset())
            .buffer("values", values.buffer(), values.offset())
            .buffer("out", out.buffer(), 0)
            .u32("count", count)
            .u32("size", x.count() as u32)
            .u32("dtype", x.dtype() as u32)
            .u32("right", right.into());
        self.launch(
            "mlxrocm_array_search",
            [count.div_ceil(THREADS), 1, 1],
            &args,
        )?;
        Ok(Some(out))
    }
}
