// Products of the rows of a prompt with the matrices of a stack [experts][out, in] that each chose, as experts_block.h has
// them, by the matrix unit of NVIDIA's compute capability 9.0: each run of pairs is a block of rows of warpgroup.h.
//
// x: as for warpgroup.h, run after run 128 rows, of which the pairs' are there (`mlxrocm_matmul_operand_places`).
//
// Launch: as warpgroup.h; grid (tiles of one matrix / 8, runs): the blocks of a run, which read the same x, run together.
#pragma once

#include "ops/experts/runs.h"
#include "ops/matmul/warpgroup.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

struct ChosenRows {
    static constexpr bool ROWS_TOGETHER = true;
    const u32 *pairs; // of the run
    DEVICE u32 of_result(const ChosenRows &r, u32, u32 row) { return r.pairs[row]; }
};

template <typename Q>
DEVICE void matmul_experts(Warpgroup p, const ExpertRun *blocks, const u32 *order, u8 *memory) {
    grid_dependency_launch();
    grid_dependency_wait();
    const ExpertRun run = blocks[block_y()];
    if (run.pairs == 0) return;
    const u64 units = (p.cols + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS);
    p.rows = block_y() * X_ROWS + run.pairs;
    p.weights += run.expert * p.tiles * units * Q::UNIT_BYTES;
    p.to.bias += p.to.bias ? (u64)run.expert * p.tiles * 16 : 0;
    matmul_warpgroup<Q>(p, memory, run.pairs, ChosenRows{order + run.first});
}

#define EXPERTS_WARPGROUP_KERNEL(NAME, BITS, SCALES, GROUP)                                                              \
    typedef Quant<BITS, SCALES, GROUP> NAME##_quant;                                                                     \
    KERNEL_WAVES(256, Occupancy<NAME##_quant>::WAVES) void NAME(                                                         \
                          const u8 *weights, const u8 *x, const f32 *scales, const f32 *bias, f32 *out,                  \
                          const ExpertRun *blocks, const u32 *order, f32 back, u32 width, u32 cols, u32 tiles,           \
                          u32 epilogue, f32 limit) {                                                                     \
        DYNAMIC_SHARED(memory);                                                                                          \
        constexpr bool FULL = SCALES == POWER;                                                                           \
        const Warpgroup p = {weights, x, scales, one_output(FULL ? bias : nullptr, nullptr, out, tiles, width, epilogue, \
                             FULL ? limit : 0.0f), back, 0, cols, tiles, {nullptr, nullptr}};                            \
        matmul_experts<NAME##_quant>(p, blocks, order, memory);                                                          \
    }
#else
#define EXPERTS_WARPGROUP_KERNEL(NAME, BITS, SCALES, GROUP)
#endif
