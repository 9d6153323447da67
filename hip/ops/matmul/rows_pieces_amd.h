// The products of rows_pieces.hip on AMD.
//
// A wave takes some rows of W at once, lane by lane 16 bytes of each, the next ones on their way meanwhile; of several rows
// of x each byte of W is read once. A row of W times a row of x is summed in one order however many rows x has, and whatever
// else a wave does: lane by lane over the steps of the columns, then over the lanes. Steps begin at another place for
// each START_ROWS rows of W, since rows of W that are a power of two apart lie in the same channels of memory.
//
// One row (r1): each wave reads x itself, from the caches. Up to R rows (r4, r8): the block's waves put CHUNK columns of x,
// times the norm, into shared memory, twice: the next while they are multiplied. Rows that do not exist are the last one.
//
// Launch: 256 threads, any number of blocks, each of which takes every so-manieth group of its waves' rows. Dynamic shared
// memory: none (r1), 2 · R · CHUNK f32.
#pragma once

#include "ops/matmul/rows_pieces.h"

#if PLATFORM_AMD
#define DENSE_WAVES (256 / WAVE)
// Columns of x in shared memory at once.
#define CHUNK 512
// Rows of W that begin with the same columns: those of whole blocks.
#define START_ROWS 32

// Columns that a wave takes at once.
template <typename T> constexpr u32 STEP = WAVE * PIECE<T>;
// Rows of W of a wave: MI200 has registers for more, and then loads less from shared memory for each.
template <u32 R> constexpr u32 WAVE_ROWS = 4;
#if defined(__gfx90a__)
template <> constexpr u32 WAVE_ROWS<8> = 8;
#endif

// Two rows' sums: CDNA adds to both at once.
typedef f32 f32_pair __attribute__((ext_vector_type(2)));
DEVICE f32_pair mul_add(f32_pair a, f32 b, f32_pair c) {
#if __has_builtin(__builtin_elementwise_fma)
    return __builtin_elementwise_fma(a, f32_pair{b, b}, c);
#else // clang 15 (ROCm 5.2)
    return f32_pair{mul_add(a.x, b, c.x), mul_add(a.y, b, c.y)};
#endif
}

template <typename T> struct Dense {
    const T *w;
    const f32 *x, *norm;
    f32 eps;
    u32 rows, cols, tiles, epilogue;
};

// The kernels' arguments as they lie in memory.
struct Arguments {
    const void *weights;
    const f32 *x, *norm, *bias, *residual;
    f32 *out0, *out1, *out2;
    u32 end0, end1, width0, width1, width2;
    f32 eps;
    u32 rows, cols, tiles, epilogue;
    u32 end2, width3;
    f32 *out3;
};
// Where results go, read when there are some: a fifth of the scalar registers.
DEVICE Outputs read_outputs() {
    auto *a = (const __attribute__((address_space(4))) Arguments *)__builtin_amdgcn_kernarg_segment_ptr();
    asm volatile("" : "+s"(a));
    return {a->bias, a->residual, a->out0, a->out1, a->out2, a->end0, a->end1, a->width0, a->width1, a->width2, a->epilogue};
}

// A piece of a row of W; past its end, the last one.
template <typename T> DEVICE u32x4 read_weights(const T *row, u32 c, u32 cols) {
    return load16_stream(row + minimum(c, cols - PIECE<T>));
}
// The columns of x that belong to it.
template <u32 N> DEVICE void read_columns(f32 *to, const f32 *x, u32 c, u32 cols) {
    read_columns<N>(to, x + minimum(c, cols - N));
}
// Lets nothing of it count where the columns from `c` on do not exist.
template <u32 COUNT> DEVICE void clear_past(u32x4 *w, u32 c, u32 cols) {
    if (c >= cols) UNROLL for (u32 k = 0; k < COUNT; k++) w[k] = {};
}

