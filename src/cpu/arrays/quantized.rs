//! Products with quantized matrices: panels of f32 are made of codes as they are needed.

use super::blocks::parts;
use super::level::{Float, Level, Work, at_best};
use super::products::{by_panels, narrowed, wide};
use super::source::Source;
use crate::cpu::kernels::GEMM_COLUMNS;
use crate::cpu::ops::{Out, View};
use crate::cpu::threads::ThreadPool;
use crate::ir::{Dtype, Op, QuantMode, Quantization};
use half::{bf16, f16};
use std::borrow::Cow;

/// A row's groups: `code · scale + bias`, codes low bits first.
struct Row<'a> {
    bits: usize,
    group: usize,
    words: &'a [u32],
    scales: &'a [f32],
    biases: &'a [f32],
    to: &'a mut [f32],
}

/// Codes of words that hold a whole number of them.
#[inline(always)]
fn even<const BITS: usize, const COUNT: usize>(
    words: &[u32],
    scale: f32,
    bias: f32,
    to: &mut [f32],
) {
    let (to, _) = to.as_chunks_mut::<COUNT>();
    for (&word, to) in words.iter().zip(to) {
        for (place, to) in to.iter_mut().enumerate() {
            let code = word >> (place * BITS) & ((1 << BITS) - 1);
            *to = code as i32 as f32 * scale + bias;
        }
    }
}

impl Work for Row<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        let words = self.group * self.bits / 32;
        let groups = self
            .words
            .chunks_exact(words)
            .zip(self.to.chunks_exact_mut(self.group));
        for ((words, to), (&scale, &bias)) in groups.zip(self.scales.iter().zip(self.biases)) {
            match self.bits {
                2 => even::<2, 16>(words, scale, bias, to),
                4 => even::<4, 8>(words, scale, bias, to),
                8 => even::<8, 4>(words, scale, bias, to),
                bits => {
                    let (mut held, mut left) = (0u64, 0);
                    let mut words = words.iter();
                    for to in to {
                        if left < bits {
                            held |= u64::from(*words.next().unwrap_or(&0)) << left;
                            left += 32;
                        }
                        let code = held & ((1 << bits) - 1);
                        held >>= bits;
                        left -= bits;
                        *to = code as f32 * scale + bias;
                    }
                }
            }
        }
    }
}

/// Numbers of any floating point dtype.
fn wide_any<'a>(x: &View<'a>, pool: Option<&mut ThreadPool>) -> Option<Cow<'a, [f32]>> {
    match x.dtype() {
        Dtype::F32 => wide::<f32>(x, pool),
        Dtype::F16 => wide::<f16>(x, pool),
        Dtype::Bf16 => wide::<bf16>(x, pool),
        _ => None,
    }
}

/// One row of x times a row of codes: of each group the sum of codes · x, and of x alone.
struct Dot<'a> {
    bits: usize,
    group: usize,
    words: &'a [u32],
    scales: &'a [f32],
    biases: &'a [f32],
    x: &'a [f32],
    /// Of each group of x.
    sums: &'a [f32],
}

/// Numbers that are summed side by side.
const LANES: usize = 16;
/// Columns of a share of the work.
const SHARE: usize = 64;
/// The largest group.
const LARGEST: usize = 128;

impl Work for Dot<'_> {
    type Out = f32;
    #[inline(always)]
    fn run<L: Level>(self) -> f32 {
        let of_group = self.group * self.bits / 32;
        let mut total = 0.0;
        let scales = self.scales.iter().zip(self.biases).zip(self.sums);
        let groups = self
            .words
            .chunks_exact(of_group)
            .zip(self.x.chunks_exact(self.group));
        for ((words, x), ((scale, bias), sum)) in groups.zip(scales) {
            let mut codes = [0f32; LARGEST];
            let codes = &mut codes[..self.group];
            let row = Row {
                bits: self.bits,
                group: self.group,
                words,
                scales: &[1.0],
                biases: &[0.0],
                to: &mut *codes,
            };
            row.run::<L>();
            let mut lanes = [0f32; LANES];
            let (codes, _) = codes.as_chunks::<LANES>();
            let (x, _) = x.as_chunks::<LANES>();
            for (codes, x) in codes.iter().zip(x) {
                for ((lane, code), x) in lanes.iter_mut().zip(codes).zip(x) {
                    *lane += code * x;
                }
            }
            total += lanes.iter().sum::<f32>() * scale + bias * sum;
        }
        total
    }
}

