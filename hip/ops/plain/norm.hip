// out[r] = x[r] · rsqrt(mean(x[r]²) + eps) · weight, rows of `width` f32: a norm that no product has taken in.
// `weight` may be null (1). And with the mean m taken from x first, (x[r] − m) · rsqrt(mean((x[r] − m)²) + eps) · weight + bias,
// where `bias` may be null too.
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

KERNEL(256) void mlxrocm_layer_norm_f32(const f32 *x, const f32 *weight, const f32 *bias, f32 *out, u32 width, f32 eps) {
    SHARED f32 of_sum[256 / WAVE], of_squares[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    x += (u64)block_x() * width, out += (u64)block_x() * width;
    f32 sum = 0.0f, squares = 0.0f;
    for (u32 c = thread_x(); c < width; c += 256) sum += x[c];
    const f32 mean = block_sum<256>(sum, of_sum) / (f32)width;
    for (u32 c = thread_x(); c < width; c += 256) squares = mul_add(x[c] - mean, x[c] - mean, squares);
    const f32 factor = fast_rsqrt(block_sum<256>(squares, of_squares) / (f32)width + eps);
    for (u32 c = thread_x(); c < width; c += 256)
        out[c] = (x[c] - mean) * factor * (weight ? weight[c] : 1.0f) + (bias ? bias[c] : 0.0f);
}
