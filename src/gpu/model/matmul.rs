//! Geometry of the matrix products: which kernel, how many rows a launch, how much shared memory.

use super::attention::PARTS_BYTES;
use super::pack::{BLOCK, PackForm, Scales, TILE_ROWS};
use crate::driver::{DeviceFacts, Platform};
use crate::formats::ScalarType;
use crate::gpu::constants::{
    matmul_block_q4, matmul_experts_q4, matmul_experts_routed_q4, matmul_experts_tiles_q4,
    matmul_rows_dense_amd, matmul_rows_q4, matmul_warpgroup_q4,
};

/// More rows than this are multiplied by the matrix unit, in blocks. Up to here each row's result is
/// the same, to the bit, whatever the other rows are and how many.
pub const FEW_ROWS: usize = 16;
/// Rows of a run of pairs of one expert, where few rows choose.
pub const GROUP_ROWS: usize = matmul_experts_q4::GROUP_ROWS;
/// Stages of a warp's ring in `hip/ops/matmul/experts_tiles.h`, and sums of a lane.
const TILE_STAGES: usize = matmul_experts_tiles_q4::TILE_STAGES;
/// Warps that share a tile's columns there.
pub const SHARERS: usize = matmul_experts_tiles_q4::SHARERS;
/// Warps that share a tile, in a block.
pub const TILE_TAKERS: usize = 16 / SHARERS;
/// Of `hip/ops/matmul/experts_down.h`.
const RUNS_AT_ONCE: usize = matmul_experts_tiles_q4::RUNS_AT_ONCE;
const ROUTED_STAGES: usize = matmul_experts_routed_q4::ROUTED_STAGES;
const ROUTED_BARRIERS: usize = matmul_experts_routed_q4::ROUTED_BARRIERS;
const TILE_SUMS: usize = matmul_experts_tiles_q4::LANE_SUMS;
/// The most rows of a launch of the kernels for several, which lie together.
pub const SET_ROWS: usize = matmul_rows_q4::MANY_ROWS;
/// Rows of a block of `hip/ops/matmul/block.h`.
pub const BLOCK_ROWS: usize = matmul_block_q4::BLOCK_ROWS;
/// Threads of its blocks.
pub const BLOCK_THREADS: u32 = matmul_block_q4::PART_THREADS as u32;

/// What a product does with its results; tiles of gate and up come in pairs.
pub use matmul_rows_q4::{ADD, SILU, STORE};

/// How kernels for many rows take x (the layouts of `hip/ops/matmul/operand.hip`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operand {
    /// `hip/ops/matmul/block.h`.
    Rows,
    /// `hip/ops/matmul/warpgroup.h`.
    Tiles,
    /// `hip/ops/matmul/experts_warpgroup.h`: so many copies of each row, where they are asked for.
    Places { copies: usize },
}

impl Operand {
    /// The kernel that makes it.
    pub fn kernel(self) -> &'static str {
        match self {
            Operand::Rows => "mlxrocm_matmul_operand",
            Operand::Tiles => "mlxrocm_matmul_operand_tiles",
            Operand::Places { .. } => "mlxrocm_matmul_operand_places",
        }
    }

    /// Bytes of dynamic shared memory of the kernels that take it.
    pub fn shared_bytes(self) -> usize {
        match self {
            Operand::Rows => 0,
            Operand::Tiles | Operand::Places { .. } => matmul_warpgroup_q4::WARPGROUP_BYTES,
        }
    }
}

/// Columns of a row of x as blocks take it (`hip/ops/matmul/operand.hip`).
pub fn operand_stride(cols: usize) -> usize {
    cols.next_multiple_of(256)
}

pub fn is_cdna(facts: &DeviceFacts) -> bool {
    let chips = ["gfx90a", "gfx94", "gfx950"];
    chips.iter().any(|chip| facts.arch.starts_with(chip))
}

/// Whether the matrix unit takes products of four warps (`hip/common/warpgroup_nvidia.h`).
pub fn has_warpgroups(facts: &DeviceFacts) -> bool {
    facts.arch == "sm_90"
}

