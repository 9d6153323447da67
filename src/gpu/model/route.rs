//! Routers of mixtures of experts, by the kernels of `hip/ops/experts`.

use super::experts::{MAX_CHOSEN, MAX_EXPERTS, stack};
use super::experts_memory::{ExpertMemory, run_count};
use super::matmul::MatrixForm;
use super::record::Recorder;
use super::weights::Launch;
use crate::driver::Platform;
use crate::gpu::Args;
use crate::gpu::constants::{
    experts_route, experts_route_scores as scores, experts_route_sort as route_sort,
};
use crate::ir::{Op, Route, Scores, Type};
use crate::step::{BufferId, Epilogue, Place, Source, Step};
use crate::{Error, Result};

/// The most experts whose router the products' kernel runs itself (`route_few` of `hip/ops/experts/route.h`).
const MAX_ROUTED: usize = experts_route::MAX_ROUTED;
/// The most experts, pairs and rows of `hip/ops/experts/route_sort.hip`, the last for its speed: a block takes 32 at once.
const MAX_SORTED: [usize; 3] = [experts_route::FEW_ROUTED, route_sort::MOST_PAIRS, 64];
const _: () = assert!(experts_route::FEW_ROUTED < route_sort::MOST_SORTED);
/// The most groups of `hip/ops/experts/route_scores.hip`, and of how many of a group's largest ranks it takes the sum.
const MAX_GROUPS: usize = scores::ROUTE_LANES;
const MAX_BEST: usize = 2;

