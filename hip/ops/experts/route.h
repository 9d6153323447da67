// The router of a mixture of experts: of logits x [experts], p = softmax(x), the `chosen` largest, the largest
// first and the first of equal ones, NaN last:
//
//   index[k] = their places, weight[k] = p of them, divided by their sum if `normalize`
//
// Where there is a `shared` expert (1, else 0), it is the last one and chosen last, by every row, whatever the others' logits are:
// `experts` and `chosen` count it; its weight is sigmoid(x[experts - 1]).
#pragma once

#include "common/math.h"
#include "common/reduce.h"

#define ROUTE_LANES 32
// The most logits of products that make them too.
#define FEW_ROUTED 256

// The larger of two logits, the first of equal ones.
DEVICE void keep_larger(f32 &value, u32 &at, f32 other, u32 other_at) {
    if (other > value || (other == value && other_at < at)) value = other, at = other_at;
}
template <int MASK> DEVICE void keep_larger_of(f32 &value, u32 &at) {
    keep_larger(value, at, shuffle_xor<MASK>(value), shuffle_xor<MASK>(at));
}

// By the first lane: the one that every row has.
DEVICE void take_shared(const f32 *x, u32 *index, f32 *weight, u32 experts, u32 chosen, u32 shared) {
    if (shared && thread_x() % ROUTE_LANES == 0) index[chosen] = experts, weight[chosen] = sigmoid(x[experts]);
}

// By 32 threads of a block, a wave of NVIDIA's, each of which holds EACH logits, those at lane + 32 i.
#if PLATFORM_NVIDIA
// The largest and the smallest of a wave's numbers, an instruction each.
DEVICE u32 wave_largest(u32 value) {
    u32 y;
    asm volatile("redux.sync.max.u32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(value));
    return y;
}
DEVICE u32 wave_smallest(u32 value) {
    u32 y;
    asm volatile("redux.sync.min.u32 %0, %1, 0xffffffff;" : "=r"(y) : "r"(value));
    return y;
}

// Numbers that are ordered as the logits are, NaN as the least; -0 is 0.
DEVICE u32 logit_order(f32 v) {
    const u32 bits = f32_bits(v == v ? v + 0.0f : bits_f32(0xff800000u));
    return bits & 0x80000000u ? ~bits : bits | 0x80000000u;
}
DEVICE f32 of_order(u32 order) { return bits_f32(order & 0x80000000u ? order & 0x7fffffffu : ~order); }

template <u32 EACH>
DEVICE void route(const f32 *x, u32 *index, f32 *weight, u32 experts, u32 chosen, bool normalize, u32 shared) {
    const u32 lane = thread_x() % ROUTE_LANES;
    experts -= shared, chosen -= shared;
    take_shared(x, index, weight, experts, chosen, shared);
    f32 v[EACH];
    // 0: chosen already, or no logit.
    u32 order[EACH];
    bool is_number = true;
    UNROLL for (u32 i = 0; i < EACH; i++) {
        const bool there = lane + i * ROUTE_LANES < experts;
        v[i] = there ? x[lane + i * ROUTE_LANES] : bits_f32(0xff800000u);
        is_number &= v[i] == v[i];
        order[i] = there ? logit_order(v[i]) : 0;
    }
    f32 largest = 0.0f, mine = 0.0f, sum = 0.0f;
    for (u32 k = 0; k < chosen; k++) {
        u32 best = 0;
        UNROLL for (u32 i = 0; i < EACH; i++) best = maximum(best, order[i]);
        best = wave_largest(best);
        u32 at = 0xffffffffu;
        UNROLL for (u32 i = EACH; i-- > 0;) at = order[i] == best ? lane + i * ROUTE_LANES : at;
        // Seldom several are equal.
        const u32 equal = ballot(at != 0xffffffffu);
        if ((equal & (equal - 1)) && wave_smallest(at) != at) at = 0xffffffffu;
        if (at != 0xffffffffu) index[k] = at;
        UNROLL for (u32 i = 0; i < EACH; i++) order[i] = at == lane + i * ROUTE_LANES ? 0 : order[i];
        const f32 value = of_order(best);
        if (k == 0) largest = value;
        const f32 p = fast_exp(value - largest);
        sum += p;
        if (k == lane) mine = p;
    }
    f32 of_all = sum;
    if (!normalize) {
        of_all = 0.0f;
        UNROLL for (u32 i = 0; i < EACH; i++) of_all += fast_exp(v[i] - largest);
        of_all = wave_sum<ROUTE_LANES>(of_all);
    }
    // What is not finite makes the whole row so.
    const bool is_finite = ballot(is_number) == 0xffffffffu && absolute(largest) < bits_f32(0x7f800000u);
    if (lane < chosen) weight[lane] = is_finite ? mine / of_all : bits_f32(0x7fc00000u);
}
#else
template <u32 EACH>
DEVICE void route(const f32 *x, u32 *index, f32 *weight, u32 experts, u32 chosen, bool normalize, u32 shared) {
    const u32 lane = thread_x();
    experts -= shared, chosen -= shared;
    take_shared(x, index, weight, experts, chosen, shared);
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
#endif
#if PLATFORM_NVIDIA
// Of up to FEW_ROUTED logits, and a shared one's.
DEVICE void route_256(const f32 *x, u32 *index, f32 *weight, u32 experts, u32 chosen, bool normalize, u32 shared) {
    if (experts - shared <= 128) route<4>(x, index, weight, experts, chosen, normalize, shared);
    else route<8>(x, index, weight, experts, chosen, normalize, shared);
}
#endif
// Of up to MAX_ROUTED logits, and a shared one's.
#define MAX_ROUTED 512
DEVICE void route_few(const f32 *x, u32 *index, f32 *weight, u32 experts, u32 chosen, bool normalize, u32 shared) {
    if (experts - shared <= 128) route<4>(x, index, weight, experts, chosen, normalize, shared);
    else route<MAX_ROUTED / ROUTE_LANES>(x, index, weight, experts, chosen, normalize, shared);
}
