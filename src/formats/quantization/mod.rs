//! Quantization formats: how a weight's numbers are stored, one file a format.
//!
//! Every quantized format has the *group form* `w = scale·q + bias` with unsigned codes `q` of
//! `bits` bits and one (scale, bias) pair per `group` consecutive weights of a row. The CPU and GPU
//! kernels are written against the group form; [`crate::formats::Weight::dequantize_row`] is the
//! plain, bit-exact form that everything is compared with.

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

/// The group form of a quantized format: `w = scale·q + bias`, `q` unsigned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct GroupForm {
    /// Bits a code: 2, 3, 4, 5, 6 or 8.
    pub bits: u8,
    /// Consecutive weights of a row that share scale and bias: 16, 32, 64 or 128.
    pub group: usize,
    /// Where scale and bias come from.
    pub scale: ScaleForm,
}

/// Where a group's scale and bias come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScaleForm {
    /// Both stored per group as `ScalarType`: `w = scale·q + bias`.
    Stored(ScalarType),
    /// Scale stored per group, fixed zero point: `w = scale·(q − zero)`.
    Zero(ScalarType, u8),
    /// K-quant: one f16 `d` per 256 weights, one signed `sub` per group: `w = d·sub·(q − zero)`.
    SuperZero(u8),
    /// K-quant: f16 `d`, `dmin` per 256 weights, 6-bit `sub`, `sub_min` per group:
    /// `w = d·sub·q − dmin·sub_min`.
    SuperMin,
}

/// One row of a quantized weight, taken apart into its group form.
#[derive(Debug, Default, Clone)]
pub struct RowGroups {
    /// One code a weight, unpacked; length = columns.
    pub codes: Vec<u8>,
    /// `Stored`/`Zero`: the scale of each group. `Super*`: `d` of each 256 weights.
    pub scales: Vec<f32>,
    /// `Stored`: the bias of each group. `SuperMin`: `dmin` of each 256 weights. Else empty.
    pub biases: Vec<f32>,
    /// `Super*`: `sub` of each group (signed for `SuperZero`). Else empty.
    pub sub_scales: Vec<i8>,
    /// `SuperMin`: `sub_min` of each group. Else empty.
    pub sub_mins: Vec<u8>,
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
