// Products of two matrices of every item: out[i][j] = scale · Σ_c a[i][c] · b[j][c], rows of `cols` numbers, out: f32 [rows]
// [columns], since nothing follows that would round it.
//
// any: an element a thread, sums in order; grid (rows · columns / 256, items), 256 threads.
// tiles: f16 by the matrix unit, from memory to registers: `cols` and all places multiples of 16, rows and columns of
// 16; a wave makes 16 rows of 64 columns. Grid (rows / 16 · columns / 64 / waves, items), rounded up, 256 threads.
#include "common/tile.h"
#include "ops/network/numbers.h"

#define SCORES_PARAMETERS(T)                                                                                  \
    const T *a, const T *b, f32 *out, u32 rows, u32 columns, u32 cols, u32 a_item, u32 a_first, u32 b_item, u32 b_first, \
        f32 scale

template <typename T> DEVICE void any(SCORES_PARAMETERS(T)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 at = block_x() * 256 + thread_x();
    if (at >= rows * columns) return;
    const T *x = a + (u64)block_y() * a_item + a_first + (u64)(at / columns) * cols;
    const T *y = b + (u64)block_y() * b_item + b_first + (u64)(at % columns) * cols;
    f32 sum = 0.0f;
    for (u32 c = 0; c < cols; c++) sum = mul_add(to_f32(x[c]), to_f32(y[c]), sum);
    out[(u64)block_y() * rows * columns + at] = sum * scale;
}
KERNEL(256) void mlxrocm_network_scores_f16(SCORES_PARAMETERS(f16)) {
    any<f16>(a, b, out, rows, columns, cols, a_item, a_first, b_item, b_first, scale);
}
KERNEL(256) void mlxrocm_network_scores_f32(SCORES_PARAMETERS(f32)) {
    any<f32>(a, b, out, rows, columns, cols, a_item, a_first, b_item, b_first, scale);
}
KERNEL_WAVES(256, 4) void mlxrocm_network_scores_tiles(SCORES_PARAMETERS(f16)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 wave = block_x() * (256 / WAVE) + uniform(thread_x() / WAVE), lane = lane_id();
    const u32 row = wave % (rows / 16) * 16, column = wave / (rows / 16) * 64;
    if (column >= columns) return;
    const f16 *x = a + (u64)block_y() * a_item + a_first + (u64)row * cols;
    const f16 *y = b + (u64)block_y() * b_item + b_first + (u64)column * cols;
    const u32 tiles = minimum(columns - column, 64u) / 16;
    TileC sums[4];
    UNROLL for (u32 n = 0; n < 4; n++) sums[n] = tile_zero();
    _Pragma("unroll 1") for (u32 c = 0; c < cols; c += 16) {
        const Tile16 rows_of_a = tile_load_a(x + c, cols);
        UNROLL for (u32 n = 0; n < 4; n++)
            tile_multiply_f16(sums[n], rows_of_a, tile_load_b(y + (u64)(n < tiles ? n : 0) * 16 * cols + c, cols));
    }
    UNROLL for (u32 n = 0; n < 4; n++) UNROLL for (u32 i = 0; i < TILE_C; i++)
        if (n < tiles)
            out[((u64)block_y() * rows + row + tile_c_row(lane, i)) * columns + column + n * 16 + tile_c_column(lane, i)] =
                sums[n].c[i] * scale;
}
