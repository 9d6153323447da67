//! Records a model's schedule as a program for one bucket of sizes.

use super::blas::Scratch;
use super::experts_memory::ExpertMemory;
use super::host::{HostExperts, HostRun};
use super::inputs::{Bucket, Output, Places};
use super::many::Way;
use super::matmul::{FEW_ROWS, MatrixForm, Operand, scalar_name, scales_number};
use super::product_outputs::Multiply;
use super::recorded::{Piece, pieces};
use super::recurrent_memory::RecurrentMemory;
use super::turns::Turn;
use super::weights::{GpuWeights, Launch};
use super::wide::is_wide;
use crate::driver::Overlap;
use crate::gpu::{Args, DeviceBuffer, Encoder, LaunchOptions, Range as Part};
use crate::step::{
    Attend, BufferId, Epilogue, KvType, Norm, Rows, Schedule, Step, Together, VectorId, together,
};
use crate::{Error, Result};
use std::cell::Cell;
use std::ops::Range;

/// The device memory of a forward state.
pub struct Memory {
    /// `[width · max_rows]` f32.
    pub arena: DeviceBuffer,
    pub max_rows: usize,
    /// `[wanted][vocab]` f32.
    pub logits: DeviceBuffer,
    /// `[wanted]`: the tokens that the last step chose.
    pub tokens: DeviceBuffer,
    /// The KV cache.
    pub cache: DeviceBuffer,
    /// `[positions][pairs]` of (cos, sin) of each rotation.
    pub ropes: Vec<DeviceBuffer>,
    /// What blocks of attentions and of split products leave for each other.
    pub parts: DeviceBuffer,
    pub counters: DeviceBuffer,
    /// What is known of rows while their tokens are drawn.
    pub sampler: DeviceBuffer,
    /// Rows of x as the matrix unit takes them, and their scales.
    pub operand: DeviceBuffer,
    pub scales: DeviceBuffer,
    /// For products by the vendor's BLAS, where there are some.
    pub scratch: Option<Scratch>,
    /// For mixtures of experts.
    pub experts: Option<ExpertMemory>,
    /// What recurrent layers keep.
    pub recurrent: Option<RecurrentMemory>,
    /// Results of an up projection whose form differs from the gate's.
    pub up: Option<DeviceBuffer>,
    /// In host memory: what the CPU's experts read and leave.
    pub host: Option<DeviceBuffer>,
}

/// Records one program.
pub struct Recorder<'a> {
    pub encoder: &'a mut Encoder,
    pub weights: &'a GpuWeights,
    pub schedule: &'a Schedule,
    /// Of each step of the schedule.
    pub launches: &'a [Vec<Launch>],
    /// Rows of the table of tokens.
    pub vocab_size: usize,
    pub memory: &'a Memory,
    pub kv: KvType,
    pub inputs: &'a DeviceBuffer,
    /// What the program takes its inputs from and tells its tokens to, if it does.
    pub turn: Option<&'a Turn>,
    /// Columns of the logits from this one on are no tokens.
    pub token_end: usize,
    pub bucket: Bucket,
    /// Rows that are wanted, and what they are selected from where that are all rows in order.
    pub selected: Vec<(BufferId, BufferId)>,
    /// Experts that the CPU computes.
    pub host: Option<&'a HostExperts>,
    /// Whether gates and ups make their routers themselves (`routed.rs`), once that was asked.
    pub routers_here: Cell<Option<bool>>,
}

