//! Eigenvalues of any square matrix: to Hessenberg form by reflections, to triangular form by QR steps
//! with shifts, all complex.

use super::factor::{reflect, reflection};
use crate::cpu::ops::numbers::C;

const ZERO: C = C::new(0.0, 0.0);
const ONE: C = C::new(1.0, 0.0);

/// Eigenvalues, and eigenvectors as columns: of length 1, the largest element real and positive. `None` if it
/// does not converge.
pub fn eigen(mut a: Vec<C>, n: usize) -> Option<(Vec<C>, Vec<C>)> {
    let mut q = hessenberg(&mut a, n);
    triangular(&mut a, &mut q, n)?;
    let values = (0..n).map(|i| a[i * n + i]).collect();
    let norm = a.iter().fold(0.0, |max: f64, x| max.max(x.norm()));
    let tiny = (norm * f64::EPSILON).max(f64::MIN_POSITIVE);
    let mut vectors = vec![ZERO; n * n];
    for k in 0..n {
        // (T − λ) y = 0, from the last row up.
        let mut y = vec![ZERO; n];
        y[k] = ONE;
        for i in (0..k).rev() {
            let sum: C = (i + 1..=k).map(|j| a[i * n + j] * y[j]).sum();
            let mut gap = a[k * n + k] - a[i * n + i];
            if gap.norm() < tiny {
                gap = C::new(tiny, 0.0);
            }
            y[i] = sum / gap;
            // Nearly equal eigenvalues make large numbers; only the direction counts.
            let size = y[i].norm();
            if size > 1e100 {
                y.iter_mut().for_each(|y| *y /= size);
            }
        }
        let row = |i: usize| (0..=k).map(|j| q[i * n + j] * y[j]).sum::<C>();
        let vector: Vec<C> = (0..n).map(row).collect();
        let length = vector.iter().map(|x| x.norm_sqr()).sum::<f64>().sqrt();
        let largest = vector
            .iter()
            .copied()
            .max_by(|x, y| x.norm().total_cmp(&y.norm()))
            .unwrap_or(ONE);
        let turn = largest.conj() / largest.norm() / length;
        for (i, x) in vector.into_iter().enumerate() {
            vectors[i * n + k] = x * turn;
        }
    }
    Some((values, vectors))
}

/// `a ← Qᴴ a Q` with zeros below the first subdiagonal; Q.
fn hessenberg(a: &mut Vec<C>, n: usize) -> Vec<C> {
    let adjoint =
        |x: &[C]| -> Vec<C> { (0..n * n).map(|at| x[at % n * n + at / n].conj()).collect() };
    let mut q = vec![ZERO; n * n];
    (0..n).for_each(|i| q[i * n + i] = ONE);
    let mut mirrors = Vec::new();
    for k in 0..n.saturating_sub(2) {
        let column: Vec<C> = (k + 1..n).map(|i| a[i * n + k]).collect();
        let (v, twice) = reflection(column);
        reflect(a, n, k + 1, 0, &v, twice);
        let mut turned = adjoint(a);
        reflect(&mut turned, n, k + 1, 0, &v, twice);
        *a = adjoint(&turned);
        for i in k + 2..n {
            a[i * n + k] = ZERO;
        }
        mirrors.push((v, twice));
    }
    for (k, (v, twice)) in mirrors.iter().enumerate().rev() {
        reflect(&mut q, n, k + 1, 0, v, *twice);
    }
    q
}

/// QR steps until the subdiagonal is 0; q turns with it.
fn triangular(a: &mut [C], q: &mut [C], n: usize) -> Option<()> {
    let mut high = n;
    let mut round = 0;
    while high > 1 {
        let last = high - 1;
        let small = |i: usize| {
            let around = a[i * n + i].norm() + a[(i - 1) * n + i - 1].norm();
            let around = if around == 0.0 { 1.0 } else { around };
            a[i * n + i - 1].norm() <= f64::EPSILON * around
        };
        let low = (1..high).rev().find(|&i| small(i)).unwrap_or(0);
        if low > 0 {
            a[low * n + low - 1] = ZERO;
        }
        if low == last {
            high -= 1;
            round = 0;
            continue;
        }
        round += 1;
        if round > 300 {
            return None;
        }
        let shift = match round % 10 {
            // A shift of another kind breaks cycles.
            0 => a[last * n + last] + C::new(a[last * n + last - 1].norm(), 0.0),
            _ => near(
                [a[(last - 1) * n + last - 1], a[(last - 1) * n + last]],
                [a[last * n + last - 1], a[last * n + last]],
            ),
        };
        step(a, q, n, (low, last), shift);
    }
    Some(())
}

/// The eigenvalue of a 2 × 2 matrix that is nearer to its last element.
fn near([a, b]: [C; 2], [c, d]: [C; 2]) -> C {
    let half = (a - d) * 0.5;
    let root = (half * half + b * c).sqrt();
    let sum = match (half.conj() * root).re >= 0.0 {
        true => half + root,
        false => half - root,
    };
    match sum == ZERO {
        true => d,
        false => d - b * c / sum,
    }
}

/// One QR step of the rows and columns from `low` to `last`.
fn step(a: &mut [C], q: &mut [C], n: usize, (low, last): (usize, usize), shift: C) {
    (low..=last).for_each(|i| a[i * n + i] -= shift);
    let mut turns = Vec::with_capacity(last - low);
    for i in low..last {
        let (x, y) = (a[i * n + i], a[(i + 1) * n + i]);
        let length = (x.norm_sqr() + y.norm_sqr()).sqrt();
        let (c, s) = match length == 0.0 {
            true => (ONE, ZERO),
            false => (x / length, y / length),
        };
        for j in i..n {
            let (x, y) = (a[i * n + j], a[(i + 1) * n + j]);
            a[i * n + j] = c.conj() * x + s.conj() * y;
            a[(i + 1) * n + j] = c * y - s * x;
        }
        turns.push((c, s));
    }
    for (i, &(c, s)) in (low..last).zip(&turns) {
        let turn = |m: &mut [C], rows: usize| {
            for row in 0..rows {
                let (x, y) = (m[row * n + i], m[row * n + i + 1]);
                m[row * n + i] = x * c + y * s;
                m[row * n + i + 1] = y * c.conj() - x * s.conj();
            }
        };
        turn(a, (i + 2).min(last + 1));
        turn(q, n);
    }
    (low..=last).for_each(|i| a[i * n + i] += shift);
}
