//! The executor: runs a planned program on the CPU, step by step.

use super::arena::Arena;
use super::attention::{Attend, AttendScratch, RopeTable};
use super::kernels::{Kernels, kernels};
use super::kv::KvCache;
use super::matmul::{ExpertScratch, Experts, Inputs, Matmul, MatmulScratch};
use super::plain;
use super::recurrent::{DeltaScratch, Recurrent};
use super::slots::Slots;
use super::threads::ThreadPool;
use super::weights::CpuWeights;
use crate::step::{BufferId, KvType, Rows, Schedule, Slice, StateSize, Step};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::sync::Arc;

/// Where logits go: `[wanted, vocab]`, workers write disjoint columns.
#[derive(Clone, Copy)]
pub struct LogitsPtr {
    start: *mut f32,
    rows: usize,
    vocab: usize,
}

// SAFETY: see `write`.
unsafe impl Sync for LogitsPtr {}
// SAFETY: see `write`.
unsafe impl Send for LogitsPtr {}

impl LogitsPtr {
    /// # Safety
    /// Nobody else may use these places meanwhile; the vector behind it is alive.
    #[allow(clippy::mut_from_ref)] // workers share the pointer and write disjoint places
    pub unsafe fn write(&self, row: usize, column: usize, len: usize) -> &mut [f32] {
        assert!(
            row < self.rows && column + len <= self.vocab,
            "outside the logits"
        );
        // SAFETY: inside `rows · vocab` floats; exclusive by contract.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(row * self.vocab + column), len) }
    }
}

/// A program's state on the CPU: arena, KV cache, recurrent slots, threads. One thread at a time.
pub struct CpuExecutor {
    kernels: &'static Kernels,
    weights: Arc<CpuWeights>,
    schedule: Schedule,
    size: StateSize,
    arena: Arena,
    cache: KvCache,
    slots: Slots,
    ropes: Vec<RopeTable>,
    pool: ThreadPool,
    matmul_scratch: Vec<Mutex<MatmulScratch>>,
    attend_scratch: Vec<Mutex<AttendScratch>>,
    delta_scratch: Vec<Mutex<DeltaScratch>>,
    inputs: Inputs,
    experts: ExpertScratch,
    jobs: u64,
}

impl CpuExecutor {
    /// State for batches of up to `max_rows` tokens over `pages` KV pages of a kind.
    pub fn new(
        weights: Arc<CpuWeights>,
        schedule: Schedule,
        max_rows: usize,
        pages: usize,
        kv: KvType,
        threads: usize,
    ) -> Result<CpuExecutor> {
        let size = StateSize::any(max_rows, pages, kv);
        CpuExecutor::of_size(weights, schedule, size, threads)
    }

    /// State for such batches: a recurrent slot for each of `size.sequences`.
    pub fn of_size(
        weights: Arc<CpuWeights>,
        schedule: Schedule,
        size: StateSize,
        threads: usize,
    ) -> Result<CpuExecutor> {
        let pool = ThreadPool::new(threads);
        let workers = pool.threads();
        let cache = KvCache::new(size.pages, &schedule.states, size.kv)?;
        Ok(CpuExecutor {
            kernels: kernels(),
            weights,
            arena: Arena::new(schedule.widest(), size.tokens)?,
            size,
            cache,
            slots: Slots::new(size.sequences, size.snapshots, &schedule.recurrent)?,
            ropes: schedule
                .ropes
                .iter()
                .map(|_| RopeTable::default())
                .collect(),
            schedule,
            pool,
            matmul_scratch: (0..workers).map(|_| Mutex::default()).collect(),
            attend_scratch: (0..workers).map(|_| Mutex::default()).collect(),
            delta_scratch: (0..workers).map(|_| Mutex::default()).collect(),
            inputs: Inputs::default(),
            experts: ExpertScratch::default(),
            jobs: 0,
        })
    }

