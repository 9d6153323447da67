//! Attention over floats: a key head's panels once for all rows that look at it, scores of a block of rows at a time.
//! As in the plain form scores and weights are rounded to the result's dtype.

use super::blocks::round;
use super::level::{Float, at_best};
use super::products::{Pack, narrowed, wide};
use super::row_work::Softmax;
use super::source::Source;
use crate::cpu::kernels::{GEMM_COLUMNS, kernels};
use crate::cpu::ops::{Out, View};
use crate::cpu::products::{Panels, Rows, multiply};
use crate::cpu::shared::SharedSlice;
use crate::cpu::threads::{ThreadPool, spread};
use crate::ir::{Dtype, Op};
use half::{bf16, f16};

/// Rows of a block.
const ROWS: usize = 48;

/// Sizes of one key head's attention.
#[derive(Clone, Copy)]
struct Sizes {
    /// Queries of a head, and rows of all heads that share keys.
    queries: usize,
    rows: usize,
    keys: usize,
    dim: usize,
    width: usize,
    causal: bool,
}

/// Panels of all columns of a matrix.
fn panels<T: Float>(from: &[T], inner: usize, columns: usize, strides: (usize, usize)) -> Vec<f32> {
    let mut to = vec![0f32; Panels::room(inner, columns)];
    for (place, to) in to.chunks_exact_mut(inner * GEMM_COLUMNS).enumerate() {
        let first = place * GEMM_COLUMNS;
        at_best(Pack {
            from: &from[first * strides.1..],
            inner,
            width: GEMM_COLUMNS.min(columns - first),
            strides,
            to,
        });
    }
    to
}

/// Adds a row's mask to its scores.
type Mask<'a> = dyn Fn(usize, &mut [f32]) + 'a;

impl Sizes {
    /// Rows from `first` on, scaled queries, to `out [rows][width]`.
    fn block<T: Float>(
        self,
        [k, v]: [&[f32]; 2],
        first: usize,
        q: &[f32],
        mask: Option<&Mask<'_>>,
        out: &mut [f32],
    ) {
        let Sizes {
            queries,
            keys,
            dim,
            width,
            ..
        } = self;
        let kernels = kernels();
        let count = q.len() / dim;
        // Query i sees keys up to i + keys − queries.
        let seen = |row: usize| match self.causal {
            true => (first + row) % queries + 1 + keys - queries,
            false => keys,
        };
        let most = (0..count).map(seen).max().unwrap_or(0);
        let mut scores = vec![0f32; count * most];
        let rows = |numbers, stride| Rows {
            numbers,
            stride,
            count,
        };
        let whole = most.div_ceil(GEMM_COLUMNS) * dim * GEMM_COLUMNS;
        let to = scores.as_mut_ptr();
        // SAFETY: `count` rows of `most` numbers, this call's alone.
        unsafe { multiply(kernels, rows(q, dim), (&k[..whole], 0..most), dim, to, most) };
        round::<T>(&mut scores);
        let mut scratch = vec![0f64; most];
        let mut row_scores = vec![0f32; most];
        for (row, scores) in scores.chunks_exact_mut(most).enumerate() {
            if let Some(mask) = mask {
                mask(first + row, scores);
            }
            let seen = seen(row);
            let scores = match seen < most {
                true => {
                    scores[seen..].fill(0.0);
                    &mut scores[..seen]
                }
                false => scores,
            };
            let copy = &mut row_scores[..seen];
            copy.copy_from_slice(scores);
            at_best(Softmax(copy, &mut scratch[..seen], scores));
            round::<T>(scores);
        }
        for (place, panel) in v.chunks_exact(keys * GEMM_COLUMNS).enumerate() {
            let columns = place * GEMM_COLUMNS..((place + 1) * GEMM_COLUMNS).min(width);
            let panel = &panel[..most * GEMM_COLUMNS];
            let to = out.as_mut_ptr();
            // SAFETY: `count` rows of `width` numbers, this call's alone.
            unsafe {
                multiply(
                    kernels,
                    rows(&scores, most),
                    (panel, columns),
                    most,
                    to,
                    width,
                )
            };
        }
    }
}

