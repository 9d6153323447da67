//! Functions of each element: `hip/ops/plain/elementwise.hip`.

use super::{Launch, Operand, input, missing, number};
use crate::Result;
use crate::gpu::Args;
use crate::gpu::constants::plain_elementwise as functions;
use crate::ir::{Binary, Op, Unary};

/// Elements of a block.
const BLOCK: u32 = 1024;

/// `enum UnaryFunction`.
pub fn unary_number(function: Unary) -> Option<u32> {
    Some(match function {
        Unary::Abs => functions::ABS,
        Unary::Negative => functions::NEGATIVE,
        Unary::Square => functions::SQUARE,
        Unary::Sqrt => functions::SQRT,
        Unary::Rsqrt => functions::RSQRT,
        Unary::Exp => functions::EXP,
        Unary::Log => functions::LOG,
        Unary::Sigmoid => functions::SIGMOID,
        Unary::Tanh => functions::TANH,
        Unary::Expm1 => functions::EXPM1,
        Unary::Erf => functions::ERF,
        Unary::Floor => functions::FLOOR,
        Unary::Log1p => functions::LOG1P,
        _ => return None,
    })
}

/// `enum BinaryFunction`.
pub fn binary_number(function: Binary) -> Option<u32> {
    Some(match function {
        Binary::Add => functions::ADD,
        Binary::Subtract => functions::SUBTRACT,
        Binary::Multiply => functions::MULTIPLY,
        Binary::Divide => functions::DIVIDE,
        Binary::Maximum => functions::MAXIMUM,
        Binary::Minimum => functions::MINIMUM,
        Binary::LogAddExp => functions::LOG_ADD_EXP,
        _ => return None,
    })
}

pub fn launch(op: &Op, inputs: &[Operand], out: &Operand) -> Result<Launch> {
    let count = number(op, out.count())?;
    let a = input(op, inputs, 0)?;
    let args = Args::new().buffer("a", &a.buffer, a.offset);
    let (kernel, args, function) = match op {
        Op::Unary(function) => ("mlxrocm_unary_f32", args, unary_number(*function)),
        Op::AsType => ("mlxrocm_unary_f32", args, Some(functions::FROM_I32)),
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
