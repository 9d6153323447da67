//! Singular values: Jacobi's rotations of columns until all are orthogonal.

use crate::cpu::ops::numbers::Number;

/// The parts of `a = left · values · right`.
pub struct Svd<T> {
    /// `[rows, rows]`.
    pub left: Vec<T>,
    /// The largest first.
    pub values: Vec<f64>,
    /// `[columns, columns]`.
    pub right: Vec<T>,
}

/// The decomposition with full sides; without `vectors` the sides are empty. `None` if it does not converge.
pub fn svd<T: Number>(a: &[T], rows: usize, columns: usize, vectors: bool) -> Option<Svd<T>> {
    // Vectors of length `long`, one after the other: columns of a tall matrix, conjugate rows of a wide one.
    let tall = rows >= columns;
    let (long, short) = if tall {
        (rows, columns)
    } else {
        (columns, rows)
    };
    let mut x: Vec<T> = match tall {
        true => (0..long * short)
            .map(|at| a[at % long * columns + at / long])
            .collect(),
        false => a.iter().map(|x| x.conj()).collect(),
    };
    let mut turns = match vectors {
        true => identity(short),
        false => Vec::new(),
    };
    orthogonalize(&mut x, &mut turns, long, short)?;
    let norm = |i: usize| {
        let squares = x[i * long..][..long].iter().map(|x| x.size() * x.size());
        squares.sum::<f64>().sqrt()
    };
    let norms: Vec<f64> = (0..short).map(norm).collect();
    let mut order: Vec<usize> = (0..short).collect();
    order.sort_by(|&i, &j| norms[j].total_cmp(&norms[i]));
    let values: Vec<f64> = order.iter().map(|&i| norms[i]).collect();
    if !vectors {
        return Some(Svd {
            left: Vec::new(),
            values,
            right: Vec::new(),
        });
    }
    let largest = values.first().copied().unwrap_or(0.0);
    let mut outer: Vec<Vec<T>> = Vec::with_capacity(long);
    for &i in &order {
        // Of a vanishing value only noise is left to say where its vector points.
        if norms[i] > largest * f64::EPSILON * long as f64 {
            let scale = T::real(1.0 / norms[i]);
            outer.push(x[i * long..][..long].iter().map(|&x| x * scale).collect());
        }
    }
    complete(&mut outer, long);
    let inner = order.iter().map(|&i| turns[i * short..][..short].to_vec());
    let inner: Vec<Vec<T>> = inner.collect();
    // x·turns = outer·values, so a = outer · values · innerᴴ of a tall matrix, and the conjugate transpose
    // of that of a wide one.
    let (left, right) = if tall { (outer, inner) } else { (inner, outer) };
    Some(Svd {
        left: (0..rows * rows)
            .map(|at| left[at % rows][at / rows])
            .collect(),
        values,
        right: (0..columns * columns)
            .map(|at| right[at / columns][at % columns].conj())
            .collect(),
    })
}

fn identity<T: Number>(n: usize) -> Vec<T> {
    let one = |at: usize| T::real(if at / n == at % n { 1.0 } else { 0.0 });
    (0..n * n).map(one).collect()
}

/// Turns pairs of vectors until all are orthogonal; `turns` (if not empty) turns alike.
fn orthogonalize<T: Number>(x: &mut [T], turns: &mut [T], long: usize, short: usize) -> Option<()> {
    // A power of two keeps squares within range.
    let largest = x.iter().fold(0.0, |max: f64, x| max.max(x.size()));
    if largest == 0.0 {
        return Some(());
    }
    let scale = 2f64.powi(-largest.log2().floor().clamp(-1000.0, 1000.0) as i32);
    x.iter_mut().for_each(|x| *x = *x * T::real(scale));
    // Below these, sums of `long` products are rounding errors.
    let close = f64::EPSILON * (long as f64).sqrt();
    let all: f64 = x.iter().map(|x| x.size() * x.size()).sum();
    let noise = all * f64::EPSILON * f64::EPSILON;
    let mut turned = true;
    for _ in 0..60 {
        if !turned {
            break;
        }
        turned = false;
        for p in 0..short {
            for q in p + 1..short {
                let (head, tail) = x.split_at_mut(q * long);
                let (a, b) = (&mut head[p * long..][..long], &mut tail[..long]);
                let square = |v: &[T]| v.iter().map(|x| x.size() * x.size()).sum::<f64>();
                let (aa, bb) = (square(a), square(b));
                let mut ab = T::default();
                a.iter()
                    .zip(b.iter())
                    .for_each(|(a, &b)| ab += a.conj() * b);
                let size = ab.size();
                if size <= close * (aa * bb).sqrt() || aa.min(bb) <= noise {
                    continue;
                }
                turned = true;
                let phase = ab * T::real(1.0 / size);
                let zeta = (bb - aa) / (2.0 * size);
                let t = 1f64.copysign(zeta) / (zeta.abs() + zeta.hypot(1.0));
                let c = 1.0 / t.hypot(1.0);
                let turn = (c, phase * T::real(c * t));
                rotate(a, b, turn);
                if !turns.is_empty() {
                    let (head, tail) = turns.split_at_mut(q * short);
                    rotate(&mut head[p * short..][..short], &mut tail[..short], turn);
                }
            }
        }
    }
    x.iter_mut().for_each(|x| *x = *x * T::real(1.0 / scale));
    (!turned).then_some(())
}

/// `a ← c·a − s̄·b`, `b ← s·a + c·b`.
fn rotate<T: Number>(a: &mut [T], b: &mut [T], (c, s): (f64, T)) {
    for (a, b) in a.iter_mut().zip(b) {
        let (x, y) = (*a, *b);
        *a = x * T::real(c) - y * s.conj();
        *b = x * s + y * T::real(c);
    }
}

/// Adds vectors until there are as many orthogonal ones as they have elements.
fn complete<T: Number>(vectors: &mut Vec<Vec<T>>, n: usize) {
    let mut axis = 0;
    while vectors.len() < n && axis < n {
        let mut new = vec![T::default(); n];
        new[axis] = T::real(1.0);
        // Twice: once leaves rounding errors in what is small.
        for _ in 0..2 {
            for v in vectors.iter() {
                let mut dot = T::default();
                v.iter().zip(&new).for_each(|(v, &x)| dot += v.conj() * x);
                new.iter_mut().zip(v).for_each(|(x, &v)| *x -= v * dot);
            }
        }
        let squares: f64 = new.iter().map(|x| x.size() * x.size()).sum();
        // Some axis has this much left: what is missing spreads over n of them.
        if squares >= 0.5 / n as f64 {
            let scale = T::real(1.0 / squares.sqrt());
            vectors.push(new.into_iter().map(|x| x * scale).collect());
            axis = 0;
        } else {
            axis += 1;
        }
    }
}
