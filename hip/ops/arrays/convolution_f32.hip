// Convolutions (convolution.h) of f32, as convolution.hip has them: a thread makes 4 by 4 numbers of a block's 64 by 64; 16
// columns at a time lie in shared memory.
//
// Launch: 256 threads; grid (blocks of 64 columns of a group · groups, blocks of 64 rows).
#include "convolution.h"

#define DEPTH 16
#define SIDE 68

KERNEL(256) void mlxrocm_array_convolution_f32(CONVOLUTION_PARAMETERS) {
    SHARED __attribute__((aligned(16))) f32 a[DEPTH * SIDE], b[DEPTH * SIDE];
    grid_dependency_launch();
    grid_dependency_wait();
    const Convolution c = CONVOLUTION_ARGUMENTS;
    const u32 in = c.group_channels(), of_group = c.group_width(), inner = c.taps() * in, group = block_x() / across;
    const u32 first_row = block_y() * 64, first_column = block_x() % across * 64;
    // A thread reads four neighbouring numbers of a row and of a column.
    const u32 mine = thread_x() / 4, k = thread_x() % 4 * 4, my_row = thread_x() / 16 * 4, my_column = thread_x() % 16 * 4;
    const f32 *from_x = (const f32 *)x + group * in, *from_w = (const f32 *)w + ((u64)group * of_group + first_column + mine) * inner;
    f32 sums[4][4] = {};
    for (u32 first = 0; first < inner; first += DEPTH) {
        f32 of_x[4] = {}, of_w[4] = {};
        UNROLL for (u32 i = 0; i < 4; i++) {
            const u32 at = first + k + i;
            if (at >= inner) continue;
            if (first_row + mine < rows) {
                const i64 from = c.source(first_row + mine, at / in);
                if (from >= 0) of_x[i] = from_x[from + at % in];
            }
            if (first_column + mine < of_group) of_w[i] = from_w[at];
        }
        barrier();
        UNROLL for (u32 i = 0; i < 4; i++) a[(k + i) * SIDE + mine] = of_x[i], b[(k + i) * SIDE + mine] = of_w[i];
        barrier();
        UNROLL for (u32 i = 0; i < DEPTH; i++) {
            const f32x4 p = load_f32x4(a + i * SIDE + my_row), q = load_f32x4(b + i * SIDE + my_column);
            const f32 row[4] = {p.x, p.y, p.z, p.w}, column[4] = {q.x, q.y, q.z, q.w};
            UNROLL for (u32 m = 0; m < 4; m++) UNROLL for (u32 n = 0; n < 4; n++) sums[m][n] = mul_add(row[m], column[n], sums[m][n]);
        }
    }
    UNROLL for (u32 m = 0; m < 4; m++) UNROLL for (u32 n = 0; n < 4; n++) {
        const u32 row = first_row + my_row + m, column = first_column + my_column + n;
        if (row < rows && column < of_group) ((f32 *)out)[(u64)row * width + group * of_group + column] = sums[m][n];
    }
    (void)dtype;
}
