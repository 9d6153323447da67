//! Which kernel makes a product, and its launch.

use super::Precision;
use super::launches::Batch;
use super::steps::{Matrix, Product};
use crate::gpu::constants::network_product_warpgroup;
use crate::gpu::{Args, DeviceBuffer, Kernel};
use crate::{Error, Result};

/// Threads of a block, rows and columns of its part of y, and bytes of its dynamic shared memory
/// (`hip/ops/network/product*.hip`).
struct Block {
    kernel: &'static str,
    threads: u32,
    rows: u32,
    columns: u32,
    shared_bytes: u32,
    /// What a tile takes beside others; 0: a block makes one, and rows of x and y need not be whole pieces of 16 bytes.
    cost: u32,
}

const fn block(kernel: &'static str, threads: u32, rows: u32, columns: u32) -> Block {
    Block {
        kernel,
        threads,
        rows,
        columns,
        shared_bytes: 0,
        cost: 0,
    }
}
/// Stages of x, W and bias, their barriers, what brings the first stage to a multiple of 1,024 bytes, and what results of 16 rows
/// take on their way to memory. `cost`: us of a round of tiles of 768 columns of x on an H200.
const fn stages(block: Block, count: u32, cost: u32) -> Block {
    let of_64 = network_product_warpgroup::STAGED_BYTES as u32;
    let staged = if block.columns.is_multiple_of(64) {
        of_64
    } else {
        of_64 / 2
    };
    let stage = (block.rows + block.columns) * 128 + block.columns * 4 + 16;
    Block {
        shared_bytes: count * stage + 1024 + block.rows / 16 * staged,
        cost,
        ..block
    }
}

const WARPGROUPS: &[Block] = &[
    stages(
        block("mlxrocm_network_product_warpgroup_256", 384, 128, 256),
        4,
        115,
    ),
    stages(
        block("mlxrocm_network_product_warpgroup_192", 384, 128, 192),
        5,
        97,
    ),
    stages(
        block("mlxrocm_network_product_warpgroup_64", 384, 128, 64),
        8,
        59,
    ),
    stages(
        block("mlxrocm_network_product_warpgroup_32", 256, 64, 32),
        16,
        34,
    ),
];
/// Of few rows of many columns: four warpgroups share the steps, and three of them have a part of the sums.
const SPLIT: Block = {
    let block = block("mlxrocm_network_product_warpgroup_split", 640, 64, 32);
    let block = stages(block, 16, 34);
    Block {
        shared_bytes: block.shared_bytes + 3 * block.rows * block.columns * 4,
        ..block
    }
};
/// Those of convolutions.
const WARPGROUP_CONVOLUTIONS: &[Block] = &[
    stages(
        block("mlxrocm_network_conv_warpgroup_256", 384, 128, 256),
        4,
        115,
    ),
    stages(
        block("mlxrocm_network_conv_warpgroup_64", 384, 128, 64),
        8,
        59,
    ),
    stages(
        block("mlxrocm_network_conv_warpgroup_32", 256, 64, 32),
        16,
        34,
    ),
];
/// Of both, on any device, the larger one first.
const TILES: &[Block] = &[
    block("mlxrocm_network_product", 256, 128, 128),
    block("mlxrocm_network_product_small", 256, 64, 32),
];
const F32: Block = block("mlxrocm_network_product_f32", 256, 64, 64);

impl Block {
    fn count(&self, rows: u32, columns: u32) -> u32 {
        rows.div_ceil(self.rows) * columns.div_ceil(self.columns)
    }
}

impl Batch<'_> {
    /// The block of a product of so many rows, and its kernel.
    fn block_of(
        &self,
        rows: u32,
        matrix: &Matrix,
        aligned: bool,
    ) -> Result<(&'static Block, Kernel)> {
        let device = self.network.device();
        if self.network.precision == Precision::F32 {
            return Ok((&F32, device.kernel(F32.kernel)?));
        }
        let (columns, units) = (matrix.columns as u32, device.facts().compute_units.max(1));
        // Elsewhere there are no such kernels: they would be compiled for nothing.
        if aligned && device.facts().arch == "sm_90" {
            let own = match matrix.taps {
                1 => WARPGROUPS,
                _ => WARPGROUP_CONVOLUTIONS,
            };
            // An item's one row has few blocks in any batch: the choice must not depend on the batch, as sums do.
            if rows as usize == self.items
                && matrix.sums_have_parts()
                && let Ok(kernel) = device.kernel(SPLIT.kernel)
            {
                return Ok((&SPLIT, kernel));
            }
            let cost = |block: &&Block| block.count(rows, columns).div_ceil(units) * block.cost;
            if let Some(block) = own.iter().min_by_key(cost)
                && let Ok(kernel) = device.kernel(block.kernel)
            {
                return Ok((block, kernel));
            }
        }
        // As many blocks as the device has units, unless much of each would be of columns that are none.
        let fits = |block: &&Block| {
            let padded = columns.next_multiple_of(block.columns);
            block.count(rows, columns) >= units && (padded - columns) * 8 <= columns
        };
        let block = TILES.iter().find(fits).unwrap_or(&TILES[1]);
        Ok((block, device.kernel(block.kernel)?))
    }

    /// A product's weights.
    pub(super) fn weights(&self, product: &Product) -> Result<&DeviceBuffer> {
        let weights = self.network.packed.matrices.get(product.matrix);
        let weights = weights.and_then(Option::as_ref);
        weights.ok_or_else(|| Error::Internal("a product without its matrix".into()))
    }

    pub(super) fn product(&mut self, product: &Product) -> Result<()> {
        let network = self.network;
        let plan = &network.plan;
        let weights = self.weights(product)?;
        let matrix = &plan.matrices[product.matrix];
        let x = &product.x;
        let of_item = x.layout.count() / matrix.inner.max(1);
        let (count, offset) = (plan.counts[x.buffer], x.layout.offset);
        // Rows of all items follow each other, or each item's begin anew.
        let (item_rows, item, first) = match count == x.layout.count() {
            true => (of_item * self.items, 0, 0),
            false => (of_item, count, offset),
        };
        let aligned = [matrix.inner, matrix.columns, item, first]
            .iter()
            .all(|n| n.is_multiple_of(8))
            && u32::try_from(count * self.items).is_ok();
        let rows = (of_item * self.items) as u32;
        let (block, kernel) = self.block_of(rows, matrix, aligned)?;
        let args = self
            .place(Args::new(), "x", x.buffer)
            .buffer("weights", weights, 0);
        let args = self.vector_or_null(args, "bias", product.bias);
        let args = self.place_or_null(args, "residual", product.residual);
        let args = self
            .place(args, "y", product.out)
            .u32("rows", rows)
            .u32("item_rows", item_rows as u32)
            .u32("item", item as u32)
            .u32("first", first as u32)
            .u32("cols", matrix.inner as u32)
            .u32("columns", matrix.columns as u32)
            .u32("taps", matrix.taps as u32)
            .u32("activation", product.activation as u32);
        let columns = matrix.columns as u32;
        let grid = match block.cost {
            0 => [
                columns.div_ceil(block.columns),
                rows.div_ceil(block.rows),
                1,
            ],
            _ => {
                let units = network.device.facts().compute_units.max(1);
                [block.count(rows, columns).min(units), 1, 1]
            }
        };
        let reads: Vec<usize> = [x.buffer].into_iter().chain(product.residual).collect();
        self.launch(
            &kernel,
            grid,
            (block.threads, block.shared_bytes),
            args,
            &reads,
            &[product.out],
        )
    }
}
