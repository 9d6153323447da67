// Rows of floats that stay in registers between a read and a write: LANES threads (a power of two from 4 to a block of 256) share a
// row, four groups of 16 bytes each, which are all on their way at once. The fewest that can: those who have less load the last group
// again, and compute it. Rows lie one after the other, aligned to 16 bytes.
#pragma once

#include "vectors.h"
#include "common/reduce.h"

template <u32 DTYPE, int LANES> struct Row {
    static constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE, GROUPS = 4;
    f32 values[GROUPS][V];
    u32 groups, lane;
    u64 first; // of the row, in elements

    METHOD bool has(u32 j) const { return lane + j * LANES < groups; }
    // False where there is no such row: all threads of a row say the same.
    METHOD bool load(const void *x, u32 rows, u32 columns) {
        const u32 row = block_x() * (256 / LANES) + thread_x() / LANES;
        groups = columns / V, lane = thread_x() % LANES, first = (u64)minimum(row, rows - 1) * columns;
        Bits<16> bits[GROUPS];
        UNROLL for (u32 j = 0; j < GROUPS; j++) bits[j] = load_group<16>((const u8 *)x + (first + group(j) * V) * SIZE);
        UNROLL for (u32 j = 0; j < GROUPS; j++)
            UNROLL for (int i = 0; i < V; i++) values[j][i] = number_in<DTYPE>(bits[j], i);
        return row < rows;
    }
    METHOD u32 group(u32 j) const { return minimum(lane + j * LANES, groups - 1); }
    METHOD void store(void *out, u32 j, const f32 (&made)[V]) const {
        if (has(j)) store_numbers<DTYPE>((u8 *)out + (first + (u64)group(j) * V) * SIZE, 0, made);
    }
};
// Of the threads that share a row, in all of them; `scratch`: of a block's waves.
template <typename Op, int LANES> DEVICE f32 over_lanes(f32 value, f32 *scratch) {
    if constexpr (LANES > WAVE) {
        constexpr u32 WAVES = LANES / WAVE;
        value = wave_reduce<Op>(value);
        if (lane_id() == 0) scratch[wave_id()] = value;
        barrier();
        const f32 *of_row = scratch + wave_id() / WAVES * WAVES;
        value = of_row[0];
        UNROLL for (u32 i = 1; i < WAVES; i++) value = Op::combine(value, of_row[i]);
        return value;
    } else
        return wave_reduce<Op, LANES>(value);
}
// Calls a function with a launch's `lanes` as a constant.
#define WITH_LANES(FUNCTION, DTYPE, ...)                              \
    switch (lanes) {                                                  \
    case 4: return FUNCTION<DTYPE, 4>(__VA_ARGS__);                   \
    case 8: return FUNCTION<DTYPE, 8>(__VA_ARGS__);                   \
    case 16: return FUNCTION<DTYPE, 16>(__VA_ARGS__);                 \
    case 32: return FUNCTION<DTYPE, 32>(__VA_ARGS__);                 \
    case 64: return FUNCTION<DTYPE, 64>(__VA_ARGS__);                 \
    case 128: return FUNCTION<DTYPE, 128>(__VA_ARGS__);               \
    default: return FUNCTION<DTYPE, 256>(__VA_ARGS__);                \
    }
