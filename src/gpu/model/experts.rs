//! Mixtures of experts: products with the matrices that each row chose, by the kernels of `hip/ops/experts` and
//! `hip/ops/matmul/experts*`.

use super::matmul::{
    ADD, BLOCK_ROWS, FEW_ROWS, GROUP_ROWS, MatrixForm, SET_ROWS, SILU, has_warpgroups,
    operand_stride,
};
use super::record::Recorder;
use super::routed::MOST_ROUTED;
use super::weights::{GpuMatrix, Launch};
use crate::driver::{DeviceFacts, Platform};
use crate::gpu::constants::{experts_route_scores, experts_sum::PARTS, matmul_experts_q4};
use crate::gpu::{Args, Device, DeviceBuffer};
use crate::step::{ExpertProducts, Schedule, Step};
use crate::{Error, Result};
use std::sync::Arc;

/// The most experts of a row (a lane each in `hip/ops/experts/route.hip`).
pub(super) const MAX_CHOSEN: usize = matmul_experts_q4::MAX_CHOSEN;
/// The most experts (`hip/ops/experts/route.hip`, `sort.hip`).
pub(super) const MAX_EXPERTS: usize = experts_route_scores::MOST_EXPERTS;

/// What steps with experts need besides the arena.
pub struct ExpertMemory {
    /// Pairs (row, choice), by expert.
    pub(super) order: DeviceBuffer,
    /// Runs of them with the same expert.
    pub(super) runs: DeviceBuffer,
    /// `[pairs]`: where rows lie among those of `hip/ops/matmul/experts_warpgroup.h`.
    pub(super) places: DeviceBuffer,
    /// `[pairs][columns]`: results before they are summed.
    pub(super) sums: DeviceBuffer,
    /// `[routers][MOST_ROUTED]` zeros: logits of `hip/ops/matmul/experts_routed.h`.
    pub(super) slots: DeviceBuffer,
}

/// Runs of up to `most` pairs of one expert, at the most.
pub(super) fn run_count(pairs: usize, experts: usize, most: usize) -> usize {
    pairs / most + experts.min(pairs)
}

impl ExpertMemory {
    /// For steps of up to so many rows; none if there are no experts.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        rows: usize,
    ) -> Result<Option<ExpertMemory>> {
        let [mut pairs, mut runs, mut sums] = [0; 3];
        for step in steps(schedule) {
            let of_step = rows * step.chosen;
            pairs = pairs.max(of_step);
            let grouped = rows.min(FEW_ROWS) * step.chosen;
            runs = runs
                .max(run_count(of_step, step.experts, BLOCK_ROWS))
                .max(run_count(
                    of_step.min(tiled_pairs(device.facts(), step)),
                    step.experts,
                    SET_ROWS,
                ))
                .max(run_count(grouped, step.experts, GROUP_ROWS));
            if step.weights.is_some() {
                let width = schedule.buffers[step.out.0].width;
                sums = sums
                    .max(of_step * width)
                    .max(rows.min(FEW_ROWS) * PARTS * width);
            }
        }
        if pairs == 0 {
            return Ok(None);
        }
        Ok(Some(ExpertMemory {
            order: device.alloc((pairs * 4) as u64)?,
            runs: device.alloc((runs * 16) as u64)?,
            places: device.alloc((pairs * 4) as u64)?,
            sums: device.alloc((sums.max(1) * 4) as u64)?,
            slots: device.alloc((steps(schedule).count() * MOST_ROUTED * 4) as u64)?,
        }))
    }

    /// Bytes of the operand of products with experts, and how many scales it has, for so many rows.
    pub fn operand(facts: &DeviceFacts, schedule: &Schedule, rows: usize) -> (usize, usize) {
        let is_in_places = has_warpgroups(facts);
        let steps = steps(schedule).filter(|step| step.own || is_in_places);
        let sizes = steps.map(|step| {
            let copies = if step.own { step.chosen.max(1) } else { 1 };
            let width = schedule.buffers[step.x.0].width / copies;
            let pairs = rows * step.chosen;
            // Of experts_tiles.h, whose rows have a scale and a sum for every 16 columns at the most.
            let in_groups = pairs
                .min(tiled_pairs(facts, step))
                .next_multiple_of(SET_ROWS);
            let stride = operand_stride(width);
            let bytes = pairs.next_multiple_of(SET_ROWS) * stride * 2;
            let places = match is_in_places {
                true => run_count(pairs, step.experts, BLOCK_ROWS) * BLOCK_ROWS,
                false => 0,
            };
            let bytes = bytes + in_groups * (stride / 16 + 1) * 8;
            (bytes.max(places * stride * 2), pairs.max(places))
        });
        sizes.fold((0, 0), |most, size| {
            (most.0.max(size.0), most.1.max(size.1))
        })
    }
}

/// The most pairs that `hip/ops/matmul/experts_tiles.h` takes: with more, runs of [`SET_ROWS`] read many matrices twice. (Blocks of
/// warpgroups are faster from 4 an expert on: by 1.25 and 1.7 times on an H200 with 8 and 16 an expert, 30B-A3B's shape.)
fn tiled_pairs(facts: &DeviceFacts, step: &ExpertProducts) -> usize {
    let pairs = if has_warpgroups(facts) { 4 } else { 16 };
    pairs * step.experts
}

