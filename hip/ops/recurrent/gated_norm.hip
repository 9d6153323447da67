// out[h][c] = x[h][c] · rsqrt(mean(x[h]²) + eps) · weight[c] · silu(z[h][c]), heads h of `dim` columns.
//
// Launch: 128 threads, a block a head of a row; of many rows 8 waves, each with a head, and grid (heads / 8).
#include "common/math.h"
#include "common/reduce.h"

KERNEL(128) void mlxrocm_gated_norm_f32(const f32 *x, const f32 *weight, const f32 *z, f32 *out, u32 dim, f32 eps) {
    SHARED f32 scratch[128 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const u64 first = (u64)block_x() * dim;
    x += first, z += first, out += first;
    f32 squares = 0.0f;
    for (u32 c = thread_x(); c < dim; c += 128) squares = mul_add(x[c], x[c], squares);
    const f32 factor = fast_rsqrt(block_sum<128>(squares, scratch) / (f32)dim + eps);
    for (u32 c = thread_x(); c < dim; c += 128) out[c] = x[c] * factor * weight[c] * silu(z[c]);
}

#define NORM_WAVES 8
// Numbers that a lane reads at once, before it waits for any: those of the first HELD · WAVE columns.
#define HELD 4

KERNEL(NORM_WAVES * WAVE) void mlxrocm_gated_norm_many_f32(const f32 *x, const f32 *weight, const f32 *z, f32 *out,
                                                           u32 heads, u32 dim, f32 eps) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 head = block_x() * NORM_WAVES + wave_id(), lane = lane_id();
    if (head >= heads) return;
    const u64 first = (u64)head * dim;
    x += first, z += first, out += first;
    f32 of_x[HELD], of_z[HELD], weights[HELD], squares = 0.0f;
    UNROLL for (u32 i = 0; i < HELD; i++) {
        const u32 c = i * WAVE + lane;
        of_x[i] = of_z[i] = weights[i] = 0.0f;
        if (c < dim) of_x[i] = x[c], of_z[i] = z[c], weights[i] = weight[c];
    }
    UNROLL for (u32 i = 0; i < HELD; i++) squares = mul_add(of_x[i], of_x[i], squares);
    for (u32 c = HELD * WAVE + lane; c < dim; c += WAVE) squares = mul_add(x[c], x[c], squares);
    const f32 factor = fast_rsqrt(wave_sum(squares) / (f32)dim + eps);
    UNROLL for (u32 i = 0; i < HELD; i++)
        if (i * WAVE + lane < dim) out[i * WAVE + lane] = of_x[i] * factor * weights[i] * silu(of_z[i]);
    for (u32 c = HELD * WAVE + lane; c < dim; c += WAVE) out[c] = x[c] * factor * weight[c] * silu(z[c]);
}
