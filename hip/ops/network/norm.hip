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
// Launch: 256 threads, a row a wave, grid: rows / waves, rounded up; `long`: a row a block, grid: rows; `finer`: the same of
// FINER_TEAM threads, since a lane has more to do for each number, which few rows would wait for: up to 8 numbers. What a lane
// has of rows of up to HELD vectors of 8 stays in registers; longer rows are read again.
#include "common/reduce.h"
#include "ops/network/numbers.h"

#define HELD 4
#define FINER_TEAM 128
// A quarter of the last place of an f16 is this bit of the same number as f32. Bits of numbers of one sign are in the
// numbers' order, so that quarters are added to them and taken from them as to integers. Where rounding left more (of
// numbers that f16 has no normal form of), it is the last of them.
#define QUARTER 11

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

// Adds eight numbers of quarters.
DEVICE void add_low(u32 quarters, f32 *v) {
    UNROLL for (u32 j = 0; j < 8; j++)
        v[j] = bits_f32(f32_bits(v[j]) + ((quarters >> 2 * j & 3) << QUARTER) - (3u << (QUARTER - 1)));
}
// Stores eight numbers, and what rounding left of them.
DEVICE void put_eight_finer(f16 *to, u16 *to_low, const f32 *v) {
    u32 rounded[4], quarters = 0;
    UNROLL for (u32 j = 0; j < 4; j++) {
        rounded[j] = pair_bits(v[2 * j], v[2 * j + 1]);
        const f16x2 pair = {rounded[j]};
        const f32 of_pair[2] = {low(pair), high(pair)};
        UNROLL for (u32 i = 0; i < 2; i++) {
            const u32 left = f32_bits(v[2 * j + i]) - f32_bits(of_pair[i]) + (2u << QUARTER);
            quarters |= minimum(left, (4u << QUARTER) - 1) >> QUARTER << 2 * (2 * j + i);
        }
    }
    store16(to, u32x4{rounded[0], rounded[1], rounded[2], rounded[3]});
    *to_low = (u16)quarters;
}
DEVICE void put_eight_finer(f32 *, u16 *, const f32 *) {}

// Of a wave or, for long rows, of a block.
template <u32 TEAM> DEVICE f32 team_sum(f32 v, f32 *scratch) {
    if constexpr (TEAM == WAVE) return wave_sum(v);
    else return block_sum<TEAM>(v, scratch);
}

// EACH: vectors that a lane holds.
template <typename T, u32 TEAM, u32 EACH = HELD>
DEVICE void norm(const T *x, const u16 *x_low, const T *y, const f32 *weight, const f32 *bias, T *out, u16 *out_low, u32 rows,
                 u32 columns, f32 alpha, f32 eps) {
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
    if (columns % 8 == 0 && columns <= EACH * 8 * TEAM) {
        f32 v[EACH][8];
        Eight<T> of_x[EACH], of_y[EACH];
        u32 of_low[EACH];
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const u32 c = (i * TEAM + lane) * 8;
            if (c >= columns) continue;
            of_x[i].load(p.x + c);
            if (p.y) of_y[i].load(p.y + c);
            if (x_low) of_low[i] = x_low[(start + c) / 8];
        }
        UNROLL for (u32 i = 0; i < EACH; i++) {
            UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = 0.0f;
            if ((i * TEAM + lane) * 8 >= columns) continue;
            of_x[i].get(v[i]);
            if (x_low) add_low(of_low[i], v[i]);
            if (p.y) {
                f32 beside[8];
                of_y[i].get(beside);
                UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = mul_add(alpha, beside[j], v[i][j]);
            }
            UNROLL for (u32 j = 0; j < 8; j++) sum += v[i][j];
        }
        const f32 mean = team_sum<TEAM>(sum, sums) * share;
        UNROLL for (u32 i = 0; i < EACH; i++) {
            if ((i * TEAM + lane) * 8 >= columns) continue;
            UNROLL for (u32 j = 0; j < 8; j++) squares = mul_add(v[i][j] - mean, v[i][j] - mean, squares);
        }
        const f32 scale = fast_rsqrt(team_sum<TEAM>(squares, squared) * share + eps);
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const u32 c = (i * TEAM + lane) * 8;
            if (c >= columns) continue;
            f32 w[8], b[8];
            Eight<f32> of_weight, of_bias;
            of_weight.load(weight + c), of_bias.load(bias + c);
            of_weight.get(w), of_bias.get(b);
            UNROLL for (u32 j = 0; j < 8; j++) v[i][j] = mul_add((v[i][j] - mean) * scale, w[j], b[j]);
            if (out_low) put_eight_finer(out + start + c, out_low + (start + c) / 8, v[i]);
            else put_eight(out + start + c, v[i]);
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
        norm<T, TEAM>(x, nullptr, y, weight, bias, out, nullptr, rows, columns, alpha, eps);                    \
    }
NORM_KERNEL(mlxrocm_network_norm_f16, f16, WAVE)
NORM_KERNEL(mlxrocm_network_norm_f32, f32, WAVE)
NORM_KERNEL(mlxrocm_network_norm_long_f16, f16, 256)
NORM_KERNEL(mlxrocm_network_norm_long_f32, f32, 256)

KERNEL(FINER_TEAM) void mlxrocm_network_norm_finer_f16(const f16 *x, const u16 *x_low, const f16 *y, const f32 *weight,
                                                       const f32 *bias, f16 *out, u16 *out_low, u32 rows, u32 columns, f32 alpha,
                                                       f32 eps) {
    norm<f16, FINER_TEAM, 1>(x, x_low, y, weight, bias, out, out_low, rows, columns, alpha, eps);
}