/// Why GPUs cannot run a router, if they cannot.
pub fn refusal(route: Route, inputs: &[Source]) -> Option<Error> {
    let experts = inputs.first().and_then(|logits| {
        let columns = logits.ty.shape.dims().last();
        columns.and_then(|columns| columns.number())
    });
    let experts = experts.unwrap_or(usize::MAX);
    let what = if route.all() > MAX_CHOSEN || experts > MAX_EXPERTS {
        format!(
            "that chooses {} of {experts}: GPUs take at most {MAX_CHOSEN} of {MAX_EXPERTS}",
            route.all()
        )
    } else if route.shared && !is_softmax(route, inputs) {
        "with a shared expert and no softmax alone".into()
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
    let softmax = Route::softmax(route.chosen, route.normalize);
    let shared = route.shared;
    route == Route { shared, ..softmax } && inputs.len() == 1
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
        let is_here = !self.is_on_cpu(at + 1) && !self.is_on_cpu(at + 2);
        let pair = is_here && gate.weights.is_none() && down.weights == Some(weight);
        let own = gate.index == index && down.index == index && is_read(weight) == 1;
        let stack = stack(self.launches, at + 2, down).ok()?;
        // Of more rows the pairs are sorted.
        let experts = gate.experts - usize::from(route.shared);
        let few = self.rows(index) == 1 && experts <= MAX_ROUTED;
        let launches = self.launches.get(at + 1..at + 3)?;
        let is_quantized = |launch: &Launch| matches!(launch.matrix.form, MatrixForm::Quant(_));
        let quantized = launches.iter().flatten().all(is_quantized);
        (pair && own && few && quantized && self.fits(&stack, down.chosen))
            .then_some((logits, *route))
    }

    /// If the router that chooses `index` sorts the pairs too (`hip/ops/experts/route_sort.hip`): the place of the step with
    /// experts that follows it, and into runs of how many.
    pub(super) fn sorted(&self, index: BufferId) -> Result<Option<(usize, usize)>> {
        let mut places = self.schedule.steps.windows(2).enumerate();
        let found = places.find_map(|(at, steps)| match steps {
            [
                Step::Plain {
                    op: Op::Route(route),
                    inputs,
                    outputs,
                },
                Step::Experts(experts),
            ] if experts.index == index
                && outputs.first().is_some_and(|(id, _)| *id == index)
                && is_softmax(*route, inputs) =>
            {
                Some((at + 1, experts, usize::from(route.shared)))
            }
            _ => None,
        });
        let Some((place, experts, shared)) = found else {
            return Ok(None);
        };
        let rows = self.rows(index);
        let sizes = [experts.experts - shared, rows * experts.chosen, rows];
        let mut sizes = sizes.iter().zip(MAX_SORTED);
        let is_here = self.weights.device.facts().platform == Platform::Cuda;
        Ok(match self.run_size(place, experts)? {
            Some(most) if is_here && sizes.all(|(&size, most)| size <= most) => Some((place, most)),
            _ => None,
        })
    }

    /// Whether the step at `place` is a product whose results are logits that the router after it makes itself
    /// (`hip/ops/matmul/route.h`), or gate and up after that (`experts_routed.h`).
    pub(super) fn makes_logits(&self, place: usize) -> Result<bool> {
        if self.logits_here(place + 2)?.is_some() {
            return Ok(true);
        }
        let steps = self.schedule.steps.get(place..place + 2);
        let Some(
            [
                Step::Matmul {
                    products, epilogue, ..
                },
                Step::Plain {
                    op: Op::Route(_),
                    inputs,
                    outputs,
                },
            ],
        ) = steps
        else {
            return Ok(false);
        };
        let (Some(input), Some((index, _)), [product]) =
            (inputs.first(), outputs.first(), products.as_slice())
        else {
            return Ok(false);
        };
        let is_input = product.out.map(Place::Buffer) == Some(input.place);
        let launches = self.launches.get(place).map_or(&[][..], Vec::as_slice);
        let [launch] = launches else {
            return Ok(false);
        };
        let facts = self.weights.device.facts();
        let matrix = &launch.matrix;
        let fits = matches!(matrix.form, MatrixForm::Quant(_)) && matrix.few_rows(facts) > 0;
        let is_stored = matches!(epilogue, Epilogue::Store);
        let is_one = is_input && is_stored && fits;
        Ok(is_one && self.sorted(*index)?.is_some())
    }

    /// Records a router of few rows whose pairs are sorted into runs of `most`: with the product at `place` that makes its
    /// logits, if there is one.
    fn route_and_sort(
        &mut self,
        route: Route,
        (logits, index, weight): (BufferId, BufferId, BufferId),
        most: usize,
        place: Option<usize>,
    ) -> Result<()> {
        let (rows, experts) = (self.rows(logits), self.width(logits));
        let count = run_count(rows * route.all(), experts, most);
        let (memory, facts) = (self.memory, self.weights.device.facts());
        let arena = &memory.arena;
        let ExpertMemory { order, runs, .. } = self.expert_memory()?;
        let mut writes = vec![
            self.range(index, 0, rows),
            self.range(weight, 0, rows),
            order.whole(),
            runs.whole(),
        ];
        let places = |args: Args| {
            args.buffer("logits", arena, self.at(logits, 0))
                .buffer("index", arena, self.at(index, 0))
                .buffer("weight", arena, self.at(weight, 0))
                .buffer("order", order, 0)
                .buffer("runs", runs, 0)
        };
        let sizes = |args: Args| {
            args.u32("experts", experts as u32)
                .u32("chosen", route.all() as u32)
                .u32("normalize", route.normalize.into())
                .u32("shared", route.shared.into())
                .u32("most_runs", count as u32)
                .u32("most_pairs", most as u32)
        };
        let made_by = place.map(|place| (&self.schedule.steps[place], &self.launches[place]));
        let Some((Step::Matmul { x, norm, .. }, [launch])) =
            made_by.map(|(step, launches)| (step, launches.as_slice()))
        else {
            let args = sizes(places(Args::new()).u32("rows", rows as u32));
            let reads = [self.range(logits, 0, rows)];
            let kernel = "mlxrocm_route_sort";
            return self.launch(kernel, [1, 1, 1], 1024, 0, args, &reads, &writes);
        };
        let matrix = &launch.matrix;
        let args =
            Args::new()
                .buffer("weights", &matrix.data, 0)
                .buffer("x", arena, self.at(*x, 0));
        let args = self
            .norm_of(args, "norm", *norm)
            .buffer_or_null("bias", launch.bias.as_ref().map(|bias| (bias, 0)));
        let args = places(args)
            .buffer("counter", &memory.counters, 0)
            .f32("eps", norm.map_or(0.0, |norm| norm.eps))
            .u32("cols", matrix.cols as u32)
            .u32("tiles", matrix.tiles as u32);
        let args = sizes(args);
        let reads = [self.range(*x, 0, rows)];
        writes.extend([self.range(logits, 0, rows), memory.counters.whole()]);
        let kernel = format!("mlxrocm_matmul_route_{}", matrix.form.name());
        let threads = matrix.form.threads(facts);
        let lds = matrix.form.shared_bytes(facts, 1, matrix.cols);
        let blocks = matrix.form.blocks_of_each(facts, matrix.tiles, rows);
        let grid = [blocks, rows as u32, 1];
        self.launch(&kernel, grid, threads, lds, args, &reads, &writes)
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
        if let Some((place, most)) = self.sorted(index)? {
            let product = match place.checked_sub(2) {
                Some(at) if self.makes_logits(at)? => Some(at),
                _ => None,
            };
            return self.route_and_sort(route, (logits, index, weight), most, product);
        }
        let correction = inputs.get(1).map(|source| self.operand_of(source));
        let correction = correction.transpose()?;
        let rows = self.rows(logits);
        let arena = &self.memory.arena;
        let mut reads = vec![self.range(logits, 0, rows)];
        let mut args = Args::new().buffer("logits", arena, self.at(logits, 0));
        let softmax = is_softmax(route, inputs);
        if !softmax {
            let correction = correction.as_ref();
            reads.extend(correction.map(|of| of.buffer.range(of.offset, of.bytes())));
            args = args.buffer_or_null("correction", correction.map(|of| (&of.buffer, of.offset)));
        }
        args = args
            .buffer("index", arena, self.at(index, 0))
            .buffer("weight", arena, self.at(weight, 0))
            .u32("experts", self.width(logits) as u32)
            .u32("chosen", route.all() as u32)
            .u32("normalize", route.normalize.into());
        if softmax {
            args = args.u32("shared", route.shared.into());
        } else {
            let (kind, limit) = match route.scores {
                Scores::Softmax => (scores::SOFTMAX, 0.0),
                Scores::Sigmoid => (scores::SIGMOID, 0.0),
                Scores::Band(limit) => (scores::BAND, limit.get()),
            };
            let groups = route.groups;
            args = args
                .u32("scores", kind)
                .u32("groups", groups.map_or(1, |groups| groups.count) as u32)
                .u32("kept", groups.map_or(1, |groups| groups.kept) as u32)
                .u32("best", groups.map_or(1, |groups| groups.best) as u32)
                .f32("factor", route.factor.get() as f32)
                .f32("limit", limit as f32);
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
