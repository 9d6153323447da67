//! Functions of rows and products of matrices: `hip/ops/arrays/rows.hip`, `row_vectors.h`, `matmul.hip`.

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
        let mut args = Args::new().buffer(x.buffer(), x.offset());
        for vector in &vectors {
            args = args.buffer_or_null(vector.as_ref().map(|x| (x.buffer(), x.offset())));
        }
        let lanes = lanes_of(&x, columns, &vectors);
        if lanes.is_some() && kernel == "mlxrocm_array_rms_norm" {
            // The kernels in registers take a bias, too.
            args = args.buffer_or_null(None);
        }
        args = args.buffer(out.buffer(), 0);
        let (args, blocks) = match lanes {
            Some(lanes) => {
                let args = args.u32(rows).u32(columns as u32).u32(lanes);
                (args, rows.div_ceil(THREADS / lanes))
            }
            None => (args.u32(columns as u32).u32(x.dtype() as u32), rows),
        };
        let args = match eps {
            Some(eps) => args.f32(eps.get() as f32),
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

    pub(super) fn matmul(
        self: &Arc<Self>,
        a: &Elements,
        b: &Elements,
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        if !is_float(a.dtype()) || a.dtype() != b.dtype() {
            return Ok(None);
        }
        let [batch @ .., m, n] = sizes else {
            return Ok(None);
        };
        let batches: usize = batch.iter().product();
        let ([.., m32, n32], Some(k)) = ([*m as u32, *n as u32], a.layout().sizes.last()) else {
            return Ok(None);
        };
        let (Some((out, count)), Some(left), Some(right)) = (
            self.new_rows(sizes, a.dtype())?,
            Strides::of(a, batch),
            Strides::of(b, batch),
        ) else {
            return Ok(None);
        };
        let blocks = [n32.div_ceil(64), m32.div_ceil(64), batches as u32];
        if count == 0 || blocks[1] > 65_535 || blocks[2] > 65_535 {
            return Ok((count == 0).then_some(out));
        }
        let mut shape = [1u32; 3];
        for (to, &size) in shape.iter_mut().rev().zip(batch.iter().rev()) {
            *to = size as u32;
        }
        let mut args = Args::new()
            .buffer(a.buffer(), a.offset())
            .buffer(b.buffer(), b.offset())
            .buffer(out.buffer(), 0)
            .u32(m32)
            .u32(n32)
            .u32(*k as u32)
            .u32(a.dtype() as u32)
            .u32(shape[1])
            .u32(shape[2]);
        for stride in left.0.iter().chain(&right.0) {
            args = args.i32(*stride);
        }
        self.launch("mlxrocm_array_matmul", blocks, &args)?;
        Ok(Some(out))
    }
}

/// How many threads share a row that stays in registers (`row_vectors.h`); `None` if it is too long for that, or not
/// whole and aligned groups of 16 bytes.
fn lanes_of(x: &Elements, columns: usize, vectors: &[Option<Elements>]) -> Option<u32> {
    /// Groups of a thread.
    const GROUPS: usize = 4;
    let bytes = columns * x.dtype().size();
    let aligned = |x: &Elements| x.is_aligned(16);
    let all = aligned(x) && vectors.iter().flatten().all(aligned) && bytes.is_multiple_of(16);
    let lanes = [8, 32, 256].into_iter();
    let mut fits = lanes.filter(|lanes| bytes <= lanes * GROUPS * 16);
    fits.next().filter(|_| all).map(|lanes| lanes as u32)
}

/// The strides of up to three batch axes, rows and columns.
struct Strides([i32; 5]);

impl Strides {
    fn of(x: &Elements, batch: &[usize]) -> Option<Strides> {
        let [outer @ .., row, column] = x.layout().strides.as_slice() else {
            return None;
        };
        if outer.len() != batch.len() || batch.len() > 3 {
            return None;
        }
        let mut strides = [0; 5];
        for (to, &stride) in strides[..3].iter_mut().rev().zip(outer.iter().rev()) {
            *to = i32::try_from(stride).ok()?;
        }
        strides[3] = i32::try_from(*row).ok()?;
        strides[4] = i32::try_from(*column).ok()?;
        Some(Strides(strides))
    }
}
