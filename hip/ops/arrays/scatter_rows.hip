// replace, meet of scatter.hip for slices that are whole rows of out, `columns` elements side by side, 16 bytes at a time:
// places are multiples of `columns`.
//
// replace_rows: `columns` are units of 16 bytes, four a thread; a block 1024 of them.
// meet_rows: a thread 16 bytes of a slice, in the order of `order`, whose slices' rows are `rows`, sorted.
#include "scatter.h"
#include "vectors.h"

KERNEL(256) void mlxrocm_array_replace_rows(const void *updates, const i64 *places, const u32 *claims, void *out, u32 count,
                                            u32 columns, u32 unit) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 first = block_x() * 1024 + thread_x();
    u32x4 units[4];
    i64 to[4];
    UNROLL for (u32 j = 0; j < 4; j++) {
        const u32 at = minimum(first + j * 256, count - 1), slice = at / columns;
        const i64 row = places[slice] / unit;
        const bool stays = claims && claims[row] != slice + 1;
        to[j] = stays || first + j * 256 >= count ? -1 : row * columns + (at - slice * columns);
        units[j] = load16((const u32x4 *)updates + at);
    }
    UNROLL for (u32 j = 0; j < 4; j++)
        if (to[j] >= 0) store16((u32x4 *)out + to[j], units[j]);
}

#define MEET_ROWS const void *updates, const u32 *rows, const u32 *order, void *out, u32 count, u32 slices, u32 how, u32 columns
template <u32 DTYPE> DEVICE void meet_rows(MEET_ROWS) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    const u32 i = block_x() * 256 + thread_x(), groups = columns / V;
    if (i >= count) return;
    const u32 first = i / groups, column = (i - first * groups) * V, slice = order[first], row = rows[slice];
    if (first > 0 && rows[order[first - 1]] == row) return;
    u8 *to = (u8 *)out + ((u64)row * columns + column) * SIZE;
    const Bits<16> before = load_group<16>(to);
    f32 now[V];
    UNROLL for (int c = 0; c < V; c++) now[c] = number_in<DTYPE>(before, c);
    for (u32 j = first; j < slices; j++) {
        const u32 next = order[j];
        if (rows[next] != row) break;
        const Bits<16> update = load_group<16>((const u8 *)updates + ((u64)next * columns + column) * SIZE);
        UNROLL for (int c = 0; c < V; c++) now[c] = meet_float(now[c], number_in<DTYPE>(update, c), DTYPE, how);
    }
    store_numbers<DTYPE>(to, 0, now);
}
#define MEET_KERNEL(NAME, DTYPE)                                                  \
    KERNEL(256) void NAME(MEET_ROWS) {                                            \
        grid_dependency_launch();                                                 \
        grid_dependency_wait();                                                   \
        meet_rows<DTYPE>(updates, rows, order, out, count, slices, how, columns); \
    }
MEET_KERNEL(mlxrocm_array_meet_rows_f32, F32)
MEET_KERNEL(mlxrocm_array_meet_rows_f16, F16)
MEET_KERNEL(mlxrocm_array_meet_rows_bf16, BF16)
