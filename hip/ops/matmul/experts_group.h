// AMD: products of a few rows with the matrices of a stack [experts][out, in] that each chose, each matrix read once for up to
// GROUP_ROWS of its rows (on NVIDIA experts_tiles.h has them):
//
//   y[pair][o] = Σ_c W[expert of pair][o][c] · n(x[pair / share])[c] + bias[expert of pair][o], then an epilogue (STORE or SILU)
//
// Pairs are sorted by expert into runs: `order` and `runs` of hip/ops/experts/sort.hip. n, and the order of every sum, as in
// rows.h: a row's bits are those of experts.h. Biases and a limit for mxfp4 alone, as there.
//
// Launch: as rows.h; grid (blocks of a run, runs): what a block keeps from run to run is more than there are scalar registers.
#pragma once

#include "ops/experts/runs.h"
#include "ops/matmul/rows.h"

#define GROUP_ROWS 4

#if PLATFORM_AMD
// The rows of a run, and which of its tiles (or pairs of tiles) the block takes.
struct RunRows : Whole {
    const u32 *pairs;
    u32 share, first, last;
    DEVICE u32 row(const RunRows &c, u32 r) { return c.pairs[r] / c.share; }
    DEVICE u32 result(const RunRows &c, u32 r) { return c.pairs[r]; }
    DEVICE u32 begin(const RunRows &c, u32) { return c.first; }
    DEVICE u32 end(const RunRows &c, u32) { return c.last; }
};

// Works (tiles or pairs of them) `first` to `last` of a run.
template <typename Q>
DEVICE void matmul_run(const Rows &p, const ExpertRun &run, const u32 *order, u32 share, u32 first, u32 last, u8 *memory) {
    const u64 bytes = (u64)((p.width + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS)) * Q::UNIT_BYTES * p.tiles;
    RunRows rows;
    rows.pairs = order + run.first, rows.share = share, rows.first = first, rows.last = last;
    Rows of = p;
    of.rows = run.pairs, of.weights += run.expert * bytes;
    of.to.bias += of.to.bias ? (u64)run.expert * p.tiles * 16 : 0;
    matmul_rows<Q, GROUP_ROWS, RunRows>(of, memory, rows);
}

template <typename Q>
DEVICE void matmul_experts_group(const Rows &p, const ExpertRun *runs, const u32 *order, u32 share, u8 *memory) {
    grid_dependency_wait();
    const u32 works = p.tiles / (p.to.epilogue == SILU ? 2 : 1);
    const ExpertRun run = runs[block_y()];
    if (run.pairs == 0) return;
    const u32 first = works * block_x() / grid_blocks_x(), last = works * (block_x() + 1) / grid_blocks_x();
    matmul_run<Q>(p, run, order, share, first, last, memory);
}

#define EXPERTS_GROUP_KERNEL(NAME, BITS, SCALES, GROUP)                                                           \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(const u8 *weights, const f32 *x, const f32 *norm, const f32 *bias,    \
                                            f32 *out, const ExpertRun *runs, const u32 *order, u32 width,         \
                                            f32 eps, u32 cols, u32 tiles, u32 epilogue, u32 share, f32 limit) {   \
        DYNAMIC_SHARED(memory);                                                                                   \
        constexpr bool FULL = SCALES == POWER;                                                                    \
        const Rows p = {weights, x, norm, one_output(FULL ? bias : nullptr, nullptr, out, tiles, width, epilogue, \
                        FULL ? limit : 0.0f), eps, GROUP_ROWS, cols, tiles, cols};                                \
        matmul_experts_group<Quant<BITS, SCALES, GROUP>>(p, runs, order, share, memory);                          \
    }
#else
#define EXPERTS_GROUP_KERNEL(NAME, BITS, SCALES, GROUP)
#endif
