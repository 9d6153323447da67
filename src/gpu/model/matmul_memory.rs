//! Shared memory of the blocks of matrix products, and what fits it: rows of a launch, parts of the columns.

use super::attention::PARTS_BYTES;
use super::clusters::cluster_bytes;
use super::matmul::{
    FEW_ROWS, GROUP_ROWS, Geometry, MatrixForm, SET_ROWS, dense_rows, few_rows_parts, geometry,
};
use super::pack::{BLOCK, PackForm, TILE_ROWS};
use crate::driver::{DeviceFacts, Platform};
use crate::gpu::constants::{
    matmul_experts_q4, matmul_experts_routed_q4, matmul_experts_tiles_q4, matmul_rows_pieces,
};

/// Stages of a warp's ring in `hip/ops/matmul/experts_tiles.h`, and sums of a lane.
const TILE_STAGES: usize = matmul_experts_tiles_q4::TILE_STAGES;
/// Of `hip/ops/matmul/experts_down.h`.
const RUNS_AT_ONCE: usize = matmul_experts_tiles_q4::RUNS_AT_ONCE;
const ROUTED_STAGES: usize = matmul_experts_routed_q4::ROUTED_STAGES;
const ROUTED_BARRIERS: usize = matmul_experts_routed_q4::ROUTED_BARRIERS;
const TILE_SUMS: usize = matmul_experts_tiles_q4::LANE_SUMS;
/// Bytes that kernels for experts have besides (`hip/ops/matmul/experts.h`).
const EXPERT_IDS: usize = 3 * matmul_experts_q4::MAX_CHOSEN * 4;
const DENSE_CHUNK: usize = matmul_rows_pieces::CHUNK;
/// The most rows of a launch of `hip/ops/matmul/rows_pieces.hip`.
pub(super) const MOST_DENSE_ROWS: usize = 64;
/// Columns of x of a block where blocks share them, about.
const SHARED_COLS: usize = 8192;

/// Bytes of a stage of a ring, of about so many: whole units, at least one.
pub(super) fn stage(form: PackForm, bytes: usize) -> usize {
    let units = (bytes / form.unit_bytes()).max(1);
    (units * form.unit_bytes()).next_multiple_of(128)
}

/// Bytes of a stage of a block that has `besides` other bytes, of at most `most`: of larger ones where there is room. The
/// kernels see which they are (`hip/ops/matmul/rows_one_nvidia.h`, `rows_cluster.h`).
pub(super) fn stage_with(form: PackForm, besides: usize, most: usize) -> usize {
    let Geometry {
        teams,
        stage_bytes,
        row_stage_bytes,
        stages,
    } = geometry(Platform::Cuda);
    let large = stage(form, row_stage_bytes);
    match besides + teams * stages * large <= most {
        true => large,
        false => stage(form, stage_bytes),
    }
}

impl MatrixForm {
    /// How many blocks share the columns of x in a product of few rows (`hip/ops/matmul/rows.h`): one where x of
    /// all columns fits the local memory. Results depend on it, so it does not depend on the number of rows.
    pub fn column_splits(self, facts: &DeviceFacts, cols: usize) -> usize {
        match facts.platform {
            _ if self.is_in_pieces(cols) => 1,
            Platform::Hip => {
                let bytes = self.bytes_of_columns(facts, self.few_teams(facts, cols), 1, cols);
                match bytes > self.local_memory(facts) {
                    true => cols.div_ceil(SHARED_COLS),
                    false => 1,
                }
            }
            Platform::Cuda => 1,
        }
    }

    /// Bytes of shared memory of a launch of `rows` rows.
    pub fn shared_bytes(self, facts: &DeviceFacts, rows: usize, cols: usize) -> usize {
        if self.is_in_pieces(cols) {
            return match dense_rows(rows) {
                _ if facts.platform == Platform::Cuda => 0,
                1 => 0,
                most => 2 * most * DENSE_CHUNK * 4,
            };
        }
        if let MatrixForm::Quant(form) = self
            && self.is_clustered(facts, rows)
        {
            return cluster_bytes(form, (rows, cols), self.local_memory(facts))
                .unwrap_or(usize::MAX);
        }
        let splits = self.column_splits(facts, cols);
        let own = match self {
            MatrixForm::Quant(form) => {
                form.units(cols).div_ceil(splits) * form.unit_blocks() * BLOCK
            }
            MatrixForm::Dense(_) => cols.div_ceil(splits),
        };
        self.bytes_of_columns(facts, self.few_teams(facts, cols), rows, own)
    }

