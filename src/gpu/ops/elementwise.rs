//! Functions of each element: `hip/ops/plain/elementwise.hip`.

use super::{Launch, Operand, input, missing, number};
use crate::Result;
use crate::gpu::Args;
use crate::ir::{Binary, Op, Unary};

/// Elements of a block.
const BLOCK: u32 = 1024;

/// `enum UnaryFunction`.
pub fn unary_number(function: Unary) -> Option<u32> {
    Some(match function {
        Unary::Abs => 0,
        Unary::Negative => 1,
        Unary::Square => 2,
        Unary::Sqrt => 3,
        Unary::Rsqrt => 4,
        Unary::Exp => 5,
        Unary::Log => 6,
        Unary::Sigmoid => 7,
        Unary::Tanh => 8,
        Unary::Expm1 => 9,
        Unary::Erf => 10,
        Unary::Floor => 11,
        Unary::Log1p => 12,
        _ => return None,
    })
}

/// The one that makes numbers of i32.
const FROM_I32: u32 = 13;

/// `enum BinaryFunction`.
pub fn binary_number(function: Binary) -> Option<u32> {
    Some(match function {
        Binary::Add => 0,
        Binary::Subtract => 1,
        Binary::Multiply => 2,
        Binary::Divide => 3,
        Binary::Maximum => 4,
        Binary::Minimum => 5,
        Binary::LogAddExp => 6,
        _ => return None,
    })
}

pub fn launch(op: &Op, inputs: &[Operand], out: &Operand) -> Result<Launch> {
    let count = number(op, out.count())?;
    let a = input(op, inputs, 0)?;
    let args = Args::new().buffer("a", &a.buffer, a.offset);
    let (kernel, args, function) = match op {
        Op::Unary(function) => ("mlxrocm_unary_f32", args, unary_number(*function)),
        Op::AsType => ("mlxrocm_unary_f32", args, Some(FROM_I32)),
        Op::Binary(function) => {
            let b = input(op, inputs, 1)?;
            let args = args.buffer("b", &b.buffer, b.offset);
            ("mlxrocm_binary_f32", args, binary_number(*function))
        }
        op => return Err(missing(op)),
    };
    let function = function.ok_or_else(|| missing(op))?;
    Ok(Launch {
        kernel,
        grid: [count.div_ceil(BLOCK), 1, 1],
        args: args
            .buffer("out", &out.buffer, out.offset)
            .u32("count", count)
            .u32("function", function),
    })
}
