//! Norms and position embeddings.

use super::numbers::{put, reals, round, singles};
use super::{Out, View, input, missing, output};
use crate::Result;
use crate::ir::{Dtype, Op, Rope, Rotary};

/// Norms and rotations.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let x = input(op, inputs, 0)?;
    let out = output(op, outputs)?;
    match op {
        Op::RmsNorm(eps) => {
            let weight = inputs.get(1);
            norm(x, eps.get(), false, (weight, None), out);
        }
        Op::LayerNorm { eps, weight, bias } => {
            let of_weight = match weight {
                true => Some(input(op, inputs, 1)?),
                false => None,
            };
            let of_bias = match bias {
                true => Some(input(op, inputs, 1 + usize::from(*weight))?),
                false => None,
            };
            norm(x, eps.get(), true, (of_weight, of_bias), out);
        }
        Op::Rope(rope) => {
            let offset = input(op, inputs, 1)?;
            turn(x, offset, inputs.get(2), rope, out);
        }
        Op::Rotary(rotary) if x.dtype() == Dtype::F32 => {
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

/// `x · rsqrt(mean(x²) + eps) · weight + bias` of every row, x less its mean if `centred`. As in MLX the
/// normed number is rounded to the result's dtype before the weight meets it; a mean is taken in f64.
fn norm(
    x: &View<'_>,
    eps: f64,
    centred: bool,
    (weight, bias): (Option<&View<'_>>, Option<&View<'_>>),
    out: &mut Out<'_>,
) {
    let width = x.sizes().last().copied().unwrap_or(1).max(1);
    let dtype = out.dtype();
    let of_dtype = |view: &View<'_>| -> Vec<f32> {
        singles(view).into_iter().map(|x| round(dtype, x)).collect()
    };
    let (weight, bias) = (weight.map(of_dtype), bias.map(of_dtype));
    for (row, x) in singles(x).chunks_exact(width).enumerate() {
        let sum = |term: &dyn Fn(f64) -> f64| -> f64 {
            x.iter().map(|&x| term(f64::from(x))).sum::<f64>() / width as f64
        };
        let mean = if centred { sum(&|x| x) } else { 0.0 };
        let squares = sum(&|x| (x - mean) * (x - mean));
        let factor = 1.0 / (squares + eps).sqrt();
        let number = |(place, &x): (usize, &f32)| {
            let mut y = round(dtype, ((f64::from(x) - mean) * factor) as f32);
            if let Some(weight) = &weight {
                y = round(dtype, y * weight[place]);
            }
            match &bias {
                Some(bias) => y + bias[place],
                None => y,
            }
        };
        put(out, row * width, x.iter().enumerate().map(number));
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

/// The frequency of each pair.
pub fn frequencies(rope: &Rope, periods: Option<&View<'_>>) -> Vec<f32> {
    let pairs = rope.dims / 2;
    match periods {
        Some(periods) => singles(periods).into_iter().map(|p| 1.0 / p).collect(),
        None => {
            let base = rope.base.map_or(1.0, |base| base.get() as f32);
            let step = (f64::from(base).ln() / pairs as f64) as f32;
            let exponent = |i: usize| -(i as f32) * step;
            (0..pairs).map(|i| exponent(i).exp()).collect()
        }
    }
}

/// MLX's `fast.rope` of `[batch, …, tokens, dim]`: angles are f32, every step rounds to x's dtype.
fn turn(
    x: &View<'_>,
    offset: &View<'_>,
    periods: Option<&View<'_>>,
    rope: &Rope,
    out: &mut Out<'_>,
) {
    let dtype = x.dtype();
    let [batch, middle @ .., tokens, dim] = x.sizes() else {
        return;
    };
    let heads: usize = middle.iter().product();
    let pairs = rope.dims / 2;
    let frequencies = frequencies(rope, periods);
    let offsets = reals(offset);
    let scale = rope.scale.get() as f32;
    let round = |x: f32| round(dtype, x);
    let mut values = singles(x);
    let rows = values.chunks_exact_mut((*dim).max(1)).enumerate();
    for (row, head) in rows {
        let token = row % (*tokens).max(1);
        let sequence = row / (tokens * heads).max(1);
        debug_assert!(sequence < *batch);
        let start = offsets.get(sequence).or(offsets.first()).copied();
        let position = (token as f32 + start.unwrap_or(0.0) as f32) * scale;
        for (i, &frequency) in frequencies.iter().enumerate() {
            let (sin, cos) = f64::from(position * frequency).sin_cos();
            let (sin, cos) = (round(sin as f32), round(cos as f32));
            let (low, high) = match rope.traditional {
                true => (2 * i, 2 * i + 1),
                false => (i, i + pairs),
            };
            let (a, b) = (head[low], head[high]);
            head[low] = round(round(a * cos) - round(b * sin));
            head[high] = round(round(a * sin) + round(b * cos));
        }
    }
    put(out, 0, values.into_iter());
}
