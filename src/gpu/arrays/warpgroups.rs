//! Products by NVIDIA's warpgroups: `product_warpgroup.h` and `product_warpgroup_f32.hip` of `hip/ops/arrays`.

use super::matrices::{Product, suffix};
use super::run::THREADS;
use super::{Elements, Place};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::{arrays_product_warpgroup_f32, network_product_warpgroup};
use crate::ir::{Dtype, Layout, QuantMode};
use std::sync::Arc;

/// Blocks of all kernels of one launch.
pub(super) const MOST_BLOCKS: usize = 1 << 23;

/// Numbers of k of a step of `product_warpgroup.h`, and rows of a tile.
pub(super) const STEP: usize = 64;
const ROWS: usize = 128;
/// Its columns of a tile and its steps in shared memory, and what a round of tiles takes beside the other's.
const WARPGROUPS: [(usize, usize, usize); 2] = [(256, 4, 115), (128, 6, 76)];

/// Rows that `product_codes_rows.hip` takes.
pub(super) const MOST_OF_CODES: usize = 64;

/// Blocks of `product_split`, and the fewest multiplications of a product of parts.
const SPLIT_BLOCKS: usize = arrays_product_warpgroup_f32::SPLIT_BLOCKS;
const LEAST_OF_PARTS: usize = 1 << 28;

/// How many elements there are from the first to the last, if that is not much more than how many are looked at.
pub(super) fn span(x: &Elements) -> Option<usize> {
    let layout = x.layout();
    let mut last = 0usize;
    for (&size, &stride) in layout.sizes.iter().zip(&layout.strides) {
        last += usize::try_from(stride).ok()? * size.checked_sub(1)?;
    }
    (last < 2 * x.count() && last < 1 << 31).then_some(last + 1)
}

impl Place {
    /// Whether there are kernels of `product_warpgroup.h`.
    pub(super) fn has_warpgroups(&self, dtype: Dtype) -> bool {
        matches!(dtype, Dtype::F16 | Dtype::Bf16) && self.device.facts().arch == "sm_90"
    }

    /// A product by `product_warpgroup.h`; false if it is not one for them.
    pub(super) fn by_warpgroups(
        &self,
        product: &Product<'_>,
        out: &Elements,
        batches: usize,
    ) -> Result<bool> {
        let (left, right) = (&product.left, &product.right);
        let fits = left.along && left.whole && right.whole && product.n.is_multiple_of(8);
        let plain = product.codes.is_none() && product.words[2].is_none() && !product.turned;
        let large = product.m > STEP && product.n > STEP && product.k > 0;
        if !self.has_warpgroups(out.dtype()) || !fits || !plain || !large {
            return Ok(false);
        }
        let across = if right.along { "" } else { "across_" };
        self.by_tiles(
            |columns| {
                let name = format!("product_warpgroup_{columns}_{across}");
                (name, product.args(out, product.n.div_ceil(columns)))
            },
            (product.m, product.n, batches),
            out.dtype(),
        )
    }

    /// Launches a kernel of `product_warpgroup.h` for a result of these rows, columns and batches: `of` says its name and
    /// arguments for tiles of so many columns. False if there is no such kernel.
    pub(super) fn by_tiles(
        &self,
        of: impl Fn(usize) -> (String, Args),
        (m, n, batches): (usize, usize, usize),
        dtype: Dtype,
    ) -> Result<bool> {
        let units = (self.device.facts().compute_units as usize).max(1);
        let tiles = |columns: usize| m.div_ceil(ROWS) * n.div_ceil(columns) * batches;
        let cost = |of: &&(usize, usize, usize)| tiles(of.0).div_ceil(units) * of.2;
        let Some(&(columns, stages, _)) = WARPGROUPS.iter().min_by_key(cost) else {
            return Ok(false);
        };
        let (name, args) = of(columns);
        let name = format!("mlxrocm_array_{name}{}", suffix(dtype));
        let Ok(kernel) = self.device.kernel(&name) else {
            return Ok(false);
        };
        // Results of eight warps go by way of shared memory.
        let staged = 8 * network_product_warpgroup::STAGED_BYTES;
        let shared = stages * ((ROWS + columns) * 128 + 16) + 1024 + staged;
        let grid = [tiles(columns).min(units) as u32, 1, 1];
        self.launch_blocks(&kernel, grid, ([384, 1, 1], shared as u32), &args)?;
        Ok(true)
    }

