// out[m][n] = Σ_k x[m][k] · (scale[n][k / group] · code[n][k] + bias[n][k / group]): MLX's affine quantization, codes of
// 2, 3, 4, 5, 6 or 8 bits one after the other from the lowest bit of each byte on; x, scales and biases of one dtype,
// sums in f32.
//
// Launch: 256 threads; grid (n / waves of a block, m / 4): a wave makes a column of four rows, 8 elements a lane at a time.
#include "dtype.h"
#include "common/reduce.h"

#define ROWS 4

KERNEL(256) void mlxrocm_array_quantized_matmul(const void *x, const u8 *codes, const void *scales, const void *biases,
                                                void *out, u32 m, u32 n, u32 k, u32 group, u32 bits, u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 column = block_x() * (256 / WAVE) + wave_id(), row = block_y() * ROWS;
    if (column >= n) return;
    f32 sum[ROWS] = {};
    const u8 *mine = codes + (u64)column * (k / 8) * bits;
    for (u32 first = lane_id() * 8; first < k; first += WAVE * 8) {
        u64 word = 0;
        for (u32 i = 0; i < bits; i++) word |= (u64)mine[(u64)(first / 8) * bits + i] << (8 * i);
        const i64 at = (i64)column * (k / group) + first / group;
        const f32 scale = load_float(scales, at, dtype), bias = load_float(biases, at, dtype);
        UNROLL for (u32 i = 0; i < 8; i++) {
            const f32 weight = mul_add(scale, (f32)(u32)(word >> (i * bits) & ((1u << bits) - 1)), bias);
            UNROLL for (u32 r = 0; r < ROWS; r++)
                if (row + r < m) sum[r] = mul_add(load_float(x, (i64)(row + r) * k + first + i, dtype), weight, sum[r]);
        }
    }
    UNROLL for (u32 r = 0; r < ROWS; r++) {
        const f32 total = wave_sum(sum[r]);
        if (lane_id() == 0 && row + r < m) store_float(out, (i64)(row + r) * n + column, dtype, total);
    }
}
