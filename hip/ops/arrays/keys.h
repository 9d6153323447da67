// Whole numbers in the order of elements: NaN behind everything, both zeros alike.
#pragma once

#include "dtype.h"

DEVICE u64 sort_key(const void *x, i64 at, u32 dtype) {
    if (is_float(dtype)) {
        const f32 value = load_float(x, at, dtype);
        if (value != value) return 0xfffffffful;
        const u32 raw = f32_bits(value == 0.0f ? 0.0f : value);
        return raw >> 31 ? ~raw : raw | 0x80000000u;
    }
    const u64 whole = (u64)load_whole(x, at, dtype);
    return dtype >= I8 ? whole ^ 0x8000000000000000ull : whole;
}