fn product<T: Float>(
    q: &Quantization,
    [x, w, scales, biases]: [&View<'_>; 4],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> Option<()> {
    let &[.., columns] = out.sizes() else {
        return None;
    };
    let inner = *x.sizes().last()?;
    // Matrices of a batch of their own are left to the plain form.
    if w.layout().count() * 32 != columns * inner * q.bits || inner % q.group != 0 {
        return None;
    }
    let words = Source::<u32>::of(w)?.rows()?;
    let x = wide::<T>(x, pool.as_deref_mut())?;
    let scales = wide_any(scales, pool.as_deref_mut())?;
    let biases = wide_any(biases, pool.as_deref_mut())?;
    let (of_words, of_groups) = (inner * q.bits / 32, inner / q.group);
    // What is not finite is multiplied with whole weights: of a code of 0 and infinity there is no number.
    let finite = || x.iter().all(|x| x.is_finite());
    if x.len() == inner && q.group <= LARGEST && finite() {
        let sums: Vec<f32> = x.chunks_exact(q.group).map(|x| x.iter().sum()).collect();
        narrowed(out.values::<T>(), pool, |out, pool| {
            parts(out, 1, SHARE, pool, &|start, out| {
                for (n, out) in (start..).zip(out) {
                    *out = at_best(Dot {
                        bits: q.bits,
                        group: q.group,
                        words: &words[n * of_words..][..of_words],
                        scales: &scales[n * of_groups..][..of_groups],
                        biases: &biases[n * of_groups..][..of_groups],
                        x: &x,
                        sums: &sums,
                    });
                }
            });
        });
        return Some(());
    }
    let pack = |first: usize, width: usize, to: &mut [f32]| {
        let mut rows = vec![0f32; width * inner];
        for (n, row) in rows.chunks_exact_mut(inner).enumerate() {
            let n = first + n;
            at_best(Row {
                bits: q.bits,
                group: q.group,
                words: &words[n * of_words..][..of_words],
                scales: &scales[n * of_groups..][..of_groups],
                biases: &biases[n * of_groups..][..of_groups],
                to: row,
            });
        }
        at_best(super::products::Pack::<f32> {
            from: &rows,
            inner,
            width,
            strides: (1, inner),
            to: &mut to[..inner * GEMM_COLUMNS],
        });
    };
    narrowed(out.values::<T>(), pool, |out, pool| {
        by_panels(&x, inner, columns, &pack, out, pool);
    });
    Some(())
}

/// Products with one transposed matrix of scales and biases; false: there is no fast form of it.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    let (
        Op::QuantizedMatmul {
            quantization: q,
            transpose: true,
        },
        [x, w, scales, biases],
    ) = (op, inputs)
    else {
        return false;
    };
    let dtype = out.dtype();
    // Scales of fewer bits are the same numbers in the result's dtype.
    let fits = |view: &View<'_>| view.dtype() == dtype || dtype == Dtype::F32;
    let fit = x.dtype() == dtype && fits(scales) && fits(biases);
    if q.mode != QuantMode::Affine || !fit || x.sizes().contains(&0) {
        return false;
    }
    let sides = [x, w, scales, biases];
    match dtype {
        Dtype::F32 => product::<f32>(q, sides, out, pool),
        Dtype::F16 => product::<f16>(q, sides, out, pool),
        Dtype::Bf16 => product::<bf16>(q, sides, out, pool),
        _ => None,
    }
    .is_some()
}
