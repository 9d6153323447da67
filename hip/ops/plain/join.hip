// out[r] = a[r] then b[r]: rows of `first` and `second` elements of 32 bits become one (arrays joined along an axis: rows
// are what lies before it, elements what lies in and behind it). And out[i] = start + i · step, u32.
//
// Launch: 256 threads, blocks of 256 elements of `out`.
#include "common/platform.h"

KERNEL(256) void mlxrocm_join_u32(const u32 *a, const u32 *b, u32 *out, u32 count, u32 first, u32 second) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u32 row = i / (first + second), column = i % (first + second);
    out[i] = column < first ? a[(u64)row * first + column] : b[(u64)row * second + column - first];
}

KERNEL(256) void mlxrocm_arange_u32(u32 *out, u32 count, u32 start, u32 step) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i < count) out[i] = start + i * step;
}