    /// A product of few rows by `product_codes_rows.hip`; false if it is not one for it.
    pub(super) fn by_codes(
        &self,
        product: &Product<'_>,
        out: &Elements,
        batches: usize,
    ) -> Result<bool> {
        let Some((q, ..)) = product.codes else {
            return Ok(false);
        };
        let (left, right) = (&product.left, &product.right);
        let affine = q.mode == QuantMode::Affine && q.bits == 4 && q.group.is_multiple_of(STEP);
        let fits = left.along && left.whole && right.along && right.elements.is_aligned(16);
        let plain = product.words[2].is_none() && product.k.is_multiple_of(STEP);
        let few = (2..=MOST_OF_CODES).contains(&product.m);
        if out.dtype() == Dtype::F32 || !affine || !fits || !plain || !few {
            return Ok(false);
        }
        let (rows, columns) = match product.m {
            2..17 => (16, 16),
            17..33 => (32, 32),
            _ => (64, 32),
        };
        let name = format!(
            "mlxrocm_array_product_codes_{rows}_rows_{}",
            suffix(out.dtype())
        );
        let across = product.n.div_ceil(columns);
        let (Ok(kernel), true) = (self.device.kernel(&name), across * batches <= MOST_BLOCKS)
        else {
            return Ok(false);
        };
        let grid = [
            (across * batches) as u32,
            product.m.div_ceil(rows) as u32,
            1,
        ];
        let args = product.args(out, across);
        self.launch_blocks(&kernel, grid, ([THREADS, 1, 1], 0), &args)?;
        Ok(true)
    }

    /// Whether products of f32 matrices of these sizes are made of parts (`product_warpgroup_f32.hip`).
    pub(super) fn takes_parts(&self, m: usize, n: usize, k: usize) -> bool {
        let large = m > STEP && n > STEP && k >= 2 * STEP && m * n * k >= LEAST_OF_PARTS;
        large && self.device.facts().arch == "sm_90"
    }

    /// A product by `product_warpgroup_f32.hip`, and by `product_f32.hip` where numbers do not fit it; false if it is not
    /// one for them.
    pub(super) fn by_parts(
        self: &Arc<Self>,
        product: &mut Product<'_>,
        out: &Elements,
        batches: usize,
    ) -> Result<bool> {
        let (left, right) = (&product.left, &product.right);
        let sizes = self.takes_parts(product.m, product.n, product.k);
        let tiles = product.m.div_ceil(ROWS) * product.n.div_ceil(ROWS) * batches;
        let grid = [product.n.div_ceil(ROWS) * batches, product.m.div_ceil(ROWS)];
        let small = grid[0] <= MOST_BLOCKS && grid[1] <= 65_535;
        if out.dtype() != Dtype::F32 || !product.lies_in_eights() || !sizes || !small {
            return Ok(false);
        }
        let across = if right.along { "" } else { "across_" };
        let name = format!("mlxrocm_array_product_parts_{across}f32");
        let (Some(of_left), Some(of_right)) = (span(&left.elements), span(&right.elements)) else {
            return Ok(false);
        };
        let (Ok(split), Ok(kernel)) = (
            self.device.kernel("mlxrocm_array_product_split"),
            self.device.kernel(&name),
        ) else {
            return Ok(false);
        };
        let exponents = self.memory(2 * SPLIT_BLOCKS, Dtype::U32)?;
        let mut parts = Vec::with_capacity(2);
        for (place, (x, span)) in [(&left.elements, of_left), (&right.elements, of_right)]
            .into_iter()
            .enumerate()
        {
            let memory = self.memory(3 * span, Dtype::Bf16)?;
            let args = Args::new()
                .buffer("x", x.buffer(), x.offset())
                .buffer("parts", &memory, 0)
                .buffer("exponents", &exponents, (place * SPLIT_BLOCKS * 4) as u64)
                .u32("count", span as u32)
                .u32("plane", span as u32);
            let grid = [SPLIT_BLOCKS as u32, 1, 1];
            self.launch_blocks(&split, grid, ([THREADS, 1, 1], 0), &args)?;
            let layout = Layout::rows(&[3, span]);
            parts.push(Elements::new(self.clone(), memory, Dtype::Bf16, layout)?);
        }
        let mut swap = |product: &mut Product<'_>| {
            std::mem::swap(&mut product.left.elements, &mut parts[0]);
            std::mem::swap(&mut product.right.elements, &mut parts[1]);
        };
        swap(product);
        let args = product
            .args(out, product.n.div_ceil(ROWS))
            .buffer("exponents", &exponents, 0)
            .u32("left_plane", of_left as u32)
            .u32("right_plane", of_right as u32);
        swap(product);
        let units = (self.device.facts().compute_units as usize).max(1);
        let blocks = [tiles.min(units) as u32, 1, 1];
        // Two steps of three parts of both sides.
        let shared = 2 * (6 * ROWS * 128 + 16) + 1024;
        self.launch_blocks(&kernel, blocks, ([384, 1, 1], shared as u32), &args)?;
        let args = product
            .args(out, grid[0] / batches)
            .buffer("exponents", &exponents, 0);
        let grid = [grid[0] as u32, grid[1] as u32, 1];
        self.launch("mlxrocm_array_product_left_f32", grid, &args)?;
        Ok(true)
    }
}
