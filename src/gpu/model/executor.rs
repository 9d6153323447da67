//! The executor: runs a planned program on a GPU, one recorded program a bucket of sizes.

use super::attention::{PARTS_BYTES, SPLIT, head_groups, part_bytes, tile_dim};
use super::inputs::{Bucket, Inputs};
use super::matmul::{BLOCK_ROWS, has_matrix_unit, operand_stride};
use super::record::{Memory, Recorder};
use super::weights::GpuWeights;
use crate::gpu::{Device, DeviceBuffer, PinnedBuffer, Program, ProgramMode, Stream};
use crate::step::{Epilogue, KvType, PAGE_TOKENS, Rope, Schedule, Slice, Step};
use crate::{Error, Result};
use std::collections::HashMap;
use std::sync::Arc;

/// Batches of up to this many rows replay as a graph (if the device's graphs are right and faster).
const GRAPH_ROWS: usize = 16;

/// A model's forward state on a GPU: activations, KV cache, recorded programs. One thread at a time.
pub struct GpuExecutor {
    weights: Arc<GpuWeights>,
    schedule: Schedule,
    stream: Stream,
    memory: Memory,
    inputs: Inputs,
    /// Logits on the host.
    results: PinnedBuffer,
    programs: HashMap<Bucket, Program>,
    max_rows: usize,
    pages: usize,
    kv: KvType,
}

impl GpuExecutor {
    /// A forward state for up to `max_rows` tokens a call and `pages` KV pages of this kind.
    ///
    /// # Errors
    /// `OutOfMemory` if it does not fit beside the weights.
    pub fn new(
        weights: Arc<GpuWeights>,
        schedule: Schedule,
        max_rows: usize,
        pages: usize,
        kv: KvType,
    ) -> Result<GpuExecutor> {
        let device = weights.device.clone();
        let stream = device.stream()?;
        let max_rows = max_rows.max(1);
        let shape = schedule.attention;
        let cache_bytes = (schedule.layers * shape.layer_bytes(kv))
            .checked_mul(pages)
            .ok_or_else(|| {
                Error::OutOfMemory(format!("a KV cache of {pages} pages is too large"))
            })?;
        let buffer = |bytes: usize| device.alloc(bytes.max(4) as u64);
        let most = Bucket {
            rows: bucket_rows(max_rows),
            wanted: bucket_rows(max_rows),
            pages: bucket_pages(pages),
            tiled: true,
            singles: bucket_rows(max_rows),
            decode: false,
            greedy: true,
        };
        // One row always fits; more rows in as many launches as it takes.
        let parts = (most.pages * PAGE_TOKENS).div_ceil(SPLIT);
        let parts_bytes = PARTS_BYTES.max(part_bytes(&shape, parts));
        let counters = buffer(most.rows * head_groups(&shape) * 4)?;
        stream.fill(&counters, 0, counters.len(), 0)?;
        let widest = schedule.buffers.iter().map(|b| b.width).max().unwrap_or(0);
        let memory = Memory {
            arena: buffer(schedule.width * most.rows * 4)?,
            max_rows: most.rows,
            logits: buffer(schedule.vocab_size * 4)?,
            tokens: buffer(most.wanted * 4)?,
            cache: buffer(cache_bytes)?,
            rope: rope_table(&device, &schedule.rope, pages * PAGE_TOKENS)?,
            parts: buffer(parts_bytes)?,
            counters,
            operand: buffer(most.rows.next_multiple_of(BLOCK_ROWS) * operand_stride(widest) * 2)?,
            scales: buffer(most.rows * 4)?,
            up: up_buffer(&device, &weights, &schedule, most.rows)?,
        };
        let inputs = Inputs::new(&device, most)?;
        let results = device.alloc_pinned((schedule.vocab_size * 4) as u64)?;
        device.wait_step(&stream)?;
        Ok(GpuExecutor {
            weights,
            schedule,
            stream,
            memory,
            inputs,
            results,
            programs: HashMap::new(),
            max_rows,
            pages,
            kv,
        })
    }

    /// Columns of the logits.
    pub fn vocab_size(&self) -> usize {
        self.schedule.vocab_size
    }

    /// The most tokens a call takes.
    pub fn max_rows(&self) -> usize {
        self.max_rows
    }

    /// KV pages.
    pub fn pages(&self) -> usize {
        self.pages
    }

