// Layer norm of rows of networks, of a sum if y is not null:
//
//   z = x + alpha · y, out[c] = (z[c] - mean) · rsqrt(variance + eps) · weight[c] + bias[c]
//
// x, y, out: T [rows][columns]. weight, bias: f32. Sums in f32, two passes.
//
// `finer`: x_low, out_low: null, or what rounding to f16 left of x and of out, which sums of many layers need: 16 bits for
// eight numbers, 2 each, the first number's the lowest: quarter k of a place around the number, whose middle it is taken for, (k - 1.5)
// quarters from it. Of rows of multiples of 8 numbers that stay in registers only.
//
// Launch: 256 threads, a row a wave, grid: rows / waves, rounded up; `long`: a row a block, grid: rows. What a lane has of
// rows of up to HELD vectors of 8 stays in registers; longer rows are read again. `finer`: a row a wave for many rows;
// `finer_few`: a row a block of FINER_TEAM threads, of up to 8 numbers a lane, with the same bits.
#include "common/reduce.h"
#include "ops/network/numbers.h"

#define HELD 4
#define FINER_TEAM 128
// A quarter of the last place of an f16 is this bit of the same number as f32. Bits of numbers of one sign are in the
// numbers' order, so that quarters are added to them as to integers.
#define QUARTER 11
// Numbers below this are 0 as f16: below 0 are no quarters.
#define LEAST 5.9604645e-8f

template <typename T> struct NormRow {
    const T *x, *y;
    f32 alpha;

    METHOD f32 one(u32 c) const { return to_f32(x[c]) + (y ? alpha * to_f32(y[c]) : 0.0f); }
};
// Eight numbers as they lie in memory: all of a row are loaded before the first is looked at.
template <typename T> struct Eight;
template <> struct Eight<f16> {
    u32x4 raw;

    METHOD void load(const f16 *from) { raw = load16(from); }
    METHOD void get(f32 *v) const {
        UNROLL for (u32 j = 0; j < 4; j++) {
            const f16x2 pair = {word(raw, j)};
            v[2 * j] = low(pair), v[2 * j + 1] = high(pair);
        }
    }
};
template <> struct Eight<f32> {
    f32x4 a, b;

    METHOD void load(const f32 *from) { a = load_f32x4(from), b = load_f32x4(from + 4); }
    METHOD void get(f32 *v) const {
        v[0] = a.x, v[1] = a.y, v[2] = a.z, v[3] = a.w, v[4] = b.x, v[5] = b.y, v[6] = b.z, v[7] = b.w;
    }
};
DEVICE void put_eight(f16 *to, const f32 *v) {
    store16(to, u32x4{pair_bits(v[0], v[1]), pair_bits(v[2], v[3]), pair_bits(v[4], v[5]), pair_bits(v[6], v[7])});
}
DEVICE void put_eight(f32 *to, const f32 *v) {
    store_f32x4(to, f32x4{v[0], v[1], v[2], v[3]});
    store_f32x4(to + 4, f32x4{v[4], v[5], v[6], v[7]});
}

// Of a wave or, for long rows, of a block.
template <u32 TEAM> DEVICE f32 team_sum(f32 v, f32 *scratch) {
    if constexpr (TEAM == WAVE) return wave_sum(v);
    else return block_sum<TEAM>(v, scratch);
}

