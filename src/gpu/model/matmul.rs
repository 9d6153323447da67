//! The matrix products: which kernel, and how it takes x; how much shared memory and how many blocks say `matmul_memory.rs`
//! and `matmul_blocks.rs`.

use super::clusters::cluster_rows;
use super::pack::{PackForm, Scales, TILE_ROWS};
use crate::driver::{DeviceFacts, Platform};
use crate::formats::ScalarType;
use crate::gpu::constants::{
    matmul_block_q4, matmul_experts_q4, matmul_experts_tiles_q4, matmul_rows_pieces,
    matmul_rows_q4, matmul_warpgroup_q4,
};

/// More rows than this are multiplied by the matrix unit, in blocks. Up to here each row's result is
/// the same, to the bit, whatever the other rows are and how many.
pub const FEW_ROWS: usize = 16;
/// Rows of a run of pairs of one expert, where few rows choose.
pub const GROUP_ROWS: usize = matmul_experts_q4::GROUP_ROWS;
/// Warps that share a tile's columns there.
pub const SHARERS: usize = matmul_experts_tiles_q4::SHARERS;
/// Warps that share a tile, in a block.
pub const TILE_TAKERS: usize = 16 / SHARERS;
/// The most rows of a launch of the kernels for several, which lie together.
pub const SET_ROWS: usize = matmul_rows_q4::MANY_ROWS;
/// Rows of a block of `hip/ops/matmul/block.h`.
pub const BLOCK_ROWS: usize = matmul_block_q4::BLOCK_ROWS;
/// Threads of its blocks.
pub const BLOCK_THREADS: u32 = matmul_block_q4::PART_THREADS as u32;

/// What a product does with its results; tiles of gate and up come in pairs.
pub use matmul_rows_q4::{ADD, SILU, STORE, STORE_FOUR};

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

/// Of `hip/ops/matmul/wide.h`: its kernels' teams, and the most columns that others multiply.
const WIDE_TEAMS: usize = matmul_rows_q4::WIDE_TEAMS;
const WIDE_COLS: usize = matmul_rows_q4::WIDE_COLS;
/// Of `hip/ops/matmul/rows_pieces.hip`: rows of x of its kernels for several, and columns in local memory at once.
const DENSE_FOUR: usize = matmul_rows_pieces::FOUR_ROWS;

/// How a matrix lies in device memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum MatrixForm {
    /// In tiles.
    Quant(PackForm),
    /// Row after row, rows padded to whole tiles.
    Dense(ScalarType),
}

/// What is fixed per platform.
pub(super) struct Geometry {
    pub teams: usize,
    pub stage_bytes: usize,
    /// Of kernels for one row and of clusters, where there is room.
    pub row_stage_bytes: usize,
    pub stages: usize,
}

pub(super) fn geometry(platform: Platform) -> Geometry {
    Geometry {
        teams: matmul_rows_q4::ROWS_TEAMS.of(platform),
        stage_bytes: matmul_rows_q4::STAGE_BYTES.of(platform),
        row_stage_bytes: matmul_rows_q4::ROW_STAGE_BYTES.of(platform),
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
            MatrixForm::Dense(ty) if self.is_in_pieces(cols) => {
                let most = dense_rows(rows);
                format!("mlxrocm_matmul_rows_{}_r{most}", scalar_name(ty))
            }
            MatrixForm::Quant(form) if self.is_clustered(facts, rows) => {
                let most = cluster_rows(rows);
                format!("mlxrocm_matmul_cluster_{}_r{most}", form.name())
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
    pub(super) fn is_wide(self, facts: &DeviceFacts, cols: usize) -> bool {
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
    pub(super) fn few_teams(self, facts: &DeviceFacts, cols: usize) -> usize {
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

    /// Whether the rows are read in whole pieces of 16 bytes, by `hip/ops/matmul/rows_pieces.hip`.
    pub fn is_in_pieces(self, cols: usize) -> bool {
        match self {
            MatrixForm::Quant(_) => false,
            MatrixForm::Dense(ty) => (cols * ty.bytes()).is_multiple_of(16),
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

    /// Bytes of a tile.
    pub fn tile_bytes(self, cols: usize) -> usize {
        match self {
            MatrixForm::Quant(form) => form.tile_bytes(cols),
            MatrixForm::Dense(ty) => TILE_ROWS * cols * ty.bytes(),
        }
    }
}

/// The most rows of x that a block of the kernel of `hip/ops/matmul/rows_pieces.hip` for so many takes.
pub(super) fn dense_rows(rows: usize) -> usize {
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
