//! The formats a weight may have: names, sizes, group forms.

use super::groups::{GroupForm, ScaleForm};
use super::{Grid, Table, Values};
use super::{gguf_mxfp4, gguf_nvfp4, iq1_m, iq1_s, iq2_s, iq2_xs, iq2_xxs, iq3_s, iq3_xxs};
use super::{iq4_nl, iq4_xs, q8_1, tq1_0, tq2_0};
use super::{q2_k, q3_k, q4_0, q4_1, q4_k, q5_0, q5_1, q5_k, q6_k, q8_0};
use std::fmt;

/// The 16- or 32-bit float type of a stored scale, bias or dense weight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScalarType {
    /// IEEE binary32.
    F32,
    /// IEEE binary16.
    F16,
    /// bfloat16.
    BF16,
}

/// How one weight's numbers are stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// Unquantized.
    Dense(ScalarType),
    /// MLX affine: bits 2, 3, 4, 5, 6 or 8; group 32, 64 or 128; scales and biases of `scale`.
    Affine {
        /// Bits a code.
        bits: u8,
        /// Weights a group.
        group: u16,
        /// Type of scales and biases.
        scale: ScalarType,
    },
    /// GGUF Q4_0.
    Q4_0,
    /// GGUF Q4_1.
    Q4_1,
    /// GGUF Q5_0.
    Q5_0,
    /// GGUF Q5_1.
    Q5_1,
    /// GGUF Q8_0.
    Q8_0,
    /// GGUF Q2_K.
    Q2K,
    /// GGUF Q3_K.
    Q3K,
    /// GGUF Q4_K.
    Q4K,
    /// GGUF Q5_K.
    Q5K,
    /// GGUF Q6_K.
    Q6K,
    /// GGUF Q8_1.
    Q8_1,
    /// GGUF IQ1_S.
    Iq1S,
    /// GGUF IQ1_M.
    Iq1M,
    /// GGUF IQ2_XXS.
    Iq2Xxs,
    /// GGUF IQ2_XS.
    Iq2Xs,
    /// GGUF IQ2_S.
    Iq2S,
    /// GGUF IQ3_XXS.
    Iq3Xxs,
    /// GGUF IQ3_S.
    Iq3S,
    /// GGUF IQ4_NL.
    Iq4Nl,
    /// GGUF IQ4_XS.
    Iq4Xs,
    /// GGUF TQ1_0.
    Tq1_0,
    /// GGUF TQ2_0.
    Tq2_0,
    /// GGUF MXFP4.
    GgufMxfp4,
    /// GGUF NVFP4.
    GgufNvfp4,
    /// MLX mxfp4 (and gpt-oss' own form): 4-bit floats, groups of 32, scales apart: powers of two.
    Mxfp4,
    /// MLX mxfp8: 8-bit floats, groups of 32, scales apart: powers of two.
    Mxfp8,
    /// MLX nvfp4: 4-bit floats, groups of 16, scales apart: 8-bit floats.
    Nvfp4,
    /// GPTQ: packed along the columns of a transposed matrix, 4 bits; scales (f16) and zero points apart.
    Gptq {
        /// Weights a group.
        group: u16,
        /// What is added to a stored zero point: 1 in the first version of the format.
        plus: u8,
    },
    /// AWQ: packed along the rows of a transposed matrix, 4 bits; scales (f16) and zero points apart.
    Awq {
        /// Weights a group.
        group: u16,
    },
    /// compressed-tensors integers around 2^(bits − 1), packed along the rows; scales apart.
    Centered {
        /// Bits a code: 4 or 8.
        bits: u8,
        /// Weights a group.
        group: u16,
        /// Type of scales.
        scale: ScalarType,
    },
    /// 8-bit floats (E4M3), a scale for each block of rows and columns.
    Float8 {
        /// Rows of a block.
        rows: u32,
        /// Columns of a block; a multiple of 32, or at least the matrix's.
        cols: u32,
        /// Type of scales.
        scale: ScalarType,
    },
}

