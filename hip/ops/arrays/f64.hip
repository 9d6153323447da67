// out[i] = f(x[i]) of f64, to f64, to other dtypes (casts, "not") and from these; f(a[i], b[i]) of two f64, to one or to a
// truth value; start + i · step. Arrays lie anyhow; functions and dtypes are numbers, as in elementwise.hip.
//
// Launch: 256 threads, a thread an element of out, which lies row after row: several would keep all functions' constants in
// registers.
#include "f64_functions.h"

// A number as whole numbers of a dtype: what does not fit is the nearest that does, NaN is 0.
DEVICE i64 whole_of(f64 x, u32 dtype) {
    if (is_nan(x)) return 0;
    const bool is_signed = dtype >= I8;
    const u32 bits = size_of(dtype) * 8;
    const f64 top = power_of_two_64((i32)bits - (is_signed ? 1 : 0));
    const u64 most = (is_signed ? 1ull << (bits - 1) : bits == 64 ? 0 : 1ull << bits) - 1;
    if (x >= top) return (i64)most;
    if (is_signed) return x <= -top ? -(i64)most - 1 : (i64)x;
    return x <= 0.0 ? 0 : (i64)(u64)x;
}
DEVICE void unary(u32 function, u64 bits, void *out, u32 i, u32 from, u32 to) {
    if (from != F64) {
        // A cast; what is no f64 has no other function here.
        const i64 whole = whole_in(bits, from);
        ((f64 *)out)[i] = from == C64      ? (f64)bits_f32((u32)bits)
                          : is_float(from) ? (f64)float_in(bits, from)
                          : from == U64    ? (f64)(u64)whole
                                           : (f64)whole;
        return;
    }
    const f64 x = bits_f64(bits);
    if (to == F64)
        ((f64 *)out)[i] = unary_f64(function, x);
    else if (to == BOOL)
        store_whole(out, i, BOOL, (x == 0.0) == (function == NOT));
    else if (to == C64)
        store8((u32x2 *)out + i, {f32_bits((f32)x), 0});
    else if (is_float(to))
        // By way of f32, as MLX makes 16-bit numbers.
        store_float(out, i, to, (f32)x);
    else
        store_whole(out, i, to, whole_of(x, to));
}

KERNEL(256) void mlxrocm_array_f64_unary(const void *x, void *out, u32 count, u32 function, u32 from, u32 to, AXES, STRIDES(x)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const i64 at[1] = {index_of(i, count, s1, s2, s3, s4, s5).at(x0, x1, x2, x3, x4, x5)};
    u64 bits[1];
    load_bits(x, at, from == C64 || from == F64 ? 8 : size_of(from), bits);
    unary(function, bits[0], out, i, from, to);
}

KERNEL(256) void mlxrocm_array_f64_binary(const f64 *a, const f64 *b, void *out, u32 count, u32 function, u32 to, AXES,
                                          STRIDES(a), STRIDES(b)) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const Index index = index_of(i, count, s1, s2, s3, s4, s5);
    const f64 x = a[index.at(a0, a1, a2, a3, a4, a5)], y = b[index.at(b0, b1, b2, b3, b4, b5)];
    if (to == BOOL)
        store_whole(out, i, BOOL, compare_f64(function, x, y));
    else
        ((f64 *)out)[i] = binary_f64(function, x, y);
}

KERNEL(256) void mlxrocm_array_f64_erf_inverse(const f64 *x, f64 *out, u32 count, u32 dtype) {
    grid_dependency_launch();
    grid_dependency_wait();
    (void)dtype;
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) out[i] = erf_inverse(x[i]);
}

KERNEL(256) void mlxrocm_array_f64_arange(f64 *out, u32 count, u64 start_bits, u64 step_bits) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) out[i] = bits_f64(start_bits) + product((f64)i, bits_f64(step_bits));
}
