// Products of rows with the unquantized matrices of a stack [experts][out, in] (f32, f16 or bf16, row after row as in the file)
// that `index` names for them, the formula of experts.h:
//
//   y[i][o] = Σ_k w[i][k] · (Σ_c W[index[i][k]][o][c] · n(x[i / share])[k · cols + c] + bias[index[i][k]][o]),
//             k < segments
//
// then an epilogue, of row i of `residual` and `out`; all arithmetic in f32. Without `weights` w = 1; n as in rows.h, with
// one segment only. Any number of columns and of items, so it also takes prompts where the matrix unit's kernel
// (experts_block_dense.hip), which reads rows 16 bytes at a time, cannot.
//
// Launch: 256 threads; grid (items, any number of blocks). Of matrices whose rows are whole pieces of 16 bytes a wave takes
// AT_ONCE rows, and then those that its block's number and its own lead to; of others each team of 32 lanes takes every
// (blocks · 8)-th row. Matrices are whole tiles of 16 rows; those of gate and up are interleaved 16 by 16, as in rows.h.
#include "ops/matmul/rows_pieces.h"

// Rows of a wave, and pieces of each of a lane that are on their way.
#define AT_ONCE 4
#define STEPS 2

DEVICE f32 weight_at(const f32 *w, u64 at) { return w[at]; }
DEVICE f32 weight_at(const f16 *w, u64 at) { return to_f32(w[at]); }
DEVICE f32 weight_at(const bf16 *w, u64 at) { return to_f32(w[at]); }

struct Items {
    const f32 *x, *norm;
    const u32 *index;   // [items][segments]
    const f32 *weights; // the same, or null
    u32 cols, tiles, experts, segments, share;
    f32 eps;
};

template <typename T> DEVICE void experts_pieces(const T *w, const Items &p, const Outputs &to, f32 factor) {
    constexpr u32 N = PIECE<T>, WAVES = 256 / WAVE;
    const u32 lane = lane_id(), own = lane % AT_ONCE;
    const auto rows = RowsAtOnce<AT_ONCE>::of(to.epilogue, p.tiles);
    // Biases are of the choices.
    Outputs plain = to;
    plain.bias = nullptr;
    for (u32 i = (block_y() * WAVES + wave_id()) * rows.each; i < rows.numbers; i += grid_blocks_y() * WAVES * rows.each) {
        f32 sums[AT_ONCE] = {}, bias = 0.0f;
        for (u32 k = 0; k < p.segments; k++) {
            const u64 of_stack = (u64)minimum(p.index[k], p.experts - 1) * p.tiles * 16;
            const f32 weight = p.weights ? p.weights[k] : 1.0f, *x = p.x + (u64)k * p.cols;
            const T *row[AT_ONCE];
            UNROLL for (u32 r = 0; r < AT_ONCE; r++) row[r] = w + (of_stack + rows.row(i, r)) * p.cols;
            f32 parts[AT_ONCE] = {};
            for (u32 begin = lane * N; begin < p.cols; begin += STEPS * WAVE * N) {
                u32x4 pieces[STEPS][AT_ONCE];
                f32 v[STEPS][N];
                UNROLL for (u32 s = 0; s < STEPS; s++) {
                    // Past the end the last ones, which do not count.
                    const u32 c = minimum(begin + s * WAVE * N, p.cols - N);
                    UNROLL for (u32 r = 0; r < AT_ONCE; r++) pieces[s][r] = load16_stream(row[r] + c);
                    read_columns<N>(v[s], x + c);
                    if (!p.norm) continue;
                    f32 norm[N];
                    read_columns<N>(norm, p.norm + c);
                    UNROLL for (u32 j = 0; j < N; j++) v[s][j] *= norm[j];
                }
                UNROLL for (u32 s = 0; s < STEPS; s++) {
                    if (begin + s * WAVE * N >= p.cols) break;
                    UNROLL for (u32 r = 0; r < AT_ONCE; r++) UNROLL for (u32 j = 0; j < N; j++)
                        parts[r] = mul_add(number_of(pieces[s][r], j, T()), v[s][j], parts[r]);
                }
            }
            UNROLL for (u32 r = 0; r < AT_ONCE; r++) sums[r] = mul_add(weight, parts[r], sums[r]);
            if (to.bias) bias = mul_add(weight, to.bias[of_stack + rows.row(i, own)], bias);
        }
        rows.store(plain, i, own, 0, mul_add(sums_by_lane<AT_ONCE>(sums, lane), factor, bias), lane < AT_ONCE);
    }
}

