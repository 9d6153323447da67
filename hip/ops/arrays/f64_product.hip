// Products of matrices of f64, out[z][m][n] = alpha · Σ_k left[z][m][k] · right[z][k][n] + beta · plus[z][m][n], and
// convolutions (convolution.h). Sums are made along k in order. Factors of 0 mean that their term is not looked at.
//
// Arrays of the product have a stride for each of three batch axes and for both axes of a matrix; out lies row after row.
// The convolution is for a thread an element, which reads the taps and channels that it meets.
//
// Launch: 256 threads; product: grid (columns / 16 · batches, rows / 16), a block 16 by 16 elements, 16 columns of k at a time
// through shared memory; convolution: 256 elements a block.
#include "convolution.h"
#include "f64_functions.h"

#define SIDE 16

KERNEL(256)
void mlxrocm_array_f64_product(const f64 *left, const f64 *right, const f64 *plus, f64 *out, u32 m, u32 n, u32 k, u32 across,
                               u32 b1, u32 b2, i64 l0, i64 l1, i64 l2, i64 l3, i64 l4, i64 r0, i64 r1, i64 r2, i64 r3, i64 r4,
                               i64 p0, i64 p1, i64 p2, i64 p3, i64 p4, u64 alpha_bits, u64 beta_bits) {
    SHARED f64 of_left[SIDE][SIDE + 1], of_right[SIDE][SIDE];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 z = block_x() / across, z0 = z / b2 / b1, z1 = z / b2 % b1, z2 = z % b2;
    const u32 x = thread_x() % SIDE, y = thread_x() / SIDE, row = block_y() * SIDE + y, column = block_x() % across * SIDE + x;
    left += z0 * l0 + z1 * l1 + z2 * l2, right += z0 * r0 + z1 * r1 + z2 * r2;
    const f64 alpha = bits_f64(alpha_bits), beta = bits_f64(beta_bits);
    f64 sum = 0.0;
    for (u32 begin = 0; begin < (alpha == 0.0 ? 0 : k); begin += SIDE) {
        of_left[y][x] = row < m && begin + x < k ? left[row * l3 + (begin + x) * l4] : 0.0;
        of_right[y][x] = column < n && begin + y < k ? right[(begin + y) * r3 + column * r4] : 0.0;
        barrier();
        UNROLL for (u32 i = 0; i < SIDE; i++)
            if (begin + i < k) sum = mul_add(of_left[y][i], of_right[i][x], sum);
        barrier();
    }
    if (row >= m || column >= n) return;
    sum *= alpha;
    if (beta != 0.0) sum += beta * plus[z0 * p0 + z1 * p1 + z2 * p2 + row * p3 + column * p4];
    out[((i64)z * m + row) * n + column] = sum;
}

KERNEL(256) void mlxrocm_array_f64_convolution(CONVOLUTION_PARAMETERS) {
    grid_dependency_launch();
    grid_dependency_wait();
    const Convolution c = CONVOLUTION_ARGUMENTS;
    const u64 at = (u64)block_x() * 256 + thread_x();
    if (at >= (u64)rows * width) return;
    const u32 row = (u32)(at / width), column = (u32)(at % width), in = c.group_channels(), group = column / c.group_width();
    f64 sum = 0.0;
    for (u32 tap = 0; tap < c.taps(); tap++) {
        const i64 from = c.source(row, tap);
        if (from < 0) continue;
        const i64 of_w = ((i64)column * c.taps() + tap) * in;
        for (u32 i = 0; i < in; i++) sum = mul_add(((const f64 *)x)[from + group * in + i], ((const f64 *)w)[of_w + i], sum);
    }
    ((f64 *)out)[at] = sum;
    (void)across, (void)dtype;
}
