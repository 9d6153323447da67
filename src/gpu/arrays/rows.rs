//! Functions of rows: `hip/ops/arrays/rows.hip`, `row_vectors.h`.

use super::numbers::{is_float, suffix};
use super::run::THREADS;
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
        let rows = count / columns as u32;
        let mut args = Args::new().buffer("x", x.buffer(), x.offset());
        for (name, vector) in ["weight", "bias"].into_iter().zip(&vectors) {
            args = args.buffer_or_null(name, vector.as_ref().map(|x| (x.buffer(), x.offset())));
        }
        let lanes = lanes_of(&x, columns, &vectors);
        if lanes.is_some() && kernel == "mlxrocm_array_rms_norm" {
            // The kernels in registers take a bias, too.
            args = args.buffer_or_null("bias", None);
        }
        args = args.buffer("out", out.buffer(), 0);
        let (args, blocks) = match lanes {
            Some(lanes) => {
                let args = args
                    .u32("rows", rows)
                    .u32("columns", columns as u32)
                    .u32("lanes", lanes);
                (args, rows.div_ceil(THREADS / lanes))
            }
            None => (
                args.u32("columns", columns as u32)
                    .u32("dtype", x.dtype() as u32),
                rows,
            ),
        };
        let args = match eps {
            Some(eps) => args.f32("eps", eps.get() as f32),
            None => args,
        };
        match lanes {
            Some(_) => {
                let kernel = format!("{kernel}_{}", suffix(x.dtype()));
                self.launch(&kernel, [blocks, 1, 1], &args)?;
            }
            None => self.launch(kernel, [blocks, 1, 1], &args)?,
        }
        Ok(Some(out))
    }
}

/// How many threads share a row that stays in registers (`row_vectors.h`); `None` if it is too long for that, or not
/// whole and aligned groups of 16 bytes.
pub(super) fn lanes_of(x: &Elements, columns: usize, vectors: &[Option<Elements>]) -> Option<u32> {
    /// Bytes of a thread.
    const EACH: usize = 64;
    let bytes = columns * x.dtype().size();
    let aligned = |x: &Elements| x.is_aligned(16);
    let all = aligned(x) && vectors.iter().flatten().all(aligned) && bytes.is_multiple_of(16);
    let lanes = bytes.div_ceil(EACH).next_power_of_two().max(4) as u32;
    Some(lanes).filter(|&lanes| all && lanes <= THREADS)
}
