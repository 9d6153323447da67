// How a block of rows_one_amd.h makes its row of x into 16-bit integers: the numbers of `prepare_x` (rows_x.h), to the bit, in fewer
// instructions of CDNA: exchanges by DPP alone, two integers at a time.
#pragma once

#include "ops/matmul/rows_x.h"

#if PLATFORM_AMD && AMD_CDNA2
// What lanes of the neighbouring four, or eight, have where all of them have the same: mirrored, for xor 4 and 8 would go through
// LDS.
template <typename T> DEVICE T of_next_four(T value) { return shuffle_xor<7>(value); }
template <typename T> DEVICE T of_next_eight(T value) { return shuffle_xor<15>(value); }

// The sums of both pairs of 16-bit numbers.
DEVICE u32 add_halves(u32 a, u32 b) {
    return __builtin_bit_cast(u32, __builtin_bit_cast(amd_short2, a) + __builtin_bit_cast(amd_short2, b));
}

// The bits of `wave_sum` (reduce.h).
template <int WIDTH> DEVICE f32 row_sum(f32 value) {
    static_assert(WIDTH == 8 || WIDTH == 16 || WIDTH == 32);
    value += shuffle_xor<1>(value);
    value += shuffle_xor<2>(value);
    value += of_next_four(value);
    if constexpr (WIDTH > 8) value += of_next_eight(value);
    if constexpr (WIDTH > 16) value += shuffle_xor<16>(value);
    return value;
}

// Makes a thread's 8 columns from `c` on into s.x and s.groups; neighbouring lanes have neighbouring columns.
template <typename Q> DEVICE void make_integers(const Shared<Q, 1> &s, const f32 *v, u32 c) {
    // As integers, in which infinities and NaN are the largest.
    u32 most = 0;
    UNROLL for (u32 j = 0; j < 8; j++) most = maximum(most, f32_bits(v[j]) & 0x7fffffff);
    most = maximum(most, shuffle_xor<1>(most));
    if constexpr (Q::GROUP >= 32) most = maximum(most, shuffle_xor<2>(most));
    if constexpr (Q::GROUP >= 64) most = maximum(most, of_next_four(most));
    const f32 largest = bits_f32(most);
    const bool zero = largest < 1e-30f;
    const f32 inverse = zero ? 0.0f : 32512.0f * fast_rcp(largest);
    // What is not finite makes the whole group so.
    const f32 scale = most >= 0x7f800000u ? bits_f32(0x7fc00000u) : zero ? 0.0f : largest * (1.0f / 32512.0f);
    // 1.5 · 2^23 + i has the integer i in its low bits.
    u32 whole[8];
    UNROLL for (u32 j = 0; j < 8; j++) whole[j] = f32_bits(mul_add(v[j], inverse, 12582912.0f));
    f32x2 *group = s.x.groups + c / Q::GROUP;
    if constexpr (Q::E4M3) {
        if (c >= s.padded) return;
        u32 high[4], rest[4];
        UNROLL for (u32 j = 0; j < 4; j++) {
            const f32 a = bits_f32(whole[2 * j]) - 12582912.0f, b = bits_f32(whole[2 * j + 1]) - 12582912.0f;
            const f16x2 pair = pack_f16x2(a, b);
            high[j] = pair.bits, rest[j] = pack_f16x2(a - low(pair), b - ::high(pair)).bits;
        }
        u8 *to = s.x.at + c / 64 * s.x.block + c % 64 * 2;
        store16(to, u32x4{high[0], high[1], high[2], high[3]});
        store16(to + s.x.low, u32x4{rest[0], rest[1], rest[2], rest[3]});
        if (c % Q::GROUP == 0) *group = f32x2{scale, 0.0f};
    } else {
        u32 hi[2], lo[2];
        UNROLL for (u32 j = 0; j < 2; j++) {
            const u32 even = byte_select(whole[4 * j + 2], whole[4 * j], 0x05040100u);
            const u32 odd = byte_select(whole[4 * j + 3], whole[4 * j + 1], 0x05040100u);
            // hi is what is left above a signed lo.
            hi[j] = byte_select(add_halves(odd, 0x00800080u), add_halves(even, 0x00800080u), 0x07050301u);
            lo[j] = byte_select(odd, even, 0x06040200u);
        }
        const u32 ones = 0x01010101u;
        i32 sum = dot4(hi[0], ones, dot4(hi[1], ones, 0)) * 256 + dot4(lo[0], ones, dot4(lo[1], ones, 0));
        sum += shuffle_xor<1>(sum);
        if constexpr (Q::GROUP >= 32) sum += shuffle_xor<2>(sum);
        if constexpr (Q::GROUP >= 64) sum += of_next_four(sum);
        if (c >= s.padded) return;
        u8 *to = s.x.at + c / 64 * s.x.block + c / 8 % 4 * 16 + c / 32 % 2 * 8;
        store8(to, u32x2{hi[0], hi[1]});
        store8(to + s.x.low, u32x2{lo[0], lo[1]});
        if (c % Q::GROUP == 0) *group = f32x2{scale, (f32)sum * scale * (1.0f / sharers<Q>())};
    }
}

// Columns of x or of the norm's weights, the thread's piece `i` from `base` on; those that are not there are the first again.
DEVICE void read_row(f32 (*to)[8], const f32 *from, const Rows &p, u32 base, u32 i) {
    const u32 c = base + (i * TEAMS * TEAM + thread_x()) * 8;
    read_piece(to[i], from + (c < p.cols ? c : 0), true);
}
template <typename Q>
DEVICE void take_row(const Rows &p, const Shared<Q, 1> &s, f32 (*x)[8], const f32 (*norm)[8], u32 base, f32 &squares) {
    UNROLL for (u32 i = 0; i < AT_ONCE<1>; i++) {
        // Whole waves go on: neighbouring lanes make a group together.
        const u32 of_wave = base + (i * TEAMS * TEAM + uniform(thread_x() / WAVE) * WAVE) * 8, c = of_wave + lane_id() * 8;
        if (of_wave >= s.padded) break;
        f32 *v = x[i];
        if (of_wave + WAVE * 8 > p.cols && c >= p.cols) UNROLL for (u32 j = 0; j < 8; j++) v[j] = 0.0f;
        if (p.norm) UNROLL for (u32 j = 0; j < 8; j++) squares = mul_add(v[j], v[j], squares), v[j] *= norm[i][j];
        make_integers<Q>(s, v, c);
    }
}

// The norm's factor out of each thread's sum of x², behind the next barrier; before it the integers are there.
template <typename Q> DEVICE void make_factor(const Rows &p, const Shared<Q, 1> &s, f32 squares) {
    const u32 team = thread_x() / TEAM, lane = thread_x() % TEAM;
    if (p.norm) {
        const f32 sum = row_sum<TEAM>(squares);
        if (lane == 0) s.squares[team] = sum;
    }
    barrier_shared();
    if (!p.norm || uniform(thread_x() / WAVE) > 0) return;
    const f32 sum = row_sum<TEAMS>(s.squares[lane % TEAMS]);
    if (thread_x() == 0) *s.factor = is_split() ? 1.0f : fast_rsqrt(sum / (f32)p.width + p.eps);
}
#endif
