// The products of rows_pieces.hip on NVIDIA.
//
// A block takes ROWS_EACH rows of W, of which each thread has every THREADSth piece, the first ones on their way before the launch
// in front has ended, and multiplies each with up to R rows of x (r1, r4, r8), which come from the first cache. A row of W times
// a row of x is summed in one order however many rows x has: a thread's pieces, then the lanes, then the warps. Blocks of the
// same rows of W for other rows of x follow each other, and find them in the cache.
//
// Launch: THREADS; grid (rows of W / ROWS_EACH) · (rows of x / R, rounded up).
#pragma once

#include "ops/matmul/rows_pieces.h"

#if PLATFORM_NVIDIA
#define THREADS 256
// Rows of W of a block.
#define ROWS_EACH 4

template <typename T> struct Dense {
    const T *w;
    const f32 *x, *norm;
    f32 eps;
    u32 rows, cols, tiles;
};

template <typename T, u32 R> DEVICE void rows_pieces(const Dense<T> &p, const Outputs &to) {
    // Pieces of each row of W of a thread that are on their way: more would leave registers for one block a multiprocessor, which
    // takes half as long again.
    constexpr u32 AHEAD = R == 1 ? 2 : 1, N = PIECE<T>, WARPS = THREADS / WAVE;
    SHARED f32 parts[WARPS][R * ROWS_EACH], squares_of[WARPS][R];
    const u32 thread = thread_x(), lane = lane_id(), warp = wave_id(), cols = p.cols, steps = divide_up(cols, THREADS * N);
    const auto rows = RowsAtOnce<ROWS_EACH>::of(to.epilogue, p.tiles);
    const u32 sets = divide_up(p.rows, R), i = block_x() / sets * rows.each, first = block_x() % sets * R;
    const T *row[ROWS_EACH];
    UNROLL for (u32 k = 0; k < ROWS_EACH; k++) row[k] = p.w + (u64)rows.row(i, k) * cols;
    u32x4 w[AHEAD][ROWS_EACH];
    auto load = [&](u32 slot, u32 step) {
        const u32 c = (step * THREADS + thread) * N;
        if (c < cols) UNROLL for (u32 k = 0; k < ROWS_EACH; k++) w[slot][k] = load16_stream(row[k] + c);
    };
    // Weights do not wait for what comes before.
    UNROLL for (u32 s = 0; s < AHEAD; s++) load(s, s);
    grid_dependency_launch();
    grid_dependency_wait();
    f32 sums[R * ROWS_EACH] = {}, squares[R] = {};
    for (u32 step = 0; step < steps; step += AHEAD) {
        UNROLL for (u32 s = 0; s < AHEAD; s++) {
            const u32 c = ((step + s) * THREADS + thread) * N;
            if (c >= cols) break;
            f32 norm[N];
            if (p.norm) read_columns<N>(norm, p.norm + c);
            UNROLL for (u32 r = 0; r < R; r++) {
                f32 x[N];
                // Rows that do not exist are the last one.
                read_columns<N>(x, p.x + (u64)minimum(first + r, p.rows - 1) * cols + c);
                if (p.norm) UNROLL for (u32 j = 0; j < N; j++) squares[r] = mul_add(x[j], x[j], squares[r]), x[j] *= norm[j];
                UNROLL for (u32 k = 0; k < ROWS_EACH; k++) UNROLL for (u32 j = 0; j < N; j++)
                    sums[r * ROWS_EACH + k] = mul_add(number_of(w[s][k], j, T()), x[j], sums[r * ROWS_EACH + k]);
            }
            load(s, step + s + AHEAD);
        }
    }
    const f32 sum = sums_by_lane<R * ROWS_EACH>(sums, lane);
    if (lane < R * ROWS_EACH) parts[warp][lane] = sum;
    if (p.norm) {
        const f32 sum = sums_by_lane<R>(squares, lane);
        if (lane < R) squares_of[warp][lane] = sum;
    }
    barrier();
    if (warp > 0) return;
    const u32 number = lane % (R * ROWS_EACH), r = number / ROWS_EACH;
    f32 all = parts[0][number];
    UNROLL for (u32 i = 1; i < WARPS; i++) all += parts[i][number];
    if (p.norm) {
        f32 sum = squares_of[0][r];
        UNROLL for (u32 i = 1; i < WARPS; i++) sum += squares_of[i][r];
        all *= fast_rsqrt(sum / (f32)cols + p.eps);
    }
    rows.store(to, i, number % ROWS_EACH, first + r, all, lane < R * ROWS_EACH && first + r < p.rows);
}

#define PIECES_KERNEL(NAME, T, R)                                                                                       \
    KERNEL_WAVES(THREADS, R == 1 ? 6 : 4) void NAME(const T *weights, const f32 *x, const f32 *norm, const f32 *bias,   \
                                                    const f32 *residual, f32 *out0, f32 *out1, f32 *out2,               \
                                                    u32 end0, u32 end1, u32 width0, u32 width1, u32 width2,             \
                                                    f32 eps, u32 rows, u32 cols, u32 tiles,                             \
                                                    u32 epilogue, u32 end2, u32 width3, f32 *out3) {                    \
        const Outputs to = {bias, residual, out0, out1, out2, end0, end1, width0, width1, width2, epilogue, 0.0f, end2, \
                            width3, out3};                                                                              \
        rows_pieces<T, R>({weights, x, norm, eps, rows, cols, tiles}, to);                                              \
    }
#endif
