// What is left to do of products of few rows whose columns were shared by several blocks (rows.h): the parts are
// added, in order, and the norm's factor and the epilogue follow.
//
// parts: [splits][rows][tiles · 16]; x, norm: as in rows.h; norm is null where there is none or parts have its
// factor already.
//
// Launch: FINISH_THREADS threads, a number each; grid (numbers of a row of parts / FINISH_THREADS, rows).
#include "common/reduce.h"
#include "ops/matmul/epilogue.h"

#define FINISH_THREADS 256
KERNEL(FINISH_THREADS)
void mlxrocm_matmul_rows_finish(const f32 *parts, const f32 *x, const f32 *norm, const f32 *bias, const f32 *residual,
                                f32 *out0, f32 *out1, f32 *out2, u32 end0, u32 end1, u32 width0,
                                u32 width1, u32 width2, f32 eps, u32 cols, u32 tiles, u32 splits, u32 epilogue, u32 end2,
                                u32 width3, f32 *out3) {
    SHARED f32 scratch[FINISH_THREADS / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const Outputs to = {bias, residual, out0, out1, out2, end0, end1, width0, width1, width2, epilogue, 0.0f, end2, width3, out3};
    const u32 r = block_y(), rows = grid_blocks_y();
    f32 factor = 1.0f;
    if (norm) {
        f32 squares = 0.0f;
        for (u32 c = thread_x(); c < cols; c += FINISH_THREADS) {
            const f32 v = x[(u64)r * cols + c];
            squares = mul_add(v, v, squares);
        }
        factor = fast_rsqrt(block_sum<FINISH_THREADS>(squares, scratch) / (f32)cols + eps);
    }
    const u32 i = block_x() * FINISH_THREADS + thread_x(), tile = i / 16;
    // SILU: a gate's number finds its up's in the next tile.
    if (tile >= tiles || (epilogue == SILU && tile % 2)) return;
    auto sum = [&](u32 of) {
        f32 v = 0.0f;
        for (u32 z = 0; z < splits; z++) v += parts[((u64)(z * rows + r) * tiles + of) * 16 + i % 16];
        return add_bias(to, of, i % 16, v * factor);
    };
    const f32 v = sum(tile);
    if (epilogue == SILU) store_silu(to, r, tile / 2, i % 16, v, sum(tile + 1));
    else store_number(to, r, tile, i % 16, v);
}
