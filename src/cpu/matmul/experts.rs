//! Products with the matrices of a stack that each row chooses (mixtures of experts).
//!
//! Pairs (row, chosen matrix) are sorted by matrix, so that each matrix is read once, and only those that
//! some row chose. Rows of a matrix are prepared together and multiplied as in any product: a row's result
//! does not depend on the others. Weighted sums are taken at the end, in the order of a row's choices.

use super::{Matmul, MatmulScratch, PREPARE_ROWS, Prepared, fill, needs};
use crate::cpu::activations::GROUP_ROWS;
use crate::cpu::executor::LogitsPtr;
use crate::cpu::kernels::STREAMS;
use crate::cpu::packed::TILE_ROWS;
use crate::cpu::shared::SharedVec;
use crate::cpu::threads::ThreadPool;
use crate::cpu::weights::CpuMatrix;
use crate::cpu::{arena::ArenaView, kernels::Kernels};
use crate::step::{BufferId, Epilogue, ExpertProducts};
use crate::{Error, Result};
use parking_lot::Mutex;
use std::ops::Range;

/// What lives from call to call.
#[derive(Default)]
pub struct ExpertScratch {
    /// Inputs of each chosen matrix' rows.
    prepared: Vec<Prepared>,
    /// Pairs, as `row · chosen + choice`, by matrix.
    pairs: Vec<usize>,
    /// Results of pairs before they are summed.
    results: SharedVec<f32>,
}

/// One step.
pub struct Experts<'a> {
    pub kernels: &'static Kernels,
    pub arena: ArenaView<'a>,
    pub matrices: &'a [CpuMatrix],
    pub vectors: &'a [Vec<f32>],
    pub step: &'a ExpertProducts,
    pub rows: usize,
    pub logits: LogitsPtr,
}

/// A matrix that was chosen, and its pairs.
struct Active {
    matrix: usize,
    pairs: Range<usize>,
}

