//! Functions of elements and of runs of them: what operations that are alike but for the function take by name.

use super::Dtype;

/// Functions of one element.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // names of the field
pub enum Unary {
    Abs,
    ArcCos,
    ArcCosh,
    ArcSin,
    ArcSinh,
    ArcTan,
    ArcTanh,
    BitwiseInvert,
    Ceil,
    Conjugate,
    Cos,
    Cosh,
    Erf,
    ErfInv,
    Exp,
    Expm1,
    Floor,
    Imag,
    Log,
    Log2,
    Log10,
    Log1p,
    LogicalNot,
    Negative,
    Real,
    Round,
    Rsqrt,
    Sigmoid,
    Sign,
    Sin,
    Sinh,
    Sqrt,
    Square,
    Tan,
    Tanh,
}

/// Functions of two elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // names of the field
pub enum Binary {
    Add,
    ArcTan2,
    BitwiseAnd,
    BitwiseOr,
    BitwiseXor,
    LeftShift,
    RightShift,
    Divide,
    FloorDivide,
    Equal,
    /// Two NaN are equal.
    NanEqual,
    Greater,
    GreaterEqual,
    Less,
    LessEqual,
    LogAddExp,
    LogicalAnd,
    LogicalOr,
    Maximum,
    Minimum,
    Multiply,
    NotEqual,
    Power,
    Remainder,
    Subtract,
}

/// How many elements become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // names of the field
pub enum Reduce {
    All,
    Any,
    Sum,
    Prod,
    Min,
    Max,
    LogSumExp,
}

/// Which place is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // names of the field
pub enum ArgReduce {
    Min,
    Max,
}

/// What a running total is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // names of the field
pub enum Scan {
    Sum,
    Prod,
    Min,
    Max,
    LogAddExp,
}

/// How updates meet what is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScatterReduce {
    /// They replace it.
    None,
    /// They are added.
    Sum,
    /// They are multiplied with it.
    Prod,
    /// The larger stays.
    Max,
    /// The smaller stays.
    Min,
}

impl Binary {
    /// Whether the result is a truth value whatever the inputs are.
    pub fn is_comparison(self) -> bool {
        matches!(
            self,
            Binary::Equal
                | Binary::NanEqual
                | Binary::Greater
                | Binary::GreaterEqual
                | Binary::Less
                | Binary::LessEqual
                | Binary::NotEqual
                | Binary::LogicalAnd
                | Binary::LogicalOr
        )
    }
}

impl Unary {
    /// The dtype of the result; `None` if there is no such function of this dtype.
    pub fn result(self, dtype: Dtype) -> Option<Dtype> {
        use Unary::*;
        match self {
            LogicalNot => Some(Dtype::Bool),
            BitwiseInvert => (!dtype.is_inexact()).then_some(dtype),
            Real | Imag => match dtype {
                Dtype::C64 => Some(Dtype::F32),
                _ => None,
            },
            Abs if dtype == Dtype::C64 => Some(Dtype::F32),
            Ceil | Floor | Erf | ErfInv | Expm1 | Sigmoid if dtype == Dtype::C64 => None,
            Negative if dtype == Dtype::Bool => None,
            Abs | Ceil | Floor | Negative | Round | Sign | Square | Conjugate => Some(dtype),
            _ => Some(dtype.inexact()),
        }
    }
}
