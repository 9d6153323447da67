// out[i] = f(x[i]), f(a[i], b[i]), or a[i] where c[i] holds, else b[i]: functions of each element of arrays that lie
// anyhow. Which function and which dtype are numbers, the same for the whole launch: branches that all lanes take alike.
// What lies well goes to the faster forms of unary_vectors*.hip, binary_vectors*.hip.
//
// Launch: 256 threads, a block 1024 elements of out, which lies row after row.
#include "elementwise.h"

DEVICE void unary(u32 function, u64 bits, void *out, u32 i, u32 from, u32 to) {
    if (is_float(from)) {
        const f32 value = unary_float(function, float_in(bits, from), from);
        if (is_float(to))
            store_float(out, i, to, value);
        else if (to == BOOL)
            store_whole(out, i, to, (value != 0.0f) != (function == NOT));
        else
            store_whole(out, i, to, whole_of(value, to));
    } else {
        const i64 value = unary_whole(function, whole_in(bits, from), from);
        if (is_float(to))
            store_float(out, i, to, float_of(value, from));
        else
            store_whole(out, i, to, function == NOT ? value == 0 : value);
    }
}

KERNEL(256) void mlxrocm_array_unary(const void *x, void *out, u32 count, u32 function, u32 from, u32 to, AXES, STRIDES(x)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * BLOCK + thread_x();
    i64 at[PER_THREAD];
    u64 bits[PER_THREAD];
    UNROLL for (u32 j = 0; j < PER_THREAD; j++)
        at[j] = index_of(minimum(first + j * 256, count - 1), count, s1, s2, s3, s4, s5).at(x0, x1, x2, x3, x4, x5);
    load_bits(x, at, size_of(from), bits);
    UNROLL for (u32 j = 0; j < PER_THREAD; j++)
        if (first + j * 256 < count) unary(function, bits[j], out, first + j * 256, from, to);
}

DEVICE void binary(u32 function, u64 a, u64 b, void *out, u32 i, u32 from, u32 to) {
    if (is_float(from)) {
        const f32 x = float_in(a, from), y = float_in(b, from);
        if (to == BOOL)
            store_whole(out, i, BOOL, compare_float(function, x, y));
        else
            store_float(out, i, to, binary_float(function, x, y, from));
    } else {
        const i64 x = whole_in(a, from), y = whole_in(b, from);
        if (to == BOOL && (from != BOOL || (function >= EQUAL && function <= LOGICAL_OR) || function == NOT_EQUAL))
            store_whole(out, i, BOOL, compare_whole(function, x, y, from));
        else
            store_whole(out, i, to, binary_whole(function, x, y, from));
    }
}

KERNEL(256) void mlxrocm_array_binary(const void *a, const void *b, void *out, u32 count, u32 function, u32 from, u32 to,
                                      AXES, STRIDES(a), STRIDES(b)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * BLOCK + thread_x();
    i64 at_a[PER_THREAD], at_b[PER_THREAD];
    u64 bits_a[PER_THREAD], bits_b[PER_THREAD];
    UNROLL for (u32 j = 0; j < PER_THREAD; j++) {
        const Index index = index_of(minimum(first + j * 256, count - 1), count, s1, s2, s3, s4, s5);
        at_a[j] = index.at(a0, a1, a2, a3, a4, a5), at_b[j] = index.at(b0, b1, b2, b3, b4, b5);
    }
    load_bits(a, at_a, size_of(from), bits_a);
    load_bits(b, at_b, size_of(from), bits_b);
    UNROLL for (u32 j = 0; j < PER_THREAD; j++)
        if (first + j * 256 < count) binary(function, bits_a[j], bits_b[j], out, first + j * 256, from, to);
}
