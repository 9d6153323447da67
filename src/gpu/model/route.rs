//! Routers of mixtures of experts, by the kernels of `hip/ops/experts`.

use super::experts::{MAX_CHOSEN, MAX_EXPERTS, stack};
use super::matmul::MatrixForm;
use super::record::Recorder;
use super::weights::Launch;
use crate::gpu::Args;
use crate::ir::{Op, Route, Scores, Type};
use crate::step::{BufferId, Place, Source, Step};
use crate::{Error, Result};

/// The most experts whose router the products' kernel runs itself (`route_512` of `hip/ops/experts/route.h`).
const MAX_ROUTED: usize = 512;
/// The most groups of `hip/ops/experts/route_scores.hip`, and of how many of a group's largest ranks it takes the sum.
const MAX_GROUPS: usize = 32;
const MAX_BEST: usize = 2;

/// Why GPUs cannot run a router, if they cannot.
pub fn refusal(route: Route, inputs: &[Source]) -> Option<Error> {
    let experts = inputs.first().and_then(|logits| {
        let columns = logits.ty.shape.dims().last();
        columns.and_then(|columns| columns.number())
    });
    let experts = experts.unwrap_or(usize::MAX);
    let what = if route.chosen > MAX_CHOSEN || experts > MAX_EXPERTS {
        format!(
            "that chooses {} of {experts}: GPUs take at most {MAX_CHOSEN} of {MAX_EXPERTS}",
            route.chosen
        )
    } else if let Some(groups) = route.groups
        && (groups.count > MAX_GROUPS || groups.best > MAX_BEST)
    {
        format!(
            "of {} groups by their {} best: GPUs take at most {MAX_GROUPS} by {MAX_BEST}",
            groups.count, groups.best
        )
    } else {
        return None;
    };
    Some(Error::Unsupported(format!("a router {what}; use the CPU")))
}

/// Whether it is a softmax alone (`hip/ops/experts/route.h`).
fn is_softmax(route: Route, inputs: &[Source]) -> bool {
    route == Route::softmax(route.chosen, route.normalize) && inputs.len() == 1
}

impl Recorder<'_> {
    /// The router of a step with experts, if the products of few rows run it themselves: logits, and what is chosen.
    /// Gate and up follow the router, down follows these, and nobody else reads what it chose.
    pub(super) fn routed(&self, index: BufferId) -> Option<(BufferId, Route)> {
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
        if !is_softmax(*route, inputs) {
            return None;
        }
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
        let stack = stack(self.launches, at + 2, down).ok()?;
        // Of more rows the pairs are sorted.
        let few = self.rows(index) == 1 && gate.experts <= MAX_ROUTED;
        let launches = self.launches.get(at + 1..at + 3)?;
        let is_quantized = |launch: &Launch| matches!(launch.matrix.form, MatrixForm::Quant(_));
        let quantized = launches.iter().flatten().all(is_quantized);
        (pair && own && few && quantized && self.fits(&stack, down.chosen))
            .then_some((logits, *route))
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
        let correction = inputs.get(1).map(|source| self.operand_of(source));
        let correction = correction.transpose()?;
        let rows = self.rows(logits);
        let arena = &self.memory.arena;
        let mut reads = vec![self.range(logits, 0, rows)];
        let mut args = Args::new().buffer(arena, self.at(logits, 0));
        let softmax = is_softmax(route, inputs);
        if !softmax {
            let correction = correction.as_ref();
            reads.extend(correction.map(|of| of.buffer.range(of.offset, of.bytes())));
            args = args.buffer_or_null(correction.map(|of| (&of.buffer, of.offset)));
        }
        args = args
            .buffer(arena, self.at(index, 0))
            .buffer(arena, self.at(weight, 0))
            .u32(self.width(logits) as u32)
            .u32(route.chosen as u32)
            .u32(route.normalize.into());
        if !softmax {
            let (scores, limit) = match route.scores {
                Scores::Softmax => (0, 0.0),
                Scores::Sigmoid => (1, 0.0),
                Scores::Band(limit) => (2, limit.get()),
            };
            let groups = route.groups;
            args = args
                .u32(scores)
                .u32(groups.map_or(1, |groups| groups.count) as u32)
                .u32(groups.map_or(1, |groups| groups.kept) as u32)
                .u32(groups.map_or(1, |groups| groups.best) as u32)
                .f32(route.factor.get() as f32)
                .f32(limit as f32);
        }
        let writes = [self.range(index, 0, rows), self.range(weight, 0, rows)];
        let grid = [rows as u32, 1, 1];
        let kernel = match softmax {
            true => "mlxrocm_route",
            false => "mlxrocm_route_scores",
        };
        self.launch(kernel, grid, 32, 0, args, &reads, &writes)
    }
}
