// out[h][c] = x[h][c] · rsqrt(mean(x[h]²) + eps) · weight[c] · silu(z[h][c]), heads h of `dim` columns.
//
// Launch: 128 threads, a block a head of a row.
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
