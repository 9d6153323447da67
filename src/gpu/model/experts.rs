//! Mixtures of experts: the router, and products with the matrices that each row chose, by the kernels of
//! `hip/ops/experts` and `hip/ops/matmul/experts*.h`.

use super::matmul::{
    ADD, BLOCK_ROWS, BLOCK_THREADS, FEW_ROWS, MatrixForm, Operand, SILU, block_tiles,
    operand_stride,
};
use super::record::Recorder;
use super::weights::{GpuMatrix, GpuWeights};
use crate::gpu::{Args, Device, DeviceBuffer};
use crate::ir::{Op, Route, Type};
use crate::step::{BufferId, ExpertProducts, Place, Rows, Schedule, Source, Step};
use crate::{Error, Result};
use std::sync::Arc;

/// The most experts of a row (`MAX_CHOSEN` of `hip/ops/matmul/experts.h`; a lane each in `route.hip`).
const MAX_CHOSEN: usize = 32;
/// The most experts (`hip/ops/experts/route.hip`, `sort.hip`).
const MAX_EXPERTS: usize = 1024;
/// The most experts whose router the products' kernel runs itself (`route_512` of `hip/ops/experts/route.h`).
const MAX_ROUTED: usize = 512;

/// What steps with experts need besides the arena.
pub struct ExpertMemory {
    /// Pairs (row, choice), by expert.
    order: DeviceBuffer,
    /// Which of them each block takes.
    blocks: DeviceBuffer,
    /// `[pairs][columns]`: results before they are summed.
    sums: DeviceBuffer,
}

/// Blocks of a product of so many pairs, at the most.
fn block_count(pairs: usize, experts: usize) -> usize {
    pairs / BLOCK_ROWS + experts.min(pairs)
}

impl ExpertMemory {
    /// For steps of up to so many rows; none if there are no experts.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        rows: usize,
    ) -> Result<Option<ExpertMemory>> {
        let [mut pairs, mut blocks, mut sums] = [0; 3];
        for step in steps(schedule) {
            let of_step = rows * step.chosen;
            pairs = pairs.max(of_step);
            blocks = blocks.max(block_count(of_step, step.experts));
            if step.weights.is_some() {
                sums = sums.max(of_step * schedule.buffers[step.out.0].width);
            }
        }
        if pairs == 0 {
            return Ok(None);
        }
        Ok(Some(ExpertMemory {
            order: device.alloc((pairs * 4) as u64)?,
            blocks: device.alloc((blocks * 16) as u64)?,
            sums: device.alloc((sums.max(1) * 4) as u64)?,
        }))
    }

    /// Bytes of the operand of products with experts, and how many scales it has, for so many rows.
    pub fn operand(schedule: &Schedule, rows: usize) -> (usize, usize) {
        let sizes = steps(schedule)
            .filter(|step| step.weights.is_some())
            .map(|step| {
                let width = schedule.buffers[step.x.0].width / step.chosen.max(1);
                let pairs = rows * step.chosen;
                (pairs * operand_stride(width) * 2, pairs)
            });
        sizes.fold((0, 0), |most, size| {
            (most.0.max(size.0), most.1.max(size.1))
        })
    }
}

fn steps(schedule: &Schedule) -> impl Iterator<Item = &ExpertProducts> {
    schedule.steps.iter().filter_map(|step| match step {
        Step::Experts(step) => Some(step),
        _ => None,
    })
}

