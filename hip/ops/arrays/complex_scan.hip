// Running totals of complex numbers, as order.hip has them of others; least and largest by the real, then the imaginary part,
// the first with a NaN ahead of all.
//
// The log of a sum of exponentials has many values. As where terms are added one by one, its imaginary part is to be near that
// of the larger of a term and the total before it. So the sums are made first; the whole turns that a sum's angle lacks are
// those of the term where that is the larger, else those before it, one more or less where the angle crossed the cut: a running
// total of turns that begins anew at larger terms.
//
// Launch: 256 threads, a block a row (order.hip says which elements).
#include "complex.h"

enum Scan { SUM, PROD, MIN, MAX };

DEVICE Complex neutral(u32 scan) {
    switch (scan) {
    case SUM: return {0.0f, 0.0f};
    case PROD: return {1.0f, 0.0f};
    case MIN: return {infinity(), infinity()};
    default: return {-infinity(), -infinity()};
    }
}
DEVICE Complex joined(u32 scan, Complex a, Complex b) {
    switch (scan) {
    case SUM: return a + b;
    case PROD: return a * b;
    case MIN: return smaller(a, b);
    default: return larger(a, b);
    }
}

// All threads' numbers up to their own, joined; distances double. `room`: twice 256; `now` says in which half they are.
template <typename T, typename Join> DEVICE T up_to_here(T own, T (*room)[256], u32 &now, const Join &join) {
    now = 0;
    room[0][thread_x()] = own;
    for (u32 distance = 1; distance < 256; distance *= 2) {
        barrier();
        if (thread_x() >= distance) own = join(room[now][thread_x() - distance], own);
        now = 1 - now;
        room[now][thread_x()] = own;
    }
    barrier();
    return own;
}

struct Row {
    u32 columns, step, backwards;
    i64 first;
    METHOD Row(u32 columns, u32 step, u32 backwards)
        : columns(columns), step(step), backwards(backwards),
          first((i64)(block_x() / step) * columns * step + block_x() % step) {}
    METHOD i64 at(u32 c) const { return first + (i64)(backwards ? columns - 1 - c : c) * step; }
};

KERNEL(256) void mlxrocm_array_complex_scan(const void *x, void *out, u32 columns, u32 step, u32 scan, u32 backwards,
                                            u32 inclusive) {
    SHARED Complex values[2][256];
    grid_dependency_launch();
    grid_dependency_wait();
    const Row row(columns, step, backwards);
    Complex carried = neutral(scan);
    for (u32 begin = 0; begin < columns; begin += 256) {
        const u32 c = begin + thread_x();
        const Complex own = c < columns ? load_complex(x, row.at(c)) : neutral(scan);
        u32 now;
        const Complex here = up_to_here(own, values, now, [&](Complex a, Complex b) { return joined(scan, a, b); });
        const Complex before = values[now][maximum(thread_x(), 1u) - 1];
        Complex total = chosen(inclusive || thread_x() == 0, here, before);
        const Complex of_all = values[now][255];
        // A product with 1 is another one where parts are infinite.
        if (begin > 0) total = joined(scan, carried, total);
        if (!inclusive && thread_x() == 0) total = carried;
        carried = begin > 0 ? joined(scan, carried, of_all) : of_all;
        if (c < columns) store_complex(out, row.at(c), total);
        barrier();
    }
}

// Σ e^z as (re + i im) · e^m; of infinite m the largest imaginary part of such z, as re.
struct Sum {
    f32 m, re, im;
};
DEVICE Sum sum_of(Complex z) {
    if (is_nan(z)) return {nan(), 0.0f, 0.0f};
    if (absolute(z.re) == infinity()) return {z.re, z.im, 0.0f};
    return {z.re, exact_sin(z.im, 1), exact_sin(z.im, 0)};
}
DEVICE Sum joined_sums(const Sum &a, const Sum &b) {
    if (is_nan(a.m)) return a;
    if (is_nan(b.m)) return b;
    const bool is_a = a.m > b.m || (a.m == b.m && a.re > b.re);
    const Sum most = is_a ? a : b, least = is_a ? b : a;
    if (absolute(most.m) == infinity() || least.m == -infinity()) return most;
    const f32 by = exact_exp(least.m - most.m);
    return {most.m, mul_add(least.re, by, most.re), mul_add(least.im, by, most.im)};
}
// Whole turns; those before count only where the term is not the larger.
struct Turns {
    f32 turns;
    u32 is_new;
};
DEVICE Turns joined_turns(const Turns &a, const Turns &b) { return b.is_new ? b : Turns{a.turns + b.turns, a.is_new}; }
#define TURN 6.28318530717958647693f

KERNEL(256) void mlxrocm_array_complex_scan_logs(const void *x, void *out, u32 columns, u32 step, u32 backwards,
                                                 u32 inclusive) {
    SHARED Sum sums[2][256];
    SHARED Turns turned[2][256];
    SHARED Complex logs[256];
    grid_dependency_launch();
    grid_dependency_wait();
    const Row row(columns, step, backwards);
    if (!inclusive && thread_x() == 0) store_complex(out, row.at(0), {-infinity(), -infinity()});
    Sum carried{-infinity(), -infinity(), 0.0f};
    f32 carried_turns = 0.0f;
    Complex carried_log{-infinity(), 0.0f};
    for (u32 begin = 0; begin < columns; begin += 256) {
        const u32 c = begin + thread_x(), thread = thread_x();
        const Complex own = c < columns ? load_complex(x, row.at(c)) : Complex{-infinity(), -infinity()};
        u32 now;
        const Sum sum = joined_sums(
            carried, up_to_here(sum_of(own), sums, now, [](const Sum &a, const Sum &b) { return joined_sums(a, b); }));
        carried = joined_sums(carried, sums[now][255]);
        // Size and angle of the total.
        const bool is_finite = absolute(sum.m) < infinity();
        Complex log{sum.m, sum.re};
        if (is_finite) log = {sum.m + log_of_size({sum.re, sum.im}), exact_atan2(sum.im, sum.re)};
        logs[thread] = log;
        barrier();
        const Complex before = thread > 0 ? logs[thread - 1] : carried_log;
        carried_log = logs[255];
        Turns turns{0.0f, c == 0 || own.re > before.re};
        // Two terms of the same size are known by their imaginary parts.
        if (c == 1) turns.is_new = is_less(load_complex(x, row.at(0)), own);
        if (is_finite && turns.is_new)
            turns.turns = round_even((own.im - log.im) / TURN);
        else if (is_finite)
            turns.turns = log.im - before.im > TURN / 2 ? -1.0f : log.im - before.im < -TURN / 2 ? 1.0f : 0.0f;
        const Turns first{carried_turns, 0};
        turns = joined_turns(first, up_to_here(turns, turned, now, [](const Turns &a, const Turns &b) { return joined_turns(a, b); }));
        carried_turns = joined_turns(first, turned[now][255]).turns;
        Complex total = log;
        if (is_nan(sum.m))
            total = {nan(), nan()};
        else if (c == 0)
            total = own; // exactly
        else if (is_finite)
            total.im = mul_add(turns.turns, TURN, log.im);
        const u32 to = inclusive ? c : c + 1;
        if (to < columns) store_complex(out, row.at(to), total);
        barrier();
    }
}
