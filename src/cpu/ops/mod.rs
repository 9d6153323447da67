//! The plain form of every operation: strided inputs, results row after row, no fusion, no SIMD of its
//! own. It is what every other form is compared with, and what runs where there is no other.

mod arithmetic;
mod attention;
mod binary;
mod cast;
mod codes;
mod convolution;
mod copy;
mod create;
mod fft;
mod hadamard;
mod join;
mod layers;
mod linear_algebra;
mod matmul;
mod numbers;
mod order;
mod places;
mod quantized;
mod quantized_products;
mod random;
mod reduce;
mod route;
mod unary;
mod view;

pub(in crate::cpu) use cast::Element;
pub(in crate::cpu) use convolution::{Space, source};
pub use create::number_bytes;
pub(in crate::cpu) use layers::frequencies as rope_frequencies;
pub(in crate::cpu) use places::{index as indices, starts as slice_starts};
pub use random::words as random_words;
pub(in crate::cpu) use reduce::behind;
pub use view::{Out, View};

/// The function of one f32, if there is one.
pub(in crate::cpu) fn one_single(kind: Unary) -> Option<fn(f32) -> f32> {
    unary::of_single(kind)
}

/// The function of two f32, if there is one.
pub(in crate::cpu) fn two_singles(kind: Binary) -> Option<fn(f32, f32) -> f32> {
    two_of(kind)
}

/// The function of two elements, if there is one.
pub(in crate::cpu) fn two_of<T: arithmetic::Arithmetic>(kind: Binary) -> Option<fn(T, T) -> T> {
    T::function(kind)
}

/// Whether there is a Hadamard transform of rows of this size.
pub fn hadamard_fits(size: usize) -> bool {
    size > 0 && hadamard::matrix(size).is_some()
}

use crate::ir::{Binary, Op, Unary};
use crate::{Error, Result};

/// Runs one operation.
///
/// # Errors
/// `InvalidArgument` for values that the operation refuses (a message names it), `Unsupported` for a
/// dtype that it does not take.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    match op {
        Op::Unary(kind) => unary::run(op, *kind, inputs, outputs),
        Op::Binary(kind) => binary::run(op, *kind, inputs, outputs),
        Op::DivMod => binary::divmod(op, inputs, outputs),
        Op::AsType => cast::run(input(op, inputs, 0)?, output(op, outputs)?),
        Op::Select | Op::Full | Op::Arange { .. } | Op::View => create::run(op, inputs, outputs),
        Op::RmsNorm(_) | Op::LayerNorm { .. } | Op::Rope(_) | Op::Rotary(_) => {
            layers::run(op, inputs, outputs)
        }
        Op::ScaledDotProductAttention { .. } => attention::run(op, inputs, outputs),
        Op::Matmul
        | Op::AddMm { .. }
        | Op::BlockMaskedMm { .. }
        | Op::GatherMm
        | Op::SegmentedMm => matmul::run(op, inputs, outputs),
        Op::Quantize(_) | Op::Dequantize(_) | Op::ConvertFp8(_) => {
            quantized::run(op, inputs, outputs)
        }
        Op::QuantizedMatmul { .. } | Op::GatherQmm { .. } | Op::QqMatmul(_) | Op::GatherQqmm(_) => {
            quantized_products::run(op, inputs, outputs)
        }
        Op::Convolution(_) => convolution::run(op, inputs, outputs),
        Op::Fft(_) => fft::run(op, inputs, outputs),
        Op::Hadamard(_) => hadamard::run(op, inputs, outputs),
        Op::LinearAlgebra(_) => linear_algebra::run(op, inputs, outputs),
        Op::RandomBits { .. } => random::run(op, inputs, outputs),
        Op::Route(_) => route::run(op, inputs, outputs),
        Op::Gather { .. }
        | Op::GatherAxis(_)
        | Op::Scatter(..)
        | Op::ScatterAxis(..)
        | Op::MaskedScatter => places::run(op, inputs, outputs),
        Op::Concatenate(_)
        | Op::Pad(_)
        | Op::SliceUpdate(..)
        | Op::DynamicSlice(_)
        | Op::DynamicSliceUpdate(_) => join::run(op, inputs, outputs),
        Op::Reduce(..) | Op::ArgReduce(..) | Op::Softmax { .. } | Op::NumberOfElements { .. } => {
            reduce::run(op, inputs, outputs)
        }
        Op::Scan { .. }
        | Op::Sort(_)
        | Op::ArgSort(_)
        | Op::Partition { .. }
        | Op::ArgPartition { .. }
        | Op::SearchSorted { .. } => order::run(op, inputs, outputs),
        op if op.may_be_view() => copy::run(op, inputs, outputs),
        Op::Contiguous | Op::Copy => copy::run(op, inputs, outputs),
        op => Err(missing(op)),
    }
}

/// The refusal of an operation.
fn missing(op: &Op) -> Error {
    Error::Unsupported(format!(
        "{}: there is no CPU form of this operation",
        op.name()
    ))
}

/// The one input at `place`.
fn input<'v, 'a>(op: &Op, inputs: &'v [View<'a>], place: usize) -> Result<&'v View<'a>> {
    inputs
        .get(place)
        .ok_or_else(|| Error::Internal(format!("{} without input {place}", op.name())))
}

/// The one result.
fn output<'v, 'a>(op: &Op, outputs: &'v mut [Out<'a>]) -> Result<&'v mut Out<'a>> {
    outputs
        .first_mut()
        .ok_or_else(|| Error::Internal(format!("{} without a result", op.name())))
}

/// Evaluates `$body` with `$T` as the Rust type of a dtype's elements (bool: u8).
macro_rules! with_type {
    ($dtype:expr, $T:ident => $body:expr) => {{
        use $crate::ir::Dtype;
        match $dtype {
            Dtype::Bool | Dtype::U8 => {
                type $T = u8;
                $body
            }
            Dtype::U16 => {
                type $T = u16;
                $body
            }
            Dtype::U32 => {
                type $T = u32;
                $body
            }
            Dtype::U64 => {
                type $T = u64;
                $body
            }
            Dtype::I8 => {
                type $T = i8;
                $body
            }
            Dtype::I16 => {
                type $T = i16;
                $body
            }
            Dtype::I32 => {
                type $T = i32;
                $body
            }
            Dtype::I64 => {
                type $T = i64;
                $body
            }
            Dtype::F16 => {
                type $T = half::f16;
                $body
            }
            Dtype::F32 => {
                type $T = f32;
                $body
            }
            Dtype::F64 => {
                type $T = f64;
                $body
            }
            Dtype::Bf16 => {
                type $T = half::bf16;
                $body
            }
            Dtype::C64 => {
                type $T = num_complex::Complex<f32>;
                $body
            }
        }
    }};
}
pub(crate) use with_type;
