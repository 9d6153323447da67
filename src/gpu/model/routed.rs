//! Routers of one row that gate and up make themselves, from their product on (`hip/ops/matmul/experts_routed.h`).

use super::experts::{Stack, stack};
use super::matmul::{MatrixForm, SILU};
use super::record::Recorder;
use super::weights::Launch;
use crate::gpu::constants::matmul_experts_routed_q4::CLUSTER;
use crate::gpu::{Args, LaunchOptions};
use crate::ir::Route;
use crate::step::{BufferId, Epilogue, ExpertProducts, Norm, Step};
use crate::{Error, Result};

/// The product that makes a router's logits.
#[derive(Clone, Copy)]
pub(super) struct Logits<'a> {
    launch: &'a Launch,
    logits: BufferId,
    route: Route,
    /// Blocks of each choice.
    blocks: u32,
}

impl<'a> Recorder<'a> {
    /// The router of the step with experts at `place`, if that makes it itself.
    pub(super) fn logits_here(&self, place: usize) -> Result<Option<Logits<'a>>> {
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
        let is_chosen = outputs.first().is_some_and(|(id, _)| *id == experts.index);
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
            && launch.matrix.tiles <= CLUSTER * super::matmul::stages(facts)
            && launch.matrix.tiles.is_multiple_of(CLUSTER)
            && (router.scales, router.group) == (form.scales, form.group);
        if !(same && plain && fits && stack.epilogue == SILU && device.has_clusters()) {
            return Ok(None);
        }
        if device.kernel(&kernel(launch, &stack)).is_err() {
            return Ok(None);
        }
        let blocks = stack
            .matrix
            .form
            .blocks_of_each(facts, stack.tiles / 2, route.chosen);
        let blocks = blocks / CLUSTER as u32 * CLUSTER as u32;
        Ok((blocks > 0).then_some(Logits {
            launch,
            logits,
            route,
            blocks,
        }))
    }

    /// Records such a router with gate and up.
    pub(super) fn experts_routed(
        &mut self,
        stack: &Stack,
        step: &ExpertProducts,
        router: Logits<'_>,
    ) -> Result<()> {
        let Logits {
            launch,
            logits,
            route,
            blocks,
        } = router;
        let (arena, matrix) = (&self.memory.arena, &stack.matrix);
        let facts = self.weights.device.facts();
        let width = self.width(step.out) / step.chosen;
        let args =
            Args::new()
                .buffer("weights", &matrix.data, 0)
                .buffer("x", arena, self.at(step.x, 0));
        let args = self
            .norm_of(args, "norm", step.norm)
            .buffer("out", arena, self.at(step.out, 0))
            .buffer("router", &launch.matrix.data, 0)
            .buffer_or_null("router_bias", launch.bias.as_ref().map(|bias| (bias, 0)))
            .buffer("logits", arena, self.at(logits, 0))
            .u32("width", width as u32)
            .f32("eps", step.norm.map_or(0.0, |norm| norm.eps))
            .u32("cols", matrix.cols as u32)
            .u32("tiles", stack.tiles as u32)
            .u32("router_tiles", launch.matrix.tiles as u32)
            .u32("epilogue", stack.epilogue)
            .u32("experts", stack.experts as u32)
            .u32("chosen", route.chosen as u32)
            .u32("normalize", route.normalize.into());
        let rows = self.rows(step.index);
        let reads = [self.range(step.x, 0, rows)];
        let writes = [self.range(step.out, 0, rows), self.range(logits, 0, rows)];
        let lds = matrix.form.shared_bytes(facts, 1, matrix.cols);
        let threads = matrix.form.threads(facts);
        let kernel = self.weights.device.kernel(&kernel(launch, stack))?;
        let options = LaunchOptions {
            overlap: true,
            cluster: CLUSTER as u32,
        };
        let lds =
            u32::try_from(lds).map_err(|_| Error::Internal("too much shared memory".into()))?;
        let grid = [blocks, step.chosen as u32, 1];
        self.encoder.launch_with(
            &kernel,
            grid,
            [threads, 1, 1],
            lds,
            args,
            &reads,
            &writes,
            options,
        )
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
