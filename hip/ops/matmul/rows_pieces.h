// Products of an unquantized matrix whose rows are whole pieces of 16 bytes (rows_pieces.hip, experts_dense.hip): what all have
// in common.
#pragma once

#include "common/quant.h"
#include "common/reduce.h"
#include "ops/matmul/epilogue.h"

// Rows of x of the kernels for a few (r4).
#define FOUR_ROWS 4

// Numbers of 16 bytes.
template <typename T> constexpr u32 PIECE = 16 / sizeof(T);

// Number `i` of a piece.
DEVICE f32 number_of(const u32x4 &v, u32 i, f32) { return bits_f32(word(v, i)); }
DEVICE f32 number_of(const u32x4 &v, u32 i, f16) {
    const f16x2 pair = {word(v, i / 2)};
    return i % 2 ? high(pair) : low(pair);
}
DEVICE f32 number_of(const u32x4 &v, u32 i, bf16) {
    const bf16x2 pair = {word(v, i / 2)};
    return i % 2 ? high(pair) : low(pair);
}

// N columns of x.
template <u32 N> DEVICE void read_columns(f32 *to, const f32 *from) {
    UNROLL for (u32 i = 0; i < N; i += 4) {
        const f32x4 v = load_f32x4(from + i);
        to[i] = v.x, to[i + 1] = v.y, to[i + 2] = v.z, to[i + 3] = v.w;
    }
}

// COUNT rows of W from number `i` of a product on: of a pair of tiles half of them gates, half their ups.
template <u32 COUNT> struct RowsAtOnce {
    bool silu;
    u32 each, numbers;
    DEVICE RowsAtOnce of(u32 epilogue, u32 tiles) {
        const bool silu = epilogue == SILU;
        return {silu, silu ? COUNT / 2 : COUNT, tiles * (silu ? 8 : 16)};
    }
    METHOD u32 row(u32 i, u32 k) const {
        return silu ? i / 16 * 32 + i % 16 + k % (COUNT / 2) + k / (COUNT / 2) * 16 : i + k;
    }
    // Stores the sum of row k and row r of x, that lane `k` of neighbours has, if it is `there`.
    METHOD void store(const Outputs &to, u32 i, u32 k, u32 r, f32 sum, bool there) const {
        const u32 in = row(i, k);
        if (there) sum = add_bias(to, in / 16, in % 16, sum);
        const f32 up = shuffle_xor<COUNT / 2>(sum);
        if (!there) return;
        if (!silu) store_number(to, r, in / 16, in % 16, sum);
        else if (k < COUNT / 2) store_silu(to, r, in / 32, in % 16, sum, up);
    }
};

// Sums of COUNT numbers each over all lanes, in the order of wave_sum; lane l gets that of number l % COUNT.
template <u32 COUNT, u32 MASK = 1> DEVICE f32 sums_by_lane(const f32 *v, u32 lane) {
    if constexpr (COUNT == 1) {
        f32 sum = v[0];
        if constexpr (MASK <= 1) sum += shuffle_xor<1>(sum);
        if constexpr (MASK <= 2) sum += shuffle_xor<2>(sum);
        if constexpr (MASK <= 4) sum += shuffle_xor<4>(sum);
        if constexpr (MASK <= 8) sum += shuffle_xor<8>(sum);
        if constexpr (MASK <= 16) sum += shuffle_xor<16>(sum);
        if constexpr (MASK <= 32 && WAVE == 64) sum += shuffle_xor<32>(sum);
        return sum;
    } else {
        const bool odd = lane & MASK;
        f32 half[COUNT / 2];
        UNROLL for (u32 i = 0; i < COUNT / 2; i++) {
            f32 a = v[2 * i], b = v[2 * i + 1];
#if PLATFORM_AMD
            // Else the compiler chooses between their addresses, and they lie in memory.
            asm("" : "+v"(a), "+v"(b));
#endif
            half[i] = (odd ? b : a) + shuffle_xor<MASK>(odd ? a : b);
        }
        return sums_by_lane<COUNT / 2, MASK * 2>(half, lane);
    }
}
