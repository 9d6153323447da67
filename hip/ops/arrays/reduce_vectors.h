// Reductions of floats that are known when this is compiled, read 16 bytes at a time: what is joined so far, and how.
#pragma once

#include "vectors.h"

enum Reduction { ALL, ANY, SUM, PROD, MIN, MAX, LOG_SUM_EXP, ARG_MIN, ARG_MAX };

// LOG_SUM_EXP: log of the sum is value + log(sum). ARG_MAX: the value and its place (MIN: of negative values).
struct Joined {
    f32 value, sum;
    u32 place;
};
template <u32 REDUCTION> DEVICE Joined nothing() {
    return Joined{REDUCTION == SUM ? 0.0f : REDUCTION == PROD ? 1.0f : REDUCTION == MIN ? infinity() : -infinity(), 0.0f, ~0u};
}
// NaN is more than numbers.
DEVICE f32 larger(f32 a, f32 b) { return b > a || is_nan(b) ? b : a; }
DEVICE f32 smaller(f32 a, f32 b) { return b < a || is_nan(b) ? b : a; }
template <u32 REDUCTION> DEVICE f32 one_of(f32 a, f32 b) {
    if constexpr (REDUCTION == SUM) return a + b;
    if constexpr (REDUCTION == PROD) return product(a, b);
    if constexpr (REDUCTION == MIN) return smaller(a, b);
    return larger(a, b);
}
// exp(x - most), 1 where both are the same infinity.
DEVICE f32 share_of(f32 x, f32 most) { return x == most ? 1.0f : exact_exp(x - most); }
template <u32 REDUCTION> DEVICE Joined join(const Joined &a, const Joined &b) {
    if constexpr (REDUCTION == LOG_SUM_EXP) {
        const f32 most = larger(a.value, b.value);
        // Nothing has a sum of 0.
        return Joined{most, mul_add(a.sum, share_of(a.value, most), product(b.sum, share_of(b.value, most))), 0};
    } else if constexpr (REDUCTION == ARG_MAX) {
        const bool nan_a = is_nan(a.value), nan_b = is_nan(b.value);
        const bool better = nan_a || nan_b ? nan_b && !nan_a : b.value > a.value;
        const bool same = nan_a || nan_b ? nan_a && nan_b : a.value == b.value;
        const bool takes = better || (same && b.place < a.place);
        return Joined{takes ? b.value : a.value, 0.0f, takes ? b.place : a.place};
    } else
        return Joined{one_of<REDUCTION>(a.value, b.value), 0.0f, 0};
}

// Of LANES neighbouring lanes of a wave, in all of them.
template <u32 REDUCTION, int LANES = WAVE, int DISTANCE = 1> DEVICE Joined over_wave(Joined own) {
    if constexpr (DISTANCE < LANES) {
        const Joined other{shuffle_xor<DISTANCE>(own.value), shuffle_xor<DISTANCE>(own.sum), shuffle_xor<DISTANCE>(own.place)};
        return over_wave<REDUCTION, LANES, DISTANCE * 2>(join<REDUCTION>(own, other));
    } else
        return own;
}
// Of a block's waves, in its first thread.
template <u32 REDUCTION> DEVICE Joined over_block(Joined own, Joined *waves) {
    own = over_wave<REDUCTION>(own);
    if (lane_id() == 0) waves[wave_id()] = own;
    barrier();
    Joined total = waves[0];
    UNROLL for (int i = 1; i < 256 / WAVE; i++) total = join<REDUCTION>(total, waves[i]);
    return total;
}
template <u32 REDUCTION> DEVICE f32 result_of(const Joined &total) {
    if constexpr (REDUCTION == LOG_SUM_EXP)
        return absolute(total.value) == infinity() ? total.value : total.value + exact_log(total.sum);
    return total.value;
}
