// Reductions of floats that are known when this is compiled, read 16 bytes at a time: what is joined so far, and how.
#pragma once

#include "common/reduce.h"
#include "vectors.h"

enum Reduction { ALL, ANY, SUM, PROD, MIN, MAX, LOG_SUM_EXP, ARG_MIN, ARG_MAX };

// NaN is more than numbers.
struct Larger {
    DEVICE f32 combine(f32 a, f32 b) { return maximum_or_nan(a, b); }
};
template <u32 REDUCTION> DEVICE f32 nothing() {
    return REDUCTION == SUM ? 0.0f : REDUCTION == PROD ? 1.0f : REDUCTION == MIN ? infinity() : -infinity();
}
template <u32 REDUCTION> DEVICE f32 one_of(f32 a, f32 b) {
    if constexpr (REDUCTION == SUM) return a + b;
    if constexpr (REDUCTION == PROD) return product(a, b);
    if constexpr (REDUCTION == MIN) return minimum_or_nan(a, b);
    return maximum_or_nan(a, b);
}
template <u32 REDUCTION> struct OneOf {
    DEVICE f32 combine(f32 a, f32 b) { return one_of<REDUCTION>(a, b); }
};

// Logarithm of a sum of exponentials: most + log(sum).
struct LogSum {
    f32 most, sum;
    METHOD f32 result() const { return absolute(most) == infinity() ? most : most + exact_log(sum); }
};
// e^(x - most) for x <= most: of a sum that is 1 or more, so less than 2^-125 counts as that. Not NaN, which `most` then is.
DEVICE f32 share_of(f32 x, f32 most) { return normal_exp(maximum(x - most, -86.5f)); }
// Of `lanes` neighbouring lanes of a wave (a power of two), in all of them.
template <typename Op, typename T> DEVICE T over_lanes(T value, u32 lanes) {
    value = wave_reduce<Op, 4>(value);
    if (lanes > 4) value = Op::combine(value, shuffle_xor<4>(value));
    if (lanes > 8) value = Op::combine(value, shuffle_xor<8>(value));
    if (lanes > 16) value = Op::combine(value, shuffle_xor<16>(value));
    if constexpr (WAVE > 32)
        if (lanes > 32) value = Op::combine(value, shuffle_xor<32>(value));
    return value;
}
// `most` is that of all: each sum is scaled once. Of infinities alone it is none.
DEVICE f32 scaled_sum(const LogSum &own, f32 most) {
    return own.most > -infinity() ? product(own.sum, share_of(own.most, most)) : 0.0f;
}
template <int LANES> DEVICE LogSum over_lanes(const LogSum &own) {
    const f32 most = wave_reduce<Larger, LANES>(own.most);
    return LogSum{most, wave_sum<LANES>(scaled_sum(own, most))};
}
DEVICE LogSum over_lanes(const LogSum &own, u32 lanes) {
    const f32 most = over_lanes<Larger>(own.most, lanes);
    return LogSum{most, over_lanes<Sum>(scaled_sum(own, most), lanes)};
}

// A value's rank among others, NaN the highest, and its place, the first of equals the best: the largest wins. 0 is nothing.
struct Rank {
    u64 bits;
    METHOD u32 place() const { return ~(u32)bits; }
};
DEVICE Rank rank_of(f32 value, u32 place) {
    const u32 raw = f32_bits(value + 0.0f); // -0 is 0
    const u32 order = raw >> 31 ? ~raw : raw | 0x80000000u;
    return Rank{(u64)(is_nan(value) ? ~0u : order) << 32 | ~place};
}
struct Better {
    DEVICE Rank combine(Rank a, Rank b) { return a.bits > b.bits ? a : b; }
};
template <int MASK> DEVICE Rank shuffle_xor(Rank rank) {
    return Rank{(u64)shuffle_xor<MASK>((u32)(rank.bits >> 32)) << 32 | shuffle_xor<MASK>((u32)rank.bits)};
}

// Of `lanes` threads, as above or a block's, in the first of them. `waves`: a number of each wave.
template <typename Op, typename T> DEVICE T over_threads(T own, u32 lanes, T *waves) {
    constexpr u32 WAVES = 256 / WAVE;
    own = over_lanes<Op>(own, lanes);
    if (lanes <= WAVE) return own;
    if (lane_id() == 0) waves[wave_id()] = own;
    barrier();
    return wave_id() == 0 ? wave_reduce<Op, WAVES>(waves[lane_id() % WAVES]) : own;
}
DEVICE LogSum over_threads(const LogSum &own, u32 lanes, LogSum *waves) {
    constexpr u32 WAVES = 256 / WAVE;
    const LogSum of_wave = over_lanes(own, lanes);
    if (lanes <= WAVE) return of_wave;
    if (lane_id() == 0) waves[wave_id()] = of_wave;
    barrier();
    return wave_id() == 0 ? over_lanes<WAVES>(waves[lane_id() % WAVES]) : of_wave;
}
