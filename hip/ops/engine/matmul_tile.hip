// matmul_tile: C[m][n] = sum over k of A[m][k] * B[n][k], one wave a tile of 16 x 16. Proves
// common/tile.h on a device (self-test); no model uses it.
//
// Layout: A [m][k], B [n][k] of f16 or bf16, C [m][n] of f32, all dense; m, n and k multiples of 16,
// A and B aligned to 32 bytes. Launch: blocks of WAVE threads, grid (n / 16, m / 16).
#include "common/tile.h"

template <bool IS_F16> DEVICE void matmul_tile(f32 *c, const u16 *a, const u16 *b, u32 n, u32 k) {
    const u16 *rows_a = a + (u64)block_y() * 16 * k;
    const u16 *rows_b = b + (u64)block_x() * 16 * k;
    TileC sum = tile_zero();
    for (u32 i = 0; i < k; i += 16) {
        Tile16 tile_a = tile_load_a(rows_a + i, k);
        Tile16 tile_b = tile_load_b(rows_b + i, k);
        if constexpr (IS_F16)
            tile_multiply_f16(sum, tile_a, tile_b);
        else
            tile_multiply_bf16(sum, tile_a, tile_b);
    }
    u32 lane = lane_id();
    UNROLL for (u32 i = 0; i < TILE_C; i++) {
        u32 row = block_y() * 16 + tile_c_row(lane, i);
        u32 column = block_x() * 16 + tile_c_column(lane, i);
        c[(u64)row * n + column] = sum.c[i];
    }
}

KERNEL(WAVE)
void mlxrocm_matmul_tile_f16(f32 *RESTRICT c, const u16 *RESTRICT a, const u16 *RESTRICT b, u32 n, u32 k) {
    matmul_tile<true>(c, a, b, n, k);
}

KERNEL(WAVE)
void mlxrocm_matmul_tile_bf16(f32 *RESTRICT c, const u16 *RESTRICT a, const u16 *RESTRICT b, u32 n, u32 k) {
    matmul_tile<false>(c, a, b, n, k);
}
