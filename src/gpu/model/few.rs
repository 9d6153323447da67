//! Products of few rows, by the kernels of `hip/ops/matmul/rows.h`, `wide.h`, `rows_cluster.h`, `rows_dense.hip` and
//! `rows_pieces.hip`.

use super::clusters::CLUSTER;
use super::experts_few::MOST_TILE_ROWS;
use super::many::Outputs;
use super::matmul::{FEW_ROWS, MatrixForm, SET_ROWS, SILU, few_rows_parts, operand_stride};
use super::pack::{BLOCK, PackForm, TILE_ROWS};
use super::product_outputs::Multiply;
use super::record::Recorder;
use super::weights::{GpuMatrix, Launch};
use crate::driver::{DeviceFacts, Overlap, Platform};
use crate::gpu::constants::matmul_rows_finish;
use crate::gpu::{Args, LaunchOptions};
use crate::step::{BufferId, Norm};
use crate::{Error, Result};

/// Threads of `hip/ops/matmul/rows_finish.hip`, a number each.
const FINISH_THREADS: usize = matmul_rows_finish::FINISH_THREADS;
/// Bytes of a group of a row of x: its scale and its sum.
const GROUP: usize = 8;
/// Most bytes of a column of x in its two parts, and the fewest columns of a group.
const WIDEST: usize = 4;
const NARROWEST_GROUP: usize = 16;

/// Rows of x as `hip/ops/matmul/rows_x.hip` makes them: the codes of all sets of rows, then their groups.
pub(super) struct Prepared {
    kernel: String,
    sets: usize,
    /// Columns of a row.
    padded: usize,
    /// Bytes of a row's codes of a block of columns.
    row: usize,
    /// Bytes of a set.
    codes: usize,
    groups: usize,
}

impl Prepared {
    /// Of so many rows for a matrix of `form`; `None` where blocks make them themselves.
    fn of(form: MatrixForm, facts: &DeviceFacts, rows: usize, cols: usize) -> Option<Prepared> {
        match form {
            MatrixForm::Quant(pack) if form.is_prepared(facts, rows) => {
                Some(Prepared::new(pack, facts, rows, cols))
            }
            _ => None,
        }
    }

    /// Of so many rows for matrices of a form.
    pub fn new(pack: PackForm, facts: &DeviceFacts, rows: usize, cols: usize) -> Prepared {
        let kind = if pack.is_e4m3() { "f16_" } else { "" };
        let few = MatrixForm::Quant(pack).few_name(facts, cols);
        let padded = pack.padded(cols);
        let row = 2 * BLOCK * pack.bytes_of_x();
        Prepared {
            kernel: format!("mlxrocm_matmul_{few}_x_{kind}g{}", pack.group),
            sets: rows.div_ceil(SET_ROWS),
            padded,
            row,
            codes: padded / BLOCK * SET_ROWS * row,
            groups: (padded / pack.group + 1) * SET_ROWS * GROUP,
        }
    }

    /// Bytes for as many of `rows` as are made so, in any form.
    pub fn most(rows: usize, cols: usize) -> usize {
        let rows = rows.min(MOST_TILE_ROWS).next_multiple_of(SET_ROWS);
        let padded = operand_stride(cols);
        rows * (padded * WIDEST + (padded / NARROWEST_GROUP + 1) * GROUP)
    }

    pub fn bytes(&self) -> usize {
        self.sets * (self.codes + self.groups)
    }

    /// Where the codes and the groups of the rows from `row` on begin.
    pub fn at(&self, row: usize) -> (u64, u64) {
        let (set, in_set) = (row / SET_ROWS, row % SET_ROWS);
        let codes = set * self.codes + in_set * self.row;
        let groups = self.sets * self.codes + set * self.groups + in_set * GROUP;
        (codes as u64, groups as u64)
    }
}

