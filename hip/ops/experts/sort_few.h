// Pairs (row, choice) of a few rows by expert, by one block, as sort.hip has them: NVIDIA, behind a router in the same launch.
#pragma once

#include "ops/experts/runs.h"

#if PLATFORM_NVIDIA
// The most pairs, and experts.
#define MOST_PAIRS 1024
#define MOST_SORTED 512

// The sum of the values of the wave's lanes up to this one.
DEVICE u32 wave_scan(u32 value) {
    const u32 lane = lane_id();
    UNROLL for (u32 step = 1; step < WAVE; step *= 2) {
        const u32 before = shuffle(value, (lane - step) % WAVE);
        value += lane >= step ? before : 0;
    }
    return value;
}

struct Sorting {
    u32 *order;
    ExpertRun *runs;
    u32 pairs, experts, most_runs, most_pairs;
};

// By blocks of THREADS, all of which see `index` [pairs].
template <u32 THREADS> DEVICE void sort_few(const u32 *index, const Sorting &s) {
    // Pairs of a thread, and experts of one that has some.
    constexpr u32 EACH = MOST_PAIRS / THREADS, OWN = MOST_SORTED > THREADS ? MOST_SORTED / THREADS : 1;
    constexpr u32 OWNERS = MOST_SORTED / OWN;
    SHARED u32 counts[MOST_SORTED], starts[MOST_SORTED], sums[MOST_SORTED / WAVE];
    const u32 thread = thread_x(), warp = thread / WAVE, lane = thread % WAVE;
    UNROLL for (u32 j = 0; j < OWN; j++)
        if (thread < OWNERS) counts[thread * OWN + j] = 0;
    barrier();
    u32 expert[EACH], place[EACH];
    UNROLL for (u32 i = 0; i < EACH; i++) {
        const u32 pair = thread + i * THREADS;
        expert[i] = pair < s.pairs ? minimum(index[pair], s.experts - 1) : 0;
        place[i] = pair < s.pairs ? atomic_add(counts + expert[i], 1) : 0;
    }
    barrier();
    // How many pairs, and above them how many runs.
    u32 mine[OWN], my_runs[OWN], both = 0;
    UNROLL for (u32 j = 0; j < OWN; j++) {
        mine[j] = thread < OWNERS ? counts[thread * OWN + j] : 0;
        my_runs[j] = (mine[j] + s.most_pairs - 1) / s.most_pairs;
        both += mine[j] | my_runs[j] << 16;
    }
    const u32 up_to = wave_scan(both);
    if (thread < OWNERS && lane == WAVE - 1) sums[warp] = up_to;
    barrier();
    u32 before = up_to - both, total = 0;
    UNROLL for (u32 i = 0; i < OWNERS / WAVE; i++) {
        before += i < warp ? sums[i] : 0;
        total += sums[i];
    }
    const u32 all = minimum(total >> 16, s.most_runs);
    UNROLL for (u32 j = 0; j < OWN; j++) {
        if (thread >= OWNERS) break;
        const u32 expert = thread * OWN + j, start = before & 0xffff, first_run = before >> 16;
        starts[expert] = start;
        for (u32 run = 0; run < my_runs[j]; run++) {
            const u32 done = run * s.most_pairs, pairs = minimum(mine[j] - done, s.most_pairs);
            if (first_run + run < all) s.runs[first_run + run] = {expert, start + done, pairs, all};
        }
        before += mine[j] | my_runs[j] << 16;
    }
    for (u32 run = all + thread; run < s.most_runs; run += THREADS) s.runs[run] = {0, 0, 0, all};
    barrier();
    UNROLL for (u32 i = 0; i < EACH; i++) {
        const u32 pair = thread + i * THREADS;
        if (pair < s.pairs) s.order[starts[expert[i]] + place[i]] = pair;
    }
}
#endif
