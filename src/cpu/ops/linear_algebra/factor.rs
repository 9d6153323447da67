//! QR, LU, Cholesky and inverses.

use crate::cpu::ops::numbers::Number;

/// Q `[rows, k]` and R `[k, columns]`, k the smaller size, by Householder's reflections with LAPACK's signs.
pub fn qr<T: Number>(a: &[T], rows: usize, columns: usize) -> (Vec<T>, Vec<T>) {
    let k = rows.min(columns);
    let mut r = a.to_vec();
    let mut mirrors: Vec<(Vec<T>, f64)> = Vec::with_capacity(k);
    for j in 0..k {
        let column: Vec<T> = (j..rows).map(|i| r[i * columns + j]).collect();
        let (mirror, twice) = reflection(column);
        reflect(&mut r, columns, j, j, &mirror, twice);
        for i in j + 1..rows {
            r[i * columns + j] = T::default();
        }
        mirrors.push((mirror, twice));
    }
    r.truncate(k * columns);
    let mut q = vec![T::default(); rows * k];
    for i in 0..k {
        q[i * k + i] = T::real(1.0);
    }
    for (j, (mirror, twice)) in mirrors.iter().enumerate().rev() {
        reflect(&mut q, k, j, 0, mirror, *twice);
    }
    (q, r)
}

/// v and 2 / |v|² of the reflection that takes a column to a multiple of its first unit vector, as LAPACK
/// chooses it: none if all but the first is 0 already.
pub fn reflection<T: Number>(mut column: Vec<T>) -> (Vec<T>, f64) {
    let rest: f64 = column.iter().skip(1).map(|x| x.size() * x.size()).sum();
    if rest == 0.0 {
        return (column, 0.0);
    }
    let first = column[0];
    let norm = (rest + first.size() * first.size()).sqrt();
    let phase = match first.size() {
        0.0 => T::real(1.0),
        size => first * T::real(1.0 / size),
    };
    column[0] = first + phase * T::real(norm);
    let squares: f64 = column.iter().map(|x| x.size() * x.size()).sum();
    (column, 2.0 / squares)
}

/// `x ← (1 − twice · v vᴴ) x` for the rows from `top` and the columns from `left` on.
pub fn reflect<T: Number>(
    x: &mut [T],
    columns: usize,
    top: usize,
    left: usize,
    v: &[T],
    twice: f64,
) {
    if twice == 0.0 || left >= columns {
        return;
    }
    let mut dots = vec![T::default(); columns - left];
    for (i, v) in v.iter().enumerate() {
        let row = &x[(top + i) * columns + left..(top + i + 1) * columns];
        for (dot, &x) in dots.iter_mut().zip(row) {
            *dot += v.conj() * x;
        }
    }
    for (i, &v) in v.iter().enumerate() {
        let row = &mut x[(top + i) * columns + left..(top + i + 1) * columns];
        for (x, &dot) in row.iter_mut().zip(&dots) {
            *x -= v * dot * T::real(twice);
        }
    }
}

/// L (below the diagonal, ones not stored) and U in place; the row that each step changed places with, and
/// the row of `L·U` that each row of the matrix is.
pub fn lu<T: Number>(a: &mut [T], rows: usize, columns: usize) -> (Vec<usize>, Vec<usize>) {
    let k = rows.min(columns);
    let mut pivots = Vec::with_capacity(k);
    for j in 0..k {
        let mut pivot = j;
        for i in j + 1..rows {
            if a[i * columns + j].size() > a[pivot * columns + j].size() {
                pivot = i;
            }
        }
        pivots.push(pivot);
        if pivot != j {
            let (low, high) = a.split_at_mut(pivot * columns);
            low[j * columns..][..columns].swap_with_slice(&mut high[..columns]);
        }
        let top = a[j * columns + j];
        if top == T::default() {
            continue;
        }
        let (above, below) = a.split_at_mut((j + 1) * columns);
        let above = &above[j * columns..];
        for row in below.chunks_exact_mut(columns) {
            let factor = row[j] / top;
            row[j] = factor;
            for (x, &u) in row[j + 1..].iter_mut().zip(&above[j + 1..]) {
                *x -= factor * u;
            }
        }
    }
    let mut order: Vec<usize> = (0..rows).collect();
    for (j, &pivot) in pivots.iter().enumerate().rev() {
        order.swap(j, pivot);
    }
    (pivots, order)
}