/// Tiles of a block (`BLOCK_TILES` of `hip/ops/matmul/block.h`): more where weights are decoded into the matrix
/// unit's registers.
pub fn block_tiles(facts: &DeviceFacts) -> usize {
    match is_cdna(facts) || facts.arch.starts_with("gfx12") {
        true => 16,
        false => 8,
    }
}

/// Bytes that kernels for experts have besides (`hip/ops/matmul/experts.h`).
const EXPERT_IDS: usize = 3 * matmul_experts_q4::MAX_CHOSEN * 4;

/// The most blocks of a product of few rows, a compute unit.
const FEW_BLOCKS: usize = 8;
/// Blocks of a product of one row that registers leave room for in a compute unit of CDNA; of kernels for many columns one.
const CDNA_BLOCKS: usize = 4;
/// Of `hip/ops/matmul/wide.h`: its kernels' teams, and the most columns that others multiply.
const WIDE_TEAMS: usize = matmul_rows_q4::WIDE_TEAMS;
const WIDE_COLS: usize = matmul_rows_q4::WIDE_COLS;
/// Of `hip/ops/matmul/rows_dense_amd.hip`: rows of x of its kernels for several, and columns in local memory at once.
const DENSE_FOUR: usize = matmul_rows_dense_amd::FOUR_ROWS;
const DENSE_CHUNK: usize = matmul_rows_dense_amd::CHUNK;
/// Columns of x of a block where blocks share them, about.
const SHARED_COLS: usize = 8192;

/// How a matrix lies in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatrixForm {
    /// In tiles.
    Quant(PackForm),
    /// Row after row, rows padded to whole tiles.
    Dense(ScalarType),
}

/// What is fixed per platform.
struct Geometry {
    teams: usize,
    stage_bytes: usize,
    stages: usize,
}

fn geometry(platform: Platform) -> Geometry {
    Geometry {
        teams: matmul_rows_q4::ROWS_TEAMS.of(platform),
        stage_bytes: matmul_rows_q4::STAGE_BYTES.of(platform),
        stages: matmul_rows_q4::STAGES.of(platform),
    }
}

/// Bytes of the parts of a product of few rows whose columns blocks share.
pub fn few_rows_parts(splits: usize, rows: usize, tiles: usize) -> usize {
    splits * rows * tiles * TILE_ROWS * 4
}

impl MatrixForm {
    /// The kernel for launches of one row or of several, which have so many columns.
    pub fn kernel(self, facts: &DeviceFacts, (rows, cols): (usize, usize)) -> String {
        match self {
            MatrixForm::Dense(ty) if self.is_in_pieces(facts, cols) => {
                let most = dense_rows(rows);
                format!("mlxrocm_matmul_rows_{}_r{most}", scalar_name(ty))
            }
            MatrixForm::Quant(form) => {
                let few = self.few_name(facts, cols);
                let rows = if rows == 1 { "r1" } else { "rn" };
                format!("mlxrocm_matmul_{few}_{}_{rows}", form.name())
            }
            MatrixForm::Dense(ty) => format!("mlxrocm_matmul_rows_{}", scalar_name(ty)),
        }
    }

    /// What kernel names call it.
    pub fn name(self) -> String {
        match self {
            MatrixForm::Quant(form) => form.name(),
            MatrixForm::Dense(ty) => scalar_name(ty).into(),
        }
    }

    /// Whether products of few rows of so many columns are by the kernels of `hip/ops/matmul/wide.h`.
    fn is_wide(self, facts: &DeviceFacts, cols: usize) -> bool {
        matches!(self, MatrixForm::Quant(_)) && is_cdna(facts) && cols > WIDE_COLS
    }