impl Format {
    /// The group form, or `None` for dense weights.
    pub fn group_form(self) -> Option<GroupForm> {
        let f16 = ScalarType::F16;
        let e2m1 = Values::Table(Table::E2M1);
        let iq4 = Values::Table(Table::Iq4);
        let (bits, group, scale) = match self {
            Format::Dense(_) => return None,
            Format::Affine { bits, group, scale } => {
                (bits, group as usize, ScaleForm::Stored(scale))
            }
            Format::Iq1S => return grid(Grid::Iq1, iq1_s::GROUP),
            Format::Iq1M => return grid(Grid::Iq1, iq1_m::GROUP),
            Format::Iq2Xxs => return grid(Grid::Iq2Xxs, iq2_xxs::GROUP),
            Format::Iq2Xs => return grid(Grid::Iq2Xs, iq2_xs::GROUP),
            Format::Iq2S => return grid(Grid::Iq2S, iq2_s::GROUP),
            Format::Iq3Xxs => return grid(Grid::Iq3Xxs, iq3_xxs::GROUP),
            Format::Iq3S => return grid(Grid::Iq3S, iq3_s::GROUP),
            Format::Iq4Nl => return of_values(4, 32, iq4, ScaleForm::Zero(f16, 0)),
            Format::Iq4Xs => return of_values(4, 32, iq4, ScaleForm::SuperZero(0)),
            Format::GgufMxfp4 | Format::Mxfp4 => return of_values(4, 32, e2m1, ScaleForm::Power),
            Format::Mxfp8 => return of_values(8, 32, Values::E4M3, ScaleForm::Power),
            Format::GgufNvfp4 | Format::Nvfp4 => {
                return of_values(4, 16, e2m1, ScaleForm::Float8);
            }
            Format::Float8 { cols, scale, .. } => {
                let group = float8_group(cols);
                return of_values(8, group, Values::E4M3, ScaleForm::Zero(scale, 0));
            }
            Format::Q8_1 => (8, 32, ScaleForm::Zero(f16, 128)),
            Format::Tq1_0 | Format::Tq2_0 => (2, 256, ScaleForm::Zero(f16, 1)),
            Format::Gptq { group, .. } | Format::Awq { group } => {
                (4, group.into(), ScaleForm::Points(f16))
            }
            Format::Centered { bits, group, scale } => {
                (bits, group.into(), ScaleForm::Zero(scale, 1 << (bits - 1)))
            }
            Format::Q4_0 => (4, 32, ScaleForm::Zero(f16, 8)),
            Format::Q4_1 => (4, 32, ScaleForm::Stored(f16)),
            Format::Q5_0 => (5, 32, ScaleForm::Zero(f16, 16)),
            Format::Q5_1 => (5, 32, ScaleForm::Stored(f16)),
            Format::Q8_0 => (8, 32, ScaleForm::Zero(f16, 128)),
            Format::Q2K => (2, 16, ScaleForm::SuperMin),
            Format::Q3K => (3, 16, ScaleForm::SuperZero(4)),
            Format::Q4K => (4, 32, ScaleForm::SuperMin),
            Format::Q5K => (5, 32, ScaleForm::SuperMin),
            Format::Q6K => (6, 16, ScaleForm::SuperZero(32)),
        };
        of_values(bits, group, Values::Code, scale)
    }
}

fn of_values(bits: u8, group: usize, values: Values, scale: ScaleForm) -> Option<GroupForm> {
    Some(GroupForm {
        bits,
        group,
        values,
        scale,
    })
}

fn grid(grid: Grid, group: usize) -> Option<GroupForm> {
    of_values(4, group, Values::Grid(grid), ScaleForm::SuperZero(0))
}

/// Columns that share a scale in the group form: the largest power of two up to 128 that divides a
/// block's.
pub(super) fn float8_group(cols: u32) -> usize {
    1 << cols.trailing_zeros().min(7)
}

impl ScalarType {
    /// Bytes of one number.
    pub fn bytes(self) -> usize {
        match self {
            ScalarType::F32 => 4,
            ScalarType::F16 | ScalarType::BF16 => 2,
        }
    }
}

impl Format {
    /// Weights and bytes of the smallest unit that a row is made of (scales and biases of affine
    /// formats lie elsewhere and do not count).
    pub fn block(self) -> (usize, usize) {
        match self {
            Format::Dense(scalar) => (1, scalar.bytes()),
            Format::Affine { bits, group, .. } => {
                (group.into(), usize::from(group) * usize::from(bits) / 8)
            }
            Format::Q4_0 => (q4_0::WEIGHTS, q4_0::BYTES),
            Format::Q4_1 => (q4_1::WEIGHTS, q4_1::BYTES),
            Format::Q5_0 => (q5_0::WEIGHTS, q5_0::BYTES),
            Format::Q5_1 => (q5_1::WEIGHTS, q5_1::BYTES),
            Format::Q8_0 => (q8_0::WEIGHTS, q8_0::BYTES),
            Format::Q2K => (q2_k::WEIGHTS, q2_k::BYTES),
            Format::Q3K => (q3_k::WEIGHTS, q3_k::BYTES),
            Format::Q4K => (q4_k::WEIGHTS, q4_k::BYTES),
            Format::Q5K => (q5_k::WEIGHTS, q5_k::BYTES),
            Format::Q6K => (q6_k::WEIGHTS, q6_k::BYTES),
            Format::Q8_1 => (q8_1::WEIGHTS, q8_1::BYTES),
            Format::Iq1S => (iq1_s::WEIGHTS, iq1_s::BYTES),
            Format::Iq1M => (iq1_m::WEIGHTS, iq1_m::BYTES),
            Format::Iq2Xxs => (iq2_xxs::WEIGHTS, iq2_xxs::BYTES),
            Format::Iq2Xs => (iq2_xs::WEIGHTS, iq2_xs::BYTES),
            Format::Iq2S => (iq2_s::WEIGHTS, iq2_s::BYTES),
            Format::Iq3Xxs => (iq3_xxs::WEIGHTS, iq3_xxs::BYTES),
            Format::Iq3S => (iq3_s::WEIGHTS, iq3_s::BYTES),
            Format::Iq4Nl => (iq4_nl::WEIGHTS, iq4_nl::BYTES),
            Format::Iq4Xs => (iq4_xs::WEIGHTS, iq4_xs::BYTES),
            Format::Tq1_0 => (tq1_0::WEIGHTS, tq1_0::BYTES),
            Format::Tq2_0 => (tq2_0::WEIGHTS, tq2_0::BYTES),
            Format::GgufMxfp4 => (gguf_mxfp4::WEIGHTS, gguf_mxfp4::BYTES),
            Format::GgufNvfp4 => (gguf_nvfp4::WEIGHTS, gguf_nvfp4::BYTES),
            Format::Mxfp4 => (32, 16),
            Format::Mxfp8 => (32, 32),
            Format::Nvfp4 => (16, 8),
            Format::Gptq { group, .. } | Format::Awq { group } => {
                (group.into(), usize::from(group) / 2)
            }
            Format::Centered { bits, group, .. } => {
                (group.into(), usize::from(group) * usize::from(bits) / 8)
            }
            Format::Float8 { .. } => (1, 1),
        }
    }

