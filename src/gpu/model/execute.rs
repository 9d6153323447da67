//! Runs batches on an executor: what is queued for a step, waited for and handed back.

use super::executor::{GpuExecutor, bucket_pages, bucket_rows};
use super::host::HostRun;
use super::inputs::{Bucket, Output};
use super::record::Recorder;
use super::recorded::Recorded;
use super::turns::Results;
use super::weights::Launch;
use crate::gpu::{Encoder, ProgramMode, Range};
use crate::step::{Choice, PAGE_TOKENS, Rows, Schedule, Slice, Step};
use crate::{Error, Result};
use std::cell::Cell;
use std::collections::BTreeSet;

/// Batches of up to this many rows replay as a graph (if the device's graphs are right and faster), and decoding of up to
/// so many sequences. What has more rows takes longer than its launches.
const GRAPH_ROWS: usize = 16;
const GRAPH_SEQUENCES: usize = 64;

impl GpuExecutor {
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
        let (started, told) = match rows {
            0 => (Ok(()), true),
            _ => {
                let bucket = self.bucket(slices, rows, wanted, output);
                (self.start(bucket, slices, choices), bucket.turn.is_some())
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
            told,
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
        Ok(choices.iter().all(Choice::fits))
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
        let bytes = bucket.write(slices, choices, &sequences, host)?;
        if bucket.turn.is_none() {
            self.stream
                .copy_from_pinned(&self.inputs, 0, host, 0, bytes)?;
        }
        self.run_bucket(bucket, slices)?;
        if let Some(recurrent) = &mut self.memory.recurrent {
            recurrent.end(slices);
        }
        Ok(())
    }

    /// Queues a bucket's program, whose inputs were sent.
    fn run_bucket(&mut self, bucket: Bucket, slices: &[Slice<'_>]) -> Result<()> {
        let ran = self.run_program(bucket, slices);
        let without = self.program(bucket).is_ok_and(Recorded::multiplies)
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
            let mut encoder = device.encoder()?;
            let pieces = self.recorder(&mut encoder, bucket)?.pieces();
            let recorded = Recorded::new(pieces, |piece| {
                device.record(|encoder| self.recorder(encoder, bucket)?.record(piece))
            })?;
            self.programs.insert(bucket, recorded);
        }
        Ok(())
    }

    fn program(&self, bucket: Bucket) -> Result<&Recorded> {
        let program = self.programs.get(bucket);
        program.ok_or_else(|| Error::Internal("a recorded program is missing".into()))
    }

    fn run_program(&self, bucket: Bucket, slices: &[Slice<'_>]) -> Result<()> {
        for (program, run) in &self.program(bucket)?.pieces {
            match program.is_awaited() {
                _ if !may_replay(bucket) => program.run_as(&self.stream, ProgramMode::Direct)?,
                // It is what graphs are judged by, but for keys and values it may write anywhere in the cache.
                true => program.run_touching(&self.stream, &self.touched(slices))?,
                false => program.run(&self.stream)?,
            }
            if let Some(run) = run {
                self.weights.device.wait_step(&self.stream)?;
                self.run_on_cpu(run, slices)?;
            }
        }
        Ok(())
    }

    /// What the CPU computes of a step. Nothing is queued.
    fn run_on_cpu(&self, run: &HostRun, slices: &[Slice<'_>]) -> Result<()> {
        let missing = || Error::Internal("experts on the CPU are missing".into());
        let host = self.weights.host.as_ref().ok_or_else(missing)?;
        let memory = self.memory.host.as_ref().ok_or_else(missing)?;
        let start = memory.host().ok_or_else(missing)?;
        let len = usize::try_from(memory.len()).unwrap_or(0);
        // SAFETY: the buffer's memory, which the host sees; this state's alone, and what was queued with it is done.
        let memory = unsafe { std::slice::from_raw_parts_mut(start, len) };
        let rows = match self.schedule.buffers[run.gives.0.0].rows {
            Rows::Tokens => slices.iter().map(|slice| slice.tokens.len()).sum(),
            Rows::Wanted => slices.iter().map(Slice::wanted_rows).sum(),
            Rows::Once => 1,
        };
        host.compute(&self.schedule, run, rows, memory)
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
        let bucket = Bucket {
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
            turn: None,
        };
        Bucket {
            turn: may_replay(bucket).then(|| self.turns.next()),
            ..bucket
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
        let selected = schedule.steps.iter().filter_map(|step| match step {
            Step::SelectWanted { x, out } => bucket.decode.then_some((*out, *x)),
            _ => None,
        });
        Ok(Recorder {
            selected: selected.collect(),
            encoder,
            weights: &self.weights,
            schedule,
            launches,
            vocab_size: self.schedule.vocab_size,
            memory: &self.memory,
            kv: self.size.kv,
            inputs: &self.inputs,
            turn: bucket.turn.map(|turn| self.turns.of(turn)),
            token_end: self.token_end,
            bucket,
            // Those of the schedule of hidden states come over the bus.
            host: match bucket.output {
                Output::Hidden => None,
                _ => self.weights.host.as_ref(),
            },
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
