// Products of a quantized matrix W [out, in] with a few rows x, as decoding needs them:
//
//   y[r][o] = Σ_c W[o][c] · n(x[r])[c] + bias[o],  n(x) = x or x · rsqrt(mean x² + eps) · norm
//
// then an epilogue (epilogue.h).
//
// x and y are f32; W as in quant.h. x is rounded to f16 (after the norm, or scaled by a power of two
// so that its largest element lies in [4096, 8192)); sums are f32, group by group:
// scale · Σ q·x + bias · Σ x. Every row's sums are made in an order of its own: results do not depend
// on how many rows there are.
//
// Launch: TEAMS · 32 threads, any number of blocks: block b takes the tiles [b, b+1) · tiles / blocks
// (in pairs for silu), its teams a part each of the columns. Dynamic shared memory: `rows_shared_bytes`
// of src/gpu/model/matmul.rs has the same sum.
//
// AMD: codes go from memory to registers, one unit ahead; two multiply-adds an instruction (dot2).
// NVIDIA: each warp has a ring of stages in shared memory that the copy engine fills, also before the
// kernel before this one has ended; products by the matrix unit, whose 8 columns are the rows of x.
// Tried there: one row a warp and two rows a warp with plain loads (1.7 TB/s of 4.5), two arrays for
// codes and scales (more copies), stages of two units (2.4 TB/s), registers for two blocks a
// multiprocessor (64: slower, and the overlap it allows gained nothing).
#pragma once

#include "common/matrix_nvidia.h"
#include "common/quant.h"
#include "ops/matmul/epilogue.h"

#if PLATFORM_NVIDIA
#define TEAMS 16
// Bytes of a stage of a team's ring, and how many.
#define STAGE_BYTES 2560
#define STAGES 2
#define MANY_ROWS 8
#else
#define TEAMS 8
#define STAGE_BYTES 0
#define STAGES 0
#define MANY_ROWS 4
#endif

struct Rows {
    const u8 *weights; // units of 16 bytes
    const f32 *x;      // [rows][x_stride]
    const f32 *norm;   // [cols] or null
    Outputs to;
    f32 eps;
    u32 rows, cols, tiles;
};

// Sums of x over what a lane multiplies with one scale: 8 columns on AMD, a group on NVIDIA.
template <typename Q> DEVICE constexpr u32 sum_cols() { return PLATFORM_NVIDIA ? Q::GROUP : 8; }

// Shared memory after the ring. `R`: most rows.
template <typename Q, int R> struct Shared {
    static constexpr int BATCH = R == 1 ? 4 : 2; // tiles between two barriers
    f32 *partial;                                // [2][BATCH][16][R][TEAMS]
    f32 *result;                                 // [BATCH][16][R]
    f32 *scratch;                                // [TEAMS]
    f32 *scale;                                  // [R] what results are multiplied with
    f32 *sums;                                   // [rows][padded / sum_cols]
    f16x2 *x;                                    // [rows][x_stride / 2]
    u32 padded, sum_stride, x_stride;            // columns; x_stride keeps 8 rows in different banks
};

template <typename Q, int R> DEVICE Shared<Q, R> shared_memory(u8 *base, u32 cols, u32 rows) {
    Shared<Q, R> s;
    s.padded = (cols + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS) * (Q::UNIT * BLOCK_COLS);
    s.sum_stride = s.padded / sum_cols<Q>();
    s.x_stride = s.padded + 32;
    s.partial = (f32 *)base;
    s.result = s.partial + 2 * s.BATCH * TILE_ROWS * R * TEAMS;
    s.scratch = s.result + s.BATCH * TILE_ROWS * R;
    s.scale = s.scratch + TEAMS;
    s.x = (f16x2 *)(s.scale + 8);
    s.sums = (f32 *)(s.x + rows * s.x_stride / 2);
    return s;
}