fn steps(schedule: &Schedule) -> impl Iterator<Item = &ExpertProducts> {
    schedule.steps.iter().filter_map(|step| match step {
        Step::Experts(step) => Some(step),
        _ => None,
    })
}

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

/// How a product of few rows is cut: so many items, each the sum of `segments` matrices' products; `share` neighbours have the
/// same x.
#[derive(Clone, Copy)]
struct Items {
    count: usize,
    segments: usize,
    share: usize,
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

    /// Whether a block has room for so many inputs of a product.
    pub(super) fn fits(&self, stack: &Stack, segments: usize) -> bool {
        let facts = self.weights.device.facts();
        match stack.matrix.form {
            MatrixForm::Quant(form) => {
                let cols = segments * form.padded(stack.matrix.cols);
                stack.matrix.form.takes_whole(facts, cols)
            }
            // They stay where they are.
            MatrixForm::Dense(_) => true,
        }
    }

    /// Products of few rows, or of any number with unquantized matrices.
    fn experts_of_few(
        &mut self,
        stack: &Stack,
        place: usize,
        step: &ExpertProducts,
        items: Items,
    ) -> Result<()> {
        let Items {
            count,
            segments,
            share,
        } = items;
        let (memory, facts) = (self.memory, self.weights.device.facts());
        let matrix = &stack.matrix;
        let summed = step
            .weights
            .filter(|_| segments == step.chosen && share == 1);
        let (out, offset, bytes, width) = match (step.weights, summed) {
            (Some(_), None) => {
                let width = self.width(step.out);
                (
                    &self.expert_memory()?.sums,
                    0,
                    (count * width * 4) as u64,
                    width,
                )
            }
            (_, _) => {
                let width = self.width(step.out) / if summed.is_some() { 1 } else { step.chosen };
                let bytes = (count * width * 4) as u64;
                (&memory.arena, self.at(step.out, 0), bytes, width)
            }
        };
        let args = Args::new().buffer("weights", &matrix.data, 0).buffer(
            "x",
            &memory.arena,
            self.at(step.x, 0),
        );
        let residual = step.residual.filter(|_| summed.is_some());
        let args = self
            .norm_of(args, "norm", step.norm)
            .buffer_or_null("bias", stack.bias.as_ref().map(|bias| (bias, 0)))
            .buffer_or_null(
                "residual",
                residual.map(|residual| (&memory.arena, self.at(residual, 0))),
            )
            .buffer("out", out, offset)
            .buffer("index", &memory.arena, self.at(step.index, 0));
        let rows = self.rows(step.index);
        let mut reads = vec![self.range(step.x, 0, rows), self.range(step.index, 0, rows)];
        reads.extend(residual.map(|residual| self.range(residual, 0, rows)));
        let routed = match matrix.form {
            // Gate and up in front wrote what is chosen.
            MatrixForm::Quant(_) if self.is_routed_before(place)? => None,
            MatrixForm::Quant(_) => self.routed(step.index),
            MatrixForm::Dense(_) => None,
        };
        let mut args = match summed.filter(|_| routed.is_none()) {
            Some(weights) => {
                reads.push(self.range(weights, 0, rows));
                args.buffer("expert_weights", &memory.arena, self.at(weights, 0))
            }
            None => args.null("expert_weights"),
        };
        let is_quantized = matches!(matrix.form, MatrixForm::Quant(_));
        if is_quantized {
            args = match routed {
                Some((logits, _)) => {
                    reads.push(self.range(logits, 0, rows));
                    args.buffer("logits", &memory.arena, self.at(logits, 0))
                }
                None => args.null("logits"),
            };
        }
        args = args
            .u32("width", width as u32)
            .f32("eps", step.norm.map_or(0.0, |norm| norm.eps))
            .u32("cols", matrix.cols as u32)
            .u32("tiles", stack.tiles as u32)
            .u32(
                "epilogue",
                if residual.is_some() {
                    ADD
                } else {
                    stack.epilogue
                },
            )
            .u32("experts", stack.experts as u32)
            .u32("segments", segments as u32)
            .u32("share", share as u32);
        if is_quantized {
            let route = routed.map(|(_, route)| route);
            args = args
                .u32(
                    "chosen",
                    route.map_or(step.chosen, |route| route.chosen) as u32,
                )
                .u32(
                    "normalize",
                    route.is_some_and(|route| route.normalize).into(),
                )
                .u32("sums", summed.is_some().into());
        }
        let args = args.f32("limit", step.limit.unwrap_or(0.0));
        let works = stack.tiles / if stack.epilogue == SILU { 2 } else { 1 };
        let blocks = matrix.form.blocks_of_each(facts, works, count);
        let (grid, lds) = match matrix.form {
            MatrixForm::Quant(form) => {
                let cols = segments * form.padded(matrix.cols);
                let lds = matrix.form.chosen_bytes(facts, cols);
                ([blocks, count as u32, 1], lds)
            }
            MatrixForm::Dense(_) => ([count as u32, blocks, 1], 0),
        };
        let kernel = format!("mlxrocm_matmul_experts_{}", matrix.form.name());
        let writes = [out.range(offset, bytes)];
        let threads = matrix.form.threads(facts);
        self.launch(&kernel, grid, threads, lds, args, &reads, &writes)
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
