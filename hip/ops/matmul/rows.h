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
// (in pairs for silu), its teams a part each of the columns. On AMD, where x of all columns does not fit the
// shared memory, grid z is how many blocks share the columns: each stores the sums of its part, without the
// norm's factor, to out0 [z][rows][tiles · 16] (rows_finish.hip does the rest). Dynamic shared memory:
// `shared_bytes` of src/gpu/model/matmul.rs has the same sum.
//
// AMD: codes and scales go from memory to registers some units ahead, from tile to tile and before x is prepared; four
// multiply-adds an instruction (dot4). Of several rows, x was made into integers by a kernel before (rows_x.hip) and comes
// from the caches: each byte of W is read once for up to MANY_ROWS rows. One row on CDNA: rows_one_amd.h, on NVIDIA:
// rows_one_nvidia.h; several rows there: rows_cluster.h. The matrix unit multiplies there, two of whose 8 columns are the hi and the lo of a
// row of x.
#pragma once

#include "ops/matmul/quad_scales.h"
#include "ops/matmul/rows_x.h"

// Sums of a lane: its two rows of the tile times rows of x, on AMD all (over the lane's columns), on
// NVIDIA rows t and t + 4.
template <int R> struct Sums {
    static constexpr int N = PLATFORM_NVIDIA ? (R + 3) / 4 : R;
    f32 v[2][N];
};

// Adds a group's products to a sum.
template <typename Q> DEVICE void add_whole(f32 &sum, i32 whole, f32 scale, f32 bias, f32x2 x) {
    sum = mul_add(scale, (f32)whole * x.x, sum);
    if constexpr (!Q::E2M1) sum = mul_add(bias, x.y, sum);
}
template <typename Q> DEVICE void add_group(f32 &sum, i32 hi, i32 lo, f32 scale, f32 bias, f32x2 x) {
    add_whole<Q>(sum, hi * 256 + lo, scale, bias, x);
}

#if PLATFORM_NVIDIA
// 16 bytes of x of a lane, of row n · 4 + g / 2, hi or lo, `further` behind those of the block's first half; and the scale and the
// sum of a group of row n · 4 + t. Rows that do not exist: any row, its products are not used.
template <typename Q, int R> DEVICE u32 row_of_x(u32 row, u32 rows) { return R == 1 ? 0 : row < rows ? row : 0; }
template <typename Q, int R>
DEVICE u32x4 x_columns(const Shared<Q, R> &s, u32 block, u32 n, u32 rows, u32 g, u32 t, u32 further) {
    const u8 *x = s.x.at + block * s.x.block + t * 16;
    return load16(x + further + row_of_x<Q, R>(n * 4 + g / 2, rows) * s.x.row + g % 2 * s.x.low);
}
template <typename Q, int R> DEVICE f32x2 x_group(const Shared<Q, R> &s, u32 group, u32 n, u32 rows, u32 t) {
    return s.x.groups[row_of_x<Q, R>(n * 4 + t, rows) * s.x.group_row + group];
}
#endif

