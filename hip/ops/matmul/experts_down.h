// NVIDIA: what the teams of experts.h leave of down, for a few rows, each matrix read once for up to MANY_ROWS of the pairs (row,
// choice) that chose it:
//
//   parts[row][team][o] = Σ_c W[expert of pair][o][c] · weight[pair] · x[pair][c],  c of the team's columns
//
// In experts.h, where all of a row's experts are one product, each has TEAMS / chosen of the block's teams: a row's bits are the
// same here, once hip/ops/experts/sum.hip has summed its parts in the order of `finish` of rows.h. Pairs are sorted by expert
// into runs: `order` and `runs` of hip/ops/experts/sort.hip.
//
// As in experts_tiles.h warps wait for no others, TEAMS / chosen of them share a tile. Rows of x of two runs at a time become
// integers in shared memory; most blocks have no more. Which matrices are read was decided two kernels before, which had ended
// when the kernel before let this one begin.
//
// Launch: TEAMS · 32 threads, any number of blocks; TEAMS a multiple of `chosen`.
#pragma once

#include "ops/matmul/experts_tiles.h"

// Runs whose rows of x a block has at once.
#define RUNS_AT_ONCE 2

#if PLATFORM_NVIDIA
// The columns of x: one pair after the other, each padded to whole units.
struct PairsOfRuns : Whole {
    static constexpr bool CHOSEN = true;
    const u32 *pairs;   // shared memory
    const f32 *weights; // the same
    u32 count, cols, padded;
    DEVICE bool is_there(const PairsOfRuns &s, const Rows &, u32 c) { return c < s.count * s.padded && c % s.padded < s.cols; }
    DEVICE u32 place(const PairsOfRuns &s, u32 c) {
        return c < s.count * s.padded ? s.pairs[c / s.padded] * s.cols + c % s.padded : 0;
    }
    DEVICE f32 weight(const PairsOfRuns &s, u32 c) { return c < s.count * s.padded ? s.weights[c / s.padded] : 0.0f; }
};

// Tiles `first` to `last` of a run, whose rows of x are `s` from row `row` on.
template <typename Q, int R>
DEVICE void multiply_parts(const Tiles &of, const Shared<Q, 1> &s, u32 padded, u32 row, const ExpertRun &run, u32 first, u32 last,
                           const Table &table, TileRing &ring) {
    constexpr u32 N = Sums<R>::N;
    const u32 lane = lane_id(), g = lane / 4, t = lane % 4;
    Shared<Q, R> x;
    x.x = {s.x.at + row * padded * X_BYTES<Q>, padded * X_BYTES<Q>, s.x.block, s.x.low, s.x.groups + row * (padded / Q::GROUP),
           padded / Q::GROUP, 1};
    f32 *to[N];
    UNROLL for (u32 n = 0; n < N; n++) {
        const u32 pair = of.order[run.first + minimum(n * 4 + t, run.pairs - 1)];
        to[n] = of.p.to.out0 + ((u64)pair * ring.sharers + ring.sharer) * of.p.to.width0 + g;
    }
    for (u32 tile = first; tile < last; tile++) {
        Sums<R> sums = {};
        multiply_piece<Q, R, 1>(of, table, ring, 0, x, run.pairs, sums);
        UNROLL for (u32 n = 0; n < N; n++) UNROLL for (u32 h = 0; h < 2; h++) {
            const u32 at = tile * TILE_ROWS + 8 * h;
            if (n * 4 + t < run.pairs && at + g < of.p.to.width0) to[n][at] = sums.v[h][n];
        }
    }
}

