//! Products of some rows with experts on NVIDIA, each matrix read once for up to [`SET_ROWS`] of the rows that chose it, by the
//! kernels of `hip/ops/matmul/experts_tiles.h` and, of up to [`FEW_ROWS`], `experts_down.h`; and small products of one matrix with
//! 17 to 64 rows by the same.

use super::experts::{Stack, stack};
use super::experts_memory::ExpertMemory;
use super::few::Prepared;
use super::matmul::{FEW_ROWS, MatrixForm, SET_ROWS, SHARERS, SILU, TILE_TAKERS};
use super::pack::{BLOCK, Scales};
use super::product_outputs::Multiply;
use super::record::Recorder;
use super::weights::{GpuMatrix, Launch};
use crate::driver::{Overlap, Platform};
use crate::gpu::constants::experts_sum::PARTS;
use crate::gpu::{Args, LaunchOptions};
use crate::step::{ExpertProducts, Step};
use crate::{Error, Result};

/// The most rows of one matrix that go by these kernels.
pub(super) const MOST_TILE_ROWS: usize = 64;
/// Most blocks of 64 columns of it that a warp multiplies one after the other.
const MOST_TILE_BLOCKS: usize = 16;

impl Recorder<'_> {
    /// Whether few rows go by these kernels: gate and up, and down behind them.
    pub(super) fn is_by_runs(&self, place: usize, step: &ExpertProducts) -> Result<bool> {
        let facts = self.weights.device.facts();
        let rows = self.rows(step.index);
        let matrix = stack(self.launches, place, step)?.matrix;
        let is_quantized = matches!(matrix.form, MatrixForm::Quant(_));
        let is_here = is_quantized && !self.is_on_cpu(place);
        if facts.platform != Platform::Cuda || !is_here || rows < 2 {
            return Ok(false);
        }
        if step.weights.is_none() {
            return Ok(true);
        }
        // Down reads runs before it waits, so the launch in front has to be gate and up.
        let before = match place.checked_sub(1) {
            Some(at) => match &self.schedule.steps[at] {
                Step::Experts(before) if before.index == step.index && before.weights.is_none() => {
                    self.is_by_runs(at, before)?
                }
                _ => false,
            },
            None => false,
        };
        let whole = self.fits(&stack(self.launches, place, step)?, step.chosen);
        let plain = step.own && step.norm.is_none() && step.limit.is_none();
        let shared = step.chosen > 0 && PARTS.is_multiple_of(step.chosen);
        Ok(before && whole && plain && shared && matrix.form.takes_down(facts, matrix.cols))
    }

    /// Whether a product of one matrix with some rows is so small that these kernels are faster than the matrix unit's, whose
    /// blocks share the columns and wait for each other.
    pub(super) fn is_by_tiles(&self, matrix: &GpuMatrix, silu: bool, rows: usize) -> bool {
        let facts = self.weights.device.facts();
        let MatrixForm::Quant(form) = matrix.form else {
            return false;
        };
        let each = if silu { 2 } else { 1 };
        let works = matrix.tiles / each * rows.div_ceil(SET_ROWS);
        let takers = facts.compute_units.max(1) as usize * TILE_TAKERS;
        let blocks = works.div_ceil(takers) * each * form.padded(matrix.cols) / BLOCK / SHARERS;
        let is_small = blocks <= MOST_TILE_BLOCKS;
        let is_some = (FEW_ROWS + 1..=MOST_TILE_ROWS).contains(&rows);
        // Their kernels multiply integers, of the forms that stacks of experts are in.
        let is_theirs = !form.is_e4m3() && form.scales != Scales::Point;
        facts.platform == Platform::Cuda && is_theirs && is_some && is_small
    }

    /// Such a product.
    pub(super) fn matmul_tiles(&mut self, launch: &Launch, product: Multiply<'_>) -> Result<()> {
        let (matrix, facts) = (&launch.matrix, self.weights.device.facts());
        let MatrixForm::Quant(form) = matrix.form else {
            return Err(Error::Internal("tiles of a dense matrix".into()));
        };
        let rows = self.rows(product.x);
        let prepared = Prepared::new(form, facts, rows, matrix.cols);
        self.prepare(&prepared, matrix, (product.x, product.norm), rows)?;
        let to = self.outputs(launch, product, (0, rows))?;
        let (operand, (codes, groups)) = (&self.memory.operand, prepared.at(0));
        let args = Args::new()
            .buffer("weights", &matrix.data, 0)
            .buffer("codes", operand, codes)
            .buffer("groups", operand, groups)
            .append(to.args)
            .u32("rows", rows as u32)
            .u32("cols", matrix.cols as u32)
            .u32("tiles", matrix.tiles as u32)
            .u32("epilogue", to.epilogue)
            .append(to.last);
        let mut reads = to.reads;
        reads.push(operand.whole());
        let works = matrix.tiles * rows.div_ceil(SET_ROWS);
        let blocks = matrix
            .form
            .blocks_of_each(facts, works.div_ceil(TILE_TAKERS), 1);
        let lds = matrix.form.tiles_bytes(facts, false);
        let kernel = format!("mlxrocm_matmul_tiles_{}", matrix.form.name());
        let threads = matrix.form.threads(facts);
        self.launch(
            &kernel,
            [blocks, 1, 1],
            threads,
            lds,
            args,
            &reads,
            &to.writes,
        )
    }

    /// Gate and up, and with more rows down, too.
    pub(super) fn experts_by_tiles(
        &mut self,
        stack: &Stack,
        place: usize,
        step: &ExpertProducts,
        rows: usize,
    ) -> Result<()> {
        let (matrix, facts) = (&stack.matrix, self.weights.device.facts());
        let is_few = rows <= FEW_ROWS;
        let MatrixForm::Quant(form) = matrix.form else {
            return Err(Error::Internal("tiles of a dense matrix".into()));
        };
        let pairs = rows * step.chosen;
        self.sort(place, step, rows, SET_ROWS)?;
        let (inputs, share) = match step.own {
            false => (rows, step.chosen),
            true => (pairs, 1),
        };
        let prepared = Prepared::new(form, facts, inputs, matrix.cols);
        self.prepare(&prepared, matrix, (step.x, step.norm), inputs)?;
        let (to, offset, width) = self.results_of_pairs(step)?;
        let ExpertMemory { order, runs, .. } = self.expert_memory()?;
        let (operand, (codes, groups)) = (&self.memory.operand, prepared.at(0));
        let args = Args::new()
            .buffer("weights", &matrix.data, 0)
            .buffer("codes", operand, codes)
            .buffer("groups", operand, groups)
            .buffer_or_null("bias", stack.bias.as_ref().map(|bias| (bias, 0)))
            .buffer("out", &to, offset)
            .buffer("runs", runs, 0)
            .buffer("order", order, 0)
            .u32("width", width as u32)
            .u32("cols", matrix.cols as u32)
            .u32("tiles", stack.tiles as u32)
            .u32("epilogue", stack.epilogue)
            .u32("share", share as u32)
            .f32("limit", step.limit.unwrap_or(0.0));
        let reads = [operand.whole(), runs.whole(), order.whole()];
        let writes = [to.range(offset, (pairs * width * 4) as u64)];
        let works = stack.tiles / if stack.epilogue == SILU { 2 } else { 1 };
        let grid = [
            matrix.form.blocks_of_each(facts, works * step.experts, 1),
            1,
            1,
        ];
        let few = if is_few { "few_" } else { "" };
        let lds = matrix.form.tiles_bytes(facts, is_few);
        let kernel = format!("mlxrocm_matmul_experts_tiles_{few}{}", matrix.form.name());
        // (gpt-oss-20b, of whose experts each is larger, was 1 % slower where they began under the router, too; others with
        // 8 sequences 1.4 % faster. Why is not known.)
        let overlap = match form.scales {
            Scales::Power => Overlap::Last,
            _ => Overlap::All,
        };
        let options = LaunchOptions {
            overlap,
            ..LaunchOptions::default()
        };
        let block = (matrix.form.threads(facts), lds);
        self.launch_with(options, &kernel, grid, block, args, &reads, &writes)?;
        match step.weights {
            Some(_) => self.sum(step, rows),
            None => Ok(()),
        }
    }

    /// Down of few rows: the parts that teams of one row's kernel make, then their sums.
    pub(super) fn experts_down(
        &mut self,
        stack: &Stack,
        place: usize,
        step: &ExpertProducts,
        rows: usize,
    ) -> Result<()> {
        let (matrix, facts) = (&stack.matrix, self.weights.device.facts());
        let Some(weights) = step.weights else {
            return Err(Error::Internal("a sum without weights".into()));
        };
        self.sort(place, step, rows, SET_ROWS)?;
        let (arena, width) = (&self.memory.arena, self.width(step.out));
        let ExpertMemory {
            order, runs, sums, ..
        } = self.expert_memory()?;
        let (order, runs, sums) = (order.clone(), runs.clone(), sums.clone());
        let args = Args::new()
            .buffer("weights", &matrix.data, 0)
            .buffer("x", arena, self.at(step.x, 0))
            .buffer("expert_weights", arena, self.at(weights, 0))
            .buffer("parts", &sums, 0)
            .buffer("runs", &runs, 0)
            .buffer("order", &order, 0)
            .u32("width", width as u32)
            .u32("cols", matrix.cols as u32)
            .u32("tiles", stack.tiles as u32)
            .u32("sharers", (PARTS / step.chosen) as u32);
        let parts = sums.range(0, (rows * PARTS * width * 4) as u64);
        let weight = self.range(weights, 0, rows);
        let reads = [
            self.range(step.x, 0, rows),
            weight.clone(),
            runs.whole(),
            order.whole(),
        ];
        let blocks = matrix
            .form
            .blocks_of_each(facts, stack.tiles * step.experts, 1);
        let lds = matrix.form.down_bytes(facts, matrix.cols);
        let kernel = format!("mlxrocm_matmul_experts_tiles_down_{}", matrix.form.name());
        let threads = matrix.form.threads(facts);
        let writes = [parts.clone()];
        self.launch(&kernel, [blocks, 1, 1], threads, lds, args, &reads, &writes)?;

        let residual = step.residual.map(|residual| (arena, self.at(residual, 0)));
        let args = Args::new()
            .buffer("parts", &sums, 0)
            .buffer_or_null("bias", stack.bias.as_ref().map(|bias| (bias, 0)))
            .buffer("index", arena, self.at(step.index, 0))
            .buffer("weight", arena, self.at(weights, 0))
            .buffer_or_null("residual", residual)
            .buffer("out", arena, self.at(step.out, 0))
            .u32("width", width as u32)
            .u32("stride", (stack.tiles * super::pack::TILE_ROWS) as u32)
            .u32("chosen", step.chosen as u32)
            .u32("experts", stack.experts as u32);
        let mut reads = vec![parts, weight, self.range(step.index, 0, rows)];
        reads.extend(step.residual.map(|residual| self.range(residual, 0, rows)));
        let writes = [self.range(step.out, 0, rows)];
        let grid = [width.div_ceil(256) as u32, rows as u32, 1];
        let kernel = "mlxrocm_experts_sum_parts";
        self.launch(kernel, grid, 256, 0, args, &reads, &writes)
    }
}
