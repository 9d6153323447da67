//! Functions of rows: `hip/ops/arrays/rows.hip`.

use super::numbers::is_float;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::Number;
use std::sync::Arc;

impl Place {
    /// A function of the rows of `x`, with vectors as long as they.
    pub(super) fn by_rows(
        self: &Arc<Self>,
        kernel: &str,
        x: &Elements,
        vectors: &[Option<&Elements>],
        eps: Option<Number>,
    ) -> Result<Option<Elements>> {
        let same = vectors.iter().flatten().all(|v| v.dtype() == x.dtype());
        if !is_float(x.dtype()) || !same {
            return Ok(None);
        }
        let Some(x) = self.rows(x)? else {
            return Ok(None);
        };
        let vectors = vectors.iter().map(|v| match v {
            Some(v) => self.rows(v),
            None => Ok(None),
        });
        let vectors = vectors.collect::<Result<Vec<_>>>()?;
        let sizes = x.layout().sizes.clone();
        let columns = sizes.last().copied().unwrap_or(1);
        let Some((out, count)) = self.new_rows(&sizes, x.dtype())? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let mut args = Args::new().buffer(x.buffer(), x.offset());
        for vector in &vectors {
            args = args.buffer_or_null(vector.as_ref().map(|x| (x.buffer(), x.offset())));
        }
        args = args
            .buffer(out.buffer(), 0)
            .u32(columns as u32)
            .u32(x.dtype() as u32);
        if let Some(eps) = eps {
            args = args.f32(eps.get() as f32);
        }
        self.launch(kernel, [count / columns as u32, 1, 1], &args)?;
        Ok(Some(out))
    }
}
