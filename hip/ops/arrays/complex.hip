// out[i] = f(x[i]) of complex numbers, to them, to real ones (their size, their parts, casts) and from these; f(a[i], b[i]) of
// two complex numbers, to one or to a truth value. Arrays lie anyhow; functions and dtypes are numbers, as in
// elementwise.hip.
//
// Launch: 256 threads, a block 1024 elements of out, which lies row after row.
#include "complex.h"

DEVICE void unary(u32 function, u64 bits, void *out, u32 i, u32 from, u32 to) {
    if (from != C64) {
        // A cast; what is not complex has no other function here.
        store_complex(out, i, {is_float(from) ? float_in(bits, from) : float_of(whole_in(bits, from), from), 0.0f});
        return;
    }
    const Complex z = complex_in(bits);
    if (to == C64)
        store_complex(out, i, complex_unary(function, z));
    else if (to == BOOL)
        store_whole(out, i, BOOL, is_zero(z) == (function == NOT));
    else {
        const f32 value = function == ABS ? size_of_number(z) : function == IMAG ? z.im : z.re;
        if (is_float(to))
            store_float(out, i, to, value);
        else
            store_whole(out, i, to, whole_of(value, to));
    }
}

KERNEL(256) void mlxrocm_array_complex_unary(const void *x, void *out, u32 count, u32 function, u32 from, u32 to, AXES,
                                             STRIDES(x)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * BLOCK + thread_x();
    i64 at[PER_THREAD];
    u64 bits[PER_THREAD];
    UNROLL for (u32 j = 0; j < PER_THREAD; j++)
        at[j] = index_of(minimum(first + j * 256, count - 1), count, s1, s2, s3, s4, s5).at(x0, x1, x2, x3, x4, x5);
    load_bits(x, at, from == C64 ? 8 : size_of(from), bits);
    // One copy of the functions: they are long.
#pragma unroll 1
    for (u32 j = 0; j < PER_THREAD; j++) {
        const u64 mine = j == 0 ? bits[0] : j == 1 ? bits[1] : j == 2 ? bits[2] : bits[3];
        if (first + j * 256 < count) unary(function, mine, out, first + j * 256, from, to);
    }
}

KERNEL(256) void mlxrocm_array_complex_binary(const void *a, const void *b, void *out, u32 count, u32 function, u32 to, AXES,
                                              STRIDES(a), STRIDES(b)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * BLOCK + thread_x();
    i64 at_a[PER_THREAD], at_b[PER_THREAD];
    u64 bits_a[PER_THREAD], bits_b[PER_THREAD];
    UNROLL for (u32 j = 0; j < PER_THREAD; j++) {
        const Index index = index_of(minimum(first + j * 256, count - 1), count, s1, s2, s3, s4, s5);
        at_a[j] = index.at(a0, a1, a2, a3, a4, a5), at_b[j] = index.at(b0, b1, b2, b3, b4, b5);
    }
    load_bits(a, at_a, 8, bits_a);
    load_bits(b, at_b, 8, bits_b);
#pragma unroll 1
    for (u32 j = 0; j < PER_THREAD; j++) {
        const Complex x = complex_in(j == 0 ? bits_a[0] : j == 1 ? bits_a[1] : j == 2 ? bits_a[2] : bits_a[3]);
        const Complex y = complex_in(j == 0 ? bits_b[0] : j == 1 ? bits_b[1] : j == 2 ? bits_b[2] : bits_b[3]);
        const u32 i = first + j * 256;
        if (i >= count) break;
        if (to == BOOL)
            store_whole(out, i, BOOL, complex_compare(function, x, y));
        else
            store_complex(out, i, complex_binary(function, x, y));
    }
}
