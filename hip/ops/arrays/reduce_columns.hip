// out[o][piece][c] = x[o][r][c] joined over a part of the rows r: sum, product, least, largest. Columns of f32, f16 or bf16
// lie side by side, rows `row_step` apart, all aligned to 16 bytes. Sums are divided by `divisor`, if it is not 0. Always in the
// same order. A second launch joins pieces.
//
// Launch: 256 threads, grid (columns / (32 groups of 16 bytes), o, pieces): eight teams of 32 lanes take every eighth row
// each, four loads of 16 bytes a thread on their way.
#include "means.h"
#include "reduce_vectors.h"

#define COLUMNS                                                                                                   \
    const void *x, void *out, u32 columns, u32 rows, u32 pieces, u32 piece, u32 reduction, u32 to, f32 divisor,    \
        i64 outer_step, i64 row_step
template <u32 REDUCTION, u32 DTYPE>
DEVICE void reduce_columns(const void *x, void *out, u32 columns, u32 rows, u32 pieces, u32 piece, u32 to, f32 divisor,
                           i64 outer_step, i64 row_step, f32 (*teams)[33 * 8]) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    const u32 lane = thread_x() % 32, team = thread_x() / 32;
    const u32 column = (block_x() * 32 + lane) * V, read = minimum(column, columns - V);
    const u32 begin = minimum(block_z() * piece, rows), end = minimum(begin + piece, rows);
    const u8 *from = (const u8 *)x + (block_y() * outer_step + read) * SIZE;
    f32 values[V];
    UNROLL for (int i = 0; i < V; i++) values[i] = nothing<REDUCTION>();
    for (u32 row = begin + team; row < end; row += 32) {
        Bits<16> bits[4];
        UNROLL for (u32 j = 0; j < 4; j++) bits[j] = load_group<16>(from + minimum(row + 8 * j, end - 1) * row_step * SIZE);
        loaded(bits);
        UNROLL for (u32 j = 0; j < 4; j++) {
            if (row + 8 * j >= end) continue;
            UNROLL for (int i = 0; i < V; i++) values[i] = one_of<REDUCTION>(values[i], number_in<DTYPE>(bits[j], i));
        }
    }
    UNROLL for (int i = 0; i < V; i++) teams[team][i * 33 + lane] = values[i];
    barrier();
    // A thread a column, side by side.
    for (u32 own = thread_x(); own < 32 * V; own += 256) {
        const u32 c = block_x() * 32 * V + own;
        if (c >= columns) continue;
        const u32 at = own % V * 33 + own / V;
        f32 total = teams[0][at];
        UNROLL for (int i = 1; i < 8; i++) total = one_of<REDUCTION>(total, teams[i][at]);
        const i64 place = ((i64)block_y() * pieces + block_z()) * columns + c;
        store_mean(out, place, to, total, REDUCTION == SUM ? divisor : 0.0f);
    }
}
#define GIVEN x, out, columns, rows, pieces, piece, to, divisor, outer_step, row_step, teams
#define REDUCE_COLUMNS(DTYPE)                                     \
    SHARED f32 teams[8][33 * 8];                                  \
    grid_dependency_launch();                                     \
    grid_dependency_wait();                                       \
    switch (reduction) {                                          \
    case SUM: return reduce_columns<SUM, DTYPE>(GIVEN);           \
    case PROD: return reduce_columns<PROD, DTYPE>(GIVEN);         \
    case MIN: return reduce_columns<MIN, DTYPE>(GIVEN);           \
    default: return reduce_columns<MAX, DTYPE>(GIVEN);            \
    }
KERNEL(256) void mlxrocm_array_reduce_columns_f32(COLUMNS) { REDUCE_COLUMNS(F32) }
KERNEL(256) void mlxrocm_array_reduce_columns_f16(COLUMNS) { REDUCE_COLUMNS(F16) }
KERNEL(256) void mlxrocm_array_reduce_columns_bf16(COLUMNS) { REDUCE_COLUMNS(BF16) }

// The same in one launch where there are fewer blocks: teams of `lanes` (8, or 4 where columns are few: half a line a row for twice
// the blocks) take a row each by turns, eight loads of a thread on their way. 64 MB (H200): f32, 8 lanes, 128 blocks of 1,024 threads
// 16.9 us, of 512 threads 17.7; bf16, 4 lanes and 1,024 threads 18.6, 8 lanes and 64 blocks 24.9, in two launches 20.3.
// Launch: 1,024 threads, or 512 and 8 lanes where blocks are more than a GPU takes of those, grid (columns / (lanes groups of 16
// bytes), o).
#define MOST_THIN_THREADS 1024
#if PLATFORM_NVIDIA
#define THIN_COLUMNS \
    const void *x, void *out, u32 columns, u32 rows, u32 reduction, u32 to, f32 divisor, u32 lanes, i64 outer_step, i64 row_step
