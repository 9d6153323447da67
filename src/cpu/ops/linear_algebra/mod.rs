//! Linear algebra: what MLX takes from LAPACK, computed in f64 and rounded once.
//!
//! Matrices are row after row. Factors that LAPACK fixes (signs of QR, pivots of LU) are fixed alike;
//! singular and eigenvectors are unique only up to signs, or phases.

mod eigen;
mod factor;
mod hermitian;
mod svd;

use super::numbers::{C, Number, batches, last_two, matrix};
use super::{Out, View, input, missing};
use crate::ir::{Dtype, LinearAlgebra, Op};
use crate::{Error, Result};

/// A matrix of an array of them, and what its factors are written to.
struct Case<'c, 'v, 'a, 'o> {
    op: &'c Op,
    x: View<'a>,
    batch: usize,
    outputs: &'v mut [Out<'o>],
}

/// Factors every matrix of the last two axes.
pub fn run(op: &Op, inputs: &[View<'_>], outputs: &mut [Out<'_>]) -> Result<()> {
    let Op::LinearAlgebra(kind) = op else {
        return Err(missing(op));
    };
    let x = input(op, inputs, 0)?;
    let (rows, columns) = last_two(op, x.sizes())?;
    for batch in 0..batches(x.sizes()) {
        let case = Case {
            op,
            x: matrix(x, batch),
            batch,
            outputs,
        };
        match x.dtype() {
            Dtype::C64 => one::<C>(case, *kind, (rows, columns))?,
            _ => one::<f64>(case, *kind, (rows, columns))?,
        }
    }
    Ok(())
}

impl Case<'_, '_, '_, '_> {
    /// Writes this matrix' part of a result.
    fn put<T: Number>(&mut self, output: usize, values: &[T]) -> Result<()> {
        let name = self.op.name();
        let out = self.outputs.get_mut(output);
        let out = out.ok_or_else(|| Error::Internal(format!("{name} without result {output}")))?;
        T::write(out, self.batch * values.len(), values);
        Ok(())
    }

    fn refused(&self, what: &str) -> Error {
        Error::InvalidArgument(format!("{}: matrix {} {what}", self.op.name(), self.batch))
    }
}

fn one<T: Number>(
    mut case: Case<'_, '_, '_, '_>,
    kind: LinearAlgebra,
    size: (usize, usize),
) -> Result<()> {
    let (rows, columns) = size;
    let mut a = T::read(&case.x);
    let iterates = matches!(
        kind,
        LinearAlgebra::Svd { .. } | LinearAlgebra::Eig { .. } | LinearAlgebra::Eigh { .. }
    );
    if iterates && !a.iter().all(|x| x.is_finite()) {
        return Err(case.refused("holds NaN or infinities"));
    }
    let endless = |case: &Case<'_, '_, '_, '_>| case.refused("does not converge");
    match kind {
        LinearAlgebra::Qrf => {
            let (q, r) = factor::qr(&a, rows, columns);
            case.put(0, &q)?;
            case.put(1, &r)
        }
        LinearAlgebra::Luf => {
            let (pivots, order) = factor::lu(&mut a, rows, columns);
            case.put(0, &a)?;
            let numbers = |places: &[usize]| places.iter().map(|&p| p as f64).collect::<Vec<_>>();
            case.put(1, &numbers(&pivots))?;
            case.put(2, &numbers(&order))
        }
        LinearAlgebra::Inverse { triangular, upper } => {
            let inverse = match triangular {
                true => factor::triangular_inverse(&a, rows, upper),
                false => factor::inverse(&a, rows),
            };
            let inverse = inverse.ok_or_else(|| case.refused("is singular"))?;
            case.put(0, &inverse)
        }
        LinearAlgebra::Cholesky { upper } => {
            let factor = factor::cholesky(&a, rows, upper)
                .ok_or_else(|| case.refused("is not positive definite"))?;
            case.put(0, &factor)
        }
        LinearAlgebra::Svd { vectors } => {
            let parts = svd::svd(&a, rows, columns, vectors).ok_or_else(|| endless(&case))?;
            if !vectors {
                return case.put(0, &parts.values);
            }
            case.put(0, &parts.left)?;
            case.put(1, &parts.values)?;
            case.put(2, &parts.right)
        }
        LinearAlgebra::Eigh { vectors, upper } => {
            let (values, columns) =
                hermitian::eigen(&a, rows, upper).ok_or_else(|| endless(&case))?;
            case.put(0, &values)?;
            match vectors {
                true => case.put(1, &columns),
                false => Ok(()),
            }
        }
        LinearAlgebra::Eig { vectors } => {
            let a = C::read(&case.x);
            let (values, columns) = eigen::eigen(a, rows).ok_or_else(|| endless(&case))?;
            case.put(0, &values)?;
            match vectors {
                true => case.put(1, &columns),
                false => Ok(()),
            }
        }
    }
}
