//! Norms and position embeddings.

use super::{Out, View, input, missing, output};
use crate::Result;
use crate::ir::{Dtype, Op, Rotary};

/// Norms and rotations.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    match (op, x.dtype()) {
        (Op::RmsNorm(eps), Dtype::F32) => {
            let weight = inputs.get(1).map(|w| w.values::<f32>());
            rms_norm(
                &x.values(),
                weight.as_deref(),
                eps.get(),
                x.sizes().last().copied().unwrap_or(1),
                out.values(),
            );
        }
        (Op::Rotary(rotary), Dtype::F32) => {
            let positions = input(op, inputs, 1)?.values::<i32>();
            let frequencies = input(op, inputs, 2)?.values::<f32>();
            let width: usize = x.sizes()[1..].iter().product();
            let dim = x.sizes().last().copied().unwrap_or(1);
            out.values::<f32>().copy_from_slice(&x.values::<f32>());
            let rows = out.values::<f32>().chunks_exact_mut(width.max(1));
            for (row, &position) in rows.zip(positions.iter()) {
                for head in row.chunks_exact_mut(dim) {
                    rotate(head, position, &frequencies, rotary);
                }
            }
        }
        _ => return Err(missing(op)),
    }
    Ok(())
}

/// `x · rsqrt(mean(x²) + eps) · weight` of every row of `width`.
fn rms_norm(x: &[f32], weight: Option<&[f32]>, eps: f64, width: usize, out: &mut [f32]) {
    let rows = x.chunks_exact(width.max(1));
    for (x, out) in rows.zip(out.chunks_exact_mut(width.max(1))) {
        let squares: f64 = x.iter().map(|&x| f64::from(x) * f64::from(x)).sum();
        let factor = 1.0 / (squares / width as f64 + eps).sqrt();
        for (place, (to, &x)) in out.iter_mut().zip(x).enumerate() {
            let weight = weight.map_or(1.0, |w| w[place]);
            *to = (f64::from(x) * factor) as f32 * weight;
        }
    }
}

/// Turns the pairs of one head.
fn rotate(head: &mut [f32], position: i32, frequencies: &[f32], rotary: &Rotary) {
    let pairs = frequencies.len();
    for (i, &frequency) in frequencies.iter().enumerate() {
        // In f64: positions times frequencies lose digits in f32.
        let (sin, cos) = (f64::from(position) * f64::from(frequency)).sin_cos();
        let magnitude = rotary.magnitude.get();
        let (sin, cos) = ((sin * magnitude) as f32, (cos * magnitude) as f32);
        let (low, high) = match rotary.interleaved {
            true => (2 * i, 2 * i + 1),
            false => (i, i + pairs),
        };
        let (a, b) = (head[low], head[high]);
        head[low] = a * cos - b * sin;
        head[high] = a * sin + b * cos;
    }
}
