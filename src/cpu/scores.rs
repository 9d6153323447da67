//! Attention over f32 arrays, fast: a head's scores and sums are products of panels. Sums are f32, in the order
//! of the inner places: a row gives the same bits in any batch.

use super::kernels::{Kernels, kernels};
use super::ops::{Out, View};
use super::products::{Panels, Rows, chunks, multiply, pack};
use super::threads::ThreadPool;
use crate::ir::{Dtype, Op};
use crate::step::AttentionSizes;

/// A matrix whose element (row, column) is at `row · strides.0 + column · strides.1`.
#[derive(Clone, Copy)]
pub struct Matrix<'a> {
    /// From the first element on.
    pub numbers: &'a [f32],
    /// Rows, columns.
    pub strides: (usize, usize),
}

impl AttentionSizes {
    /// Numbers of scratch memory that [`AttentionSizes::head`] needs.
    pub fn scratch(&self) -> usize {
        let panels = Panels::room(self.dim, self.keys) + Panels::room(self.keys, self.width);
        panels + self.rows * self.keys
    }

    /// One head: queries whose columns are neighbours, keys, values, and what is added to the scores, row after
    /// row. The result's rows follow each other.
    pub fn head(
        &self,
        kernels: &Kernels,
        q: Rows<'_>,
        [k, v]: [Matrix<'_>; 2],
        mask: Option<&[f32]>,
        scratch: &mut [f32],
        out: &mut [f32],
    ) {
        let (keys, dim, width) = (self.keys, self.dim, self.width);
        assert!(out.len() == self.rows * width && q.count == self.rows);
        let (k_panels, scratch) = scratch.split_at_mut(Panels::room(dim, keys));
        let (v_panels, scores) = scratch.split_at_mut(Panels::room(keys, width));
        let scores = &mut scores[..self.rows * keys];
        // Columns behind the last one are never looked at.
        pack(k_panels, k.numbers, dim, keys, (k.strides.1, k.strides.0));
        pack(v_panels, v.numbers, keys, width, v.strides);
        // SAFETY: rows of `keys` numbers, this call's alone.
        unsafe {
            multiply(
                kernels,
                q,
                (k_panels, 0..keys),
                dim,
                scores.as_mut_ptr(),
                keys,
            )
        };
        for (row, scores) in scores.chunks_exact_mut(keys).enumerate() {
            match mask {
                Some(mask) => {
                    let mask = &mask[row * keys..][..keys];
                    for (score, mask) in scores.iter_mut().zip(mask) {
                        *score = *score * self.scale + mask;
                    }
                }
                None => scores.iter_mut().for_each(|score| *score *= self.scale),
            }
            // SAFETY: the table is one that this CPU can run.
            unsafe { (kernels.softmax)(scores) };
        }
        let rows = Rows {
            numbers: scores,
            stride: keys,
            count: self.rows,
        };
        // SAFETY: rows of `width` numbers, this call's alone.
        unsafe {
            multiply(
                kernels,
                rows,
                (v_panels, 0..width),
                keys,
                out.as_mut_ptr(),
                width,
            )
        };
    }
}

/// Runs attention without causality and sinks; false: there is no fast form of this one.
pub fn run(
    op: &Op,
    inputs: &[View<'_>],
    outputs: &mut [Out<'_>],
    pool: Option<&mut ThreadPool>,
) -> bool {
    let ([q, k, v, mask @ ..], [out]) = (inputs, outputs) else {
        return false;
    };
    let f32s = inputs.iter().all(|x| x.dtype() == Dtype::F32) && out.dtype() == Dtype::F32;
    let Some(sizes) = AttentionSizes::of(op, q.sizes(), k.sizes(), v.sizes()).filter(|_| f32s)
    else {
        return false;
    };
    if out.sizes().contains(&0) {
        return false;
    }
    let (rows, keys, dim, width) = (sizes.rows, sizes.keys, sizes.dim, sizes.width);
    let (heads, shared) = (sizes.heads, sizes.heads / sizes.kv_heads);
    let mask = mask.first().map(|mask| mask.values::<f32>());
    let (q, k, v) = (q.values::<f32>(), k.values::<f32>(), v.values::<f32>());
    let kernels = kernels();
    chunks(out.values::<f32>(), rows * width, pool, &|head, out| {
        let of_kv = head / heads * sizes.kv_heads + head % heads / shared;
        let matrix = |numbers, width| Matrix {
            numbers,
            strides: (width, 1),
        };
        let q = Rows {
            numbers: &q[head * rows * dim..][..rows * dim],
            stride: dim,
            count: rows,
        };
        let sides = [
            matrix(&k[of_kv * keys * dim..], dim),
            matrix(&v[of_kv * keys * width..], width),
        ];
        let mask = mask.as_ref().map(|mask| &mask[head * rows * keys..]);
        let mut scratch = vec![0.0; sizes.scratch()];
        sizes.head(kernels, q, sides, mask, &mut scratch, out);
    });
    true
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
