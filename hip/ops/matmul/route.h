// NVIDIA: the router of a few rows from their logits' product on, in one launch:
//
//   logits[r] = W n(x[r]) + bias, as in rows.h; index and weight of them, as in hip/ops/experts/route.h; the pairs of all rows by
//   expert, as in hip/ops/experts/sort_few.h
//
// A block takes some tiles of one row, so that rows' x need not be made into integers by every block. The block that ends last
// routes, a warp a row, and sorts. (A block for all tiles of a row took 9.8 us where the product, a router and a sort took 9.3.)
// `counter`: 0, left 0.
//
// Launch: as rows.h for one row; grid (blocks of a row, rows).
#pragma once

#include "ops/experts/route.h"
#include "ops/experts/sort_few.h"
#include "ops/matmul/rows.h"

#if PLATFORM_NVIDIA
template <typename Q>
DEVICE void matmul_route(const Rows &p, u32 *index, f32 *weight, u32 *counter, u32 experts, u32 chosen, bool normalize,
                         u32 shared, const Sorting &sorting, u8 *memory) {
    const u32 rows = grid_blocks_y();
    Rows of = p;
    of.x += (u64)block_y() * p.width, of.to.out0 += (u64)block_y() * experts;
    matmul_row<Q, Whole>(of, memory, {});
    if (!is_last_block(counter, grid_blocks_x() * rows)) return;
    _Pragma("unroll 1") for (u32 row = thread_x() / WAVE; row < rows; row += TEAMS)
        route_256(p.to.out0 + row * experts, index + row * chosen, weight + row * chosen, experts, chosen, normalize,
                  shared);
    barrier();
    sort_few<TEAMS * TEAM>(index, sorting);
}

#define ROUTE_KERNEL(NAME, BITS, SCALES, GROUP)                                                                \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(const u8 *weights, const f32 *x, const f32 *norm, const f32 *bias, \
                                            f32 *logits, u32 *index, f32 *weight, u32 *order, ExpertRun *runs, \
                                            u32 *counter, f32 eps, u32 cols, u32 tiles, u32 experts,           \
                                            u32 chosen, u32 normalize, u32 shared, u32 most_runs,              \
                                            u32 most_pairs) {                                                  \
        DYNAMIC_SHARED(memory);                                                                                \
        const Rows p = {weights, x, norm, one_output(bias, nullptr, logits, tiles, experts, STORE),            \
                        eps, 1, cols, tiles, cols};                                                            \
        const Sorting sorting = {order, runs, grid_blocks_y() * chosen, experts, most_runs, most_pairs};       \
        matmul_route<Quant<BITS, SCALES, GROUP>>(p, index, weight, counter, experts, chosen, normalize,        \
                                                 shared, sorting, memory);                                     \
    }
#else
#define ROUTE_KERNEL(NAME, BITS, SCALES, GROUP)
#endif