template <typename T, u32 TEAM>
DEVICE void norm(const T *x, const T *y, const f32 *weight, const f32 *bias, T *out, u32 rows, u32 columns, f32 alpha, f32 eps) {
    SHARED f32 sums[256 / WAVE], squared[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = TEAM == WAVE ? block_x() * (256 / WAVE) + uniform(thread_x() / WAVE) : block_x();
    const u32 lane = TEAM == WAVE ? lane_id() : thread_x();
    if (row >= rows) return;
    const u64 start = (u64)row * columns;
    const NormRow<T> p = {x + start, y ? y + start : nullptr, alpha};
    const f32 share = 1.0f / (f32)columns;
    f32 sum = 0.0f, squares = 0.0f;
    if (columns % 8 == 0 && columns <= HELD * 8 * TEAM) {
        f32 v[HELD][8];
        Eight<T> of_x[HELD], of_y[HELD];
        UNROLL for (u32 i = 0; i < HELD; i++) {
            const u32 c = (i * TEAM + lane) * 8;
            if (c >= columns) continue;
            of_x[i].load(p.x + c);
            if (p.y) of_y[i].load(p.y + c);
        }
        UNROLL for (u32 i = 0; i < HELD; i++) {
            UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = 0.0f;
            if ((i * TEAM + lane) * 8 >= columns) continue;
            of_x[i].get(v[i]);
            if (p.y) {
                f32 beside[8];
                of_y[i].get(beside);
                UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = mul_add(alpha, beside[j], v[i][j]);
            }
            UNROLL for (u32 j = 0; j < 8; j++) sum += v[i][j];
        }
        const f32 mean = team_sum<TEAM>(sum, sums) * share;
        UNROLL for (u32 i = 0; i < HELD; i++) {
            if ((i * TEAM + lane) * 8 >= columns) continue;
            UNROLL for (u32 j = 0; j < 8; j++) squares = mul_add(v[i][j] - mean, v[i][j] - mean, squares);
        }
        const f32 scale = fast_rsqrt(team_sum<TEAM>(squares, squared) * share + eps);
        UNROLL for (u32 i = 0; i < HELD; i++) {
            const u32 c = (i * TEAM + lane) * 8;
            if (c >= columns) continue;
            f32 w[8], b[8];
            Eight<f32> of_weight, of_bias;
            of_weight.load(weight + c), of_bias.load(bias + c);
            of_weight.get(w), of_bias.get(b);
            UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = mul_add((v[i][j] - mean) * scale, w[j], b[j]);
            put_eight(out + start + c, v[i]);
        }
        return;
    }
    for (u32 c = lane; c < columns; c += TEAM) sum += p.one(c);
    const f32 mean = team_sum<TEAM>(sum, sums) * share;
    for (u32 c = lane; c < columns; c += TEAM) squares = mul_add(p.one(c) - mean, p.one(c) - mean, squares);
    const f32 scale = fast_rsqrt(team_sum<TEAM>(squares, squared) * share + eps);
    for (u32 c = lane; c < columns; c += TEAM) put(out + start + c, mul_add((p.one(c) - mean) * scale, weight[c], bias[c]));
}

#define NORM_KERNEL(NAME, T, TEAM)                                                                              \
    KERNEL(256) void NAME(const T *x, const T *y, const f32 *weight, const f32 *bias, T *out, u32 rows, u32 columns, \
                          f32 alpha, f32 eps) {                                                                 \
        norm<T, TEAM>(x, y, weight, bias, out, rows, columns, alpha, eps);                                      \
    }
NORM_KERNEL(mlxrocm_network_norm_f16, f16, WAVE)
NORM_KERNEL(mlxrocm_network_norm_f32, f32, WAVE)
NORM_KERNEL(mlxrocm_network_norm_long_f16, f16, 256)
NORM_KERNEL(mlxrocm_network_norm_long_f32, f32, 256)

// Adds eight numbers of quarters. The low 13 bits of an f16 as f32 are 0.
DEVICE void add_low(u32 quarters, f32 *v) {
    UNROLL for (u32 j = 0; j < 8; j++) {
        const u32 moved = 2 * j <= QUARTER ? quarters << (QUARTER - 2 * j) : quarters >> (2 * j - QUARTER);
        v[j] = bits_f32((f32_bits(v[j]) | (moved & 3u << QUARTER)) - (3u << (QUARTER - 1)));
    }
}
// Stores eight numbers, and what rounding left of them. That are the bits of the number that rounding dropped, less a place
// if it rounded up: the upper one of the two then is set. So no number may lie in the middle of two: the last bit is set.
DEVICE void put_eight_finer(f16 *to, u16 *to_low, f32 *v) {
    u32 quarters = 0;
    f32 least = absolute(v[0]);
    UNROLL for (u32 j = 0; j < 8; j++) {
        const u32 bits = f32_bits(v[j]);
        quarters |= (2 * j <= QUARTER ? bits >> (QUARTER - 2 * j) : bits << (2 * j - QUARTER)) & 3u << 2 * j;
        least = minimum(least, absolute(v[j]));
        v[j] = bits_f32(bits | 1);
    }
    put_eight(to, v);
    quarters ^= 0xaaaa;
    if (least < LEAST)
        UNROLL for (u32 j = 0; j < 8; j++)
            if (absolute(v[j]) < LEAST) quarters = (quarters & ~(3u << 2 * j)) | 2u << 2 * j;
    *to_low = (u16)quarters;
}

// The sum of FINER_TEAM numbers, in one order: of a block, one of each lane, or of a wave, EACH of a lane.
template <u32 TEAM, u32 EACH> DEVICE f32 finer_sum(const f32 *v, f32 *scratch) {
    f32 sum = v[0];
    if constexpr (TEAM == WAVE) {
        UNROLL for (u32 i = 1; i < EACH; i++) sum += v[i];
    } else {
        scratch[thread_x()] = v[0];
        barrier();
        sum = scratch[lane_id()];
        UNROLL for (u32 i = 1; i < TEAM / WAVE; i++) sum += scratch[i * WAVE + lane_id()];
    }
    return wave_sum(sum);
}

template <u32 TEAM>
DEVICE void norm_finer(const f16 *x, const u16 *x_low, const f16 *y, const f32 *weight, const f32 *bias, f16 *out, u16 *out_low,
                       u32 rows, u32 columns, f32 alpha, f32 eps) {
    constexpr u32 EACH = FINER_TEAM / TEAM;
    SHARED f32 scratch[TEAM == WAVE ? 1 : 2 * FINER_TEAM];
    grid_dependency_launch();
    const u32 row = TEAM == WAVE ? block_x() * (256 / WAVE) + uniform(thread_x() / WAVE) : block_x();
    const u32 lane = TEAM == WAVE ? lane_id() : thread_x();
    Eight<f32> of_weight, of_bias;
    // Constants, which need not wait.
    if (EACH == 1 && lane * 8 < columns) of_weight.load(weight + lane * 8), of_bias.load(bias + lane * 8);
    grid_dependency_wait();
    if (row >= rows) return;
    const u64 start = (u64)row * columns;
    const f32 share = 1.0f / (f32)columns;
    f32 v[EACH][8], sums[EACH], squares[EACH];
    Eight<f16> of_x[EACH], of_y[EACH];
    u32 of_low[EACH];
    UNROLL for (u32 i = 0; i < EACH; i++) {
        const u32 c = (i * TEAM + lane) * 8;
        if (c >= columns) continue;
        of_x[i].load(x + start + c);
        if (y) of_y[i].load(y + start + c);
        if (x_low) of_low[i] = x_low[(start + c) / 8];
    }
    UNROLL for (u32 i = 0; i < EACH; i++) {
        sums[i] = squares[i] = 0.0f;
        if ((i * TEAM + lane) * 8 >= columns) continue;
        of_x[i].get(v[i]);
        if (x_low) add_low(of_low[i], v[i]);
        if (y) {
            f32 beside[8];
            of_y[i].get(beside);
            UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = mul_add(alpha, beside[j], v[i][j]);
        }
        UNROLL for (u32 j = 0; j < 8; j++) sums[i] += v[i][j];
    }
    // Products that are added to are fused by hand: both forms give the same bits.
    const f32 sum = finer_sum<TEAM, EACH>(sums, scratch);
    UNROLL for (u32 i = 0; i < EACH; i++) {
        if ((i * TEAM + lane) * 8 >= columns) continue;
        UNROLL for (u32 j = 0; j < 8; j++) {
            v[i][j] = mul_add(sum, -share, v[i][j]);
            squares[i] = mul_add(v[i][j], v[i][j], squares[i]);
        }
    }
    const f32 all_squares = finer_sum<TEAM, EACH>(squares, scratch + (TEAM == WAVE ? 0 : FINER_TEAM));
    const f32 scale = fast_rsqrt(mul_add(all_squares, share, eps));
    UNROLL for (u32 i = 0; i < EACH; i++) {
        const u32 c = (i * TEAM + lane) * 8;
        if (c >= columns) continue;
        f32 w[8], b[8];
        if (EACH > 1) of_weight.load(weight + c), of_bias.load(bias + c);
        of_weight.get(w), of_bias.get(b);
        UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = mul_add(v[i][j] * scale, w[j], b[j]);
        if (out_low) put_eight_finer(out + start + c, out_low + (start + c) / 8, v[i]);
        else put_eight(out + start + c, v[i]);
    }
}

#define NORM_FINER_KERNEL(NAME, THREADS, TEAM)                                                                             \
    KERNEL(THREADS) void NAME(const f16 *x, const u16 *x_low, const f16 *y, const f32 *weight, const f32 *bias, f16 *out,  \
                              u16 *out_low, u32 rows, u32 columns, f32 alpha, f32 eps) {                                   \
        norm_finer<TEAM>(x, x_low, y, weight, bias, out, out_low, rows, columns, alpha, eps);                              \
    }
NORM_FINER_KERNEL(mlxrocm_network_norm_finer_f16, 256, WAVE)
NORM_FINER_KERNEL(mlxrocm_network_norm_finer_few_f16, FINER_TEAM, FINER_TEAM)
