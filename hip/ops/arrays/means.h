// Sums over how many were added.
#pragma once

#include "dtype.h"

// A sum or, where the divisor is not 0, a mean, with the bits that operations one by one give: the sum rounded to the dtype, divided
// in f32, and rounded again.
DEVICE void store_mean(void *x, i64 at, u32 dtype, f32 sum, f32 divisor) {
    if (divisor == 0.0f) return store_float(x, at, dtype, sum);
    const f32 rounded = dtype == F32 ? sum : dtype == F16 ? to_f32(to_f16(sum)) : to_f32(nearest_bf16(sum));
    store_float(x, at, dtype, rounded / divisor);
}
