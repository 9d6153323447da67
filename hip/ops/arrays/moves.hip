// out[i] = x[place(i)], and a[i] where c[i] holds, else b[i]: elements that only move, `size` bytes each (1, 2, 4, 8).
//
// Launch: 256 threads, a block 1024 elements of out, which lies row after row.
#include "dtype.h"

KERNEL(256) void mlxrocm_array_copy(const void *x, void *out, u32 count, u32 size, AXES, STRIDES(x)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * BLOCK + thread_x();
    i64 at[PER_THREAD];
    u64 bits[PER_THREAD];
    UNROLL for (u32 j = 0; j < PER_THREAD; j++)
        at[j] = index_of(minimum(first + j * 256, count - 1), count, s1, s2, s3, s4, s5).at(x0, x1, x2, x3, x4, x5);
    load_bits(x, at, size, bits);
    UNROLL for (u32 j = 0; j < PER_THREAD; j++)
        if (first + j * 256 < count) store_bits(out, first + j * 256, size, bits[j]);
}

KERNEL(256) void mlxrocm_array_select(const void *c, const void *a, const void *b, void *out, u32 count, u32 size, AXES,
                                      STRIDES(c), STRIDES(a), STRIDES(b)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * BLOCK + thread_x();
    i64 at_c[PER_THREAD], at_a[PER_THREAD], at_b[PER_THREAD];
    u64 bits_c[PER_THREAD], bits_a[PER_THREAD], bits_b[PER_THREAD];
    UNROLL for (u32 j = 0; j < PER_THREAD; j++) {
        const Index index = index_of(minimum(first + j * 256, count - 1), count, s1, s2, s3, s4, s5);
        at_c[j] = index.at(c0, c1, c2, c3, c4, c5);
        at_a[j] = index.at(a0, a1, a2, a3, a4, a5), at_b[j] = index.at(b0, b1, b2, b3, b4, b5);
    }
    load_bits(c, at_c, 1, bits_c);
    load_bits(a, at_a, size, bits_a);
    load_bits(b, at_b, size, bits_b);
    UNROLL for (u32 j = 0; j < PER_THREAD; j++)
        if (first + j * 256 < count) store_bits(out, first + j * 256, size, bits_c[j] ? bits_a[j] : bits_b[j]);
}
