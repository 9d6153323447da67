//! Records of `hip/ops/recurrent/delta_chunks.h`: gated delta rules of many tokens of a sequence as products of matrices.

use super::record::Recorder;
use super::recurrent::{blocks, ratio};
use crate::Result;
use crate::gpu::constants::recurrent_delta_chunks::{self, CHUNK_WAVES, KEY_WAVES, STATE_WAVES};
use crate::gpu::{Args, Device, DeviceBuffer};
use crate::step::{GatedDelta, Schedule, Step};
use std::sync::Arc;

/// Tokens of a chunk: sequences of fewer go token by token.
pub const CHUNK: usize = recurrent_delta_chunks::CHUNK;
/// Numbers of a half of T, or of P.
const SQUARE: usize = CHUNK * CHUNK;
/// Widths of keys that there are kernels for.
const KEY_DIMS: [usize; 2] = [64, 128];

/// What the launches leave for the next: see `delta_chunks.h`.
pub struct ChunkMemory {
    keys: DeviceBuffer,
    squares: DeviceBuffer,
    gates: DeviceBuffer,
}

impl ChunkMemory {
    /// For the rules of a schedule that are taken so, if there are any, in batches of so many rows and sequences.
    ///
    /// # Errors
    /// `OutOfMemory`.
    pub fn new(
        device: &Arc<Device>,
        schedule: &Schedule,
        rows: usize,
        slots: usize,
    ) -> Result<Option<Self>> {
        let Some([keys, squares, gates]) = Self::bytes(device, schedule, rows, slots) else {
            return Ok(None);
        };
        let buffer = |bytes: usize| device.alloc(bytes as u64);
        Ok(Some(ChunkMemory {
            keys: buffer(keys)?,
            squares: buffer(squares)?,
            gates: buffer(gates)?,
        }))
    }

    /// Bytes of each part.
    pub fn bytes(
        device: &Arc<Device>,
        schedule: &Schedule,
        rows: usize,
        slots: usize,
    ) -> Option<[usize; 3]> {
        let rules = schedule.steps.iter().filter_map(|step| match step {
            Step::GatedDelta(step) => Some((step.shape, key_dim(device, step)?)),
            _ => None,
        });
        let sizes = rules.map(|(shape, dim)| (shape.key_heads * dim, shape.value_heads));
        let most = sizes.reduce(|a, b| (a.0.max(b.0), a.1.max(b.1)));
        let (columns, heads) = most.filter(|_| rows >= CHUNK)?;
        let chunks = chunks(rows, slots);
        Some([
            chunks * 6 * CHUNK * columns * 2,
            chunks * heads * 4 * SQUARE * 2,
            chunks * heads * 3 * CHUNK * 4,
        ])
    }
}

/// The most chunks of a batch: what is left of a sequence is one too.
fn chunks(rows: usize, slots: usize) -> usize {
    let whole = rows / CHUNK;
    whole + whole.min(slots)
}

/// The width of keys of the kernels that take a rule, where they are.
fn key_dim(device: &Arc<Device>, step: &GatedDelta) -> Option<usize> {
    let shape = &step.shape;
    let is_delta = shape.corrects && !shape.columnwise && shape.eps.is_some();
    let dim = KEY_DIMS.into_iter().find(|&dim| shape.key_dim <= dim)?;
    let is_there = device
        .kernel(&format!("mlxrocm_delta_states_{dim}"))
        .is_ok();
    (is_delta && is_there).then_some(dim)
}

