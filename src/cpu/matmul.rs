//! The matmul step: norm, activation quantization, all products of one input, epilogue.
//!
//! One row (decode, `few_rows`): every worker prepares the row for itself instead of waiting for
//! another, so a step is one parallel region. Several rows: they are prepared in parallel first, as panels if they are
//! not few.

mod experts;
mod few_rows;

pub use experts::{ExpertScratch, Experts};
use few_rows::FEW_ROWS;

use super::activations::{Activations, GROUP_ROWS, Group};
use super::arena::ArenaView;
use super::executor::LogitsPtr;
use super::kernels::{DenseTile, Kernels, Tile, TileScratch};
use super::packed::{PackedWeight, TILE_ROWS};
use super::shared::SharedVec;
use super::threads::ThreadPool;
use super::weights::CpuMatrix;
use crate::step::{BufferId, Epilogue, Norm, Product};
use parking_lot::Mutex;
use std::ops::Range;

/// Token rows that one worker prepares at a time.
const PREPARE_ROWS: usize = 8;

/// One matmul step.
pub struct Matmul<'a> {
    pub kernels: &'static Kernels,
    pub arena: ArenaView<'a>,
    pub matrices: &'a [CpuMatrix],
    pub vectors: &'a [Vec<f32>],
    pub x: BufferId,
    pub rows: usize,
    pub norm: Option<Norm>,
    pub products: &'a [Product],
    pub epilogue: Epilogue,
    pub logits: LogitsPtr,
}

/// Prepared inputs: quantized, plain, or both, as the products need.
#[derive(Debug, Default)]
pub struct Prepared {
    quantized: Activations,
    plain: SharedVec<f32>,
    /// Some product is quantized, some is dense.
    uses: (bool, bool),
    /// The job the content belongs to, for a worker's own copy.
    job: u64,
}

/// What the workers share of a step's input.
#[derive(Debug, Default)]
pub struct Inputs {
    /// Rows that are taken one by one.
    few: [Prepared; FEW_ROWS],
    several: Prepared,
}

/// What a worker needs between calls.
#[derive(Default)]
pub struct MatmulScratch {
    own: Prepared,
    normed: Vec<f32>,
    tile: TileScratch,
    results: [Vec<[f32; TILE_ROWS]>; 2],
}

