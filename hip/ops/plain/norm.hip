// out[r] = x[r] · rsqrt(mean(x[r]²) + eps) · weight, rows of `width` f32: a norm that no product has taken in.
// `weight` may be null (1).
//
// Launch: 256 threads, a block a row.
#include "common/reduce.h"

KERNEL(256) void mlxrocm_rms_norm_f32(const f32 *x, const f32 *weight, f32 *out, u32 width, f32 eps) {
    SHARED f32 scratch[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    x += (u64)block_x() * width, out += (u64)block_x() * width;
    f32 squares = 0.0f;
    for (u32 c = thread_x(); c < width; c += 256) squares = mul_add(x[c], x[c], squares);
    const f32 factor = fast_rsqrt(block_sum<256>(squares, scratch) / (f32)width + eps);
    for (u32 c = thread_x(); c < width; c += 256) out[c] = x[c] * factor * (weight ? weight[c] : 1.0f);
}
