// Products of a quantized matrix W [out, in] with a few rows x, as decoding needs them:
//
//   y[r][o] = Σ_c W[o][c] · n(x[r])[c] + bias[o],  n(x) = x or x · rsqrt(mean x² + eps) · norm
//
// then an epilogue (epilogue.h).
//
// x and y are f32; W as in quant.h. Of every GROUP columns, x (times norm) becomes 16-bit integers,
// i = 256 · hi + lo with signed bytes hi and lo, times a scale of the group: finer than f16, and products
// with codes are dot products of bytes, exact. Sums of groups are f32: scale · Σ q·x + bias · Σ x. Every
// row's sums are made in an order of its own: results do not depend on how many rows there are. The
// norm's factor, rsqrt(…), is multiplied with the results: no product waits for it.
//
// Launch: TEAMS · 32 threads, any number of blocks: block b takes the tiles [b, b+1) · tiles / blocks
// (in pairs for silu), its teams a part each of the columns. Dynamic shared memory: `rows_shared_bytes`
// of src/gpu/model/matmul.rs has the same sum.
//
// AMD: codes and scales go from memory to registers, one unit ahead; four multiply-adds an instruction
// (dot4). NVIDIA: each warp has a ring of stages in shared memory that the copy engine fills, also before
// the kernel before this one has ended; products by the matrix unit, two of whose 8 columns are the hi and
// the lo of a row of x.
// Tried there: one row a warp and two rows a warp with plain loads (1.7 TB/s of 4.5), two arrays for
// codes and scales (more copies), stages of two units (2.4 TB/s), registers for two blocks a
// multiprocessor (64: slower, and the overlap it allows gained nothing), x in f16.
#pragma once

#include "common/matrix_nvidia.h"
#include "common/quant.h"
#include "common/reduce.h"
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

// Lanes of AMD that multiply with the same scales: the sum of x is shared out among them.
template <typename Q> DEVICE constexpr u32 sharers() { return PLATFORM_NVIDIA ? 1 : Q::GROUP < 32 ? 2 : 4; }

// Shared memory after the ring. `R`: most rows.
template <typename Q, int R> struct Shared {
    static constexpr int BATCH = R == 1 ? 4 : 2; // tiles between two barriers
    f32 *partial;                                // [2][BATCH][16][R][TEAMS]
    f32 *result;                                 // [BATCH][16][R]
    f32 *squares;                                // [R][TEAMS] sums of x², by teams
    f32 *factor;                                 // [R] what results are multiplied with
    u8 *x;                                       // [rows][hi, lo][x_stride]: [block][t][columns of lane t]
    f32x2 *groups;                               // [rows][padded / GROUP][scale of x, sum of x / sharers]
    u32 padded, x_stride;                        // columns; x_stride keeps hi and lo in different banks
};

template <typename Q, int R> DEVICE Shared<Q, R> shared_memory(u8 *base, u32 cols, u32 rows) {
    Shared<Q, R> s;
    s.padded = (cols + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS) * (Q::UNIT * BLOCK_COLS);
    s.x_stride = (s.padded + 127) / 128 * 128 + 64;
    s.partial = (f32 *)base;
    s.result = s.partial + 2 * s.BATCH * TILE_ROWS * R * TEAMS;
    s.squares = s.result + s.BATCH * TILE_ROWS * R;
    s.factor = s.squares + R * TEAMS;
    s.x = (u8 *)(s.factor + 8);
    s.groups = (f32x2 *)(s.x + rows * 2 * s.x_stride);
    return s;
}