template <typename Q> DEVICE void matmul_experts_down(Tiles of, const f32 *expert_weights, u32 sharers, u8 *memory) {
    SHARED u32 pairs[RUNS_AT_ONCE * MANY_ROWS];
    SHARED f32 weights[RUNS_AT_ONCE * MANY_ROWS];
    u8 *after;
    TileRing ring = begin_ring<Q, 1>(memory, sharers, after);
    count_works<Q>(of);
    const Table table = table_of<Q>(of.p.weights);
    const u32 thread = thread_x(), groups = TEAMS / sharers;
    const u64 all = (u64)of.runs[0].count * of.works, takers = (u64)grid_blocks_x() * groups, of_block = (u64)block_x() * groups;
    const u64 begin = all * of_block / takers, end = all * (of_block + groups) / takers;
    const u64 own = all * (of_block + ring.four) / takers, own_end = all * (of_block + ring.four + 1) / takers;
    begin_works<Q, 1>(of, ring, own, own_end);
    grid_dependency_launch();
    PairsOfRuns columns;
    columns.pairs = pairs, columns.weights = weights, columns.cols = of.p.cols, columns.padded = of.units * Q::UNIT * BLOCK_COLS;
    const u32 padded = columns.padded, runs_end = (u32)((end + of.works - 1) / of.works);
    const u32 first_at = begin < end ? (u32)(begin / of.works) : runs_end;
    auto choose = [&](u32 at) {
        const ExpertRun first_run = of.runs[at];
        columns.count = first_run.pairs + (at + 1 < runs_end ? of.runs[at + 1].pairs : 0);
        if (thread < columns.count) {
            const u32 pair = of.order[first_run.first + thread];
            pairs[thread] = pair, weights[thread] = expert_weights[pair];
        }
        barrier_shared();
    };
    if (first_at < runs_end) choose(first_at);
    grid_dependency_wait();
    for (u32 at = first_at; at < runs_end; at += RUNS_AT_ONCE) {
        if (at != first_at) {
            // Others still multiply what was here.
            barrier_shared();
            choose(at);
        }
        Shared<Q, 1> s;
        s.padded = columns.count * padded;
        const u32 stride = (RUNS_AT_ONCE * MANY_ROWS * padded * X_BYTES<Q> + 127) / 128 * 128 + 64;
        s.partial = nullptr, s.squares = (f32 *)after, s.factor = s.squares + TEAMS, s.factor_step = 1;
        u8 *codes = (u8 *)(s.factor + 8);
        s.x = {codes, 0, BLOCK_COLS * X_BYTES<Q>, stride, (f32x2 *)(codes + 2 * stride), 0, 1};
        Norm<1> norm = {};
        prepare_x<Q, 1>(of.p, s, norm, columns, [] {});
        u32 row = 0;
        for (u32 i = at; i < at + RUNS_AT_ONCE && i < runs_end; i++) {
            const ExpertRun run = of.runs[i];
            const u64 before = (u64)i * of.works;
            const u64 from = own > before ? own - before : 0, to = own_end > before ? own_end - before : 0;
            const u32 first = (u32)(from < of.works ? from : of.works), last = (u32)(to < of.works ? to : of.works);
            if (first < last) {
                if (run.pairs <= 4) multiply_parts<Q, 4>(of, s, padded, row, run, first, last, table, ring);
                else multiply_parts<Q, MANY_ROWS>(of, s, padded, row, run, first, last, table, ring);
            }
            row += run.pairs;
        }
    }
}

#define EXPERTS_DOWN_KERNEL(NAME, BITS, SCALES, GROUP)                                                      \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(const u8 *weights, const f32 *x, const f32 *expert_weights,     \
                                            f32 *parts, const ExpertRun *runs, const u32 *order, u32 width, \
                                            u32 cols, u32 tiles, u32 sharers) {                             \
        DYNAMIC_SHARED(memory);                                                                             \
        const Rows p = {weights, x, nullptr, one_output(nullptr, nullptr, parts, tiles, width, STORE),      \
                        0.0f, 1, cols, tiles, cols};                                                        \
        matmul_experts_down<Quant<BITS, SCALES, GROUP>>({p, nullptr, runs, order, 1, 0, 0}, expert_weights, \
                                                        sharers, memory);                                   \
    }
#else
#define EXPERTS_DOWN_KERNEL(NAME, BITS, SCALES, GROUP)
#endif