// Adds one block, the `block`th of the columns, to the sums. `scale_of(group)`: the scales of one of its
// groups (on AMD of those that the lane is in). X: Shared, on NVIDIA also others with the functions above.
template <typename Q, int R, typename F, typename X>
DEVICE void add_block(const Table &table, const BlockCodes<Q> &codes, F scale_of, u32 block, u32 g, u32 t, u32 rows,
                      const X &s, Sums<R> &sums) {
#if PLATFORM_NVIDIA
    constexpr u32 N = Sums<R>::N;
    u32x4 columns[N];
    UNROLL for (u32 n = 0; n < N; n++) columns[n] = x_columns<Q, R>(s, block, n, rows, g, t, 0);
    i32 c[N][4] = {}, d[N][4] = {};
    auto add = [&](i32 (*of)[4], u32 group) {
        const GroupScale w = scale_of(group);
        UNROLL for (u32 n = 0; n < N; n++) {
            const f32x2 of_x = x_group<Q, R>(s, block * (64 / Q::GROUP) + group, n, rows, t);
            UNROLL for (u32 h = 0; h < 2; h++)
                add_group<Q>(sums.v[h][n], of[n][2 * h], of[n][2 * h + 1], w.scale[h], w.bias[h], of_x);
            UNROLL for (u32 i = 0; i < 4; i++) of[n][i] = 0;
        }
    };
    UNROLL for (u32 half = 0; half < 2; half++) {
        u32 a[4];
        UNROLL for (u32 i = 0; i < 4; i++) a[i] = quad<Q>(table, codes, half * 2 + i / 2, i % 2);
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
    (void)g;
    const f32x2 *groups = s.x.groups + block * (64 / Q::GROUP) * s.x.group_step;
    const u8 *x = s.x.at + block * s.x.block + t * 16;
    u32 a[4][2];
    UNROLL for (u32 i = 0; i < 8; i++) a[i / 2][i % 2] = quad<Q>(table, codes, i / 2, i % 2);
    GroupScale w[2];
    UNROLL for (u32 half = 0; half < (Q::GROUP == 64 ? 1 : 2); half++) w[half] = scale_of(half);
    constexpr u32 SCALES = Q::GROUP == 64 ? 1 : 2;
    UNROLL for (u32 n = 0; n < R; n++) {
        if (R > 1 && n >= rows) break;
        const u32x4 high = load16(x + n * s.x.row), low = load16(x + n * s.x.row + s.x.low);
        f32x2 of_x[SCALES];
        UNROLL for (u32 slot = 0; slot < SCALES; slot++) {
            const u32 group = Q::GROUP == 16 ? slot * 2 + t / 2 : slot;
            of_x[slot] = groups[n * s.x.group_row + group * s.x.group_step];
        }
        i32 hi[2] = {}, lo[2] = {};
        UNROLL for (u32 half = 0; half < 2; half++) {
            UNROLL for (u32 h = 0; h < 2; h++) {
                UNROLL for (u32 step = half * 2; step < half * 2 + 2; step++) {
                    hi[h] = dot4(a[step][h], word(high, step), hi[h]);
                    lo[h] = dot4(a[step][h], word(low, step), lo[h]);
                }
            }
            if (Q::GROUP == 64 && half == 0) continue;
            const u32 slot = half % SCALES;
            UNROLL for (u32 h = 0; h < 2; h++) {
                add_group<Q>(sums.v[h][n], hi[h], lo[h], w[slot].scale[h], w[slot].bias[h], of_x[slot]);
                hi[h] = lo[h] = 0;
            }
        }
    }
#endif
}

#if PLATFORM_AMD
// The same where groups are added whole. The four lanes that share rows exchange their integers: those with even t get sums of
// row g, the others of row g + 8, and in groups of 32 columns lanes 0 and 1 those of the first group, 2 and 3 of the second.
template <typename Q, int R, typename F, typename X>
DEVICE void add_whole_groups(const Table &table, const BlockCodes<Q> &codes, F words_of, u32 block, u32 t, u32 rows, const X &s,
                             Sums<R> &sums) {
    constexpr u32 GROUPS = BLOCK_COLS / Q::GROUP;
    const u32 group = t / 2 % GROUPS;
    const f32x2 *groups = s.x.groups + (block * GROUPS + group) * s.x.group_step;
    const u8 *x = s.x.at + block * s.x.block + t * 16;
    u32 a[4][2];
    UNROLL for (u32 i = 0; i < 8; i++) a[i / 2][i % 2] = quad<Q>(table, codes, i / 2, i % 2);
    ScaleWords words = words_of(0);
    if constexpr (GROUPS == 2) {
        const ScaleWords other = words_of(1);
        UNROLL for (u32 i = 0; i < 4; i++) words.words[i] = group ? other.words[i] : words.words[i];
    }
    const GroupScale w = quad_scale<Q>(row_words<Q>(words, t % 2));
    UNROLL for (u32 n = 0; n < R; n++) {
        if (R > 1 && n >= rows) break;
        const u32x4 high = load16(x + n * s.x.row), low = load16(x + n * s.x.row + s.x.low);
        const f32x2 of_x = groups[n * s.x.group_row];
        i32 whole[GROUPS];
        UNROLL for (u32 slot = 0; slot < GROUPS; slot++) {
            i32 sums[2];
            UNROLL for (u32 h = 0; h < 2; h++) {
                i32 sum = 0;
                UNROLL for (u32 step = slot * 2; step < (slot + 1) * 4 / GROUPS; step++) sum = dot4(a[step][h], word(high, step), sum);
                sum *= 256;
                UNROLL for (u32 step = slot * 2; step < (slot + 1) * 4 / GROUPS; step++) sum = dot4(a[step][h], word(low, step), sum);
                sums[h] = sum;
            }
            whole[slot] = (t % 2 ? sums[1] : sums[0]) + (i32)shuffle_xor<1>((u32)(t % 2 ? sums[0] : sums[1]));
        }
        const i32 own = group ? whole[GROUPS - 1] : whole[0], other = group ? whole[0] : whole[GROUPS - 1];
        add_whole<Q>(sums.v[0][n], own + (i32)shuffle_xor<2>((u32)other), w.scale[0], w.bias[0], of_x);
    }
}
#endif

// The same of codes that are e4m3 numbers: products of pairs in f16, hi and lo of x each, with sums in f32.
template <typename Q, int R, typename F, typename X>
DEVICE void add_floats(const BlockCodes<Q> &codes, F scale_of, u32 block, u32 g, u32 t, u32 rows, const X &s,
                       Sums<R> &sums) {
#if PLATFORM_NVIDIA
    constexpr u32 N = Sums<R>::N;
    f32 c[N][4] = {};
    UNROLL for (u32 half = 0; half < 2; half++) {
        u32x4 columns[N];
        UNROLL for (u32 n = 0; n < N; n++) columns[n] = x_columns<Q, R>(s, block, n, rows, g, t, half * 64);
        UNROLL for (u32 step = 0; step < 2; step++) {
            u32 a[4];
            UNROLL for (u32 i = 0; i < 4; i++) a[i] = e4m3_of<Q>(codes, half * 8 + step * 4 + i).bits;
            UNROLL for (u32 n = 0; n < N; n++)
                matrix_product(c[n], a, word(columns[n], step * 2), word(columns[n], step * 2 + 1));
        }
        if (Q::GROUP == 64 && half == 0) continue;
        const u32 group = Q::GROUP == 64 ? 0 : half;
        const GroupScale w = scale_of(group);
        UNROLL for (u32 n = 0; n < N; n++) {
            const f32 of_x = x_group<Q, R>(s, block * (64 / Q::GROUP) + group, n, rows, t).x;
            UNROLL for (u32 h = 0; h < 2; h++)
                sums.v[h][n] = mul_add(w.scale[h], (c[n][2 * h] + c[n][2 * h + 1]) * of_x, sums.v[h][n]);
            UNROLL for (u32 i = 0; i < 4; i++) c[n][i] = 0.0f;
        }
    }
#else
    (void)g;
    const f32x2 *groups = s.x.groups + block * (64 / Q::GROUP) * s.x.group_step;
    const u8 *x = s.x.at + block * s.x.block + t * 16;
    GroupScale w[2];
    UNROLL for (u32 half = 0; half < (Q::GROUP == 64 ? 1 : 2); half++) w[half] = scale_of(half);
    f32 of_rows[R][2] = {};
    UNROLL for (u32 half = 0; half < 2; half++) {
        f16x2 a[2][4];
        UNROLL for (u32 i = 0; i < 8; i++) a[i % 2][i / 2] = e4m3_of<Q>(codes, half * 8 + i);
        const u32 slot = Q::GROUP == 64 ? 0 : half;
        UNROLL for (u32 n = 0; n < R; n++) {
            if (R > 1 && n >= rows) break;
            const u8 *from = x + n * s.x.row + half * 64;
            const u32x4 high = load16(from), low = load16(from + s.x.low);
            UNROLL for (u32 h = 0; h < 2; h++) {
                f32 &sum = of_rows[n][h];
                UNROLL for (u32 i = 0; i < 4; i++) {
                    sum = dot2(a[h][i], f16x2{word(high, i)}, sum);
                    sum = dot2(a[h][i], f16x2{word(low, i)}, sum);
                }
                if (Q::GROUP == 64 && half == 0) continue;
                const f32 of_x = groups[n * s.x.group_row + slot * s.x.group_step].x;
                sums.v[h][n] = mul_add(w[slot].scale[h], sum * of_x, sums.v[h][n]), sum = 0.0f;
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

// Puts a team's sums of a tile where `finish` finds them.
template <typename Q, int R> DEVICE void store_partial(const Shared<Q, R> &s, u32 buffer, u32 k, Sums<R> &sums, u32 team, u32 g, u32 t) {
    f32 *partial = s.partial + (buffer * s.BATCH + k) * TILE_ROWS * R * s.STRIDE + team;
#if PLATFORM_NVIDIA
    if (R == 1 && t != 0) return;
    UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 n = 0; n < Sums<R>::N; n++)
        partial[((g + 8 * h) * R + (R == 1 ? 0 : n * 4 + t)) * s.STRIDE] = sums.v[h][n];
#else
    if constexpr (WHOLE_GROUPS<Q>) {
        UNROLL for (u32 n = 0; n < R; n++) {
            f32 v = sums.v[0][n];
            if constexpr (Q::GROUP == 32) v += shuffle_xor<2>(v);
            if (t < 2) partial[((g + 8 * t) * R + n) * s.STRIDE] = v;
        }
        return;
    }
    UNROLL for (u32 h = 0; h < 2; h++) UNROLL for (u32 n = 0; n < R; n++) {
        f32 v = sums.v[h][n];
        v += shuffle_xor<1>(v);
        v += shuffle_xor<2>(v);
        if (t == 0) partial[((g + 8 * h) * R + n) * s.STRIDE] = v;
    }
#endif
}

// One number of a batch of tiles, a thread's own: where it goes (null: nowhere) and what is added to it, on its way before the products: on
// NVIDIA it is not touched before their sums are there, so that nobody waits for it. (On AMD two numbers held apart cost registers, and some
// kernels a wave; `residual` is 0 there.)
struct Result {
    f32 *to;
    f32 bias, bias_up, residual;
    u32 number, r;
};
template <int R, typename C> DEVICE Result begin_result(const Rows &p, const C &columns, u32 first, u32 count) {
    const bool silu = p.to.epilogue == SILU;
    Result result = {};
    const u32 i = thread_x(), r = R == 1 ? 0 : i % R, row = i / R, tile = row / TILE_ROWS, in_tile = row % TILE_ROWS;
    if (tile >= (silu ? count / 2 : count) || r >= p.rows) return result;
    result.r = r, result.number = ((silu ? tile * 2 : tile) * TILE_ROWS + in_tile) * R + r;
    const u32 in = first + (silu ? tile * 2 : tile);
    result.bias = C::bias(columns, p, in, in_tile);
    if (silu) {
        result.bias_up = C::bias(columns, p, in + 1, in_tile);
        result.to = silu_place(p.to, C::result(columns, r), in / 2, in_tile);
    } else {
        const f32 *residual;
        result.to = number_place(p.to, C::result(columns, r), in, in_tile, residual);
        if (result.to && residual) {
            if (PLATFORM_AMD) result.bias += *residual;
            else result.residual = *residual;
        }
    }
    return result;
}

// Stores a number whose products' sum is `sum`; `up` gives that of up, for silu.
template <typename F> DEVICE void finish_sum(const Rows &p, const Result &result, f32 sum, F up, f32 factor) {
    const f32 v = mul_add(sum, factor, PLATFORM_AMD ? result.bias : result.bias + result.residual);
    if (p.to.epilogue == SILU) {
        *result.to = silu_product(p.to, v, mul_add(up(), factor, result.bias_up));
    } else {
        *result.to = v;
    }
}
// Adds the teams' sums and stores the number.
template <typename C, typename Q, int R> DEVICE void finish(const Rows &p, const Shared<Q, R> &s, u32 buffer, const Result &result) {
    if (!result.to) return;
    const f32 *partial = s.partial + (buffer * s.BATCH * TILE_ROWS * R + result.number) * s.STRIDE;
    auto sum = [&](const f32 *of) {
        f32x4 v = *(const f32x4 *)of;
        UNROLL for (u32 i = 4; i < TEAMS; i += 4) {
            const f32x4 more = *(const f32x4 *)(of + i);
            v.x += more.x, v.y += more.y, v.z += more.z, v.w += more.w;
        }
        return (v.x + v.y) + (v.z + v.w);
    };
    const f32 factor = C::PREPARED && is_split() ? 1.0f : s.factor[result.r * s.factor_step];
    finish_sum(p, result, sum(partial), [&] { return sum(partial + TILE_ROWS * R * s.STRIDE); }, factor);
}

// What a team of a block does of a product: tiles begin … end, of each the units from … from + count of the
// block's own, which are those from `first` on.
struct Share {
    u32 units, first, own, from, count, begin, end;
};
template <typename Q> DEVICE u32 units_of(const Rows &p) { return (p.width + Q::UNIT * BLOCK_COLS - 1) / (Q::UNIT * BLOCK_COLS); }
template <typename Q, typename C> DEVICE Share share_of(const Rows &p, const C &columns, u32 team) {
    Share s;
    s.units = units_of<Q>(p);
    if constexpr (C::CHOSEN) s.units = columns.count * columns.units;
    s.first = 0, s.own = s.units;
    if (is_split()) s.first = split_begin(s.units), s.own = split_end(s.units) - s.first;
    s.from = s.own * team / TEAMS, s.count = s.own * (team + 1) / TEAMS - s.from;
    const u32 pairs = p.to.epilogue == SILU ? 2 : 1, works = p.tiles / pairs;
    s.begin = C::begin(columns, works) * pairs, s.end = C::end(columns, works) * pairs;
    return s;
}

// Columns of x in shared memory.
template <typename C> DEVICE u32 columns_of(const Rows &p, const C &columns) {
    if constexpr (C::CHOSEN) return columns.count * columns.padded;
    else return p.cols;
}

#if PLATFORM_AMD
// Units that share scales as they are read (quad_scales.h), and those whose codes are on their way to registers. (Predicted
// by the software GPU's timing: twice as many on CDNA are slower, by 30 % for 4096 columns, as x waits behind them.)
template <typename Q> constexpr u32 QUAD = 4 / Q::UNIT;
template <typename Q> constexpr u32 AHEAD = (Q::BITS == 2 && Q::UNIT == 2 ? 2 : 1) * QUAD<Q>;
// `value`, when sums are there: the compiler would load into other registers before, and move them, which waits.
DEVICE u32 after(u32 value, f32 a, f32 b) {
    asm("" : "+v"(value) : "v"(a), "v"(b));
    return value;
}
struct WholeRound {
    static constexpr bool WHOLE = true;
};
struct PartOfRound {
    static constexpr bool WHOLE = false;
};

template <typename Q, int R, typename C = Whole>
DEVICE void matmul_rows(Rows p, u8 *memory, const C &columns) {
    const u32 thread = thread_x(), team = uniform(thread / WAVE) * (WAVE / TEAM) + (WAVE / TEAM == 1 ? 0 : thread / TEAM % 2);
    const u32 lane = thread % TEAM, g = lane / 4, t = lane % 4;
    constexpr u32 BATCH = Shared<Q, R>::BATCH;
    const Share share = share_of<Q>(p, columns, team);
    // Of x as it is made here a block has its own columns alone.
    const u32 first_of_x = C::PREPARED ? share.first : 0;
    if (is_split()) {
        const u32 first = share.first * Q::UNIT * BLOCK_COLS;
        if (!C::PREPARED) p.x += first, p.norm += p.norm ? first : 0;
        p.to.out0 += (u64)block_z() * p.rows * p.to.width0;
        p.cols = minimum(p.width - first, share.own * Q::UNIT * BLOCK_COLS);
    }
    const u64 tile_bytes = (u64)share.units * Q::UNIT_BYTES;
    const u8 *next = p.weights + share.begin * tile_bytes + (u64)(share.first + share.from) * Q::UNIT_BYTES;
    // Slot `u` of those on their way is unit `ahead + u` of tile `ahead_tile`; `next` is where its first one is.
    u32x4 first[AHEAD<Q>][Q::FIRST_VECTORS], second[AHEAD<Q>][Q::SECOND_VECTORS + 1];
    QuadScales<Q> scales[AHEAD<Q> / QUAD<Q>];
    u32 ahead_tile = share.begin, ahead = 0;
    auto slot_at = [&](u32 u) {
        if constexpr (C::CHOSEN) return C::template unit_at<Q>(columns, p, ahead_tile, share.from + ahead + u);
        else return next + (u64)u * Q::UNIT_BYTES;
    };
    // Loads into slot `u` what block `b` is the last to use of; all of it for no block.
    auto load_unit = [&](u32 u, i32 b, const u8 *codes) {
        UNROLL for (i32 v = 0; v < Q::FIRST_VECTORS; v++)
            if (b < 0 || (4 * v + 3) / Q::FIRST == b) first[u][v] = load16_stream(codes + v * 512);
        if constexpr (Q::SECOND > 0) {
            UNROLL for (i32 v = 0; v < Q::SECOND_VECTORS; v++)
                if (b < 0 || (4 * v + 3) / Q::SECOND == b) second[u][v] = load16_stream(codes + (Q::FIRST_VECTORS + v) * 512);
        }
    };
    auto load = [&](auto how, u32 u, i32 b, u32 of_lane) {
        if (!how.WHOLE && (ahead_tile >= share.end || ahead + u >= share.count)) return;
        load_unit(u, b, slot_at(u) + of_lane);
    };
    auto load_scales = [&](auto how, u32 u) {
        if (!how.WHOLE && ahead_tile >= share.end) return;
        read_scales<Q>(scales[u / QUAD<Q>], slot_at, u, how.WHOLE ? AHEAD<Q> : share.count - ahead, g, t);
    };
    // From the last round of a tile to the next tile.
    const u64 skip = tile_bytes - (u64)(share.count + AHEAD<Q> - 1) / AHEAD<Q> * AHEAD<Q> * Q::UNIT_BYTES;
    auto advance = [&] {
        ahead += AHEAD<Q>;
        const bool is_last = ahead >= share.count;
        next += AHEAD<Q> * Q::UNIT_BYTES + (is_last ? skip : 0);
        ahead = is_last ? 0 : ahead, ahead_tile += is_last;
    };
    auto load_first = [&] {
        UNROLL for (u32 u = 0; u < AHEAD<Q>; u++) {
            if (u % QUAD<Q> == 0) load_scales(PartOfRound(), u);
            load(PartOfRound(), u, -1, lane * 16);
        }
        advance();
    };
    const Table table = table_of<Q>(p.weights);
    Shared<Q, R> s;
    if constexpr (C::PREPARED) {
        s = prepared_memory<Q, R>(memory, p);
        load_first();
    } else {
        s = shared_memory<Q, R>(memory, columns_of(p, columns), R == 1 ? 1 : p.rows);
        Norm<R> norm = {};
        read_norm<R>(norm, p, 0);
        // The first are on their way while x is prepared, behind x.
        prepare_x<Q, R>(p, s, norm, columns, load_first);
    }
    // Rounds that are whole for every team, and so are the ones loaded meanwhile, take no branches: each wait is then for
    // what it names alone.
    const u32 whole = share.own / TEAMS / AHEAD<Q>, is_even = whole * AHEAD<Q> * TEAMS == share.own;
    u32 buffer = 0;
    for (u32 tile = share.begin; tile < share.end; tile += BATCH, buffer = (buffer + 1) % s.BUFFERS) {
        const u32 now = share.end - tile < BATCH ? share.end - tile : BATCH;
        const Result result = begin_result<R>(p, columns, tile, now);
        // The batch before is still read where there is one buffer.
        if (s.BUFFERS == 1 && tile > share.begin) barrier_shared();
        for (u32 i = 0; i < now; i++) {
            Sums<R> sums = {};
            auto take = [&](auto how, u32 round) {
                QuadScales<Q> of_quad;
                UNROLL for (u32 u = 0; u < AHEAD<Q>; u++) {
                    if (u % QUAD<Q> == 0) of_quad = scales[u / QUAD<Q>], load_scales(how, u);
                    UNROLL for (u32 b = 0; b < Q::UNIT; b++) {
                        if (how.WHOLE || round + u < share.count) {
                            BlockCodes<Q> codes;
                            UNROLL for (u32 j = 0; j < Q::FIRST; j++)
                                codes.first[j] = word(first[u][(b * Q::FIRST + j) / 4], (b * Q::FIRST + j) % 4);
                            if constexpr (Q::SECOND > 0) {
                                UNROLL for (u32 j = 0; j < Q::SECOND; j++)
                                    codes.second[j] = word(second[u][(b * Q::SECOND + j) / 4], (b * Q::SECOND + j) % 4);
                            }
                            auto words_of = [&](u32 slot) { return scales_of<Q>(of_quad, u % QUAD<Q> * Q::UNIT + b, slot); };
                            auto scale_of = [&](u32 slot) { return quad_scale<Q>(words_of(slot)); };
                            const u32 number = (first_of_x + share.from + round + u) * Q::UNIT + b;
                            if constexpr (Q::E4M3) add_floats<Q, R>(codes, scale_of, number, g, t, p.rows, s, sums);
                            else if constexpr (WHOLE_GROUPS<Q>) add_whole_groups<Q, R>(table, codes, words_of, number, t, p.rows, s, sums);
                            else add_block<Q, R>(table, codes, scale_of, number, g, t, p.rows, s, sums);
                        }
                        load(how, u, b, after(lane * 16, sums.v[0][0], sums.v[WHOLE_GROUPS<Q> ? 0 : 1][0]));
                        asm volatile("" ::: "memory");
                    }
                }
                advance();
            };
            const u32 end = whole == 0 ? 0 : (whole - 1 + (is_even && tile + i + 1 < share.end)) * AHEAD<Q>;
            u32 round = 0;
            for (; round < end; round += AHEAD<Q>) take(WholeRound(), round);
            for (; round < share.count; round += AHEAD<Q>) take(PartOfRound(), round);
            store_partial<Q, R>(s, buffer, i, sums, team, g, t);
        }
        barrier_shared();
        finish<C, Q, R>(p, s, buffer, result);
    }
}
#endif
#include "ops/matmul/rows_matrix_amd.h"
#include "ops/matmul/rows_one_amd.h"
#include "ops/matmul/rows_one_nvidia.h"

// What kernels for so many rows take x as.
template <int R> struct RowsOf : Whole {};
#if PLATFORM_AMD
template <> struct RowsOf<MANY_ROWS> : Prepared {};
#endif

template <typename Q, int R> DEVICE void matmul_rows_of(const Rows &p, u8 *memory) {
#if PLATFORM_NVIDIA
    static_assert(R == 1, "several rows: rows_cluster.h");
    matmul_row<Q, Whole>(p, memory, {});
#else
#if AMD_CDNA2
    if constexpr (R == MANY_ROWS && WHOLE_GROUPS<Q>) return matmul_rows_matrix<Q>(p, memory);
#endif
#if AMD_CDNA2
    if constexpr (R == 1) return matmul_row<Q>(p, memory);
#endif
    matmul_rows<Q, R, RowsOf<R>>(p, memory, {});
#endif
}

#if !defined(WIDE) || (PLATFORM_AMD && AMD_CDNA2)
#define ROWS_KERNEL(NAME, BITS, SCALES, GROUP, R)                                                           \
    KERNEL_WAVES(TEAMS * TEAM, 2) void NAME(                                                                \
        const u8 *weights, const f32 *x, const f32 *norm, const f32 *bias, const f32 *residual, f32 *out0,  \
        f32 *out1, f32 *out2, u32 end0, u32 end1, u32 width0, u32 width1, u32 width2,                       \
        f32 eps, u32 rows, u32 cols, u32 tiles, u32 epilogue, u32 end2, u32 width3, f32 *out3) {            \
        DYNAMIC_SHARED(memory);                                                                             \
        const Rows p = {weights, x, norm, {bias, residual, out0, out1, out2, end0, end1, width0,            \
                        width1, width2, epilogue, 0.0f, end2, width3, out3}, eps, rows, cols, tiles, cols}; \
        matmul_rows_of<Quant<BITS, SCALES, GROUP>, R>(p, memory);                                           \
    }
#else
#define ROWS_KERNEL(NAME, BITS, SCALES, GROUP, R)
#endif
// For several rows; on NVIDIA: rows_cluster.h.
#if PLATFORM_AMD
#define MANY_ROWS_KERNEL(NAME, BITS, SCALES, GROUP) ROWS_KERNEL(NAME, BITS, SCALES, GROUP, MANY_ROWS)
#else
#define MANY_ROWS_KERNEL(NAME, BITS, SCALES, GROUP)
#endif
