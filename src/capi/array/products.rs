//! Products of matrices and contractions.

use super::functions::array_functions;
use crate::array::Array;

/// A size of a block.
fn block(size: i64) -> usize {
    usize::try_from(size).unwrap_or(0)
}

array_functions! {
    /// Product of the last two axes; the others are broadcast together. A vector is a row on the left and a
    /// column on the right.
    fn mlxrocm_array_matmul(array a, array b) -> result = a.matmul(&b);
    /// alpha · a·b + beta · c; c is broadcast to the product.
    /// - `alpha`: of the product.
    /// - `beta`: of c; 0: c is not looked at.
    fn mlxrocm_array_addmm(array c, array a, array b, number alpha, number beta) -> result
        = c.addmm(&a, &b, alpha, beta);
    /// Product of matrices whose blocks are multiplied by masks (truth values or numbers) first.
    /// - `block_size`: rows and columns of a block, 32 or 64.
    /// - `mask_out`: borrowed; of the result's blocks; NULL: none.
    /// - `mask_lhs`: borrowed; of the blocks of a; NULL: none.
    /// - `mask_rhs`: borrowed; of the blocks of b; NULL: none.
    fn mlxrocm_array_block_masked_mm(array a, array b, int block_size, optional mask_out, optional mask_lhs,
        optional mask_rhs) -> result
        = a.block_masked_mm(&b, block(block_size), mask_out.as_ref(), mask_lhs.as_ref(), mask_rhs.as_ref());
    /// Products of matrices by index: of matrix lhs_indices[i] of a and matrix rhs_indices[i] of b.
    /// - `lhs_indices`: borrowed; NULL: all in order.
    /// - `rhs_indices`: borrowed; NULL: all in order.
    fn mlxrocm_array_gather_mm(array a, array b, optional lhs_indices, optional rhs_indices) -> result
        = a.gather_mm(&b, lhs_indices.as_ref(), rhs_indices.as_ref());
    /// Products of parts of two matrices.
    /// - `segments`: borrowed; pairs of the first inner place of a part and one past its last.
    fn mlxrocm_array_segmented_mm(array a, array b, array segments) -> result
        = a.segmented_mm(&b, &segments);
    /// Sums of products over pairs of axes.
    fn mlxrocm_array_tensordot(array a, array b, ints axes_a[axes_a_count], ints axes_b[axes_b_count]) -> result
        = a.tensordot(&b, axes_a, axes_b);
    /// Sums of products over the last axes.
    fn mlxrocm_array_inner(array a, array b) -> result = a.inner(&b);
    /// Sums of products over axes that are named by letters: "ij,jk->ik" is the product of two matrices. Spaces are
    /// nothing; `...` stands for axes without names, which are broadcast; without `->` the result has the letters
    /// that appear once, in the order of the alphabet.
    fn mlxrocm_array_einsum(text subscripts[subscripts_length], arrays operands[operands_count]) -> result
        = Array::einsum(subscripts, &operands);
}