// Reads, norms and rounds the rows of x; fills s.x, s.sums, s.scale.
template <typename Q, int R> DEVICE void prepare_x(const Rows &p, const Shared<Q, R> &s) {
    constexpr u32 THREADS = TEAMS * TEAM, CHUNKS = 4;
    const u32 thread = thread_x(), team = thread / TEAM, lane = thread % TEAM;
    for (u32 r = 0; r < (R == 1 ? 1 : p.rows); r++) {
        const f32 *x = p.x + (u64)r * p.cols;
        // Rows of up to THREADS · 8 · CHUNKS columns are kept in registers between the passes.
        f32 kept[CHUNKS][8];
        f32 q = 0.0f;
        for (u32 base = 0; base < s.padded; base += THREADS * 8 * CHUNKS) {
            UNROLL for (u32 i = 0; i < CHUNKS; i++) {
                const u32 c = base + (i * THREADS + thread) * 8;
                if (c < p.cols) {
                    const f32x4 a = *(const f32x4 *)(x + c), b = *(const f32x4 *)(x + c + 4);
                    kept[i][0] = a.x, kept[i][1] = a.y, kept[i][2] = a.z, kept[i][3] = a.w;
                    kept[i][4] = b.x, kept[i][5] = b.y, kept[i][6] = b.z, kept[i][7] = b.w;
                } else {
                    UNROLL for (u32 j = 0; j < 8; j++) kept[i][j] = 0.0f;
                }
                if (p.norm) {
                    UNROLL for (u32 j = 0; j < 8; j++) q = mul_add(kept[i][j], kept[i][j], q);
                } else {
                    UNROLL for (u32 j = 0; j < 8; j++) q = maximum(q, absolute(kept[i][j]));
                }
            }
        }
        UNROLL for (u32 half = 0; half < 2; half++) {
            // The lanes of a team, then the teams.
            if (half == 1) q = s.scratch[lane % TEAMS];
            const bool sum = p.norm != nullptr;
            f32 other;
            if (half == 0) {
                other = shuffle_xor<16>(q), q = sum ? q + other : maximum(q, other);
            }
            if (half == 0 || TEAMS == 16) {
                other = shuffle_xor<8>(q), q = sum ? q + other : maximum(q, other);
            }
            other = shuffle_xor<4>(q), q = sum ? q + other : maximum(q, other);
            other = shuffle_xor<2>(q), q = sum ? q + other : maximum(q, other);
            other = shuffle_xor<1>(q), q = sum ? q + other : maximum(q, other);
            if (half == 0) {
                if (lane == 0) s.scratch[team] = q;
                barrier();
            }
        }
        f32 factor, back = 1.0f;
        if (p.norm) {
            factor = fast_rsqrt(q / (f32)p.cols + p.eps);
        } else {
            // A power of two; rows of zeros and of NaN stay what they are.
            i32 exponent = (i32)(f32_bits(q) >> 23 & 255) - 127 - 12;
            exponent = exponent < -100 ? 0 : exponent;
            factor = bits_f32((u32)(127 - exponent) << 23), back = bits_f32((u32)(127 + exponent) << 23);
        }
        if (thread == 0) s.scale[r] = back;
        for (u32 base = 0; base < s.padded; base += THREADS * 8 * CHUNKS) {
            UNROLL for (u32 i = 0; i < CHUNKS; i++) {
                const u32 c = base + (i * THREADS + thread) * 8;
                // Whole waves go on: four lanes make a sum together.
                if (c - lane_id() * 8 >= s.padded) continue;
                f32 v[8], sum = 0.0f;
                const bool inside = c < p.cols;
                UNROLL for (u32 j = 0; j < 8; j++) v[j] = kept[i][j];
                if (s.padded > THREADS * 8 * CHUNKS) {
                    UNROLL for (u32 j = 0; j < 8; j++) v[j] = inside ? x[c + j] : 0.0f;
                }
                u32 words[4];
                UNROLL for (u32 j = 0; j < 4; j++) {
                    f32 even = v[2 * j] * factor, odd = v[2 * j + 1] * factor;
                    if (p.norm && inside) even *= p.norm[c + 2 * j], odd *= p.norm[c + 2 * j + 1];
                    const f16x2 pair = pack_f16x2(even, odd);
                    words[j] = pair.bits;
                    sum += low(pair) + high(pair);
                }
                if (c < s.padded) store16(s.x + (r * s.x_stride + c) / 2, u32x4{words[0], words[1], words[2], words[3]});
                constexpr u32 COLS = sum_cols<Q>();
                if constexpr (COLS >= 16) sum += shuffle_xor<1>(sum);
                if constexpr (COLS >= 32) sum += shuffle_xor<2>(sum);
                if constexpr (COLS >= 64) sum += shuffle_xor<4>(sum);
                if (c < s.padded && c % COLS == 0) s.sums[r * s.sum_stride + c / COLS] = sum;
            }
        }
        barrier();
    }
}

