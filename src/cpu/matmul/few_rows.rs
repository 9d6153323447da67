//! The matmul step of few token rows (decode).
//!
//! A core reads several streams through memory faster than one, so every worker's share of the tiles
//! is read in [`STREAMS`] streams, a tile of each at once.

use super::{Matmul, MatmulScratch, Prepared, operands};
use crate::cpu::activations::Group;
use crate::cpu::kernels::{RowOut, STREAMS, Tile, TileScratch};
use crate::cpu::packed::TILE_ROWS;
use crate::cpu::threads::ThreadPool;
use crate::cpu::weights::CpuMatrix;
use crate::step::{Epilogue, Product};
use parking_lot::Mutex;

/// Rows that are taken so: more are faster where a block is unpacked once for all of them.
pub const FEW_ROWS: usize = 4;
/// Chunks of a worker's share: what another waits for its last one at most is the time of a chunk.
const CHUNKS: usize = 16;

/// Multiplies a share of tiles with prepared rows.
type Take<'a> = &'a mut dyn FnMut(&[Prepared], &mut TileScratch);

impl Matmul<'_> {
    /// One row: every worker prepares it for itself.
    pub(super) fn one_row(
        &self,
        pool: &mut ThreadPool,
        scratch: &[Mutex<MatmulScratch>],
        job: u64,
    ) {
        self.in_streams(pool, &|worker, take| {
            let MatmulScratch {
                own, normed, tile, ..
            } = &mut *scratch[worker].lock();
            if own.job != job {
                self.reset(own, 1);
                self.prepare(own, 0..1, 0, normed);
                own.job = job;
            }
            take(std::slice::from_ref(own), tile);
        });
    }

    /// Up to [`FEW_ROWS`].
    pub(super) fn few_rows(
        &self,
        pool: &mut ThreadPool,
        scratch: &[Mutex<MatmulScratch>],
        prepared: &mut [Prepared],
    ) {
        prepared.iter_mut().for_each(|one| self.reset(one, 1));
        let prepared = &*prepared;
        pool.run(prepared.len(), &|worker, row| {
            let normed = &mut scratch[worker].lock().normed;
            self.prepare(&prepared[row], 0..1, row, normed);
        });
        self.in_streams(pool, &|worker, take| {
            take(prepared, &mut scratch[worker].lock().tile);
        });
    }

    /// Lets each worker take its share of tiles, by a function that is given what to do with the prepared rows.
    fn in_streams(&self, pool: &mut ThreadPool, work: &(dyn Fn(usize, Take<'_>) + Sync)) {
        let tiles = self.counted_tiles();
        let shares = pool.threads();
        // SwiGLU's two products have streams of their own.
        let streams = match self.epilogue {
            Epilogue::SwiGlu => STREAMS / 2,
            Epilogue::Store | Epilogue::Add(_) => STREAMS,
        };
        let steps = tiles.div_ceil(shares).div_ceil(streams);
        let chunks = steps.min(CHUNKS);
        pool.run(shares * chunks, &|worker, chunk| {
            let (share, chunk) = (chunk / chunks, chunk % chunks);
            let first = share * tiles / shares;
            let len = (share + 1) * tiles / shares - first;
            work(worker, &mut |rows, scratch| {
                // SAFETY: the rows were prepared before.
                let groups = rows.iter().map(|x| unsafe { x.quantized.group(0) });
                let groups: Vec<Group<'_>> = groups.collect();
                for step in chunk * steps / chunks..(chunk + 1) * steps / chunks {
                    let mut places = [0; STREAMS];
                    let mut count = 0;
                    for stream in 0..streams {
                        let place = first + stream * len / streams + step;
                        if place < first + (stream + 1) * len / streams {
                            places[count] = place;
                            count += 1;
                        }
                    }
                    self.step(&places[..count], (rows, &groups), scratch);
                }
            });
        });
    }

    /// Counted tiles, each from another stream, times the rows.
    fn step(&self, places: &[usize], rows: (&[Prepared], &[Group<'_>]), scratch: &mut TileScratch) {
        let n = places.len();
        if n == 0 {
            return;
        }
        let mut tiles = [(&self.products[0], 0); STREAMS];
        for (i, &place) in places.iter().enumerate() {
            tiles[i] = self.place(place);
            if self.epilogue == Epilogue::SwiGlu {
                tiles[n + i] = (&self.products[1], place);
            }
        }
        let mut results = [[[0.0; TILE_ROWS]; STREAMS]; FEW_ROWS];
        let results = &mut results[..rows.0.len()];
        let count = if self.epilogue == Epilogue::SwiGlu {
            2 * n
        } else {
            n
        };
        self.rows_tiles(&tiles[..count], rows, scratch, results);
        for (row, results) in results.iter_mut().enumerate() {
            if self.epilogue == Epilogue::SwiGlu {
                let (gate, up) = results.split_at_mut(n);
                let (gate, up) = (gate.as_flattened_mut(), up[..n].as_flattened());
                // SAFETY: the kernels table was chosen for this CPU.
                unsafe { (self.kernels.swiglu)(gate, up) };
            }
            for (&(product, tile), result) in tiles[..n].iter().zip(&*results) {
                self.store(product, tile, row, std::slice::from_ref(result));
            }
        }
    }

    /// `out[r][i]` = tile `i` times row `r`, bias added. At least one tile and one row.
    pub(super) fn rows_tiles(
        &self,
        tiles: &[(&Product, usize)],
        (rows, groups): (&[Prepared], &[Group<'_>]),
        scratch: &mut TileScratch,
        out: &mut [RowOut],
    ) {
        let is_packed = |&(product, _)| matches!(self.matrix(product), CpuMatrix::Packed(_));
        if tiles.iter().all(is_packed) {
            let mut all = [Tile::EMPTY; STREAMS];
            for (to, &(product, tile)) in all.iter_mut().zip(tiles) {
                if let CpuMatrix::Packed(weight) = self.matrix(product) {
                    *to = operands(weight, tile);
                }
            }
            // SAFETY: the kernels table was chosen for this CPU.
            unsafe { (self.kernels.rows_tiles)(&all[..tiles.len()], groups, scratch, out) };
            for out in out {
                for (&(product, tile), out) in tiles.iter().zip(out) {
                    self.add_bias(product, tile, std::slice::from_mut(out));
                }
            }
        } else {
            for ((x, group), out) in rows.iter().zip(groups).zip(out) {
                for (&(product, tile), out) in tiles.iter().zip(out) {
                    let out = std::slice::from_mut(out);
                    self.tile(product, tile, x, group, 0, scratch, out);
                }
            }
        }
    }
}