fn attend<T: Float>(
    op: &Op,
    inputs: &[View<'_>],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> Option<()> {
    let &Op::ScaledDotProductAttention {
        scale,
        causal,
        mask: masked,
        sinks: false,
    } = op
    else {
        return None;
    };
    let [q, k, v, ..] = inputs else {
        return None;
    };
    let (&[batch, heads, queries, dim], &[_, kv_heads, keys, _], &[.., width]) =
        (q.sizes(), k.sizes(), v.sizes())
    else {
        return None;
    };
    let shared = heads.checked_div(kv_heads)?;
    if causal && queries > keys || shared * kv_heads != heads || keys * dim * width == 0 {
        return None;
    }
    let sizes = Sizes {
        queries,
        rows: shared * queries,
        keys,
        dim,
        width,
        causal,
    };
    let mask = match (masked, inputs.get(3)) {
        (false, _) => None,
        // Truth values hide keys in a way of their own.
        (true, Some(mask)) if mask.dtype() == out.dtype() => {
            Some(wide::<T>(mask, pool.as_deref_mut())?)
        }
        _ => return None,
    };
    let mut rounded = [scale.get() as f32];
    round::<T>(&mut rounded);
    let mut queries_scaled = wide::<T>(q, pool.as_deref_mut())?.into_owned();
    for block in queries_scaled.chunks_mut(1 << 12) {
        block.iter_mut().for_each(|q| *q *= rounded[0]);
        round::<T>(block);
    }
    let elements = |x: &View<'_>| -> Option<Vec<T>> {
        let source = Source::<T>::of(x)?;
        Some(source.rows().map_or_else(
            || {
                let mut rows = vec![T::zeroed(); x.layout().count()];
                source.copy(0, &mut rows);
                rows
            },
            <[T]>::to_vec,
        ))
    };
    let (of_k, of_v);
    let k = match Source::<T>::of(k)?.rows() {
        Some(rows) => rows,
        None => {
            of_k = elements(k)?;
            &of_k[..]
        }
    };
    let v = match Source::<T>::of(v)?.rows() {
        Some(rows) => rows,
        None => {
            of_v = elements(v)?;
            &of_v[..]
        }
    };
    narrowed(out.values::<T>(), pool, |out, mut pool| {
        let blocks = sizes.rows.div_ceil(ROWS);
        let out = SharedSlice::new(out);
        let of_head = |head: usize| {
            let k = &k[head * keys * dim..][..keys * dim];
            let v = &v[head * keys * width..][..keys * width];
            let k = panels(k, dim, keys, (1, dim));
            (k, panels(v, keys, width, (width, 1)))
        };
        let run = |head: usize, [k, v]: [&[f32]; 2], block: usize| {
            let first = block * ROWS;
            let rows = first..(first + ROWS).min(sizes.rows);
            let at = head * sizes.rows;
            let q = &queries_scaled[(at + rows.start) * dim..(at + rows.end) * dim];
            let range = (at + rows.start) * width..(at + rows.end) * width;
            // SAFETY: rows are one worker's.
            let out = unsafe { out.part(range).write() };
            let add = |row: usize, scores: &mut [f32]| {
                let Some(mask) = &mask else {
                    return;
                };
                let mask = &mask[(at + row) * keys..][..scores.len()];
                scores
                    .iter_mut()
                    .zip(mask)
                    .for_each(|(score, mask)| *score += mask);
                round::<T>(scores);
            };
            let add: &dyn Fn(usize, &mut [f32]) = &add;
            sizes.block::<T>([k, v], first, q, mask.as_ref().map(|_| add), out);
        };
        // Few rows: each head is a worker's. Many: a head's rows are shared out.
        if blocks == 1 {
            return spread(pool, batch * kv_heads, &|_, head| {
                let (k, v) = of_head(head);
                run(head, [&k, &v], 0);
            });
        }
        for head in 0..batch * kv_heads {
            let (k, v) = of_head(head);
            spread(pool.as_deref_mut(), blocks, &|_, block| {
                run(head, [&k, &v], block);
            });
        }
    });
    Some(())
}

/// Runs attention; false: there is no fast form of this one.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    let dtype = out.dtype();
    if inputs
        .iter()
        .take(3)
        .any(|x| x.dtype() != dtype || x.sizes().contains(&0))
    {
        return false;
    }
    match dtype {
        Dtype::F32 => attend::<f32>(op, inputs, out, pool),
        Dtype::F16 => attend::<f16>(op, inputs, out, pool),
        Dtype::Bf16 => attend::<bf16>(op, inputs, out, pool),
        _ => None,
    }
    .is_some()
}
