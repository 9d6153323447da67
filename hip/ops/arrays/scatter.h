// How updates meet what is there: scatter.hip, scatter_rows.hip; where slices begin: rope_vectors.hip, too.
#pragma once

#include "dtype.h"
#include "functions.h"
#include "meeting.h"

DEVICE f32 meet_float(f32 now, f32 value, u32 dtype, u32 how) {
    switch (how) {
    case SUM: now += value; break;
    case PROD: now *= value; break;
    case MAX: now = is_nan(now) || now > value ? now : value; break;
    case MIN: now = is_nan(now) || now < value ? now : value; break;
    default: now = value; break;
    }
    // Each step is one of the dtype, as on the CPU.
    return dtype == F16 ? to_f32(to_f16(now)) : dtype == BF16 ? to_f32(to_bf16(now)) : now;
}

// Where a slice begins along an axis of `limit` elements: those before the first count from the end, and it ends with the axis.
DEVICE i64 begin_of(const void *index, u32 j, u32 dtype, i64 limit, i64 slice) {
    i64 i = load_whole(index, j, dtype);
    if (dtype == U64 && i < 0) i = limit;
    if (i < 0) i += limit;
    i = i > limit - slice ? limit - slice : i;
    return i < 0 ? 0 : i;
}
