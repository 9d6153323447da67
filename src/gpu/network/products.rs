//! Which kernel makes a product, and its launch.

use super::launches::Batch;
use super::steps::{Matrix, Product};
use super::{Precision, missing};
use crate::Result;
use crate::gpu::{Args, Kernel};

/// Threads of a block, rows and columns of its part of y, and bytes of its dynamic shared memory
/// (`hip/ops/network/product*.hip`).
struct Block {
    kernel: &'static str,
    threads: u32,
    rows: u32,
    columns: u32,
    shared_bytes: u32,
    /// Rows of x are whole pieces of 16 bytes.
    aligned: bool,
}

const fn block(kernel: &'static str, threads: u32, rows: u32, columns: u32) -> Block {
    Block {
        kernel,
        threads,
        rows,
        columns,
        shared_bytes: 0,
        aligned: false,
    }
}
/// Stages of x and W, their barriers, and what brings the first stage to a multiple of 1,024 bytes.
const fn stages(block: Block, count: u32) -> Block {
    Block {
        shared_bytes: count * (block.rows + block.columns) * 128 + 1024 + count * 8,
        aligned: true,
        ..block
    }
}

/// From large to small blocks.
const WARPGROUPS: &[Block] = &[
    stages(block("mlxrocm_network_product_warpgroup", 256, 128, 128), 3),
    stages(
        block("mlxrocm_network_product_warpgroup_small", 128, 64, 32),
        8,
    ),
];
/// The same of convolutions.
const WARPGROUP_CONVOLUTIONS: &[Block] = &[
    stages(block("mlxrocm_network_conv_warpgroup", 256, 128, 128), 3),
    stages(
        block("mlxrocm_network_conv_warpgroup_small", 128, 64, 32),
        8,
    ),
];
/// Of both, on any device.
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
        let columns = matrix.columns as u32;
        let own = match matrix.taps {
            1 => WARPGROUPS,
            _ => WARPGROUP_CONVOLUTIONS,
        };
        for blocks in [own, TILES] {
            // As many blocks as the device has units, unless much of each would be of columns that are none.
            let units = device.facts().compute_units;
            let fits = |block: &&Block| {
                let enough = block.count(rows, columns) >= units;
                let padded = columns.next_multiple_of(block.columns);
                enough && (padded - columns) * 8 <= columns
            };
            let block = blocks.iter().find(fits).or(blocks.last());
            let Some(block) = block.filter(|block| aligned || !block.aligned) else {
                continue;
            };
            if let Ok(kernel) = device.kernel(block.kernel) {
                return Ok((block, kernel));
            }
        }
        Err(missing("a product: no kernel for this GPU, it"))
    }

    pub(super) fn product(&mut self, product: &Product) -> Result<()> {
        let network = self.network;
        let plan = &network.plan;
        let matrix = plan.matrices.get(product.matrix);
        let weights = network.packed.matrices.get(product.matrix);
        let (Some(matrix), Some(Some(weights))) = (matrix, weights) else {
            return Err(crate::Error::Internal(
                "a product without its matrix".into(),
            ));
        };
        let x = &product.x;
        let of_item = x.layout.count() / matrix.inner.max(1);
        let (count, offset) = (plan.counts[x.buffer], x.layout.offset);
        // Rows of all items follow each other, or each item's begin anew.
        let (item_rows, item, first) = match count == x.layout.count() {
            true => (of_item * self.items, 0, 0),
            false => (of_item, count, offset),
        };
        let aligned = [matrix.inner, item, first]
            .iter()
            .all(|n| n.is_multiple_of(8));
        let rows = (of_item * self.items) as u32;
        let (block, kernel) = self.block_of(rows, matrix, aligned)?;
        let args = self.place(Args::new(), x.buffer).buffer(weights, 0);
        let args = self.vector_or_null(args, product.bias);
        let args = match product.residual {
            Some(residual) => self.place(args, residual),
            None => args.null(),
        };
        let args = self
            .place(args, product.out)
            .u32(rows)
            .u32(item_rows as u32)
            .u32(item as u32)
            .u32(first as u32)
            .u32(matrix.inner as u32)
            .u32(matrix.columns as u32)
            .u32(matrix.taps as u32)
            .u32(product.activation as u32);
        let across = (matrix.columns as u32).div_ceil(block.columns);
        let grid = [across, rows.div_ceil(block.rows), 1];
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
