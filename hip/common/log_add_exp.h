// The logarithm of a sum of exponentials.
#pragma once

#include "math.h"

// log(exp(a) + exp(b)), where both are not infinite; the logarithm of a sum near 1 by its series.
DEVICE f32 log_add_exp(f32 a, f32 b) {
    f32 small = fast_exp(-absolute(a - b));
    f32 series = small * mul_add(small, mul_add(small, 1.0f / 3.0f, -0.5f), 1.0f);
    return maximum(a, b) + (small < 0.01f ? series : fast_log(1.0f + small));
}