    /// Whether it is a format at all: those with numbers can be put together wrongly.
    pub fn is_valid(self) -> bool {
        match self {
            Format::Affine { bits, group, .. } => {
                matches!(bits, 2 | 3 | 4 | 5 | 6 | 8) && matches!(group, 32 | 64 | 128)
            }
            Format::Gptq { group, plus } => matches!(group, 32 | 64 | 128) && plus <= 1,
            Format::Awq { group } => matches!(group, 32 | 64 | 128),
            Format::Centered { bits, group, .. } => {
                matches!(bits, 4 | 8) && matches!(group, 32 | 64 | 128)
            }
            Format::Float8 { rows, cols, .. } => rows > 0 && cols > 0 && cols.is_multiple_of(32),
            _ => true,
        }
    }

    /// Whether a row's bytes lie together, so that matrices can be stacked and taken apart.
    pub fn rows_apart(self) -> bool {
        !matches!(
            self,
            Format::Gptq { .. } | Format::Awq { .. } | Format::Float8 { .. }
        )
    }

    /// Bytes of a row of `cols` weights; `None` when the format is not valid, `cols` is not a
    /// multiple of the block, or the product overflows.
    pub fn row_bytes(self, cols: usize) -> Option<usize> {
        let (weights, bytes) = self.block();
        if !self.is_valid() || !cols.is_multiple_of(weights) {
            return None;
        }
        (cols / weights).checked_mul(bytes)
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str(match self {
            Format::Dense(ScalarType::F32) => "F32",
            Format::Dense(ScalarType::F16) => "F16",
            Format::Dense(ScalarType::BF16) => "BF16",
            Format::Affine { bits, group, .. } => {
                return write!(f, "affine {bits}-bit g{group}");
            }
            Format::Q4_0 => "Q4_0",
            Format::Q4_1 => "Q4_1",
            Format::Q5_0 => "Q5_0",
            Format::Q5_1 => "Q5_1",
            Format::Q8_0 => "Q8_0",
            Format::Q2K => "Q2_K",
            Format::Q3K => "Q3_K",
            Format::Q4K => "Q4_K",
            Format::Q5K => "Q5_K",
            Format::Q6K => "Q6_K",
            Format::Q8_1 => "Q8_1",
            Format::Iq1S => "IQ1_S",
            Format::Iq1M => "IQ1_M",
            Format::Iq2Xxs => "IQ2_XXS",
            Format::Iq2Xs => "IQ2_XS",
            Format::Iq2S => "IQ2_S",
            Format::Iq3Xxs => "IQ3_XXS",
            Format::Iq3S => "IQ3_S",
            Format::Iq4Nl => "IQ4_NL",
            Format::Iq4Xs => "IQ4_XS",
            Format::Tq1_0 => "TQ1_0",
            Format::Tq2_0 => "TQ2_0",
            Format::GgufMxfp4 => "MXFP4",
            Format::GgufNvfp4 => "NVFP4",
            Format::Mxfp4 => "mxfp4",
            Format::Mxfp8 => "mxfp8",
            Format::Nvfp4 => "nvfp4",
            Format::Gptq { group, .. } => return write!(f, "GPTQ 4-bit g{group}"),
            Format::Awq { group } => return write!(f, "AWQ 4-bit g{group}"),
            Format::Centered { bits, group, .. } => return write!(f, "int{bits} g{group}"),
            Format::Float8 { .. } => "fp8",
        })
    }
}
