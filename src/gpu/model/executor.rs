//! The executor: runs a planned program on a GPU, one recorded program a bucket of sizes.

use super::attention::{PARTS_BYTES, head_groups, part_bytes, part_count};
use super::experts_memory::ExpertMemory;
use super::few::Prepared;
use super::inputs::{Bucket, Output};
use super::matmul::{BLOCK_ROWS, operand_stride};
use super::programs::Programs;
use super::record::{Memory, Recorder};
use super::recurrent::RecurrentMemory;
use super::split::{split_bytes, split_counters};
use super::turns::{Results, Turns};
use super::weights::{GpuWeights, Launch};
use crate::gpu::constants::rows_sample;
use crate::gpu::{
    Device, DeviceBuffer, Encoder, PinnedBuffer, Program, ProgramMode, Range, Stream,
};
use crate::step::{Choice, Epilogue, PAGE_TOKENS, Rope, Schedule, Slice, StateSize, Step};
use crate::{Error, Result};
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Batches of up to this many rows replay as a graph (if the device's graphs are right and faster), and decoding of up to
/// so many sequences. What has more rows takes longer than its launches.
const GRAPH_ROWS: usize = 16;
const GRAPH_SEQUENCES: usize = 64;

/// A model's forward state on a GPU: activations, KV cache, recorded programs. One thread at a time.
pub struct GpuExecutor {
    pub(super) weights: Arc<GpuWeights>,
    pub(super) schedule: Schedule,
    pub(super) stream: Stream,
    pub(super) memory: Memory,
    inputs: DeviceBuffer,
    pub(super) turns: Turns,
    /// Logits on the host.
    pub(super) results: PinnedBuffer,
    pub(super) programs: Programs,
    pub(super) size: StateSize,
    token_end: usize,
}

impl GpuExecutor {
    /// A forward state of this size.
    ///
    /// # Errors
    /// `OutOfMemory` if it does not fit beside the weights.
    pub fn new(
        weights: Arc<GpuWeights>,
        schedule: Schedule,
        size: StateSize,
    ) -> Result<GpuExecutor> {
        let device = weights.device.clone();
        let stream = device.stream()?;
        let size = StateSize {
            tokens: size.tokens.max(1),
            ..size
        };
        let (max_rows, pages) = (size.tokens, size.pages);
        let cache_bytes = schedule.page_bytes(size.kv).checked_mul(pages);
        let cache_bytes = cache_bytes.ok_or_else(|| {
            Error::OutOfMemory(format!("a KV cache of {pages} pages is too large"))
        })?;
        let buffer = |bytes: usize| device.alloc(bytes.max(4) as u64);
        let most = Bucket {
            rows: bucket_rows(max_rows),
            slots: size.sequences.min(bucket_rows(max_rows)),
            wanted: bucket_rows(max_rows),
            pages: bucket_pages(size.context.div_ceil(PAGE_TOKENS)),
            tiled: true,
            singles: bucket_rows(max_rows),
            decode: false,
            recurrent: !schedule.recurrent.is_empty(),
            output: Output::Sampled,
        };
        // One row always fits; more rows in as many launches as it takes.
        let parts = part_count(most.pages, device.facts().platform);
        let shapes = || schedule.states.iter();
        let part_bytes = shapes().map(|shape| part_bytes(shape, parts)).max();
        let parts_bytes = PARTS_BYTES
            .max(part_bytes.unwrap_or(0))
            .max(split_bytes(device.facts()));
        let groups = shapes().map(head_groups).max().unwrap_or(0);
        let counters = (most.rows * groups).max(split_counters(device.facts()));
        let counters = buffer(counters * 4)?;
        stream.fill(&counters, 0, counters.len(), 0)?;
        let widest = schedule.buffers.iter().map(|b| b.width).max().unwrap_or(0);
        let operand = most.rows.next_multiple_of(BLOCK_ROWS) * operand_stride(widest) * 2;
        let operand_of_few = Prepared::most(most.rows, widest);
        let (operand_of_experts, inputs_of_experts) =
            ExpertMemory::operand(device.facts(), &schedule, most.rows);
        let memory = Memory {
            arena: buffer(schedule.widest() * most.rows * 4)?,
            max_rows: most.rows,
            logits: buffer(schedule.vocab_size * 4)?,
            tokens: buffer(most.wanted * 4)?,
            cache: buffer(cache_bytes)?,
            ropes: schedule
                .ropes
                .iter()
                .map(|rope| rope_table(&device, rope, size.context))
                .collect::<Result<_>>()?,
            parts: buffer(parts_bytes)?,
            counters,
            operand: buffer(operand.max(operand_of_few).max(operand_of_experts))?,
            scales: buffer(most.rows.max(inputs_of_experts) * 4)?,
            experts: ExpertMemory::new(&device, &schedule, most.rows)?,
            recurrent: RecurrentMemory::new(&device, &schedule, &size, most.rows)?,
            scratch: None,
            up: up_buffer(&device, &weights, &schedule, most.rows)?,
        };
        if let Some(experts) = &memory.experts {
            stream.fill(&experts.slots, 0, experts.slots.len(), 0)?;
        }
        let inputs = buffer(most.bytes() as usize)?;
        let turns = Turns::new(&device, most)?;
        let results = device.alloc_pinned((schedule.vocab_size * 4) as u64)?;
        device.wait_step(&stream)?;
        Ok(GpuExecutor {
            token_end: schedule.vocab_size,
            weights,
            schedule,
            stream,
            memory,
            inputs,
            turns,
            results,
            programs: Programs::default(),
            size,
        })
    }

    /// Columns of the logits from this one on are no tokens and are not chosen. Before the first step.
    pub fn choose_below(&mut self, token_end: usize) {
        self.token_end = token_end.min(self.schedule.vocab_size);
    }

    /// Columns of the logits.
    pub fn vocab_size(&self) -> usize {
        self.schedule.vocab_size
    }

    /// The most tokens a call takes.
    pub fn max_rows(&self) -> usize {
        self.size.tokens
    }

    /// Sequences that a model with recurrent layers has room for.
    pub fn slots(&self) -> Option<usize> {
        let recurrent = self.memory.recurrent.as_ref();
        recurrent.map(RecurrentMemory::slots)
    }

    /// Copies of a slot that can be kept.
    pub fn snapshots(&self) -> usize {
        let recurrent = self.memory.recurrent.as_ref();
        recurrent.map_or(0, RecurrentMemory::snapshots)
    }

    /// Queues a copy of the state that the steps before leave in a slot; `false` if there is no memory for it.
    pub fn keep_slot(&mut self, slot: u32, snapshot: u32) -> Result<bool> {
        match &mut self.memory.recurrent {
            Some(recurrent) => recurrent.keep(&self.stream, slot, snapshot),
            None => Ok(false),
        }
    }

    /// Queues a copy of a snapshot to a slot.
    pub fn restore_slot(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        match &mut self.memory.recurrent {
            Some(recurrent) => recurrent.restore(&self.stream, snapshot, slot),
            None => Err(Error::Unsupported("no snapshots are kept".into())),
        }
    }

    /// KV pages.
    pub fn pages(&self) -> usize {
        self.size.pages
    }

    /// Columns of a hidden state; 0: this device gives none of this model.
    pub fn hidden_columns(&self) -> usize {
        match self.weights.hidden {
            Some(_) => self.schedule.hidden_size(),
            None => 0,
        }
    }

    /// Runs the slices; leaves the wanted logits, row after row, in `logits` (resized). No step is queued.
    pub fn run(&mut self, slices: &[Slice<'_>], logits: &mut Vec<f32>) -> Result<()> {
        self.run_for(Output::Logits, slices, logits)
    }

    /// The same for hidden states.
    pub fn run_hidden(&mut self, slices: &[Slice<'_>], states: &mut Vec<f32>) -> Result<()> {
        self.run_for(Output::Hidden, slices, states)
    }

    fn run_for(
        &mut self,
        output: Output,
        slices: &[Slice<'_>],
        results: &mut Vec<f32>,
    ) -> Result<()> {
        results.clear();
        let (schedule, _) = self.program_of(output)?;
        let columns = schedule.vocab_size;
        if self.turns.last().is_some() {
            return Err(Error::Internal("queued steps were not collected".into()));
        }
        let (rows, wanted) = self.check(slices)?;
        if rows == 0 {
            return Ok(());
        }
        let count = wanted * columns;
        let bucket = self.bucket(slices, rows, wanted, output);
        let started = self.start(bucket, slices, &[]);
        let queued = started.and_then(|()| match (count * 4) as u64 {
            0 => Ok(()),
            bytes => {
                let (from, to) = (&self.memory.logits, &self.results);
                self.stream.copy_to_pinned(from, 0, to, 0, bytes)
            }
        });
        // Waited for in any case: what was queued uses the inputs.
        let waited = self.weights.device.wait_step(&self.stream);
        queued.and(waited)?;
        let (numbers, _) = self.results.as_slice().as_chunks::<4>();
        let numbers = numbers.iter().take(count);
        results.extend(numbers.map(|bytes| f32::from_le_bytes(*bytes)));
        Ok(())
    }

    /// The schedule that gives an output, and the launches of its steps.
    fn program_of(&self, output: Output) -> Result<(&Schedule, &[Vec<Launch>])> {
        let weights = &self.weights;
        match (output, &weights.hidden) {
            (Output::Hidden, Some(launches)) => Ok((self.schedule.of(true)?, launches)),
            (Output::Hidden, None) => Err(Error::Unsupported(format!(
                "{} gives no hidden states of this model; use the CPU",
                weights.device_name()
            ))),
            _ => Ok((&self.schedule, &weights.launches)),
        }
    }

    /// Queues a step that chooses a token for each wanted row, [`crate::step::NO_TOKEN`] where not all
    /// logits are finite. Its slices can contain tokens of a step that is queued before. `false` if
    /// there is a choice that does not fit its kernel.
    pub fn queue(&mut self, slices: &[Slice<'_>], choices: &[Choice<'_>]) -> Result<bool> {
        if self.turns.is_full() {
            return Err(Error::Internal("two steps are queued already".into()));
        }
        let (rows, wanted) = self.check(slices)?;
        if choices.len() != wanted {
            let message = format!("{} choices for {wanted} rows", choices.len());
            return Err(Error::InvalidArgument(message));
        }
        let output = match choices.iter().all(Choice::is_greedy) {
            true => Output::Largest,
            false => Output::Sampled,
        };
        if output == Output::Sampled && !self.samples(choices)? {
            return Ok(false);
        }
        let started = match rows {
            0 => Ok(()),
            _ => {
                let bucket = self.bucket(slices, rows, wanted, output);
                self.start(bucket, slices, choices)
            }
        };
        let rated = choices
            .iter()
            .enumerate()
            .filter(|(_, choice)| choice.rated);
        let rated: Vec<usize> = rated.map(|(row, _)| row).collect();
        let results = Results {
            tokens: &self.memory.tokens,
            count: wanted,
            logits: &self.memory.logits,
            columns: self.schedule.vocab_size,
            rated: &rated,
        };
        let queued = started.and_then(|()| self.turns.push(&results, &self.stream));
        if queued.is_err() {
            // A part of it may be queued, and uses the inputs. The step before is not to blame.
            self.turns.settle(&self.stream);
            let _ = self.weights.device.wait_step(&self.stream);
        }
        queued.map(|()| true)
    }

    /// Whether the kernel that samples takes these choices.
    fn samples(&self, choices: &[Choice<'_>]) -> Result<bool> {
        let vocab = self.schedule.vocab_size;
        for choice in choices {
            let tokens = choice.recent.into_iter().flatten();
            let mut tokens = tokens.chain(choice.biases.iter().map(|(token, _)| token));
            if let Some(token) = tokens.find(|token| **token as usize >= vocab) {
                let message = format!("a choice by token {token}, which is not in the vocabulary");
                return Err(Error::InvalidArgument(message));
            }
        }
        Ok(vocab <= MAX_SAMPLED && choices.iter().all(Choice::fits))
    }

    /// Waits for the oldest queued step; leaves the tokens that it chose in `tokens` (resized).
    pub fn collect(&mut self, tokens: &mut Vec<u32>) -> Result<()> {
        self.turns.pop(&self.stream, tokens)
    }

    /// The rows that choices of the step which was collected last asked for.
    pub fn collected_rows(&self, rows: &mut Vec<f32>) {
        self.turns.rows(rows);
    }

    /// Queues a bucket's program for the slices.
    fn start(
        &mut self,
        bucket: Bucket,
        slices: &[Slice<'_>],
        choices: &[Choice<'_>],
    ) -> Result<()> {
        self.reserve(bucket)?;
        self.record(bucket)?;
        if may_replay(bucket) && self.program(bucket)?.is_awaited() {
            // Judging graphs waits for the stream, and would take what the step before came to.
            self.turns.settle(&self.stream);
        }
        let sequences = match &mut self.memory.recurrent {
            Some(recurrent) => recurrent.begin(slices, bucket.rows)?,
            None => Vec::new(),
        };
        let host = &mut self.turns.spare().inputs;
        bucket.send(
            slices,
            choices,
            &sequences,
            host,
            &self.inputs,
            &self.stream,
        )?;
        self.run_bucket(bucket, slices)?;
        if let Some(recurrent) = &mut self.memory.recurrent {
            recurrent.end(slices);
        }
        Ok(())
    }

    /// Queues a bucket's program, whose inputs were sent.
    fn run_bucket(&mut self, bucket: Bucket, slices: &[Slice<'_>]) -> Result<()> {
        let ran = self.run_program(bucket, slices);
        let without = self.program(bucket).is_ok_and(Program::multiplies)
            && self.weights.device.blas().is_none();
        if ran.is_err() && without {
            // The BLAS failed. What ran before it does the same again.
            self.programs.retain(|program| !program.multiplies());
            self.memory.scratch = None;
            self.record(bucket)?;
            return self.run_program(bucket, slices);
        }
        ran
    }

    /// Records a bucket's program at the first need.
    fn record(&mut self, bucket: Bucket) -> Result<()> {
        if !self.programs.renew(bucket) {
            self.prepare_blas(bucket)?;
            let device = &self.weights.device;
            let program = device.record(|encoder| self.recorder(encoder, bucket)?.record())?;
            self.programs.insert(bucket, program);
        }
        Ok(())
    }

    fn program(&self, bucket: Bucket) -> Result<&Program> {
        let program = self.programs.get(bucket);
        program.ok_or_else(|| Error::Internal("a recorded program is missing".into()))
    }

    fn run_program(&self, bucket: Bucket, slices: &[Slice<'_>]) -> Result<()> {
        let program = self.program(bucket)?;
        if !may_replay(bucket) {
            return program.run_as(&self.stream, ProgramMode::Direct);
        }
        match program.is_awaited() {
            // It is what graphs are judged by, but for keys and values it may write anywhere in the cache.
            true => program.run_touching(&self.stream, &self.touched(slices)),
            false => program.run(&self.stream),
        }
    }

    /// The pages of the cache that the slices' tokens go to, and their recurrent states.
    fn touched(&self, slices: &[Slice<'_>]) -> Vec<Range> {
        let (schedule, cache) = (&self.schedule, &self.memory.cache);
        let bytes = schedule.page_bytes(self.size.kv) as u64;
        let pages = slices.iter().flat_map(|slice| {
            let end = (slice.start + slice.tokens.len()).div_ceil(PAGE_TOKENS);
            let pages = slice.pages.get(slice.start / PAGE_TOKENS..end);
            pages.unwrap_or_default().iter()
        });
        let pages: BTreeSet<u32> = pages.copied().collect();
        let range = |page: u32| cache.range(u64::from(page) * bytes, bytes);
        let states = self.memory.recurrent.iter();
        let states = states.flat_map(|recurrent| recurrent.written(slices));
        pages.into_iter().map(range).chain(states).collect()
    }

    /// The sizes of a batch's program.
    fn bucket(&self, slices: &[Slice<'_>], rows: usize, wanted: usize, output: Output) -> Bucket {
        let pages = slices
            .iter()
            .map(|s| (s.start + s.tokens.len()).div_ceil(PAGE_TOKENS))
            .max()
            .unwrap_or(1);
        let tiled = slices.iter().any(Bucket::is_tiled);
        let singles = slices.iter().filter(|slice| !Bucket::is_tiled(slice));
        let singles: usize = singles.map(|slice| slice.tokens.len()).sum();
        Bucket {
            rows: bucket_rows(rows),
            slots: self.size.sequences.min(bucket_rows(rows)),
            wanted: bucket_rows(wanted).min(bucket_rows(rows)),
            pages: bucket_pages(pages),
            tiled,
            singles: match (tiled, singles) {
                (false, _) => bucket_rows(rows),
                (true, 0) => 0,
                (true, singles) => bucket_rows(singles),
            },
            decode: slices
                .iter()
                .all(|slice| slice.tokens.len() == 1 && slice.wanted_rows() == 1),
            recurrent: self.memory.recurrent.is_some(),
            output,
        }
    }

    /// Room for the wanted rows of logits, on the host too if that is what is wanted.
    fn reserve(&mut self, bucket: Bucket) -> Result<()> {
        let (schedule, _) = self.program_of(bucket.output)?;
        let needed = (bucket.wanted * schedule.vocab_size * 4) as u64;
        if needed > self.memory.logits.len() {
            self.memory.logits = self.weights.device.alloc(needed)?;
            // The programs write to the old ones.
            self.programs.clear();
        }
        let is_read = matches!(bucket.output, Output::Logits | Output::Hidden);
        if is_read && needed > self.results.len() {
            self.results = self.weights.device.alloc_pinned(needed)?;
        }
        Ok(())
    }

    pub(super) fn recorder<'a>(
        &'a self,
        encoder: &'a mut Encoder,
        bucket: Bucket,
    ) -> Result<Recorder<'a>> {
        let (schedule, launches) = self.program_of(bucket.output)?;
        Ok(Recorder {
            encoder,
            weights: &self.weights,
            schedule,
            launches,
            vocab_size: self.schedule.vocab_size,
            memory: &self.memory,
            kv: self.size.kv,
            inputs: &self.inputs,
            token_end: self.token_end,
            bucket,
            routers_here: Cell::default(),
        })
    }

    /// Rows of the batch, and how many of them are wanted.
    fn check(&self, slices: &[Slice<'_>]) -> Result<(usize, usize)> {
        let chosen = self.turns.last().unwrap_or(0);
        self.size.check(slices, self.schedule.vocab_size, chosen)
    }
}

fn may_replay(bucket: Bucket) -> bool {
    bucket.rows <= GRAPH_ROWS || bucket.decode && bucket.rows <= GRAPH_SEQUENCES
}

/// The largest vocabulary that the kernel which samples takes.
const MAX_SAMPLED: usize = rows_sample::TILE * rows_sample::TILES;

/// Batch sizes that share a program: 1, 2, 4, … 64, 128, 192, …
fn bucket_rows(rows: usize) -> usize {
    match rows {
        0..=64 => rows.next_power_of_two(),
        _ => rows.next_multiple_of(64),
    }
}

/// Sequence lengths that share a program: 4, 8, 16, … pages.
fn bucket_pages(pages: usize) -> usize {
    pages.max(4).next_power_of_two()
}

/// (cos, sin) of every position and pair, computed in f64 as positions times frequencies lose digits
/// in f32.
fn rope_table(device: &Arc<Device>, rope: &Rope, positions: usize) -> Result<DeviceBuffer> {
    let pairs = rope.inv_freq.len();
    let table = device.alloc((positions * pairs * 8).max(8) as u64)?;
    let mut at = 0;
    let mut fill = |piece: &mut [u8]| {
        // Pieces are multiples of 8 bytes, as the table is.
        for entry in piece.chunks_exact_mut(8) {
            let (position, pair) = (at / pairs, at % pairs);
            let angle = position as f64 * f64::from(rope.inv_freq[pair]);
            let (sin, cos) = angle.sin_cos();
            let (low, high) = entry.split_at_mut(4);
            low.copy_from_slice(&(cos as f32 * rope.magnitude).to_le_bytes());
            high.copy_from_slice(&(sin as f32 * rope.magnitude).to_le_bytes());
            at += 1;
        }
        Ok(())
    };
    if positions * pairs > 0 {
        let mut uploader = device.uploader()?;
        uploader.write(&table, 0, (positions * pairs * 8) as u64, &mut fill)?;
        uploader.finish()?;
    }
    Ok(table)
}

/// Memory for up projections that are not fused with their gate.
fn up_buffer(
    device: &Arc<Device>,
    weights: &GpuWeights,
    schedule: &Schedule,
    rows: usize,
) -> Result<Option<DeviceBuffer>> {
    let mut width = 0;
    for (step, launches) in schedule.steps.iter().zip(&weights.launches) {
        if let Step::Matmul {
            products,
            epilogue: Epilogue::SwiGlu,
            ..
        } = step
            && launches.iter().any(|l| !l.silu)
            && let Some(out) = products.first().and_then(|p| p.out)
        {
            width = width.max(schedule.buffers[out.0].width);
        }
    }
    match width {
        0 => Ok(None),
        width => Ok(Some(device.alloc((rows * width * 4) as u64)?)),
    }
}
