//! Eigenvalues of Hermitian matrices: to tridiagonal form by reflections, then QL with implicit shifts.

use super::factor::{reflect, reflection};
use crate::cpu::ops::numbers::Number;

/// Eigenvalues in ascending order, and eigenvectors as columns; `upper` says which triangle is read.
/// `None` if it does not converge.
pub fn eigen<T: Number>(a: &[T], n: usize, upper: bool) -> Option<(Vec<f64>, Vec<T>)> {
    let mut full = a.to_vec();
    for i in 0..n {
        full[i * n + i] = T::real(a[i * n + i].re());
        for j in 0..i {
            let below = match upper {
                true => a[j * n + i].conj(),
                false => a[i * n + j],
            };
            full[i * n + j] = below;
            full[j * n + i] = below.conj();
        }
    }
    let (mut values, mut beside, rows) = tridiagonal(full, n);
    let mut vectors = rows;
    ql(&mut values, &mut beside, &mut vectors, n)?;
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&i, &j| values[i].total_cmp(&values[j]));
    let sorted = order.iter().map(|&i| values[i]).collect();
    let column = |at: usize| vectors[order[at % n] * n + at / n];
    Some((sorted, (0..n * n).map(column).collect()))
}

/// The diagonal, what is beside it (real), and the vectors of `a = Q T Qᴴ` as rows (columns of Q).
fn tridiagonal<T: Number>(mut a: Vec<T>, n: usize) -> (Vec<f64>, Vec<f64>, Vec<T>) {
    let mut q = vec![T::default(); n * n];
    for i in 0..n {
        q[i * n + i] = T::real(1.0);
    }
    let mut mirrors = Vec::new();
    for k in 0..n.saturating_sub(2) {
        let column: Vec<T> = (k + 1..n).map(|i| a[i * n + k]).collect();
        let (v, twice) = reflection(column);
        reflect(&mut a, n, k + 1, 0, &v, twice);
        // The same from the right: rows of aᴴ, which is a again when both are done.
        let mut turned: Vec<T> = (0..n * n).map(|at| a[at % n * n + at / n].conj()).collect();
        reflect(&mut turned, n, k + 1, 0, &v, twice);
        a = turned;
        mirrors.push((v, twice));
    }
    for (k, (v, twice)) in mirrors.iter().enumerate().rev() {
        reflect(&mut q, n, k + 1, 0, v, *twice);
    }
    // Phases make the numbers beside the diagonal real.
    let mut phase = T::real(1.0);
    let mut beside = vec![0.0; n];
    let mut rows = vec![T::default(); n * n];
    for k in 0..n {
        if k > 0 {
            let below = a[k * n + k - 1];
            let size = below.size();
            beside[k - 1] = size;
            if size > 0.0 {
                phase = phase * below * T::real(1.0 / size);
            }
        }
        for i in 0..n {
            rows[k * n + i] = q[i * n + k] * phase;
        }
    }
    let diagonal = (0..n).map(|i| a[i * n + i].re()).collect();
    (diagonal, beside, rows)
}

/// QL iterations with implicit shifts on a real tridiagonal matrix; the rows of `vectors` turn with it.
fn ql<T: Number>(d: &mut [f64], e: &mut [f64], vectors: &mut [T], n: usize) -> Option<()> {
    for l in 0..n {
        for round in 0.. {
            let small = |m: &usize| {
                let sum = d[*m].abs() + d[*m + 1].abs();
                e[*m].abs() <= f64::EPSILON * sum || e[*m] == 0.0
            };
            let m = (l..n - 1).find(small).unwrap_or(n - 1);
            if m == l {
                break;
            }
            if round == 60 {
                return None;
            }
            let mut g = (d[l + 1] - d[l]) / (2.0 * e[l]);
            let r = g.hypot(1.0);
            g = d[m] - d[l] + e[l] / (g + r.copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut done = true;
            for i in (l..m).rev() {
                let (f, b) = (s * e[i], c * e[i]);
                let r = f.hypot(g);
                e[i + 1] = r;
                if r == 0.0 {
                    d[i + 1] -= p;
                    e[m] = 0.0;
                    done = false;
                    break;
                }
                (s, c) = (f / r, g / r);
                g = d[i + 1] - p;
                let r = (d[i] - g) * s + 2.0 * c * b;
                p = s * r;
                d[i + 1] = g + p;
                g = c * r - b;
                let (low, high) = vectors.split_at_mut((i + 1) * n);
                for (x, y) in low[i * n..].iter_mut().zip(&mut high[..n]) {
                    let (a, b) = (*x, *y);
                    *y = a * T::real(s) + b * T::real(c);
                    *x = a * T::real(c) - b * T::real(s);
                }
            }
            if done {
                d[l] -= p;
                e[l] = g;
                e[m] = 0.0;
            }
        }
    }
    Some(())
}
