// Products of an unquantized matrix W [out, in] (f32, f16 or bf16, row after row as in the file) with
// a few rows x, with the epilogues and arguments of rows.h; all arithmetic in f32.
//
// Launch: 256 threads, any number of blocks: each team of 32 lanes takes every (blocks · 8)-th row; on AMD
// grid z is how many blocks share the columns, as in rows.h (but with the norm's factor). Dynamic shared
// memory: rows · columns f32. Matrices are padded to `tiles` · 16 rows; those of gate and up are interleaved
// 16 by 16, as in rows.h.
#include "common/reduce.h"
#include "ops/matmul/epilogue.h"
#include "ops/matmul/split.h"

DEVICE f32 weight_at(const f32 *w, u64 at) { return w[at]; }
DEVICE f32 weight_at(const f16 *w, u64 at) { return to_f32(w[at]); }
DEVICE f32 weight_at(const bf16 *w, u64 at) { return to_f32(w[at]); }

template <typename T>
DEVICE void matmul_rows_dense(const T *w, const f32 *x, const f32 *norm, Outputs to, f32 eps, u32 rows, u32 cols,
                              u32 tiles, f32 *xs) {
    SHARED f32 scratch[256 / 32];
    grid_dependency_launch();
    grid_dependency_wait();
    // The block's own columns.
    u32 first = 0, own = cols;
    if (PLATFORM_AMD && grid_blocks_z() > 1) {
        first = split_begin(cols), own = split_end(cols) - first;
        to.out0 += (u64)block_z() * rows * to.width0;
    }
    for (u32 r = 0; r < rows; r++) {
        f32 factor = 1.0f;
        if (norm) {
            f32 squares = 0.0f;
            for (u32 c = thread_x(); c < cols; c += 256) squares = mul_add(x[r * cols + c], x[r * cols + c], squares);
            factor = fast_rsqrt(block_sum<256>(squares, scratch) / (f32)cols + eps);
            barrier();
        }
        for (u32 c = thread_x(); c < own; c += 256)
            xs[r * own + c] = norm ? x[r * cols + first + c] * factor * norm[first + c] : x[r * cols + first + c];
    }
    barrier();
    const u32 team = thread_x() / 32, lane = thread_x() % 32, teams = grid_blocks_x() * 8;
    // SILU: row `i` of every even tile is a gate, the same row of the next tile its up.
    const bool silu = to.epilogue == SILU;
    const u32 numbers = silu ? tiles * 8 : tiles * 16;
    for (u32 i = block_x() * 8 + team; i < numbers; i += teams) {
        const u32 row = silu ? i / 16 * 32 + i % 16 : i;
        for (u32 r = 0; r < rows; r++) {
            f32 y[2] = {0.0f, 0.0f};
            for (u32 which = 0; which < (silu ? 2 : 1); which++) {
                f32 sum = 0.0f;
                const u64 at = (u64)(row + which * 16) * cols + first;
                for (u32 c = lane; c < own; c += 32) sum = mul_add(weight_at(w, at + c), xs[r * own + c], sum);
                sum = add_bias(to, row / 16 + which, row % 16, wave_sum<32>(sum));
                if (which == 0) y[0] = sum;
                else y[1] = sum;
            }
            if (lane != 0) continue;
            if (silu) store_silu(to, r, row / 32, row % 16, y[0], y[1]);
            else store_number(to, r, row / 16, row % 16, y[0]);
        }
    }
}

#define DENSE_KERNEL(NAME, T)                                                                                      \
    KERNEL(256) void NAME(const T *weights, const f32 *x, const f32 *norm, const f32 *bias,                        \
                          const f32 *residual, f32 *out0, f32 *out1, f32 *out2, u32 end0,                          \
                          u32 end1, u32 width0, u32 width1, u32 width2,                                            \
                          f32 eps, u32 rows, u32 cols, u32 tiles, u32 epilogue, u32 end2, u32 width3, f32 *out3) { \
        DYNAMIC_SHARED(memory);                                                                                    \
        const Outputs to = {bias, residual, out0, out1, out2, end0, end1,                                          \
                            width0, width1, width2, epilogue, 0.0f, end2, width3, out3};                           \
        matmul_rows_dense(weights, x, norm, to, eps, rows, cols, tiles, (f32 *)memory);                            \
    }
DENSE_KERNEL(mlxrocm_matmul_rows_f32, f32)
DENSE_KERNEL(mlxrocm_matmul_rows_f16, f16)
DENSE_KERNEL(mlxrocm_matmul_rows_bf16, bf16)
