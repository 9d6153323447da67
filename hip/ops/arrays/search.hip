// out[i] = where values[i] would be put in x, which is sorted: before those that are equal, or (right) behind them.
//
// Launch: 256 threads, a thread a value.
#include "keys.h"

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
