//! Linear algebra: the operations of LAPACK. All run on the CPU.

use super::{invalid, known};
use crate::Result;
use crate::array::Array;
use crate::ir::{Dtype, LinearAlgebra, Op, Shape, Type};
use smallvec::SmallVec;

impl Array {
    /// Checks an array of matrices (square ones); its sizes.
    pub(super) fn matrices(
        &self,
        name: &str,
        square: bool,
        complex: bool,
    ) -> Result<SmallVec<[usize; 4]>> {
        let fits = matches!(self.dtype(), Dtype::F32 | Dtype::F64)
            || complex && self.dtype() == Dtype::C64;
        let sizes = known(name, self)?;
        let matrix = match sizes[..] {
            [.., rows, columns] => !square || rows == columns,
            _ => false,
        };
        if !fits || !matrix {
            let kind = if square {
                "square matrices"
            } else {
                "matrices"
            };
            let or = if complex {
                ", float64 or complex64"
            } else {
                " or float64"
            };
            return Err(invalid(
                name,
                format!("{self:?} is no array of {kind} of float32{or}"),
            ));
        }
        Ok(sizes)
    }

    /// The results of a factorization: of each the dtype and what takes the place of the last two sizes.
    fn factors<const N: usize>(
        &self,
        kind: LinearAlgebra,
        parts: [(Dtype, &[usize]); N],
    ) -> Vec<Array> {
        let dims = self.shape().dims();
        let outer = &dims[..dims.len().saturating_sub(2)];
        let ty = |(dtype, last): (Dtype, &[usize])| Type {
            dtype,
            shape: Shape::new(outer.iter().copied().chain(last.iter().map(|&n| n.into()))),
        };
        let outputs = parts.map(ty).to_vec();
        Array::call(Op::LinearAlgebra(kind), vec![self.clone()], outputs)
    }

    /// Q `[…, m, k]` with orthogonal columns and R `[…, k, n]`, upper triangular, k the smaller of m and n.
    ///
    /// # Errors
    /// `InvalidArgument` for arrays that are no matrices of f32 or f64; so for all below.
    pub fn qr(&self) -> Result<Vec<Array>> {
        let sizes = self.matrices("qr", false, false)?;
        let (m, n) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
        let k = m.min(n);
        let dtype = self.dtype();
        Ok(self.factors(LinearAlgebra::Qrf, [(dtype, &[m, k]), (dtype, &[k, n])]))
    }

    /// Singular values, the largest first; with `vectors` between `[…, m, m]` and `[…, n, n]`, of which they make
    /// the matrix.
    ///
    /// # Errors
    /// As [`Array::qr`] (complex ones too); when evaluated, for NaN and infinities.
    pub fn svd(&self, vectors: bool) -> Result<Vec<Array>> {
        let sizes = self.matrices("svd", false, true)?;
        let (m, n) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
        let k = [m.min(n)];
        let (dtype, real) = (self.dtype(), real(self.dtype()));
        let kind = LinearAlgebra::Svd { vectors };
        Ok(match vectors {
            true => self.factors(kind, [(dtype, &[m, m]), (real, &k), (dtype, &[n, n])]),
            false => self.factors(kind, [(real, &k)]),
        })
    }

    /// The one result of an operation that keeps the shape.
    fn same(&self, name: &str, kind: LinearAlgebra) -> Result<Array> {
        self.matrices(name, true, false)?;
        let shape = self.shape().clone();
        let op = Op::LinearAlgebra(kind);
        Ok(Array::one(op, [self.clone()], self.dtype(), shape))
    }

    /// The inverse of square matrices.
    ///
    /// # Errors
    /// As [`Array::qr`]; when evaluated, for singular matrices.
    pub fn inv(&self) -> Result<Array> {
        let kind = LinearAlgebra::Inverse {
            triangular: false,
            upper: true,
        };
        self.same("inv", kind)
    }

    /// The inverse of triangular matrices; the other triangle is not looked at.
    ///
    /// # Errors
    /// As [`Array::inv`].
    pub fn tri_inv(&self, upper: bool) -> Result<Array> {
        let kind = LinearAlgebra::Inverse {
            triangular: true,
            upper,
        };
        self.same("tri_inv", kind)
    }

    /// L of `L·Lᵀ`, or its transpose (`upper`).
    ///
    /// # Errors
    /// As [`Array::qr`]; when evaluated, for matrices that are not positive definite.
    pub fn cholesky(&self, upper: bool) -> Result<Array> {
        self.same("cholesky", LinearAlgebra::Cholesky { upper })
    }

    /// Eigenvalues of Hermitian matrices in ascending order, and (`vectors`) eigenvectors as columns; one
    /// triangle is looked at.
    ///
    /// # Errors
    /// As [`Array::svd`].
    pub fn eigh(&self, vectors: bool, upper: bool) -> Result<Vec<Array>> {
        let sizes = self.matrices("eigh", true, true)?;
        let n = sizes[sizes.len() - 1];
        let (dtype, real) = (self.dtype(), real(self.dtype()));
        let kind = LinearAlgebra::Eigh { vectors, upper };
        Ok(match vectors {
            true => self.factors(kind, [(real, &[n]), (dtype, &[n, n])]),
            false => self.factors(kind, [(real, &[n])]),
        })
    }

    /// Eigenvalues of square matrices, and (`vectors`) eigenvectors of length 1 as columns; complex.
    ///
    /// # Errors
    /// As [`Array::svd`].
    pub fn eig(&self, vectors: bool) -> Result<Vec<Array>> {
        let sizes = self.matrices("eig", true, true)?;
        let n = sizes[sizes.len() - 1];
        let c = Dtype::C64;
        let kind = LinearAlgebra::Eig { vectors };
        Ok(match vectors {
            true => self.factors(kind, [(c, &[n]), (c, &[n, n])]),
            false => self.factors(kind, [(c, &[n])]),
        })
    }

    /// L (below the diagonal, its ones not stored) and U in one array, the row that each step changed places
    /// with, and the row of `L·U` that each row is.
    pub(super) fn lu_parts(&self, name: &str) -> Result<[Array; 3]> {
        let sizes = self.matrices(name, false, false)?;
        let (m, n) = (sizes[sizes.len() - 2], sizes[sizes.len() - 1]);
        let (dtype, index) = (self.dtype(), Dtype::U32);
        let parts = [(dtype, &[m, n][..]), (index, &[m.min(n)]), (index, &[m])];
        let parts = self.factors(LinearAlgebra::Luf, parts);
        parts
            .try_into()
            .map_err(|_| crate::Error::Internal("lu without three parts".into()))
    }
}

fn real(dtype: Dtype) -> Dtype {
    match dtype {
        Dtype::C64 => Dtype::F32,
        dtype => dtype,
    }
}
