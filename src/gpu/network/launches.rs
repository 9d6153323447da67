//! Steps of a network as launches for a batch.

mod attention;
mod copies;
mod few;

use super::steps::{Norm, Step, VectorId};
use super::{Network, Precision, missing};
use crate::Result;
use crate::gpu::constants::network_norm;
use crate::gpu::{Args, DeviceBuffer, Encoder, Kernel, LaunchOptions, Range, Stream};
use crate::step::ItemSource;
use copies::converting;

/// Threads of a block of most kernels, and of those that have four waves.
pub(super) const THREADS: u32 = 256;
/// Numbers of a row that a lane of a norm holds, eight at a time.
const NORM_HELD: usize = network_norm::HELD * 8;
/// From so many rows on a wave is faster for a row of the finer norm than a block: on an H200 4,096 of 768 columns, not
/// 1,024; 16,384 of 1,024 columns, of which a lane has a third more to do, not 4,096.
const fn many_rows(columns: usize) -> u32 {
    if columns <= 768 { 2048 } else { 8192 }
}
/// Of a board: bits of a mask.
pub(super) const SQUARES: u32 = 64;

/// A batch whose launches are recorded.
pub struct Batch<'a> {
    pub network: &'a Network,
    pub encoder: &'a mut Encoder,
    /// Where small things that launches read are uploaded.
    pub stream: &'a Stream,
    /// Memory of all buffers.
    pub arena: &'a DeviceBuffer,
    pub items: usize,
}

