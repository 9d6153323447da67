// Reductions of complex numbers, as reduce.hip has them of others: all, any, sum, product, least, largest (by the real, then
// the imaginary part), log of the sum of exponentials, and the place of the least or largest. Always in the same order.
//
// Launch: as reduce.hip: mlxrocm_array_complex_reduce a block an output, mlxrocm_array_complex_reduce_lanes a thread.
#include "complex.h"

enum Reduction { ALL, ANY, SUM, PROD, MIN, MAX, LOG_SUM_EXP, ARG_MIN, ARG_MAX };

#define JOINED                                                                                                          \
    const void *x, void *out, u32 outputs, u32 joined, u32 pieces, u32 reduction, u32 s1, u32 s2, i32 o0, i32 o1, i32 o2, \
        u32 r1, u32 r2, i32 i0, i32 i1, i32 i2

#define NOWHERE 0xffffffffu
// LOG_SUM_EXP: log of the sum is value + log(sum). Nothing has no place.
struct Total {
    Complex value, sum;
    u32 place, unused; // 0: no byte of shared memory is left out
};
DEVICE Total nothing(u32 reduction) {
    const f32 start = reduction == PROD || reduction == ALL ? 1.0f : 0.0f;
    return {{reduction == LOG_SUM_EXP ? -infinity() : start, 0.0f}, {0.0f, 0.0f}, NOWHERE, 0};
}
DEVICE Total join(u32 reduction, const Total &a, const Total &b) {
    Total total = a;
    switch (reduction) {
    case ALL: total.value.re = a.value.re != 0.0f && b.value.re != 0.0f ? 1.0f : 0.0f; return total;
    case ANY: total.value.re = a.value.re != 0.0f || b.value.re != 0.0f ? 1.0f : 0.0f; return total;
    case SUM: total.value = a.value + b.value; return total;
    case PROD: total.value = a.value * b.value; return total;
    }
    if (b.place == NOWHERE) return a;
    if (a.place == NOWHERE) return b;
    if (reduction == LOG_SUM_EXP) {
        const bool is_a = is_nan(a.value) || is_less(b.value, a.value);
        total.value = is_a ? a.value : b.value;
        const Complex by = complex_exp(is_a ? b.value - a.value : a.value - b.value);
        total.sum = is_a ? a.sum + b.sum * by : b.sum + a.sum * by;
        return total;
    }
    // NaN is better than numbers; the first of equals stays.
    const bool least = reduction == MIN || reduction == ARG_MIN;
    bool is_b;
    if (is_nan(a.value) || is_nan(b.value))
        is_b = is_nan(b.value) && (!is_nan(a.value) || b.place < a.place);
    else if (is_same(a.value, b.value))
        is_b = b.place < a.place;
    else
        is_b = is_less(b.value, a.value) == least;
    return is_b ? b : a;
}
DEVICE Total element(const void *x, i64 at, u32 place, u32 reduction) {
    Total total{load_complex(x, at), {1.0f, 0.0f}, place, 0};
    if (reduction <= ANY) total.value = {is_zero(total.value) ? 0.0f : 1.0f, 0.0f};
    return total;
}
DEVICE void store_total(void *out, u32 i, const Total &total, u32 reduction) {
    if (reduction >= ARG_MIN)
        ((u32 *)out)[i] = total.place;
    else if (reduction <= ANY)
        ((u8 *)out)[i] = total.value.re != 0.0f;
    else if (reduction == LOG_SUM_EXP)
        store_complex(out, i, total.place == NOWHERE ? total.value : total.value + complex_log(total.sum));
    else
        store_complex(out, i, total.value);
}
DEVICE i64 first_of(u32 output, u32 s1, u32 s2, i32 o0, i32 o1, i32 o2) {
    return (i64)(output / s2 / s1) * o0 + (i64)(output / s2 % s1) * o1 + (i64)(output % s2) * o2;
}

KERNEL(256) void mlxrocm_array_complex_reduce_lanes(JOINED) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 output = block_x() * 256 + thread_x();
    if (output >= outputs) return;
    const i64 first = first_of(output, s1, s2, o0, o1, o2);
    Total total = nothing(reduction);
    const u32 piece = divide_up(joined, pieces), begin = block_y() * piece, end = minimum(begin + piece, joined);
    for (u32 i = begin; i < end; i++) {
        const i64 at = first + (i64)(i / r2 / r1) * i0 + (i64)(i / r2 % r1) * i1 + (i64)(i % r2) * i2;
        total = join(reduction, total, element(x, at, i, reduction));
    }
    store_total(out, output * pieces + block_y(), total, reduction);
}

KERNEL(256) void mlxrocm_array_complex_reduce(JOINED) {
    SHARED Total totals[256];
    grid_dependency_launch();
    grid_dependency_wait();
    if (block_x() >= outputs) return;
    const i64 first = first_of(block_x(), s1, s2, o0, o1, o2);
    Total total = nothing(reduction);
    const u32 piece = divide_up(joined, pieces), begin = block_y() * piece, end = minimum(begin + piece, joined);
    for (u32 i = begin + thread_x(); i < end; i += 256) {
        const i64 at = first + (i64)(i / r2 / r1) * i0 + (i64)(i / r2 % r1) * i1 + (i64)(i % r2) * i2;
        total = join(reduction, total, element(x, at, i, reduction));
    }
    totals[thread_x()] = total;
    for (u32 half = 128; half > 0; half /= 2) {
        barrier();
        if (thread_x() < half) totals[thread_x()] = join(reduction, totals[thread_x()], totals[thread_x() + half]);
    }
    if (thread_x() == 0) store_total(out, block_x() * pieces + block_y(), totals[0], reduction);
}
