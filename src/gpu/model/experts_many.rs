//! Products of many rows with experts, each matrix with all the rows that chose it: `hip/ops/matmul/experts_block.h` and,
//! where it is, `experts_warpgroup.h`.

use super::experts::Stack;
use super::experts_memory::ExpertMemory;
use super::matmul::{BLOCK_ROWS, BLOCK_THREADS, MatrixForm, Operand, block_tiles, has_warpgroups};
use super::record::Recorder;
use crate::gpu::Args;
use crate::step::ExpertProducts;
use crate::{Error, Result};

impl Recorder<'_> {
    /// Products of many rows, each matrix with all the rows that chose it.
    pub(super) fn experts_of_many(
        &mut self,
        stack: &Stack,
        place: usize,
        step: &ExpertProducts,
        rows: usize,
    ) -> Result<()> {
        let (matrix, facts) = (&stack.matrix, self.weights.device.facts());
        let pairs = rows * step.chosen;
        let run_count = self.sort(place, step, rows, BLOCK_ROWS)?;
        // Inputs of gate and up are the rows', of down the pairs'.
        let (inputs, share) = match step.own {
            false => (rows, step.chosen),
            true => (pairs, 1),
        };
        let mut kernel = format!("mlxrocm_matmul_experts_warpgroup_{}", matrix.form.name());
        let is_by_warpgroups = has_warpgroups(facts)
            && matches!(matrix.form, MatrixForm::Quant(_))
            && self.weights.device.kernel(&kernel).is_ok();
        let operand = match is_by_warpgroups {
            true => Operand::Places { copies: share },
            false => Operand::Rows,
        };
        if is_by_warpgroups {
            self.place_pairs(run_count)?;
        } else {
            kernel = format!("mlxrocm_matmul_experts_block_{}", matrix.form.name());
        }
        self.operand_rows(operand, (step.x, step.norm), (inputs, matrix.cols))?;
        let ExpertMemory { order, runs, .. } = self.expert_memory()?;
        let (to, offset, width) = self.results_of_pairs(step)?;
        let (x, scales) = (&self.memory.operand, &self.memory.scales);
        let mut args = Args::new()
            .buffer("weights", &matrix.data, 0)
            .buffer("x", x, 0)
            .buffer("scales", scales, 0)
            .buffer_or_null("bias", stack.bias.as_ref().map(|bias| (bias, 0)))
            .buffer("out", &to, offset)
            .buffer("blocks", runs, 0)
            .buffer("order", order, 0)
            .f32("back", matrix.back())
            .u32("width", width as u32)
            .u32("cols", matrix.cols as u32)
            .u32("tiles", stack.tiles as u32)
            .u32("epilogue", stack.epilogue);
        if !is_by_warpgroups {
            args = args.u32("share", share as u32);
        }
        let args = args.f32("limit", step.limit.unwrap_or(0.0));
        let reads = [x.whole(), scales.whole(), runs.whole(), order.whole()];
        let writes = [to.range(offset, (pairs * width * 4) as u64)];
        let runs = run_count as u32;
        let blocks = stack.tiles.div_ceil(block_tiles(facts)) as u32;
        let grid = match is_by_warpgroups {
            true => [blocks, runs, 1],
            false => [runs, blocks, 1],
        };
        let lds = operand.shared_bytes();
        self.launch(&kernel, grid, BLOCK_THREADS, lds, args, &reads, &writes)?;
        match step.weights {
            Some(_) => self.sum(step, rows),
            None => Ok(()),
        }
    }

    /// Where the rows of pairs lie among those of so many runs.
    fn place_pairs(&mut self, runs_at_most: usize) -> Result<()> {
        let memory = self.expert_memory()?;
        let [order, runs, places] = [&memory.order, &memory.runs, &memory.places];
        let args = Args::new()
            .buffer("order", order, 0)
            .buffer("runs", runs, 0)
            .buffer("places", places, 0)
            .u32("most_pairs", BLOCK_ROWS as u32);
        let (reads, writes) = ([order.whole(), runs.whole()], [places.whole()]);
        let grid = [runs_at_most as u32, 1, 1];
        self.launch(
            "mlxrocm_experts_places",
            grid,
            128,
            0,
            args,
            &reads,
            &writes,
        )
    }

    /// The weighted sums of the results of each row's experts.
    pub(super) fn sum(&mut self, step: &ExpertProducts, rows: usize) -> Result<()> {
        let Some(weights) = step.weights else {
            return Err(Error::Internal("a sum without weights".into()));
        };
        let (width, sums) = (self.width(step.out), self.expert_memory()?.sums.clone());
        let arena = &self.memory.arena;
        let args = Args::new()
            .buffer("x", &sums, 0)
            .buffer("weight", arena, self.at(weights, 0));
        let residual = step.residual.map(|residual| (arena, self.at(residual, 0)));
        let args = args
            .buffer_or_null("residual", residual)
            .buffer("out", &self.memory.arena, self.at(step.out, 0))
            .u32("width", width as u32)
            .u32("chosen", step.chosen as u32);
        let bytes = (rows * step.chosen * width * 4) as u64;
        let mut reads = vec![sums.range(0, bytes), self.range(weights, 0, rows)];
        reads.extend(step.residual.map(|residual| self.range(residual, 0, rows)));
        let writes = [self.range(step.out, 0, rows)];
        let grid = [width.div_ceil(256) as u32, rows as u32, 1];
        self.launch("mlxrocm_experts_sum", grid, 256, 0, args, &reads, &writes)
    }
}
