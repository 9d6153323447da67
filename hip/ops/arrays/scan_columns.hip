// out[r][c] = x[0][c] ∘ … ∘ x[r][c] of f32, f16 or bf16 that lie row after row: sum, least or largest, forwards or
// backwards, with x[r][c] or without. A block takes 32 · EACH rows at a time: each thread joins its part of a column, and goes
// through it again behind what was before. Sums are f32, always in the same order.
//
// Launch: 1024 threads, grid (columns / 32, outer): 32 columns side by side, 32 parts.
#include "vectors.h"

// Rows of a thread at a time.
#define EACH 8

enum Scan { SUM, PROD, MIN, MAX };

template <u32 SCAN> DEVICE f32 joined(f32 a, f32 b) {
    if constexpr (SCAN == SUM) return a + b;
    if constexpr (SCAN == MIN) return is_nan(a) || a < b ? a : b;
    return is_nan(a) || a > b ? a : b;
}
template <u32 SCAN> DEVICE f32 neutral() { return SCAN == SUM ? 0.0f : SCAN == MIN ? infinity() : -infinity(); }

#define SCANNED const void *x, void *out, u32 rows, u32 columns, u32 scan, u32 backwards, u32 inclusive
template <u32 SCAN, u32 DTYPE>
DEVICE void scan_columns(const void *x, void *out, u32 rows, u32 columns, u32 backwards, u32 inclusive, f32 (*parts)[33]) {
    const u32 lane = thread_x() % 32, part = thread_x() / 32, column = block_x() * 32 + lane;
    const i64 first = (i64)block_y() * rows * columns + minimum(column, columns - 1);
    // Backwards rows are counted from the end.
    const i64 start = backwards ? first + (i64)(rows - 1) * columns : first, step = backwards ? -(i64)columns : columns;
    f32 carry = neutral<SCAN>(), next[EACH];
    const auto load = [&](u32 begin) {
        UNROLL for (u32 j = 0; j < EACH; j++) next[j] = load_float(x, start + minimum(begin + j, rows - 1) * step, DTYPE);
    };
    load(part * EACH);
    for (u32 turn = 0; turn * 32 * EACH < rows; turn++) {
        const u32 begin = (turn * 32 + part) * EACH;
        f32 values[EACH];
        UNROLL for (u32 j = 0; j < EACH; j++) values[j] = next[j];
        // What comes next is on its way meanwhile.
        if ((turn + 1) * 32 * EACH < rows) load(begin + 32 * EACH);
        f32 total = neutral<SCAN>();
        UNROLL for (u32 j = 0; j < EACH; j++)
            if (begin + j < rows) total = joined<SCAN>(total, values[j]);
        f32 (*const sums)[33] = parts + turn % 2 * 32;
        sums[part][lane] = total;
        barrier();
        // The parts of a column side by side: each with those before it.
        f32 run = sums[lane][part];
        UNROLL for (u32 apart = 1; apart < 32; apart *= 2) {
            const f32 before = shuffle(run, lane_id() - (lane >= apart ? apart : 0));
            if (lane >= apart) run = joined<SCAN>(before, run);
        }
        sums[lane][part] = run;
        barrier();
        total = part ? joined<SCAN>(carry, sums[part - 1][lane]) : carry;
        carry = joined<SCAN>(carry, sums[31][lane]);
        UNROLL for (u32 j = 0; j < EACH; j++) {
            const f32 before = total;
            total = joined<SCAN>(total, values[j]);
            if (begin + j < rows && column < columns)
                store_float(out, start + (begin + j) * step, DTYPE, inclusive ? total : before);
        }
    }
}
#define GIVEN x, out, rows, columns, backwards, inclusive, parts
#define SCAN_COLUMNS(DTYPE)                              \
    SHARED f32 parts[2 * 32][33];                            \
    grid_dependency_launch();                            \
    grid_dependency_wait();                              \
    switch (scan) {                                      \
    case SUM: return scan_columns<SUM, DTYPE>(GIVEN);    \
    case MIN: return scan_columns<MIN, DTYPE>(GIVEN);    \
    default: return scan_columns<MAX, DTYPE>(GIVEN);     \
    }
KERNEL(1024) void mlxrocm_array_scan_columns_f32(SCANNED) { SCAN_COLUMNS(F32) }
KERNEL(1024) void mlxrocm_array_scan_columns_f16(SCANNED) { SCAN_COLUMNS(F16) }
KERNEL(1024) void mlxrocm_array_scan_columns_bf16(SCANNED) { SCAN_COLUMNS(BF16) }
