//! Records a model's schedule as a program for one bucket of sizes.

use super::inputs::{Bucket, Places};
use super::matmul::{MatrixForm, scalar_name, scales_number};
use super::pack::TILE_ROWS;
use super::weights::{GpuWeights, Launch};
use crate::gpu::{Args, DeviceBuffer, Encoder, LaunchOptions, Range};
use crate::step::{
    Attention, BufferId, Epilogue, Norm, PAGE_TOKENS, Product, Rows, Schedule, Step,
};
use crate::{Error, Result};

/// Positions of one part of an attention (`SPLIT` of `hip/ops/attention/paged.hip`).
pub const SPLIT: usize = 128;
/// Query heads of one block of an attention (`HEADS` there).
const HEADS: usize = 4;
/// Bytes that the parts of attentions may take: longer batches go in several launches.
pub const PARTS_BYTES: usize = 32 << 20;

/// The device memory of a forward state.
pub struct Memory {
    /// `[width · max_rows]` f32.
    pub arena: DeviceBuffer,
    pub max_rows: usize,
    /// `[wanted][vocab]` f32.
    pub logits: DeviceBuffer,
    /// The KV cache.
    pub cache: DeviceBuffer,
    /// `[positions][pairs]` of (cos, sin).
    pub rope: DeviceBuffer,
    /// What attention blocks leave for each other.
    pub parts: DeviceBuffer,
    pub counters: DeviceBuffer,
    /// Results of an up projection whose form differs from the gate's.
    pub up: Option<DeviceBuffer>,
}

/// Numbers of one page of the cache, all layers.
pub fn page_numbers(layers: usize, shape: &Attention) -> usize {
    layers * layer_numbers(shape)
}

fn layer_numbers(shape: &Attention) -> usize {
    shape.kv_heads * 2 * PAGE_TOKENS * shape.head_dim.next_multiple_of(8)
}

/// Groups of query heads that one block takes.
pub fn head_groups(shape: &Attention) -> usize {
    shape.kv_heads * (shape.heads / shape.kv_heads).div_ceil(HEADS)
}

/// Bytes that a query row leaves for the last block.
pub fn part_bytes(shape: &Attention, parts: usize) -> usize {
    head_groups(shape) * parts * HEADS * (2 + shape.head_dim) * 4
}

/// Records one program.
pub struct Recorder<'a> {
    pub encoder: &'a mut Encoder,
    pub weights: &'a GpuWeights,
    pub schedule: &'a Schedule,
    pub memory: &'a Memory,
    pub inputs: &'a DeviceBuffer,
    pub bucket: Bucket,
}

