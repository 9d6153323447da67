//! One function of each element.

use super::{Out, View, cast, input, missing, output};
use crate::Result;
use crate::ir::{Binary, Dtype, Op, Unary};

/// Unary and binary functions, choices, casts, constants.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    if *op == Op::AsType {
        return cast::run(x, output(op, outputs)?);
    }
    if x.dtype() != Dtype::F32 {
        return Err(missing(op));
    }
    match op {
        Op::Unary(kind) => {
            let function: fn(f32) -> f32 = match kind {
                Unary::Sigmoid => |x| 1.0 / (1.0 + (-x).exp()),
                _ => return Err(missing(op)),
            };
            let out = output(op, outputs)?.values::<f32>();
            for (to, &x) in out.iter_mut().zip(x.values::<f32>().iter()) {
                *to = function(x);
            }
        }
        Op::Binary(kind) => {
            let function: fn(f32, f32) -> f32 = match kind {
                Binary::Add => |a, b| a + b,
                Binary::Multiply => |a, b| a * b,
                _ => return Err(missing(op)),
            };
            let (a, b) = (x.values::<f32>(), input(op, inputs, 1)?.values::<f32>());
            let out = output(op, outputs)?.values::<f32>();
            for (to, (&a, &b)) in out.iter_mut().zip(a.iter().zip(b.iter())) {
                *to = function(a, b);
            }
        }
        op => return Err(missing(op)),
    }
    Ok(())
}