/// Why GPUs cannot run a step with experts, if they cannot.
pub fn refusal(step: &ExpertProducts) -> Option<Error> {
    let what = if step.own && step.weights.is_none() {
        "products of each head with a matrix of its own: GPUs have none yet".to_string()
    } else if step.chosen > MAX_CHOSEN {
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

/// The same for a router.
pub fn route_refusal(route: Route, inputs: &[Source]) -> Option<Error> {
    if route != Route::softmax(route.chosen, route.normalize) || inputs.len() > 1 {
        return Some(Error::Unsupported(
            "a router that is no softmax of all logits: GPUs have none yet; use the CPU".into(),
        ));
    }
    let experts = inputs.first().and_then(|logits| {
        let columns = logits.ty.shape.dims().last();
        columns.and_then(|columns| columns.number())
    });
    let fits = route.chosen <= MAX_CHOSEN && experts.is_some_and(|count| count <= MAX_EXPERTS);
    (!fits).then(|| {
        Error::Unsupported(format!(
            "a router that chooses {} of {}: GPUs take at most {MAX_CHOSEN} of {MAX_EXPERTS}; use the CPU",
            route.chosen,
            experts.unwrap_or(0)
        ))
    })
}

/// A stack of matrices, one an expert.
struct Stack {
    matrix: Arc<GpuMatrix>,
    /// `[experts][tiles · 16]`, if there are any.
    bias: Option<DeviceBuffer>,
    form: super::pack::PackForm,
    /// Tiles of one.
    tiles: usize,
    experts: usize,
    epilogue: u32,
}

impl Recorder<'_> {
    /// The router of a step with experts, if the products of few rows run it themselves: logits, and what is chosen.
    /// Gate and up follow the router, down follows these, and nobody else reads what it chose.
    fn routed(&self, index: BufferId) -> Option<(BufferId, Route)> {
        let at = self.schedule.steps.iter().position(|step| match step {
            Step::Plain { outputs, .. } => outputs.first().is_some_and(|(id, _)| *id == index),
            _ => false,
        })?;
        let [
            Step::Plain {
                op: Op::Route(route),
                inputs,
                outputs,
            },
            Step::Experts(gate),
            Step::Experts(down),
        ] = self.schedule.steps.get(at..at + 3)?
        else {
            return None;
        };
        let (Some(Place::Buffer(logits)), &[(_, _), (weight, _)]) = (
            inputs.first().map(|source| source.place),
            outputs.as_slice(),
        ) else {
            return None;
        };
        let is_read = |id: BufferId| {
            let reads = |step: &&Step| match step {
                Step::Experts(step) => step.index == id || step.weights == Some(id),
                Step::Plain { inputs, .. } => inputs
                    .iter()
                    .any(|source| source.place == Place::Buffer(id)),
                _ => false,
            };
            self.schedule.steps[at..].iter().filter(reads).count()
        };
        let pair = gate.weights.is_none() && down.weights == Some(weight);
        let own = gate.index == index && down.index == index && is_read(weight) == 1;
        let stack = stack(self.weights, at + 2, down).ok()?;
        let few = self.rows(index) <= FEW_ROWS && gate.experts <= MAX_ROUTED;
        (pair && own && few && self.fits(&stack, down.chosen)).then_some((logits, *route))
    }

    /// Records a router.
    pub(super) fn route(
        &mut self,
        route: Route,
        inputs: &[Source],
        outputs: &[(BufferId, Type)],
    ) -> Result<()> {
        let (Some(logits), &[(index, _), (weight, _)]) = (inputs.first(), outputs) else {
            return Err(Error::Internal("a router without logits".into()));
        };
        if self.routed(index).is_some() {
            return Ok(());
        }
        let Place::Buffer(logits) = logits.place else {
            return Err(Error::Internal("a router of what is no buffer".into()));
        };
        let rows = self.rows(logits);
        let arena = &self.memory.arena;
        let args = Args::new()
            .buffer(arena, self.at(logits, 0))
            .buffer(arena, self.at(index, 0))
            .buffer(arena, self.at(weight, 0))
            .u32(self.width(logits) as u32)
            .u32(route.chosen as u32)
            .u32(route.normalize.into());
        let reads = [self.range(logits, 0, rows)];
        let writes = [self.range(index, 0, rows), self.range(weight, 0, rows)];
        let grid = [rows as u32, 1, 1];
        self.launch("mlxrocm_route", grid, 32, 0, args, &reads, &writes)
    }

    /// Records products with experts; `place` is the step's.
    pub(super) fn experts(&mut self, place: usize, step: &ExpertProducts) -> Result<()> {
        let stack = stack(self.weights, place, step)?;
        let rows = match self.schedule.buffers[step.index.0].rows {
            Rows::Tokens => self.bucket.rows,
            Rows::Wanted => self.bucket.wanted,
            Rows::Once => 1,
        };
        if rows > FEW_ROWS {
            return self.experts_of_many(&stack, place, step, rows);
        }
        match step.weights {
            None => self.experts_of_few(&stack, step, (rows * step.chosen, 1, step.chosen)),
            // All of a row's experts in one product, if there is room for what they multiply.
            Some(_) if self.fits(&stack, step.chosen) => {
                self.experts_of_few(&stack, step, (rows, step.chosen, 1))
            }
            Some(_) => {
                self.experts_of_few(&stack, step, (rows * step.chosen, 1, 1))?;
                self.sum(step, rows)
            }
        }
    }

    /// Whether a block has room for so many inputs of a product.
    fn fits(&self, stack: &Stack, segments: usize) -> bool {
        let facts = self.weights.device.facts();
        let cols = segments * stack.form.padded(stack.matrix.cols);
        MatrixForm::Quant(stack.form).takes_whole(facts, cols)
    }

    /// `items` products of `segments` matrices each; `share` items have the same x.
    fn experts_of_few(
        &mut self,
        stack: &Stack,
        step: &ExpertProducts,
        (items, segments, share): (usize, usize, usize),
    ) -> Result<()> {
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
                    (items * width * 4) as u64,
                    width,
                )
            }
            (_, _) => {
                let width = self.width(step.out) / if summed.is_some() { 1 } else { step.chosen };
                let bytes = (items * width * 4) as u64;
                (&memory.arena, self.at(step.out, 0), bytes, width)
            }
        };
        let args = Args::new()
            .buffer(&matrix.data, 0)
            .buffer(&memory.arena, self.at(step.x, 0));
        let residual = step.residual.filter(|_| summed.is_some());
        let args = self
            .norm_of(args, step.norm)
            .buffer_or_null(stack.bias.as_ref().map(|bias| (bias, 0)))
            .buffer_or_null(residual.map(|residual| (&memory.arena, self.at(residual, 0))))
            .buffer(out, offset)
            .buffer(&memory.arena, self.at(step.index, 0));
        let rows = self.rows(step.index);
        let mut reads = vec![self.range(step.x, 0, rows), self.range(step.index, 0, rows)];
        reads.extend(residual.map(|residual| self.range(residual, 0, rows)));
        let routed = self.routed(step.index);
        let args = match summed.filter(|_| routed.is_none()) {
            Some(weights) => {
                reads.push(self.range(weights, 0, rows));
                args.buffer(&memory.arena, self.at(weights, 0))
            }
            None => args.null(),
        };
        let (args, route) = match routed {
            Some((logits, route)) => {
                reads.push(self.range(logits, 0, rows));
                (args.buffer(&memory.arena, self.at(logits, 0)), route)
            }
            None => (args.null(), Route::softmax(step.chosen, false)),
        };
        let args = args
            .u32(width as u32)
            .f32(step.norm.map_or(0.0, |norm| norm.eps))
            .u32(matrix.cols as u32)
            .u32(stack.tiles as u32)
            .u32(if residual.is_some() {
                ADD
            } else {
                stack.epilogue
            })
            .u32(stack.experts as u32)
            .u32(segments as u32)
            .u32(share as u32)
            .u32(route.chosen as u32)
            .u32(route.normalize.into())
            .f32(step.limit.unwrap_or(0.0));
        let form = MatrixForm::Quant(stack.form);
        let works = stack.tiles / if stack.epilogue == SILU { 2 } else { 1 };
        let blocks = form.blocks_of_each(facts, works, items);
        let cols = segments * stack.form.padded(matrix.cols);
        let lds = form.shared_bytes(facts, 1, cols);
        let kernel = format!("mlxrocm_matmul_experts_{}", stack.form.name());
        let writes = [out.range(offset, bytes)];
        let grid = [blocks, items as u32, 1];
        self.launch(
            &kernel,
            grid,
            form.threads(facts),
            lds,
            args,
            &reads,
            &writes,
        )
    }

    fn expert_memory(&self) -> Result<&ExpertMemory> {
        let memory = self.memory.experts.as_ref();
        memory.ok_or_else(|| Error::Internal("experts without memory".into()))
    }

    /// Products of many rows, each matrix with all the rows that chose it.
    fn experts_of_many(
        &mut self,
        stack: &Stack,
        place: usize,
        step: &ExpertProducts,
        rows: usize,
    ) -> Result<()> {
        let pairs = rows * step.chosen;
        let blocks = block_count(pairs, step.experts);
        let (x, index) = (step.x, step.index);
        let ExpertMemory {
            order,
            blocks: runs,
            sums,
        } = self.expert_memory()?;
        let (order, runs, sums) = (order.clone(), runs.clone(), sums.clone());
        // Down takes the order that gate and up were computed in.
        let before = place
            .checked_sub(1)
            .map(|before| &self.schedule.steps[before]);
        let is_sorted = matches!(before, Some(Step::Experts(gate)) if gate.index == index);
        if !(is_sorted && step.weights.is_some()) {
            let args = Args::new()
                .buffer(&self.memory.arena, self.at(index, 0))
                .buffer(&order, 0)
                .buffer(&runs, 0)
                .u32(pairs as u32)
                .u32(step.experts as u32)
                .u32(blocks as u32);
            let reads = [self.range(index, 0, rows)];
            let writes = [order.whole(), runs.whole()];
            let sort = "mlxrocm_experts_sort";
            self.launch(sort, [1, 1, 1], 1024, 0, args, &reads, &writes)?;
        }
        // Inputs of gate and up are the rows', of down the pairs'.
        let (inputs, share) = match step.weights {
            None => (rows, step.chosen),
            Some(_) => (pairs, 1),
        };
        self.operand_rows(Operand::Rows, (x, step.norm), (inputs, stack.matrix.cols))?;
        let (to, offset, width) = match step.weights {
            None => {
                let width = self.width(step.out) / step.chosen;
                (&self.memory.arena, self.at(step.out, 0), width)
            }
            Some(_) => (&sums, 0, self.width(step.out)),
        };
        let (operand, scales) = (&self.memory.operand, &self.memory.scales);
        let args = Args::new()
            .buffer(&stack.matrix.data, 0)
            .buffer(operand, 0)
            .buffer(scales, 0)
            .buffer_or_null(stack.bias.as_ref().map(|bias| (bias, 0)))
            .buffer(to, offset)
            .buffer(&runs, 0)
            .buffer(&order, 0)
            .f32(stack.matrix.back)
            .u32(width as u32)
            .u32(stack.matrix.cols as u32)
            .u32(stack.tiles as u32)
            .u32(stack.epilogue)
            .u32(share as u32)
            .f32(step.limit.unwrap_or(0.0));
        let reads = [operand.whole(), scales.whole(), runs.whole(), order.whole()];
        let writes = [to.range(offset, (pairs * width * 4) as u64)];
        let down = stack
            .tiles
            .div_ceil(block_tiles(self.weights.device.facts()));
        let grid = [blocks as u32, down as u32, 1];
        let kernel = format!("mlxrocm_matmul_experts_block_{}", stack.form.name());
        self.launch(&kernel, grid, BLOCK_THREADS, 0, args, &reads, &writes)?;
        match step.weights {
            Some(_) => self.sum(step, rows),
            None => Ok(()),
        }
    }

    /// The weighted sums of the results of each row's experts.
    fn sum(&mut self, step: &ExpertProducts, rows: usize) -> Result<()> {
        let Some(weights) = step.weights else {
            return Err(Error::Internal("a sum without weights".into()));
        };
        let (width, sums) = (self.width(step.out), self.expert_memory()?.sums.clone());
        let arena = &self.memory.arena;
        let args = Args::new()
            .buffer(&sums, 0)
            .buffer(arena, self.at(weights, 0));
        let residual = step.residual.map(|residual| (arena, self.at(residual, 0)));
        let args = args
            .buffer_or_null(residual)
            .buffer(&self.memory.arena, self.at(step.out, 0))
            .u32(width as u32)
            .u32(step.chosen as u32);
        let bytes = (rows * step.chosen * width * 4) as u64;
        let mut reads = vec![sums.range(0, bytes), self.range(weights, 0, rows)];
        reads.extend(step.residual.map(|residual| self.range(residual, 0, rows)));
        let writes = [self.range(step.out, 0, rows)];
        let grid = [width.div_ceil(256) as u32, rows as u32, 1];
        self.launch("mlxrocm_experts_sum", grid, 256, 0, args, &reads, &writes)
    }
}

fn stack(weights: &GpuWeights, place: usize, step: &ExpertProducts) -> Result<Stack> {
    let launch = weights.launches.get(place).and_then(|all| all.first());
    let launch = launch.ok_or_else(|| Error::Internal("experts without matrices".into()))?;
    let MatrixForm::Quant(form) = launch.matrix.form else {
        return Err(Error::Internal("experts that are not quantized".into()));
    };
    Ok(Stack {
        form,
        tiles: launch.matrix.tiles / step.experts.max(1),
        experts: step.experts,
        epilogue: if launch.silu { SILU } else { 0 },
        matrix: launch.matrix.clone(),
        bias: launch.bias.clone(),
    })
}