// Makes rows of x into s.x and s.groups; s.factor follows behind the next barrier but one.
template <typename Q, int R> DEVICE void prepare_x(const Rows &p, const Shared<Q, R> &s) {
    constexpr u32 THREADS = TEAMS * TEAM, CHUNKS = 4;
    const u32 thread = thread_x(), team = thread / TEAM, lane = thread % TEAM, rows = R == 1 ? 1 : p.rows;
    for (u32 r = 0; r < rows; r++) {
        const f32 *x = p.x + (u64)r * p.cols;
        f32 squares = 0.0f;
        for (u32 base = 0; base < s.padded; base += THREADS * 8 * CHUNKS) {
            // All reads first.
            f32 v[CHUNKS][8];
            UNROLL for (u32 i = 0; i < CHUNKS; i++) {
                const u32 c = base + (i * THREADS + thread) * 8;
                UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = 0.0f;
                if (c >= p.cols) continue;
                const f32x4 a = *(const f32x4 *)(x + c), b = *(const f32x4 *)(x + c + 4);
                v[i][0] = a.x, v[i][1] = a.y, v[i][2] = a.z, v[i][3] = a.w;
                v[i][4] = b.x, v[i][5] = b.y, v[i][6] = b.z, v[i][7] = b.w;
                if (p.norm) {
                    UNROLL for (u32 j = 0; j < 8; j++) {
                        squares = mul_add(v[i][j], v[i][j], squares);
                        v[i][j] *= p.norm[c + j];
                    }
                }
            }
            UNROLL for (u32 i = 0; i < CHUNKS; i++) {
                const u32 c = base + (i * THREADS + thread) * 8;
                // Whole waves go on: neighbouring lanes make a group together.
                if (c - lane_id() * 8 >= s.padded) continue;
                // As integers, in which infinities and NaN are the largest.
                u32 most = 0;
                UNROLL for (u32 j = 0; j < 8; j++) most = maximum(most, f32_bits(v[i][j]) & 0x7fffffff);
                most = maximum(most, shuffle_xor<1>(most));
                if constexpr (Q::GROUP >= 32) most = maximum(most, shuffle_xor<2>(most));
                if constexpr (Q::GROUP >= 64) most = maximum(most, shuffle_xor<4>(most));
                const f32 largest = bits_f32(most);
                const bool zero = largest < 1e-30f;
                const f32 inverse = zero ? 0.0f : 32512.0f * fast_rcp(largest);
                // What is not finite makes the whole group so.
                const f32 scale = most >= 0x7f800000u ? bits_f32(0x7fc00000u) : zero ? 0.0f : largest * (1.0f / 32512.0f);
                u32 hi[2] = {}, lo[2] = {};
                i32 sum = 0;
                UNROLL for (u32 j = 0; j < 8; j++) {
                    // The order of the bytes of a quad: quant.h.
                    const u32 at = j / 4, byte = j % 4 == 1 ? 2 : j % 4 == 2 ? 1 : j % 4;
                    const i32 q = (i32)round_even(v[i][j] * inverse);
                    sum += q;
                    hi[at] |= (u32)((q + 128) >> 8 & 255) << 8 * byte, lo[at] |= (u32)(q & 255) << 8 * byte;
                }
                sum += shuffle_xor<1>(sum);
                if constexpr (Q::GROUP >= 32) sum += shuffle_xor<2>(sum);
                if constexpr (Q::GROUP >= 64) sum += shuffle_xor<4>(sum);
                if (c >= s.padded) continue;
                u8 *to = s.x + r * 2 * s.x_stride + c / 64 * 64 + c / 8 % 4 * 16 + c / 32 % 2 * 8;
                store8(to, u32x2{hi[0], hi[1]});
                store8(to + s.x_stride, u32x2{lo[0], lo[1]});
                if (c % Q::GROUP == 0)
                    s.groups[(r * s.padded + c) / Q::GROUP] = f32x2{scale, (f32)sum * scale * (1.0f / sharers<Q>())};
            }
        }
        squares = wave_sum<TEAM>(squares);
        if (lane == 0) s.squares[r * TEAMS + team] = squares;
    }
    barrier();
    for (u32 r = team; r < (rows + TEAMS - 1) / TEAMS * TEAMS; r += TEAMS) {
        const f32 squares = wave_sum<TEAMS>(s.squares[(r < rows ? r : 0) * TEAMS + lane % TEAMS]);
        if (lane == 0 && r < rows) s.factor[r] = p.norm ? fast_rsqrt(squares / (f32)p.cols + p.eps) : 1.0f;
    }
}

// Sums of a lane: its two rows of the tile times rows of x, on AMD all (over the lane's columns), on
// NVIDIA rows t and t + 4.
template <int R> struct Sums {
    static constexpr int N = PLATFORM_NVIDIA ? (R + 3) / 4 : R;
    f32 v[2][N];
};

// Adds a group's products to a sum.
DEVICE void add_group(f32 &sum, i32 hi, i32 lo, f32 scale, f32 bias, f32x2 x) {
    sum = mul_add(scale, (f32)(hi * 256 + lo) * x.x, sum);
    sum = mul_add(bias, x.y, sum);
}

