//! Steps of a network as launches for a batch.

use super::steps::{Norm, Origin, Step, VectorId};
use super::{Network, Precision, missing};
use crate::Result;
use crate::driver::{Overlap, Platform};
use crate::gpu::arrays::walk::merged;
use crate::gpu::constants::{network_attention, network_norm};
use crate::gpu::{Args, DeviceBuffer, Encoder, Kernel, LaunchOptions, Range, Stream};
use crate::ir::Layout;
use crate::step::{ItemAttention, ItemSource};

/// Threads of a block of most kernels, and of those that have four waves.
pub(super) const THREADS: u32 = 256;
/// Numbers of a row that a lane of a norm holds, eight at a time.
const NORM_HELD: usize = network_norm::HELD * 8;
/// From so many rows on a wave is faster for a row of the finer norm than a block: on an H200 4,096 of 768 columns, not
/// 1,024; 16,384 of 1,024 columns, of which a lane has a third more to do, not 4,096.
const fn many_rows(columns: usize) -> u32 {
    if columns <= 768 { 2048 } else { 8192 }
}
/// The widest heads that go through the matrix units.
const WIDEST: usize = 64;
/// Rows and keys of attention by the matrix units.
const ROWS: usize = network_attention::MOST_ROWS;
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
            // (Under all that it follows is no faster here: docs/performance.md.)
            overlap: kernel.overlap().min(Overlap::Last),
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

    fn attention(&mut self, of: &ItemAttention, rows_first: bool, out: usize) -> Result<()> {
        let sizes = &of.sizes;
        let mut args = Args::new();
        let names = [
            ("q", ["q_", "q_head", "q_row"]),
            ("k", ["k_", "k_head", "k_row"]),
            ("v", ["v_", "v_head", "v_row"]),
        ];
        for (side, (name, [item, of_head, of_row])) in of.sides.iter().zip(names) {
            let &[_, head, row, column] = side.layout.strides.as_slice() else {
                return Err(missing("attention of another rank"));
            };
            let negative = head < 0 || row < 0;
            if negative || (column != 1 && side.layout.sizes.last() != Some(&1)) {
                return Err(missing("attention over columns that are no neighbours"));
            }
            args = self.of_item(self.place(args, name, side.buffer), item, side);
            args = args.u32(of_head, head as u32).u32(of_row, row as u32);
        }
        if let Some(mask) = &of.mask {
            self.only_whole(mask)?;
        }
        let mask = of.mask.as_ref().map(|mask| mask.buffer);
        let args = self.place_or_null(args, "bias", mask);
        let args = self
            .place(args, "out", out)
            .u32("heads", sizes.heads as u32)
            .u32("kv_heads", sizes.kv_heads as u32)
            .u32("rows", sizes.rows as u32)
            .u32("keys", sizes.keys as u32)
            .u32("dim", sizes.dim as u32)
            .u32("width", sizes.width as u32)
            .u32("rows_first", rows_first.into());
        let args = args.f32("scale", sizes.scale);
        let widest = sizes.dim.max(sizes.width);
        let tiles = sizes.rows == ROWS && sizes.keys == ROWS && widest <= WIDEST;
        let device = &self.network.device;
        let (kernel, threads) = match tiles && self.network.precision == Precision::F16 {
            true => {
                let wide = if widest > 32 { 64 } else { 32 };
                let nvidia = device.facts().platform == Platform::Cuda;
                let whole = sizes.dim == wide && sizes.width == wide && self.are_pieces(&of.sides);
                let form = if nvidia && whole { "warps_" } else { "" };
                let kernel = device.kernel(&format!("mlxrocm_network_attention_{form}{wide}"))?;
                (kernel, 4 * device.facts().wave_size)
            }
            false => (self.kernel("attention")?, ROWS as u32),
        };
        let sources = of.sides.iter().chain(&of.mask);
        let reads: Vec<usize> = sources.map(|source| source.buffer).collect();
        let grid = [sizes.heads as u32, self.items as u32, 1];
        self.launch(&kernel, grid, (threads, 0), args, &reads, &[out])
    }

    /// Rows of heads begin at multiples of 8 numbers.
    fn are_pieces(&self, sides: &[ItemSource]) -> bool {
        sides.iter().all(|side| {
            let counts = [self.network.plan.counts[side.buffer], side.layout.offset];
            let strides = side.layout.strides.iter().take(3);
            let mut all = strides.map(|stride| stride.unsigned_abs()).chain(counts);
            all.all(|n| n.is_multiple_of(8))
        })
    }

    fn scores(
        &mut self,
        (a, b): (&ItemSource, &ItemSource),
        [rows, columns, cols]: [usize; 3],
        scale: f32,
        out: usize,
    ) -> Result<()> {
        let item = |x: &ItemSource| self.network.plan.counts[x.buffer];
        let places = [
            cols,
            rows,
            columns,
            item(a),
            item(b),
            a.layout.offset,
            b.layout.offset,
        ];
        let tiles = places.iter().all(|n| n.is_multiple_of(16));
        let args = self.place(self.place(Args::new(), "a", a.buffer), "b", b.buffer);
        let args = self.place(args, "out", out);
        let nvidia = self.network.device.facts().platform == Platform::Cuda;
        let board = rows == ROWS && columns == ROWS && cols.is_multiple_of(64);
        if tiles && board && nvidia && self.network.precision == Precision::F16 {
            let args = args.u32("cols", cols as u32);
            let args = self.of_item(self.of_item(args, "a_", a), "b_", b);
            let args = args.f32("scale", scale);
            let kernel = self.network.device.kernel("mlxrocm_network_scores_warps")?;
            let grid = [1, self.items as u32, 1];
            return self.launch(&kernel, grid, (128, 0), args, &[a.buffer, b.buffer], &[out]);
        }
        let args = args
            .u32("rows", rows as u32)
            .u32("columns", columns as u32)
            .u32("cols", cols as u32);
        let args = self.of_item(self.of_item(args, "a_", a), "b_", b);
        let args = args.f32("scale", scale);
        let reads = [a.buffer, b.buffer];
        match tiles && self.network.precision == Precision::F16 {
            true => {
                let device = &self.network.device;
                let kernel = device.kernel("mlxrocm_network_scores_tiles")?;
                let waves = (rows / 16 * columns.div_ceil(64)) as u32;
                let of_block = THREADS / device.facts().wave_size.max(1);
                let grid = [waves.div_ceil(of_block), self.items as u32, 1];
                self.launch(&kernel, grid, (THREADS, 0), args, &reads, &[out])
            }
            false => {
                let kernel = self.kernel("scores")?;
                self.by_elements(&kernel, rows * columns, args, &reads, out)
            }
        }
    }

    fn copy(&mut self, from: &Origin, to: &Layout, out: usize) -> Result<()> {
        let (of, layout, item, args, reads) = match from {
            Origin::Item(x) => {
                let item = self.network.plan.counts[x.buffer];
                let args = self.place(Args::new(), "x", x.buffer);
                let own = self.numbers(x.buffer);
                (own, x.layout.clone(), item, args, vec![x.buffer])
            }
            Origin::Vector(vector) => {
                let args = self.vector(Args::new(), "x", *vector);
                let layout = Layout::rows(&to.sizes);
                (Precision::F32, layout, 0, args, Vec::new())
            }
        };
        let args = self.place(args, "out", out);
        let items = [item, self.network.plan.counts[out]];
        let args = copied(args, [&layout, to], items)
            .ok_or_else(|| missing("a copy along more than four axes"))?;
        let kernel = self
            .network
            .device
            .kernel(&converting("copy", of, self.numbers(out)))?;
        self.by_elements(&kernel, to.count(), args, &reads, out)
    }

    /// Masks and their values at these places of `from` become an input.
    pub fn planes(
        &mut self,
        input: usize,
        from: &DeviceBuffer,
        [masks, values]: [u64; 2],
    ) -> Result<()> {
        let count = self.network.plan.counts[input] as u32;
        let args = Args::new()
            .buffer("masks", from, masks)
            .buffer("values", from, values);
        let args = self.place(args, "out", input).u32("count", count / SQUARES);
        let planes = u64::from(count / SQUARES) * self.items as u64;
        let reads = [
            from.range(masks, planes * 8),
            from.range(values, planes * 4),
        ];
        let grid = [count.div_ceil(THREADS), self.items as u32, 1];
        let kernel = self.kernel("planes")?;
        let writes = self.ranges(&[input]);
        self.launch_of(&kernel, grid, (THREADS, 0), args, &reads, &writes)
    }

    /// A result becomes f32 numbers from `at` of `to` on; the bytes that they take.
    pub fn output(&mut self, output: usize, to: &DeviceBuffer, at: u64) -> Result<u64> {
        let count = self.network.plan.counts[output];
        let bytes = (count * self.items * 4) as u64;
        let row = Layout::rows(&[count]);
        let args = self.place(Args::new(), "x", output).buffer("out", to, at);
        let args = copied(args, [&row, &row], [count, count])
            .ok_or_else(|| missing("a result of so many numbers"))?;
        let kernel = converting("copy", self.numbers(output), Precision::F32);
        let kernel = self.network.device.kernel(&kernel)?;
        let grid = [(count as u32).div_ceil(THREADS), self.items as u32, 1];
        let (reads, writes) = (self.ranges(&[output]), [to.range(at, bytes)]);
        self.launch_of(&kernel, grid, (THREADS, 0), args, &reads, &writes)?;
        Ok(bytes)
    }
}

