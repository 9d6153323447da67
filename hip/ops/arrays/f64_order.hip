// Orders, running totals and softmax of f64.
// f64_keys: out[i] = a whole number in the order of x[i], zeros of both signs alike, NaN last: what the sorts and searches of
// 64-bit numbers take.
// f64_scan: as order.hip. f64_softmax: as rows.hip.
//
// Launch: 256 threads; keys: a thread an element, x and out row after row; else a block a row.
#include "f64_functions.h"

KERNEL(256) void mlxrocm_array_f64_keys(const f64 *x, u64 *out, u32 count) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u64 raw = f64_bits(x[i] == 0.0 ? 0.0 : x[i]);
    out[i] = is_nan(x[i]) ? ~0ull : raw >> 63 ? ~raw : raw | SIGN_64;
}

enum Scan { SUM, PROD, MIN, MAX, LOGS };

DEVICE f64 neutral(u32 scan) {
    switch (scan) {
    case SUM: return 0.0;
    case PROD: return 1.0;
    case MIN: return f64_infinity();
    default: return -f64_infinity();
    }
}
DEVICE f64 joined(u32 scan, f64 a, f64 b) {
    switch (scan) {
    case SUM: return a + b;
    case PROD: return a * b;
    case MIN: return smaller(a, b);
    case MAX: return larger(a, b);
    default: return log_add_exp(a, b);
    }
}

KERNEL(256) void mlxrocm_array_f64_scan(const f64 *x, f64 *out, u32 columns, u32 step, u32 scan, u32 backwards, u32 inclusive) {
    SHARED f64 values[2][256];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 first = (i64)(block_x() / step) * columns * step + block_x() % step;
    f64 carried = neutral(scan);
    for (u32 begin = 0; begin < columns; begin += 256) {
        const u32 c = begin + thread_x();
        const i64 at = first + (i64)(backwards ? columns - 1 - c : c) * step;
        // Doubling distances: each joins what is before it.
        u32 now = 0;
        values[0][thread_x()] = c < columns ? x[at] : neutral(scan);
        _Pragma("unroll 1") for (u32 distance = 1; distance < 256; distance *= 2) {
            barrier();
            f64 total = values[now][thread_x()];
            if (thread_x() >= distance) total = joined(scan, values[now][thread_x() - distance], total);
            now = 1 - now;
            values[now][thread_x()] = total;
        }
        barrier();
        // Up to this element, or the one before.
        f64 total = carried;
        if (inclusive || thread_x() > 0) total = joined(scan, carried, values[now][thread_x() - !inclusive]);
        carried = joined(scan, carried, values[now][255]);
        if (c < columns) out[at] = total;
        barrier();
    }
}

// The numbers of all threads as one.
template <typename Join> DEVICE f64 over_block(f64 own, f64 *room, const Join &join) {
    room[thread_x()] = own;
    for (u32 half = 128; half > 0; half /= 2) {
        barrier();
        if (thread_x() < half) room[thread_x()] = join(room[thread_x()], room[thread_x() + half]);
    }
    barrier();
    return room[0];
}

KERNEL(256) void mlxrocm_array_f64_softmax(const f64 *x, f64 *out, u32 columns) {
    SHARED f64 most_of[256], sum_of[256];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 first = (i64)block_x() * columns;
    f64 most = -f64_infinity(), sum = 0.0;
    for (u32 c = thread_x(); c < columns; c += 256) most = larger(most, x[first + c]);
    most = over_block(most, most_of, [](f64 a, f64 b) { return larger(a, b); });
    for (u32 c = thread_x(); c < columns; c += 256) sum += exact_exp(x[first + c] - most);
    sum = over_block(sum, sum_of, [](f64 a, f64 b) { return a + b; });
    for (u32 c = thread_x(); c < columns; c += 256) out[first + c] = exact_exp(x[first + c] - most) / sum;
}
