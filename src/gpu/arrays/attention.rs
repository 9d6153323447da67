//! Attention by the matrix unit, and of few queries: `attention_tiles.hip`, `attention_warps.hip`, `attention_warpgroup.hip`
//! and `attention_parts.hip` of `hip/ops/arrays` (`attention_step.rs` has what goes with it in a step of one token).

use super::numbers::suffix;
use super::{Elements, Place};
use crate::Result;
use crate::driver::Platform;
use crate::gpu::constants::{
    arrays_attention_parts as attention_parts, arrays_attention_tiles as attention_tiles,
};
use crate::gpu::{Args, DeviceBuffer};
use crate::ir::Dtype;
use std::sync::Arc;

/// Queries that a block of the matrix unit takes, and those that are few.
const TILE: u32 = attention_tiles::QUERIES as u32;
const FEW: u32 = 16;
/// Keys or values, 128 each, of a block of `attention_warpgroup.hip`.
const WARPGROUP_SLOTS: u32 = 4;
/// Queries that share what a block of the other form reads; the fewest keys of a part, and the most parts.
const SHARED_QUERIES: u32 = attention_parts::SHARED_QUERIES as u32;
const PART: u32 = 32;
const PARTS: u32 = attention_parts::MOST_PARTS as u32;
/// Blocks with which a GPU is busy. Not what it has: results are the same on all. Fewer groups than this are taken in parts.
const BUSY: u32 = attention_parts::MOST_GROUPS as u32;

/// An attention whose operands lie row after row.
pub(super) struct Attention<'a> {
    pub q: &'a Elements,
    pub k: &'a Elements,
    pub v: &'a Elements,
    pub mask: Option<&'a Elements>,
    pub mask_strides: [i32; 4],
    pub sinks: Option<&'a Elements>,
    pub causal: bool,
    pub scale: f32,
}

/// What kernels call the strides of a mask.
pub(super) const MASK_STRIDES: [&str; 4] = ["mask_batch", "mask_head", "mask_row", "mask_key"];

/// Sizes as kernels take them.
pub(super) struct Sizes {
    pub(super) batch: u32,
    pub(super) heads: u32,
    pub(super) kv_heads: u32,
    pub(super) rows: u32,
    pub(super) keys: u32,
    pub(super) dim: u32,
}

/// How a form in parts of the keys is launched.
pub(super) struct Parts {
    pub blocks: [u32; 3],
    of_part: u32,
    /// What parts leave for the last one.
    between: DeviceBuffer,
    counters: Option<DeviceBuffer>,
}

impl Parts {
    pub(super) fn args(&self, args: Args, out: &Elements) -> Args {
        let counters = self.counters.as_ref();
        args.buffer("parts", &self.between, 0)
            .buffer("out", out.buffer(), 0)
            .buffer_or_null("counters", counters.map(|counters| (counters, 0)))
            .u32("of_part", self.of_part)
    }
}

impl Attention<'_> {
    /// `None` if some number is too large, or values are not as wide as keys.
    pub(super) fn sizes(&self) -> Option<Sizes> {
        let (&[batch, heads, rows, dim], &[_, kv_heads, keys, _], &[.., width]) = (
            self.q.layout().sizes.as_slice(),
            self.k.layout().sizes.as_slice(),
            self.v.layout().sizes.as_slice(),
        ) else {
            return None;
        };
        let number = |size: usize| u32::try_from(size).ok();
        let sizes = Sizes {
            batch: number(batch)?,
            heads: number(heads)?,
            kv_heads: number(kv_heads)?,
            rows: number(rows)?,
            keys: number(keys)?,
            dim: number(dim)?,
        };
        (width == dim).then_some(sizes)
    }

    /// Whether kernels besides the plain one take it: 16 bytes at a time, heads of up to 128 numbers.
    pub(super) fn lies_well(&self, sizes: &Sizes) -> bool {
        let dtype = self.q.dtype();
        let bytes = sizes.dim as usize * dtype.size();
        let most = attention_parts::COLUMNS * dtype.size();
        let aligned = |x: &&Elements| x.offset().is_multiple_of(16);
        let mask_fits = |mask: &Elements| mask.dtype() == Dtype::Bool || mask.dtype() == dtype;
        [self.q, self.k, self.v].iter().all(aligned)
            && self.mask.is_none_or(mask_fits)
            && bytes <= most
            && bytes.is_multiple_of(16)
    }

    pub(super) fn inputs(&self) -> Args {
        Args::new()
            .buffer("q", self.q.buffer(), self.q.offset())
            .buffer("k", self.k.buffer(), self.k.offset())
            .buffer("v", self.v.buffer(), self.v.offset())
            .buffer_or_null("mask", self.mask.map(|x| (x.buffer(), x.offset())))
            .buffer_or_null("sinks", self.sinks.map(|x| (x.buffer(), x.offset())))
    }

    /// `SCORES_PARAMETERS`.
    pub(super) fn scores(&self, args: Args, sizes: &Sizes) -> Args {
        let truth = self.mask.is_some_and(|mask| mask.dtype() == Dtype::Bool);
        let args = args
            .u32("heads", sizes.heads)
            .u32("kv_heads", sizes.kv_heads)
            .u32("rows", sizes.rows)
            .u32("keys", sizes.keys)
            .u32("dim", sizes.dim)
            .u32("mask_is_truth", truth.into())
            .u32("causal", self.causal.into())
            .f32("scale", self.scale);
        let strides = MASK_STRIDES.into_iter().zip(self.mask_strides);
        strides.fold(args, |args, (name, stride)| args.i32(name, stride))
    }
}

