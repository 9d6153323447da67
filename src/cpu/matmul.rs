//! The matmul step: norm, activation quantization, all products of one input, epilogue.
//!
//! One row (decode): every worker prepares the row for itself instead of waiting for another, so a
//! step is one parallel region. Several rows: panels are prepared in parallel first.

use super::activations::{Activations, Panel};
use super::arena::ArenaView;
use super::executor::{CpuMatrix, LogitsPtr};
use super::kernels::{DenseTile, Kernels, Tile, Words};
use super::packed::TILE_ROWS;
use super::threads::ThreadPool;
use crate::step::{BufferId, Epilogue, Norm, Product};
use parking_lot::{Mutex, RwLock};

/// Token rows that a tile is used for before the next tile: their activations stay in L2.
const ROW_BLOCK: usize = 96;
/// Panels of a row block at the smallest panel size.
const MAX_PANELS: usize = ROW_BLOCK / 4;

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
    plain: Vec<f32>,
    /// The job the content belongs to, for a worker's own copy.
    job: u64,
}

/// What a worker needs between calls.
#[derive(Default)]
pub struct MatmulScratch {
    own: Prepared,
    normed: Vec<f32>,
    scales: Vec<[[f32; TILE_ROWS]; 2]>,
    results: [Vec<[f32; TILE_ROWS]>; 2],
    words: Option<Box<Words>>,
}

