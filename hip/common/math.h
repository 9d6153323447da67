// Functions of f32 made of the fast instructions; relative error about 2e-7 to 1e-6 unless said.
#pragma once

#include "platform.h"

DEVICE f32 fast_exp(f32 x) { return fast_exp2(x * 1.44269504088896340736f); }
DEVICE f32 fast_log(f32 x) { return fast_log2(x) * 0.693147180559945309417f; }
DEVICE f32 sigmoid(f32 x) { return fast_rcp(1.0f + fast_exp(-x)); }
// x * sigmoid(x); exact zero for very negative x, where the exponential is infinite.
DEVICE f32 silu(f32 x) { return x * sigmoid(x); }
// 1 - 2 / (exp(2x) + 1); absolute error below 2e-7, so small arguments lose relative precision:
// below 1/16 the series x - x^3/3 + 2x^5/15 is used.
DEVICE f32 fast_tanh(f32 x) {
    f32 large = 1.0f - 2.0f * fast_rcp(fast_exp(2.0f * x) + 1.0f);
    f32 square = x * x;
    f32 small = x * mul_add(square, mul_add(square, 2.0f / 15.0f, -1.0f / 3.0f), 1.0f);
    return absolute(x) < 0.0625f ? small : large;
}
// The tanh form of GELU: x/2 (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))).
DEVICE f32 gelu_tanh(f32 x) {
    f32 inner = 0.79788456080286535588f * mul_add(0.044715f * x * x, x, x);
    return 0.5f * x * (1.0f + fast_tanh(inner));
}
