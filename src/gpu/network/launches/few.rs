//! One launch instead of two, for few items.

use super::super::steps::Product;
use super::Batch;
use crate::Result;
use crate::driver::Overlap;
use crate::gpu::constants::network_pair;
use crate::gpu::{Args, Kernel};

/// Items that launches are made for otherwise than for many: on an H200 up to four of a network of T82's shape are faster by pairs
/// of products, 16 are not, and launches that begin under all that they follow help no more.
const FEW: usize = 4;

impl Batch<'_> {
    /// What a launch may begin under.
    pub(super) fn overlap(&self, kernel: &Kernel) -> Overlap {
        match self.items <= FEW {
            true => kernel.overlap(),
            false => kernel.overlap().min(Overlap::Last),
        }
    }

    /// Two products, of which the second alone reads what the first makes.
    pub(super) fn pair(&mut self, first: &Product, second: &Product) -> Result<()> {
        let device = self.network.device();
        // Elsewhere there is no such kernel: it would be compiled for nothing.
        let few = self.items <= FEW && device.facts().arch == "sm_90";
        let kernel = few.then(|| device.kernel("mlxrocm_network_pair").ok());
        let Some(kernel) = kernel.flatten() else {
            self.product(first)?;
            return self.product(second);
        };
        let (of_first, of_second) = (self.weights(first)?, self.weights(second)?);
        let matrices = &self.network.plan.matrices;
        let cols = matrices[first.matrix].inner;
        let columns = matrices[second.matrix].columns;
        let args = self
            .place(Args::new(), "x", first.x.buffer)
            .buffer("first", of_first, 0)
            .buffer("second", of_second, 0);
        let args = self.vector_or_null(args, "bias", second.bias);
        let args = self
            .place(args, "y", second.out)
            .u32("cols", cols as u32)
            .u32("columns", columns as u32)
            .u32("activation", second.activation as u32);
        let across = columns.div_ceil(network_pair::PAIR_COLUMNS) as u32;
        let grid = [across, self.items as u32, 1];
        // x's 64 rows, and the first one's weights.
        let shared = (cols * 2 * (64 + network_pair::PAIR_COLUMNS)) as u32;
        let block = (network_pair::PAIR_THREADS as u32, shared);
        self.launch(&kernel, grid, block, args, &[first.x.buffer], &[second.out])
    }
}
