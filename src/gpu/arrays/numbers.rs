//! The numbers by which `hip/ops/arrays` knows functions and dtypes.

use crate::gpu::constants::{arrays_elementwise as functions, arrays_reduce_rows as reductions};
use crate::ir::{ArgReduce, Binary, Dtype, Reduce, Unary};

/// Kernels take a dtype as the number that it has here.
const _: () = {
    let pairs = [
        (Dtype::Bool, functions::BOOL),
        (Dtype::U8, functions::U8),
        (Dtype::U16, functions::U16),
        (Dtype::U32, functions::U32),
        (Dtype::U64, functions::U64),
        (Dtype::I8, functions::I8),
        (Dtype::I16, functions::I16),
        (Dtype::I32, functions::I32),
        (Dtype::I64, functions::I64),
        (Dtype::F16, functions::F16),
        (Dtype::F32, functions::F32),
        (Dtype::F64, functions::F64),
        (Dtype::Bf16, functions::BF16),
        (Dtype::C64, functions::C64),
    ];
    let mut at = 0;
    while at < pairs.len() {
        assert!(pairs[at].0 as u32 == pairs[at].1);
        at += 1;
    }
};

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

pub(super) const CAST: u32 = functions::CAST;

/// `enum UnaryFunction`.
pub(super) fn unary_number(function: Unary) -> Option<u32> {
    Some(match function {
        Unary::Abs => functions::ABS,
        Unary::ArcCos => functions::ACOS,
        Unary::ArcCosh => functions::ACOSH,
        Unary::ArcSin => functions::ASIN,
        Unary::ArcSinh => functions::ASINH,
        Unary::ArcTan => functions::ATAN,
        Unary::ArcTanh => functions::ATANH,
        Unary::BitwiseInvert => functions::INVERT,
        Unary::Ceil => functions::CEIL,
        Unary::Cos => functions::COS,
        Unary::Cosh => functions::COSH,
        Unary::Erf => functions::ERF,
        Unary::Exp => functions::EXP,
        Unary::Expm1 => functions::EXPM1,
        Unary::Floor => functions::FLOOR,
        Unary::Log => functions::LOG,
        Unary::Log2 => functions::LOG2,
        Unary::Log10 => functions::LOG10,
        Unary::Log1p => functions::LOG1P,
        Unary::LogicalNot => functions::NOT,
        Unary::Negative => functions::NEGATIVE,
        Unary::Round => functions::ROUND,
        Unary::Rsqrt => functions::RSQRT,
        Unary::Sigmoid => functions::SIGMOID,
        Unary::Sign => functions::SIGN,
        Unary::Sin => functions::SIN,
        Unary::Sinh => functions::SINH,
        Unary::Sqrt => functions::SQRT,
        Unary::Square => functions::SQUARE,
        Unary::Tan => functions::TAN,
        Unary::Tanh => functions::TANH,
        Unary::Conjugate | Unary::ErfInv | Unary::Imag | Unary::Real => return None,
    })
}

/// `enum BinaryFunction`.
pub(super) fn binary_number(function: Binary) -> Option<u32> {
    Some(match function {
        Binary::Add => functions::ADD,
        Binary::ArcTan2 => functions::ATAN2,
        Binary::BitwiseAnd => functions::AND,
        Binary::BitwiseOr => functions::OR,
        Binary::BitwiseXor => functions::XOR,
        Binary::LeftShift => functions::LEFT,
        Binary::RightShift => functions::RIGHT,
        Binary::Divide => functions::DIVIDE,
        Binary::FloorDivide => functions::FLOOR_DIVIDE,
        Binary::Equal => functions::EQUAL,
        Binary::NanEqual => functions::NAN_EQUAL,
        Binary::Greater => functions::GREATER,
        Binary::GreaterEqual => functions::GREATER_EQUAL,
        Binary::Less => functions::LESS,
        Binary::LessEqual => functions::LESS_EQUAL,
        Binary::LogAddExp => functions::LOG_ADD_EXP,
        Binary::LogicalAnd => functions::LOGICAL_AND,
        Binary::LogicalOr => functions::LOGICAL_OR,
        Binary::Maximum => functions::MAXIMUM,
        Binary::Minimum => functions::MINIMUM,
        Binary::Multiply => functions::MULTIPLY,
        Binary::NotEqual => functions::NOT_EQUAL,
        Binary::Power => functions::POWER,
        Binary::Remainder => functions::REMAINDER,
        Binary::Subtract => functions::SUBTRACT,
    })
}

/// `enum Reduction`.
pub(super) fn reduction_number(kind: Reduce) -> u32 {
    match kind {
        Reduce::All => reductions::ALL,
        Reduce::Any => reductions::ANY,
        Reduce::Sum => reductions::SUM,
        Reduce::Prod => reductions::PROD,
        Reduce::Min => reductions::MIN,
        Reduce::Max => reductions::MAX,
        Reduce::LogSumExp => reductions::LOG_SUM_EXP,
    }
}

/// The same for places.
pub(super) fn place_number(kind: ArgReduce) -> u32 {
    match kind {
        ArgReduce::Min => reductions::ARG_MIN,
        ArgReduce::Max => reductions::ARG_MAX,
    }
}
