//! Products with quantized matrices. Sums are taken in f64 of the numbers that codes stand for, and
//! rounded once (MLX's own CPU form adds 16-bit numbers up in 16 bits).

use super::matmul::multiply;
use super::numbers::{Number, batches, last_two, matrix, places, reals, singles};
use super::quantized::{Quantized, there_and_back};
use super::{Out, View, input, missing, output};
use crate::Result;
use crate::ir::{Dtype, Op, QuantMode, Quantization};

/// Quantized products, also by index and with both sides quantized.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let out = output(op, outputs)?;
    match op {
        Op::QuantizedMatmul {
            quantization,
            transpose,
        } => one_side(op, inputs, (quantization, *transpose), false, out),
        Op::GatherQmm {
            quantization,
            transpose,
        } => one_side(op, inputs, (quantization, *transpose), true, out),
        Op::QqMatmul(quantization) => both_sides(op, inputs, quantization, false, out),
        Op::GatherQqmm(quantization) => both_sides(op, inputs, quantization, true, out),
        op => Err(missing(op)),
    }
}

fn transposed(x: &[f64], rows: usize, columns: usize) -> Vec<f64> {
    let element = |at: usize| x[at % rows * columns + at / rows];
    (0..rows * columns).map(element).collect()
}

/// Which matrices meet: of x, of w.
fn pairs(
    op: &Op,
    inputs: &[View<'_>],
    from: usize,
    (x, w): (&View<'_>, &View<'_>),
) -> Result<Vec<(usize, usize)>> {
    let left = input(op, inputs, from)?;
    let right = input(op, inputs, from + 1)?;
    let left = places(op, left, "left matrix", batches(x.sizes()))?;
    let right = places(op, right, "right matrix", batches(w.sizes()))?;
    Ok(left.into_iter().zip(right).collect())
}

fn one_side(
    op: &Op,
    inputs: &[View<'_>],
    (q, transpose): (&Quantization, bool),
    by_index: bool,
    out: &mut Out<'_>,
) -> Result<()> {
    let (x, w) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let scales = input(op, inputs, 2)?;
    let affine = q.mode == QuantMode::Affine;
    let biases = match affine {
        true => Some(input(op, inputs, 3)?),
        false => None,
    };
    let quantized = Quantized::new(q, w, scales, biases);
    let (m, n) = last_two(op, out.sizes())?;
    let (_, k) = last_two(op, x.sizes())?;
    let one_w = batches(w.sizes()) == 1;
    let pairs = match by_index {
        true => pairs(op, inputs, 3 + usize::from(affine), (x, w))?,
        false => (0..batches(out.sizes()))
            .map(|batch| (batch, if one_w { 0 } else { batch }))
            .collect(),
    };
    if m * n * k == 0 {
        return Ok(());
    }
    let mut last: Option<(usize, Vec<f64>)> = None;
    for (place, (left, right)) in pairs.into_iter().enumerate() {
        if last.as_ref().is_none_or(|(at, _)| *at != right) {
            let w = quantized.at(right);
            let w = if transpose { transposed(&w, n, k) } else { w };
            last = Some((right, w));
        }
        if let Some((_, w)) = &last {
            let product = multiply(&reals(&matrix(x, left)), w, k, n);
            f64::write(out, place * m * n, &product);
        }
    }
    Ok(())
}

/// `(x, w, [scales], [global scales of x and w], [left and right places])`.
fn both_sides(
    op: &Op,
    inputs: &[View<'_>],
    q: &Quantization,
    by_index: bool,
    out: &mut Out<'_>,
) -> Result<()> {
    let (x, w) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let (m, n) = last_two(op, out.sizes())?;
    let (_, k) = last_two(op, x.sizes())?;
    let packed = w.dtype() == Dtype::U32;
    let after = 2 + usize::from(packed);
    let indices = inputs.len().saturating_sub(if by_index { 2 } else { 0 });
    let (mut of_x, mut of_w) = (None, None);
    if indices > after {
        of_x = singles(input(op, inputs, after)?).first().copied();
        of_w = singles(input(op, inputs, after + 1)?).first().copied();
    }
    let pairs = match by_index {
        true => pairs(op, inputs, indices, (x, w))?,
        false => vec![(0, 0)],
    };
    if m * n * k == 0 {
        return Ok(());
    }
    for (place, (left, right)) in pairs.into_iter().enumerate() {
        let mut a = singles(&matrix(x, left));
        there_and_back(q, &mut a, of_x, x.dtype());
        let w = match packed {
            true => {
                let mut w = Quantized::new(q, w, input(op, inputs, 2)?, None);
                w.factor = of_w.map_or(1.0, |global| global / 2688.0);
                w.at(right)
            }
            false => {
                let dtype = w.dtype();
                let mut w = singles(&matrix(w, right));
                there_and_back(q, &mut w, of_w, dtype);
                w.into_iter().map(f64::from).collect()
            }
        };
        let a: Vec<f64> = a.into_iter().map(f64::from).collect();
        let product = multiply(&a, &transposed(&w, n, k), k, n);
        f64::write(out, place * m * n, &product);
    }
    Ok(())
}
