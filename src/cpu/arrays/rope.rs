//! Rotary position embedding: the sines and cosines of a token once for all heads.

use super::blocks::{Narrow, parts, round, singles};
use super::copies;
use super::level::{Float, Level, Work, at_best};
use super::source::Source;
use crate::cpu::ops::{Out, View, indices, rope_frequencies};
use crate::cpu::threads::ThreadPool;
use crate::ir::{Dtype, Op, Rope};
use half::{bf16, f16};
use std::borrow::Cow;

/// `out = a · b`.
struct Product<'a>(&'a [f32], &'a [f32], &'a mut [f32]);

impl Work for Product<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        for ((to, &a), &b) in self.2.iter_mut().zip(self.0).zip(self.1) {
            *to = a * b;
        }
    }
}

/// `out = a ± b`.
struct Sum<'a>(&'a [f32], &'a [f32], f32, &'a mut [f32]);

impl Work for Sum<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Level>(self) {
        for ((to, &a), &b) in self.3.iter_mut().zip(self.0).zip(self.1) {
            *to = a + self.2 * b;
        }
    }
}

fn turn<T: Float>(
    rope: &Rope,
    x: &View<'_>,
    [offsets, frequencies]: [&[f32]; 2],
    out: &mut Out<'_>,
    mut pool: Option<&mut ThreadPool>,
) -> Option<()> {
    let &[batch, ref middle @ .., tokens, dim] = x.sizes() else {
        return None;
    };
    let heads: usize = middle.iter().product();
    let pairs = rope.dims / 2;
    let source = Source::<T>::of(x)?;
    let rows = match source.rows() {
        Some(rows) => Cow::Borrowed(rows),
        None => {
            let mut rows = vec![T::zeroed(); x.layout().count()];
            copies::copy(&source, &mut rows, pool.as_deref_mut());
            Cow::Owned(rows)
        }
    };
    let scale = rope.scale.get() as f32;
    // `[sequence][token][2][pairs]`; one sequence where all begin at the same place.
    let sequences = if offsets.len() > 1 { batch } else { 1 };
    let mut table = vec![0f32; sequences * tokens * 2 * pairs];
    parts(
        &mut table,
        2 * pairs,
        1 << 13,
        pool.as_deref_mut(),
        &|start, table| {
            for (place, table) in table.chunks_exact_mut(2 * pairs).enumerate() {
                let row = start / (2 * pairs) + place;
                let offset = offsets.get(row / tokens).or(offsets.first()).copied();
                let position = ((row % tokens) as f32 + offset.unwrap_or(0.0)) * scale;
                let (sines, cosines) = table.split_at_mut(pairs);
                for ((sin, cos), &frequency) in sines.iter_mut().zip(cosines).zip(frequencies) {
                    let (s, c) = f64::from(position * frequency).sin_cos();
                    (*sin, *cos) = (s as f32, c as f32);
                }
                round::<T>(table);
            }
        },
    );
    let step = if rope.traditional { 2 } else { 1 };
    parts(out.values::<T>(), dim, 1 << 15, pool, &|start, out| {
        let mut numbers = vec![0f32; dim];
        let mut made = vec![0f32; dim];
        let mut halves = vec![0f32; 4 * pairs];
        for (place, out) in out.chunks_exact_mut(dim).enumerate() {
            let row = start / dim + place;
            let x = &rows[row * dim..][..dim];
            let sequence = (row / (tokens * heads)) % sequences;
            let token = sequence * tokens + row % tokens;
            let (sin, cos) = table[token * 2 * pairs..][..2 * pairs].split_at(pairs);
            let x = singles(x, &mut numbers);
            made.copy_from_slice(x);
            let (a, rest) = halves.split_at_mut(pairs);
            let (b, rest) = rest.split_at_mut(pairs);
            let (left, right) = rest.split_at_mut(pairs);
            let second = if rope.traditional { 1 } else { pairs };
            for i in 0..pairs {
                (a[i], b[i]) = (x[i * step], x[i * step + second]);
            }
            // As in MLX each step rounds to the dtype.
            let mut meet = |sides: [&[f32]; 2], sign: f32, to: usize| {
                at_best(Product(a, sides[0], left));
                at_best(Product(b, sides[1], right));
                round::<T>(left);
                round::<T>(right);
                let mut sum = [0f32; 256];
                for from in (0..pairs).step_by(sum.len()) {
                    let sum = &mut sum[..256.min(pairs - from)];
                    let (left, right) = (&left[from..], &right[from..]);
                    at_best(Sum(left, right, sign, sum));
                    for (i, &x) in sum.iter().enumerate() {
                        made[(from + i) * step + to] = x;
                    }
                }
            };
            meet([cos, sin], -1.0, 0);
            meet([sin, cos], 1.0, second);
            at_best(Narrow(&made, out));
        }
    });
    Some(())
}

/// Runs `fast.rope`; false: there is no fast form of this one.
pub fn run(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>, pool: Option<&mut ThreadPool>) -> bool {
    let (Op::Rope(rope), [x, offset, periods @ ..]) = (op, inputs) else {
        return false;
    };
    if x.dtype() != out.dtype() || rope.dims == 0 {
        return false;
    }
    let Ok(offsets) = indices(op, offset) else {
        return false;
    };
    let offsets: Vec<f32> = offsets.into_iter().map(|at| at as f32).collect();
    let sides = [&offsets[..], &rope_frequencies(rope, periods.first())[..]];
    match x.dtype() {
        Dtype::F32 => turn::<f32>(rope, x, sides, out, pool),
        Dtype::F16 => turn::<f16>(rope, x, sides, out, pool),
        Dtype::Bf16 => turn::<bf16>(rope, x, sides, out, pool),
        _ => None,
    }
    .is_some()
}
