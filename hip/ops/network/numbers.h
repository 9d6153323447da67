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
enum Activation : u32 { NONE = 0, RELU = 1, RELU_SQUARED = 2, SIGMOID = 3, SWISH = 4, MISH = 5, SELU = 6 };

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
// Of COUNT numbers at once: one branch for all.
template <u32 COUNT> DEVICE void activate(f32 *v, u32 activation) {
    switch (activation) {
    case RELU:
        UNROLL for (u32 i = 0; i < COUNT; i++) v[i] = maximum(v[i], 0.0f);
        break;
    case RELU_SQUARED:
        UNROLL for (u32 i = 0; i < COUNT; i++) v[i] = maximum(v[i], 0.0f) * maximum(v[i], 0.0f);
        break;
    case SIGMOID:
        UNROLL for (u32 i = 0; i < COUNT; i++) v[i] = sigmoid(v[i]);
        break;
    case SWISH:
        UNROLL for (u32 i = 0; i < COUNT; i++) v[i] = silu(v[i]);
        break;
    case MISH:
        UNROLL for (u32 i = 0; i < COUNT; i++) v[i] = mish(v[i]);
        break;
    case SELU:
        UNROLL for (u32 i = 0; i < COUNT; i++)
            v[i] = 1.05070098f * (v[i] > 0.0f ? v[i] : 1.67326324f * exp_minus_one(v[i]));
        break;
    }
}

// Pairs of a word.
DEVICE u32 pair_bits(f32 low, f32 high) {
#if PLATFORM_NVIDIA
    u32 pair = pack_f16x2(low, high).bits;
#if __CUDA_ARCH__ >= 860
    // The smaller of both magnitudes, with the number's sign.
    asm("min.xorsign.abs.f16x2 %0, %0, %1;" : "+r"(pair) : "r"(0x7bff7bffu));
#else
    asm("min.f16x2 %0, %0, %1;" : "+r"(pair) : "r"(0x7bff7bffu));
    asm("max.f16x2 %0, %0, %1;" : "+r"(pair) : "r"(0xfbfffbffu));
#endif
    return pair;
#else
    const f32 a = minimum(maximum(low, -65504.0f), 65504.0f), b = minimum(maximum(high, -65504.0f), 65504.0f);
    return pack_f16x2(a, b).bits;
#endif
}