#define THIN_OF \
    const void *x, void *out, u32 columns, u32 rows, u32 to, f32 divisor, i64 outer_step, i64 row_step, f32 (*warps)[64]
template <u32 REDUCTION, u32 DTYPE, u32 THREADS, u32 LANES> DEVICE void reduce_thin(THIN_OF) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    constexpr u32 TEAMS = THREADS / LANES;
    const u32 lane = thread_x() % LANES, team = thread_x() / LANES, column = (block_x() * LANES + lane) * V;
    const u8 *from = (const u8 *)x + (block_y() * outer_step + minimum(column, columns - V)) * SIZE;
    f32 values[V];
    UNROLL for (int i = 0; i < V; i++) values[i] = nothing<REDUCTION>();
    Bits<16> next[4];
    const auto load = [&](u32 row) {
        UNROLL for (u32 j = 0; j < 4; j++) next[j] = load_group<16>(from + minimum(row + TEAMS * j, rows - 1) * row_step * SIZE);
    };
    load(team);
    for (u32 row = team; row < rows; row += 4 * TEAMS) {
        Bits<16> bits[4];
        UNROLL for (u32 j = 0; j < 4; j++) bits[j] = next[j];
        if (row + 4 * TEAMS < rows) load(row + 4 * TEAMS);
        UNROLL for (u32 j = 0; j < 4; j++) {
            if (row + TEAMS * j >= rows) continue;
            UNROLL for (int i = 0; i < V; i++) values[i] = one_of<REDUCTION>(values[i], number_in<DTYPE>(bits[j], i));
        }
    }
    // The teams of a warp.
    UNROLL for (int i = 0; i < V; i++) {
        if constexpr (LANES == 4) values[i] = one_of<REDUCTION>(values[i], shuffle_xor<4>(values[i]));
        values[i] = one_of<REDUCTION>(values[i], shuffle_xor<8>(values[i]));
        values[i] = one_of<REDUCTION>(values[i], shuffle_xor<16>(values[i]));
        if (lane_id() < LANES) warps[wave_id()][lane * V + i] = values[i];
    }
    barrier();
    const u32 own = thread_x(), c = block_x() * LANES * V + own;
    if (own >= LANES * V || c >= columns) return;
    f32 total = warps[0][own];
    UNROLL for (u32 i = 1; i < THREADS / WAVE; i++) total = one_of<REDUCTION>(total, warps[i][own]);
    store_mean(out, (i64)block_y() * columns + c, to, total, REDUCTION == SUM ? divisor : 0.0f);
}
#define OF_THIN x, out, columns, rows, to, divisor, outer_step, row_step, warps
template <u32 REDUCTION, u32 DTYPE> DEVICE void reduce_thin(u32 lanes, THIN_OF) {
    if (lanes == 4)
        reduce_thin<REDUCTION, DTYPE, MOST_THIN_THREADS, 4>(OF_THIN);
    else if (block_size_x() == MOST_THIN_THREADS)
        reduce_thin<REDUCTION, DTYPE, MOST_THIN_THREADS, 8>(OF_THIN);
    else
        reduce_thin<REDUCTION, DTYPE, MOST_THIN_THREADS / 2, 8>(OF_THIN);
}
#define GIVEN_THIN lanes, OF_THIN
#define REDUCE_THIN(DTYPE)                                     \
    SHARED f32 warps[MOST_THIN_THREADS / WAVE][64];            \
    grid_dependency_launch();                                  \
    grid_dependency_wait();                                    \
    switch (reduction) {                                       \
    case SUM: return reduce_thin<SUM, DTYPE>(GIVEN_THIN);      \
    case PROD: return reduce_thin<PROD, DTYPE>(GIVEN_THIN);    \
    case MIN: return reduce_thin<MIN, DTYPE>(GIVEN_THIN);      \
    default: return reduce_thin<MAX, DTYPE>(GIVEN_THIN);       \
    }
KERNEL(1024) void mlxrocm_array_reduce_thin_f32(THIN_COLUMNS) { REDUCE_THIN(F32) }
KERNEL(1024) void mlxrocm_array_reduce_thin_f16(THIN_COLUMNS) { REDUCE_THIN(F16) }
KERNEL(1024) void mlxrocm_array_reduce_thin_bf16(THIN_COLUMNS) { REDUCE_THIN(BF16) }
#endif
