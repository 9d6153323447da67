// The router of a mixture of experts: of logits x [experts], p = softmax(x), the `chosen` largest, the largest
// first and the first of equal ones, NaN last:
//
//   index[k] = their places, weight[k] = p of them, divided by their sum if `normalize`
#pragma once

#include "common/math.h"
#include "common/reduce.h"

#define ROUTE_LANES 32

// The larger of two logits, the first of equal ones.
DEVICE void keep_larger(f32 &value, u32 &at, f32 other, u32 other_at) {
    if (other > value || (other == value && other_at < at)) value = other, at = other_at;
}
template <int MASK> DEVICE void keep_larger_of(f32 &value, u32 &at) {
    keep_larger(value, at, shuffle_xor<MASK>(value), shuffle_xor<MASK>(at));
}

// By the first 32 threads of a block, each of which holds EACH logits, those at lane + 32 i.
template <u32 EACH>
DEVICE void route(const f32 *x, u32 *index, f32 *weight, u32 experts, u32 chosen, bool normalize) {
    const u32 lane = thread_x();
    const f32 lowest = bits_f32(0xff800000u);
    f32 v[EACH], largest = lowest, total = 0.0f;
    UNROLL for (u32 i = 0; i < EACH; i++) {
        v[i] = lane + i * ROUTE_LANES < experts ? x[lane + i * ROUTE_LANES] : lowest;
        largest = maximum(largest, v[i]);
    }
    largest = wave_max<ROUTE_LANES>(largest);
    UNROLL for (u32 i = 0; i < EACH; i++) total += fast_exp(v[i] - largest);
    total = wave_sum<ROUTE_LANES>(total);
    UNROLL for (u32 i = 0; i < EACH; i++) v[i] = v[i] == v[i] ? v[i] : lowest;
    // Which of the lane's were chosen already, a bit each.
    u32 taken = 0, my_expert = 0;
    f32 mine = 0.0f, sum = 0.0f;
    for (u32 k = 0; k < chosen; k++) {
        f32 value = lowest;
        u32 at = 0xffffffffu;
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const u32 e = lane + i * ROUTE_LANES;
            if (e < experts && !(taken >> i & 1)) keep_larger(value, at, v[i], e);
        }
        keep_larger_of<1>(value, at), keep_larger_of<2>(value, at), keep_larger_of<4>(value, at);
        keep_larger_of<8>(value, at), keep_larger_of<16>(value, at);
        if (at % ROUTE_LANES == lane) taken |= 1u << at / ROUTE_LANES;
        const f32 p = fast_exp(value - largest);
        sum += p;
        if (k == lane) mine = p, my_expert = at;
    }
    if (lane >= chosen) return;
    index[lane] = my_expert;
    // What is not finite makes the whole row so.
    weight[lane] = mine / (normalize ? sum : total) * (total / total);
}
// Of up to 512 logits.
DEVICE void route_512(const f32 *x, u32 *index, f32 *weight, u32 experts, u32 chosen, bool normalize) {
    if (experts <= 128) route<4>(x, index, weight, experts, chosen, normalize);
    else route<16>(x, index, weight, experts, chosen, normalize);
}
