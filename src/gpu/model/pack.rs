//! Weights in the layout of the GPU kernels (`hip/common/quant.h` says what it is): the file's own codes and
//! scales, only moved, by the kernels of `hip/ops/pack`.

use super::matmul::{MatrixForm, scales_number};
use crate::formats::{Format, GroupForm, ScalarType, ScaleForm, Table, Values};

/// Rows of a tile.
pub const TILE_ROWS: usize = 16;
/// Columns of a block.
pub const BLOCK: usize = 64;

/// `enum Scales` of `quant.h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scales {
    PairF16,
    PairBf16,
    PairF32,
    Zero,
    SuperZero,
    SuperMin,
    Power,
}

/// `struct Quant` of `quant.h`: what a kernel is compiled for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PackForm {
    pub bits: usize,
    pub scales: Scales,
    /// Columns that share their scales here; a divisor of the file's group.
    pub group: usize,
}

impl PackForm {
    /// `None` for forms that the kernels do not have.
    pub fn of(form: GroupForm) -> Option<PackForm> {
        let e2m1 = Values::Table(Table::E2M1);
        let scales = match form.scale {
            ScaleForm::Power if form.values == e2m1 && form.bits == 4 => Scales::Power,
            _ if form.values != Values::Code => return None,
            ScaleForm::Stored(ScalarType::F16) => Scales::PairF16,
            ScaleForm::Stored(ScalarType::BF16) => Scales::PairBf16,
            ScaleForm::Stored(ScalarType::F32) => Scales::PairF32,
            ScaleForm::Zero(ScalarType::F16, _) if form.group == 32 => Scales::Zero,
            ScaleForm::Zero(..) | ScaleForm::Points(_) => return None,
            ScaleForm::Power | ScaleForm::Float8 => return None,
            ScaleForm::SuperZero(_) => Scales::SuperZero,
            ScaleForm::SuperMin => Scales::SuperMin,
        };
        let most = if scales == Scales::PairF32 { 32 } else { 64 };
        Some(PackForm {
            bits: form.bits.into(),
            scales,
            group: form.group.min(most),
        })
    }

    /// Bits of the first plane; the second has the rest.
    fn first(self) -> usize {
        match self.bits {
            3 => 2,
            5 | 6 => 4,
            bits => bits,
        }
    }

    fn is_super(self) -> bool {
        matches!(self.scales, Scales::SuperZero | Scales::SuperMin)
    }

    /// Blocks of a unit.
    pub fn unit_blocks(self) -> usize {
        match (self.first(), self.bits - self.first()) {
            _ if self.is_super() => 4,
            (_, 1) => 4,
            (2, _) | (_, 2) => 2,
            _ => 1,
        }
    }

    /// Columns of whole units.
    pub fn padded(self, cols: usize) -> usize {
        self.units(cols) * self.unit_blocks() * BLOCK
    }

    pub fn units(self, cols: usize) -> usize {
        cols.div_ceil(self.unit_blocks() * BLOCK)
    }

    fn code_bytes(self) -> usize {
        self.unit_blocks() * BLOCK * TILE_ROWS / 8 * self.bits
    }

    fn group_bytes(self) -> usize {
        match self.scales {
            Scales::PairF16 | Scales::PairBf16 => 64,
            Scales::PairF32 => 128,
            Scales::Zero | Scales::SuperMin => 32,
            Scales::SuperZero | Scales::Power => 16,
        }
    }

    fn super_bytes(self) -> usize {
        match self.scales {
            Scales::SuperZero => 32,
            Scales::SuperMin => 64,
            _ => 0,
        }
    }

    pub fn unit_bytes(self) -> usize {
        self.code_bytes()
            + self.super_bytes()
            + self.unit_blocks() * BLOCK / self.group * self.group_bytes()
    }

    pub fn tile_bytes(self, cols: usize) -> usize {
        self.units(cols) * self.unit_bytes()
    }

    /// `q4_bf16_g64`, as kernels are named.
    pub fn name(self) -> String {
        let scales = match self.scales {
            Scales::PairF16 => "f16",
            Scales::PairBf16 => "bf16",
            Scales::PairF32 => "f32",
            Scales::Zero => "zero",
            Scales::SuperZero => "sub",
            Scales::SuperMin => "min",
            Scales::Power => "power",
        };
        format!("q{}_{scales}_g{}", self.bits, self.group)
    }
}

/// The kernel that moves rows of a file into tiles (`hip/ops/pack`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FileForm {
    pub kernel: &'static str,
    /// The number of its kind of scales.
    pub kind: u32,
    /// Columns of a group in the file; 0: it has none.
    pub group: usize,
}

impl FileForm {
    /// `None` for formats that no kernel takes, as none multiplies with them.
    pub fn of(format: Format, form: MatrixForm) -> Option<FileForm> {
        let kernel = match format {
            Format::Dense(_) => "mlxrocm_pack_dense",
            Format::Affine { bits, .. } | Format::Centered { bits, .. } => match bits {
                2 => "mlxrocm_pack_apart_2",
                3 => "mlxrocm_pack_apart_3",
                4 => "mlxrocm_pack_apart_4",
                5 => "mlxrocm_pack_apart_5",
                6 => "mlxrocm_pack_apart_6",
                _ => "mlxrocm_pack_apart_8",
            },
            Format::Mxfp4 => "mlxrocm_pack_apart_4",
            Format::GgufMxfp4 => "mlxrocm_pack_mxfp4",
            Format::Q4_0 => "mlxrocm_pack_q4_0",
            Format::Q4_1 => "mlxrocm_pack_q4_1",
            Format::Q5_0 => "mlxrocm_pack_q5_0",
            Format::Q5_1 => "mlxrocm_pack_q5_1",
            Format::Q8_0 => "mlxrocm_pack_q8_0",
            Format::Q8_1 => "mlxrocm_pack_q8_1",
            Format::Q2K => "mlxrocm_pack_q2_k",
            Format::Q3K => "mlxrocm_pack_q3_k",
            Format::Q4K => "mlxrocm_pack_q4_k",
            Format::Q5K => "mlxrocm_pack_q5_k",
            Format::Q6K => "mlxrocm_pack_q6_k",
            _ => return None,
        };
        let scales = match form {
            MatrixForm::Quant(form) => form.scales,
            // As in pairs: `hip/ops/pack/dense.hip`.
            MatrixForm::Dense(ScalarType::F16) => Scales::PairF16,
            MatrixForm::Dense(ScalarType::BF16) => Scales::PairBf16,
            MatrixForm::Dense(ScalarType::F32) => Scales::PairF32,
        };
        Some(FileForm {
            kernel,
            kind: scales_number(scales),
            group: format.group_form().map_or(0, |form| form.group),
        })
    }
}
