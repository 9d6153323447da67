// How updates meet what is there: scatter.hip, scatter_rows.hip.
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