    /// Bytes of shared memory of a block of a product of one row with experts, all of whose columns are so many.
    pub fn chosen_bytes(self, facts: &DeviceFacts, cols: usize) -> usize {
        self.bytes_of_columns(facts, geometry(facts.platform).teams, 1, cols)
    }

    /// Bytes of shared memory of a block of a product of [`GROUP_ROWS`] rows with experts.
    pub fn group_bytes(self, facts: &DeviceFacts, cols: usize) -> usize {
        let teams = geometry(facts.platform).teams;
        self.bytes_of(facts, teams, (GROUP_ROWS, GROUP_ROWS), cols)
    }

    /// Bytes of shared memory of a block of `hip/ops/matmul/experts_tiles.h`: its rings and, twice, its lanes' sums. `few`: in
    /// more stages of half the size.
    pub fn tiles_bytes(self, facts: &DeviceFacts, few: bool) -> usize {
        let sums = geometry(facts.platform).teams * 2 * TILE_SUMS * 32 * 4;
        self.rings_bytes(facts, few) + sums
    }

    /// Of such rings.
    fn rings_bytes(self, facts: &DeviceFacts, few: bool) -> usize {
        let MatrixForm::Quant(form) = self else {
            return 0;
        };
        let Geometry {
            teams, stage_bytes, ..
        } = geometry(facts.platform);
        let parts = match few && 2 * form.unit_bytes() <= stage_bytes {
            true => 2,
            false => 1,
        };
        teams * TILE_STAGES * parts * (stage(form, stage_bytes / parts) + 8)
    }

    /// Bytes of shared memory of a block of `hip/ops/matmul/experts_down.h`.
    pub fn down_bytes(self, facts: &DeviceFacts, cols: usize) -> usize {
        let MatrixForm::Quant(form) = self else {
            return 0;
        };
        let all = RUNS_AT_ONCE * SET_ROWS * form.padded(cols);
        let codes = (all * form.bytes_of_x()).next_multiple_of(128) + 64;
        let fixed = (geometry(facts.platform).teams + 8) * 4;
        self.rings_bytes(facts, false) + fixed + 2 * codes + all / form.group * 8
    }

    /// Whether there is room for that, and for what it has besides.
    pub fn takes_down(self, facts: &DeviceFacts, cols: usize) -> bool {
        let besides = RUNS_AT_ONCE * SET_ROWS * 8;
        self.down_bytes(facts, cols) + besides <= self.local_memory(facts)
    }

    /// Whether a team's part of a tile of a router of this form fits the ring of the products of its experts
    /// (`hip/ops/matmul/experts_routed.h`).
    pub fn router_fits(self, experts: MatrixForm, facts: &DeviceFacts, cols: usize) -> bool {
        let (MatrixForm::Quant(router), MatrixForm::Quant(experts)) = (self, experts) else {
            return false;
        };
        let Geometry {
            teams, stage_bytes, ..
        } = geometry(facts.platform);
        router.units(cols).div_ceil(teams) * router.unit_bytes() <= stage_bytes
            && router.padded(cols) == experts.padded(cols)
    }

    /// Bytes of shared memory of such a block.
    pub fn routed_bytes(self, facts: &DeviceFacts, cols: usize) -> usize {
        let MatrixForm::Quant(form) = self else {
            return 0;
        };
        let Geometry {
            teams, stage_bytes, ..
        } = geometry(facts.platform);
        let own = stage(form, stage_bytes / 2) * ROUTED_STAGES + ROUTED_BARRIERS;
        teams * own + self.bytes_besides(form, facts, teams, (1, 1), cols)
    }

    /// Whether there is room for so many rows with experts.
    pub fn takes_groups(self, facts: &DeviceFacts, cols: usize) -> bool {
        matches!(self, MatrixForm::Quant(_))
            && self.group_bytes(facts, cols) <= self.local_memory(facts)
    }

