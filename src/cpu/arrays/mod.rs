//! Fast forms of operations on arrays: blocks of elements, rows or tiles at a time, at the best SIMD level, by all
//! workers. What has none here is left to the plain forms (`ops`), which these are compared with. How work is cut does
//! not depend on how many workers there are, and so no result does.

mod attention;
mod blocks;
mod chain;
mod copies;
mod elementwise;
mod fourier;
mod functions;
mod level;
mod math;
mod order;
mod places;
mod products;
mod quantized;
mod reduce;
mod rope;
mod row_work;
mod rows;
mod source;
#[cfg(test)]
mod tests;
mod totals;

pub use chain::{Argument, Call, Chain, function, run_chain};
pub use level::{Level, Work, at_best};

use super::ops::{Out, View};
use super::threads::ThreadPool;
use crate::ir::{Op, Reduce};

/// Runs an operation if there is a fast form of it, which writes every element; false: there is none.
pub fn run(
    op: &Op,
    inputs: &[View<'_>],
    outputs: &mut [Out<'_>],
    pool: Option<&mut ThreadPool>,
) -> bool {
    let [out] = outputs else {
        return false;
    };
    // What has no elements is left to the plain forms, with what they refuse.
    if out.sizes().contains(&0) {
        return false;
    }
    match op {
        Op::Unary(_) | Op::Binary(_) | Op::Select | Op::AsType => {
            elementwise::run(op, inputs, out, pool)
        }
        Op::Reduce(Reduce::LogSumExp, _)
        | Op::ArgReduce(..)
        | Op::Softmax { .. }
        | Op::RmsNorm(_)
        | Op::LayerNorm { .. } => rows::run(op, inputs, out, pool),
        Op::Reduce(..) => reduce::run(op, inputs, out, pool),
        Op::Sort(_) | Op::ArgSort(_) | Op::Partition { .. } | Op::ArgPartition { .. } => {
            order::run(op, inputs, out, pool)
        }
        Op::Scan { .. } => totals::run(op, inputs, out, pool),
        Op::Gather { .. } | Op::GatherAxis(_) | Op::Scatter(..) | Op::Concatenate(_) => {
            places::run(op, inputs, out, pool)
        }
        Op::Matmul | Op::AddMm { .. } | Op::Convolution(_) => products::run(op, inputs, out, pool),
        Op::QuantizedMatmul { .. } => quantized::run(op, inputs, out, pool),
        Op::ScaledDotProductAttention { .. } => attention::run(op, inputs, out, pool),
        Op::Fft(_) => fourier::run(op, inputs, out, pool),
        Op::Rope(_) => rope::run(op, inputs, out, pool),
        Op::Contiguous | Op::Copy => copies::run(inputs, out, pool),
        _ => false,
    }
}