// Adds one block, the `block`th of the columns, to the sums. `scale_of(group)`: the scales of one of its
// groups (on AMD of those that the lane is in).
template <typename Q, int R, typename F>
DEVICE void add_block(const BlockCodes<Q> &codes, F scale_of, u32 block, u32 g, u32 t, u32 rows,
                      const Shared<Q, R> &s, Sums<R> &sums) {
    constexpr u32 N = Sums<R>::N, GROUPS = 64 / Q::GROUP;
    const f32x2 *groups = s.groups + block * GROUPS;
    const u8 *x = s.x + block * 64 + t * 16;
#if PLATFORM_NVIDIA
    // Rows of x that do not exist: any row, its products are not used.
    auto row_of = [&](u32 row) { return R == 1 ? 0 : row < rows ? row : 0; };
    u32x4 columns[N];
    UNROLL for (u32 n = 0; n < N; n++) columns[n] = load16(x + (row_of(n * 4 + g / 2) * 2 + g % 2) * s.x_stride);
    i32 c[N][4] = {}, d[N][4] = {};
    auto add = [&](i32 (*of)[4], u32 group) {
        const GroupScale w = scale_of(group);
        UNROLL for (u32 n = 0; n < N; n++) {
            const f32x2 of_x = groups[row_of(n * 4 + t) * (s.padded / Q::GROUP) + group];
            UNROLL for (u32 h = 0; h < 2; h++)
                add_group(sums.v[h][n], of[n][2 * h], of[n][2 * h + 1], w.scale[h], w.bias[h], of_x);
            UNROLL for (u32 i = 0; i < 4; i++) of[n][i] = 0;
        }
    };
    UNROLL for (u32 half = 0; half < 2; half++) {
        u32 a[4];
        UNROLL for (u32 i = 0; i < 4; i++) a[i] = quad<Q>(codes, half * 2 + i / 2, i % 2);
        UNROLL for (u32 n = 0; n < N; n++) {
            const u32 b0 = half ? columns[n].z : columns[n].x, b1 = half ? columns[n].w : columns[n].y;
            if constexpr (Q::GROUP == 16) {
                // Columns of the other group times 0.
                matrix_product_i8(c[n], a, t < 2 ? b0 : 0, t < 2 ? b1 : 0);
                matrix_product_i8(d[n], a, t < 2 ? 0 : b0, t < 2 ? 0 : b1);
            } else {
                matrix_product_i8(c[n], a, b0, b1);
            }
        }
        if constexpr (Q::GROUP == 16) add(c, half * 2), add(d, half * 2 + 1);
        if constexpr (Q::GROUP == 32) add(c, half);
    }
    if constexpr (Q::GROUP == 64) add(c, 0);
#else
    u32 a[4][2];
    UNROLL for (u32 i = 0; i < 8; i++) a[i / 2][i % 2] = quad<Q>(codes, i / 2, i % 2);
    GroupScale w[2];
    UNROLL for (u32 half = 0; half < (Q::GROUP == 64 ? 1 : 2); half++) w[half] = scale_of(half);
    UNROLL for (u32 n = 0; n < R; n++) {
        if (R > 1 && n >= rows) break;
        const u32x4 high = load16(x + n * 2 * s.x_stride), low = load16(x + (n * 2 + 1) * s.x_stride);
        i32 hi[2] = {}, lo[2] = {};
        UNROLL for (u32 half = 0; half < 2; half++) {
            UNROLL for (u32 h = 0; h < 2; h++) {
                UNROLL for (u32 step = half * 2; step < half * 2 + 2; step++) {
                    hi[h] = dot4(a[step][h], word(high, step), hi[h]);
                    lo[h] = dot4(a[step][h], word(low, step), lo[h]);
                }
            }
            if (Q::GROUP == 64 && half == 0) continue;
            const u32 slot = Q::GROUP == 64 ? 0 : half, group = Q::GROUP == 16 ? half * 2 + t / 2 : slot;
            const f32x2 of_x = groups[n * (s.padded / Q::GROUP) + group];
            UNROLL for (u32 h = 0; h < 2; h++) {
                add_group(sums.v[h][n], hi[h], lo[h], w[slot].scale[h], w[slot].bias[h], of_x);
                hi[h] = lo[h] = 0;
            }
        }
    }
#endif
}

#if PLATFORM_NVIDIA
// Reads a plane of a block of a unit from shared memory; `from`: the lane's first vector of the plane.
template <int BITS> DEVICE void read_plane(u32 *words, const u8 *from, u32 b) {
    const u8 *at = from + b * BITS / 4 * 512 + b * BITS * 4 % 16;
    if constexpr (BITS >= 4) {
        UNROLL for (u32 v = 0; v < BITS / 4; v++) {
            const u32x4 vector = load16(at + v * 512);
            UNROLL for (u32 i = 0; i < 4; i++) words[v * 4 + i] = word(vector, i);
        }
    }
    if constexpr (BITS == 2) {
        const u32x2 pair = load8(at);
        words[0] = pair.x, words[1] = pair.y;
    }
    if constexpr (BITS == 1) words[0] = load4(at);
}
#endif