impl Recorder<'_> {
    /// Records all steps.
    pub fn record(&mut self) -> Result<()> {
        let schedule = self.schedule;
        for (index, step) in schedule.steps.iter().enumerate() {
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
                Step::SelectWanted { x, out } => self.gather(*x, *out)?,
                Step::Matmul {
                    x,
                    norm,
                    products,
                    epilogue,
                } => {
                    let launches = self.weights.launches.get(index);
                    for launch in launches.into_iter().flatten() {
                        self.matmul(launch, *x, *norm, products, *epilogue)?;
                    }
                    let silu = launches.is_some_and(|l| l.iter().all(|l| l.silu));
                    if *epilogue == Epilogue::SwiGlu && !silu {
                        self.silu(products)?;
                    }
                }
                Step::Attend { .. } => self.attend(step)?,
            }
        }
        Ok(())
    }

    fn places(&self) -> Places {
        self.bucket.places()
    }

    fn rows(&self, id: BufferId) -> usize {
        match self.schedule.buffers[id.0].rows {
            Rows::Tokens => self.bucket.rows,
            Rows::Wanted => self.bucket.wanted,
        }
    }

    fn width(&self, id: BufferId) -> usize {
        self.schedule.buffers[id.0].width
    }

    /// Byte offset of a row in the arena.
    fn at(&self, id: BufferId, row: usize) -> u64 {
        let buffer = &self.schedule.buffers[id.0];
        ((buffer.offset * self.memory.max_rows + row * buffer.width) * 4) as u64
    }

    fn range(&self, id: BufferId, row: usize, rows: usize) -> Range {
        let bytes = (rows * self.width(id) * 4) as u64;
        self.memory.arena.range(self.at(id, row), bytes)
    }

    #[allow(clippy::too_many_arguments)] // the launch's natural parameters
    fn launch(
        &mut self,
        kernel: &str,
        grid: [u32; 3],
        threads: u32,
        lds: usize,
        args: Args,
        reads: &[Range],
        writes: &[Range],
    ) -> Result<()> {
        let kernel = self.weights.device.kernel(kernel)?;
        // All model kernels wait for the one before themselves.
        let options = LaunchOptions { overlap: true };
        let (block, lds) = ([threads, 1, 1], lds as u32);
        self.encoder
            .launch_with(&kernel, grid, block, lds, args, reads, writes, options)
    }

    /// `count` numbers of the inputs from `place`.
    fn input(&self, place: usize, count: usize) -> Range {
        self.inputs.range((place * 4) as u64, (count * 4) as u64)
    }

    fn embed(&mut self, table: &DeviceBuffer, form: MatrixForm, out: BufferId) -> Result<()> {
        let (rows, cols) = (self.bucket.rows, self.width(out));
        let tokens = self.places().tokens;
        let args = Args::new()
            .buffer(table, 0)
            .buffer(self.inputs, (tokens * 4) as u64)
            .buffer(&self.memory.arena, self.at(out, 0));
        let vocab = self.schedule.vocab_size as u32;
        let (kernel, args) = match form {
            MatrixForm::Quant(form) => (
                "mlxrocm_embed_quant".to_owned(),
                args.u32(form.bits as u32)
                    .u32(scales_number(form.scales))
                    .u32(form.group as u32)
                    .u32(vocab)
                    .u32(cols as u32),
            ),
            MatrixForm::Dense(ty) => (
                format!("mlxrocm_embed_{}", scalar_name(ty)),
                args.u32(vocab).u32(cols as u32),
            ),
        };
        let reads = [self.input(tokens, rows)];
        let writes = [self.range(out, 0, rows)];
        self.launch(&kernel, [rows as u32, 1, 1], 256, 0, args, &reads, &writes)
    }

    fn gather(&mut self, x: BufferId, out: BufferId) -> Result<()> {
        let wanted = self.places().wanted;
        let rows = self.bucket.wanted;
        let args = Args::new()
            .buffer(&self.memory.arena, self.at(x, 0))
            .buffer(self.inputs, (wanted * 4) as u64)
            .buffer(&self.memory.arena, self.at(out, 0))
            .u32(self.bucket.rows as u32)
            .u32(self.width(x) as u32);
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

    /// Where rows of a product go.
    fn target(&self, product: &Product, index: usize, row: usize, rows: usize) -> Result<Target> {
        let Some(id) = product.out else {
            let width = self.schedule.vocab_size;
            let bytes = |rows: usize| (rows * width * 4) as u64;
            return Ok(Target {
                buffer: self.memory.logits.clone(),
                offset: bytes(row),
                bytes: bytes(rows),
                width,
            });
        };
        let (width, mut offset) = (self.width(id), self.at(id, row));
        let mut buffer = &self.memory.arena;
        if index == 1
            && let Some(up) = &self.memory.up
        {
            buffer = up;
            offset = (row * width * 4) as u64;
        }
        Ok(Target {
            buffer: buffer.clone(),
            offset,
            bytes: (rows * width * 4) as u64,
            width,
        })
    }

    fn matmul(
        &mut self,
        launch: &Launch,
        x: BufferId,
        norm: Option<Norm>,
        products: &[Product],
        epilogue: Epilogue,
    ) -> Result<()> {
        let matrix = &launch.matrix;
        let facts = self.weights.device.facts();
        let all = self.rows(x);
        let at_once = matrix.form.rows_at_once(facts, matrix.cols).max(1);
        let number = match epilogue {
            Epilogue::Add(_) => 1,
            Epilogue::SwiGlu if launch.silu => 2,
            Epilogue::Store | Epilogue::SwiGlu => 0,
        };
        let works = if launch.silu {
            matrix.tiles / 2
        } else {
            matrix.tiles
        };
        let blocks = matrix.form.blocks(facts, works);
        let threads = matrix.form.threads(facts);
        let mut row = 0;
        while row < all {
            let rows = at_once.min(all - row);
            let lds = matrix.form.shared_bytes(facts, rows, matrix.cols);
            let kernel = matrix.form.kernel(rows);
            let mut args = Args::new()
                .buffer(&matrix.data, 0)
                .buffer(&self.memory.arena, self.at(x, row));
            let mut reads = vec![self.range(x, row, rows)];
            args = match norm.and_then(|n| self.weights.vectors.get(n.weight.0)) {
                Some(norm) => args.buffer(norm, 0),
                None => args.null(),
            };
            args = match &launch.bias {
                Some(bias) => args.buffer(bias, 0),
                None => args.null(),
            };
            args = match epilogue {
                Epilogue::Add(residual) => {
                    reads.push(self.range(residual, row, rows));
                    args.buffer(&self.memory.arena, self.at(residual, row))
                }
                _ => args.null(),
            };
            let mut writes = Vec::new();
            // A matrix of gate and up has one output.
            let outs = if launch.silu { 1 } else { launch.count };
            let (mut ends, mut widths, mut tiles) = ([0u32; 3], [0u32; 3], 0);
            for i in 0..3 {
                let index = launch.first + i;
                match products.get(index).filter(|_| i < outs) {
                    Some(product) => {
                        let unfused = epilogue == Epilogue::SwiGlu && !launch.silu;
                        let place = if unfused { index } else { 0 };
                        let target = self.target(product, place, row, rows)?;
                        args = args.buffer(&target.buffer, target.offset);
                        writes.push(target.buffer.range(target.offset, target.bytes));
                        widths[i] = target.width as u32;
                        tiles += target.width.div_ceil(TILE_ROWS) as u32;
                    }
                    None => args = args.null(),
                }
                ends[i] = tiles;
            }
            let args = args
                .u32(ends[0])
                .u32(ends[1])
                .u32(widths[0])
                .u32(widths[1])
                .u32(widths[2])
                .f32(norm.map_or(0.0, |n| n.eps))
                .u32(rows as u32)
                .u32(matrix.cols as u32)
                .u32(matrix.tiles as u32)
                .u32(number);
            self.launch(&kernel, [blocks, 1, 1], threads, lds, args, &reads, &writes)?;
            row += rows;
        }
        Ok(())
    }

    /// `silu(gate) · up` where the product could not do it.
    fn silu(&mut self, products: &[Product]) -> Result<()> {
        let (Some(gate), Some(up)) = (
            products.first().and_then(|p| p.out),
            self.memory.up.as_ref(),
        ) else {
            return Err(Error::Internal("gate and up have no place".into()));
        };
        let rows = self.rows(gate);
        let count = rows * self.width(gate);
        let args = Args::new()
            .buffer(&self.memory.arena, self.at(gate, 0))
            .buffer(up, 0)
            .buffer(&self.memory.arena, self.at(gate, 0))
            .u32(count as u32);
        let reads = [self.range(gate, 0, rows), up.whole()];
        let writes = [self.range(gate, 0, rows)];
        let grid = [count.div_ceil(256) as u32, 1, 1];
        self.launch("mlxrocm_silu_mul_f32", grid, 256, 0, args, &reads, &writes)
    }

    fn attend(&mut self, step: &Step) -> Result<()> {
        let Step::Attend {
            q,
            k,
            v,
            out,
            q_norm,
            k_norm,
            layer,
            shape,
        } = step
        else {
            return Ok(());
        };
        let (places, rope) = (self.places(), &self.schedule.rope);
        let page_stride = page_numbers(self.schedule.layers, shape) as u64;
        let layer_start = (layer * layer_numbers(shape)) as u64;
        let byte = |place: usize| (place * 4) as u64;
        let (pairs, interleaved) = (rope.inv_freq.len() as u32, u32::from(rope.interleaved));
        let (dim, kv_heads) = (shape.head_dim as u32, shape.kv_heads as u32);
        let norm_of = |args: Args, norm: &Option<Norm>| match norm
            .and_then(|n| self.weights.vectors.get(n.weight.0))
        {
            Some(norm) => args.buffer(norm, 0),
            None => args.null(),
        };
        let memory = self.memory;
        let args = Args::new()
            .buffer(&memory.arena, self.at(*k, 0))
            .buffer(&memory.arena, self.at(*v, 0))
            .buffer(&memory.cache, 0)
            .buffer(self.inputs, byte(places.positions))
            .buffer(self.inputs, byte(places.slots))
            .buffer(self.inputs, byte(places.pages));
        let args = norm_of(args, k_norm)
            .buffer(&memory.rope, 0)
            .u64(page_stride)
            .u64(layer_start)
            .u32(self.bucket.pages as u32)
            .u32(kv_heads)
            .u32(dim)
            .u32(pairs)
            .u32(interleaved)
            .f32(k_norm.map_or(0.0, |n| n.eps));
        let tokens = self.bucket.rows;
        let reads = [
            self.range(*k, 0, tokens),
            self.range(*v, 0, tokens),
            self.inputs.whole(),
        ];
        let grid = [tokens as u32, kv_heads, 1];
        let writes = [memory.cache.whole()];
        self.launch(
            "mlxrocm_attention_write",
            grid,
            64,
            0,
            args,
            &reads,
            &writes,
        )?;

        let kernel = match shape.head_dim {
            0..=32 => "mlxrocm_attention_paged_32",
            33..=64 => "mlxrocm_attention_paged_64",
            65..=128 => "mlxrocm_attention_paged_128",
            129..=256 => "mlxrocm_attention_paged_256",
            more => {
                let message = format!("heads of {more} columns: GPUs take at most 256");
                return Err(Error::Unsupported(message));
            }
        };
        let parts = (self.bucket.pages * PAGE_TOKENS).div_ceil(SPLIT);
        let groups = head_groups(shape) as u32;
        let at_once = (PARTS_BYTES / part_bytes(shape, parts)).max(1);
        let rows = self.rows(*q);
        let index = match self.schedule.buffers[q.0].rows {
            Rows::Tokens => places.all,
            Rows::Wanted => places.wanted,
        };
        let mut row = 0;
        while row < rows {
            let now = at_once.min(rows - row);
            let args = Args::new()
                .buffer(&memory.arena, self.at(*q, row))
                .buffer(&memory.arena, self.at(*out, row))
                .buffer(&memory.cache, 0)
                .buffer(self.inputs, byte(places.positions))
                .buffer(self.inputs, byte(places.slots))
                .buffer(self.inputs, byte(places.pages))
                .buffer(self.inputs, byte(index + row));
            let args = norm_of(args, q_norm)
                .buffer(&memory.rope, 0)
                .buffer(&memory.parts, 0)
                .buffer(&memory.counters, 0)
                .u64(page_stride)
                .u64(layer_start)
                .u32(self.bucket.pages as u32)
                .u32(shape.heads as u32)
                .u32(kv_heads)
                .u32(dim)
                .u32(pairs)
                .u32(interleaved)
                .u32(shape.window.unwrap_or(0) as u32)
                .f32(q_norm.map_or(0.0, |n| n.eps))
                .f32(shape.scale);
            let reads = [
                self.range(*q, row, now),
                memory.cache.whole(),
                self.inputs.whole(),
            ];
            let writes = [
                self.range(*out, row, now),
                memory.parts.whole(),
                memory.counters.whole(),
            ];
            let grid = [now as u32, groups, parts as u32];
            self.launch(kernel, grid, 128, 0, args, &reads, &writes)?;
            row += now;
        }
        Ok(())
    }
}

/// Where rows of a product go.
struct Target {
    buffer: DeviceBuffer,
    offset: u64,
    bytes: u64,
    width: usize,
}
