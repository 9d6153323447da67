//! How many blocks a launch of a matrix product has.

use super::matmul::{BLOCK_THREADS, MatrixForm, SET_ROWS, dense_rows, is_cdna};
use super::pack::TILE_ROWS;
use crate::driver::{DeviceFacts, Platform};
use crate::gpu::constants::matmul_rows_pieces;

/// Rows of a dense matrix of a block on NVIDIA.
const DENSE_EACH: usize = matmul_rows_pieces::ROWS_EACH;
/// The most blocks of a product of few rows, a compute unit.
const FEW_BLOCKS: usize = 8;
/// Blocks of a product of one row that registers leave room for in a compute unit of CDNA; of kernels for many columns one.
const CDNA_BLOCKS: usize = 4;

impl MatrixForm {
    /// Blocks of a launch of `rows` rows over `works` tiles (or pairs of tiles, if they are taken by pairs), for each
    /// part of the columns.
    pub fn blocks(self, facts: &DeviceFacts, (rows, cols): (usize, usize), works: usize) -> u32 {
        if self.is_in_pieces(cols) {
            return self.blocks_in_pieces(facts, rows, works);
        }
        let splits = self.column_splits(facts, cols);
        if rows == 1 && is_cdna(facts) && matches!(self, MatrixForm::Quant(_)) {
            // As many as run at once, each with as many tiles: those that came later would prepare x once more
            // and leave units idle at the end.
            let at_once = self.local_memory(facts) / self.shared_bytes(facts, 1, cols).max(1);
            let units = facts.compute_units.max(1) as usize;
            let most = match self.is_wide(facts, cols) {
                true => 1,
                false => CDNA_BLOCKS,
            };
            let places = (units * at_once.clamp(1, most) / splits).max(1);
            let mut tiles = works.div_ceil(places).max(1);
            // Where a unit would have four blocks of one tile it has two of two: as even, and x is prepared half as often.
            if tiles == 1 && works.div_ceil(units) == 4 && works.div_ceil(2).div_ceil(units) == 2 {
                tiles = 2;
            }
            return works.div_ceil(tiles).max(1) as u32;
        }
        if self.is_by_pairs(facts, rows) {
            return works.max(1) as u32;
        }
        works.clamp(1, self.most_blocks(facts).div_ceil(splits)) as u32
    }

    /// Blocks of a launch of `hip/ops/matmul/rows_pieces.hip`: on CDNA as many as run at once, each with as many
    /// rows, else one for the rows of its waves; on NVIDIA one for each few rows, of each set of rows of x.
    fn blocks_in_pieces(self, facts: &DeviceFacts, rows: usize, tiles: usize) -> u32 {
        let most = dense_rows(rows);
        if facts.platform == Platform::Cuda {
            return ((tiles * TILE_ROWS).div_ceil(DENSE_EACH) * rows.div_ceil(most)) as u32;
        }
        // `WAVE_ROWS` there.
        let wave_rows = match facts.arch.starts_with("gfx90a") && most == SET_ROWS {
            true => 8,
            false => 4,
        };
        let waves = BLOCK_THREADS as usize / facts.wave_size as usize;
        let blocks = (tiles * TILE_ROWS).div_ceil(waves * wave_rows).max(1);
        if !is_cdna(facts) {
            return blocks as u32;
        }
        let at_once = if most == SET_ROWS {
            CDNA_BLOCKS / 2
        } else {
            CDNA_BLOCKS
        };
        let places = facts.compute_units.max(1) as usize * at_once;
        blocks.div_ceil(blocks.div_ceil(places)) as u32
    }

    /// Blocks of each of `items` products of one launch over `works` tiles (or pairs of tiles).
    pub fn blocks_of_each(self, facts: &DeviceFacts, works: usize, items: usize) -> u32 {
        // Rounded down: a block more than fit at once would double the time.
        works.clamp(1, (self.most_blocks(facts) / items).max(1)) as u32
    }

    fn most_blocks(self, facts: &DeviceFacts) -> usize {
        let units = facts.compute_units.max(1) as usize;
        match (self, facts.platform) {
            // One block a multiprocessor: its ring fills the shared memory.
            (MatrixForm::Quant(_), Platform::Cuda) => units,
            _ => units * FEW_BLOCKS,
        }
    }
}
