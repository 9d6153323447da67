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

// The same of `parts` [rows][PARTS][width], which the teams of matmul/experts_down.h left, in the order of `finish` of
// matmul/rows.h; with biases of experts, [experts][stride] or null: out = Σ parts + (Σ_k weight[r][k] · bias[index[r][k]] + residual).
#define PARTS 16
KERNEL(256) void mlxrocm_experts_sum_parts(const f32 *parts, const f32 *bias, const u32 *index, const f32 *weight,
                                           const f32 *residual, f32 *out, u32 width, u32 stride, u32 chosen, u32 experts) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 column = block_x() * 256 + thread_x();
    const u64 row = block_y();
    if (column >= width) return;
    const f32 *from = parts + row * PARTS * width + column;
    f32 v[PARTS];
    UNROLL for (u32 i = 0; i < PARTS; i++) v[i] = from[(u64)i * width];
    UNROLL for (u32 i = 4; i < PARTS; i++) v[i % 4] += v[i];
    f32 add = 0.0f;
    for (u32 k = 0; bias && k < chosen; k++) {
        const u32 expert = index[row * chosen + k] < experts ? index[row * chosen + k] : experts - 1;
        add = mul_add(weight[row * chosen + k], bias[(u64)expert * stride + column], add);
    }
    if (residual) add += residual[row * width + column];
    out[row * width + column] = (v[0] + v[1]) + (v[2] + v[3]) + add;
}
