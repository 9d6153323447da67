//! Linear algebra, on the CPU.

use super::functions::array_functions;
use crate::array::Array;
use crate::array::ops::NormOrder;
use crate::{Error, Result};

fn parts<const N: usize>(parts: Vec<Array>) -> Result<[Array; N]> {
    parts
        .try_into()
        .map_err(|_| Error::Internal("a factorization with other parts".into()))
}

fn one(all: Vec<Array>) -> Result<Array> {
    parts::<1>(all).map(|[one]| one)
}

fn two(all: Vec<Array>) -> Result<(Array, Array)> {
    parts::<2>(all).map(|[a, b]| (a, b))
}

fn three(all: Vec<Array>) -> Result<(Array, Array, Array)> {
    parts::<3>(all).map(|[a, b, c]| (a, b, c))
}

fn order(name: &str) -> Result<NormOrder> {
    match name {
        "f" | "fro" => Ok(NormOrder::Frobenius),
        "nuc" => Ok(NormOrder::Nuclear),
        name => Err(Error::InvalidArgument(format!(
            "norm: there is no norm \"{name}\"; \"fro\" and \"nuc\" are"
        ))),
    }
}

array_functions! {
    /// Q with orthogonal columns and R, upper triangular.
    fn mlxrocm_array_linalg_qr(array x) -> q, r = x.qr().and_then(two);
    /// U, the singular values (the largest first) and Vᴴ.
    fn mlxrocm_array_linalg_svd(array x) -> u, s, vt = x.svd(true).and_then(three);
    /// The singular values, the largest first.
    fn mlxrocm_array_linalg_svd_values(array x) -> result = x.svd(false).and_then(one);
    /// The inverse. Singular matrices fail when they are evaluated.
    fn mlxrocm_array_linalg_inv(array x) -> result = x.inv();
    /// The inverse of triangular matrices.
    /// - `upper`: not 0: of the upper triangle, else of the lower one.
    fn mlxrocm_array_linalg_tri_inv(array x, flag upper) -> result = x.tri_inv(upper);
    /// L of L·Lᵀ. What is not positive definite fails when it is evaluated.
    /// - `upper`: not 0: Lᵀ.
    fn mlxrocm_array_linalg_cholesky(array x, flag upper) -> result = x.cholesky(upper);
    /// The inverse of the matrix whose factor this is.
    /// - `upper`: not 0: the factor is an upper triangle.
    fn mlxrocm_array_linalg_cholesky_inv(array x, flag upper) -> result = x.cholesky_inv(upper);
    /// The pseudoinverse.
    fn mlxrocm_array_linalg_pinv(array x) -> result = x.pinv();
    /// Eigenvalues (ascending) and eigenvectors (columns) of Hermitian matrices.
    /// - `upper`: not 0: the upper triangle is read, else the lower one.
    fn mlxrocm_array_linalg_eigh(array x, flag upper) -> values, vectors = x.eigh(true, upper).and_then(two);
    /// Eigenvalues of Hermitian matrices, ascending.
    /// - `upper`: not 0: the upper triangle is read, else the lower one.
    fn mlxrocm_array_linalg_eigvalsh(array x, flag upper) -> result = x.eigh(false, upper).and_then(one);
    /// Eigenvalues and eigenvectors (columns), complex.
    fn mlxrocm_array_linalg_eig(array x) -> values, vectors = x.eig(true).and_then(two);
    /// Eigenvalues, complex.
    fn mlxrocm_array_linalg_eigvals(array x) -> result = x.eig(false).and_then(one);
    /// The row of L·U that each row is, L and U.
    fn mlxrocm_array_linalg_lu(array x) -> rows, l, u = x.lu().map(|[rows, l, u]| (rows, l, u));
    /// L and U in one array, and the row that each step changed places with.
    fn mlxrocm_array_linalg_lu_factor(array x) -> lu, pivots = x.lu_factor().map(|[lu, pivots]| (lu, pivots));
    /// x of a·x = b.
    fn mlxrocm_array_linalg_solve(array a, array b) -> result = a.solve(&b);
    /// x of a·x = b with a triangular a.
    /// - `upper`: not 0: the upper triangle, else the lower one.
    fn mlxrocm_array_linalg_solve_triangular(array a, array b, flag upper) -> result
        = a.solve_triangular(&b, upper);
    /// The determinant.
    fn mlxrocm_array_linalg_det(array x) -> result = x.det();
    /// The determinant's sign and the logarithm of its size.
    fn mlxrocm_array_linalg_slogdet(array x) -> sign, log = x.slogdet().map(|[sign, log]| (sign, log));
    /// Vector product along an axis of 2 or 3 elements.
    /// - `axis`: negative ones count from the end.
    fn mlxrocm_array_linalg_cross(array a, array b, int axis) -> result = a.cross(&b, axis);
    /// Root of the sum of squares.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_linalg_norm_l2(array x, axes axes[axes_count], flag keepdims) -> result
        = x.norm(None, axes, keepdims);
    /// Norm of vectors (one axis) or matrices (two).
    /// - `p`: which: any number for vectors; 1, 2, infinity and their negatives for matrices.
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_linalg_norm(array x, number p, axes axes[axes_count], flag keepdims) -> result
        = x.norm(Some(NormOrder::P(p)), axes, keepdims);
    /// Norm of matrices.
    /// - `order`: UTF-8, borrowed for the call: "fro" (root of all squares) or "nuc" (sum of singular values).
    /// - `keepdims`: not 0: reduced axes stay, of size 1.
    fn mlxrocm_array_linalg_norm_matrix(array x, text order[order_length], axes axes[axes_count], flag keepdims) -> result
        = x.norm(Some(self::order(order)?), axes, keepdims);
}