impl Matmul<'_> {
    fn matrix(&self, product: &Product) -> &CpuMatrix {
        &self.matrices[product.weight.0]
    }

    /// Runs the step. `job` is different for every step that runs on this scratch; `inputs` is what the
    /// workers share.
    pub fn run(
        &self,
        pool: &mut ThreadPool,
        scratch: &[Mutex<MatmulScratch>],
        inputs: &mut Inputs,
        job: u64,
    ) {
        match self.rows {
            0 => {}
            1 => self.one_row(pool, scratch, job),
            2..=FEW_ROWS => self.few_rows(pool, scratch, &mut inputs.few[..self.rows]),
            _ => self.several_rows(pool, scratch, &mut inputs.several),
        }
    }

    /// The products whose tiles are counted: SwiGLU takes tile i of both products at once, else the
    /// products' tiles are in a row.
    fn counted(&self) -> &[Product] {
        match self.epilogue {
            Epilogue::SwiGlu => &self.products[..1],
            _ => self.products,
        }
    }

    fn counted_tiles(&self) -> usize {
        self.counted().iter().map(|p| self.matrix(p).tiles()).sum()
    }

    /// The product and the tile in it of a counted tile.
    fn place(&self, index: usize) -> (&Product, usize) {
        let mut rest = index;
        for product in self.counted() {
            let tiles = self.matrix(product).tiles();
            if rest < tiles {
                return (product, rest);
            }
            rest -= tiles;
        }
        panic!("tile {index} is outside the products");
    }

    fn several_rows(
        &self,
        pool: &mut ThreadPool,
        scratch: &[Mutex<MatmulScratch>],
        prepared: &mut Prepared,
    ) {
        self.reset(prepared, self.rows);
        let prepared = &*prepared;
        pool.run(self.rows.div_ceil(PREPARE_ROWS), &|worker, chunk| {
            let normed = &mut scratch[worker].lock().normed;
            let first = chunk * PREPARE_ROWS;
            let rows = first..(first + PREPARE_ROWS).min(self.rows);
            self.prepare(prepared, rows, 0, normed);
        });
        let tiles = self.counted_tiles();
        // Several chunks a worker, so that a late or slow one does not hold up the others: the time
        // of one chunk is what they wait for each other. Of many rows, fewer: a chunk's tiles
        // share the rows in L2.
        let chunks = pool.threads() * if self.rows < 6 { 16 } else { 6 };
        let per_chunk = tiles.div_ceil(chunks).max(1);
        pool.run(tiles.div_ceil(per_chunk), &|worker, chunk| {
            let range = chunk * per_chunk..((chunk + 1) * per_chunk).min(tiles);
            self.tiles(range, prepared, &mut scratch[worker].lock());
        });
    }

    fn reset(&self, prepared: &mut Prepared, rows: usize) {
        let uses = needs(self.matrices, self.products);
        let cols = self.arena.width(self.x);
        prepared.start(rows, cols, self.kernels.panel, uses);
    }

    /// Norms and converts rows, which are those of `x` from `offset` on. Called once a row, so its writes are alone.
    fn prepare(
        &self,
        prepared: &Prepared,
        rows: Range<usize>,
        offset: usize,
        normed: &mut Vec<f32>,
    ) {
        let cols = self.arena.width(self.x);
        if self.norm.is_some() && normed.len() < rows.len() * cols {
            normed.resize(rows.len() * cols, 0.0);
        }
        // SAFETY: `x` is only read in this step; each row is prepared by one worker before any
        // reads it; the kernels suit this CPU.
        unsafe {
            if let Some(norm) = self.norm {
                for (row, normed) in rows.clone().zip(normed.chunks_exact_mut(cols)) {
                    let x = self.arena.row(self.x, offset + row);
                    (self.kernels.rms_norm)(x, &self.vectors[norm.weight.0], norm.eps, normed);
                }
            }
            let first = rows.start;
            let x = |row: usize| match self.norm {
                Some(_) => &normed[(row - first) * cols..][..cols],
                None => self.arena.row(self.x, offset + row),
            };
            fill(prepared, self.kernels, cols, rows, x);
        }
    }

    fn tiles(&self, range: Range<usize>, x: &Prepared, scratch: &mut MatmulScratch) {
        let [mut first, mut second] = std::mem::take(&mut scratch.results);
        for index in 0..x.quantized.groups() {
            // SAFETY: all rows were prepared before this job began.
            let group = unsafe { x.quantized.group(index) };
            first.resize(group.rows, [0.0; TILE_ROWS]);
            let first_row = index * GROUP_ROWS;
            for index in range.clone() {
                let (p, tile) = self.place(index);
                self.tile(p, tile, x, &group, first_row, &mut scratch.tile, &mut first);
                if self.epilogue == Epilogue::SwiGlu {
                    second.resize(group.rows, [0.0; TILE_ROWS]);
                    let up = &self.products[1];
                    let to = &mut second;
                    self.tile(up, tile, x, &group, first_row, &mut scratch.tile, to);
                    let (gate, up) = (first.as_flattened_mut(), second.as_flattened());
                    // SAFETY: the kernels table was chosen for this CPU.
                    unsafe { (self.kernels.swiglu)(gate, up) };
                }
                self.store(p, tile, first_row, &first);
            }
        }
        scratch.results = [first, second];
    }

    /// `out[row][lane]` = tile of the product, bias added.
    #[allow(clippy::too_many_arguments)] // one call site's locals, grouped they would hide the flow
    fn tile(
        &self,
        product: &Product,
        tile: usize,
        x: &Prepared,
        group: &Group<'_>,
        first_row: usize,
        scratch: &mut TileScratch,
        out: &mut [[f32; TILE_ROWS]],
    ) {
        match self.matrix(product) {
            CpuMatrix::Packed(weight) => {
                let tile = operands(weight, tile);
                // SAFETY: the kernels table was chosen for this CPU.
                unsafe { (self.kernels.matmul_tile)(&tile, group, scratch, out) };
            }
            CpuMatrix::Dense(weight) => {
                let first = tile * TILE_ROWS;
                let rows = TILE_ROWS.min(weight.rows - first);
                let row_bytes = weight.data.len() / weight.rows;
                let operands = DenseTile {
                    ty: weight.ty,
                    data: &weight.data[first * row_bytes..(first + rows) * row_bytes],
                    rows,
                    cols: weight.cols,
                };
                let from = first_row * weight.cols;
                // SAFETY: all rows were prepared before this job began; the kernels suit this CPU.
                unsafe {
                    let x = x.plain.read(from..from + out.len() * weight.cols);
                    (self.kernels.dense_tile)(&operands, x, out);
                }
            }
        }
        self.add_bias(product, tile, out);
    }

    fn add_bias(&self, product: &Product, tile: usize, out: &mut [[f32; TILE_ROWS]]) {
        if let Some(bias) = product.bias {
            let bias = &self.vectors[bias.0][tile * TILE_ROWS..];
            for out in out {
                out.iter_mut().zip(bias).for_each(|(o, b)| *o += b);
            }
        }
    }

    /// The epilogue of one tile.
    fn store(
        &self,
        product: &Product,
        tile: usize,
        first_row: usize,
        results: &[[f32; TILE_ROWS]],
    ) {
        let column = tile * TILE_ROWS;
        let len = TILE_ROWS.min(self.matrix(product).rows() - column);
        for (r, values) in results.iter().enumerate() {
            let row = first_row + r;
            // SAFETY: this chunk alone writes these columns of the outputs; a residual is only read.
            unsafe {
                let out = match product.out {
                    Some(id) => self.arena.write(id, row, column, len),
                    None => self.logits.write(row, column, len),
                };
                let residual = match self.epilogue {
                    Epilogue::Add(id) => Some(&self.arena.row(id, row)[column..column + len]),
                    Epilogue::Store | Epilogue::SwiGlu => None,
                };
                put(out, values, residual);
            }
        }
    }
}

