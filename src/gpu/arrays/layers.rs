//! Attention and rotations: `hip/ops/arrays/attention.hip`.

use super::attention::{Attention, MASK_STRIDES};
use super::numbers::{is_float, is_known, suffix};
use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Dtype, Op, Rope};
use std::sync::Arc;

/// Angles of a block of `rope_vectors.hip`.
pub(super) const ANGLES: usize = crate::gpu::constants::arrays_rope_vectors::ANGLES;

/// The widest head that attention takes.
const WIDEST: usize = crate::gpu::constants::arrays_attention::WIDEST;

impl Place {
    /// `(q, k, v, [mask], [sinks])`.
    pub(super) fn attention(
        self: &Arc<Self>,
        op: &Op,
        inputs: &[&Elements],
        to: Dtype,
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let Op::ScaledDotProductAttention {
            scale,
            causal,
            mask,
            sinks,
        } = op
        else {
            return Ok(None);
        };
        let [q, k, v, more @ ..] = inputs else {
            return Ok(None);
        };
        let mut more = more.iter().copied();
        let mask = mask.then(|| more.next()).flatten();
        let sinks = sinks.then(|| more.next()).flatten();
        let float = [Some(*q), Some(*k), Some(*v), sinks];
        if !is_float(to) || float.iter().flatten().any(|x| x.dtype() != to) {
            return Ok(None);
        }
        let all = [q, k, v].map(|x| self.rows(x));
        let [Some(q), Some(k), Some(v)] = collected(all)? else {
            return Ok(None);
        };
        let sinks = match sinks {
            Some(sinks) => self.rows(sinks)?,
            None => None,
        };
        let mask_strides = match mask {
            Some(mask) => match self::mask_strides(mask) {
                Some(strides) => strides,
                None => return Ok(None),
            },
            None => [0; 4],
        };
        let (&[batch, heads, rows, dim], &[_, kv_heads, keys, _], &[.., width]) = (
            q.layout().sizes.as_slice(),
            k.layout().sizes.as_slice(),
            v.layout().sizes.as_slice(),
        ) else {
            return Ok(None);
        };
        let Some((out, count)) = self.new_rows(sizes, to)? else {
            return Ok(None);
        };
        if count == 0 || dim > WIDEST || width > WIDEST || keys == 0 || kv_heads == 0 {
            return Ok((count == 0).then_some(out));
        }
        let well = Attention {
            q: &q,
            k: &k,
            v: &v,
            mask,
            mask_strides,
            sinks: sinks.as_ref(),
            causal: *causal,
            scale: scale.get() as f32,
        };
        if self.attention_well(&well, &out)? {
            return Ok(Some(out));
        }
        let mut args = Args::new();
        for (name, x) in [("q", &q), ("k", &k), ("v", &v)] {
            args = args.buffer(name, x.buffer(), x.offset());
        }
        for (name, x) in [("mask", mask), ("sinks", sinks.as_ref())] {
            args = args.buffer_or_null(name, x.map(|x| (x.buffer(), x.offset())));
        }
        args = args.buffer("out", out.buffer(), 0);
        args = args
            .u32("heads", heads as u32)
            .u32("kv_heads", kv_heads as u32)
            .u32("rows", rows as u32)
            .u32("keys", keys as u32)
            .u32("dim", dim as u32)
            .u32("width", width as u32)
            .u32("dtype", to as u32)
            .u32("mask_dtype", mask.map_or(0, |mask| mask.dtype() as u32))
            .u32("causal", u32::from(*causal))
            .f32("scale", scale.get() as f32);
        for (name, stride) in MASK_STRIDES.into_iter().zip(mask_strides) {
            args = args.i32(name, stride);
        }
        let blocks = [(batch * heads * rows) as u32, 1, 1];
        self.launch("mlxrocm_array_attention", blocks, &args)?;
        Ok(Some(out))
    }

