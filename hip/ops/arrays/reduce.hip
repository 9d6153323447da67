// out[o] = all of x[o][i] joined: all, any, sum, product, least, largest, log of the sum of exponentials, and the place
// of the least or largest. The outputs o count through sizes s0, s1, s2, what is joined i through r0, r1, r2. Sums are
// f32 or 64-bit whole numbers; those of floats are divided by `divisor`, if it is not 0. Always in the same order: the same
// inputs give the same bits. Where much is joined into few outputs it is cut into pieces, each an output of its own,
// out[o][piece], which a second launch joins.
//
// Launch: mlxrocm_array_reduce 256 threads, grid (outputs, pieces): a block an output; mlxrocm_array_reduce_lanes 256
// threads, grid (outputs / 256, pieces), a thread an output: where outputs lie side by side, or little is joined.
#include "dtype.h"
#include "functions.h"
#include "means.h"

enum Reduction { ALL, ANY, SUM, PROD, MIN, MAX, LOG_SUM_EXP, ARG_MIN, ARG_MAX };

#define JOINED                                                                                                    \
    const void *x, void *out, u32 outputs, u32 joined, u32 pieces, u32 reduction, u32 from, u32 to, f32 divisor, u32 s1,      \
        u32 s2, i32 o0, i32 o1, i32 o2, u32 r1, u32 r2, i32 i0, i32 i1, i32 i2

// What was joined so far. LOG_SUM_EXP: log of the sum is value + log(sum).
struct Total {
    f32 value, sum;
    i64 whole;
    u32 place, unused; // 0: no byte of shared memory is left out
};

DEVICE Total nothing(u32 reduction) {
    const bool is_product = reduction == PROD || reduction == ALL;
    Total total{is_product ? 1.0f : 0.0f, 0.0f, is_product ? 1 : 0, 0xffffffffu, 0};
    if (reduction == LOG_SUM_EXP) total.value = -infinity();
    return total;
}
DEVICE bool is_better(u32 reduction, const Total &a, const Total &b, u32 from) {
    const bool least = reduction == MIN || reduction == ARG_MIN;
    if (is_float(from)) {
        // NaN is better than numbers; the first of equals stays.
        if (is_nan(a.value) || is_nan(b.value)) return is_nan(a.value) && (!is_nan(b.value) || a.place < b.place);
        if (a.value != b.value) return least ? a.value < b.value : a.value > b.value;
    } else if (a.whole != b.whole) {
        const bool less = from == U64 ? (u64)a.whole < (u64)b.whole : a.whole < b.whole;
        return less == least;
    }
    return a.place < b.place;
}
DEVICE Total join(u32 reduction, const Total &a, const Total &b, u32 from) {
    Total total = a;
    switch (reduction) {
    case ALL: total.whole = a.whole && b.whole; break;
    case ANY: total.whole = a.whole || b.whole; break;
    case SUM:
        total.value = a.value + b.value;
        total.whole = (i64)((u64)a.whole + (u64)b.whole);
        break;
    case PROD:
        total.value = a.value * b.value;
        total.whole = (i64)((u64)a.whole * (u64)b.whole);
        break;
    case LOG_SUM_EXP: {
        if (b.value == -infinity()) break;
        if (a.value == -infinity()) return b;
        const f32 most = is_nan(a.value) || a.value > b.value ? a.value : b.value;
        // Equal infinities are their own sum.
        const f32 left = a.value == most ? 1.0f : exact_exp(a.value - most);
        const f32 right = b.value == most ? 1.0f : exact_exp(b.value - most);
        total.value = most;
        total.sum = a.sum * left + b.sum * right;
        break;
    }
    default:
        // Nothing has no place.
        if (a.place == 0xffffffffu || (b.place != 0xffffffffu && is_better(reduction, b, a, from))) return b;
    }
    return total;
}
DEVICE Total element(const void *x, i64 at, u32 place, u32 reduction, u32 from) {
    Total total{0.0f, 1.0f, 0, place, 0};
    if (is_float(from)) {
        total.value = load_float(x, at, from);
        total.whole = total.value != 0.0f;
    } else {
        total.whole = load_whole(x, at, from);
        if (reduction == ALL || reduction == ANY) total.whole = total.whole != 0;
        total.value = float_of(total.whole, from);
    }
    return total;
}
DEVICE void store_total(void *out, u32 i, const Total &total, u32 reduction, u32 from, u32 to, f32 divisor) {
    if (reduction >= ARG_MIN)
        ((u32 *)out)[i] = total.place;
    else if (reduction == LOG_SUM_EXP)
        store_float(out, i, to, absolute(total.value) == infinity() ? total.value : total.value + exact_log(total.sum));
    else if (reduction <= ANY || !is_float(from))
        store_whole(out, i, to, total.whole);
    else
        store_mean(out, i, to, total.value, reduction == SUM ? divisor : 0.0f);
}
DEVICE i64 first_of(u32 output, u32 s1, u32 s2, i32 o0, i32 o1, i32 o2) {
    return (i64)(output / s2 / s1) * o0 + (i64)(output / s2 % s1) * o1 + (i64)(output % s2) * o2;
}

KERNEL(256) void mlxrocm_array_reduce_lanes(JOINED) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 output = block_x() * 256 + thread_x();
    if (output >= outputs) return;
    const i64 first = first_of(output, s1, s2, o0, o1, o2);
    Total total = nothing(reduction);
    const u32 piece = divide_up(joined, pieces), begin = block_y() * piece, end = minimum(begin + piece, joined);
    for (u32 i = begin; i < end; i++) {
        const i64 at = first + (i64)(i / r2 / r1) * i0 + (i64)(i / r2 % r1) * i1 + (i64)(i % r2) * i2;
        total = join(reduction, total, element(x, at, i, reduction, from), from);
    }
    store_total(out, output * pieces + block_y(), total, reduction, from, to, divisor);
}

KERNEL(256) void mlxrocm_array_reduce(JOINED) {
    SHARED Total totals[256];
    grid_dependency_launch();
    grid_dependency_wait();
    if (block_x() >= outputs) return;
    const i64 first = first_of(block_x(), s1, s2, o0, o1, o2);
    Total total = nothing(reduction);
    const u32 piece = divide_up(joined, pieces), begin = block_y() * piece, end = minimum(begin + piece, joined);
    for (u32 i = begin + thread_x(); i < end; i += 256) {
        const i64 at = first + (i64)(i / r2 / r1) * i0 + (i64)(i / r2 % r1) * i1 + (i64)(i % r2) * i2;
        total = join(reduction, total, element(x, at, i, reduction, from), from);
    }
    totals[thread_x()] = total;
    for (u32 half = 128; half > 0; half /= 2) {
        barrier();
        if (thread_x() < half)
            totals[thread_x()] = join(reduction, totals[thread_x()], totals[thread_x() + half], from);
    }
    if (thread_x() == 0) store_total(out, block_x() * pieces + block_y(), totals[0], reduction, from, to, divisor);
}