impl Place {
    /// Into `out`, row after row, which has elements; false if there is no such form.
    pub(super) fn attention_well(
        self: &Arc<Self>,
        what: &Attention<'_>,
        out: &Elements,
    ) -> Result<bool> {
        let dtype = out.dtype();
        let Some(sizes) = what.sizes().filter(|sizes| what.lies_well(sizes)) else {
            return Ok(false);
        };
        if self.attention_by_warpgroups(what, &sizes, out)? {
            return Ok(true);
        }
        let blocks = [sizes.rows.div_ceil(TILE), sizes.batch * sizes.heads, 1];
        // As attention_tiles.hip says.
        let no_bf16 =
            dtype == Dtype::Bf16 && sizes.dim > 64 && self.device.facts().arch.starts_with("gfx10");
        let by_tiles = dtype != Dtype::F32 && !no_bf16;
        if sizes.rows > FEW && by_tiles && blocks[1] <= 65_535 {
            let wide = if sizes.dim <= 64 { 64 } else { 128 };
            let nvidia = self.device.facts().platform == Platform::Cuda;
            // The form of one vendor has no masks and no padding.
            let form = match nvidia && what.mask.is_none() && sizes.dim == wide {
                true => "warps",
                false => "tiles",
            };
            let kernel = format!("mlxrocm_array_attention_{form}_{wide}_{}", suffix(dtype));
            let kernel = self.device.kernel(&kernel)?;
            let args = what.scores(what.inputs().buffer("out", out.buffer(), 0), &sizes);
            let threads = 4 * self.device.facts().wave_size;
            self.launch_blocks(&kernel, blocks, ([threads, 1, 1], 0), &args)?;
            return Ok(true);
        }
        self.attention_in_parts(what, &sizes, out)
    }

    /// By `attention_warpgroup.hip`; false if it is not one for it.
    fn attention_by_warpgroups(
        self: &Arc<Self>,
        what: &Attention<'_>,
        sizes: &Sizes,
        out: &Elements,
    ) -> Result<bool> {
        let dtype = out.dtype();
        let plain = what.mask.is_none() && what.scale > 0.0 && what.scale.is_finite();
        let all_see = !what.causal || sizes.keys >= sizes.rows;
        let (tiles, wide) = (sizes.rows.div_ceil(2 * TILE), matches!(sizes.dim, 64 | 128));
        let fits = sizes.rows > TILE && tiles <= 65_535 && wide && self.has_warpgroups(dtype);
        if !plain || !all_see || !fits {
            return Ok(false);
        }
        let name = format!(
            "mlxrocm_array_attention_warpgroup_{}_{}",
            sizes.dim,
            suffix(dtype)
        );
        let Ok(kernel) = self.device.kernel(&name) else {
            return Ok(false);
        };
        let args = what.scores(what.inputs().buffer("out", out.buffer(), 0), sizes);
        let blocks = [sizes.batch * sizes.heads, tiles, 1];
        let shared = 1024 + (1 + WARPGROUP_SLOTS) * 256 * sizes.dim + 8 + 16 * WARPGROUP_SLOTS;
        self.launch_blocks(&kernel, blocks, ([384, 1, 1], shared), &args)?;
        Ok(true)
    }

    fn attention_in_parts(
        self: &Arc<Self>,
        what: &Attention<'_>,
        sizes: &Sizes,
        out: &Elements,
    ) -> Result<bool> {
        let Some(parts) = self.parts(sizes)? else {
            return Ok(false);
        };
        let args = parts.args(what.inputs(), out);
        let kernel = format!("mlxrocm_array_attention_parts_{}", suffix(out.dtype()));
        self.launch(&kernel, parts.blocks, &what.scores(args, sizes))?;
        Ok(true)
    }

    /// By how many blocks a form in parts is launched, and what it needs; `None` if they are too many.
    pub(super) fn parts(self: &Arc<Self>, sizes: &Sizes) -> Result<Option<Parts>> {
        let of_kv = sizes.heads / sizes.kv_heads.max(1) * sizes.rows;
        let groups = of_kv.div_ceil(SHARED_QUERIES);
        let kv = sizes.batch * sizes.kv_heads;
        if groups > 65_535 || kv > 65_535 {
            return Ok(None);
        }
        // More parts only until there is enough to do.
        let wanted = BUSY.div_ceil((groups * kv).max(1));
        let parts = sizes.keys.div_ceil(PART).min(wanted).clamp(1, PARTS);
        let of_part = sizes.keys.div_ceil(parts);
        let parts = sizes.keys.div_ceil(of_part.max(1)).max(1);
        let queries = sizes.batch * sizes.heads * sizes.rows;
        let numbers = queries as usize * parts as usize * (sizes.dim as usize + 2);
        Ok(Some(Parts {
            blocks: [parts, groups, kv],
            of_part,
            between: self.memory(numbers, Dtype::F32)?,
            counters: match parts {
                1 => None,
                _ => Some(self.counters()?),
            },
        }))
    }
}