    /// `(x [batch, …, rows, columns], offset, [periods])`.
    pub(super) fn rope(
        self: &Arc<Self>,
        inputs: &[&Elements],
        rope: &Rope,
        sizes: &[usize],
    ) -> Result<Option<Elements>> {
        let [x, offset, periods @ ..] = inputs else {
            return Ok(None);
        };
        let periods = periods.first().map(|periods| self.rows(periods));
        let periods = periods.transpose()?.flatten();
        let fits = periods.as_ref().is_none_or(|p| p.dtype() == Dtype::F32)
            && (periods.is_some() || rope.base.is_some());
        let [Some(x), Some(offset)] = collected([self.rows(x), self.rows(offset)])? else {
            return Ok(None);
        };
        let &[batch, .., rows, columns] = sizes else {
            return Ok(None);
        };
        let whole = is_known(offset.dtype()) && !is_float(offset.dtype());
        let one = offset.count() == 1;
        let odd = !rope.dims.is_multiple_of(2)
            || rope.dims > columns
            || (!one && offset.count() != batch);
        if !fits || !is_float(x.dtype()) || !whole || odd {
            return Ok(None);
        }
        let Some((out, count)) = self.new_rows(sizes, x.dtype())? else {
            return Ok(None);
        };
        if count == 0 {
            return Ok(Some(out));
        }
        let args = Args::new()
            .buffer("x", x.buffer(), x.offset())
            .buffer("offset", offset.buffer(), offset.offset())
            .buffer_or_null(
                "periods",
                periods.as_ref().map(|x| (x.buffer(), x.offset())),
            )
            .buffer("out", out.buffer(), 0);
        let heads = count as usize / (batch * rows * columns);
        let part = rope_rows(&x, rope, heads, rows, batch);
        let args = match part {
            Some(_) => args.u32("heads", heads as u32),
            None => args
                .u32("count", count)
                .u32("per_batch", count / batch as u32),
        };
        let args = args
            .u32("rows", rows as u32)
            .u32("columns", columns as u32)
            .u32("dims", rope.dims as u32);
        let args = match part {
            Some(part) => args.u32("part", part as u32),
            None => args.u32("dtype", x.dtype() as u32),
        };
        let args = args
            .u32("offset_dtype", offset.dtype() as u32)
            .u32("one_offset", one.into());
        let args = pair_args(args, rope).f32("scale", rope.scale.get() as f32);
        match part {
            Some(part) => {
                let kernel = format!("mlxrocm_array_rope_{}", suffix(x.dtype()));
                let grid = [rows.div_ceil(part) as u32, batch as u32, 1];
                self.launch(&kernel, grid, &args)?;
            }
            None => self.launch("mlxrocm_array_rope", [count.div_ceil(THREADS), 1, 1], &args)?,
        }
        Ok(Some(out))
    }
}

/// Which numbers are a pair, and how fast pairs turn.
pub(super) fn pair_args(args: Args, rope: &Rope) -> Args {
    let log2_base = rope.base.map_or(1.0, |base| base.get().log2());
    args.u32("pairs_adjoin", rope.traditional.into())
        .f32("log2_base", log2_base as f32)
}

/// Rows of a block of `rope_vectors.hip`: enough for its threads; `None` if x does not lie well enough.
fn rope_rows(x: &Elements, rope: &Rope, heads: usize, rows: usize, batch: usize) -> Option<usize> {
    let half = rope.dims / 2;
    let groups = heads * rope_groups(x, rope)?;
    if batch > 65_535 {
        return None;
    }
    let wanted = (THREADS as usize).div_ceil(groups.max(1));
    Some(wanted.min(ANGLES / half).min(rows))
}

/// Groups of a row of `rope_vectors.hip`; `None` if x does not lie well enough.
pub(super) fn rope_groups(x: &Elements, rope: &Rope) -> Option<usize> {
    let width = 16 / x.dtype().size();
    let columns = x.layout().sizes.last().copied()?;
    let (half, adjoin) = (rope.dims / 2, rope.traditional);
    let side = if adjoin { rope.dims } else { half };
    let whole = [side, rope.dims, columns]
        .iter()
        .all(|x| x.is_multiple_of(width));
    let fits = whole && half > 0 && half <= ANGLES && x.is_aligned(16);
    fits.then(|| (columns - rope.dims + side) / width)
}

fn collected<const N: usize>(all: [Result<Option<Elements>>; N]) -> Result<[Option<Elements>; N]> {
    let mut result = [const { None }; N];
    for (to, element) in result.iter_mut().zip(all) {
        *to = element?;
    }
    Ok(result)
}

/// The strides of a mask `[batch, heads, rows, keys]`.
pub(super) fn mask_strides(mask: &Elements) -> Option<[i32; 4]> {
    let mut strides = [0; 4];
    let sizes = &mask.layout().sizes;
    if sizes.len() != 4 || !is_known(mask.dtype()) {
        return None;
    }
    let from = sizes.iter().zip(&mask.layout().strides);
    for (to, (&size, &stride)) in strides.iter_mut().zip(from) {
        *to = match size {
            1 => 0,
            _ => i32::try_from(stride).ok()?,
        };
    }
    Some(strides)
}
