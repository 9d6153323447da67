// NVIDIA: the router of a few rows (route.h), and their pairs by expert (sort_few.h), in one launch: between two kernels that
// small the time is the wait. matmul/route.h makes the logits too, where their matrix is quantized.
//
// logits: [rows][experts], index, weight: [rows][chosen]; at most 1,024 pairs and 256 experts besides a shared one.
//
// Launch: 1,024 threads, one block; a warp routes a row, then another.
#include "ops/experts/route.h"
#include "ops/experts/sort_few.h"

#if PLATFORM_NVIDIA
KERNEL(1024) void mlxrocm_route_sort(const f32 *logits, u32 *index, f32 *weight, u32 *order, ExpertRun *runs, u32 rows,
                                     u32 experts, u32 chosen, u32 normalize, u32 shared, u32 most_runs,
                                     u32 most_pairs) {
    grid_dependency_launch();
    grid_dependency_wait();
    for (u32 row = thread_x() / WAVE; row < rows; row += 1024 / WAVE)
        route_256(logits + row * experts, index + row * chosen, weight + row * chosen, experts, chosen, normalize, shared);
    barrier();
    sort_few<1024>(index, {order, runs, rows * chosen, experts, most_runs, most_pairs});
}
#endif
