//! Norms and rotations: `hip/ops/plain/norm.hip`, `rotary.hip`.

use super::{Angles, Launch, Operand, input, missing, number};
use crate::gpu::Args;
use crate::ir::Op;
use crate::{Error, Result};

pub fn launch(
    op: &Op,
    inputs: &[Operand],
    out: &Operand,
    angles: Option<&Angles>,
) -> Result<Launch> {
    let x = input(op, inputs, 0)?;
    let args = Args::new().buffer("x", &x.buffer, x.offset);
    let last = x.sizes.last().copied().unwrap_or(1);
    match op {
        Op::RmsNorm(eps) => {
            let weight = inputs.get(1);
            let args = args.buffer_or_null(
                "weight",
                weight.map(|weight| (&weight.buffer, weight.offset)),
            );
            Ok(Launch {
                kernel: "mlxrocm_rms_norm_f32",
                grid: [number(op, x.count() / last)?, 1, 1],
                args: args
                    .buffer("out", &out.buffer, out.offset)
                    .u32("width", number(op, last)?)
                    .f32("eps", eps.get() as f32),
            })
        }
        Op::LayerNorm { eps, weight, bias } => {
            // Those that there are follow x in this order.
            let weight = inputs.get(1).filter(|_| *weight);
            let place = 1 + usize::from(weight.is_some());
            let bias = inputs.get(place).filter(|_| *bias);
            let args = [("weight", weight), ("bias", bias)]
                .into_iter()
                .fold(args, |args, (name, of)| {
                    args.buffer_or_null(name, of.map(|of| (&of.buffer, of.offset)))
                });
            Ok(Launch {
                kernel: "mlxrocm_layer_norm_f32",
                grid: [number(op, x.count() / last)?, 1, 1],
                args: args
                    .buffer("out", &out.buffer, out.offset)
                    .u32("width", number(op, last)?)
                    .f32("eps", eps.get() as f32),
            })
        }
        Op::Rotary(rotary) => {
            let angles =
                angles.ok_or_else(|| Error::Internal("a rotation without angles".into()))?;
            let (positions, frequencies) = (input(op, inputs, 1)?, input(op, inputs, 2)?);
            let rows = x.sizes.first().copied().unwrap_or(1);
            let heads = x.sizes.get(1).copied().unwrap_or(1);
            Ok(Launch {
                kernel: "mlxrocm_rotary_f32",
                grid: [number(op, rows)?, 1, 1],
                args: args
                    .buffer("position", &positions.buffer, positions.offset)
                    .buffer("table", &angles.table, 0)
                    .buffer("out", &out.buffer, out.offset)
                    .u32("positions", number(op, angles.positions)?)
                    .u32("heads", number(op, heads)?)
                    .u32("dim", number(op, last)?)
                    .u32("pairs", number(op, frequencies.count())?)
                    .u32("interleaved", u32::from(rotary.interleaved)),
            })
        }
        op => Err(missing(op)),
    }
}
