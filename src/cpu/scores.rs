//! Attention over f32 arrays, fast: a head is a chunk of work, its scores and sums are products of panels. Sums
//! are f32, in the order of the inner places: a row gives the same bits in any batch.

use super::kernels::kernels;
use super::ops::{Out, View};
use super::products::{Panels, chunks};
use super::threads::ThreadPool;
use crate::ir::{Dtype, Op};

/// Runs attention without causality and sinks; false: there is no fast form of this one.
pub fn run(
    op: &Op,
    inputs: &[View<'_>],
    outputs: &mut [Out<'_>],
    pool: Option<&mut ThreadPool>,
) -> bool {
    let Op::ScaledDotProductAttention {
        scale,
        causal: false,
        sinks: false,
        ..
    } = op
    else {
        return false;
    };
    let ([q, k, v, mask @ ..], [out]) = (inputs, outputs) else {
        return false;
    };
    let f32s = inputs.iter().all(|x| x.dtype() == Dtype::F32) && out.dtype() == Dtype::F32;
    let (&[_, heads, rows, dim], &[_, kv_heads, keys, _], &[.., width]) =
        (q.sizes(), k.sizes(), v.sizes())
    else {
        return false;
    };
    if !f32s || out.sizes().contains(&0) || keys * dim == 0 {
        return false;
    }
    let shared = heads / kv_heads;
    let mask = mask.first().map(|mask| mask.values::<f32>());
    let (q, k, v) = (q.values::<f32>(), k.values::<f32>(), v.values::<f32>());
    let (scale, kernels) = (scale.get() as f32, kernels());
    chunks(out.values::<f32>(), rows * width, pool, &|head, out| {
        let of_kv = head / heads * kv_heads + head % heads / shared;
        let k = Panels::pack(&k[of_kv * keys * dim..], dim, keys, (1, dim));
        let v = Panels::pack(&v[of_kv * keys * width..], keys, width, (width, 1));
        let mut scores = vec![0.0; rows * keys];
        k.multiply(kernels, &q[head * rows * dim..][..rows * dim], &mut scores);
        for (row, scores) in scores.chunks_exact_mut(keys).enumerate() {
            match &mask {
                Some(mask) => {
                    let mask = &mask[(head * rows + row) * keys..][..keys];
                    for (score, mask) in scores.iter_mut().zip(mask) {
                        *score = *score * scale + mask;
                    }
                }
                None => scores.iter_mut().for_each(|score| *score *= scale),
            }
            softmax(scores);
        }
        v.multiply(kernels, &scores, out);
    });
    true
}

fn softmax(scores: &mut [f32]) {
    let most = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - most).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu::products::tests::{both_of, close, elements};
    use crate::ir::Number;

    #[test]
    fn attention_is_the_plain_one() {
        for (heads, kv_heads, rows, keys, dim, width) in [
            (4, 4, 64, 64, 8, 8),
            (6, 2, 7, 33, 20, 17),
            (1, 1, 1, 1, 1, 1),
        ] {
            for masked in [false, true] {
                let op = Op::ScaledDotProductAttention {
                    scale: Number::new(0.3),
                    causal: false,
                    mask: masked,
                    sinks: false,
                };
                let mut inputs = vec![
                    elements(&[2, heads, rows, dim], 1),
                    elements(&[2, kv_heads, keys, dim], 2),
                    elements(&[2, kv_heads, keys, width], 3),
                ];
                if masked {
                    inputs.push(elements(&[2, heads, rows, keys], 4));
                }
                close(both_of(run, &op, &inputs, &[2, heads, rows, width]));
            }
        }
    }
}
