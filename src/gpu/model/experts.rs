//! Mixtures of experts: products with the matrices that each row chose, by the kernels of `hip/ops/experts` and
//! `hip/ops/matmul/experts*`.

use super::experts_items::Items;
use super::experts_memory::{ExpertMemory, run_count, tiled_pairs};
use super::matmul::{BLOCK_ROWS, FEW_ROWS, GROUP_ROWS, MatrixForm, SET_ROWS, SILU};
use super::record::Recorder;
use super::weights::{GpuMatrix, Launch};
use crate::driver::Platform;
use crate::gpu::constants::{experts_route_scores, matmul_experts_q4};
use crate::gpu::{Args, DeviceBuffer};
use crate::step::{ExpertProducts, Step};
use crate::{Error, Result};
use std::sync::Arc;

/// The most experts of a row (a lane each in `hip/ops/experts/route.hip`).
pub(super) const MAX_CHOSEN: usize = matmul_experts_q4::MAX_CHOSEN;
/// The most experts (`hip/ops/experts/route.hip`, `sort.hip`).
pub(super) const MAX_EXPERTS: usize = experts_route_scores::MOST_EXPERTS;

/// Why GPUs cannot run a step with experts, if they cannot.
pub fn refusal(step: &ExpertProducts) -> Option<Error> {
    let what = if step.weights.is_some() && step.chosen > MAX_CHOSEN {
        format!(
            "{} experts a token: GPUs take at most {MAX_CHOSEN}",
            step.chosen
        )
    } else if step.experts > MAX_EXPERTS {
        format!("{} experts: GPUs take at most {MAX_EXPERTS}", step.experts)
    } else {
        return None;
    };
    Some(Error::Unsupported(format!("{what}; use the CPU")))
}

/// A stack of matrices, one an expert.
pub(super) struct Stack {
    pub(super) matrix: Arc<GpuMatrix>,
    /// `[experts][tiles · 16]`, if there are any.
    pub(super) bias: Option<DeviceBuffer>,
    /// Tiles of one.
    pub(super) tiles: usize,
    pub(super) experts: usize,
    pub(super) epilogue: u32,
}