// Puts a team's sums of a tile where `finish` finds them: partial[row][r][team].
template <typename Q, int R> DEVICE void store_partial(f32 *partial, Sums<R> &sums, u32 team, u32 g, u32 t) {
#if PLATFORM_NVIDIA
    if (R == 1 && t != 0) return;
    UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 n = 0; n < Sums<R>::N; n++)
        partial[((g + 8 * h) * R + (R == 1 ? 0 : n * 4 + t)) * TEAMS + team] = sums.v[h][n];
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
        v *= s.factor[r];
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
                auto add = [&](u32 i) {
                    const u8 *at = codes + i / Q::UNIT * Q::UNIT_BYTES, *of_lane = at + lane * 16;
                    const u32 b = i % Q::UNIT;
                    BlockCodes<Q> of_block;
                    read_plane<Q::FIRST>(of_block.first, of_lane, b);
                    if constexpr (Q::SECOND > 0)
                        read_plane<Q::SECOND>(of_block.second, of_lane + Q::FIRST_VECTORS * 512, b);
                    auto scale_of = [&](u32 group) {
                        return quad_scale<Q>(scale_words<Q>(at + Q::CODE_BYTES, b * (64 / Q::GROUP) + group, g));
                    };
                    add_block<Q, R>(of_block, scale_of, (from + unit) * Q::UNIT + i, g, t, p.rows, s, sums);
                };
                // As many at a time as registers are there for.
                constexpr u32 AT_ONCE = R > 1 ? 1 : Q::GROUP == 16 ? 2 : 4;
                u32 i = 0;
                for (; i + AT_ONCE <= n * Q::UNIT; i += AT_ONCE) {
                    UNROLL for (u32 j = 0; j < AT_ONCE; j++) add(i + j);
                }
                for (; i < n * Q::UNIT; i++) add(i);
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
            // Of the scales those of the lane's groups; what would be too many registers is read late.
            constexpr u32 SLOTS = Q::UNIT * (Q::GROUP == 64 ? 1 : 2);
            constexpr bool AHEAD = Q::SCALES != PAIR_F32 || Q::UNIT < 4;
            auto words_of = [&](u32 unit, u32 slot) {
                const u8 *at = weights + (u64)unit * Q::UNIT_BYTES + Q::CODE_BYTES;
                return scale_words<Q>(at, Q::GROUP == 16 ? slot * 2 + t / 2 : slot, g);
            };
            u32x4 first[Q::FIRST_VECTORS], second[Q::SECOND_VECTORS + 1];
            ScaleWords scales[SLOTS];
            auto load = [&](u32 unit) {
                const u8 *codes = weights + (u64)unit * Q::UNIT_BYTES + lane * 16;
                UNROLL for (u32 v = 0; v < Q::FIRST_VECTORS; v++) first[v] = load16_stream(codes + v * 512);
                UNROLL for (u32 v = 0; v < Q::SECOND_VECTORS; v++)
                    second[v] = load16_stream(codes + (Q::FIRST_VECTORS + v) * 512);
                if constexpr (AHEAD) {
                    UNROLL for (u32 i = 0; i < SLOTS; i++) scales[i] = words_of(unit, i);
                }
            };
            if (count > 0) load(0);
            for (u32 unit = 0; unit < count; unit++) {
                BlockCodes<Q> codes[Q::UNIT];
                UNROLL for (u32 i = 0; i < Q::UNIT * Q::FIRST; i++)
                    codes[i / Q::FIRST].first[i % Q::FIRST] = word(first[i / 4], i % 4);
                UNROLL for (u32 i = 0; i < Q::UNIT * Q::SECOND; i++)
                    codes[i / Q::SECOND].second[i % Q::SECOND] = word(second[i / 4], i % 4);
                ScaleWords of[SLOTS];
                UNROLL for (u32 i = 0; i < SLOTS; i++) of[i] = scales[i];
                if (unit + 1 < count) load(unit + 1);
                UNROLL for (u32 b = 0; b < Q::UNIT; b++) {
                    auto scale_of = [&](u32 slot) {
                        const u32 i = b * (SLOTS / Q::UNIT) + slot;
                        return quad_scale<Q>(AHEAD ? of[i] : words_of(unit, i));
                    };
                    add_block<Q, R>(codes[b], scale_of, (from + unit) * Q::UNIT + b, g, t, p.rows, s, sums);
                }
            }
            store_partial<Q, R>(partial + i * TILE_ROWS * R * TEAMS, sums, team, g, t);
        }
        barrier();
        finish<Q, R>(p, s, partial, tile, now);
    }
#endif
}

#define ROWS_KERNEL(NAME, BITS, SCALES, GROUP, R)                                                            \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(const u8 *weights, const f32 *x, const f32 *norm, const f32 *bias, \
                                   const f32 *residual, f32 *out0, f32 *out1, f32 *out2, u32 end0, u32 end1, \
                                   u32 width0, u32 width1, u32 width2, f32 eps, u32 rows, u32 cols,          \
                                   u32 tiles, u32 epilogue) {                                                \
        DYNAMIC_SHARED(memory);                                                                              \
        const Rows p = {weights, x, norm, {bias, residual, out0, out1, out2, end0, end1, width0, width1,     \
                        width2, epilogue}, eps, rows, cols, tiles};                                          \
        matmul_rows<Quant<BITS, SCALES, GROUP>, R>(p, memory);                                               \
    }