// Sums of a lane: its two rows of the tile times the rows of x it gathers.
#if PLATFORM_NVIDIA
template <int R> struct Sums {
    static constexpr int N = R == 1 ? 1 : 2; // columns 2t and 2t + 1 of the product
    f32 v[2][N];
};
#else
template <int R> struct Sums {
    static constexpr int N = R;
    f32 v[2][N];
};
#endif

// Adds one unit, whose codes are `first` and `second`, to the sums. `block`: its first block.
template <typename Q, int R>
DEVICE void add_unit(const u32x4 *first, const u32x4 *second, const u8 *scales, u32 block, u32 g, u32 t, u32 rows,
                     const Shared<Q, R> &s, Sums<R> &sums) {
    UNROLL for (u32 b = 0; b < Q::UNIT; b++) {
#if PLATFORM_NVIDIA
        // Groups of 16 need two sums a step: its columns are of two groups.
        f32 c[4], d[4];
        auto clear = [&] { UNROLL for (u32 i = 0; i < 4; i++) c[i] = 0.0f, d[i] = 0.0f; };
        auto scaled = [&](const f32 *dots, u32 group) {
            const GroupScale w = group_scale<Q>(scales, group, g);
            UNROLL for (u32 n = 0; n < Sums<R>::N; n++) {
                const u32 row = R == 1 ? 0 : 2 * t + n < rows ? 2 * t + n : 0;
                const f32 x_sum = s.sums[row * s.sum_stride + block * (64 / Q::GROUP) + group];
                UNROLL for (u32 h = 0; h < 2; h++)
                    sums.v[h][n] += mul_add(w.scale[h], dots[h * 2 + n], w.bias[h] * x_sum);
            }
        };
        clear();
        UNROLL for (u32 half = 0; half < 2; half++) {
            // Rows of x that do not exist: any row, its products are not used.
            const u32 row = R == 1 ? 0 : g < rows ? g : 0;
            const u32x4 x = load16(s.x + (row * s.x_stride + (block + b) * 64 + half * 32 + t * 8) / 2);
            UNROLL for (u32 step = 0; step < 2; step++) {
                u32 a[4];
                UNROLL for (u32 i = 0; i < 4; i++)
                    a[i] = pair_f16<Q>(first, second, b * 16 + half * 8 + step * 4 + i).bits;
                const u32 b0 = step ? x.z : x.x, b1 = step ? x.w : x.y;
                if constexpr (Q::GROUP == 16) {
                    // Columns of the other group times 0.
                    matrix_product(c, a, t < 2 ? b0 : 0, t < 2 ? b1 : 0);
                    matrix_product(d, a, t < 2 ? 0 : b0, t < 2 ? 0 : b1);
                } else {
                    matrix_product(c, a, b0, b1);
                }
            }
            if constexpr (Q::GROUP == 16) {
                scaled(c, (b * 2 + half) * 2);
                scaled(d, (b * 2 + half) * 2 + 1);
                clear();
            } else if constexpr (Q::GROUP == 32) {
                scaled(c, b * 2 + half);
                clear();
            }
        }
        if constexpr (Q::GROUP == 64) scaled(c, b);
#else
        UNROLL for (u32 half = 0; half < 2; half++) {
            const u32 columns = (block + b) * 64 + half * 32 + t * 8;
            const u32 group = Q::GROUP == 64   ? b
                              : Q::GROUP == 32 ? b * 2 + half
                                               : (b * 2 + half) * 2 + t / 2;
            const GroupScale w = group_scale<Q>(scales, group, g);
            f16x2 pairs[8];
            UNROLL for (u32 i = 0; i < 8; i++) pairs[i] = pair_f16<Q>(first, second, b * 16 + half * 8 + i);
            UNROLL for (u32 n = 0; n < R; n++) {
                if (R > 1 && n >= rows) break;
                const u32x4 x = load16(s.x + (n * s.x_stride + columns) / 2);
                const f32 x_sum = s.sums[n * s.sum_stride + columns / 8];
                UNROLL for (u32 h = 0; h < 2; h++) {
                    f32 dot = dot2(pairs[h], f16x2{x.x}, 0.0f);
                    dot = dot2(pairs[h + 2], f16x2{x.y}, dot);
                    dot = dot2(pairs[h + 4], f16x2{x.z}, dot);
                    dot = dot2(pairs[h + 6], f16x2{x.w}, dot);
                    sums.v[h][n] += mul_add(w.scale[h], dot, w.bias[h] * x_sum);
                }
            }
        }
#endif
    }
}

