//! Records of `hip/ops/recurrent/delta_step.hip`: a gated delta net's convolution, rule and norm of few tokens in one launch.

use super::matmul::FEW_ROWS;
use super::record::Recorder;
use super::recurrent::{Rule, ratio, rule};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::recurrent_delta_step::{STEP_TAPS, STEP_THREADS, STEP_VALUES};
use crate::step::{GatedDelta, GatedNorm, ShortConv};

/// Widths of keys that there are kernels for.
const KEY_DIMS: [usize; 2] = [64, 128];

/// The width of keys of the kernel for such steps.
fn dim_of(conv: &ShortConv, of: &GatedDelta, norm: Option<GatedNorm>) -> Option<usize> {
    let Rule { kernel, .. } = rule(&of.shape)?;
    let fits = kernel == "mlxrocm_gated_delta"
        && conv.shape.taps <= STEP_TAPS
        && of.shape.value_dim <= STEP_VALUES
        && norm.is_none_or(|norm| norm.dim == of.shape.value_dim);
    let mut dims = KEY_DIMS.into_iter();
    dims.find(|&dim| fits && of.shape.key_dim <= dim)
}

impl Recorder<'_> {
    /// Records a gated delta net's steps as one launch, if they and the batch allow it: whether it did.
    pub(super) fn delta_step(
        &mut self,
        conv: &ShortConv,
        of: &GatedDelta,
        norm: Option<GatedNorm>,
    ) -> Result<bool> {
        let is_few = self.bucket.rows <= FEW_ROWS || self.bucket.decode;
        match dim_of(conv, of, norm).filter(|_| is_few) {
            Some(dim) => self.record_delta_step(dim, conv, of, norm).map(|()| true),
            None => Ok(false),
        }
    }

    fn record_delta_step(
        &mut self,
        dim: usize,
        conv: &ShortConv,
        of: &GatedDelta,
        norm: Option<GatedNorm>,
    ) -> Result<()> {
        let rows = self.bucket.rows;
        let (shape, arena) = (of.shape, &self.memory.arena);
        let memory = self.recurrent_memory()?;
        let data = memory.data.clone();
        let args = Args::new().buffer("x", arena, self.at(conv.x, 0));
        let args = self.vector(args, "taps", conv.weight)?;
        let args = memory.state(args, "tail", conv.shape.state);
        let args = args.buffer("decay", arena, self.at(of.decay, 0)).buffer(
            "beta",
            arena,
            self.at(of.beta, 0),
        );
        let args = self.gates_of(args, of)?;
        let args = match norm {
            Some(norm) => {
                let args = args.buffer("z", arena, self.at(norm.z, 0));
                self.vector(args, "norm", norm.norm.weight)?
            }
            None => args.null("z").null("norm"),
        };
        let out = norm.map_or(of.out, |norm| norm.out);
        let args = args.buffer("out", arena, self.at(out, 0));
        let columns = shape.columns.map(|column| column as u32);
        let args = memory
            .args(args, shape.state)
            .buffer("sequences", self.inputs, self.sequences())
            .u32("channels", conv.shape.channels as u32)
            .u32("tap_count", conv.shape.taps as u32)
            .u32("with_silu", u32::from(conv.shape.silu))
            .u32s(["q_column", "k_column", "v_column"], columns)
            .u32("heads", shape.value_heads as u32)
            .u32("ratio", ratio(&shape))
            .u32("tiled", u32::from(shape.tiled))
            .u32("key_dim", shape.key_dim as u32)
            .u32("value_dim", shape.value_dim as u32)
            .f32("eps", shape.eps.map_or(0.0, |eps| eps.get() as f32))
            .f32("norm_eps", norm.map_or(0.0, |norm| norm.norm.eps));
        let mut reads: Vec<_> = [conv.x, of.decay, of.beta]
            .into_iter()
            .chain(norm.map(|norm| norm.z))
            .map(|id| self.range(id, 0, rows))
            .collect();
        reads.extend([self.inputs.whole(), data.whole()]);
        let writes = [self.range(out, 0, rows), data.whole()];
        let grid = [shape.value_heads as u32, self.bucket.slots as u32, 1];
        let kernel = format!("mlxrocm_delta_step_{dim}");
        let threads = STEP_THREADS as u32;
        self.launch(&kernel, grid, threads, 0, args, &reads, &writes)
    }
}
