// Products of the rows of a prompt with the matrices of a stack [experts][out, in] that each chose, by the matrix
// unit:
//
//   y[pair][o] = Σ_c W[expert of pair][o][c] · x[pair / share][c] + bias[expert of pair][o], then an epilogue (STORE or
//                SILU); bias [experts][tiles · 16] or null, as in experts.h for mxfp4 alone
//
// Pairs are sorted by expert: `order` and `runs` of hip/ops/experts/sort.hip, so that each matrix is read once
// for 128 of its rows. x as in block.h.
//
// Launch: as block.h; grid (blocks, tiles of one matrix / BLOCK_TILES).
#pragma once

#include "ops/experts/runs.h"
#include "ops/matmul/block.h"

struct ChosenRows {
    static constexpr bool CHOSEN = true;
    const u32 *pairs; // [BLOCK_ROWS], in shared memory; where two blocks fill that, `order` itself
    u32 share;
    DEVICE u32 of_x(const ChosenRows &r, u32 row) { return r.pairs[row] / r.share; }
    DEVICE u32 of_result(const ChosenRows &r, u32 row) { return r.pairs[row]; }
};

template <typename W>
DEVICE void matmul_experts(Block p, const ExpertRun *blocks, const u32 *order, u32 share) {
#if !AMD_CDNA2
    SHARED u32 pairs[BLOCK_ROWS];
#endif
    grid_dependency_launch();
    grid_dependency_wait();
    const ExpertRun block = blocks[block_x()];
    if (block.pairs == 0) return;
#if AMD_CDNA2
    const u32 *pairs = order + block.first;
#else
    const u32 thread = thread_x();
    if (thread < BLOCK_ROWS) pairs[thread] = order[block.first + minimum(thread, block.pairs - 1)];
    barrier();
#endif
    p.rows = block.pairs;
    p.weights += (u64)block.expert * p.tiles * W::tile_bytes(p.cols);
    p.to.bias += p.to.bias ? (u64)block.expert * p.tiles * 16 : 0;
    matmul_block<W>(p, block.pairs, ChosenRows{pairs, share});
}

#define EXPERTS_BLOCK_KERNEL(NAME, BITS, SCALES, GROUP)                                                         \
    BLOCK_KERNEL_WAVES void NAME(const u8 *weights, const u16 *x, const f32 *scales, const f32 *bias, f32 *out, \
                          const ExpertRun *blocks, const u32 *order, f32 back, u32 width, u32 cols,             \
                          u32 tiles, u32 epilogue, u32 share, f32 limit) {                                      \
        constexpr bool FULL = SCALES == POWER;                                                                  \
        const Block p = {weights, x, scales, one_output(FULL ? bias : nullptr, nullptr, out, tiles, width,      \
                         epilogue, FULL ? limit : 0.0f), back, 0, cols, tiles,                                  \
                         {nullptr, nullptr}};                                                                   \
        matmul_experts<TileOf<Quant<BITS, SCALES, GROUP>>>(p, blocks, order, share);                            \
    }
