// The router of a mixture of experts (route.h) of rows of logits [experts].
//
// Launch: 32 threads, a block a row; up to 1,024 logits besides a shared one's.
#include "ops/experts/route.h"

KERNEL(ROUTE_LANES) void mlxrocm_route(const f32 *logits, u32 *index, f32 *weight, u32 experts, u32 chosen,
                                       u32 normalize, u32 shared) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u64 row = block_x();
    logits += row * experts, index += row * chosen, weight += row * chosen;
    if (experts - shared <= MAX_ROUTED) route_few(logits, index, weight, experts, chosen, normalize, shared);
    else route<32>(logits, index, weight, experts, chosen, normalize, shared);
}
