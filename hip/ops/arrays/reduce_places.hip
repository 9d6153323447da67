// out[o] = the log of the sum of exponentials of a row o of x, or the place of its least or largest element: else as
// reduce_rows.hip.
//
// Launch: as reduce_rows.hip. Of places in pieces mlxrocm_array_join_places takes the one of the best element: out[o] of
// x[o][places[o][piece]]; 256 threads, grid (rows).
#include "reduce_rows.h"

template <u32 DTYPE> DEVICE void reduce_logs(const Part<DTYPE> &part, void *out, u32 to, LogSum *waves) {
    const LogSum total = over_threads(log_sum_of(part), part.lanes, waves);
    if (part.stores()) store_float(out, part.place(), to, total.result());
}
template <bool IS_LEAST, u32 DTYPE> DEVICE void reduce_places(const Part<DTYPE> &part, void *out, Rank *waves) {
    const Rank best = over_threads<Better>(best_of<IS_LEAST>(part), part.lanes, waves);
    if (part.stores()) ((u32 *)out)[part.place()] = best.place();
}
#define REDUCE_PLACES(DTYPE)                                        \
    SHARED LogSum logs[256 / WAVE];                                 \
    SHARED Rank places[256 / WAVE];                                 \
    REDUCE_BEGIN(DTYPE)                                             \
    switch (reduction) {                                            \
    case LOG_SUM_EXP: return reduce_logs(part, out, to, logs);      \
    case ARG_MIN: return reduce_places<true>(part, out, places);    \
    default: return reduce_places<false>(part, out, places);        \
    }
KERNEL(256) void mlxrocm_array_reduce_places_f32(ROWS) { REDUCE_PLACES(F32) }
KERNEL(256) void mlxrocm_array_reduce_places_f16(ROWS) { REDUCE_PLACES(F16) }
KERNEL(256) void mlxrocm_array_reduce_places_bf16(ROWS) { REDUCE_PLACES(BF16) }

#define PLACES const void *x, const u32 *places, u32 *out, u32 pieces, u32 reduction, i64 row_step
template <u32 DTYPE> DEVICE void join_places(PLACES) {
    SHARED Rank waves[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 output = block_x();
    const u8 *row = (const u8 *)x + output * row_step * bytes_of(DTYPE);
    Rank best{0};
    for (u32 piece = thread_x(); piece < pieces; piece += 256) {
        const u32 place = places[(u64)output * pieces + piece];
        if (place == ~0u) continue; // an empty piece
        const f32 value = load_float(row, place, DTYPE);
        best = Better::combine(best, rank_of(reduction == ARG_MIN ? -value : value, place));
    }
    best = over_threads<Better>(best, 256, waves);
    if (thread_x() == 0) out[output] = best.place();
}
KERNEL(256) void mlxrocm_array_join_places_f32(PLACES) { join_places<F32>(x, places, out, pieces, reduction, row_step); }
KERNEL(256) void mlxrocm_array_join_places_f16(PLACES) { join_places<F16>(x, places, out, pieces, reduction, row_step); }
KERNEL(256) void mlxrocm_array_join_places_bf16(PLACES) { join_places<BF16>(x, places, out, pieces, reduction, row_step); }
