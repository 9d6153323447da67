// Pairs (row, choice) by expert: `order` has the pairs of expert 0, then those of expert 1, …, in any order; `runs` cuts each
// expert's into pieces of up to `most_pairs`:
//
//   runs[b] = {expert, first place in order, pairs, runs}, no pairs behind the last
//
// index: [pairs]. Launch: 1,024 threads, one block; up to 1,024 experts.
#include "ops/experts/runs.h"

#define THREADS 1024

KERNEL(THREADS) void mlxrocm_experts_sort(const u32 *index, u32 *order, ExpertRun *runs, u32 pairs, u32 experts,
                                          u32 most_runs, u32 most_pairs) {
    SHARED u32 counts[THREADS];
    SHARED u32 starts[2][THREADS], ends[2][THREADS];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 thread = thread_x();
    counts[thread] = 0;
    barrier();
    auto expert_of = [&](u32 pair) { return minimum(index[pair], experts - 1); };
    for (u32 pair = thread; pair < pairs; pair += THREADS) atomic_add(counts + expert_of(pair), 1);
    barrier();
    const u32 mine = counts[thread], my_runs = (mine + most_pairs - 1) / most_pairs;
    starts[0][thread] = mine, ends[0][thread] = my_runs;
    u32 from = 0;
    for (u32 step = 1; step < THREADS; step *= 2, from ^= 1) {
        barrier();
        const u32 before = thread >= step ? starts[from][thread - step] : 0;
        const u32 runs_before = thread >= step ? ends[from][thread - step] : 0;
        starts[from ^ 1][thread] = starts[from][thread] + before;
        ends[from ^ 1][thread] = ends[from][thread] + runs_before;
    }
    barrier();
    const u32 start = starts[from][thread] - mine, first_run = ends[from][thread] - my_runs;
    const u32 all = minimum(ends[from][THREADS - 1], most_runs);
    for (u32 run = 0; run < my_runs; run++) {
        const u32 done = run * most_pairs;
        if (first_run + run < all) runs[first_run + run] = {thread, start + done, minimum(mine - done, most_pairs), all};
    }
    for (u32 run = all + thread; run < most_runs; run += THREADS) runs[run] = {0, 0, 0, all};
    // From here on the places that are left.
    counts[thread] = start;
    barrier();
    for (u32 pair = thread; pair < pairs; pair += THREADS) order[atomic_add(counts + expert_of(pair), 1)] = pair;
}