    /// What names of kernels for few rows of so many columns begin with.
    pub fn few_name(self, facts: &DeviceFacts, cols: usize) -> &'static str {
        match self.is_wide(facts, cols) {
            true => "wide",
            false => "rows",
        }
    }

    /// Teams of their blocks.
    fn few_teams(self, facts: &DeviceFacts, cols: usize) -> usize {
        match self.is_wide(facts, cols) {
            true => WIDE_TEAMS,
            false => geometry(facts.platform).teams,
        }
    }

    /// Threads of their blocks.
    pub fn few_threads(self, facts: &DeviceFacts, cols: usize) -> u32 {
        match self {
            MatrixForm::Quant(_) => self.few_teams(facts, cols) as u32 * 32,
            MatrixForm::Dense(_) => self.threads(facts),
        }
    }

    /// Whether the rows are read in whole pieces of 16 bytes, by `hip/ops/matmul/rows_dense_amd.hip`.
    pub fn is_in_pieces(self, facts: &DeviceFacts, cols: usize) -> bool {
        match self {
            MatrixForm::Quant(_) => false,
            MatrixForm::Dense(ty) => {
                facts.platform == Platform::Hip && (cols * ty.bytes()).is_multiple_of(16)
            }
        }
    }

    /// Whether a kernel before makes the rows of a product of so many into integers, for all its blocks
    /// (`hip/ops/matmul/rows_x.hip`); else each block does.
    pub fn is_prepared(self, facts: &DeviceFacts, rows: usize) -> bool {
        matches!(self, MatrixForm::Quant(_)) && facts.platform == Platform::Hip && rows > 1
    }

    /// Whether so few rows are multiplied by the matrix unit, two tiles at a time
    /// (`hip/ops/matmul/rows_matrix_amd.h`).
    pub fn is_by_pairs(self, facts: &DeviceFacts, rows: usize) -> bool {
        match self {
            MatrixForm::Quant(form) => rows > 1 && is_cdna(facts) && form.adds_whole_groups(),
            MatrixForm::Dense(_) => false,
        }
    }

    /// The kernels for launches of many rows, best first: (its name, how it takes x). The first may be
    /// missing on the device.
    pub fn many_rows_kernels(self, facts: &DeviceFacts, cols: usize) -> Vec<(String, Operand)> {
        let name = match self {
            MatrixForm::Quant(form) => form.name(),
            // Rows are read 16 bytes at a time.
            MatrixForm::Dense(ty) if cols.is_multiple_of(8) => scalar_name(ty).into(),
            MatrixForm::Dense(_) => return Vec::new(),
        };
        let mut kernels = vec![(format!("mlxrocm_matmul_block_{name}"), Operand::Rows)];
        if matches!(self, MatrixForm::Quant(_)) && has_warpgroups(facts) {
            let warpgroup = format!("mlxrocm_matmul_warpgroup_{name}");
            kernels.insert(0, (warpgroup, Operand::Tiles));
        }
        kernels
    }

    /// Threads of a block of a product with experts.
    pub fn threads(self, facts: &DeviceFacts) -> u32 {
        match self {
            MatrixForm::Quant(_) => geometry(facts.platform).teams as u32 * 32,
            MatrixForm::Dense(_) => 256,
        }
    }

    /// How many blocks share the columns of x in a product of few rows (`hip/ops/matmul/rows.h`): one where x of
    /// all columns fits the local memory. Results depend on it, so it does not depend on the number of rows.
    pub fn column_splits(self, facts: &DeviceFacts, cols: usize) -> usize {
        match facts.platform {
            _ if self.is_in_pieces(facts, cols) => 1,
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
        if self.is_in_pieces(facts, cols) {
            return match dense_rows(rows) {
                1 => 0,
                most => 2 * most * DENSE_CHUNK * 4,
            };
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
        let chunk = (stage_bytes / parts / form.unit_bytes()).max(1);
        let stage = (chunk * form.unit_bytes()).next_multiple_of(128);
        teams * TILE_STAGES * parts * (stage + 8)
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
            teams,
            stage_bytes,
            stages,
        } = geometry(facts.platform);
        let ring = |bytes: usize, stages: usize| {
            let chunk = (bytes / form.unit_bytes()).max(1);
            stages * (chunk * form.unit_bytes()).next_multiple_of(128)
        };
        let own = ring(stage_bytes / 2, ROUTED_STAGES) + ROUTED_BARRIERS;
        let others = ring(stage_bytes, stages) + stages * 8;
        self.chosen_bytes(facts, cols) + teams * own - teams * others
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
    fn local_memory(self, facts: &DeviceFacts) -> usize {
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
        let Geometry {
            stage_bytes,
            stages,
            ..
        } = geometry(facts.platform);
        let ring = match facts.platform {
            Platform::Hip => 0,
            Platform::Cuda => {
                let chunk = (stage_bytes / form.unit_bytes()).max(1);
                let stage = (chunk * form.unit_bytes()).next_multiple_of(128);
                teams * stages * (stage + 8)
            }
        };
        let padded = form.padded(cols);
        let fixed = self.partial_bytes(facts, teams, kernel_rows) + kernel_rows * teams * 4 + 32;
        let bytes = form.bytes_of_x();
        let a_row = 2 * ((bytes * padded).next_multiple_of(128) + 64) + padded / form.group * 8;
        ring + fixed + rows * a_row
    }

    /// The most rows one launch with a matrix of so many tiles takes; 0 if the device has too little shared
    /// memory for one.
    pub fn rows_at_once(self, facts: &DeviceFacts, cols: usize, tiles: usize) -> usize {
        let splits = self.column_splits(facts, cols);
        let fits = |rows: usize| {
            self.shared_bytes(facts, rows, cols) <= self.local_memory(facts)
                && (splits == 1 || few_rows_parts(splits, rows, tiles) <= PARTS_BYTES)
        };
        // Prepared rows of a launch are of one set.
        let is_prepared = self.is_prepared(facts, SET_ROWS);
        let mut sizes = (1..=SET_ROWS).rev();
        let found = sizes.find(|&rows| fits(rows) && (!is_prepared || rows.is_power_of_two()));
        found.unwrap_or(0)
    }

    /// Blocks of a launch of `rows` rows over `works` tiles (or pairs of tiles, if they are taken by pairs), for each
    /// part of the columns.
    pub fn blocks(self, facts: &DeviceFacts, (rows, cols): (usize, usize), works: usize) -> u32 {
        if self.is_in_pieces(facts, cols) {
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

    /// Blocks of a launch of `hip/ops/matmul/rows_dense_amd.hip`: on CDNA as many as run at once, each with as many
    /// rows, else one for the rows of its waves.
    fn blocks_in_pieces(self, facts: &DeviceFacts, rows: usize, tiles: usize) -> u32 {
        let most = dense_rows(rows);
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

    /// Bytes of a tile.
    pub fn tile_bytes(self, cols: usize) -> usize {
        match self {
            MatrixForm::Quant(form) => form.tile_bytes(cols),
            MatrixForm::Dense(ty) => TILE_ROWS * cols * ty.bytes(),
        }
    }
}

/// The most rows of x that the kernel of `hip/ops/matmul/rows_dense_amd.hip` for so many takes.
fn dense_rows(rows: usize) -> usize {
    match rows {
        1 => 1,
        2..=DENSE_FOUR => DENSE_FOUR,
        _ => SET_ROWS,
    }
}

/// The name of a type in kernel names.
pub fn scalar_name(ty: ScalarType) -> &'static str {
    match ty {
        ScalarType::F32 => "f32",
        ScalarType::F16 => "f16",
        ScalarType::BF16 => "bf16",
    }
}

/// The number of a kind of scales.
pub fn scales_number(scales: Scales) -> u32 {
    match scales {
        Scales::PairF16 => matmul_rows_q4::PAIR_F16,
        Scales::PairBf16 => matmul_rows_q4::PAIR_BF16,
        Scales::PairF32 => matmul_rows_q4::PAIR_F32,
        Scales::Zero => matmul_rows_q4::ZERO,
        Scales::SuperZero => matmul_rows_q4::SUPER_ZERO,
        Scales::SuperMin => matmul_rows_q4::SUPER_MIN,
        Scales::Power => matmul_rows_q4::POWER,
        Scales::Point => matmul_rows_q4::POINT,
        Scales::Float8 => matmul_rows_q4::FLOAT8,
        Scales::Single => matmul_rows_q4::SINGLE,
        Scales::Table16 => matmul_rows_q4::TABLE16,
        Scales::Table8 => matmul_rows_q4::TABLE8,
    }
}
