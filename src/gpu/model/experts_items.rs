//! Products of few rows with experts, pair by pair or all of a row's at once, and of any number of rows with unquantized matrices:
//! `hip/ops/matmul/experts.h` and `experts_dense.hip`.

use super::experts::Stack;
use super::matmul::{ADD, MatrixForm, SILU};
use super::record::Recorder;
use crate::Result;
use crate::gpu::Args;
use crate::step::ExpertProducts;

/// How a product of few rows is cut: so many items, each the sum of `segments` matrices' products; `share` neighbours have the
/// same x.
#[derive(Clone, Copy)]
pub(super) struct Items {
    pub count: usize,
    pub segments: usize,
    pub share: usize,
}

impl Recorder<'_> {
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
    pub(super) fn experts_of_few(
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
                    route.map_or(step.chosen, |route| route.all()) as u32,
                )
                .u32(
                    "normalize",
                    route.is_some_and(|route| route.normalize).into(),
                )
                .u32("shared", route.is_some_and(|route| route.shared).into())
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
}
