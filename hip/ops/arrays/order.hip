// scan: out[i] = x[0] ∘ … ∘ x[i] along rows (∘: sum, product, least, largest, log of the sum of exponentials), forwards
// or backwards, with x[i] or without. Sums are f32 or 64-bit whole numbers.
// A row is `columns` elements, `step` apart; rows count through `step` inner and any outer places of arrays that lie row
// after row.
//
// Launch: 256 threads, a block a row.
#include "dtype.h"
#include "functions.h"

enum Scan { SUM, PROD, MIN, MAX, LOG_ADD_EXP };

struct Number {
    f32 value;
    i64 whole;
};
DEVICE Number neutral(u32 scan, u32 dtype) {
    const u32 bits = dtype == BOOL ? 1 : size_of(dtype) * 8;
    const bool is_signed = dtype >= I8;
    const i64 most = bits == 64 ? (is_signed ? 0x7fffffffffffffffll : -1) : (1ll << (is_signed ? bits - 1 : bits)) - 1;
    switch (scan) {
    case SUM: return Number{0.0f, 0};
    case PROD: return Number{1.0f, 1};
    case MIN: return Number{infinity(), most};
    default: return Number{-infinity(), is_signed ? -most - 1 : 0};
    }
}
DEVICE Number joined(u32 scan, Number a, Number b, u32 dtype) {
    const bool less = dtype == U64 ? (u64)a.whole < (u64)b.whole : a.whole < b.whole;
    switch (scan) {
    case SUM: return Number{a.value + b.value, (i64)((u64)a.whole + (u64)b.whole)};
    case PROD: return Number{a.value * b.value, (i64)((u64)a.whole * (u64)b.whole)};
    case MIN: return Number{is_nan(a.value) || a.value < b.value ? a.value : b.value, less ? a.whole : b.whole};
    case MAX: return Number{is_nan(a.value) || a.value > b.value ? a.value : b.value, less ? b.whole : a.whole};
    default: {
        if (is_nan(a.value) || is_nan(b.value)) return Number{nan(), 0};
        const f32 most = a.value > b.value ? a.value : b.value, least = a.value > b.value ? b.value : a.value;
        if (least == -infinity() || most == infinity()) return Number{most, 0};
        return Number{most + exact_log1p(exact_exp(least - most)), 0};
    }
    }
}

KERNEL(256) void mlxrocm_array_scan(const void *x, void *out, u32 columns, u32 step, u32 scan, u32 dtype, u32 backwards,
                                    u32 inclusive) {
    SHARED f32 values[2][256];
    SHARED i64 wholes[2][256];
    grid_dependency_launch();
    grid_dependency_wait();
    const i64 first = (i64)(block_x() / step) * columns * step + block_x() % step;
    Number carried = neutral(scan, dtype);
    for (u32 begin = 0; begin < columns; begin += 256) {
        const u32 c = begin + thread_x(), column = backwards ? columns - 1 - c : c;
        const i64 at = first + (i64)column * step;
        Number own = neutral(scan, dtype);
        if (c < columns) {
            if (is_float(dtype))
                own.value = load_float(x, at, dtype);
            else
                own.whole = load_whole(x, at, dtype);
        }
        // Doubling distances: each joins what is before it.
        u32 now = 0;
        values[now][thread_x()] = own.value, wholes[now][thread_x()] = own.whole;
        for (u32 distance = 1; distance < 256; distance *= 2) {
            barrier();
            Number total = {values[now][thread_x()], wholes[now][thread_x()]};
            if (thread_x() >= distance) {
                const u32 before = thread_x() - distance;
                total = joined(scan, Number{values[now][before], wholes[now][before]}, total, dtype);
            }
            now = 1 - now;
            values[now][thread_x()] = total.value, wholes[now][thread_x()] = total.whole;
        }
        barrier();
        // Up to this element, or the one before.
        const u32 last = thread_x() - !inclusive;
        Number total = carried;
        if (inclusive || thread_x() > 0) total = joined(scan, carried, Number{values[now][last], wholes[now][last]}, dtype);
        carried = joined(scan, carried, Number{values[now][255], wholes[now][255]}, dtype);
        if (c < columns) {
            if (is_float(dtype))
                store_float(out, at, dtype, total.value);
            else
                store_whole(out, at, dtype, total.whole);
        }
        barrier();
    }
}
