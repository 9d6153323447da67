// Reductions of f64, as reduce.hip has them of others: all, any, sum, product, least, largest, log of the sum of exponentials,
// and the place of the least or largest. Always in the same order.
//
// Launch: as reduce.hip: mlxrocm_array_f64_reduce a block an output, mlxrocm_array_f64_reduce_lanes a thread.
#include "f64_functions.h"

enum Reduction { ALL, ANY, SUM, PROD, MIN, MAX, LOG_SUM_EXP, ARG_MIN, ARG_MAX };

#define JOINED                                                                                                          \
    const f64 *x, void *out, u32 outputs, u32 joined, u32 pieces, u32 reduction, u32 s1, u32 s2, i32 o0, i32 o1, i32 o2, \
        u32 r1, u32 r2, i32 i0, i32 i1, i32 i2

#define NOWHERE 0xffffffffu
// LOG_SUM_EXP: log of the sum is value + log(sum). Nothing has no place.
struct Total {
    f64 value, sum;
    u32 place, unused; // 0: no byte of shared memory is left out
};
DEVICE Total nothing(u32 reduction) {
    const f64 start = reduction == PROD || reduction == ALL ? 1.0 : 0.0;
    return {reduction == LOG_SUM_EXP ? -f64_infinity() : start, 0.0, NOWHERE, 0};
}
DEVICE Total join(u32 reduction, const Total &a, const Total &b) {
    Total total = a;
    switch (reduction) {
    case ALL: total.value = a.value != 0.0 && b.value != 0.0 ? 1.0 : 0.0; return total;
    case ANY: total.value = a.value != 0.0 || b.value != 0.0 ? 1.0 : 0.0; return total;
    case SUM: total.value = a.value + b.value; return total;
    case PROD: total.value = a.value * b.value; return total;
    }
    if (b.place == NOWHERE) return a;
    if (a.place == NOWHERE) return b;
    if (reduction == LOG_SUM_EXP) {
        const f64 most = larger(a.value, b.value);
        // Equal infinities are their own sum.
        const f64 left = a.value == most ? 1.0 : exact_exp(a.value - most);
        const f64 right = b.value == most ? 1.0 : exact_exp(b.value - most);
        total.value = most;
        total.sum = a.sum * left + b.sum * right;
        return total;
    }
    // NaN is better than numbers; the first of equals stays.
    const bool least = reduction == MIN || reduction == ARG_MIN;
    bool is_b;
    if (is_nan(a.value) || is_nan(b.value))
        is_b = is_nan(b.value) && (!is_nan(a.value) || b.place < a.place);
    else if (a.value == b.value)
        is_b = b.place < a.place;
    else
        is_b = (b.value < a.value) == least;
    return is_b ? b : a;
}
DEVICE Total element(const f64 *x, i64 at, u32 place, u32 reduction) {
    Total total{x[at], 1.0, place, 0};
    if (reduction <= ANY) total.value = total.value == 0.0 ? 0.0 : 1.0;
    return total;
}
DEVICE void store_total(void *out, u32 i, const Total &total, u32 reduction) {
    if (reduction >= ARG_MIN)
        ((u32 *)out)[i] = total.place;
    else if (reduction <= ANY)
        ((u8 *)out)[i] = total.value != 0.0;
    else if (reduction == LOG_SUM_EXP)
        ((f64 *)out)[i] = absolute(total.value) == f64_infinity() ? total.value : total.value + exact_log(total.sum);
    else
        ((f64 *)out)[i] = total.value;
}
DEVICE i64 first_of(u32 output, u32 s1, u32 s2, i32 o0, i32 o1, i32 o2) {
    return (i64)(output / s2 / s1) * o0 + (i64)(output / s2 % s1) * o1 + (i64)(output % s2) * o2;
}

KERNEL(256) void mlxrocm_array_f64_reduce_lanes(JOINED) {
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

KERNEL(256) void mlxrocm_array_f64_reduce(JOINED) {
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