/// The kernel that moves numbers, and converts them.
fn converting(name: &str, from: Precision, to: Precision) -> String {
    let both = match from == to {
        true => from.name().to_string(),
        false => format!("{}_{}", from.name(), to.name()),
    };
    format!("mlxrocm_network_{name}_{both}")
}

/// Adds how a copy counts, by what is read and what is written and their numbers of an item. `None`: along more than
/// four axes.
fn copied(args: Args, layouts: [&Layout; 2], items: [usize; 2]) -> Option<Args> {
    let axes = merged(&layouts[1].sizes, &layouts);
    let front = 4usize.checked_sub(axes.len())?;
    let mut args = args.u32("count", u32::try_from(layouts[1].count()).ok()?);
    for (of, (layout, item)) in ["x_", "out_"].into_iter().zip(layouts.iter().zip(items)) {
        args = args
            .u32((of, "item"), u32::try_from(item).ok()?)
            .u32((of, "first"), u32::try_from(layout.offset).ok()?);
    }
    let mut counting = [[1; 4], [0; 4], [0; 4]];
    for (place, (size, strides)) in axes.iter().enumerate() {
        counting[0][front + place] = u32::try_from(*size).ok()?;
        for (to, &stride) in counting[1..].iter_mut().zip(strides) {
            to[front + place] = u32::try_from(stride).ok()?;
        }
    }
    for (name, numbers) in ["s", "a", "b"].into_iter().zip(counting) {
        for (axis, n) in ["0", "1", "2", "3"].into_iter().zip(numbers) {
            args = args.u32((name, axis), n);
        }
    }
    Some(args)
}