template <typename T> DEVICE void matmul_experts_dense(const T *w, Items p, Outputs to) {
    SHARED f32 scratch[256 / WAVE];
    // Down behind it may read, before it waits, what was there before this kernel.
    grid_dependency_wait();
    grid_dependency_launch();
    const u32 item = block_x(), thread = thread_x(), team = thread / 32, lane = thread % 32, teams = grid_blocks_y() * 8;
    p.x += (u64)(item / p.share) * p.segments * p.cols;
    p.index += (u64)item * p.segments, p.weights += p.weights ? (u64)item * p.segments : 0;
    to.out0 += (u64)item * to.width0, to.residual += to.residual ? (u64)item * to.width0 : 0;
    f32 factor = 1.0f;
    if (p.norm) {
        f32 squares = 0.0f;
        for (u32 c = thread; c < p.cols; c += 256) squares = mul_add(p.x[c], p.x[c], squares);
        factor = fast_rsqrt(block_sum<256>(squares, scratch) / (f32)p.cols + p.eps);
    }
    if (p.cols % PIECE<T> == 0) {
        experts_pieces(w, p, to, factor);
        return;
    }
    // SILU: row `i` of every even tile is a gate, the same row of the next tile its up.
    const bool silu = to.epilogue == SILU;
    const u32 numbers = silu ? p.tiles * 8 : p.tiles * 16;
    for (u32 i = block_y() * 8 + team; i < numbers; i += teams) {
        const u32 row = silu ? i / 16 * 32 + i % 16 : i;
        f32 y[2] = {0.0f, 0.0f};
        for (u32 which = 0; which < (silu ? 2 : 1); which++) {
            f32 sum = 0.0f, bias = 0.0f;
            for (u32 k = 0; k < p.segments; k++) {
                const u64 expert = minimum(p.index[k], p.experts - 1), of_stack = expert * p.tiles * 16 + row + which * 16;
                const f32 weight = p.weights ? p.weights[k] : 1.0f, *x = p.x + (u64)k * p.cols;
                f32 part = 0.0f;
                for (u32 c = lane; c < p.cols; c += 32)
                    part = mul_add(weight_at(w, of_stack * p.cols + c), p.norm ? x[c] * p.norm[c] : x[c], part);
                sum = mul_add(weight, part, sum);
                if (to.bias) bias = mul_add(weight, to.bias[of_stack], bias);
            }
            sum = mul_add(wave_sum<32>(sum), factor, bias);
            if (which == 0) y[0] = sum;
            else y[1] = sum;
        }
        if (lane != 0) continue;
        if (silu) store_silu(to, 0, row / 32, row % 16, y[0], y[1]);
        else store_number(to, 0, row / 16, row % 16, y[0]);
    }
}

#define EXPERTS_DENSE_KERNEL(NAME, T)                                                                       \
    KERNEL(256) void NAME(const T *weights, const f32 *x, const f32 *norm, const f32 *bias,                 \
                          const f32 *residual, f32 *out, const u32 *index, const f32 *expert_weights,       \
                          u32 width, f32 eps, u32 cols, u32 tiles, u32 epilogue, u32 experts, u32 segments, \
                          u32 share, f32 limit) {                                                           \
        const Outputs to = one_output(bias, residual, out, tiles, width, epilogue, limit);                  \
        const Items items = {x, norm, index, expert_weights, cols, tiles, experts, segments, share, eps};   \
        matmul_experts_dense(weights, items, to);                                                           \
    }
EXPERTS_DENSE_KERNEL(mlxrocm_matmul_experts_f32, f32)
EXPERTS_DENSE_KERNEL(mlxrocm_matmul_experts_f16, f16)
EXPERTS_DENSE_KERNEL(mlxrocm_matmul_experts_bf16, bf16)