impl Recorder<'_> {
    /// Records a rule of the sequences of [`CHUNK`] and more tokens, if the batch may have any: whether it did.
    pub(super) fn delta_by_chunks(&mut self, step: &GatedDelta) -> Result<bool> {
        let (shape, rows) = (step.shape, self.bucket.rows);
        let memory = self.recurrent_memory()?;
        let device = &self.weights.device;
        let (Some(chunk), Some(dim)) = (&memory.chunks, key_dim(device, step)) else {
            return Ok(false);
        };
        if !self.bucket.tiled || rows < CHUNK {
            return Ok(false);
        }
        let (keys, squares, gates) = (
            chunk.keys.clone(),
            chunk.squares.clone(),
            chunk.gates.clone(),
        );
        let (arena, slots) = (&self.memory.arena, self.bucket.slots);
        let chunks = chunks(rows, slots) as u32;
        let [q, k, v] = step.qkv;
        let from = |id, column: usize| self.at(id, 0) + (column * 4) as u64;
        let [q_at, k_at, v_at] = [0, 1, 2].map(|i| from(step.qkv[i], shape.columns[i]));
        let eps = shape.eps.map_or(0.0, |eps| eps.get() as f32);

        let args = Args::new()
            .buffer("q", arena, q_at)
            .buffer("k", arena, k_at)
            .buffer("keys", &keys, 0)
            .buffer("sequences", self.inputs, self.sequences())
            .u32("slots", slots as u32)
            .u32("q_width", self.width(q) as u32)
            .u32("k_width", self.width(k) as u32)
            .u32("key_dim", shape.key_dim as u32)
            .f32("eps", eps);
        let reads = [
            self.range(q, 0, rows),
            self.range(k, 0, rows),
            self.inputs.whole(),
        ];
        let grid = [chunks, shape.key_heads as u32, 1];
        let kernel = format!("mlxrocm_delta_keys_{dim}");
        let wave = self.weights.device.facts().wave_size;
        let threads = KEY_WAVES as u32 * wave;
        self.launch(&kernel, grid, threads, 0, args, &reads, &[keys.whole()])?;

        let mut args = Args::new()
            .buffer("keys", &keys, 0)
            .buffer("squares", &squares, 0)
            .buffer("gates", &gates, 0);
        for (name, id) in [("decay", step.decay), ("beta", step.beta)] {
            args = args.buffer(name, &self.memory.arena, self.at(id, 0));
        }
        args = self.gates_of(args, step)?;
        let args = args
            .buffer("sequences", self.inputs, self.sequences())
            .u32("slots", slots as u32)
            .u32("key_heads", shape.key_heads as u32)
            .u32("ratio", ratio(&shape))
            .u32("tiled", u32::from(shape.tiled));
        let reads = [
            keys.whole(),
            self.range(step.decay, 0, rows),
            self.range(step.beta, 0, rows),
            self.inputs.whole(),
        ];
        let writes = [squares.whole(), gates.whole()];
        let grid = [chunks, shape.value_heads as u32, 1];
        let kernel = format!("mlxrocm_delta_chunks_{dim}");
        let threads = CHUNK_WAVES as u32 * wave;
        self.launch(&kernel, grid, threads, 0, args, &reads, &writes)?;

        let memory = self.recurrent_memory()?;
        let args = Args::new()
            .buffer("keys", &keys, 0)
            .buffer("squares", &squares, 0)
            .buffer("gates", &gates, 0)
            .buffer("v", &self.memory.arena, v_at)
            .buffer("out", &self.memory.arena, self.at(step.out, 0));
        let args = memory
            .args(args, shape.state)
            .buffer("sequences", self.inputs, self.sequences())
            .u32("v_width", self.width(v) as u32)
            .u32("heads", shape.value_heads as u32)
            .u32("key_heads", shape.key_heads as u32)
            .u32("ratio", ratio(&shape))
            .u32("tiled", u32::from(shape.tiled))
            .u32("value_dim", shape.value_dim as u32);
        let data = memory.whole();
        let reads = [
            keys.whole(),
            squares.whole(),
            gates.whole(),
            self.range(v, 0, rows),
            self.inputs.whole(),
            data.clone(),
        ];
        let writes = [self.range(step.out, 0, rows), data];
        let grid = [blocks(step) as u32, shape.value_heads as u32, slots as u32];
        let kernel = format!("mlxrocm_delta_states_{dim}");
        let threads = STATE_WAVES as u32 * wave;
        self.launch(&kernel, grid, threads, 0, args, &reads, &writes)?;
        Ok(true)
    }
}
