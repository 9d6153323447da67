// out[b][m][n] = Σ_k left[b][m][k] · right[b][k][n], f32, f16 or bf16, summed in f32 along k in order. Each matrix has
// strides of its own for rows and columns; batches count through sizes b0, b1, b2.
//
// Launch: 256 threads; grid (n / 64, m / 64, batches): a block makes 64 x 64 numbers, a thread 4 x 4, 16 of k at a time
// through shared memory.
#include "dtype.h"

#define SIDE 64
#define DEPTH 16
// Rows of tiles do not begin in the same bank.
#define STRIDE (SIDE + 4)

KERNEL(256) void mlxrocm_array_matmul(const void *left, const void *right, void *out, u32 m, u32 n, u32 k, u32 dtype,
                                      u32 b1, u32 b2, i32 l0, i32 l1, i32 l2, i32 left_row, i32 left_column, i32 r0,
                                      i32 r1, i32 r2, i32 right_row, i32 right_column) {
    SHARED f32 a[DEPTH * STRIDE], b[DEPTH * STRIDE];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 batch = block_z(), c2 = batch % b2, c1 = batch / b2 % b1, c0 = batch / b2 / b1;
    const i64 left_first = (i64)c0 * l0 + (i64)c1 * l1 + (i64)c2 * l2;
    const i64 right_first = (i64)c0 * r0 + (i64)c1 * r1 + (i64)c2 * r2;
    const u32 first_row = block_y() * SIDE, first_column = block_x() * SIDE;
    const u32 my_row = thread_x() / 16 * 4, my_column = thread_x() % 16 * 4;
    f32 sum[4][4] = {};
    for (u32 first = 0; first < k; first += DEPTH) {
        for (u32 i = thread_x(); i < SIDE * DEPTH; i += 256) {
            // Neighbouring threads read what lies side by side, by rows or by columns.
            const bool by_rows = left_column == 1;
            const u32 row = by_rows ? i / DEPTH : i % SIDE, depth = by_rows ? i % DEPTH : i / SIDE;
            const bool inside = first_row + row < m && first + depth < k;
            const i64 at = left_first + (i64)(first_row + row) * left_row + (i64)(first + depth) * left_column;
            a[depth * STRIDE + row] = inside ? load_float(left, at, dtype) : 0.0f;
        }
        for (u32 i = thread_x(); i < SIDE * DEPTH; i += 256) {
            const bool by_columns = right_row == 1;
            const u32 column = by_columns ? i / DEPTH : i % SIDE, depth = by_columns ? i % DEPTH : i / SIDE;
            const bool inside = first_column + column < n && first + depth < k;
            const i64 at = right_first + (i64)(first + depth) * right_row + (i64)(first_column + column) * right_column;
            b[depth * STRIDE + column] = inside ? load_float(right, at, dtype) : 0.0f;
        }
        barrier();
        UNROLL for (u32 depth = 0; depth < DEPTH; depth++)
            UNROLL for (u32 i = 0; i < 4; i++)
                UNROLL for (u32 j = 0; j < 4; j++)
                    sum[i][j] = mul_add(a[depth * STRIDE + my_row + i], b[depth * STRIDE + my_column + j], sum[i][j]);
        barrier();
    }
    UNROLL for (u32 i = 0; i < 4; i++)
        UNROLL for (u32 j = 0; j < 4; j++) {
            const u32 row = first_row + my_row + i, column = first_column + my_column + j;
            if (row < m && column < n) store_float(out, ((i64)batch * m + row) * n + column, dtype, sum[i][j]);
        }
}