// Puts a team's sums of a tile where `finish` finds them: partial[row][r][team].
template <typename Q, int R> DEVICE void store_partial(f32 *partial, Sums<R> &sums, u32 team, u32 g, u32 t) {
#if PLATFORM_NVIDIA
    if (R == 1 && t != 0) return;
    UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 n = 0; n < Sums<R>::N; n++)
        partial[((g + 8 * h) * R + (R == 1 ? 0 : 2 * t + n)) * TEAMS + team] = sums.v[h][n];
#else
    UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 n = 0; n < R; n++) {
        f32 v = sums.v[h][n];
        v += shuffle_xor<1>(v);
        v += shuffle_xor<2>(v);
        if (t == 0) partial[((g + 8 * h) * R + n) * TEAMS + team] = v;
    }
#endif
}

// Adds the teams' sums of `count` tiles from tile `first` on and stores the results.
template <typename Q, int R>
DEVICE void finish(const Rows &p, const Shared<Q, R> &s, const f32 *partial, u32 first, u32 count) {
    const u32 numbers = count * TILE_ROWS * R;
    for (u32 i = thread_x(); i < numbers * TEAMS; i += TEAMS * TEAM) {
        f32 v = partial[i];
        if (TEAMS == 16) v += shuffle_xor<8>(v);
        v += shuffle_xor<4>(v);
        v += shuffle_xor<2>(v);
        v += shuffle_xor<1>(v);
        if (i % TEAMS != 0) continue;
        const u32 number = i / TEAMS, r = R == 1 ? 0 : number % R, row = number / R;
        if (R > 1 && r >= p.rows) continue;
        v *= s.scale[r];
        const u32 tile = first + row / TILE_ROWS;
        v = add_bias(p.to, tile, row % TILE_ROWS, v);
        if (p.to.epilogue == SILU) s.result[number] = v;
        else store_number(p.to, r, tile, row % TILE_ROWS, v);
    }
    if (p.to.epilogue == SILU) {
        barrier();
        for (u32 i = thread_x(); i < numbers / 2; i += TEAMS * TEAM) {
            const u32 r = R == 1 ? 0 : i % R, row = i / R, pair = row / TILE_ROWS, in_tile = row % TILE_ROWS;
            if (R > 1 && r >= p.rows) continue;
            const f32 gate = s.result[(pair * 2 * TILE_ROWS + in_tile) * R + r];
            const f32 up = s.result[((pair * 2 + 1) * TILE_ROWS + in_tile) * R + r];
            store_silu(p.to, r, first / 2 + pair, in_tile, gate, up);
        }
        barrier();
    }
}

