//! The numbers by which `hip/ops/arrays` knows functions and dtypes.

use crate::ir::{ArgReduce, Binary, Dtype, Reduce, Unary};

pub(super) fn is_float(dtype: Dtype) -> bool {
    matches!(dtype, Dtype::F16 | Dtype::Bf16 | Dtype::F32)
}

/// Whether kernels compute with a dtype.
pub(super) fn is_known(dtype: Dtype) -> bool {
    !matches!(dtype, Dtype::F64 | Dtype::C64)
}

/// How kernels of one dtype are called.
pub(super) fn suffix(dtype: Dtype) -> &'static str {
    match dtype {
        Dtype::F16 => "f16",
        Dtype::Bf16 => "bf16",
        _ => "f32",
    }
}

/// `CAST` of `enum UnaryFunction`.
pub(super) const CAST: u32 = 31;

/// `enum UnaryFunction`.
pub(super) fn unary_number(function: Unary) -> Option<u32> {
    Some(match function {
        Unary::Abs => 0,
        Unary::ArcCos => 1,
        Unary::ArcCosh => 2,
        Unary::ArcSin => 3,
        Unary::ArcSinh => 4,
        Unary::ArcTan => 5,
        Unary::ArcTanh => 6,
        Unary::BitwiseInvert => 7,
        Unary::Ceil => 8,
        Unary::Cos => 9,
        Unary::Cosh => 10,
        Unary::Erf => 11,
        Unary::Exp => 12,
        Unary::Expm1 => 13,
        Unary::Floor => 14,
        Unary::Log => 15,
        Unary::Log2 => 16,
        Unary::Log10 => 17,
        Unary::Log1p => 18,
        Unary::LogicalNot => 19,
        Unary::Negative => 20,
        Unary::Round => 21,
        Unary::Rsqrt => 22,
        Unary::Sigmoid => 23,
        Unary::Sign => 24,
        Unary::Sin => 25,
        Unary::Sinh => 26,
        Unary::Sqrt => 27,
        Unary::Square => 28,
        Unary::Tan => 29,
        Unary::Tanh => 30,
        Unary::Conjugate | Unary::ErfInv | Unary::Imag | Unary::Real => return None,
    })
}

/// `enum BinaryFunction`.
pub(super) fn binary_number(function: Binary) -> Option<u32> {
    Some(match function {
        Binary::Add => 0,
        Binary::ArcTan2 => 1,
        Binary::BitwiseAnd => 2,
        Binary::BitwiseOr => 3,
        Binary::BitwiseXor => 4,
        Binary::LeftShift => 5,
        Binary::RightShift => 6,
        Binary::Divide => 7,
        Binary::FloorDivide => 8,
        Binary::Equal => 9,
        Binary::NanEqual => 10,
        Binary::Greater => 11,
        Binary::GreaterEqual => 12,
        Binary::Less => 13,
        Binary::LessEqual => 14,
        Binary::LogAddExp => 15,
        Binary::LogicalAnd => 16,
        Binary::LogicalOr => 17,
        Binary::Maximum => 18,
        Binary::Minimum => 19,
        Binary::Multiply => 20,
        Binary::NotEqual => 21,
        Binary::Power => 22,
        Binary::Remainder => 23,
        Binary::Subtract => 24,
    })
}

/// `enum Reduction`.
pub(super) fn reduction_number(kind: Reduce) -> u32 {
    match kind {
        Reduce::All => 0,
        Reduce::Any => 1,
        Reduce::Sum => 2,
        Reduce::Prod => 3,
        Reduce::Min => 4,
        Reduce::Max => 5,
        Reduce::LogSumExp => 6,
    }
}

/// The same for places.
pub(super) fn place_number(kind: ArgReduce) -> u32 {
    match kind {
        ArgReduce::Min => 7,
        ArgReduce::Max => 8,
    }
}
