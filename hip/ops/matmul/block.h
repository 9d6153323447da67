// Products of a matrix W [out, in] with many rows x, as prompts need them, by the matrix unit:
//
//   y[r][o] = Σ_c W[o][c] · x[r][c] + bias[o], then an epilogue (epilogue.h)
//
// x: what operand.hip makes, f16 [rows][stride] and a scale a row. Weights are decoded to f16, times a
// power of two (1 / `back`) that brings the matrix's largest to [4096, 8192); sums are f32.
//
// Launch: 256 threads; grid (rows / BLOCK_ROWS, tiles / BLOCK_TILES, splits (split.h)), rounded up, so that
// blocks that share weights run together. A block makes BLOCK_ROWS rows (fewer where there are no more) of
// 16 · BLOCK_TILES columns of y: block_shared.h, block_registers.h.
#pragma once

#include "common/tile.h"
#include "ops/matmul/epilogue.h"
#include "ops/matmul/split.h"
#include "ops/matmul/weight.h"

#if WEIGHTS_IN_REGISTERS
#define BLOCK_TILES 16
#else
#define BLOCK_TILES 8
#endif
#define BLOCK_ROWS 128
// Two blocks a compute unit of CDNA, so that one multiplies while the other waits.
#if AMD_CDNA2
#define BLOCK_KERNEL_WAVES KERNEL_WAVES(256, 2)
#else
#define BLOCK_KERNEL_WAVES KERNEL(256)
#endif

struct Block {
    const u8 *weights;
    const u16 *x;      // [rows][stride]
    const f32 *scales; // [rows]
    Outputs to;
    f32 back;
    u32 rows, cols, tiles;
    Split split;
};

// The rows of x and of the results: those of the block, one after the other.
struct OwnRows {
    static constexpr bool CHOSEN = false;
    DEVICE u32 of_x(const OwnRows &, u32 row) { return row; }
    DEVICE u32 of_result(const OwnRows &, u32 row) { return row; }
};

// What a platform has: TileOf<Quant>, DenseTile<T>, matmul_block<tile>(p, rows, rows_of).
#if WEIGHTS_IN_REGISTERS
#include "ops/matmul/block_registers.h"
#else
#include "ops/matmul/block_shared.h"
#endif

template <typename W> DEVICE void matmul_block(const Block &p) {
    grid_dependency_launch();
    grid_dependency_wait();
    matmul_block<W>(p, p.rows - block_x() * BLOCK_ROWS, OwnRows{});
}

#define BLOCK_KERNEL(NAME, W) BLOCK_KERNEL_OF(BLOCK_KERNEL_WAVES, NAME, W)
#define BLOCK_KERNEL_OF(START, NAME, W)                                                                                    \
    START void NAME(const u8 *weights, const u16 *x, const f32 *scales, const f32 *bias,                                   \
                          const f32 *residual, f32 *out0, f32 *out1, f32 *out2, u32 end0,                                  \
                          u32 end1, u32 width0, u32 width1, u32 width2,                                                    \
                          f32 back, u32 rows, u32 cols, u32 tiles, u32 epilogue, f32 *parts,                               \
                          u32 *counters, u32 end2, u32 width3, f32 *out3) {                                                \
        const Block p = {weights, x, scales, {bias, residual, out0, out1, out2, end0, end1, width0,                        \
                         width1, width2, epilogue, 0.0f, end2, width3, out3}, back, rows, cols, tiles, {parts, counters}}; \
        matmul_block<W>(p);                                                                                                \
    }
#define QUANT_KERNEL(NAME, BITS, SCALES, GROUP) \
    typedef TileOf<Quant<BITS, SCALES, GROUP>> NAME##_tile; \
    BLOCK_KERNEL(NAME, NAME##_tile)
