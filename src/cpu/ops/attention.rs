//! Attention over arrays.

use super::numbers::{matrix, put, round, singles};
use super::{Out, View, input, missing, output};
use crate::Result;
use crate::ir::{Dtype, Op};
use half::{bf16, f16};

/// The smallest number of a dtype: the score of a key that a mask of truth values hides, so that a query
/// that sees no key at all takes their mean.
fn lowest(dtype: Dtype) -> f32 {
    match dtype {
        Dtype::F16 => f16::MIN.to_f32(),
        Dtype::Bf16 => bf16::MIN.to_f32(),
        _ => f32::MIN,
    }
}

/// `(q [batch, heads, rows, dim], k, v, [mask], [sinks])`: softmax(scale · q · kᵀ + mask) · v. As in MLX
/// scores and weights are rounded to the result's dtype.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let Op::ScaledDotProductAttention {
        scale,
        causal,
        mask,
        sinks,
    } = op
    else {
        return Err(missing(op));
    };
    let (q, k, v) = (
        input(op, inputs, 0)?,
        input(op, inputs, 1)?,
        input(op, inputs, 2)?,
    );
    let of_mask = match mask {
        true => Some(input(op, inputs, 3)?),
        false => None,
    };
    let of_sinks = match sinks {
        true => Some(singles(input(op, inputs, 3 + usize::from(*mask))?)),
        false => None,
    };
    let out = output(op, outputs)?;
    let dtype = out.dtype();
    let (&[_, heads, rows, dim], &[_, kv_heads, keys, _], &[.., width]) =
        (q.sizes(), k.sizes(), v.sizes())
    else {
        return Err(missing(op));
    };
    let (heads, rows, dim, keys) = (heads, rows, dim, keys);
    if out.sizes().contains(&0) {
        return Ok(());
    }
    let scale = round(dtype, scale.get() as f32);
    let shared = heads / kv_heads.max(1);
    for head in 0..q.sizes()[0] * heads {
        let of_kv = head / heads * kv_heads + head % heads / shared.max(1);
        let q = singles(&matrix(q, head));
        let k = singles(&matrix(k, of_kv));
        let v = singles(&matrix(v, of_kv));
        let mask = of_mask.map(|mask| matrix(mask, head));
        let truth = mask
            .as_ref()
            .is_some_and(|mask| mask.dtype() == Dtype::Bool);
        let mask = mask.as_ref().map(singles);
        for row in 0..rows {
            let q: Vec<f32> = q[row * dim..][..dim]
                .iter()
                .map(|&q| round(dtype, q * scale))
                .collect();
            let score = |key: usize| {
                let products = q.iter().zip(&k[key * dim..][..dim]);
                let sum: f64 = products.map(|(&q, &k)| f64::from(q) * f64::from(k)).sum();
                let sum = round(dtype, sum as f32);
                let mask = mask.as_ref().map(|mask| mask[row * keys + key]);
                match mask {
                    // Query i sees keys up to i + keys − rows.
                    _ if *causal && key + rows > row + keys => lowest(dtype),
                    Some(mask) if truth && mask == 0.0 => lowest(dtype),
                    Some(mask) if !truth => round(dtype, sum + mask),
                    _ => sum,
                }
            };
            let scores: Vec<f32> = (0..keys).map(score).collect();
            let sink = of_sinks.as_ref().map(|sinks| sinks[head % heads]);
            let weights = softmax(&scores, sink);
            let mut sums = vec![0f64; width];
            for (weight, v) in weights.into_iter().zip(v.chunks_exact(width)) {
                let weight = f64::from(round(dtype, weight));
                for (sum, &v) in sums.iter_mut().zip(v) {
                    *sum += weight * f64::from(v);
                }
            }
            let at = (head * rows + row) * width;
            put(out, at, sums.into_iter().map(|sum| sum as f32));
        }
    }
    Ok(())
}

/// Softmax; a sink is one more score that only the sum sees.
fn softmax(scores: &[f32], sink: Option<f32>) -> Vec<f32> {
    let all = scores.iter().copied().chain(sink);
    // A NaN among them is one in the result, whatever the largest is.
    let max = f64::from(all.clone().fold(f32::NEG_INFINITY, f32::max));
    let sum: f64 = all.map(|score| (f64::from(score) - max).exp()).sum();
    let weight = |&score: &f32| ((f64::from(score) - max).exp() / sum) as f32;
    scores.iter().map(weight).collect()
}