template <typename T, bool NORM> DEVICE void dense_one(const Dense<T> &p) {
    constexpr u32 COUNT = WAVE_ROWS<1>, N = PIECE<T>, AHEAD = 2;
    const u32 lane = lane_id(), cols = p.cols, steps = divide_up(cols, STEP<T>);
    const auto rows = RowsAtOnce<COUNT>::of(p.epilogue, p.tiles);
    for (u32 i = (block_x() * DENSE_WAVES + wave_id()) * rows.each; i < rows.numbers; i += grid_blocks_x() * DENSE_WAVES * rows.each) {
        const T *row[COUNT];
        UNROLL for (u32 k = 0; k < COUNT; k++) row[k] = p.w + (u64)rows.row(i, k) * cols;
        const u32 start = i / START_ROWS % divide_up(cols, CHUNK) * (CHUNK / STEP<T>);
        // Where the `step`th to take is: past the end behind the last one, so that little is read twice.
        auto column = [&](u32 step) {
            const u32 at = start + step - (start + step >= steps ? steps : 0);
            return (step < steps ? at * STEP<T> : cols) + lane * N;
        };
        u32x4 w[AHEAD][COUNT];
        f32 x[AHEAD][N], norm[AHEAD][N];
        auto load = [&](u32 slot, u32 step) {
            const u32 c = column(step);
            read_columns<N>(x[slot], p.x, c, cols);
            if constexpr (NORM) read_columns<N>(norm[slot], p.norm, c, cols);
            UNROLL for (u32 k = 0; k < COUNT; k++) w[slot][k] = read_weights(row[k], c, cols);
        };
        f32_pair sums[COUNT / 2] = {};
        f32 squares = 0.0f;
        UNROLL for (u32 s = 0; s < AHEAD; s++) load(s, s);
        for (u32 step = 0; step < steps; step += AHEAD) {
            UNROLL for (u32 s = 0; s < AHEAD; s++) {
                if (step + s >= steps) break;
                const u32 c = column(step + s);
                clear_past<COUNT>(w[s], c, cols);
                UNROLL for (u32 j = 0; j < N; j++) {
                    f32 v = c < cols ? x[s][j] : 0.0f;
                    if constexpr (NORM) squares = mul_add(v, v, squares), v *= norm[s][j];
                    UNROLL for (u32 k = 0; k < COUNT; k += 2) {
                        const f32_pair pair = {number_of(w[s][k], j, T()), number_of(w[s][k + 1], j, T())};
                        sums[k / 2] = mul_add(pair, v, sums[k / 2]);
                    }
                }
                asm volatile("" ::: "memory");
                load(s, step + AHEAD + s);
                asm volatile("" ::: "memory");
            }
        }
        f32 v[COUNT];
        UNROLL for (u32 k = 0; k < COUNT; k++) v[k] = sums[k / 2][k % 2];
        f32 sum = sums_by_lane<COUNT>(v, lane);
        if constexpr (NORM) sum *= fast_rsqrt(wave_sum(squares) / (f32)cols + p.eps);
        rows.store(read_outputs(), i, lane % COUNT, 0, sum, lane < COUNT);
    }
}