template <typename Q, int R> DEVICE void matmul_rows(const Rows &p, u8 *memory) {
    const u32 thread = thread_x(), team = uniform(thread / WAVE) * (WAVE / TEAM) + (WAVE / TEAM == 1 ? 0 : thread / TEAM % 2);
    const u32 lane = thread % TEAM, g = lane / 4, t = lane % 4;
    const u32 units = (p.cols + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS);
    const u32 from = units * team / TEAMS, count = units * (team + 1) / TEAMS - from;
    const u32 pairs = p.to.epilogue == SILU ? 2 : 1, works = p.tiles / pairs;
    const u32 begin = (u32)((u64)works * block_x() / grid_blocks_x()) * pairs;
    const u32 end = (u32)((u64)works * (block_x() + 1) / grid_blocks_x()) * pairs;
    const u8 *weights = p.weights + ((u64)begin * units + from) * Q::UNIT_BYTES;
    const u64 tile_bytes = (u64)units * Q::UNIT_BYTES;
    constexpr u32 BATCH = Shared<Q, R>::BATCH;

#if PLATFORM_NVIDIA
    constexpr u32 CHUNK = STAGE_BYTES / Q::UNIT_BYTES > 0 ? STAGE_BYTES / Q::UNIT_BYTES : 1;
    constexpr u32 STAGE = (CHUNK * Q::UNIT_BYTES + 127) / 128 * 128;
    const Shared<Q, R> s = shared_memory<Q, R>(memory + TEAMS * STAGES * STAGE + TEAMS * STAGES * 8, p.cols, R == 1 ? 1 : p.rows);
    u8 *ring = memory + team * STAGES * STAGE;
    const u32 barriers = shared_address(memory + TEAMS * STAGES * STAGE) + team * STAGES * 8;
    const u32 chunks = (count + CHUNK - 1) / CHUNK, total = (end - begin) * chunks;
    if (lane == 0) {
        UNROLL for (u32 i = 0; i < STAGES; i++) copy_barrier_init(barriers + 8 * i);
        copy_barrier_fence();
    }
    wave_barrier();
    u32 issued = 0, issue_chunk = 0;
    auto issue = [&](u32 stage) {
        const u32 n = count - issue_chunk * CHUNK < CHUNK ? count - issue_chunk * CHUNK : CHUNK;
        if (lane == 0) {
            copy_barrier_expect(barriers + 8 * stage, n * Q::UNIT_BYTES);
            copy_bulk(shared_address(ring + stage * STAGE), weights + issue_chunk * CHUNK * Q::UNIT_BYTES,
                      n * Q::UNIT_BYTES, barriers + 8 * stage);
        }
        issued++;
        if (++issue_chunk == chunks) issue_chunk = 0, weights += tile_bytes;
    };
    UNROLL for (u32 i = 0; i < STAGES; i++) {
        if (issued < total) issue(i);
    }
    grid_dependency_launch();
    grid_dependency_wait();
    prepare_x<Q, R>(p, s);
    u32 stage = 0, parity = 0, buffer = 0;
    for (u32 tile = begin; tile < end; tile += BATCH, buffer ^= 1) {
        const u32 now = end - tile < BATCH ? end - tile : BATCH;
        f32 *partial = s.partial + buffer * BATCH * TILE_ROWS * R * TEAMS;
        for (u32 i = 0; i < now; i++) {
            Sums<R> sums = {};
            for (u32 chunk = 0; chunk < chunks; chunk++) {
                const u32 unit = chunk * CHUNK, n = count - unit < CHUNK ? count - unit : CHUNK;
                copy_barrier_wait(barriers + 8 * stage, parity);
                const u8 *codes = ring + stage * STAGE;
                auto body = [&](u32 k) {
                    u32x4 first[Q::FIRST_VECTORS], second[Q::SECOND_VECTORS + 1];
                    const u8 *at = codes + k * Q::UNIT_BYTES;
                    UNROLL for (u32 v = 0; v < Q::FIRST_VECTORS; v++) first[v] = load16(at + v * 512 + lane * 16);
                    UNROLL for (u32 v = 0; v < Q::SECOND_VECTORS; v++)
                        second[v] = load16(at + (Q::FIRST_VECTORS + v) * 512 + lane * 16);
                    add_unit<Q, R>(first, second, at + Q::CODE_BYTES, (from + unit + k) * Q::UNIT, g, t, p.rows, s, sums);
                };
                if (n == CHUNK) {
                    UNROLL for (u32 k = 0; k < CHUNK; k++) body(k);
                } else {
                    for (u32 k = 0; k < n; k++) body(k);
                }
                wave_barrier();
                if (issued < total) issue(stage);
                if (++stage == STAGES) stage = 0, parity ^= 1;
            }
            store_partial<Q, R>(partial + i * TILE_ROWS * R * TEAMS, sums, team, g, t);
        }
        barrier();
        finish<Q, R>(p, s, partial, tile, now);
    }
#else
    const Shared<Q, R> s = shared_memory<Q, R>(memory, p.cols, R == 1 ? 1 : p.rows);
    prepare_x<Q, R>(p, s);
    u32 buffer = 0;
    for (u32 tile = begin; tile < end; tile += BATCH, buffer ^= 1) {
        const u32 now = end - tile < BATCH ? end - tile : BATCH;
        f32 *partial = s.partial + buffer * BATCH * TILE_ROWS * R * TEAMS;
        for (u32 i = 0; i < now; i++, weights += tile_bytes) {
            Sums<R> sums = {};
            u32x4 first[Q::FIRST_VECTORS], second[Q::SECOND_VECTORS + 1];
            auto load = [&](u32 unit) {
                const u8 *at = weights + (u64)unit * Q::UNIT_BYTES + lane * 16;
                UNROLL for (u32 v = 0; v < Q::FIRST_VECTORS; v++) first[v] = load16_stream(at + v * 512);
                UNROLL for (u32 v = 0; v < Q::SECOND_VECTORS; v++)
                    second[v] = load16_stream(at + (Q::FIRST_VECTORS + v) * 512);
            };
            if (count > 0) load(0);
            for (u32 unit = 0; unit < count; unit++) {
                u32x4 a[Q::FIRST_VECTORS], b[Q::SECOND_VECTORS + 1];
                UNROLL for (u32 v = 0; v < Q::FIRST_VECTORS; v++) a[v] = first[v];
                UNROLL for (u32 v = 0; v < Q::SECOND_VECTORS; v++) b[v] = second[v];
                if (unit + 1 < count) load(unit + 1);
                add_unit<Q, R>(a, b, weights + (u64)unit * Q::UNIT_BYTES + Q::CODE_BYTES, (from + unit) * Q::UNIT,
                               g, t, p.rows, s, sums);
            }
            store_partial<Q, R>(partial + i * TILE_ROWS * R * TEAMS, sums, team, g, t);
        }
        barrier();
        finish<Q, R>(p, s, partial, tile, now);
    }
#endif
}

#define ROWS_KERNEL(NAME, BITS, SCALES, GROUP, R)                                                            \
    KERNEL(TEAMS * TEAM) void NAME(const u8 *weights, const f32 *x, const f32 *norm, const f32 *bias,        \
                                   const f32 *residual, f32 *out0, f32 *out1, f32 *out2, u32 end0, u32 end1, \
                                   u32 width0, u32 width1, u32 width2, f32 eps, u32 rows, u32 cols,          \
                                   u32 tiles, u32 epilogue) {                                                \
        DYNAMIC_SHARED(memory);                                                                              \
        const Rows p = {weights, x, norm, {bias, residual, out0, out1, out2, end0, end1, width0, width1,     \
                        width2, epilogue}, eps, rows, cols, tiles};                                          \
        matmul_rows<Quant<BITS, SCALES, GROUP>, R>(p, memory);                                               \
    }