impl Recorder<'_> {
    /// Records products with experts; `place` is the step's.
    pub(super) fn experts(&mut self, place: usize, step: &ExpertProducts) -> Result<()> {
        let stack = stack(self.launches, place, step)?;
        let rows = self.rows(step.index);
        match self.run_size(place, step)? {
            Some(GROUP_ROWS) => return self.experts_in_groups(&stack, place, step, rows),
            Some(SET_ROWS) if step.weights.is_some() && rows <= FEW_ROWS => {
                return self.experts_down(&stack, place, step, rows);
            }
            Some(SET_ROWS) => return self.experts_by_tiles(&stack, place, step, rows),
            Some(_) => return self.experts_of_many(&stack, place, step, rows),
            None => {}
        }
        if let Some(router) = self.logits_here(place)? {
            return self.experts_routed(&stack, place, step, router);
        }
        let pairs = Items {
            count: rows * step.chosen,
            segments: 1,
            share: if step.own { 1 } else { step.chosen },
        };
        let items = match step.weights {
            // All of a row's experts in one product, if there is room for what they multiply.
            Some(_) if self.fits(&stack, step.chosen) => Items {
                count: rows,
                segments: step.chosen,
                share: 1,
            },
            _ => pairs,
        };
        self.experts_of_few(&stack, place, step, items)?;
        match step.weights {
            Some(_) if items.segments != step.chosen => self.sum(step, rows),
            _ => Ok(()),
        }
    }

    /// How long runs of pairs are that a step multiplies at once: [`GROUP_ROWS`], [`SET_ROWS`], [`BLOCK_ROWS`], or none if it
    /// takes pair by pair.
    pub(super) fn run_size(&self, place: usize, step: &ExpertProducts) -> Result<Option<usize>> {
        let (rows, facts) = (self.rows(step.index), self.weights.device.facts());
        if self.is_on_cpu(place) {
            return Ok(None);
        }
        let matrix = stack(self.launches, place, step)?.matrix;
        // Of few rows those of down stay products of all of a row's experts at once: sums in an order of their own.
        // (More rows, and down with a sum afterwards, were 11 % slower on an H200 than blocks of the matrix unit: 32 rows
        // of 8 of 128 experts; 41 % with 4 of 32.)
        if rows <= FEW_ROWS && self.is_by_runs(place, step)? {
            return Ok(Some(SET_ROWS));
        }
        let is_grouped = step.weights.is_none() && (2..=FEW_ROWS).contains(&rows);
        if is_grouped && matrix.form.takes_groups(facts, matrix.cols) {
            return Ok(Some(GROUP_ROWS));
        }
        let is_cuda = facts.platform == Platform::Cuda;
        let is_quantized = matches!(matrix.form, MatrixForm::Quant(_));
        if is_cuda
            && is_quantized
            && rows > FEW_ROWS
            && rows * step.chosen <= tiled_pairs(facts, step)
        {
            return Ok(Some(SET_ROWS));
        }
        let blocks = match matrix.form {
            MatrixForm::Quant(_) => true,
            // Rows are read 16 bytes at a time.
            MatrixForm::Dense(_) => matrix.cols.is_multiple_of(8),
        };
        Ok((rows > FEW_ROWS && blocks).then_some(BLOCK_ROWS))
    }

    pub(super) fn expert_memory(&self) -> Result<&ExpertMemory> {
        let memory = self.memory.experts.as_ref();
        memory.ok_or_else(|| Error::Internal("experts without memory".into()))
    }

    /// Sorts a step's pairs by expert into runs of up to `most`, unless the step before did: how many there are at the most.
    pub(super) fn sort(
        &mut self,
        place: usize,
        step: &ExpertProducts,
        rows: usize,
        most: usize,
    ) -> Result<usize> {
        let (pairs, index) = (rows * step.chosen, step.index);
        let count = run_count(pairs, step.experts, most);
        let before = place
            .checked_sub(1)
            .map(|at| (at, &self.schedule.steps[at]));
        if let Some((at, Step::Experts(before))) = before
            && before.index == index
            && self.run_size(at, before)? == Some(most)
        {
            return Ok(count);
        }
        if self.sorted(index)? == Some((place, most)) {
            return Ok(count);
        }
        let ExpertMemory { order, runs, .. } = self.expert_memory()?;
        let (order, runs) = (order.clone(), runs.clone());
        let args = Args::new()
            .buffer("index", &self.memory.arena, self.at(index, 0))
            .buffer("order", &order, 0)
            .buffer("runs", &runs, 0)
            .u32("pairs", pairs as u32)
            .u32("experts", step.experts as u32)
            .u32("most_runs", count as u32)
            .u32("most_pairs", most as u32);
        let reads = [self.range(index, 0, rows)];
        let writes = [order.whole(), runs.whole()];
        let sort = "mlxrocm_experts_sort";
        self.launch(sort, [1, 1, 1], 1024, 0, args, &reads, &writes)?;
        Ok(count)
    }

    /// Products of a few rows, each matrix with up to [`GROUP_ROWS`] of the rows that chose it.
    fn experts_in_groups(
        &mut self,
        stack: &Stack,
        place: usize,
        step: &ExpertProducts,
        rows: usize,
    ) -> Result<()> {
        let (matrix, facts) = (&stack.matrix, self.weights.device.facts());
        let most = self.sort(place, step, rows, GROUP_ROWS)?;
        let width = self.width(step.out) / step.chosen;
        let ExpertMemory { order, runs, .. } = self.expert_memory()?;
        let (order, runs) = (order.clone(), runs.clone());
        let args = Args::new().buffer("weights", &matrix.data, 0).buffer(
            "x",
            &self.memory.arena,
            self.at(step.x, 0),
        );
        let args = self
            .norm_of(args, "norm", step.norm)
            .buffer_or_null("bias", stack.bias.as_ref().map(|bias| (bias, 0)))
            .buffer("out", &self.memory.arena, self.at(step.out, 0))
            .buffer("runs", &runs, 0)
            .buffer("order", &order, 0)
            .u32("width", width as u32)
            .f32("eps", step.norm.map_or(0.0, |norm| norm.eps))
            .u32("cols", matrix.cols as u32)
            .u32("tiles", stack.tiles as u32)
            .u32("epilogue", stack.epilogue)
            .u32("share", if step.own { 1 } else { step.chosen } as u32)
            .f32("limit", step.limit.unwrap_or(0.0));
        let reads = [self.range(step.x, 0, rows), runs.whole(), order.whole()];
        let writes = [self.range(step.out, 0, rows)];
        let works = stack.tiles / if stack.epilogue == SILU { 2 } else { 1 };
        let blocks = matrix.form.blocks_of_each(facts, works, most);
        let grid = [blocks, most as u32, 1];
        let lds = matrix.form.group_bytes(facts, matrix.cols);
        let kernel = format!("mlxrocm_matmul_experts_group_{}", matrix.form.name());
        let threads = matrix.form.threads(facts);
        self.launch(&kernel, grid, threads, lds, args, &reads, &writes)
    }

    /// Where each pair's results of a step go, and how many numbers they are: those of down are summed afterwards.
    pub(super) fn results_of_pairs(
        &self,
        step: &ExpertProducts,
    ) -> Result<(DeviceBuffer, u64, usize)> {
        Ok(match step.weights {
            None => {
                let width = self.width(step.out) / step.chosen;
                (self.memory.arena.clone(), self.at(step.out, 0), width)
            }
            Some(_) => (self.expert_memory()?.sums.clone(), 0, self.width(step.out)),
        })
    }
}

pub(super) fn stack(
    launches: &[Vec<Launch>],
    place: usize,
    step: &ExpertProducts,
) -> Result<Stack> {
    let launch = launches.get(place).and_then(|all| all.first());
    let launch = launch.ok_or_else(|| Error::Internal("experts without matrices".into()))?;
    Ok(Stack {
        tiles: launch.matrix.tiles / step.experts.max(1),
        experts: step.experts,
        epilogue: if launch.silu { SILU } else { 0 },
        matrix: launch.matrix.clone(),
        bias: launch.bias.clone(),
    })
}
