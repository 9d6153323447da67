// out[r][c] = Σ_k weight[r][k] · x[r][k][c] + residual[r][c], in order of k; `residual` may be null, and `out`.
//
// Launch: 256 threads; grid (columns / 256, rows).
#include "common/platform.h"

KERNEL(256) void mlxrocm_experts_sum(const f32 *x, const f32 *weight, const f32 *residual, f32 *out, u32 width, u32 chosen) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 column = block_x() * 256 + thread_x();
    const u64 row = block_y();
    if (column >= width) return;
    f32 sum = 0.0f;
    for (u32 k = 0; k < chosen; k++)
        sum = mul_add(weight[row * chosen + k], x[(row * chosen + k) * width + column], sum);
    out[row * width + column] = residual ? sum + residual[row * width + column] : sum;
}