impl Recorder<'_> {
    /// A product of few rows, or of many in as many launches as it takes.
    pub(super) fn matmul_rows(&mut self, launch: &Launch, product: Multiply<'_>) -> Result<()> {
        let Multiply { x, norm, .. } = product;
        let matrix = &launch.matrix;
        let facts = self.weights.device.facts();
        let all = self.rows(x);
        if all > FEW_ROWS && self.is_by_tiles(matrix, launch.silu, all) {
            return self.matmul_tiles(launch, product);
        }
        let mut at_once = matrix.few_rows(facts).max(1);
        if matrix.form.is_clustered(facts, all) {
            // Launches of as many rows each: W is read once for each of them.
            at_once = all.div_ceil(all.div_ceil(at_once));
        }
        let splits = matrix.form.column_splits(facts, matrix.cols);
        if let Some(prepared) = Prepared::of(matrix.form, facts, all, matrix.cols) {
            self.prepare(&prepared, matrix, (x, norm), all)?;
        }
        let mut row = 0;
        while row < all {
            let rows = at_once.min(all - row);
            let to = self.outputs(launch, product, (row, rows))?;
            if splits == 1 {
                self.few(matrix, (x, norm), (row, rows), to, 1)?;
            } else {
                let mut parts = Outputs::plain(&self.memory.parts, matrix, rows);
                let bytes = few_rows_parts(splits, rows, matrix.tiles) as u64;
                parts.writes = vec![self.memory.parts.range(0, bytes)];
                self.few(matrix, (x, norm), (row, rows), parts, splits)?;
                self.finish(matrix, (x, norm), (row, rows), to, splits)?;
            }
            row += rows;
        }
        Ok(())
    }

    /// Makes x, so many rows of the matrix's columns, into integers, for kernels of several rows.
    pub(super) fn prepare(
        &mut self,
        prepared: &Prepared,
        matrix: &GpuMatrix,
        (x, norm): (BufferId, Option<Norm>),
        rows: usize,
    ) -> Result<()> {
        let to = &self.memory.operand;
        if prepared.bytes() as u64 > to.len() {
            return Err(Error::Internal(format!("no room for {rows} rows of x")));
        }
        let (codes, groups) = prepared.at(0);
        let args = Args::new().buffer("x", &self.memory.arena, self.at(x, 0));
        let args = self.norm_of(args, "norm", norm);
        let args = args
            .buffer("codes", to, codes)
            .buffer("groups", to, groups)
            .f32("eps", norm.map_or(0.0, |n| n.eps))
            .u32("rows", rows as u32)
            .u32("cols", matrix.cols as u32)
            .u32("padded", prepared.padded as u32);
        let (reads, writes) = ([self.range(x, 0, self.rows(x))], [to.whole()]);
        let grid = [(prepared.sets * SET_ROWS) as u32, 1, 1];
        let facts = self.weights.device.facts();
        let threads = matrix.form.few_threads(facts, matrix.cols);
        self.launch(&prepared.kernel, grid, threads, 0, args, &reads, &writes)
    }

    /// One launch, whose columns so many blocks share.
    fn few(
        &mut self,
        matrix: &GpuMatrix,
        (x, norm): (BufferId, Option<Norm>),
        (row, rows): (usize, usize),
        to: Outputs,
        splits: usize,
    ) -> Result<()> {
        let facts = self.weights.device.facts();
        // The kernel for dense rows in pieces shares out rows of both tiles of a pair.
        let works = match to.epilogue {
            SILU if !matrix.form.is_in_pieces(matrix.cols) => matrix.tiles / 2,
            _ if matrix.form.is_by_pairs(facts, rows) => matrix.tiles.div_ceil(2),
            _ => matrix.tiles,
        };
        let mut blocks = matrix.form.blocks(facts, (rows, matrix.cols), works);
        let threads = matrix.form.few_threads(facts, matrix.cols);
        let lds = matrix.form.shared_bytes(facts, rows, matrix.cols);
        let kernel = matrix.form.kernel(facts, (rows, matrix.cols));
        let is_clustered = matrix.form.is_clustered(facts, rows);
        if is_clustered {
            let loaded = self.weights.device.kernel(&kernel)?;
            let most = loaded.clusters_at_once(CLUSTER as u32, threads, lds as u32)?;
            blocks = most.clamp(1, works as u32) * CLUSTER as u32;
        }
        let args = Args::new().buffer("weights", &matrix.data, 0);
        let prepared = match rows {
            1 => None,
            _ => Prepared::of(matrix.form, facts, self.rows(x), matrix.cols),
        };
        let (args, mut reads) = match prepared {
            Some(prepared) => {
                let ((codes, groups), x) = (prepared.at(row), &self.memory.operand);
                (
                    args.buffer("x", x, codes).buffer("norm", x, groups),
                    vec![x.whole()],
                )
            }
            None => {
                let args = args.buffer("x", &self.memory.arena, self.at(x, row));
                (
                    self.norm_of(args, "norm", norm),
                    vec![self.range(x, row, rows)],
                )
            }
        };
        reads.extend(to.reads);
        let args = args.append(to.args);
        let args = args
            .f32("eps", norm.map_or(0.0, |n| n.eps))
            .u32("rows", rows as u32)
            .u32("cols", matrix.cols as u32)
            .u32("tiles", matrix.tiles as u32)
            .u32("epilogue", to.epilogue)
            .append(to.last);
        let grid = [blocks, 1, splits as u32];
        let is_shared_out = facts.platform == Platform::Cuda
            && matches!(matrix.form, MatrixForm::Quant(_))
            && !is_clustered;
        let options = LaunchOptions {
            overlap: Overlap::All,
            works: is_shared_out.then_some(works as u32),
            cluster: if is_clustered { CLUSTER as u32 } else { 1 },
            wants_room: false,
        };
        let block = (threads, lds);
        self.launch_with(options, &kernel, grid, block, args, &reads, &to.writes)
    }

    /// Adds the parts that such a launch left.
    fn finish(
        &mut self,
        matrix: &GpuMatrix,
        (x, norm): (BufferId, Option<Norm>),
        (row, rows): (usize, usize),
        to: Outputs,
        splits: usize,
    ) -> Result<()> {
        // The kernel for dense matrices multiplies with the norm's factor itself.
        let norm = norm.filter(|_| matches!(matrix.form, MatrixForm::Quant(_)));
        let parts = &self.memory.parts;
        let args =
            Args::new()
                .buffer("parts", parts, 0)
                .buffer("x", &self.memory.arena, self.at(x, row));
        let bytes = few_rows_parts(splits, rows, matrix.tiles) as u64;
        let mut reads = vec![self.range(x, row, rows), parts.range(0, bytes)];
        reads.extend(to.reads);
        let args = self.norm_of(args, "norm", norm).append(to.args);
        let args = args
            .f32("eps", norm.map_or(0.0, |n| n.eps))
            .u32("cols", matrix.cols as u32)
            .u32("tiles", matrix.tiles as u32)
            .u32("splits", splits as u32)
            .u32("epilogue", to.epilogue)
            .append(to.last);
        let numbers = matrix.tiles * TILE_ROWS;
        let grid = [numbers.div_ceil(FINISH_THREADS) as u32, rows as u32, 1];
        let kernel = "mlxrocm_matmul_rows_finish";
        let threads = FINISH_THREADS as u32;
        self.launch(kernel, grid, threads, 0, args, &reads, &to.writes)
    }
}