    /// KV pages.
    pub fn pages(&self) -> usize {
        self.cache.pages()
    }

    /// What a page of the cache holds, and its bytes.
    pub fn page_kind(&self) -> (KvType, usize) {
        (self.cache.kv(), self.cache.page_bytes())
    }

    /// Copies a page of the cache.
    pub fn copy_page_out(&mut self, page: u32, to: &mut [u8]) -> Result<()> {
        to.copy_from_slice(self.page(page, to.len())?);
        Ok(())
    }

    /// Writes a page of the cache.
    pub fn copy_page_in(&mut self, page: u32, from: &[u8]) -> Result<()> {
        self.page(page, from.len())?.copy_from_slice(from);
        Ok(())
    }

    fn page(&mut self, page: u32, bytes: usize) -> Result<&mut [u8]> {
        let found = self.cache.whole_page(page);
        let found = found.filter(|found| found.len() == bytes);
        found.ok_or_else(|| Error::Internal(format!("{bytes} bytes for page {page} of a cache")))
    }

    /// Sequences that a model with recurrent layers has room for.
    pub fn slots(&self) -> Option<usize> {
        (!self.schedule.recurrent.is_empty()).then(|| self.slots.count())
    }

    /// Copies of a slot that can be kept.
    pub fn snapshots(&self) -> usize {
        self.slots.snapshots()
    }

    /// Copies the state of a slot; `false` if there is no memory for it.
    pub fn keep_slot(&mut self, slot: u32, snapshot: u32) -> Result<bool> {
        self.slots.keep(slot, snapshot)
    }

    /// Gives a slot the state of a snapshot.
    pub fn restore_slot(&mut self, snapshot: u32, slot: u32) -> Result<()> {
        self.slots.restore(snapshot, slot)
    }

    /// Bytes of the state of a slot; 0: the model keeps none.
    pub fn slot_bytes(&self) -> usize {
        self.slots.slot_bytes()
    }

    /// Copies the state of a slot.
    pub fn copy_slot_out(&mut self, slot: u32, to: &mut [u8]) -> Result<()> {
        self.slots.read(slot, to)
    }

    /// Gives a slot a state of so many tokens.
    pub fn copy_slot_in(&mut self, slot: u32, tokens: usize, from: &[u8]) -> Result<()> {
        self.slots.write(slot, tokens, from)
    }

    /// The most tokens one run takes.
    pub fn max_rows(&self) -> usize {
        self.size.tokens
    }

    /// Columns of the logits.
    pub fn vocab_size(&self) -> usize {
        self.schedule.vocab_size
    }

    /// Columns of a hidden state.
    pub fn hidden_columns(&self) -> usize {
        self.schedule.hidden_size()
    }

