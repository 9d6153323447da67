// What reduce_rows.hip and reduce_places.hip share: rows of floats that lie side by side.
#pragma once

#include "reduce_vectors.h"

// Elements begin … end of a row, by `lanes` threads.
template <u32 REDUCTION, u32 DTYPE> DEVICE Joined over_row(const u8 *row, u32 begin, u32 end, u32 lane, u32 lanes, bool least) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    Joined total = nothing<REDUCTION>();
    f32 values[V];
    UNROLL for (int i = 0; i < V; i++) values[i] = total.value;
    const u32 groups = (end - begin) / V;
    for (u32 group = lane; group < groups; group += 4 * lanes) {
        Bits<16> bits[4];
        UNROLL for (u32 j = 0; j < 4; j++)
            bits[j] = load_group<16>(row + (u64)(begin + minimum(group + j * lanes, groups - 1) * V) * SIZE);
        if constexpr (REDUCTION == LOG_SUM_EXP) {
            f32 most = total.value;
            UNROLL for (u32 j = 0; j < 4; j++)
                UNROLL for (int i = 0; i < V; i++) most = larger(most, number_in<DTYPE>(bits[j], i));
            f32 sum = total.sum == 0.0f ? 0.0f : product(total.sum, share_of(total.value, most));
            UNROLL for (u32 j = 0; j < 4; j++)
                UNROLL for (int i = 0; i < V; i++)
                    sum += group + j * lanes < groups ? share_of(number_in<DTYPE>(bits[j], i), most) : 0.0f;
            total = Joined{most, sum, 0};
        } else
            UNROLL for (u32 j = 0; j < 4; j++) {
                if (group + j * lanes >= groups) continue;
                UNROLL for (int i = 0; i < V; i++) {
                    const f32 value = number_in<DTYPE>(bits[j], i);
                    if constexpr (REDUCTION == ARG_MAX) {
                        // Later ones are no better if they are the same.
                        const f32 signed_value = least ? -value : value;
                        const bool takes = signed_value > total.value || total.place == ~0u || (is_nan(value) && !is_nan(total.value));
                        total.value = takes ? signed_value : total.value;
                        total.place = takes ? begin + (group + j * lanes) * V + i : total.place;
                    } else
                        values[i] = one_of<REDUCTION>(values[i], value);
                }
            }
    }
    if constexpr (REDUCTION != LOG_SUM_EXP && REDUCTION != ARG_MAX) {
        UNROLL for (int i = 1; i < V; i++) values[0] = one_of<REDUCTION>(values[0], values[i]);
        total.value = values[0];
    }
    const u32 last = begin + groups * V + lane;
    if (last < end) {
        const f32 value = load_float(row, last, DTYPE);
        total = join<REDUCTION>(total, Joined{least ? -value : value, 1.0f, last});
    }
    return total;
}

// Threads that share a short row.
#define FEW_LANES 8
#define ROWS                                                                                                          \
    const void *x, void *out, u32 outputs, u32 joined, u32 pieces, u32 piece, u32 reduction, u32 to, u32 lanes, i64 row_step
template <u32 REDUCTION, u32 DTYPE> DEVICE void reduce_rows(ROWS, Joined *waves) {
    // Threads behind the last row take it too: lanes of a wave ask each other.
    const u32 own = block_x() * (256 / lanes) + thread_x() / lanes, output = minimum(own, outputs - 1);
    const u32 lane = thread_x() % lanes;
    const u32 begin = minimum(block_y() * piece, joined), end = minimum(begin + piece, joined);
    const u8 *row = (const u8 *)x + output * row_step * bytes_of(DTYPE);
    const bool least = REDUCTION == ARG_MAX && reduction == ARG_MIN;
    Joined total = over_row<REDUCTION, DTYPE>(row, begin, end, lane, lanes, least);
    if (lanes == FEW_LANES)
        total = over_wave<REDUCTION, FEW_LANES>(total);
    else if (lanes == WAVE)
        total = over_wave<REDUCTION, WAVE>(total);
    else
        total = over_block<REDUCTION>(total, waves);
    if (own >= outputs) return;
    if (lane != 0) return;
    if constexpr (REDUCTION == ARG_MAX)
        ((u32 *)out)[(u64)output * pieces + block_y()] = total.place;
    else
        store_float(out, (i64)output * pieces + block_y(), to, result_of<REDUCTION>(total));
}
#define GIVEN x, out, outputs, joined, pieces, piece, reduction, to, lanes, row_step, waves
#define REDUCE_BEGIN             \
    SHARED Joined waves[256 / WAVE]; \
    grid_dependency_launch();    \
    grid_dependency_wait();      \
    switch (reduction) {
