// to[i] = from[i] for i < count, in 16 bytes each: what a step reads besides weights and cache, from pinned memory, over the bus.
//
// The first kernel of a program: those behind it may read what it brings before they wait (src/gpu/graph.rs), so it lets them
// begin once that is written: a block says so by the first of its threads that does, hence the barrier.
//
// Launch: 256 threads, grid ceil(count / 256).
#include "common/platform.h"

KERNEL(256) void mlxrocm_take_inputs(u8 *to, const u8 *from, u32 count) {
    const u64 at = ((u64)block_x() * 256 + thread_x()) * 16;
    if (at < (u64)count * 16) store16(to + at, load16(from + at));
    fence_device();
    barrier();
    grid_dependency_launch();
}