impl Recorder<'_> {
    /// The pieces of the schedule.
    pub fn pieces(&self) -> Vec<Piece> {
        let runs = self.host.map(|host| {
            let is_on_cpu = |place: usize| self.is_on_cpu(place);
            host.runs(self.schedule, is_on_cpu)
        });
        pieces(runs.unwrap_or_default(), self.schedule.steps.len())
    }

    /// Whether the CPU computes the step with experts at `place`.
    pub(super) fn is_on_cpu(&self, place: usize) -> bool {
        match self.schedule.steps.get(place) {
            Some(Step::Experts(step)) => {
                let is_few = self.rows(step.index) <= FEW_ROWS;
                is_few && self.host.is_some_and(|host| host.has(place))
            }
            _ => false,
        }
    }

    /// Records a piece.
    pub fn record(&mut self, piece: &Piece) -> Result<()> {
        match (&piece.after, self.turn) {
            (Some(run), _) => {
                let (id, at) = run.gives;
                self.copy_to_or_from_host(id, at, false)?;
            }
            (None, Some(turn)) => self.take_inputs(&turn.inputs)?,
            (None, None) => {}
        }
        self.steps(piece.steps.clone())?;
        match &piece.before {
            Some(HostRun { reads, .. }) => reads
                .iter()
                .try_for_each(|(id, at)| self.copy_to_or_from_host(*id, *at, true)),
            None => self.end(),
        }
    }

    fn steps(&mut self, places: Range<usize>) -> Result<()> {
        let schedule = self.schedule;
        let first = places.start;
        let steps = schedule.steps.get(places).unwrap_or_default();
        let mut done = first;
        for (index, step) in (first..).zip(steps) {
            if index < done {
                continue;
            }
            if let Some(steps) = together(&schedule.steps[index..])
                && self.together(&steps)?
            {
                done = index + steps.steps();
                continue;
            }
            match step {
                Step::Embed { table, out } => {
                    let table = self
                        .weights
                        .tables
                        .get(table)
                        .ok_or_else(|| Error::Internal("a table is missing".into()))?
                        .clone();
                    self.embed(&table.data, table.form, *out)?;
                }
                Step::SelectWanted { .. } if self.bucket.decode => {}
                Step::SelectWanted { x, out } => self.gather(*x, *out)?,
                // The router after it makes these.
                Step::Matmul { .. } if self.makes_logits(index)? => {}
                Step::Matmul {
                    x,
                    norm,
                    products,
                    epilogue,
                } => {
                    let launches = self.launches.get(index);
                    let launches = launches.map_or(&[][..], Vec::as_slice);
                    let product = Multiply {
                        x: *x,
                        norm: *norm,
                        products,
                        epilogue: *epilogue,
                    };
                    let ways: Vec<_> = launches.iter().map(|l| self.way(l, *x)).collect();
                    for operand in [Operand::Rows, Operand::Tiles] {
                        let takes =
                            |way: &&Option<Way>| way.as_ref().map(Way::operand) == Some(operand);
                        if ways.iter().any(|way| takes(&way)) {
                            self.operand(operand, *x, *norm)?;
                        }
                        for (launch, way) in launches.iter().zip(&ways).filter(|(_, w)| takes(w)) {
                            let rows = self.rows(*x);
                            let to = self.outputs(launch, product, (0, rows))?;
                            match way {
                                Some(Way::Kernel(kernel, _)) => {
                                    self.matmul_kernel(&launch.matrix, rows, kernel, operand, to)?;
                                }
                                Some(Way::Blas) => self.matmul_blas(&launch.matrix, rows, to)?,
                                None => {}
                            }
                        }
                    }
                    for (launch, _) in launches.iter().zip(&ways).filter(|(_, w)| w.is_none()) {
                        self.matmul_rows(launch, product)?;
                    }
                    let silu = launches.iter().all(|l| l.silu);
                    if *epilogue == Epilogue::SwiGlu && !silu {
                        self.silu(products)?;
                    }
                }
                Step::Attend(attend) => self.attend(*attend, None)?,
                Step::Plain {
                    op,
                    inputs,
                    outputs,
                } => self.plain(op, inputs, outputs)?,
                Step::Logits { x } => self.copy_logits(*x)?,
                Step::Experts(step) => self.experts(index, step)?,
                Step::ShortConv(step) => self.short_conv(*step)?,
                Step::GatedDelta(step) => self.gated_delta(*step)?,
                Step::GatedNorm(step) => self.gated_norm(*step)?,
            }
        }
        Ok(())
    }

    /// Records steps as one launch, if the batch and the device have that: whether it did.
    fn together(&mut self, steps: &Together) -> Result<bool> {
        match *steps {
            Together::DeltaNet { conv, rule, norm } => self.delta_step(&conv, &rule, norm),
            Together::GatedAttention { attend, gate, out } => {
                let takes_gate = self.bucket.decode && !is_wide(&attend.shape);
                if takes_gate {
                    self.attend(Attend { out, ..attend }, Some(gate))?;
                }
                Ok(takes_gate)
            }
        }
    }

    /// What follows all steps.
    fn end(&mut self) -> Result<()> {
        match self.bucket.output {
            Output::Logits | Output::Hidden => Ok(()),
            Output::Largest => self.argmax(),
            Output::Sampled => self.sample(),
        }
    }

    pub(super) fn places(&self) -> Places {
        self.bucket.places()
    }

    pub(super) fn rows(&self, id: BufferId) -> usize {
        match self.schedule.buffers[id.0].rows {
            Rows::Tokens => self.bucket.rows,
            Rows::Wanted => self.bucket.wanted,
            Rows::Once => 1,
        }
    }

    pub(super) fn width(&self, id: BufferId) -> usize {
        self.schedule.buffers[id.0].width
    }

    /// Byte offset of a row in the arena.
    pub(super) fn at(&self, id: BufferId, row: usize) -> u64 {
        let same = self.selected.iter().find(|(out, _)| *out == id);
        let buffer = &self.schedule.buffers[same.map_or(id, |(_, x)| *x).0];
        ((buffer.offset * self.memory.max_rows + row * buffer.width) * 4) as u64
    }

    pub(super) fn range(&self, id: BufferId, row: usize, rows: usize) -> Part {
        let bytes = (rows * self.width(id) * 4) as u64;
        self.memory.arena.range(self.at(id, row), bytes)
    }

    #[allow(clippy::too_many_arguments)] // the launch's natural parameters
    pub(super) fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        threads: u32,
        lds: usize,
        args: Args,
        reads: &[Part],
        writes: &[Part],
    ) -> Result<()> {
        let options = LaunchOptions {
            overlap: Overlap::All,
            ..LaunchOptions::default()
        };
        self.launch_with(options, kernel, grid, (threads, lds), args, reads, writes)
    }

    /// The same with options, of which the overlap is the most that there may be.
    #[allow(clippy::too_many_arguments)] // the launch's natural parameters
    pub(super) fn launch_with(
        &mut self,
        options: LaunchOptions,
        kernel: &str,
        grid: [u32; 3],
        (threads, lds): (u32, usize),
        args: Args,
        reads: &[Part],
        writes: &[Part],
    ) -> Result<()> {
        let kernel = self.weights.device.kernel(kernel)?;
        let options = LaunchOptions {
            overlap: kernel.overlap().min(options.overlap),
            ..options
        };
        let (block, lds) = ([threads, 1, 1], lds as u32);
        self.encoder
            .launch_with(&kernel, grid, block, lds, args, reads, writes, options)
    }

    /// `count` numbers of the inputs from `place`.
    fn input(&self, place: usize, count: usize) -> Part {
        self.inputs.range((place * 4) as u64, (count * 4) as u64)
    }

    fn embed(&mut self, table: &DeviceBuffer, form: MatrixForm, out: BufferId) -> Result<()> {
        let (rows, cols) = (self.bucket.rows, self.width(out));
        let tokens = self.places().tokens;
        let chosen = &self.memory.tokens;
        let args = Args::new()
            .buffer("table", table, 0)
            .buffer("tokens", self.inputs, (tokens * 4) as u64)
            .buffer("chosen", chosen, 0)
            .buffer("out", &self.memory.arena, self.at(out, 0))
            .u32("choices", (chosen.len() / 4) as u32);
        let vocab = self.vocab_size as u32;
        let (kernel, args) = match form {
            MatrixForm::Quant(form) => (
                "mlxrocm_embed_quant".to_owned(),
                args.u32("bits", form.bits as u32)
                    .u32("scales", scales_number(form.scales))
                    .u32("group", form.group as u32)
                    .u32("vocab", vocab)
                    .u32("cols", cols as u32),
            ),
            MatrixForm::Dense(ty) => (
                format!("mlxrocm_embed_{}", scalar_name(ty)),
                args.u32("vocab", vocab).u32("cols", cols as u32),
            ),
        };
        let reads = [self.input(tokens, rows), chosen.whole()];
        // Puts in the tokens that were chosen.
        let writes = [self.range(out, 0, rows), self.input(tokens, rows)];
        self.launch(&kernel, [rows as u32, 1, 1], 1024, 0, args, &reads, &writes)
    }

    fn gather(&mut self, x: BufferId, out: BufferId) -> Result<()> {
        let wanted = self.places().wanted;
        let rows = self.bucket.wanted;
        let args = Args::new()
            .buffer("x", &self.memory.arena, self.at(x, 0))
            .buffer("index", self.inputs, (wanted * 4) as u64)
            .buffer("out", &self.memory.arena, self.at(out, 0))
            .u32("rows", self.bucket.rows as u32)
            .u32("cols", self.width(x) as u32);
        let reads = [self.range(x, 0, self.bucket.rows), self.input(wanted, rows)];
        let writes = [self.range(out, 0, rows)];
        let grid = [rows as u32, 1, 1];
        self.launch(
            "mlxrocm_gather_rows_f32",
            grid,
            256,
            0,
            args,
            &reads,
            &writes,
        )
    }

    /// A norm's weight, or null.
    pub(super) fn norm_of(&self, args: Args, name: &'static str, norm: Option<Norm>) -> Args {
        self.vector_of(args, name, norm.map(|norm| norm.weight))
    }

    /// Appends a vector, or null.
    pub(super) fn vector_of(
        &self,
        args: Args,
        name: &'static str,
        vector: Option<VectorId>,
    ) -> Args {
        let vector = vector.and_then(|vector| self.weights.vectors.get(vector.0));
        args.buffer_or_null(name, vector.map(|vector| (vector, 0)))
    }
}
