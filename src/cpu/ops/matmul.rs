//! Products of matrices. Sums are taken in f64 and rounded once.

use super::numbers::{C, Number, batches, last_two, matrix, places};
use super::{Out, View, input, missing, output};
use crate::ir::{Dtype, Op};
use crate::{Error, Result};

/// Products of the last two axes, with masks, by index or in segments.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let out = output(op, outputs)?;
    match out.dtype() {
        Dtype::C64 => product::<C>(op, inputs, out),
        _ => product::<f64>(op, inputs, out),
    }
}

fn product<T: Number>(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>) -> Result<()> {
    match op {
        Op::Matmul => plain::<T>(op, inputs, out),
        Op::AddMm { alpha, beta } => add::<T>(op, inputs, (alpha.get(), beta.get()), out),
        Op::BlockMaskedMm {
            block,
            out: masked,
            operands,
        } => blocks::<T>(op, inputs, *block, (*masked, *operands), out),
        Op::GatherMm => gather::<T>(op, inputs, out),
        Op::SegmentedMm => segments::<T>(op, inputs, out),
        op => Err(missing(op)),
    }
}

/// `a [m, k] · b [k, n]`.
pub fn multiply<T: Number>(a: &[T], b: &[T], k: usize, n: usize) -> Vec<T> {
    let m = a.len().checked_div(k).unwrap_or(0);
    let mut out = vec![T::default(); m * n];
    if n == 0 || k == 0 {
        return out;
    }
    for (row, to) in a.chunks_exact(k).zip(out.chunks_exact_mut(n)) {
        for (&x, b) in row.iter().zip(b.chunks_exact(n)) {
            for (to, &y) in to.iter_mut().zip(b) {
                *to += x * y;
            }
        }
    }
    out
}

/// The matrices of an array; one that follows itself (a broadcast) is read once.
struct Matrices<'v, 'a, T> {
    view: &'v View<'a>,
    last: Option<(usize, Vec<T>)>,
}

impl<'v, 'a, T: Number> Matrices<'v, 'a, T> {
    fn of(view: &'v View<'a>) -> Self {
        Matrices { view, last: None }
    }

    fn at(&mut self, batch: usize) -> &[T] {
        let matrix = matrix(self.view, batch);
        let offset = matrix.layout().offset;
        if self.last.as_ref().is_none_or(|(at, _)| *at != offset) {
            self.last = Some((offset, T::read(&matrix)));
        }
        self.last.as_ref().map_or(&[], |(_, values)| values)
    }
}

fn plain<T: Number>(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>) -> Result<()> {
    let (a, b) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let (m, n) = last_two(op, out.sizes())?;
    let (k, _) = last_two(op, b.sizes())?;
    let (mut a, mut b) = (Matrices::<T>::of(a), Matrices::<T>::of(b));
    if m * n * k == 0 {
        // Sums of nothing: zeros are there.
        return Ok(());
    }
    for batch in 0..batches(out.sizes()) {
        T::write(
            out,
            batch * m * n,
            &multiply(a.at(batch), b.at(batch), k, n),
        );
    }
    Ok(())
}

