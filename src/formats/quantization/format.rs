//! The formats a weight may have: names, sizes, group forms.

use super::groups::{GroupForm, ScaleForm};
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
}

impl Format {
    /// The group form, or `None` for dense weights.
    pub fn group_form(self) -> Option<GroupForm> {
        let f16 = ScalarType::F16;
        let (bits, group, scale) = match self {
            Format::Dense(_) => return None,
            Format::Affine { bits, group, scale } => {
                (bits, group as usize, ScaleForm::Stored(scale))
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
        Some(GroupForm { bits, group, scale })
    }
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
        }
    }

    /// Whether it is a format at all: only affine ones can be put together wrongly.
    pub fn is_valid(self) -> bool {
        match self {
            Format::Affine { bits, group, .. } => {
                matches!(bits, 2 | 3 | 4 | 5 | 6 | 8) && matches!(group, 32 | 64 | 128)
            }
            _ => true,
        }
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
        })
    }
}