    /// Whether a block of a product with experts has room for all of so many columns of one row.
    pub fn takes_whole(self, facts: &DeviceFacts, cols: usize) -> bool {
        self.chosen_bytes(facts, cols) + EXPERT_IDS <= self.local_memory(facts)
    }

    /// The most shared memory of a block.
    pub(super) fn local_memory(self, facts: &DeviceFacts) -> usize {
        // The kernels for dense matrices have a little of their own besides.
        let own = match self {
            MatrixForm::Quant(_) => 0,
            MatrixForm::Dense(_) => 64,
        };
        (facts.lds_bytes_opt_in.max(facts.lds_bytes) as usize).saturating_sub(own)
    }

    /// Bytes of shared memory of a block of so many teams that takes `cols` columns.
    fn bytes_of_columns(
        self,
        facts: &DeviceFacts,
        teams: usize,
        rows: usize,
        cols: usize,
    ) -> usize {
        let kernel_rows = match rows {
            1 => 1,
            _ => SET_ROWS,
        };
        match self.is_prepared(facts, rows) {
            true => self.partial_bytes(facts, teams, kernel_rows),
            false => self.bytes_of(facts, teams, (rows, kernel_rows), cols),
        }
    }

    /// Of the sums of teams, in a kernel for up to `rows`.
    fn partial_bytes(self, facts: &DeviceFacts, teams: usize, rows: usize) -> usize {
        let batch = if rows == 1 { 4 } else { 2 };
        // `BUFFERS` of `hip/ops/matmul/rows_x.h`.
        let is_one = facts.platform == Platform::Hip && rows > 4;
        let buffers = if is_one { 1 } else { 2 };
        buffers * batch * TILE_ROWS * rows * (teams + 4) * 4
    }

    /// Of a block that makes `rows` rows of x itself, in a kernel for up to `kernel_rows`.
    fn bytes_of(
        self,
        facts: &DeviceFacts,
        teams: usize,
        (rows, kernel_rows): (usize, usize),
        cols: usize,
    ) -> usize {
        let MatrixForm::Quant(form) = self else {
            return rows * cols * 4;
        };
        let besides = self.bytes_besides(form, facts, teams, (rows, kernel_rows), cols);
        let Geometry {
            stage_bytes,
            stages,
            ..
        } = geometry(facts.platform);
        if facts.platform == Platform::Hip {
            return besides;
        }
        let besides = (teams * stages * 8 + besides).next_multiple_of(128);
        let each = match kernel_rows {
            1 => stage_with(form, besides + EXPERT_IDS, self.local_memory(facts)),
            _ => stage(form, stage_bytes),
        };
        besides + teams * stages * each
    }

    /// The same without a ring.
    fn bytes_besides(
        self,
        form: PackForm,
        facts: &DeviceFacts,
        teams: usize,
        (rows, kernel_rows): (usize, usize),
        cols: usize,
    ) -> usize {
        let padded = form.padded(cols);
        let fixed = self.partial_bytes(facts, teams, kernel_rows) + kernel_rows * teams * 4 + 32;
        let bytes = form.bytes_of_x();
        let a_row = 2 * ((bytes * padded).next_multiple_of(128) + 64) + padded / form.group * 8;
        fixed + rows * a_row
    }

    /// The most rows one launch with a matrix of so many tiles takes; 0 if the device has too little shared
    /// memory for one.
    pub fn rows_at_once(self, facts: &DeviceFacts, cols: usize, tiles: usize) -> usize {
        if facts.platform == Platform::Cuda && self.is_in_pieces(cols) {
            return MOST_DENSE_ROWS;
        }
        let splits = self.column_splits(facts, cols);
        let fits = |rows: usize| {
            self.shared_bytes(facts, rows, cols) <= self.local_memory(facts)
                && (splits == 1 || few_rows_parts(splits, rows, tiles) <= PARTS_BYTES)
        };
        // Prepared rows of a launch are of one set.
        let is_prepared = self.is_prepared(facts, SET_ROWS);
        let most = match self.is_clustered(facts, SET_ROWS) {
            true => FEW_ROWS,
            false => SET_ROWS,
        };
        let mut sizes = (1..=most).rev();
        let found = sizes.find(|&rows| fits(rows) && (!is_prepared || rows.is_power_of_two()));
        found.unwrap_or(0)
    }
}