fn add<T: Number>(
    op: &Op,
    inputs: &[View<'_>],
    (alpha, beta): (f64, f64),
    out: &mut Out<'_>,
) -> Result<()> {
    let (c, a, b) = (
        input(op, inputs, 0)?,
        input(op, inputs, 1)?,
        input(op, inputs, 2)?,
    );
    let (m, n) = last_two(op, out.sizes())?;
    let (k, _) = last_two(op, b.sizes())?;
    let (mut c, mut a, mut b) = (
        Matrices::<T>::of(c),
        Matrices::<T>::of(a),
        Matrices::<T>::of(b),
    );
    if m * n == 0 {
        return Ok(());
    }
    for batch in 0..batches(out.sizes()) {
        // A factor of 0 means that its term is not looked at, as in BLAS: NaN times 0 is 0 here.
        let mut sum = match alpha == 0.0 || k == 0 {
            true => vec![T::default(); m * n],
            false => multiply(a.at(batch), b.at(batch), k, n),
        };
        for x in &mut sum {
            *x = *x * T::real(alpha);
        }
        if beta != 0.0 {
            for (x, &c) in sum.iter_mut().zip(c.at(batch)) {
                *x += T::real(beta) * c;
            }
        }
        T::write(out, batch * m * n, &sum);
    }
    Ok(())
}

/// Multiplies the blocks of a matrix by their mask; a false mask gives 0 whatever was there.
fn mask<T: Number>(x: &mut [T], columns: usize, block: usize, mask: &View<'_>, batch: usize) {
    let mask = matrix(mask, batch);
    let truth = mask.dtype() == Dtype::Bool;
    let across = columns.div_ceil(block);
    let mask = T::read(&mask);
    for (row, x) in x.chunks_exact_mut(columns.max(1)).enumerate() {
        for (column, x) in x.iter_mut().enumerate() {
            let factor = mask[row / block * across + column / block];
            if truth && factor == T::default() {
                *x = T::default();
            } else if !truth {
                *x = *x * factor;
            }
        }
    }
}

fn blocks<T: Number>(
    op: &Op,
    inputs: &[View<'_>],
    block: usize,
    (masked, operands): (bool, bool),
    out: &mut Out<'_>,
) -> Result<()> {
    let (a, b) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let (m, n) = last_two(op, out.sizes())?;
    let (k, _) = last_two(op, b.sizes())?;
    if m * n * k == 0 {
        return Ok(());
    }
    let of_operands = 2 + usize::from(masked);
    for batch in 0..batches(out.sizes()) {
        let mut a = T::read(&matrix(a, batch));
        let mut b = T::read(&matrix(b, batch));
        if operands {
            mask(&mut a, k, block, input(op, inputs, of_operands)?, batch);
            mask(&mut b, n, block, input(op, inputs, of_operands + 1)?, batch);
        }
        let mut product = multiply(&a, &b, k, n);
        if masked {
            mask(&mut product, n, block, input(op, inputs, 2)?, batch);
        }
        T::write(out, batch * m * n, &product);
    }
    Ok(())
}

fn gather<T: Number>(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>) -> Result<()> {
    let (a, b) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let (m, n) = last_two(op, out.sizes())?;
    let (k, _) = last_two(op, b.sizes())?;
    let left = input(op, inputs, 2)?;
    let left = places(op, left, "left matrix", batches(a.sizes()))?;
    let right = input(op, inputs, 3)?;
    let right = places(op, right, "right matrix", batches(b.sizes()))?;
    let (mut a, mut b) = (Matrices::<T>::of(a), Matrices::<T>::of(b));
    if m * n * k == 0 {
        return Ok(());
    }
    for (place, (left, right)) in left.into_iter().zip(right).enumerate() {
        let product = multiply(a.at(left), b.at(right), k, n);
        T::write(out, place * m * n, &product);
    }
    Ok(())
}

fn segments<T: Number>(op: &Op, inputs: &[View<'_>], out: &mut Out<'_>) -> Result<()> {
    let (a, b) = (input(op, inputs, 0)?, input(op, inputs, 1)?);
    let (m, k) = last_two(op, a.sizes())?;
    let (_, n) = last_two(op, b.sizes())?;
    let ends = places(op, input(op, inputs, 2)?, "end of a segment", k + 1)?;
    if m * n == 0 {
        return Ok(());
    }
    let (a, b) = (T::read(a), T::read(b));
    for (place, ends) in ends.chunks_exact(2).enumerate() {
        let (from, to) = (ends[0], ends[1]);
        if from >= to {
            continue;
        }
        let rows = a
            .chunks_exact(k)
            .flat_map(|row| row[from..to].iter().copied());
        let product = multiply(
            &rows.collect::<Vec<T>>(),
            &b[from * n..to * n],
            to - from,
            n,
        );
        T::write(out, place * m * n, &product);
    }
    if ends.len() % 2 != 0 {
        return Err(Error::Internal(
            "segmented_mm: a segment without an end".into(),
        ));
    }
    Ok(())
}
