//! What a program takes from the host and gives to it: a step's inputs, rows that the CPU's experts read and leave, tokens.

use super::record::Recorder;
use crate::gpu::constants::rows_sample;
use crate::gpu::stream::{COPY_BLOCK, COPY_THREADS};
use crate::gpu::{Args, DeviceBuffer, PinnedBuffer};
use crate::step::BufferId;
use crate::{Error, Result};

/// Blocks that share a row of logits.
const ARGMAX_BLOCKS: u32 = crate::gpu::constants::rows_argmax::BLOCKS as u32;

impl Recorder<'_> {
    /// Copies a buffer's rows to the memory that the CPU reads, from `at` on, or back.
    pub(super) fn copy_to_or_from_host(
        &mut self,
        id: BufferId,
        at: u64,
        is_to: bool,
    ) -> Result<()> {
        let missing = || Error::Internal("experts on the CPU without memory".into());
        let host = self.memory.host.clone().ok_or_else(missing)?;
        let here = self.range(id, 0, self.rows(id));
        let bytes = (self.rows(id) * self.width(id) * 4) as u64;
        let there = host.range(at, bytes);
        let arena = (&self.memory.arena, self.at(id, 0));
        let ((to, from), (write, read)) = match is_to {
            true => (((&host, at), arena), (there, here)),
            false => ((arena, (&host, at)), (here, there)),
        };
        let args = Args::new()
            .buffer("to", to.0, to.1)
            .buffer("from", from.0, from.1)
            .u64("bytes", bytes);
        let grid = [bytes.div_ceil(COPY_BLOCK as u64) as u32, 1, 1];
        let kernel = "mlxrocm_copy_u8";
        self.launch(kernel, grid, COPY_THREADS, 0, args, &[read], &[write])
    }

    /// What the host wrote for this step.
    pub(super) fn take_inputs(&mut self, from: &PinnedBuffer) -> Result<()> {
        let (from, bytes) = (from.on_device(), self.bucket.bytes());
        let count = (bytes / 16) as u32;
        let args = Args::new()
            .buffer("to", self.inputs, 0)
            .buffer("from", from, 0)
            .u32("count", count);
        let (reads, writes) = ([from.range(0, bytes)], [self.inputs.range(0, bytes)]);
        let grid = [count.div_ceil(256), 1, 1];
        self.launch("mlxrocm_take_inputs", grid, 256, 0, args, &reads, &writes)
    }

    /// Where tokens are told to the host.
    fn told(&self) -> Option<&DeviceBuffer> {
        self.turn.map(|turn| turn.tokens.on_device())
    }

    /// The tokens with the largest logits.
    pub(super) fn argmax(&mut self) -> Result<()> {
        let (rows, vocab) = (self.bucket.wanted, self.schedule.vocab_size);
        let (memory, told) = (self.memory, self.told());
        let args = Args::new()
            .buffer("logits", &memory.logits, 0)
            .buffer("tokens", &memory.tokens, 0)
            .buffer_or_null("told", told.map(|told| (told, 0)))
            .buffer("parts", &memory.parts, 0)
            .buffer("counters", &memory.counters, 0)
            .u32("cols", self.token_end as u32)
            .u32("stride", vocab as u32);
        let reads = [memory.logits.range(0, (rows * vocab * 4) as u64)];
        let mut writes = vec![
            memory.tokens.range(0, (rows * 4) as u64),
            memory.parts.whole(),
            memory.counters.whole(),
        ];
        writes.extend(told.map(|told| told.range(0, (rows * 4) as u64)));
        let grid = [rows as u32, ARGMAX_BLOCKS, 1];
        self.launch("mlxrocm_argmax_f32", grid, 1024, 0, args, &reads, &writes)
    }

    /// The tokens of the rows' choices, of as many rows at a time as there is room for.
    pub(super) fn sample(&mut self) -> Result<()> {
        let room = self.memory.sampler.len() / rows_sample::ROW_BYTES as u64;
        let rows = self.bucket.wanted;
        for first in (0..rows).step_by((room as usize).max(1)) {
            self.sample_rows(first, (rows - first).min(room as usize))?;
        }
        Ok(())
    }

    fn sample_rows(&mut self, first: usize, rows: usize) -> Result<()> {
        let (memory, vocab, places) = (self.memory, self.schedule.vocab_size, self.places());
        let row = (vocab * 4) as u64;
        let logits = memory.logits.range(first as u64 * row, rows as u64 * row);
        let choice = (rows_sample::CHOICE_WORDS * 4) as u64;
        let choices = (places.choices * 4) as u64 + first as u64 * choice;
        let (at, bytes) = ((first * 4) as u64, (rows * 4) as u64);
        let told = self.told();
        let own = [memory.sampler.whole(), memory.counters.whole()];
        let args = || {
            Args::new()
                .buffer("logits", &memory.logits, first as u64 * row)
                .buffer("choices", self.inputs, choices)
        };
        let rest = || {
            Args::new()
                .buffer("memory", &memory.sampler, 0)
                .buffer("counters", &memory.counters, 0)
        };
        let columns = |args: Args| {
            let args = args.u32("cols", self.token_end as u32);
            args.u32("stride", vocab as u32)
        };
        let begin = args()
            .buffer("tokens", self.inputs, (places.tokens * 4) as u64)
            .buffer("wanted", self.inputs, (places.wanted * 4) as u64 + at)
            .append(rest())
            .u32("rows", self.bucket.rows as u32);
        let draw = args()
            .buffer("chosen", &memory.tokens, at)
            .buffer_or_null("told", told.map(|told| (told, at)))
            .append(rest());
        let kernels = [
            ("mlxrocm_sample_begin", begin, vec![logits.clone()]),
            ("mlxrocm_sample_count", args().append(rest()), Vec::new()),
            ("mlxrocm_sample_edge", args().append(rest()), Vec::new()),
            (
                "mlxrocm_sample_draw",
                draw,
                [
                    Some(logits.clone()),
                    Some(memory.tokens.range(at, bytes)),
                    told.map(|told| told.range(at, bytes)),
                ]
                .into_iter()
                .flatten()
                .collect(),
            ),
        ];
        let kernels = kernels.map(|(name, args, writes)| (name, columns(args), writes));
        let reads = [logits, self.inputs.whole(), memory.sampler.whole()];
        let grid = [rows as u32, rows_sample::BLOCKS as u32, 1];
        for (name, args, mut writes) in kernels {
            writes.extend(own.iter().cloned());
            self.launch(name, grid, 1024, 0, args, &reads, &writes)?;
        }
        Ok(())
    }
}