impl Experts<'_> {
    /// Runs the step.
    ///
    /// # Errors
    /// `Internal` if the index names a matrix that is not there.
    pub fn run(
        &self,
        pool: &mut ThreadPool,
        scratch: &[Mutex<MatmulScratch>],
        state: &mut ExpertScratch,
    ) -> Result<()> {
        let ExpertScratch {
            prepared,
            pairs,
            results,
        } = state;
        let active = self.sort(pairs)?;
        let own = if self.step.own { self.step.chosen } else { 1 };
        let cols = self.arena.width(self.step.x) / own;
        let uses = needs(self.matrices, &self.step.products);
        prepared.resize_with(prepared.len().max(active.len()), Prepared::default);
        for (prepared, active) in prepared.iter_mut().zip(&active) {
            prepared.start(active.pairs.len(), cols, self.kernels.panel, uses);
        }
        if self.step.weights.is_some() {
            results.grow(pairs.len() * self.out_rows());
        }
        let (prepared, pairs, results) = (&*prepared, &*pairs, &*results);
        let pieces: Vec<(usize, Range<usize>)> = active
            .iter()
            .enumerate()
            .flat_map(|(place, active)| {
                let count = active.pairs.len();
                let piece = move |from: usize| (place, from..(from + PREPARE_ROWS).min(count));
                (0..count).step_by(PREPARE_ROWS).map(piece)
            })
            .collect();
        pool.run(pieces.len(), &|worker, piece| {
            let (place, rows) = pieces[piece].clone();
            let pairs = &pairs[active[place].pairs.clone()];
            let normed = &mut scratch[worker].lock().normed;
            // SAFETY: x was written by an earlier step; each row is prepared once, before any product; the
            // kernels suit this CPU.
            unsafe {
                if let Some(norm) = self.step.norm {
                    normed.resize(normed.len().max(rows.len() * cols), 0.0);
                    for (row, to) in rows.clone().zip(normed.chunks_exact_mut(cols)) {
                        let (x, weight) = (self.x(pairs[row], cols), &self.vectors[norm.weight.0]);
                        (self.kernels.rms_norm)(x, weight, norm.eps, to);
                    }
                }
                let first = rows.start;
                let x = |row: usize| match self.step.norm {
                    Some(_) => &normed[(row - first) * cols..][..cols],
                    None => self.x(pairs[row], cols),
                };
                fill(&prepared[place], self.kernels, cols, rows, x);
            }
        });
        let tiles = self.out_rows() / TILE_ROWS;
        let per_chunk = (tiles * active.len())
            .div_ceil(pool.threads() * 16)
            .clamp(1, tiles);
        let chunks = tiles.div_ceil(per_chunk);
        pool.run(active.len() * chunks, &|worker, chunk| {
            let (active_place, chunk) = (chunk / chunks, chunk % chunks);
            let range = chunk * per_chunk..((chunk + 1) * per_chunk).min(tiles);
            let active = &active[active_place];
            let pairs = &pairs[active.pairs.clone()];
            let x = &prepared[active_place];
            self.tiles(
                active.matrix,
                range,
                pairs,
                x,
                results,
                &mut scratch[worker].lock(),
            );
        });
        if let Some(weights) = self.step.weights {
            pool.run(self.rows, &|_, row| self.sum(weights, row, results));
        }
        Ok(())
    }

    /// Rows of one matrix of a stack.
    fn out_rows(&self) -> usize {
        self.matrices[self.step.products[0].weight.0].rows() / self.step.experts
    }

    /// Sorts pairs by matrix; returns the matrices that were chosen.
    fn sort(&self, pairs: &mut Vec<usize>) -> Result<Vec<Active>> {
        let chosen = self.step.chosen;
        let mut counts = vec![0usize; self.step.experts];
        let index = |row: usize| {
            // SAFETY: the index was written by an earlier step.
            unsafe { self.arena.row(self.step.index, row) }
        };
        for row in 0..self.rows {
            for &matrix in index(row) {
                let matrix = matrix.to_bits() as usize;
                *counts.get_mut(matrix).ok_or_else(|| {
                    let experts = self.step.experts;
                    Error::Internal(format!("expert {matrix} of {experts} was chosen"))
                })? += 1;
            }
        }
        let mut active = Vec::new();
        let mut starts = vec![0; counts.len()];
        let mut start = 0;
        for (matrix, &count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            starts[matrix] = start;
            active.push(Active {
                matrix,
                pairs: start..start + count,
            });
            start += count;
        }
        pairs.clear();
        pairs.resize(start, 0);
        for row in 0..self.rows {
            for (choice, matrix) in index(row).iter().enumerate() {
                let start = &mut starts[matrix.to_bits() as usize];
                pairs[*start] = row * chosen + choice;
                *start += 1;
            }
        }
        Ok(active)
    }

    /// The input of a pair: its row's, or its own.
    fn x(&self, pair: usize, cols: usize) -> &[f32] {
        let (row, choice) = (pair / self.step.chosen, pair % self.step.chosen);
        // SAFETY: x is only read in this step.
        let x = unsafe { self.arena.row(self.step.x, row) };
        match self.step.own {
            false => x,
            true => &x[choice * cols..][..cols],
        }
    }

    /// Tiles of one matrix (of both, gate and up) times its rows.
    fn tiles(
        &self,
        matrix: usize,
        range: Range<usize>,
        pairs: &[usize],
        x: &Prepared,
        results: &SharedVec<f32>,
        scratch: &mut MatmulScratch,
    ) {
        let products = &self.step.products;
        let matmul = Matmul {
            kernels: self.kernels,
            arena: self.arena,
            matrices: self.matrices,
            vectors: self.vectors,
            x: self.step.x,
            rows: pairs.len(),
            norm: None,
            products,
            epilogue: Epilogue::Store,
            logits: self.logits,
        };
        let first_tile = matrix * (self.out_rows() / TILE_ROWS);
        let two = products.len() == 2;
        if let [pair] = *pairs {
            let at_once = STREAMS / products.len();
            for from in range.clone().step_by(at_once) {
                let count = at_once.min(range.end - from);
                let mut tiles = [(&products[0], 0); STREAMS];
                for i in 0..count {
                    tiles[i].1 = first_tile + from + i;
                    if two {
                        tiles[count + i] = (&products[1], first_tile + from + i);
                    }
                }
                let mut out = [[0.0; TILE_ROWS]; STREAMS];
                let all = &tiles[..count * products.len()];
                // SAFETY: the row was prepared before this job began.
                let group = unsafe { x.quantized.group(0) };
                let row = (std::slice::from_ref(x), std::slice::from_ref(&group));
                let to = std::slice::from_mut(&mut out);
                matmul.rows_tiles(all, row, &mut scratch.tile, to);
                let (gate, up) = out.split_at_mut(count);
                if two {
                    let (gate, up) = (gate.as_flattened_mut(), up[..count].as_flattened());
                    self.gated(gate, up);
                }
                for (i, values) in gate.iter().enumerate() {
                    self.store(pair, from + i, values, results);
                }
            }
            return;
        }
        let [mut first, mut second] = std::mem::take(&mut scratch.results);
        for index in 0..x.quantized.groups() {
            // SAFETY: all rows were prepared before this job began.
            let group = unsafe { x.quantized.group(index) };
            let first_row = index * GROUP_ROWS;
            first.resize(group.rows, [0.0; TILE_ROWS]);
            for at in range.clone() {
                let (tile, to) = (first_tile + at, &mut first);
                let own = &mut scratch.tile;
                matmul.tile(&products[0], tile, x, &group, first_row, own, to);
                if two {
                    second.resize(group.rows, [0.0; TILE_ROWS]);
                    let (own, to) = (&mut scratch.tile, &mut second);
                    matmul.tile(&products[1], tile, x, &group, first_row, own, to);
                    let (gate, up) = (first.as_flattened_mut(), second.as_flattened());
                    self.gated(gate, up);
                }
                for (values, &pair) in first.iter().zip(&pairs[first_row..]) {
                    self.store(pair, at, values, results);
                }
            }
        }
        scratch.results = [first, second];
    }

    /// `gate` becomes what the gate lets through of `up`.
    fn gated(&self, gate: &mut [f32], up: &[f32]) {
        // SAFETY: the kernels table was chosen for this CPU.
        unsafe {
            match self.step.limit {
                Some(limit) => (self.kernels.swiglu_clamped)(gate, up, limit),
                None => (self.kernels.swiglu)(gate, up),
            }
        }
    }

    /// Stores a tile's numbers of a pair.
    fn store(&self, pair: usize, tile: usize, values: &[f32; TILE_ROWS], results: &SharedVec<f32>) {
        let (width, column) = (self.out_rows(), tile * TILE_ROWS);
        // SAFETY: this chunk alone writes these columns of this pair.
        unsafe {
            let to = match self.step.weights {
                Some(_) => results.write(pair * width + column..pair * width + column + TILE_ROWS),
                None => {
                    let (row, choice) = (pair / self.step.chosen, pair % self.step.chosen);
                    let column = choice * width + column;
                    self.arena.write(self.step.out, row, column, TILE_ROWS)
                }
            };
            to.copy_from_slice(values);
        }
    }

    /// `Σ weight_k · result_k` of a row, and the residual.
    fn sum(&self, weights: BufferId, row: usize, results: &SharedVec<f32>) {
        let (chosen, width) = (self.step.chosen, self.out_rows());
        // SAFETY: weights and results were written before; this chunk alone writes this row.
        let (weights, out) = unsafe {
            let out = self.arena.write(self.step.out, row, 0, width);
            (self.arena.row(weights, row), out)
        };
        match self.step.residual {
            // SAFETY: an earlier step's result, or the same row of this one's, which this chunk alone writes.
            Some(residual) if residual != self.step.out => unsafe {
                out.copy_from_slice(self.arena.row(residual, row));
            },
            Some(_) => {}
            None => out.fill(0.0),
        }
        for (choice, &weight) in weights.iter().enumerate() {
            let first = (row * chosen + choice) * width;
            // SAFETY: as above.
            let result = unsafe { results.read(first..first + width) };
            out.iter_mut()
                .zip(result)
                .for_each(|(out, &y)| *out += weight * y);
        }
    }
}
