// What networks do besides products, attention and norms; T is f16 or f32.
//
// copy: out[place of e] = x[place of e], e < count, of every item: e's four indices by `sizes` (the last runs
//   fastest), a stride for each in x and in out.
// take: out[i] = x[places[i]], i < count, of every item.
// sums: out[c] = Σ_r x[r][c] of every item, r < rows in order.
// softmax: out[r][c] = exp(x[r][c] - max) / Σ exp, rows one after the other.
// planes: out[square][plane] = value of the plane where its mask has the square's bit, else 0; masks and values
//   [items][planes], out [items][64][planes].
//
// Launch: 256 threads, an element (softmax: a row) each; grid (elements of an item / 256, items), softmax (rows /
// 256, 1).
#include "ops/network/numbers.h"

template <typename A, typename B>
DEVICE void copy(const A *x, B *out, u32 count, u32 x_item, u32 x_first, u32 out_item, u32 out_first, const u32 *sizes,
                 const u32 *x_strides, const u32 *out_strides) {
    grid_dependency_launch();
    grid_dependency_wait();
    u32 left = block_x() * 256 + thread_x(), from = x_first, to = out_first;
    if (left >= count) return;
    UNROLL for (u32 i = 4; i-- > 0;) {
        const u32 index = i == 0 ? left : left % sizes[i];
        left /= sizes[i];
        from += index * x_strides[i], to += index * out_strides[i];
    }
    put(out + (u64)block_y() * out_item + to, to_f32(x[(u64)block_y() * x_item + from]));
}
#define COPY_KERNEL(NAME, A, B)                                                                                 \
    KERNEL(256) void NAME(const A *x, B *out, u32 count, u32 x_item, u32 x_first, u32 out_item, u32 out_first, u32 s0, \
                          u32 s1, u32 s2, u32 s3, u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, u32 b2, u32 b3) { \
        const u32 sizes[4] = {s0, s1, s2, s3}, x_strides[4] = {a0, a1, a2, a3}, out_strides[4] = {b0, b1, b2, b3}; \
        copy<A, B>(x, out, count, x_item, x_first, out_item, out_first, sizes, x_strides, out_strides);         \
    }
COPY_KERNEL(mlxrocm_network_copy_f16, f16, f16)
COPY_KERNEL(mlxrocm_network_copy_f32, f32, f32)
COPY_KERNEL(mlxrocm_network_copy_f32_f16, f32, f16)
COPY_KERNEL(mlxrocm_network_copy_f16_f32, f16, f32)

template <typename A, typename B> DEVICE void take(const A *x, const u32 *places, B *out, u32 count, u32 item, u32 first) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) put(out + (u64)block_y() * count + i, to_f32(x[(u64)block_y() * item + first + places[i]]));
}

template <typename T> DEVICE void sums(const T *x, T *out, u32 rows, u32 columns, u32 item, u32 first) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 c = block_x() * 256 + thread_x();
    if (c >= columns) return;
    const T *from = x + (u64)block_y() * item + first + c;
    f32 sum = 0.0f;
    for (u32 r = 0; r < rows; r++) sum += to_f32(from[(u64)r * columns]);
    put(out + (u64)block_y() * columns + c, sum);
}

template <typename T> DEVICE void softmax(const T *x, T *out, u32 rows, u32 columns) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 r = block_x() * 256 + thread_x();
    if (r >= rows) return;
    const T *from = x + (u64)r * columns;
    f32 most = -3.0e38f, sum = 0.0f;
    for (u32 c = 0; c < columns; c++) most = maximum(most, to_f32(from[c]));
    for (u32 c = 0; c < columns; c++) sum += fast_exp(to_f32(from[c]) - most);
    for (u32 c = 0; c < columns; c++) put(out + (u64)r * columns + c, fast_exp(to_f32(from[c]) - most) / sum);
}

template <typename T> DEVICE void planes(const u64 *masks, const f32 *values, T *out, u32 count) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 at = block_x() * 256 + thread_x();
    if (at >= count * 64) return;
    const u32 plane = at % count, square = at / count, of = block_y() * count + plane;
    put(out + (u64)block_y() * count * 64 + at, masks[of] >> square & 1 ? values[of] : 0.0f);
}

#define TAKE_KERNEL(NAME, A, B)                                                                    \
    KERNEL(256) void NAME(const A *x, const u32 *places, B *out, u32 count, u32 item, u32 first) { \
        take<A, B>(x, places, out, count, item, first);                                            \
    }
TAKE_KERNEL(mlxrocm_network_take_f16, f16, f16)
TAKE_KERNEL(mlxrocm_network_take_f32, f32, f32)
TAKE_KERNEL(mlxrocm_network_take_f32_f16, f32, f16)
TAKE_KERNEL(mlxrocm_network_take_f16_f32, f16, f32)

#define SUMS_KERNEL(NAME, T)                                                                       \
    KERNEL(256) void NAME(const T *x, T *out, u32 rows, u32 columns, u32 item, u32 first) { \
        sums<T>(x, out, rows, columns, item, first);                                               \
    }
SUMS_KERNEL(mlxrocm_network_sums_f16, f16)
SUMS_KERNEL(mlxrocm_network_sums_f32, f32)

#define SOFTMAX_KERNEL(NAME, T) \
    KERNEL(256) void NAME(const T *x, T *out, u32 rows, u32 columns) { softmax<T>(x, out, rows, columns); }
SOFTMAX_KERNEL(mlxrocm_network_softmax_f16, f16)
SOFTMAX_KERNEL(mlxrocm_network_softmax_f32, f32)

#define PLANES_KERNEL(NAME, T) \
    KERNEL(256) void NAME(const u64 *masks, const f32 *values, T *out, u32 count) { planes<T>(masks, values, out, count); }
PLANES_KERNEL(mlxrocm_network_planes_f16, f16)
PLANES_KERNEL(mlxrocm_network_planes_f32, f32)
