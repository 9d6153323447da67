//! Recurrent layers on a GPU: which kernels take them, and the records of their launches.

use super::delta_chunks::CHUNK;
use super::matmul::FEW_ROWS;
use super::record::Recorder;
use super::recurrent_memory::RecurrentMemory;
use crate::gpu::constants::recurrent_gated_norm::NORM_WAVES;
use crate::gpu::constants::{recurrent_conv, recurrent_delta, recurrent_selective_scan};
use crate::gpu::{Args, Range};
use crate::ir;
use crate::step::{GatedDelta, GatedNorm, ShortConv, VectorId};
use crate::{Error, Result};

/// Channels of a block of `hip/ops/recurrent/conv.hip`, a thread each.
const CHANNELS: usize = recurrent_conv::CHANNELS;
/// Threads of a block of `hip/ops/recurrent/delta.hip`, and the rows of a head's state that it takes.
const THREADS: u32 = recurrent_delta::THREADS as u32;
const ROWS: usize = recurrent_delta::ROWS;
/// Widths of keys that there are kernels for.
const KEY_DIMS: [usize; 3] = [64, 128, 256];
/// The same of `hip/ops/recurrent/selective_scan.hip`, and its threads, a channel each.
const CHANNEL_DIMS: [usize; 1] = [16];
const SCAN_THREADS: u32 = recurrent_selective_scan::THREADS as u32;

/// The kernels for a rule: the beginning of their names, and the widths of keys that they take.
pub(super) struct Rule {
    pub kernel: &'static str,
    key_dims: &'static [usize],
    /// Heads of one column, a thread each (`selective_scan.hip`).
    channels: bool,
}

pub(super) fn rule(shape: &ir::GatedDelta) -> Option<Rule> {
    let of_heads = |kernel| Rule {
        kernel,
        key_dims: &KEY_DIMS,
        channels: false,
    };
    match (shape.corrects, shape.columnwise, shape.eps.is_some()) {
        (true, false, true) => Some(of_heads("mlxrocm_gated_delta")),
        (true, true, true) if !shape.gates => Some(of_heads("mlxrocm_gated_delta_columns")),
        (false, false, false) => Some(of_heads("mlxrocm_state_space")),
        (false, true, false) if shape.value_dim == 1 && !shape.gates => Some(Rule {
            kernel: "mlxrocm_selective_scan",
            key_dims: &CHANNEL_DIMS,
            channels: true,
        }),
        _ => None,
    }
}

/// The width of keys of the kernel that takes a rule.
fn key_dim(step: &GatedDelta) -> Option<usize> {
    let mut dims = rule(&step.shape)?.key_dims.iter().copied();
    dims.find(|&dim| step.shape.key_dim <= dim)
}

/// Blocks of a head: each takes some rows of its state.
pub(super) fn blocks(step: &GatedDelta) -> usize {
    step.shape.value_dim.div_ceil(ROWS)
}

/// Value head h goes with key head h / ratio, or, `tiled`, h mod ratio.
pub(super) fn ratio(shape: &ir::GatedDelta) -> u32 {
    let ratio = match shape.tiled {
        true => shape.key_heads,
        false => shape.value_heads / shape.key_heads,
    };
    ratio as u32
}

/// Numbers of a state as kernels keep it: block by block, what a thread loads at once side by side; or as it is.
pub(super) fn delta_floats(step: &GatedDelta) -> usize {
    let dim = key_dim(step).unwrap_or(0);
    match rule(&step.shape) {
        Some(rule) if rule.channels => step.shape.floats(),
        _ => step.shape.value_heads * blocks(step) * ROWS * dim,
    }
}

/// Why there is no kernel for a rule.
pub fn refusal(step: &GatedDelta) -> Option<Error> {
    let Some(rule) = rule(&step.shape) else {
        return Some(Error::Unsupported(
            "a recurrent layer that is neither a gated delta net nor a state space: GPUs have none yet; use the CPU"
                .into(),
        ));
    };
    key_dim(step).is_none().then(|| {
        Error::Unsupported(format!(
            "recurrent layers with keys of {} columns: GPUs take at most {}; use the CPU",
            step.shape.key_dim,
            rule.key_dims[rule.key_dims.len() - 1]
        ))
    })
}

