//! Routers of one row that gate and up make themselves, from their product on (`hip/ops/matmul/experts_routed.h`).

use super::experts::{Stack, stack};
use super::matmul::{MatrixForm, SILU};
use super::record::Recorder;
use super::weights::Launch;
use crate::Result;
use crate::driver::Platform;
use crate::gpu::Args;
use crate::gpu::constants::matmul_experts_routed_q4::MOST_ROUTED_HERE;
use crate::ir::Route;
use crate::step::{BufferId, Epilogue, ExpertProducts, Norm, Step};

/// The most experts of such a router.
pub(super) const MOST_ROUTED: usize = MOST_ROUTED_HERE;

/// The product that makes a router's logits.
#[derive(Clone, Copy)]
pub(super) struct Logits<'a> {
    launch: &'a Launch,
    weights: BufferId,
    route: Route,
    /// Blocks of each choice.
    blocks: u32,
}

impl<'a> Recorder<'a> {
    /// The router of the step with experts at `place`, if that makes it itself: all of a program's do or none, since each leaves
    /// zeros for the next.
    pub(super) fn logits_here(&self, place: usize) -> Result<Option<Logits<'a>>> {
        let Some(logits) = self.logits_at(place)? else {
            return Ok(None);
        };
        let all = match self.routers_here.get() {
            Some(all) => all,
            None => self.all_are_here()?,
        };
        self.routers_here.set(Some(all));
        Ok(all.then_some(logits))
    }

    /// Whether the step in front of the one at `place` is gate and up that make their router.
    pub(super) fn is_routed_before(&self, place: usize) -> Result<bool> {
        let before = place.checked_sub(1);
        Ok(before
            .map(|at| self.logits_here(at))
            .transpose()?
            .flatten()
            .is_some())
    }

    /// Whether each of several gates and ups can make its router.
    fn all_are_here(&self) -> Result<bool> {
        let places = self.gates();
        for place in &places {
            if self.logits_at(*place)?.is_none() {
                return Ok(false);
            }
        }
        Ok(places.len() > 1)
    }

    /// The places of gate and up.
    fn gates(&self) -> Vec<usize> {
        let steps = self.schedule.steps.iter().enumerate();
        let is_gate = |step: &Step| matches!(step, Step::Experts(step) if step.weights.is_none());
        steps
            .filter_map(|(at, step)| (is_gate(step) && !self.is_on_cpu(at)).then_some(at))
            .collect()
    }

    fn logits_at(&self, place: usize) -> Result<Option<Logits<'a>>> {
        if self.is_on_cpu(place) {
            return Ok(None);
        }
        let schedule = self.schedule;
        let steps = place.checked_sub(2).map(|first| (first, place + 1));
        let Some((first, steps)) =
            steps.and_then(|(first, end)| Some((first, schedule.steps.get(first..end)?)))
        else {
            return Ok(None);
        };
        let [
            Step::Matmul {
                x,
                norm,
                products,
                epilogue: Epilogue::Store,
            },
            Step::Plain { outputs, .. },
            Step::Experts(experts),
        ] = steps
        else {
            return Ok(None);
        };
        let &[(index, _), (weights, _)] = outputs.as_slice() else {
            return Ok(None);
        };
        let is_chosen = index == experts.index;
        let Some((logits, route)) = self.routed(experts.index).filter(|_| is_chosen) else {
            return Ok(None);
        };
        let launches = self.launches.get(first).map_or(&[][..], Vec::as_slice);
        let ([product], [launch]) = (products.as_slice(), launches) else {
            return Ok(None);
        };
        let same = product.out == Some(logits) && *x == experts.x && same_norm(*norm, experts.norm);
        let stack = stack(self.launches, place, experts)?;
        let device = &self.weights.device;
        let facts = device.facts();
        let (MatrixForm::Quant(router), MatrixForm::Quant(form)) =
            (launch.matrix.form, stack.matrix.form)
        else {
            return Ok(None);
        };
        let plain = !experts.own && experts.limit.is_none() && stack.bias.is_none();
        let fits = launch
            .matrix
            .form
            .router_fits(stack.matrix.form, facts, launch.matrix.cols)
            && experts.experts <= MOST_ROUTED
            && (router.scales, router.group) == (form.scales, form.group);
        if !(same && plain && fits && stack.epilogue == SILU && facts.platform == Platform::Cuda) {
            return Ok(None);
        }
        if device.kernel(&kernel(launch, &stack)).is_err() {
            return Ok(None);
        }
        let blocks = stack
            .matrix
            .form
            .blocks_of_each(facts, stack.tiles / 2, route.all());
        // One more than those that make logits, all of which run at once.
        let is_enough = (blocks as usize * route.all()) > launch.matrix.tiles;
        let is_once = blocks as usize * route.all() <= facts.compute_units as usize;
        Ok((is_enough && is_once).then_some(Logits {
            launch,
            weights,
            route,
            blocks,
        }))
    }

    /// Records such a router with gate and up.
    pub(super) fn experts_routed(
        &mut self,
        stack: &Stack,
        place: usize,
        step: &ExpertProducts,
        router: Logits<'_>,
    ) -> Result<()> {
        let Logits {
            launch,
            weights,
            route,
            blocks,
        } = router;
        let (arena, matrix) = (&self.memory.arena, &stack.matrix);
        let facts = self.weights.device.facts();
        let width = self.width(step.out) / step.chosen;
        let gates = self.gates();
        let number = gates.iter().position(|at| *at == place).unwrap_or(0);
        let slots = self.expert_memory()?.slots.clone();
        let bytes = (MOST_ROUTED * 4) as u64;
        let slot = |number: usize| (number % gates.len().max(1)) as u64 * bytes;
        let args =
            Args::new()
                .buffer("weights", &matrix.data, 0)
                .buffer("x", arena, self.at(step.x, 0));
        let args = self
            .norm_of(args, "norm", step.norm)
            .buffer("out", arena, self.at(step.out, 0))
            .buffer("router", &launch.matrix.data, 0)
            .buffer_or_null("router_bias", launch.bias.as_ref().map(|bias| (bias, 0)))
            .buffer("index", arena, self.at(step.index, 0))
            .buffer("expert_weights", arena, self.at(weights, 0))
            .buffer("slots", &slots, slot(number))
            .buffer("next", &slots, slot(number + 1))
            .u32("width", width as u32)
            .f32("eps", step.norm.map_or(0.0, |norm| norm.eps))
            .u32("cols", matrix.cols as u32)
            .u32("tiles", stack.tiles as u32)
            .u32("router_tiles", launch.matrix.tiles as u32)
            .u32("epilogue", stack.epilogue)
            .u32("experts", stack.experts as u32)
            .u32("chosen", route.all() as u32)
            .u32("normalize", route.normalize.into())
            .u32("shared", route.shared.into());
        let rows = self.rows(step.index);
        let reads = [self.range(step.x, 0, rows)];
        let writes = [
            self.range(step.out, 0, rows),
            self.range(step.index, 0, rows),
            self.range(weights, 0, rows),
            slots.whole(),
        ];
        let lds = matrix.form.routed_bytes(facts, matrix.cols);
        let threads = matrix.form.threads(facts);
        let grid = [blocks, step.chosen as u32, 1];
        let kernel = kernel(launch, stack);
        self.launch(&kernel, grid, threads, lds, args, &reads, &writes)
    }
}

fn same_norm(a: Option<Norm>, b: Option<Norm>) -> bool {
    match (a, b) {
        (Some(a), Some(b)) => a.weight == b.weight && a.eps == b.eps,
        (None, None) => true,
        _ => false,
    }
}

fn kernel(router: &Launch, stack: &Stack) -> String {
    let bits = match router.matrix.form {
        MatrixForm::Quant(form) => form.bits,
        MatrixForm::Dense(_) => 0,
    };
    format!(
        "mlxrocm_matmul_experts_routed{bits}_{}",
        stack.matrix.form.name()
    )
}