template <typename T, u32 R, bool NORM> DEVICE void dense_many(const Dense<T> &p, f32 *memory) {
    constexpr u32 COUNT = WAVE_ROWS<R>, N = PIECE<T>, STEPS = CHUNK / STEP<T>, AHEAD = COUNT > 4 ? 1 : 2;
    // Rows of x that a wave makes ready, the same lanes the same columns as in dense_one.
    constexpr u32 OWN = R / DENSE_WAVES > 0 ? R / DENSE_WAVES : 1;
    // Chunks until the same registers have the same steps.
    constexpr u32 ROUND = STEPS % AHEAD == 0 ? 1 : AHEAD;
    const u32 lane = lane_id(), wave = wave_id(), cols = p.cols, chunks = divide_up(cols, CHUNK);
    const auto rows = RowsAtOnce<COUNT>::of(p.epilogue, p.tiles);
    const u32 of_block = DENSE_WAVES * rows.each;
    for (u32 first = block_x() * of_block; first < rows.numbers; first += grid_blocks_x() * of_block) {
        const u32 i = minimum(first + wave * rows.each, rows.numbers - rows.each);
        const bool is_mine = first + wave * rows.each < rows.numbers;
        const T *row[COUNT];
        UNROLL for (u32 k = 0; k < COUNT; k++) row[k] = p.w + (u64)rows.row(i, k) * cols;
        const u32 start = first / START_ROWS % chunks;
        // The first column of the `turn`th chunk; past the end behind the last one, so that little is read twice.
        auto chunk_at = [&](u32 turn) {
            const u32 at = start + turn - (start + turn >= chunks ? chunks : 0);
            return turn < chunks ? at * CHUNK : cols;
        };
        u32x4 w[AHEAD][COUNT];
        auto load = [&](u32 slot, u32 turn, u32 step) {
            const u32 c = chunk_at(turn + step / STEPS) + step % STEPS * STEP<T> + lane * N;
            UNROLL for (u32 k = 0; k < COUNT; k++) w[slot][k] = read_weights(row[k], c, cols);
        };
        const f32 *of_x[OWN];
        UNROLL for (u32 o = 0; o < OWN; o++) of_x[o] = p.x + (u64)minimum(wave + o * DENSE_WAVES, p.rows - 1) * cols;
        f32 x[OWN][STEPS][N], norm[STEPS][N], squares[OWN] = {};
        auto load_x = [&](u32 turn) {
            UNROLL for (u32 s = 0; s < STEPS; s++) {
                const u32 c = chunk_at(turn) + s * STEP<T> + lane * N;
                if constexpr (NORM) read_columns<N>(norm[s], p.norm, c, cols);
                UNROLL for (u32 o = 0; o < OWN; o++) read_columns<N>(x[o][s], of_x[o], c, cols);
            }
        };
        // In quads of columns, the lanes' side by side.
        auto store_x = [&](u32 turn) {
            UNROLL for (u32 o = 0; o < OWN; o++) UNROLL for (u32 s = 0; s < STEPS; s++) {
                const u32 r = wave + o * DENSE_WAVES, c = chunk_at(turn) + s * STEP<T> + lane * N;
                f32 v[N];
                UNROLL for (u32 j = 0; j < N; j++) {
                    v[j] = c < cols ? x[o][s][j] : 0.0f;
                    if constexpr (NORM) squares[o] = mul_add(v[j], v[j], squares[o]), v[j] *= norm[s][j];
                }
                if (r >= R) continue;
                f32 *to = memory + (turn % 2 * R + r) * CHUNK + s * STEP<T> + lane * 4;
                UNROLL for (u32 j = 0; j < N; j += 4) store_f32x4(to + j * WAVE, f32x4{v[j], v[j + 1], v[j + 2], v[j + 3]});
            }
        };
        f32_pair sums[R][COUNT / 2] = {};
        auto take = [&](const u32x4 *w, const f32 *x) {
            UNROLL for (u32 j = 0; j < N; j += 4) {
                f32_pair pairs[4][COUNT / 2];
                UNROLL for (u32 l = 0; l < 4; l++) UNROLL for (u32 k = 0; k < COUNT; k += 2)
                    pairs[l][k / 2] = f32_pair{number_of(w[k], j + l, T()), number_of(w[k + 1], j + l, T())};
                UNROLL for (u32 r = 0; r < R; r++) {
                    const f32x4 v = load_f32x4(x + r * CHUNK + j * WAVE);
                    const f32 of_x[4] = {v.x, v.y, v.z, v.w};
                    UNROLL for (u32 l = 0; l < 4; l++) UNROLL for (u32 k = 0; k < COUNT / 2; k++)
                        sums[r][k] = mul_add(pairs[l][k], of_x[l], sums[r][k]);
                    // Else all of x takes registers at once.
                    if (r % 2) asm volatile("" ::: "memory");
                }
            }
        };
        load_x(0);
        asm volatile("" ::: "memory");
        UNROLL for (u32 s = 0; s < AHEAD; s++) load(s, 0, s);
        asm volatile("" ::: "memory");
        store_x(0);
        load_x(1);
        barrier_shared();
        for (u32 base = 0; base < chunks; base += ROUND) {
            UNROLL for (u32 t = 0; t < ROUND; t++) {
                const u32 turn = base + t;
                if (turn >= chunks) break;
                if (turn + 1 < chunks) store_x(turn + 1);
                load_x(turn + 2);
                asm volatile("" ::: "memory");
                UNROLL for (u32 s = 0; s < STEPS; s++) {
                    const u32 slot = (t * STEPS + s) % AHEAD, c = chunk_at(turn) + s * STEP<T>;
                    if (c < cols) {
                        clear_past<COUNT>(w[slot], c + lane * N, cols);
                        take(w[slot], memory + turn % 2 * R * CHUNK + s * STEP<T> + lane * 4);
                    }
                    asm volatile("" ::: "memory");
                    load(slot, turn, s + AHEAD);
                    asm volatile("" ::: "memory");
                }
                barrier_shared();
            }
        }
        if constexpr (NORM) {
            UNROLL for (u32 o = 0; o < OWN; o++) {
                const f32 sum = wave_sum(squares[o]);
                if (lane == 0 && wave + o * DENSE_WAVES < R) memory[wave + o * DENSE_WAVES] = fast_rsqrt(sum / (f32)cols + p.eps);
            }
            barrier_shared();
        }
        const Outputs to = read_outputs();
        // Of 32 numbers at a time a lane has one. What follows from its number is not worth registers before.
        u32 own = lane;
        asm volatile("" : "+v"(own));
        UNROLL for (u32 part = 0; part < R * COUNT; part += 32) {
            constexpr u32 NUMBERS = R * COUNT < 32 ? R * COUNT : 32;
            f32 v[NUMBERS];
            UNROLL for (u32 n = 0; n < NUMBERS; n++) v[n] = sums[(part + n) / COUNT][(part + n) % COUNT / 2][n % 2];
            f32 sum = sums_by_lane<NUMBERS>(v, own);
            const u32 r = part / COUNT + own % NUMBERS / COUNT;
            if constexpr (NORM) sum *= memory[r];
            rows.store(to, i, own % COUNT, r, sum, own < NUMBERS && r < p.rows && is_mine);
        }
        if constexpr (NORM) barrier_shared();
    }
}

#define PIECES_KERNEL(NAME, T, R)                                                                                  \
    KERNEL(256) void NAME(const T *weights, const f32 *x, const f32 *norm, const f32 *bias,                        \
                          const f32 *residual, f32 *out0, f32 *out1, f32 *out2, u32 end0,                          \
                          u32 end1, u32 width0, u32 width1, u32 width2,                                            \
                          f32 eps, u32 rows, u32 cols, u32 tiles, u32 epilogue, u32 end2, u32 width3, f32 *out3) { \
        DYNAMIC_SHARED(memory);                                                                                    \
        const Dense<T> p = {weights, x, norm, eps, rows, cols, tiles, epilogue};                                   \
        (void)memory, (void)bias, (void)residual, (void)out0, (void)out1, (void)out2, (void)out3;                  \
        (void)end0, (void)end1, (void)end2, (void)width0, (void)width1, (void)width2, (void)width3;                \
        if constexpr (R == 1) p.norm ? dense_one<T, true>(p) : dense_one<T, false>(p);                             \
        else p.norm ? dense_many<T, R, true>(p, (f32 *)memory) : dense_many<T, R, false>(p, (f32 *)memory);        \
    }
#endif
