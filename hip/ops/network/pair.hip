// Two products one after the other of few items, each of 64 rows, in f16 on NVIDIA's compute capability 9.0:
//
//   h[i][r][c] = Σ_k W1[c][k] · x[i][r][k],   y[i][o] = f(Σ_rc W2[o][32 r + c] · h[i][r][c] + bias[o])
//
// with the bits of product_warpgroup.hip's kernels: h of 32 columns, summed along k in order; y's sums in four parts, of every
// fourth 64 numbers of h, the first one's from the bias on, which are added in their order.
//
// W1, W2: tiles (product.h). bias: f32. x, y: f16, x: items of 64 rows of a multiple of 64 numbers.
//
// Launch: 16 warps; grid (columns / 32, items); dynamic shared memory for x and W1, 192 bytes for each of x's columns. Each warp
// makes 16 rows by 8 columns of h; then a part of the sums of 8 columns of y, whose weights it holds from the beginning.
#include "common/copies_nvidia.h"
#include "common/matrix_loads_nvidia.h"
#include "common/matrix_nvidia.h"
#include "ops/network/product.h"

#define PAIR_THREADS 512
#define PAIR_COLUMNS 32

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

#define PAIR_PARTS 4
// Steps of 64 numbers of h that a part has.
#define PAIR_STEPS (64 * PAIR_COLUMNS / STEP_COLS / PAIR_PARTS)

// A lane's four numbers of 16 from `k` on of a row in a tile.
DEVICE u32 place_in_tile(u32 row, u32 k) {
    const u32 from = k + lane_id() % 4 * 4;
    return row * 128 + (from / 8 ^ row % 8) * 16 + from % 8 * 2;
}
KERNEL(PAIR_THREADS) void mlxrocm_network_pair(const f16 *x, const u8 *first, const u8 *second, const f32 *bias, f16 *y, u32 cols,
                                               u32 columns, u32 activation) {
    DYNAMIC_SHARED(memory);
    SHARED __attribute__((aligned(16))) u32 h[64 * PAIR_COLUMNS / 2];
    SHARED f32 parts[PAIR_PARTS][PAIR_COLUMNS];
    grid_dependency_launch();
    const u32 thread = thread_x(), lane = lane_id(), warp = uniform(thread / 32), group = lane / 4, quad = lane % 4;
    const u32 steps = cols / STEP_COLS, xs = shared_address(memory), ws = xs + steps * 8192;
    const u32 part = warp / 4, tile = warp % 4, column = block_x() * PAIR_COLUMNS;
    // Weights do not wait for what comes before.
    for (u32 i = thread; i < steps * 256; i += PAIR_THREADS)
        copy_async<16>(ws + i * 16, first + (u64)(i / 256) * TILE_BYTES + i % 256 * 16);
    const u8 *of_tile = second + (u64)(column / 128) * (PAIR_PARTS * PAIR_STEPS) * TILE_BYTES;
    const u32 row = column % 128 + tile * 8 + group;
    u32x2 w[PAIR_STEPS][4];
    UNROLL for (u32 s = 0; s < PAIR_STEPS; s++) UNROLL for (u32 k = 0; k < 4; k++)
        w[s][k] = load8(of_tile + (u64)(s * PAIR_PARTS + part) * TILE_BYTES + place_in_tile(row, k * 16));
    const u32 own = tile * 8 + quad * 2;
    const f32 low_bias = bias ? bias[column + own] : 0.0f, high_bias = bias ? bias[column + own + 1] : 0.0f;
    grid_dependency_wait();
    const f16 *rows = x + (u64)block_y() * 64 * cols;
    for (u32 i = thread; i < steps * 512; i += PAIR_THREADS) {
        const u32 step = i / 512, r = i / 8 % 64, piece = i % 8;
        copy_async<16>(xs + step * 8192 + r * 128 + (piece ^ r % 8) * 16, rows + (u64)r * cols + step * STEP_COLS + piece * 8);
    }
    copy_commit();
    copy_wait<0>();
    barrier();
    {
        f32 c[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        const u32 of_x = part * 16 + lane % 16, of_w = tile * 8 + lane % 8;
        for (u32 step = 0; step < steps; step++) {
            UNROLL for (u32 piece = 0; piece < 8; piece += 4) {
                u32 a[4], b[4];
                load_matrices(b, ws + step * 4096 + of_w * 128 + (piece + lane / 8 ^ of_w % 8) * 16);
                UNROLL for (u32 k = 0; k < 2; k++) {
                    load_matrices(a, xs + step * 8192 + of_x * 128 + (piece + 2 * k + lane / 16 ^ of_x % 8) * 16);
                    matrix_product(c, a, b[2 * k], b[2 * k + 1]);
                }
            }
        }
        const u32 at = ((part * 16 + group) * PAIR_COLUMNS + own) / 2;
        h[at] = pair_bits(c[0], c[1]);
        h[at + 8 * PAIR_COLUMNS / 2] = pair_bits(c[2], c[3]);
    }
    barrier();
    f32 c[4] = {part == 0 ? low_bias : 0.0f, part == 0 ? high_bias : 0.0f, 0.0f, 0.0f};
    UNROLL for (u32 s = 0; s < PAIR_STEPS; s++) UNROLL for (u32 k = 0; k < 4; k++) {
        u32x2 of_h = {0, 0};
        if (group == 0) of_h = load8(h + ((s * PAIR_PARTS + part) * STEP_COLS + k * 16 + quad * 4) / 2);
        const u32 a[4] = {of_h.x, 0, of_h.y, 0};
        matrix_product(c, a, w[s][k].x, w[s][k].y);
    }
    if (group == 0) parts[part][own] = c[0], parts[part][own + 1] = c[1];
    barrier();
    if (thread < PAIR_COLUMNS && column + thread < columns) {
        f32 v[1] = {parts[0][thread]};
        UNROLL for (u32 i = 1; i < PAIR_PARTS; i++) v[0] += parts[i][thread];
        activate<1>(v, activation);
        put(y + (u64)block_y() * columns + column + thread, v[0]);
    }
}
#endif
