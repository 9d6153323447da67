// Products of f32 matrices by the matrix unit, of numbers rounded to f16 (halves.hip): each row of left and each column of right
// was multiplied by a power of two, and sums are taken back by both,
//
//   out[z][m][n] = alpha · 2^(left_powers[m] + right_powers[n]) · Σ_k left16[z][m][k] · right16[z][k][n] + beta · plus[z][m][n]
//
// The rounded copies lie as the arrays do. Powers: of an operand that lies along k, one for each `stride` numbers; of one that
// lies across k, one for each column of each matrix, `stride` of them a matrix.
#pragma once

#include "product.h"

struct Powers {
    const i32 *left, *right; // of this batch's matrices

    METHOD static i64 begin(i64 offset, i64 stride, u32 k, u32 along) {
        return along ? offset / stride : offset / (stride * k) * stride;
    }
    METHOD Powers(const Product &p, const i32 *left_powers, const i32 *right_powers, u32 z)
        : left(left_powers + begin(p.left_offset(z), p.left_stride, p.k, p.left_along)),
          right(right_powers + begin(p.right_offset(z), p.right_stride, p.k, p.right_along)) {}
};

// sum · 2^power, -252 <= power <= 226.
DEVICE f32 taken_back(f32 sum, i32 power) {
    const i32 half = power / 2;
    return sum * bits_f32((u32)(127 + half) << 23) * bits_f32((u32)(127 + power - half) << 23);
}
