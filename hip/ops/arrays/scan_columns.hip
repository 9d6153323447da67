// out[r][c] = x[0][c] ∘ … ∘ x[r][c] of f32, f16 or bf16 that lie row after row: sum, least or largest, forwards or
// backwards, with x[r][c] or without. Rows are cut into 32 parts: each thread joins its part of a column, then reads it
// again behind what the parts before are. Sums are f32, always in the same order.
//
// Launch: 1024 threads, grid (columns / 32, outer): 32 columns side by side, 32 parts; eight loads of a thread on their way.
#include "vectors.h"

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
    const u32 own = divide_up(rows, 32), begin = minimum(part * own, rows), end = minimum(begin + own, rows);
    const i64 first = (i64)block_y() * rows * columns + minimum(column, columns - 1);
    // Backwards rows are counted from the end.
    const i64 start = backwards ? first + (i64)(rows - 1) * columns : first, step = backwards ? -(i64)columns : columns;
    f32 total = neutral<SCAN>();
    for (u32 row = begin; row < end; row += 8) {
        f32 values[8];
        UNROLL for (u32 j = 0; j < 8; j++) values[j] = load_float(x, start + minimum(row + j, end - 1) * step, DTYPE);
        UNROLL for (u32 j = 0; j < 8; j++)
            if (row + j < end) total = joined<SCAN>(total, values[j]);
    }
    parts[part][lane] = total;
    barrier();
    total = neutral<SCAN>();
    for (u32 before = 0; before < part; before++) total = joined<SCAN>(total, parts[before][lane]);
    if (column >= columns) return;
    for (u32 row = begin; row < end; row += 8) {
        f32 values[8];
        UNROLL for (u32 j = 0; j < 8; j++) values[j] = load_float(x, start + minimum(row + j, end - 1) * step, DTYPE);
        UNROLL for (u32 j = 0; j < 8; j++) {
            if (row + j >= end) continue;
            const f32 before = total;
            total = joined<SCAN>(total, values[j]);
            store_float(out, start + (row + j) * step, DTYPE, inclusive ? total : before);
        }
    }
}
#define GIVEN x, out, rows, columns, backwards, inclusive, parts
#define SCAN_COLUMNS(DTYPE)                              \
    SHARED f32 parts[32][33];                            \
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
