// Products of networks in f32 (product.h), for results beside which f16's are measured. W: [tap][column of x]
// [columns], rounded up to 64 columns with zeros. Sums run over taps and columns of x in order, fused: a row gets
// the same bits in any batch.
//
// Launch: 256 threads; grid (columns / 64, rows / 64), rounded up. A thread makes 4 by 4 numbers; DEEP columns of
// x and W at a time lie in shared memory.
#include "ops/network/product.h"

#define SIDE 64
#define DEEP 16

KERNEL(256) void mlxrocm_network_product_f32(PRODUCT_PARAMETERS(f32, f32)) {
    SHARED __attribute__((aligned(16))) f32 xs[DEEP][SIDE + 4], ws[DEEP][SIDE];
    grid_dependency_launch();
    grid_dependency_wait();
    const NetworkProduct<f32, f32> p = PRODUCT_ARGUMENTS;
    const u32 thread = thread_x(), first_row = block_y() * SIDE, first_column = block_x() * SIDE;
    const u32 stride = divide_up(p.columns, SIDE) * SIDE, row = first_row + thread / 4;
    const u64 start = p.row_start(row < p.rows ? row : p.rows - 1);
    const u32 down = thread / 16 * 4, across = thread % 16 * 4;
    f32 sums[4][4] = {};
    for (u32 tap = 0; tap < p.taps; tap++) {
        const bool there = row < p.rows && (p.taps == 1 || tap_is_there(row, tap));
        const f32 *from = p.x + start + (p.taps == 1 ? 0 : (i64)tap_rows(tap) * (i64)p.cols);
        const f32 *weights = p.weights + (u64)tap * p.cols * stride + first_column;
        for (u32 c = 0; c < p.cols; c += DEEP) {
            barrier();
            UNROLL for (u32 i = 0; i < 4; i++) {
                const u32 k = thread % 4 * 4 + i, at = thread + 256 * i;
                xs[k][thread / 4] = there && c + k < p.cols ? from[c + k] : 0.0f;
                ws[at / SIDE][at % SIDE] = c + at / SIDE < p.cols ? weights[(u64)(c + at / SIDE) * stride + at % SIDE] : 0.0f;
            }
            barrier();
            UNROLL for (u32 k = 0; k < DEEP; k++) {
                const f32x4 a = load_f32x4(&xs[k][down]), b = load_f32x4(&ws[k][across]);
                const f32 rows[4] = {a.x, a.y, a.z, a.w}, columns[4] = {b.x, b.y, b.z, b.w};
                UNROLL for (u32 m = 0; m < 4; m++) UNROLL for (u32 n = 0; n < 4; n++)
                    sums[m][n] = mul_add(rows[m], columns[n], sums[m][n]);
            }
        }
    }
    UNROLL for (u32 n = 0; n < 4; n++) {
        const u32 o = first_column + across + n;
        if (o >= p.columns) continue;
        const f32 of_column = p.bias ? p.bias[o] : 0.0f;
        f32 v[4];
        UNROLL for (u32 m = 0; m < 4; m++) {
            const u32 r = first_row + down + m;
            v[m] = sums[m][n] + of_column + (r < p.rows ? p.beside(r, o) : 0.0f);
        }
        activate<4>(v, p.activation);
        UNROLL for (u32 m = 0; m < 4; m++)
            if (first_row + down + m < p.rows) p.store(first_row + down + m, o, v[m]);
    }
}
