// Long rows in order, NaN last, equal ones as they were: runs of 2,048 elements are sorted, then runs become one with
// their neighbours until each row is one.
// runs: keys and places of the runs. merge: of runs of `width` elements, two by two: an element's place is its own place
// among its run and its rank in the other. finish: the elements, or their places.
// search: out[i] = where values[i] would be put in the sorted x.
// A row is `columns` elements, `step` apart, as in order.hip; keys and places lie row after row.
//
// Launch: 256 threads; runs: grid (runs of a row, rows); others: a thread an element.
#include "keys.h"

#define RUN 2048

KERNEL(256) void mlxrocm_array_sort_runs(const void *x, u64 *all_keys, u32 *all_places, u32 columns, u32 step, u32 dtype) {
    SHARED u64 keys[RUN];
    SHARED u32 order[RUN];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = block_y(), first = block_x() * RUN, count = minimum(columns - first, (u32)RUN);
    const i64 begin = (i64)(row / step) * columns * step + row % step;
    for (u32 c = thread_x(); c < RUN; c += 256) {
        keys[c] = c < count ? sort_key(x, begin + (i64)(first + c) * step, dtype) : ~0ull;
        order[c] = c;
    }
    for (u32 run = 2; run <= RUN; run *= 2)
        for (u32 distance = run / 2; distance > 0; distance /= 2) {
            barrier();
            for (u32 pair = thread_x(); pair < RUN / 2; pair += 256) {
                const u32 low = pair / distance * 2 * distance + pair % distance, high = low + distance;
                const bool is_up = (low & run) == 0;
                const bool is_over = keys[low] > keys[high] || (keys[low] == keys[high] && order[low] > order[high]);
                if (is_over == is_up) {
                    const u64 key = keys[low];
                    const u32 place = order[low];
                    keys[low] = keys[high], order[low] = order[high];
                    keys[high] = key, order[high] = place;
                }
            }
        }
    barrier();
    const u64 to = (u64)row * columns + first;
    for (u32 c = thread_x(); c < count; c += 256) all_keys[to + c] = keys[c], all_places[to + c] = first + order[c];
}

KERNEL(256) void mlxrocm_array_sort_merge(const u64 *keys, const u32 *places, u64 *out_keys, u32 *out_places, u32 count,
                                          u32 columns, u32 width) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u32 column = i % columns, row_first = i - column, run = column / width, own = run * width;
    const u32 other = (run ^ 1) * width, size = other < columns ? minimum(columns - other, width) : 0;
    const u64 key = keys[i];
    // How many of the other run come before.
    u32 low = 0, high = size;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        const u64 there = keys[row_first + other + middle];
        if (there < key || (there == key && other < own))
            low = middle + 1;
        else
            high = middle;
    }
    const u32 to = row_first + minimum(own, other) + (column - own) + low;
    out_keys[to] = key, out_places[to] = places[i];
}

KERNEL(256) void mlxrocm_array_sort_finish(const void *x, const u32 *places, void *out, u32 count, u32 columns, u32 step,
                                           u32 size, u32 wants_places) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u32 row = i / columns;
    const i64 begin = (i64)(row / step) * columns * step + row % step;
    const i64 to = begin + (i64)(i % columns) * step;
    if (wants_places) {
        ((u32 *)out)[to] = places[i];
        return;
    }
    const i64 from[1] = {begin + (i64)places[i] * step};
    u64 bits[1];
    load_bits(x, from, size, bits);
    store_bits(out, to, size, bits[0]);
}

KERNEL(256) void mlxrocm_array_search(const void *x, const void *values, u32 *out, u32 count, u32 size, u32 dtype, u32 right) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u64 key = sort_key(values, i, dtype);
    u32 low = 0, high = size;
    while (low < high) {
        const u32 middle = (low + high) / 2;
        const u64 there = sort_key(x, middle, dtype);
        if (there < key || (there == key && right))
            low = middle + 1;
        else
            high = middle;
    }
    out[i] = low;
}