impl Batch<'_> {
    /// Where a buffer begins, and its bytes.
    fn extent(&self, buffer: usize) -> (u64, u64) {
        let plan = &self.network.plan;
        let size = self.network.precision.size();
        let bytes = |numbers: usize| (numbers * self.items * size) as u64;
        let len = plan.counts[buffer] * if plan.wide[buffer] { 2 } else { 1 };
        (bytes(plan.offsets[buffer]), bytes(len))
    }

    /// What a buffer's numbers are.
    fn numbers(&self, buffer: usize) -> Precision {
        match self.network.plan.wide[buffer] {
            true => Precision::F32,
            false => self.network.precision,
        }
    }

    /// A buffer as an argument.
    pub(super) fn place(&self, args: Args, name: &'static str, buffer: usize) -> Args {
        args.buffer(name, self.arena, self.extent(buffer).0)
    }

    pub(super) fn place_or_null(
        &self,
        args: Args,
        name: &'static str,
        buffer: Option<usize>,
    ) -> Args {
        match buffer {
            Some(buffer) => self.place(args, name, buffer),
            None => args.null(name),
        }
    }

    fn vector(&self, args: Args, name: &'static str, vector: VectorId) -> Args {
        let at = (vector.first * 4) as u64;
        args.buffer(name, &self.network.packed.vectors, at)
    }

    pub(super) fn vector_or_null(
        &self,
        args: Args,
        name: &'static str,
        vector: Option<VectorId>,
    ) -> Args {
        match vector {
            Some(vector) => self.vector(args, name, vector),
            None => args.null(name),
        }
    }

    fn ranges(&self, buffers: &[usize]) -> Vec<Range> {
        let range = |&buffer: &usize| {
            let (at, len) = self.extent(buffer);
            self.arena.range(at, len)
        };
        buffers.iter().map(range).collect()
    }

    pub(super) fn launch(
        &mut self,
        kernel: &Kernel,
        grid: [u32; 3],
        (threads, shared_bytes): (u32, u32),
        args: Args,
        reads: &[usize],
        writes: &[usize],
    ) -> Result<()> {
        let (reads, writes) = (self.ranges(reads), self.ranges(writes));
        self.launch_of(kernel, grid, (threads, shared_bytes), args, &reads, &writes)
    }

    fn launch_of(
        &mut self,
        kernel: &Kernel,
        grid: [u32; 3],
        (threads, shared_bytes): (u32, u32),
        args: Args,
        reads: &[Range],
        writes: &[Range],
    ) -> Result<()> {
        let options = LaunchOptions {
            overlap: self.overlap(kernel),
            ..LaunchOptions::default()
        };
        let block = [threads, 1, 1];
        self.encoder.launch_with(
            kernel,
            grid,
            block,
            shared_bytes,
            args,
            reads,
            writes,
            options,
        )
    }

    /// A kernel of this network's numbers.
    pub(super) fn kernel(&self, name: &str) -> Result<Kernel> {
        let name = format!("mlxrocm_network_{name}_{}", self.network.precision.name());
        self.network.device.kernel(&name)
    }

    /// Records a step.
    pub fn step(&mut self, step: &Step) -> Result<()> {
        match step {
            Step::Product(product) => self.product(product),
            Step::Norm(norm) => self.norm(norm),
            Step::Pair(first, second) => self.pair(first, second),
            Step::Attention {
                attention,
                rows_first,
                out,
            } => self.attention(attention, *rows_first, *out),
            Step::Chain { chain, vectors } => self.chain(chain, vectors),
            Step::Copy { from, to, out } => self.copy(from, to, *out),
            Step::Take {
                x,
                places,
                count,
                out,
            } => {
                let places = &self.network.packed.places[*places];
                let args = self
                    .place(Args::new(), "x", x.buffer)
                    .buffer("places", places, 0);
                let args = self.place(args, "out", *out).u32("count", *count as u32);
                let args = self.of_item(args, "", x);
                let kernel = converting("take", self.numbers(x.buffer), self.numbers(*out));
                let kernel = self.network.device.kernel(&kernel)?;
                self.by_elements(&kernel, *count, args, &[x.buffer], *out)
            }
            Step::Sums { x, columns, out } => {
                let rows = x.layout.count() / (*columns).max(1);
                let args = self.place(Args::new(), "x", x.buffer);
                let args = self
                    .place(args, "out", *out)
                    .u32("rows", rows as u32)
                    .u32("columns", *columns as u32);
                let args = self.of_item(args, "", x);
                let kernel = self.kernel("sums")?;
                self.by_elements(&kernel, *columns, args, &[x.buffer], *out)
            }
            Step::Softmax { x, row, out } => {
                self.only_whole(x)?;
                let rows = (x.layout.count() / (*row).max(1) * self.items) as u32;
                let args = self.place(Args::new(), "x", x.buffer);
                let args = self
                    .place(args, "out", *out)
                    .u32("rows", rows)
                    .u32("columns", *row as u32);
                let grid = [rows.div_ceil(THREADS), 1, 1];
                let kernel = self.kernel("softmax")?;
                self.launch(&kernel, grid, (THREADS, 0), args, &[x.buffer], &[*out])
            }
            Step::Scores {
                a,
                b,
                rows,
                columns,
                cols,
                scale,
                out,
            } => self.scores((a, b), [*rows, *columns, *cols], *scale, *out),
        }
    }

    /// Numbers of an item and those before the first, as arguments whose names begin with `of`.
    fn of_item(&self, args: Args, of: &'static str, x: &ItemSource) -> Args {
        let item = self.network.plan.counts[x.buffer];
        args.u32((of, "item"), item as u32)
            .u32((of, "first"), x.layout.offset as u32)
    }

    /// An element of an item each.
    fn by_elements(
        &mut self,
        kernel: &Kernel,
        count: usize,
        args: Args,
        reads: &[usize],
        out: usize,
    ) -> Result<()> {
        let grid = [(count as u32).div_ceil(THREADS), self.items as u32, 1];
        self.launch(kernel, grid, (THREADS, 0), args, reads, &[out])
    }

    /// Rows of all items follow each other.
    fn only_whole(&self, x: &ItemSource) -> Result<()> {
        match self.network.plan.counts[x.buffer] == x.layout.count() {
            true => Ok(()),
            false => Err(missing("a function of rows of part of a result")),
        }
    }

    fn norm(&mut self, norm: &Norm) -> Result<()> {
        self.only_whole(&norm.x)?;
        let columns = norm.weight.len;
        let rows = (norm.x.layout.count() / columns.max(1) * self.items) as u32;
        let finer = norm.x_low.or(norm.out_low).is_some();
        let mut args = self.place(Args::new(), "x", norm.x.buffer);
        if finer {
            args = self.place_or_null(args, "x_low", norm.x_low);
        }
        let args = self.place_or_null(args, "y", norm.beside.map(|(beside, _)| beside));
        let args = self.vector(args, "weight", norm.weight);
        let args = self.vector(args, "bias", norm.bias);
        let mut args = self.place(args, "out", norm.out);
        if finer {
            args = self.place_or_null(args, "out_low", norm.out_low);
        }
        let args = args
            .u32("rows", rows)
            .u32("columns", columns as u32)
            .f32("alpha", norm.beside.map_or(0.0, |(_, factor)| factor))
            .f32("eps", norm.eps);
        let wave = self.network.device.facts().wave_size.max(1);
        let step = Step::Norm(norm.clone());
        let is_long = columns > NORM_HELD * wave as usize;
        let few = rows < many_rows(columns);
        let (kernel, blocks, threads) = match (finer, is_long, few) {
            (true, _, true) => ("norm_finer_few", rows, network_norm::FINER_TEAM as u32),
            (true, _, false) => ("norm_finer", rows.div_ceil(THREADS / wave), THREADS),
            (false, true, _) => ("norm_long", rows, THREADS),
            (false, false, _) => ("norm", rows.div_ceil(THREADS / wave), THREADS),
        };
        let kernel = self.kernel(kernel)?;
        self.launch(
            &kernel,
            [blocks, 1, 1],
            (threads, 0),
            args,
            &step.read(),
            &step.written(),
        )
    }
}
