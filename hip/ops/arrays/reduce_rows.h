// What reduce_rows.hip and reduce_places.hip share: rows of floats that lie side by side.
#pragma once

#include "reduce_vectors.h"

// The fewest threads that share a row.
#define FEWEST_LANES 4
#define ROWS                                                                                                          \
    const void *x, void *out, u32 outputs, u32 joined, u32 pieces, u32 piece, u32 reduction, u32 to, u32 lanes, i64 row_step

// A part of a row (up to 4 GB), and which thread of those that share it this is.
template <u32 DTYPE> struct Part {
    static constexpr u32 SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    const u8 *first;
    u32 output, outputs, pieces, begin, count, lane, lanes;

    // Threads behind the last row take it too: lanes of a wave ask each other.
    METHOD Part(const void *x, u32 outputs, u32 joined, u32 pieces, u32 piece, u32 lanes, i64 row_step)
        : output((block_x() * 256 + thread_x()) >> (31 - leading_zeros(lanes))), outputs(outputs), pieces(pieces),
          lane(thread_x() & (lanes - 1)), lanes(lanes) {
        begin = minimum(block_y() * piece, joined), count = minimum(begin + piece, joined) - begin;
        first = (const u8 *)x + (minimum(output, outputs - 1) * row_step + begin) * SIZE;
    }
    METHOD bool stores() const { return output < outputs && lane == 0; }
    METHOD i64 place() const { return (i64)output * pieces + block_y(); }
    METHOD u32 groups() const { return count / V; }
    // The first element of group j of four; behind the last group it is that again.
    METHOD u32 at(u32 group, u32 j) const { return minimum(group + j * lanes, groups() - 1) * V; }
    METHOD bool has(u32 group, u32 j) const { return group + j * lanes < groups(); }
    // `take(bits, group)` of four groups at a time.
    template <typename Function> METHOD void each(Function &&take) const {
        for (u32 group = lane; group < groups(); group += 4 * lanes) {
            Bits<16> bits[4];
            UNROLL for (u32 j = 0; j < 4; j++) bits[j] = load_group<16>(first + at(group, j) * SIZE);
            loaded(bits);
            take(bits, group);
        }
    }
    // What is left behind whole groups: not more than one a thread.
    METHOD u32 last() const { return groups() * V + lane; }
    METHOD bool has_last() const { return last() < count; }
    METHOD f32 last_value() const { return load_float(first, last(), DTYPE); }
};

template <u32 REDUCTION, u32 DTYPE> DEVICE f32 over_part(const Part<DTYPE> &part) {
    constexpr int V = 16 / bytes_of(DTYPE);
    constexpr bool COUNTS = REDUCTION == SUM || REDUCTION == PROD; // of others the last may come twice
    f32 values[V];
    UNROLL for (int i = 0; i < V; i++) values[i] = nothing<REDUCTION>();
    part.each([&](const Bits<16>(&bits)[4], u32 group) {
        UNROLL for (u32 j = 0; j < 4; j++) {
            if (COUNTS && !part.has(group, j)) continue;
            UNROLL for (int i = 0; i < V; i++) values[i] = one_of<REDUCTION>(values[i], number_in<DTYPE>(bits[j], i));
        }
    });
    UNROLL for (int i = 1; i < V; i++) values[0] = one_of<REDUCTION>(values[0], values[i]);
    if (part.has_last()) values[0] = one_of<REDUCTION>(values[0], part.last_value());
    return values[0];
}
template <u32 DTYPE> DEVICE LogSum log_sum_of(const Part<DTYPE> &part) {
    constexpr int V = 16 / bytes_of(DTYPE);
    LogSum total{-infinity(), 0.0f};
    part.each([&](const Bits<16>(&bits)[4], u32 group) {
        f32 most = total.most;
        UNROLL for (u32 j = 0; j < 4; j++)
            UNROLL for (int i = 0; i < V; i++) most = maximum_or_nan(most, number_in<DTYPE>(bits[j], i));
        f32 sum = product(total.sum, share_of(total.most, most));
        UNROLL for (u32 j = 0; j < 4; j++) {
            f32 of_group = 0.0f;
            UNROLL for (int i = 0; i < V; i++) of_group += share_of(number_in<DTYPE>(bits[j], i), most);
            sum += part.has(group, j) ? of_group : 0.0f;
        }
        total = LogSum{most, sum};
    });
    if (part.has_last()) {
        const f32 value = part.last_value(), most = maximum_or_nan(total.most, value);
        total = LogSum{most, mul_add(total.sum, share_of(total.most, most), share_of(value, most))};
    }
    return total;
}
// The best of four groups is looked for first, and where it is only if it is better than what was before.
template <bool IS_LEAST, u32 DTYPE> DEVICE Rank best_of(const Part<DTYPE> &part) {
    constexpr int V = 16 / bytes_of(DTYPE);
    f32 best = -infinity();
    u32 place = ~0u;
    const auto number = [](const Bits<16> &bits, int i) {
        const f32 value = number_in<DTYPE>(bits, i);
        return IS_LEAST ? -value : value;
    };
    part.each([&](const Bits<16>(&bits)[4], u32 group) {
        f32 most = number(bits[0], 0);
        UNROLL for (u32 j = 0; j < 4; j++)
            UNROLL for (int i = j == 0; i < V; i++) most = maximum_or_nan(most, number(bits[j], i));
        if (!(most > best || place == ~0u || (is_nan(most) && !is_nan(best)))) return;
        best = most;
        u32 first = 0;
        UNROLL for (i32 k = 4 * V - 1; k >= 0; k--) first = number(bits[k / V], k % V) == most ? k : first;
        if (is_nan(most))
            UNROLL for (i32 k = 4 * V - 1; k >= 0; k--) first = is_nan(number(bits[k / V], k % V)) ? k : first;
        place = part.begin + part.at(group, first / V) + first % V;
    });
    Rank rank = place == ~0u ? Rank{0} : rank_of(best, place);
    if (part.has_last()) {
        const f32 value = part.last_value();
        rank = Better::combine(rank, rank_of(IS_LEAST ? -value : value, part.begin + part.last()));
    }
    return rank;
}
#define REDUCE_BEGIN(DTYPE)      \
    grid_dependency_launch();    \
    grid_dependency_wait();      \
    const Part<DTYPE> part(x, outputs, joined, pieces, piece, lanes, row_step);
