// What the kernels of networks share: numbers of a network are T (f16 or f32), computed in f32.
//
// Buffers hold items one after the other, `item` numbers each. A source is the number at `first` of an item and
// what follows it.
#pragma once

#include "common/math.h"

// Numbers beyond f16's largest stay finite.
DEVICE void put(f16 *to, f32 v) { *to = to_f16(minimum(maximum(v, -65504.0f), 65504.0f)); }
DEVICE void put(f32 *to, f32 v) { *to = v; }

// What follows a product.
enum Activation : u32 { NONE = 0, RELU = 1, RELU_SQUARED = 2, TANH = 3, SIGMOID = 4, SWISH = 5, MISH = 6, SELU = 7 };

// e^x - 1 where x <= 0: its series where the difference would cancel.
DEVICE f32 exp_minus_one(f32 x) {
    const f32 series = x * mul_add(x, mul_add(x, mul_add(x, 1.0f / 24.0f, 1.0f / 6.0f), 0.5f), 1.0f);
    return x > -0.0625f ? series : fast_exp(x) - 1.0f;
}
// x tanh(ln(1 + e^x)) = x n / (n + 2), n = e^x (e^x + 2); from x = 20 on that is x.
DEVICE f32 mish(f32 x) {
    const f32 power = fast_exp(minimum(x, 20.0f)), n = power * (power + 2.0f);
    return x * n * fast_rcp(n + 2.0f);
}
DEVICE f32 activate(f32 x, u32 activation) {
    switch (activation) {
    case RELU: return maximum(x, 0.0f);
    case RELU_SQUARED: return maximum(x, 0.0f) * maximum(x, 0.0f);
    case TANH: return fast_tanh(x);
    case SIGMOID: return sigmoid(x);
    case SWISH: return silu(x);
    case MISH: return mish(x);
    case SELU: return 1.05070098f * (x > 0.0f ? x : 1.67326324f * exp_minus_one(x));
    default: return x;
    }
}

// Pairs of a word.
DEVICE u32 pair_bits(f32 low, f32 high) {
    const f32 a = minimum(maximum(low, -65504.0f), 65504.0f), b = minimum(maximum(high, -65504.0f), 65504.0f);
    return pack_f16x2(a, b).bits;
}