impl Matmul<'_> {
    fn matrix(&self, product: &Product) -> &CpuMatrix {
        &self.matrices[product.weight.0]
    }

    /// Runs the step. `job` is different for every step that runs on this scratch.
    pub fn run(
        &self,
        pool: &mut ThreadPool,
        scratch: &[Mutex<MatmulScratch>],
        shared: &RwLock<Prepared>,
        job: u64,
    ) {
        if self.rows == 0 {
            return;
        }
        let shared = if self.rows == 1 {
            None
        } else {
            let mut prepared = shared.write();
            self.reset(&mut prepared);
            let panels = prepared.quantized.panels();
            let prepared_view = &*prepared;
            pool.run(panels, &|worker, panel| {
                self.prepare(prepared_view, panel, &mut scratch[worker].lock().normed);
            });
            drop(prepared);
            Some(shared.read())
        };
        // SwiGLU takes tile i of both products at once; else the products' tiles in a row.
        let counted = match self.epilogue {
            Epilogue::SwiGlu => &self.products[..1],
            _ => self.products,
        };
        let tiles: usize = counted.iter().map(|p| self.matrix(p).tiles()).sum();
        // Several chunks a worker, so that a late or slow one does not hold up the others.
        let per_chunk = tiles.div_ceil(pool.threads() * 6).max(1);
        pool.run(tiles.div_ceil(per_chunk), &|worker, chunk| {
            let scratch = &mut *scratch[worker].lock();
            let range = chunk * per_chunk..((chunk + 1) * per_chunk).min(tiles);
            match &shared {
                Some(prepared) => self.tiles(counted, range, prepared, scratch),
                None => {
                    let mut own = std::mem::take(&mut scratch.own);
                    if own.job != job {
                        self.reset(&mut own);
                        self.prepare(&own, 0, &mut scratch.normed);
                        own.job = job;
                    }
                    self.tiles(counted, range, &own, scratch);
                    scratch.own = own;
                }
            }
        });
    }

    fn reset(&self, prepared: &mut Prepared) {
        let cols = self.arena.width(self.x);
        prepared
            .quantized
            .reset(self.rows, cols, self.kernels.panel);
        let any_dense = self
            .products
            .iter()
            .any(|p| matches!(self.matrix(p), CpuMatrix::Dense(_)));
        let plain = if any_dense { self.rows * cols } else { 0 };
        if prepared.plain.len() < plain {
            prepared.plain.resize(plain, 0.0);
        }
    }

    /// Norms and converts the rows of one panel. Called once a panel, so its writes are alone.
    fn prepare(&self, prepared: &Prepared, panel: usize, normed: &mut Vec<f32>) {
        let cols = self.arena.width(self.x);
        let quantized = self
            .products
            .iter()
            .any(|p| matches!(self.matrix(p), CpuMatrix::Packed(_)));
        normed.resize(cols, 0.0);
        // SAFETY: `x` is only read in this step; each panel is prepared by one worker before any
        // reads it; the kernels suit this CPU.
        unsafe {
            prepared.quantized.write_panel(panel, |row, to| {
                let mut x = self.arena.row(self.x, row);
                if let Some(norm) = self.norm {
                    (self.kernels.rms_norm)(x, &self.vectors[norm.weight.0], norm.eps, normed);
                    x = normed;
                }
                if quantized {
                    (self.kernels.quantize_row)(x, to);
                }
                if !prepared.plain.is_empty() {
                    let plain = prepared.plain[row * cols..][..cols].as_ptr().cast_mut();
                    std::ptr::copy_nonoverlapping(x.as_ptr(), plain, cols);
                }
            });
        }
    }

    fn tiles(
        &self,
        counted: &[Product],
        range: std::ops::Range<usize>,
        x: &Prepared,
        scratch: &mut MatmulScratch,
    ) {
        let panels_a_block = ROW_BLOCK / self.kernels.panel;
        let [mut first, mut second] = std::mem::take(&mut scratch.results);
        let mut panels = [Panel {
            ints: &[],
            meta: &[],
            rows: 0,
        }; MAX_PANELS];
        for block in (0..x.quantized.panels()).step_by(panels_a_block) {
            let n = panels_a_block.min(x.quantized.panels() - block);
            for (i, panel) in panels[..n].iter_mut().enumerate() {
                *panel = x.quantized.panel(block + i);
            }
            let panels = &panels[..n];
            let first_row = x.quantized.first_row(block);
            let rows = panels.iter().map(|p| p.rows).sum();
            first.resize(rows, [0.0; TILE_ROWS]);
            let (mut product, mut start) = (0, 0);
            for index in range.clone() {
                while index - start >= self.matrix(&counted[product]).tiles() {
                    start += self.matrix(&counted[product]).tiles();
                    product += 1;
                }
                let p = &counted[product];
                let tile = index - start;
                self.tile(p, tile, x, panels, first_row, scratch, &mut first);
                if self.epilogue == Epilogue::SwiGlu {
                    second.resize(rows, [0.0; TILE_ROWS]);
                    self.tile(
                        &self.products[1],
                        tile,
                        x,
                        panels,
                        first_row,
                        scratch,
                        &mut second,
                    );
                }
                self.store(p, tile, first_row, &first, &second);
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
        panels: &[Panel<'_>],
        first_row: usize,
        scratch: &mut MatmulScratch,
        out: &mut [[f32; TILE_ROWS]],
    ) {
        match self.matrix(product) {
            CpuMatrix::Packed(weight) => {
                let (section, codes) = weight.tile(tile);
                let words = scratch
                    .words
                    .get_or_insert_with(|| Box::new(Words([0; 512])));
                // SAFETY: the kernels table was chosen for this CPU.
                unsafe {
                    let scales = &mut scratch.scales;
                    (self.kernels.expand_scales)(weight.form, section, weight.cols, scales);
                    let operands = Tile {
                        codes,
                        bits: weight.form.bits,
                        scales,
                        halves: weight.form.group < 32,
                    };
                    (self.kernels.matmul_tile)(&operands, panels, words, out);
                }
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
                let x = &x.plain[first_row * weight.cols..][..out.len() * weight.cols];
                // SAFETY: the kernels table was chosen for this CPU.
                unsafe { (self.kernels.dense_tile)(&operands, x, out) };
            }
        }
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
        first: &[[f32; TILE_ROWS]],
        second: &[[f32; TILE_ROWS]],
    ) {
        let column = tile * TILE_ROWS;
        let len = TILE_ROWS.min(self.matrix(product).rows() - column);
        for (r, values) in first.iter().enumerate() {
            let row = first_row + r;
            // SAFETY: this chunk alone writes these columns of the outputs; a residual is only read.
            unsafe {
                let out = match product.out {
                    Some(id) => self.arena.write(id, row, column, len),
                    None => self.logits.write(row, column, len),
                };
                match self.epilogue {
                    Epilogue::Store => out.copy_from_slice(&values[..len]),
                    Epilogue::Add(residual) => {
                        let residual = &self.arena.row(residual, row)[column..column + len];
                        for ((out, r), v) in out.iter_mut().zip(residual).zip(values) {
                            *out = r + v;
                        }
                    }
                    Epilogue::SwiGlu => {
                        (self.kernels.swiglu)(&values[..len], &second[r][..len], out)
                    }
                }
            }
        }
    }
}