    /// Runs the program on a batch; wanted rows of logits go to `logits`, in slice order.
    pub fn run(&mut self, slices: &[Slice<'_>], logits: &mut Vec<f32>) -> Result<()> {
        self.run_for(false, slices, logits)
    }

    /// The same for hidden states.
    pub fn run_hidden(&mut self, slices: &[Slice<'_>], states: &mut Vec<f32>) -> Result<()> {
        self.run_for(true, slices, states)
    }

    fn run_for(&mut self, hidden: bool, slices: &[Slice<'_>], logits: &mut Vec<f32>) -> Result<()> {
        let (rows, wanted) = self.size.check(slices, self.schedule.vocab_size, 0)?;
        self.slots.begin(slices)?;
        let schedule = self.schedule.of(hidden)?;
        let vocab = schedule.vocab_size;
        // Every logit is written below; a shorter old length only costs the zeroing of the rest.
        logits.resize(wanted * vocab, 0.0);
        let target = LogitsPtr {
            start: logits.as_mut_ptr(),
            rows: wanted,
            vocab,
        };
        for (table, rope) in self.ropes.iter_mut().zip(&schedule.ropes) {
            table.fill(rope, slices);
        }
        let arena = self.arena.view(schedule);
        let (kernels, vectors) = (self.kernels, &self.weights.vectors);
        let recurrent = Recurrent {
            kernels,
            arena,
            slots: &self.slots,
            slices,
            vectors,
        };
        let rows_of = |id: BufferId| match schedule.buffers[id.0].rows {
            Rows::Tokens => rows,
            Rows::Wanted => wanted,
            Rows::Once => 1,
        };
        for step in &schedule.steps {
            self.jobs += 1;
            match *step {
                Step::Embed { table, out } => {
                    let table = &self.weights.tables[table.0];
                    let tokens = slices.iter().flat_map(|s| s.tokens);
                    for (row, &token) in tokens.enumerate() {
                        // SAFETY: no worker runs during this step.
                        let to = unsafe { arena.write(out, row, 0, table.cols) };
                        table.dequantize_row(token as usize, to)?;
                    }
                }
                Step::SelectWanted { x, out } => {
                    let width = arena.width(x);
                    for (to, row) in wanted_rows(slices).enumerate() {
                        // SAFETY: no worker runs during this step; x and out do not overlap.
                        unsafe {
                            arena
                                .write(out, to, 0, width)
                                .copy_from_slice(arena.row(x, row))
                        };
                    }
                }
                Step::Logits { x } => {
                    for row in 0..wanted {
                        // SAFETY: no worker runs during this step.
                        unsafe {
                            target
                                .write(row, 0, vocab)
                                .copy_from_slice(arena.row(x, row))
                        };
                    }
                }
                Step::Experts(ref step) => {
                    let rows = rows_of(step.index);
                    Experts {
                        kernels,
                        arena,
                        matrices: &self.weights.matrices,
                        vectors,
                        step,
                        rows,
                        logits: target,
                    }
                    .run(
                        &mut self.pool,
                        &self.matmul_scratch,
                        &mut self.experts,
                    )?;
                }
                Step::Plain {
                    ref op,
                    ref inputs,
                    ref outputs,
                } => plain::run(op, inputs, outputs, &arena, vectors, slices)?,
                Step::Matmul {
                    x,
                    norm,
                    ref products,
                    epilogue,
                } => {
                    let rows = rows_of(x);
                    Matmul {
                        kernels,
                        arena,
                        matrices: &self.weights.matrices,
                        vectors,
                        x,
                        rows,
                        norm,
                        products,
                        epilogue,
                        logits: target,
                    }
                    .run(
                        &mut self.pool,
                        &self.matmul_scratch,
                        &mut self.inputs,
                        self.jobs,
                    );
                }
                Step::ShortConv(ref step) => recurrent.short_conv(step, &mut self.pool),
                Step::GatedDelta(ref step) => {
                    recurrent.gated_delta(step, &mut self.pool, &self.delta_scratch);
                }
                Step::GatedNorm(ref step) => {
                    let rows = rows_of(step.x);
                    recurrent.gated_norm(step, rows, &mut self.pool);
                }
                Step::Attend(step) => Attend {
                    kernels,
                    arena,
                    cache: &self.cache,
                    rope: step.rope.map(|rope| &self.ropes[rope]),
                    slices,
                    vectors,
                    step,
                }
                .run(
                    &mut self.pool,
                    &self.attend_scratch,
                    schedule.buffers[step.q.0].rows == Rows::Wanted,
                ),
            }
        }
        self.slots.end(slices);
        Ok(())
    }
}

/// Batch rows whose logits are wanted, in slice order.
pub(super) fn wanted_rows(slices: &[Slice<'_>]) -> impl Iterator<Item = usize> {
    let mut first = 0;
    slices.iter().flat_map(move |slice| {
        let start = first;
        first += slice.tokens.len();
        slice
            .wanted_runs()
            .flat_map(move |run| start + run.start..start + run.end)
    })
}
