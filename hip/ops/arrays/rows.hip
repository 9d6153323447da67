// Rows of `columns` elements, one after the other in x and out, computed in f32:
// softmax: out[c] = exp(x[c] - max) / Σ exp(x[c] - max)
// rms_norm: out[c] = x[c] · rsqrt(mean(x²) + eps) · weight[c]
// layer_norm: out[c] = (x[c] - mean) · rsqrt(variance + eps) · weight[c] + bias[c]
// A weight or bias that is null counts as 1 or 0; they lie one after the other in x's dtype.
//
// Launch: 256 threads, a block a row.
#include "dtype.h"
#include "functions.h"
#include "common/reduce.h"

KERNEL(256) void mlxrocm_array_softmax(const void *x, void *out, u32 columns, u32 dtype) {
    SHARED f32 scratch[256 / WAVE], sums[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 first = (i64)block_x() * columns;
    f32 most = -infinity();
    for (u32 c = thread_x(); c < columns; c += 256) {
        const f32 value = load_float(x, first + c, dtype);
        most = maximum(most, value);
    }
    most = block_max<256>(most, scratch);
    f32 sum = 0.0f;
    for (u32 c = thread_x(); c < columns; c += 256) sum += exact_exp(load_float(x, first + c, dtype) - most);
    sum = block_sum<256>(sum, sums);
    for (u32 c = thread_x(); c < columns; c += 256)
        store_float(out, first + c, dtype, exact_exp(load_float(x, first + c, dtype) - most) / sum);
}

DEVICE f32 factor(const void *weight, u32 c, u32 dtype, f32 otherwise) {
    return weight ? load_float(weight, c, dtype) : otherwise;
}

KERNEL(256) void mlxrocm_array_rms_norm(const void *x, const void *weight, void *out, u32 columns, u32 dtype, f32 eps) {
    SHARED f32 scratch[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 first = (i64)block_x() * columns;
    f32 squares = 0.0f;
    for (u32 c = thread_x(); c < columns; c += 256) {
        const f32 value = load_float(x, first + c, dtype);
        squares = mul_add(value, value, squares);
    }
    const f32 scale = 1.0f / exact_sqrt(block_sum<256>(squares, scratch) / (f32)columns + eps);
    for (u32 c = thread_x(); c < columns; c += 256)
        store_float(out, first + c, dtype, load_float(x, first + c, dtype) * scale * factor(weight, c, dtype, 1.0f));
}

KERNEL(256) void mlxrocm_array_layer_norm(const void *x, const void *weight, const void *bias, void *out, u32 columns,
                                          u32 dtype, f32 eps) {
    SHARED f32 scratch[256 / WAVE], squared[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 first = (i64)block_x() * columns;
    f32 sum = 0.0f;
    for (u32 c = thread_x(); c < columns; c += 256) sum += load_float(x, first + c, dtype);
    const f32 mean = block_sum<256>(sum, scratch) / (f32)columns;
    f32 squares = 0.0f;
    for (u32 c = thread_x(); c < columns; c += 256) {
        const f32 apart = load_float(x, first + c, dtype) - mean;
        squares = mul_add(apart, apart, squares);
    }
    const f32 scale = 1.0f / exact_sqrt(block_sum<256>(squares, squared) / (f32)columns + eps);
    for (u32 c = thread_x(); c < columns; c += 256) {
        const f32 normed = (load_float(x, first + c, dtype) - mean) * scale;
        store_float(out, first + c, dtype, normed * factor(weight, c, dtype, 1.0f) + factor(bias, c, dtype, 0.0f));
    }
}
