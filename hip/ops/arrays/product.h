// Products of matrices of arrays:
//
//   out[z][m][n] = alpha · Σ_k left[z][m][k] · right[z][k][n] + beta · plus[z][m][n]
//
// Batches z count through sizes b0, b1, b2, in which each array has strides of its own; with places, a batch takes the
// matrix that its place names (those that are not there: the nearest). With segments, of two numbers a batch, the sum
// runs over the columns from the first to the second only. A factor of 0 means that its term is not looked at. `right`
// may be codes of a few bits (codes.h), whose rows lie one after the other.
//
// One of an operand's two axes has steps of 1: k ("along k"), or the rows of left or columns of right ("across k"). An
// operand is read in pieces of 16 bytes along that axis, element by element where they do not lie on multiples of 16.
// The result's rows and columns have steps of their own: few columns are made as few rows, with sides changed.
//
// Grids are (blocks across · batches, blocks down): more batches than a grid's other axes take.
#pragma once

#include "codes.h"

struct Product {
    const void *left, *right, *scales, *biases, *plus;
    const u32 *left_places, *right_places, *segments;
    void *out;
    u32 m, n, k, across, b1, b2, left_count, right_count;
    i64 l0, l1, l2, left_stride, r0, r1, r2, right_stride, p0, p1, p2, plus_row, plus_column, out_row, out_column;
    u32 left_along, right_along;
    f32 alpha, beta;
    u32 group, bits, mode;

    METHOD i64 offset(u32 z, const u32 *places, u32 count, i64 s0, i64 s1, i64 s2) const {
        if (places) return (i64)minimum(places[z], count - 1) * s2;
        return (i64)(z / b2 / b1) * s0 + (i64)(z / b2 % b1) * s1 + (i64)(z % b2) * s2;
    }
    METHOD i64 left_offset(u32 z) const { return offset(z, left_places, left_count, l0, l1, l2); }
    METHOD i64 right_offset(u32 z) const { return offset(z, right_places, right_count, r0, r1, r2); }
    METHOD i64 plus_offset(u32 z) const { return offset(z, nullptr, 0, p0, p1, p2); }
    // The columns that are summed.
    METHOD u32 from(u32 z) const { return segments ? minimum(segments[2 * z], k) : 0; }
    METHOD u32 depth(u32 z) const {
        if (!segments) return alpha == 0.0f ? 0 : k;
        const u32 first = from(z), last = minimum(segments[2 * z + 1], k);
        return first < last ? last - first : 0;
    }
    // The codes of a batch's right matrix; its strides count matrices.
    METHOD Codes codes(u32 z, u32 dtype) const {
        const u64 number = (u64)right_offset(z), inner = right_along ? k : n, outer = right_along ? n : k;
        const u64 groups = outer * (inner / group) * number;
        const void *of_batch = mode == AFFINE ? (const u8 *)scales + groups * size_of(dtype) : (const u8 *)scales + groups;
        const u8 *bias = (const u8 *)biases + (mode == AFFINE ? groups * size_of(dtype) : 0);
        // Other modes have no biases, but may have a scale of the whole matrix.
        const f32 factor = mode != AFFINE && biases ? *(const f32 *)biases / 2688.0f : 1.0f;
        return Codes{(const u32 *)right + number * outer * inner * bits / 32, of_batch, bias, (u32)inner, group, bits,
                     mode, dtype, factor};
    }
    METHOD void store(u32 z, i64 of_plus, u32 row, u32 column, u32 dtype, f32 sum) const {
        sum *= alpha;
        if (beta != 0.0f) sum += beta * load_float(plus, of_plus + row * plus_row + column * plus_column, dtype);
        store_float(out, (i64)z * m * n + row * out_row + column * out_column, dtype, sum);
    }
};
#define PRODUCT_PARAMETERS                                                                                        \
    const void *left, const void *right, const void *scales, const void *biases, const void *plus,                \
        const u32 *left_places, const u32 *right_places, const u32 *segments, void *out, u32 m, u32 n, u32 k,     \
        u32 across, u32 b1, u32 b2, u32 left_count, u32 right_count, i64 l0, i64 l1, i64 l2, i64 left_stride,    \
        i64 r0, i64 r1, i64 r2, i64 right_stride, i64 p0, i64 p1, i64 p2, i64 plus_row, i64 plus_column,          \
        i64 out_row, i64 out_column, u32 left_along, u32 right_along, f32 alpha, f32 beta, u32 group, u32 bits, u32 mode
#define PRODUCT_ARGUMENTS                                                                                          \
    {left, right, scales, biases, plus, left_places, right_places, segments, out, m, n, k, across, b1, b2,        \
     left_count, right_count, l0, l1, l2, left_stride, r0, r1, r2, right_stride, p0, p1, p2, plus_row, plus_column, \
     out_row, out_column, left_along, right_along, alpha, beta, group, bits, mode}
