// Pairs (row, choice) by expert, for products of many rows: `order` has the pairs of expert 0, then those of
// expert 1, …, in any order; `blocks` cuts each expert's into runs of up to ROWS:
//
//   blocks[b] = {expert, first place in order, pairs}, no pairs behind the last
//
// index: [pairs]. Launch: 1,024 threads, one block; up to 1,024 experts.
#include "common/platform.h"

#define THREADS 1024
#define ROWS 128 // BLOCK_ROWS of block.h

struct ExpertBlock {
    u32 expert, first, pairs, unused;
};

KERNEL(THREADS) void mlxrocm_experts_sort(const u32 *index, u32 *order, ExpertBlock *blocks, u32 pairs, u32 experts,
                                          u32 most_blocks) {
    SHARED u32 counts[THREADS];
    SHARED u32 starts[2][THREADS], runs[2][THREADS];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 thread = thread_x();
    counts[thread] = 0;
    barrier();
    auto expert_of = [&](u32 pair) { return minimum(index[pair], experts - 1); };
    for (u32 pair = thread; pair < pairs; pair += THREADS) atomic_add(counts + expert_of(pair), 1);
    barrier();
    const u32 mine = counts[thread], my_runs = (mine + ROWS - 1) / ROWS;
    starts[0][thread] = mine, runs[0][thread] = my_runs;
    u32 from = 0;
    for (u32 step = 1; step < THREADS; step *= 2, from ^= 1) {
        barrier();
        const u32 before = thread >= step ? starts[from][thread - step] : 0;
        const u32 runs_before = thread >= step ? runs[from][thread - step] : 0;
        starts[from ^ 1][thread] = starts[from][thread] + before;
        runs[from ^ 1][thread] = runs[from][thread] + runs_before;
    }
    barrier();
    const u32 start = starts[from][thread] - mine, first_run = runs[from][thread] - my_runs;
    const u32 all_runs = runs[from][THREADS - 1];
    for (u32 run = 0; run < my_runs; run++) {
        const u32 left = mine - run * ROWS;
        if (first_run + run < most_blocks) blocks[first_run + run] = {thread, start + run * ROWS, left < ROWS ? left : ROWS, 0};
    }
    for (u32 run = all_runs + thread; run < most_blocks; run += THREADS) blocks[run] = {0, 0, 0, 0};
    // From here on the places that are left.
    counts[thread] = start;
    barrier();
    for (u32 pair = thread; pair < pairs; pair += THREADS) order[atomic_add(counts + expert_of(pair), 1)] = pair;
}
