// NVIDIA: where the row of each pair (row, choice) lies among the rows that experts_warpgroup.h multiplies, `most_pairs` for
// each run of sort.hip:
//
//   places[order[runs[b].first + i]] = b · most_pairs + i
//
// Launch: 128 threads, a block a run.
#include "ops/experts/runs.h"

#if PLATFORM_NVIDIA
KERNEL(128) void mlxrocm_experts_places(const u32 *order, const ExpertRun *runs, u32 *places, u32 most_pairs) {
    grid_dependency_launch();
    grid_dependency_wait();
    const ExpertRun run = runs[block_x()];
    for (u32 i = thread_x(); i < run.pairs; i += 128) places[order[run.first + i]] = block_x() * most_pairs + i;
}
#endif