/// Whether some matrix is quantized, and whether some is not.
fn needs(matrices: &[CpuMatrix], products: &[Product]) -> (bool, bool) {
    let is_dense = |p: &Product| matches!(matrices[p.weight.0], CpuMatrix::Dense(_));
    let all_dense = products.iter().all(is_dense);
    (!all_dense, products.iter().any(is_dense))
}

impl Prepared {
    /// Makes room for `rows` of `cols`, in the forms that are used.
    fn start(&mut self, rows: usize, cols: usize, panel: usize, uses: (bool, bool)) {
        self.quantized.reset(rows, cols, panel);
        self.uses = uses;
        if uses.1 {
            self.plain.grow(rows * cols);
        }
    }
}

/// Converts rows.
///
/// # Safety
/// Each row is prepared by one worker before any reads it; the kernels suit this CPU.
#[inline(always)]
unsafe fn fill<'x>(
    prepared: &Prepared,
    kernels: &Kernels,
    cols: usize,
    rows: Range<usize>,
    x: impl Fn(usize) -> &'x [f32],
) {
    let quantized = &prepared.quantized;
    let mut row = rows.start;
    // SAFETY: by contract.
    unsafe {
        while prepared.uses.0 && row < rows.end {
            match quantized.four_rows_target(row) {
                Some(to) if row + 4 <= rows.end => {
                    let x = [x(row), x(row + 1), x(row + 2), x(row + 3)];
                    (kernels.quantize_four)(x, to);
                    row += 4;
                }
                _ => {
                    (kernels.quantize_row)(x(row), quantized.row_target(row));
                    row += 1;
                }
            }
        }
        if prepared.uses.1 {
            for row in rows {
                let to = prepared.plain.write(row * cols..(row + 1) * cols);
                to.copy_from_slice(x(row));
            }
        }
    }
}

/// A tile as the kernels take it.
#[inline(always)]
fn operands(weight: &PackedWeight, tile: usize) -> Tile<'_> {
    let (section, codes) = weight.tile(tile);
    Tile {
        form: weight.form,
        section,
        codes,
    }
}

/// `out = values (+ residual)`, of which there are up to a tile's row.
#[inline(always)]
fn put(out: &mut [f32], values: &[f32; TILE_ROWS], residual: Option<&[f32]>) {
    // Whole rows, nearly all, as arrays: without a call or a loop over a run-time length.
    let whole = out.first_chunk_mut::<TILE_ROWS>();
    match (whole, residual.map(|r| r.first_chunk::<TILE_ROWS>())) {
        (Some(out), None) => *out = *values,
        (Some(out), Some(Some(residual))) => {
            *out = std::array::from_fn(|i| residual[i] + values[i]);
        }
        _ => {
            for (i, out) in out.iter_mut().enumerate() {
                *out = residual.map_or(values[i], |r| r[i] + values[i]);
            }
        }
    }
}
