//! Arrays of numbers that a rule gives.

use super::dtype::optional_dtype;
use super::functions::array_functions;
use crate::Result;
use crate::array::Array;
use crate::ir::Dtype;

/// A number in the shape of an array.
fn like(x: &Array, number: f64, dtype: i64) -> Result<Array> {
    x.full_like(&Array::number(number, Dtype::F32)?, optional_dtype(dtype)?)
}

array_functions! {
    /// The value, broadcast to a shape.
    fn mlxrocm_array_full(shape shape[rank], array value, dtype dtype) -> result
        = Array::full(shape, &value, dtype);
    /// Zeros.
    fn mlxrocm_array_zeros(shape shape[rank], dtype dtype) -> result = Array::zeros(shape, dtype);
    /// Ones.
    fn mlxrocm_array_ones(shape shape[rank], dtype dtype) -> result = Array::ones(shape, dtype);
    /// Zeros of the shape of an array, on its device.
    /// - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
    fn mlxrocm_array_zeros_like(array x, int dtype_or_none) -> result = like(&x, 0.0, dtype_or_none);
    /// Ones of the shape of an array, on its device.
    /// - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
    fn mlxrocm_array_ones_like(array x, int dtype_or_none) -> result = like(&x, 1.0, dtype_or_none);
    /// The value, broadcast to the shape of an array, on its device.
    /// - `dtype_or_none`: an MLXROCM_DTYPE number; negative: that of the array.
    fn mlxrocm_array_full_like(array x, array value, int dtype_or_none) -> result
        = x.full_like(&value, optional_dtype(dtype_or_none)?);
    /// A scalar.
    /// - `value`: the number; NaN is one.
    fn mlxrocm_array_number(number value, dtype dtype) -> result = Array::number(value, dtype);
    /// Start, start + step and so on, before stop; not of truth values.
    /// - `start`: the first number.
    /// - `stop`: what is not reached.
    /// - `step`: from one to the next; negative ones count down.
    fn mlxrocm_array_arange(number start, number stop, number step, dtype dtype) -> result
        = Array::arange(start, stop, step, dtype);
    /// Numbers from start to stop, evenly spaced.
    /// - `start`: the first number.
    /// - `stop`: the last number.
    /// - `count`: how many.
    fn mlxrocm_array_linspace(number start, number stop, int count, dtype dtype) -> result
        = Array::linspace(start, stop, count, dtype);
    /// Ones on a diagonal of a matrix of zeros.
    /// - `n`: rows.
    /// - `m`: columns.
    /// - `k`: the diagonal: 0 is the main one, positive ones are above it.
    fn mlxrocm_array_eye(int n, int m, int k, dtype dtype) -> result = Array::eye(n, m, k, dtype);
    /// The identity matrix.
    /// - `n`: rows and columns.
    fn mlxrocm_array_identity(int n, dtype dtype) -> result = Array::eye(n, n, 0, dtype);
    /// Ones on and below a diagonal, zeros above.
    /// - `n`: rows.
    /// - `m`: columns.
    /// - `k`: the diagonal.
    fn mlxrocm_array_tri(int n, int m, int k, dtype dtype) -> result = Array::tri(n, m, k, dtype);
    /// The last two axes with zeros above a diagonal.
    /// - `k`: the diagonal.
    fn mlxrocm_array_tril(array x, int k) -> result = x.triangle(k, true);
    /// The last two axes with zeros below a diagonal.
    /// - `k`: the diagonal.
    fn mlxrocm_array_triu(array x, int k) -> result = x.triangle(k, false);
    /// A matrix with a vector on a diagonal, or a diagonal of a matrix.
    /// - `k`: the diagonal.
    fn mlxrocm_array_diag(array x, int k) -> result = x.diag(k);
    /// Diagonals of the matrices of two axes, as a last axis.
    /// - `offset`: the diagonal: 0 is the main one, positive ones are above it.
    /// - `axis1`: the axis of rows.
    /// - `axis2`: the axis of columns.
    fn mlxrocm_array_diagonal(array x, int offset, int axis1, int axis2) -> result
        = x.diagonal(offset, axis1, axis2);
    /// Sum of a diagonal.
    /// - `offset`: the diagonal.
    /// - `axis1`: the axis of rows.
    /// - `axis2`: the axis of columns.
    fn mlxrocm_array_trace(array x, int offset, int axis1, int axis2, dtype dtype) -> result
        = x.trace_of(offset, axis1, axis2, dtype);
    /// Products of every element of a with every one of b.
    fn mlxrocm_array_outer(array a, array b) -> result = a.outer(&b);
    /// Kronecker product.
    fn mlxrocm_array_kron(array a, array b) -> result = a.kron(&b);
}