    /// Runs the slices; leaves the wanted logits, row after row, in `logits` (resized).
    pub fn run(&mut self, slices: &[Slice<'_>], logits: &mut Vec<f32>) -> Result<()> {
        let wanted = self.step(slices, false)?;
        let (numbers, _) = self.results.as_slice().as_chunks::<4>();
        let numbers = numbers.iter().take(wanted * self.schedule.vocab_size);
        logits.clear();
        logits.extend(numbers.map(|bytes| f32::from_le_bytes(*bytes)));
        Ok(())
    }

    /// Runs the slices; leaves the first token of the largest logit of each wanted row in `tokens`
    /// (resized), or `u32::MAX` where not all logits are finite.
    pub fn run_greedy(&mut self, slices: &[Slice<'_>], tokens: &mut Vec<u32>) -> Result<()> {
        let wanted = self.step(slices, true)?;
        let (numbers, _) = self.results.as_slice().as_chunks::<4>();
        tokens.clear();
        let numbers = numbers.iter().take(wanted);
        tokens.extend(numbers.map(|bytes| u32::from_le_bytes(*bytes)));
        Ok(())
    }

    /// Runs the slices; leaves the wanted rows' logits, or greedy tokens, in `results`. Gives how many
    /// rows are wanted.
    fn step(&mut self, slices: &[Slice<'_>], greedy: bool) -> Result<usize> {
        let rows = self.check(slices)?;
        let wanted: usize = slices.iter().map(Slice::wanted_rows).sum();
        if rows == 0 {
            return Ok(0);
        }
        let bucket = self.bucket(slices, rows, wanted, greedy);
        self.reserve(bucket.wanted)?;
        if !self.programs.contains_key(&bucket) {
            let program = self.record(bucket)?;
            self.programs.insert(bucket, program);
        }
        let Some(program) = self.programs.get(&bucket) else {
            return Err(Error::Internal("a recorded program is missing".into()));
        };
        self.inputs.send(bucket, slices, &self.stream)?;
        let (stream, memory, results) = (&self.stream, &self.memory, &mut self.results);
        let (from, a_row) = match greedy {
            true => (&memory.tokens, 1),
            false => (&memory.logits, self.schedule.vocab_size),
        };
        let queued = match bucket.rows <= GRAPH_ROWS {
            true => program.run(stream),
            false => program.run_as(stream, ProgramMode::Direct),
        };
        let queued = queued.and_then(|()| match (wanted * a_row * 4) as u64 {
            0 => Ok(()),
            bytes => stream.copy_to_pinned(from, 0, results, 0, bytes),
        });
        // Waited for in any case: what was queued uses the inputs.
        let waited = self.weights.device.wait_step(stream);
        queued.and(waited)?;
        Ok(wanted)
    }

    /// The sizes of a batch's program.
    fn bucket(&self, slices: &[Slice<'_>], rows: usize, wanted: usize, greedy: bool) -> Bucket {
        let pages = slices
            .iter()
            .map(|s| (s.start + s.tokens.len()).div_ceil(PAGE_TOKENS))
            .max()
            .unwrap_or(1);
        let in_tiles = has_matrix_unit(self.weights.device.facts())
            && tile_dim(self.schedule.attention.head_dim).is_some();
        let is_tiled = |slice: &Slice<'_>| Bucket::is_tiled(in_tiles, slice);
        let tiled = slices.iter().any(is_tiled);
        let singles = slices.iter().filter(|slice| !is_tiled(slice));
        let singles: usize = singles.map(|slice| slice.tokens.len()).sum();
        Bucket {
            rows: bucket_rows(rows),
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
            greedy,
        }
    }

    /// Room for so many rows of logits.
    fn reserve(&mut self, wanted: usize) -> Result<()> {
        let needed = (wanted * self.schedule.vocab_size * 4) as u64;
        if needed > self.memory.logits.len() {
            self.memory.logits = self.weights.device.alloc(needed)?;
            // The programs write to the old ones.
            self.programs.clear();
        }
        if needed > self.results.len() {
            self.results = self.weights.device.alloc_pinned(needed)?;
        }
        Ok(())
    }

    fn record(&self, bucket: Bucket) -> Result<Program> {
        self.weights.device.record(|encoder| {
            Recorder {
                encoder,
                weights: &self.weights,
                schedule: &self.schedule,
                memory: &self.memory,
                kv: self.kv,
                inputs: &self.inputs.device,
                bucket,
            }
            .record()
        })
    }

    /// Rows of the batch.
    fn check(&self, slices: &[Slice<'_>]) -> Result<usize> {
        let rows = slices.iter().map(|s| s.tokens.len()).sum();
        if rows > self.max_rows {
            return Err(Error::InvalidArgument(format!(
                "a batch of {rows} tokens, at most {} fit",
                self.max_rows
            )));
        }
        for slice in slices {
            let end = slice.start + slice.tokens.len();
            if slice.pages.len() * PAGE_TOKENS < end
                || slice.pages.iter().any(|&p| p as usize >= self.pages)
            {
                return Err(Error::InvalidArgument(
                    "a slice without valid pages for its positions".into(),
                ));
            }
            if let Some(token) = slice
                .tokens
                .iter()
                .find(|&&t| t as usize >= self.schedule.vocab_size)
            {
                return Err(Error::InvalidArgument(format!(
                    "token {token} is not in the vocabulary of {}",
                    self.schedule.vocab_size
                )));
            }
        }
        Ok(rows)
    }
}

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