/// The inverse; `None` of a singular matrix.
pub fn inverse<T: Number>(a: &[T], n: usize) -> Option<Vec<T>> {
    let mut lu_of = a.to_vec();
    let (pivots, _) = lu(&mut lu_of, n, n);
    let mut x = vec![T::default(); n * n];
    for i in 0..n {
        x[i * n + i] = T::real(1.0);
    }
    for (j, &pivot) in pivots.iter().enumerate() {
        for column in 0..n {
            x.swap(j * n + column, pivot * n + column);
        }
    }
    solve_lower(&lu_of, &mut x, n, true)?;
    solve_upper(&lu_of, &mut x, n)?;
    Some(x)
}

/// The inverse of a triangular matrix, whose other triangle is not looked at and 0 in the result.
pub fn triangular_inverse<T: Number>(a: &[T], n: usize, upper: bool) -> Option<Vec<T>> {
    let mut x = vec![T::default(); n * n];
    for i in 0..n {
        x[i * n + i] = T::real(1.0);
    }
    match upper {
        true => solve_upper(a, &mut x, n)?,
        false => solve_lower(a, &mut x, n, false)?,
    }
    Some(x)
}

/// `x ← L⁻¹ x`.
fn solve_lower<T: Number>(a: &[T], x: &mut [T], n: usize, ones: bool) -> Option<()> {
    for i in 0..n {
        let (done, rest) = x.split_at_mut(i * n);
        let row = &mut rest[..n];
        for (j, done) in done.chunks_exact(n).enumerate() {
            let factor = a[i * n + j];
            for (x, &d) in row.iter_mut().zip(done) {
                *x -= factor * d;
            }
        }
        if !ones {
            divide(row, a[i * n + i])?;
        }
    }
    Some(())
}

/// `x ← U⁻¹ x`.
fn solve_upper<T: Number>(a: &[T], x: &mut [T], n: usize) -> Option<()> {
    for i in (0..n).rev() {
        let (head, done) = x.split_at_mut((i + 1) * n);
        let row = &mut head[i * n..];
        for (j, done) in done.chunks_exact(n).enumerate() {
            let factor = a[i * n + i + 1 + j];
            for (x, &d) in row.iter_mut().zip(done) {
                *x -= factor * d;
            }
        }
        divide(row, a[i * n + i])?;
    }
    Some(())
}

fn divide<T: Number>(row: &mut [T], by: T) -> Option<()> {
    if by == T::default() {
        return None;
    }
    row.iter_mut().for_each(|x| *x = *x / by);
    Some(())
}

/// L of `a = L Lᴴ`, or its transpose; the triangle that is asked for is the one that is read. `None` if a is
/// not positive definite.
pub fn cholesky<T: Number>(a: &[T], n: usize, upper: bool) -> Option<Vec<T>> {
    let mut l = vec![T::default(); n * n];
    for i in 0..n {
        for j in 0..=i {
            let mut sum = match upper {
                true => a[j * n + i].conj(),
                false => a[i * n + j],
            };
            for k in 0..j {
                sum -= l[i * n + k] * l[j * n + k].conj();
            }
            if i == j {
                // NaN is not positive either.
                if sum.re().is_nan() || sum.re() <= 0.0 {
                    return None;
                }
                l[i * n + i] = T::real(sum.re().sqrt());
            } else {
                l[i * n + j] = sum / l[j * n + j];
            }
        }
    }
    if upper {
        let transposed = (0..n * n).map(|at| l[at % n * n + at / n].conj());
        l = transposed.collect();
    }
    Some(l)
}
