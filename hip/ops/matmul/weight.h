// Weights as the matrix units take them.
#pragma once

#include "common/quant.h"

// A pair of codes as weights in f16. Scales that are numbers of 16 bits or fewer in the file, or powers of two, multiply as such, with one
// rounding; others as f32.
template <typename Q> DEVICE u32 weight_pair(f16x2 q, f32 scale, f32 bias) {
    constexpr bool IS_16 = Q::SCALES == PAIR_F16 || Q::SCALES == PAIR_BF16 || Q::SCALES == ZERO || Q::SCALES == POWER ||
                           Q::SCALES == FLOAT8;
    const f16x2 scales = pack_f16x2(scale, scale), biases = pack_f16x2(bias, bias);
    const f16x2 w = IS_16 ? mul_add(q, scales, biases)
                          : pack_f16x2(mul_add(low(q), scale, bias), mul_add(high(q), scale, bias));
    return w.bits;
}

// Two numbers of an unquantized matrix, times `factor`.
DEVICE u32 dense_pair(u32 word, f32 factor, f16) {
    const f16x2 v = {word};
    return pack_f16x2(low(v) * factor, high(v) * factor).bits;
}
DEVICE u32 dense_pair(u32 word, f32 factor, bf16) {
    const bf16x2 v = {word};
    return pack_f16x2(low(v) * factor, high(v) * factor).bits;
}