impl Recorder<'_> {
    pub(super) fn recurrent_memory(&self) -> Result<&RecurrentMemory> {
        let memory = self.memory.recurrent.as_ref();
        memory.ok_or_else(|| Error::Internal("a recurrent layer without slots".into()))
    }

    pub(super) fn sequences(&self) -> u64 {
        (self.places().sequences * 4) as u64
    }

    /// Records a short convolution.
    pub(super) fn short_conv(&mut self, step: ShortConv) -> Result<()> {
        let (places, rows) = (self.places(), self.bucket.rows);
        let byte = |place: usize| (place * 4) as u64;
        let memory = self.recurrent_memory()?;
        let data = memory.data.clone();
        let args = Args::new().buffer("x", &self.memory.arena, self.at(step.x, 0));
        let args = self.vector(args, "weight", step.weight)?.buffer(
            "out",
            &self.memory.arena,
            self.at(step.out, 0),
        );
        let args = memory
            .args(args, step.shape.state)
            .buffer("positions", self.inputs, byte(places.positions))
            .buffer("slice_of", self.inputs, byte(places.slots))
            .buffer("sequences", self.inputs, self.sequences())
            .u32("channels", step.shape.channels as u32)
            .u32("taps", step.shape.taps as u32)
            .u32("with_silu", u32::from(step.shape.silu));
        let reads = [
            self.range(step.x, 0, rows),
            self.inputs.whole(),
            data.whole(),
        ];
        let writes = [self.range(step.out, 0, rows), data.whole()];
        let four = rows > FEW_ROWS && step.shape.channels.is_multiple_of(recurrent_conv::FOUR);
        let (kernel, each) = match four {
            true => ("mlxrocm_short_conv_four_f32", recurrent_conv::FOUR),
            false => ("mlxrocm_short_conv_f32", 1),
        };
        let blocks = step.shape.channels.div_ceil(CHANNELS * each);
        let (grid, threads) = ([blocks as u32, rows as u32, 1], CHANNELS as u32);
        self.launch(kernel, grid, threads, 0, args, &reads, &writes)
    }

    /// Records a gated delta rule.
    pub(super) fn gated_delta(&mut self, step: GatedDelta) -> Result<()> {
        let most = match self.delta_by_chunks(&step)? {
            true => CHUNK as u32 - 1,
            false => u32::MAX,
        };
        let (shape, rows) = (step.shape, self.bucket.rows);
        let memory = self.recurrent_memory()?;
        let data = memory.data.clone();
        let (Some(rule), Some(dim)) = (rule(&shape), key_dim(&step)) else {
            return Err(Error::Internal("a delta rule that no kernel takes".into()));
        };
        let mut args = Args::new();
        let qkv = ["q", "k", "v"].into_iter().zip(step.qkv);
        for ((name, id), column) in qkv.zip(shape.columns) {
            let at = self.at(id, 0) + (column * 4) as u64;
            args = args.buffer(name, &self.memory.arena, at);
        }
        for (name, id) in [("decay", step.decay), ("beta", step.beta)] {
            args = args.buffer(name, &self.memory.arena, self.at(id, 0));
        }
        if !rule.channels {
            args = self.gates_of(args, &step)?;
        }
        args = args.buffer("out", &self.memory.arena, self.at(step.out, 0));
        args = memory
            .args(args, shape.state)
            .buffer("sequences", self.inputs, self.sequences());
        let widths = step.qkv.map(|id| self.width(id) as u32);
        args = args.u32s(["q_width", "k_width", "v_width"], widths);
        let (heads, dim_of_keys) = match rule.channels {
            true => ("channels", "columns"),
            false => ("heads", "key_dim"),
        };
        let args = args
            .u32(heads, shape.value_heads as u32)
            .u32("ratio", ratio(&shape))
            .u32("tiled", u32::from(shape.tiled))
            .u32(dim_of_keys, shape.key_dim as u32);
        let args = match rule.channels {
            true => args,
            false => args
                .u32("value_dim", shape.value_dim as u32)
                .f32("eps", shape.eps.map_or(0.0, |eps| eps.get() as f32))
                .u32("most", most),
        };
        let mut reads: Vec<Range> = step.qkv.iter().map(|id| self.range(*id, 0, rows)).collect();
        reads.extend([step.decay, step.beta].map(|id| self.range(id, 0, rows)));
        reads.extend([self.inputs.whole(), data.whole()]);
        let writes = [self.range(step.out, 0, rows), data.whole()];
        let slots = self.bucket.slots as u32;
        let grid = match rule.channels {
            true => [(shape.value_heads as u32).div_ceil(SCAN_THREADS), slots, 1],
            false => [blocks(&step) as u32, shape.value_heads as u32, slots],
        };
        let threads = if rule.channels { SCAN_THREADS } else { THREADS };
        let kernel = format!("{}_{dim}", rule.kernel);
        self.launch(&kernel, grid, threads, 0, args, &reads, &writes)
    }

    /// What the decays and betas are made with, if they are.
    pub(super) fn gates_of(&self, args: Args, step: &GatedDelta) -> Result<Args> {
        match step.gates {
            Some([rate, floor]) => {
                let args = self.vector(args, "rate", rate)?;
                self.vector(args, "floor", floor)
            }
            None => Ok(args.null("rate").null("floor")),
        }
    }

    /// Records a norm of each head times the SiLU of a gate.
    pub(super) fn gated_norm(&mut self, step: GatedNorm) -> Result<()> {
        let rows = self.rows(step.x);
        let heads = self.width(step.x) / step.dim;
        let arena = &self.memory.arena;
        let args = Args::new().buffer("x", arena, self.at(step.x, 0));
        let args = self
            .vector(args, "weight", step.norm.weight)?
            .buffer("z", arena, self.at(step.z, 0))
            .buffer("out", arena, self.at(step.out, 0));
        let (heads, wave) = (rows * heads, self.weights.device.facts().wave_size);
        let (kernel, blocks, threads, args) = match rows > FEW_ROWS {
            true => {
                let (waves, args) = (NORM_WAVES as u32, args.u32("heads", heads as u32));
                let blocks = heads.div_ceil(NORM_WAVES);
                ("mlxrocm_gated_norm_many_f32", blocks, waves * wave, args)
            }
            false => ("mlxrocm_gated_norm_f32", heads, 128, args),
        };
        let args = args.u32("dim", step.dim as u32).f32("eps", step.norm.eps);
        let reads = [self.range(step.x, 0, rows), self.range(step.z, 0, rows)];
        let writes = [self.range(step.out, 0, rows)];
        let grid = [blocks as u32, 1, 1];
        self.launch(kernel, grid, threads, 0, args, &reads, &writes)
    }

    /// A vector of the model.
    pub(super) fn vector(&self, args: Args, name: &'static str, id: VectorId) -> Result<Args> {
        let vector = self.weights.vectors.get(id.0);
        let vector = vector.ok_or_else(|| Error::Internal("a vector is missing".into()))?;
        Ok(args.buffer(name, vector, 0))
    }
}
