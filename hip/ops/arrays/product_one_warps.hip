// Products (product.h) of one row with affine codes of 4 bits along k, by NVIDIA's matrix unit; `products_warps`: of one row, or its
// norm, with up to three matrices, what is added to the one included:
//
//   out[n] = Σ_groups back · (scale · Σ_k (code - 8) · x'[k] + (bias + 8 · scale) · Σ_k x'[k]) + plus[n]
//
// or (gated), of two matrices a and b, silu(a's) · b's, rounded to the dtype as operations of their own would be.
//
// x' is x times a power of two, of 32 numbers each, with which the largest of them is just below 2^30, as a whole number; back is the
// power's inverse. Its four digits of 8 bits (with signs) are columns of the unit's products, which are exact: numbers are as exact as
// f32 but for what is 2^-31 of the largest and less (or below 2^-145). A warp takes tiles of 16 columns of the result and DEPTH numbers
// of k: a lane the 32 codes of two groups of two columns. The unit's eight columns are two digits of four groups (zero outside of their
// group), so that a lane is given the sums of the very groups whose scales it reads. Groups of x with infinities and NaN are
// multiplied one by one.
//
// Launch: WARPS warps, which share k out, each with a ring of STAGES steps of codes, scales and biases in shared memory, on their way
// from tile to tile and before x is there; grid (across · batches): each block makes every `across`th tile of a batch, or of all
// matrices. Dynamic shared memory: the rings (STAGE_16 or STAGE_32 bytes a stage, of scales of 16 or 32 bits), then of each group of 32 of k,
// padded to DEPTH, 136 bytes: x' (x where it is odd), its sum, back. k is a multiple of 32, codes lie on multiples of
// 16 bytes, groups are 32 times a power of two. What lies where no kernel of a program writes (`stays`) is read before the launch
// in front has ended.
#include "product_few.h"
#include "vectors.h"
#include "common/copies_nvidia.h"
#include "common/matrix_nvidia.h"

#define WARPS 16
#define STAGES 2
#define STAGE_16 2560
#define STAGE_32 3072
#define DEPTH 256
// Tiles between two barriers.
#define TOGETHER 4

#if PLATFORM_NVIDIA
struct Matrix {
    const void *words, *scales, *biases;
    void *out;
    u32 n;
};
// x times up to three matrices; those that are not there have n 0. With a norm's weight x is normed first. `plus` is added to the
// result of a matrix that is alone. `gated`: tiles are eight columns of a and the same eight of b, whose n is a's, times eight.
struct OneRow {
    const void *x, *weight, *plus;
    Matrix a, b, c;
    u32 k, group, first, across, lanes;
    f32 eps;
    u32 early; // stages that are asked for before x: it would queue behind more if the launch in front ended at once
    bool stays, gated;

    METHOD u32 width() const { return gated ? 8 : 16; }
    METHOD u32 first_b() const { return divide_up(a.n, width()); }
    METHOD u32 first_c() const { return first_b() + (gated ? 0 : divide_up(b.n, 16)); }
    METHOD u32 tiles() const { return first_c() + divide_up(c.n, 16); }
    template <typename T> METHOD T choose(u32 tile, T of_a, T of_b, T of_c) const {
        return tile < first_b() ? of_a : tile < first_c() ? of_b : of_c;
    }
    // The matrix of a tile, and the tile's first column there.
    METHOD Matrix matrix(u32 tile) const {
        return Matrix{choose(tile, a.words, b.words, c.words), choose(tile, a.scales, b.scales, c.scales),
                      choose(tile, a.biases, b.biases, c.biases), choose(tile, a.out, b.out, c.out), choose(tile, a.n, b.n, c.n)};
    }
    METHOD u32 column(u32 tile) const { return (tile - choose(tile, 0u, first_b(), first_c())) * width(); }
};

struct LargestBits {
    DEVICE u32 identity() { return 0; }
    DEVICE u32 combine(u32 a, u32 b) { return a > b ? a : b; }
};

// Piece `piece` (16 bytes, of eight) of a group's digits of x', so that what four pairs of groups have there lies in different banks.
DEVICE u32 piece_at(u32 group, u32 piece) { return group * 128 + (piece ^ (group / 2 % 4 * 2)) * 16; }

// Codes 1, 3, 5 and 7 of a word, less 8, times 16; of a word times 16 codes 0, 2, 4 and 6. `nibbles`: the upper ones.
DEVICE u32 odd_codes(u32 word, u32 nibbles) { return (word & nibbles) ^ 0x80808080u; }

template <u32 DTYPE> DEVICE f32 scale_at(const u8 *at) {
    if constexpr (DTYPE == F32) return *(const f32 *)at;
    return DTYPE == F16 ? to_f32(f16{*(const u16 *)at}) : to_f32(bf16{*(const u16 *)at});
}

// What an operation of its own would have stored.
template <u32 DTYPE> DEVICE f32 as_stored(f32 x) { return DTYPE == F16 ? to_f32(to_f16(x)) : DTYPE == BF16 ? to_f32(to_bf16(x)) : x; }

// The factor of x's norm: the sums of norm_rows.h, whose `lanes` threads share a row (each of their number here has all of it).
struct Norm {
    f32 values[4][4];

    METHOD void load(const OneRow &p) {
        UNROLL for (u32 j = 0; j < 4; j++) {
            const f32x4 x = *((const f32x4 *)p.x + minimum((thread_x() & (p.lanes - 1)) + j * p.lanes, p.k / 4 - 1));
            values[j][0] = x.x, values[j][1] = x.y, values[j][2] = x.z, values[j][3] = x.w;
        }
    }
    METHOD f32 factor(const OneRow &p, f32 *scratch) const {
        f32 sum = 0.0f;
        UNROLL for (u32 j = 0; j < 4; j++) {
            f32 part = 0.0f;
            UNROLL for (u32 i = 0; i < 4; i++) part = mul_add(values[j][i], values[j][i], part);
            sum += (thread_x() & (p.lanes - 1)) + j * p.lanes < p.k / 4 ? part : 0.0f;
        }
        sum = wave_sum<4>(sum);
        if (p.lanes > 4) sum += shuffle_xor<4>(sum);
        if (p.lanes > 8) sum += shuffle_xor<8>(sum);
        if (p.lanes > 16) sum += shuffle_xor<16>(sum);
        if (p.lanes > WAVE) {
            if (lane_id() == 0) scratch[wave_id()] = sum;
            barrier();
            sum = scratch[0];
            UNROLL for (u32 i = 1; i < 256 / WAVE; i++) sum += i < p.lanes / WAVE ? scratch[i] : 0.0f;
        }
        return 1.0f / exact_sqrt(sum / (f32)p.k + p.eps);
    }
};

// Eight numbers of x' from k `at` on to shared memory; of four lanes, which have a group.
DEVICE void prepare(const f32 (&x)[8], u32 at, bool is_there, u8 *digits, f32x2 *sums) {
    u32 most = 0;
    UNROLL for (u32 i = 0; i < 8; i++) most = LargestBits::combine(most, f32_bits(x[i]) & 0x7fffffffu);
    most = wave_reduce<LargestBits, 4>(most);
    // In two steps, as it may be beyond f32's largest.
    const i32 power = 156 - (i32)LargestBits::combine(most >> 23, 11), part = power >> 1;
    const f32 first = bits_f32((u32)(127 + part) << 23), second = bits_f32((u32)(127 + power - part) << 23);
    f32 sum = 0.0f;
    u32 whole[8];
    UNROLL for (u32 i = 0; i < 8; i++) {
        const f32 moved = x[i] * first * second;
        sum += moved;
        whole[i] = ((u32)round_whole(moved) + 0x00808080u) ^ 0x00808080u;
    }
    sum = wave_sum<4>(sum);
    const u32 group = at / 32, w = at / 8 % 4;
    if (most >= 0x7f800000u) {
        UNROLL for (u32 i = 0; i < 8; i++) ((f32 *)digits)[at + i] = x[i];
        if (w == 0) sums[group] = f32x2{0.0f, -1.0f};
        return;
    }
    UNROLL for (u32 low = 0; low < 2; low++) {
        u32 of[2][2]; // digit low or low + 2, of even or odd numbers
        UNROLL for (u32 odd = 0; odd < 2; odd++) {
            const u32 pair = low | (low + 4) << 4, upper = (low + 2) | (low + 6) << 4;
            const u32 a = nibble_select(whole[2 + odd], whole[odd], pair | upper << 8);
            const u32 b = nibble_select(whole[6 + odd], whole[4 + odd], pair | upper << 8);
            of[0][odd] = nibble_select(b, a, 0x5410), of[1][odd] = nibble_select(b, a, 0x7632);
        }
        store16(digits + piece_at(group, 2 * w + low), u32x4{of[0][0], of[0][1], of[1][0], of[1][1]});
    }
    // Codes are 16 times as large.
    const i32 back = power + 4;
    const u32 bits = back <= 126 ? (u32)(127 - back) << 23 : 1u << (149 - back);
    if (w == 0) sums[group] = f32x2{sum * 16.0f, bits_f32(is_there ? bits : 0)};
}

// The steps of a warp, tile after tile, on their way to its ring: of 16 columns 128 bytes of codes each (pieces of 16, of odd columns
// with neighbours changed), then the scales and then the biases. What is not there is not written.
template <u32 SCALES> struct Ring {
    static constexpr u32 SIZE = bytes_of(SCALES), OF_COLUMN = 8 * SIZE, STAGE = 2048 + 32 * OF_COLUMN;
    static_assert(STAGE == (SIZE == 2 ? STAGE_16 : STAGE_32), "the library gives the rings so much");
    u32 stages; // in shared memory
    u32 warp, lane, groups, shift, steps; // groups of 32 of k; of them in one of the scales', as a power of two; of the warp, in a tile
    u32 tile, end, step, left;            // the tile, that of the next matrix, its step, columns from this one on
    const u8 *codes, *side;               // of the tile: what this lane copies of the first four columns; its column's scales, or biases
    i64 between;                          // bytes from where the last eight columns would be to where they are
    u32 of_row, bytes, piece;             // bytes of scales of a column, of a step, that are copied at once

    METHOD void begin_tile(const OneRow &p) {
        const Matrix m = p.matrix(tile);
        const u32 first = p.column(tile);
        end = tile < p.first_b() ? p.first_b() : tile < p.first_c() ? p.first_c() : p.tiles(), left = m.n - first;
        codes = (const u8 *)m.words + (u64)(first + lane / 8) * (p.k / 2) + (warp * 8 + lane % 8) * 16;
        side = (const u8 *)(lane < 16 ? m.scales : m.biases) + (u64)(first + lane % 16) * of_row;
        u32 all = (u32)(u64)m.scales | (u32)(u64)m.biases | of_row | bytes | 16;
        if (p.gated) {
            left = 16, between = (const u8 *)p.b.words - (const u8 *)p.a.words - 8 * (u64)(p.k / 2);
            if (lane % 16 >= 8) side = (const u8 *)(lane < 16 ? p.b.scales : p.b.biases) + (u64)(first + lane % 8) * of_row;
            all |= (u32)(u64)p.b.scales | (u32)(u64)p.b.biases;
        }
        piece = all & (0 - all);
    }
    METHOD void next_tile(const OneRow &p) {
        tile += p.across;
        if (tile < end) {
            const u32 columns = p.across * p.width();
            codes += (u64)columns * (p.k / 2), side += (u64)columns * of_row, left -= p.gated ? 0 : columns;
        } else if (tile < p.tiles())
            begin_tile(p);
    }
    METHOD void begin(const OneRow &p, u8 *memory) {
        warp = wave_id(), lane = lane_id(), stages = shared_address(memory) + warp * (STAGES * STAGE), groups = p.k / 32;
        shift = 26 - leading_zeros(p.group);
        const u32 all = divide_up(groups, 8);
        steps = all > warp ? divide_up(all - warp, WARPS) : 0;
        of_row = (groups >> shift) * SIZE, bytes = (shift < 3 ? 8 >> shift : 1) * SIZE;
        tile = p.first, step = 0, between = 0;
        begin_tile(p);
    }
    // The next step to a slot.
    METHOD void issue(const OneRow &p, u32 slot) {
        if (tile < p.tiles() && steps > 0) {
            const u32 first = (step * WARPS + warp) * 8;
            const u32 to = stages + slot * STAGE, beside = to + 2048 + lane * OF_COLUMN;
            if (first + lane % 8 < groups) {
                const u32 of_lane = to + lane / 8 * 128 + (lane % 8 ^ lane / 8 % 2) * 16;
                const u8 *from = codes + step * (WARPS * 128);
                UNROLL for (u32 i = 0; i < 4; i++)
                    if (4 * i + lane / 8 < left) copy_async<16>(of_lane + i * 512, from + i * 4 * (p.k / 2) + (i < 2 ? 0 : between));
            }
            const u32 at = (first >> shift) * SIZE;
            if (lane % 16 < left) {
                if (piece == 16 && bytes == 16) copy_async<16>(beside, side + at);
                else copy_beside(beside, at);
            }
            if (++step == steps) step = 0, next_tile(p);
        }
        copy_commit();
    }
    METHOD void copy_beside(u32 to, u32 at) const {
        for (u32 i = 0; i < bytes && at + i < of_row; i += piece) {
            const u8 *from = side + at + i;
            if (piece == 16) copy_async<16>(to + i, from);
            else if (piece == 8) copy_async<8>(to + i, from);
            else if (piece == 4) copy_async<4>(to + i, from);
            else store2_shared(to + i, *(const u16 *)from);
        }
    }
};

template <u32 DTYPE, u32 SCALES> DEVICE void one_row(const OneRow &p, u8 *memory) {
    SHARED f32 partial[2][TOGETHER][WARPS][16], scratch[WARPS];
    grid_dependency_launch();
    if (!p.stays) grid_dependency_wait();
    Ring<SCALES> ring;
    ring.begin(p, memory);
    _Pragma("unroll 1") for (u32 i = 0; i < p.early; i++) ring.issue(p, i);
    const u32 lane = lane_id(), warp = wave_id(), g = lane / 4, t = lane % 4;
    const u32 groups = p.k / 32, padded = divide_up(groups, 8) * 8;
    // Of a group: the sum of x', and back (below 0 of odd ones, 0 of those that are not there).
    u8 *digits = memory + WARPS * STAGES * ring.STAGE;
    f32x2 *sums = (f32x2 *)(digits + padded * 128);
    // Each thread takes eight numbers of x at a time, the next ones on their way.
    const auto load = [&](Numbers<DTYPE, 8> &to, const void *from, u32 at) { to.load(from, minimum(at, p.k - 8), 8); };
    const bool is_norm = DTYPE == F32 && p.weight;
    Numbers<DTYPE, 8> x, weight;
    if (is_norm) load(weight, p.weight, thread_x() * 8);
    grid_dependency_wait();
    load(x, p.x, thread_x() * 8);
    Norm norm;
    if (is_norm) norm.load(p);
    _Pragma("unroll 1") for (u32 i = p.early; i < STAGES; i++) ring.issue(p, i);
    const f32 factor = is_norm ? norm.factor(p, scratch) : 1.0f;
    _Pragma("unroll 1") for (u32 at = thread_x() * 8; at < padded * 32; at += WARPS * 256) {
        Numbers<DTYPE, 8> next_x = x, next_weight = weight;
        const u32 next = at + WARPS * 256;
        if (next < padded * 32) {
            load(next_x, p.x, next);
            if (is_norm) load(next_weight, p.weight, next);
        }
        f32 numbers[8];
        UNROLL for (u32 i = 0; i < 8; i++) {
            numbers[i] = at < p.k ? x.number(i) : 0.0f;
            if (is_norm && at < p.k) numbers[i] = numbers[i] * factor * weight.number(i);
        }
        prepare(numbers, at, at < p.k, digits, sums);
        x = next_x, weight = next_weight;
    }
    barrier();
    // Where this lane finds digits of x': zeros but of the unit's columns of its pair of groups.
    const bool has_x = g / 2 == t;
    const u32 x_first = warp * 8 * 128 + piece_at(2 * t, g % 2);
    const u32 tiles = p.tiles(), nibbles = opaque(0xf0f0f0f0u);
    // In a stage: the lane's codes of its first group (of its second: 16 bytes to the other side), its scales.
    const u32 of_codes = g * 128 + (2 * t + g % 2) * 16;
    const i32 other = g % 2 ? -16 : 16;
    const u32 of_scales = 2048 + g * ring.OF_COLUMN + ((2 * t) >> ring.shift) * ring.SIZE;
    const u32 next_scale = (((2 * t + 1) >> ring.shift) - ((2 * t) >> ring.shift)) * ring.SIZE;
    u32 slot = 0, turn = 0;
    for (u32 tile = p.first; tile < tiles; tile += TOGETHER * p.across, turn ^= 1) {
        u32 now = 0;
        for (; now < TOGETHER && tile + now * p.across < tiles; now++) {
            f32 total[2] = {};
            for (u32 step = 0; step < ring.steps; step++) {
                copy_wait<STAGES - 1>();
                wave_barrier();
                const u8 *stage = memory + (warp * STAGES + slot) * ring.STAGE;
                const u32 first = (step * WARPS + warp) * 8 + 2 * t, x_at = x_first + step * (WARPS * 8 * 128);
                const u32x4 both = load16(sums + first);
                UNROLL for (u32 j = 0; j < 2; j++) {
                    const f32 sum = bits_f32(word(both, 2 * j)), back = bits_f32(word(both, 2 * j + 1));
                    const u8 *codes = stage + of_codes + (i32)j * other, *scales = stage + of_scales + j * next_scale;
                    const u32x4 upper = load16(codes), lower = load16(codes + 1024);
                    i32 low[4] = {}, high[4] = {};
                    UNROLL for (u32 w = 0; w < 4; w++) {
                        // Pieces 2 w of the group's line.
                        u32x4 x = {0, 0, 0, 0};
                        if (has_x) x = load16(digits + (x_at ^ 32 * w) + j * 128);
                        const u32 a = word(upper, w), b = word(lower, w);
                        const u32 all[4] = {odd_codes(a << 4, nibbles), odd_codes(b << 4, nibbles), odd_codes(a, nibbles), odd_codes(b, nibbles)};
                        matrix_product_i8(low, all, x.x, x.y);
                        matrix_product_i8(high, all, x.z, x.w);
                    }
                    // Else nothing of it is there, or it is multiplied one by one.
                    const u32 is_even = back > 0.0f ? ~0u : 0;
                    UNROLL for (u32 r = 0; r < 2; r++) {
                        const u8 *at = scales + r * 8 * ring.OF_COLUMN;
                        const f32 scale = scale_at<SCALES>(at), bias = scale_at<SCALES>(at + 16 * ring.OF_COLUMN);
                        const f32 dot = mul_add((f32)(high[2 * r] + 256 * high[2 * r + 1]), 65536.0f,
                                                (f32)(low[2 * r] + 256 * low[2 * r + 1]));
                        const f32 made = mul_add(scale, dot, mul_add(scale, 8.0f, bias) * sum);
                        total[r] = mul_add(bits_f32(f32_bits(made) & is_even), back, total[r]);
                    }
                }
                if (minimum(bits_f32(both.y), bits_f32(both.w)) < 0.0f) {
                    _Pragma("unroll 1") for (u32 i = 0; i < 128; i++) {
                        const u32 j = i / 64, r = i / 32 % 2, k = i % 32;
                        if (bits_f32(j ? both.w : both.y) >= 0.0f) continue;
                        const u8 *at = stage + of_scales + j * next_scale + r * 8 * ring.OF_COLUMN;
                        const f32 scale = scale_at<SCALES>(at), bias = scale_at<SCALES>(at + 16 * ring.OF_COLUMN);
                        const u32 word = ((const u32 *)(stage + of_codes + (i32)j * other + r * 1024))[k / 8];
                        const f32 code = (f32)(word >> (k % 8 * 4) & 15), x = ((const f32 *)digits)[(first + j) * 32 + k];
                        if (r) total[1] = mul_add(x, mul_add(scale, code, bias), total[1]);
                        else total[0] = mul_add(x, mul_add(scale, code, bias), total[0]);
                    }
                }
                wave_barrier();
                ring.issue(p, slot);
                slot = slot + 1 == STAGES ? 0 : slot + 1;
            }
            UNROLL for (u32 r = 0; r < 2; r++) {
                total[r] = wave_sum<4>(total[r]);
                if (t == 0) partial[turn][now][warp][g + 8 * r] = total[r];
            }
        }
        const u32 mine = tile + thread_x() / 16 * p.across, number = thread_x() % 16;
        const bool is_mine = thread_x() < now * 16 && number < p.width();
        const Matrix m = p.matrix(mine);
        const u32 column = p.column(mine) + number;
        f32 plus = 0.0f;
        if (is_mine && p.plus && column < m.n) plus = load_float(p.plus, column, DTYPE);
        barrier();
        if (is_mine && column < m.n) {
            const auto sum_of = [&](u32 number) {
                f32 sum = 0.0f;
                UNROLL for (u32 i = 0; i < WARPS; i++) sum += partial[turn][thread_x() / 16][i][number];
                return as_stored<DTYPE>(sum);
            };
            f32 made = sum_of(number);
            if (p.gated) {
                made = as_stored<DTYPE>(made * as_stored<DTYPE>(unary_float(SIGMOID, made, DTYPE)));
                made *= sum_of(number + 8);
            }
            store_float(m.out, column, DTYPE, p.plus ? made + plus : made);
        }
    }
}

template <u32 DTYPE, u32 SCALES> DEVICE void of_batch(const Product &p, u8 *memory) {
    // Places may be what the launch in front makes.
    if (p.left_places || p.right_places) grid_dependency_wait();
    const u32 z = block_x() / p.across;
    const Codes codes = p.codes(z, SCALES);
    const u8 *x = (const u8 *)p.left + p.left_offset(z) * bytes_of(DTYPE);
    u8 *out = (u8 *)p.out + (u64)z * p.n * bytes_of(DTYPE);
    const Matrix matrix = {codes.words, codes.scales, codes.biases, out, p.n}, none = {};
    one_row<DTYPE, SCALES>(OneRow{x, nullptr, nullptr, matrix, none, none, p.k, p.group, block_x() % p.across, p.across, 0, 0.0f, 1, false, false}, memory);
}

#define ONE_ROW_KERNEL(NAME, ...)                              \
    KERNEL_WAVES(WARPS * 32, 4)                            \
    void NAME(PRODUCT_PARAMETERS) {                            \
        DYNAMIC_SHARED(memory);                                \
        const Product p = PRODUCT_ARGUMENTS;                   \
        of_batch<__VA_ARGS__>(p, (u8 *)memory);                \
    }
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_f32, F32, F32)
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_f32_f16, F32, F16)
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_f32_bf16, F32, BF16)
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_f16, F16, F16)
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_bf16, BF16, BF16)

// As above, of one row (`x`) and matrices a, b and c; b and c may have n 0. `plus` is added to a's.
#define SIBLINGS_KERNEL(NAME, ...)                                                                                          \
    KERNEL_WAVES(WARPS * 32, 4)                                                                                         \
    void NAME(const void *x, const void *weight, const void *plus, const void *words_a, const void *scales_a,              \
              const void *biases_a, void *out_a, const void *words_b, const void *scales_b, const void *biases_b,          \
              void *out_b, const void *words_c, const void *scales_c, const void *biases_c, void *out_c, u32 n_a, u32 n_b, \
              u32 n_c, u32 k, u32 group, u32 across, u32 lanes, f32 eps, u32 early, u32 stays, u32 gated) {                \
        DYNAMIC_SHARED(memory);                                                                                             \
        const Matrix a = {words_a, scales_a, biases_a, out_a, n_a};                                                   \
        const Matrix b = {words_b, scales_b, biases_b, out_b, n_b};                                                \
        const Matrix c = {words_c, scales_c, biases_c, out_c, n_c};                                                \
        const OneRow p = {x, weight, plus, a, b, c, k, group, block_x(), across, lanes, eps, early, stays != 0, gated != 0}; \
        one_row<__VA_ARGS__>(p, (u8 *)memory);                                                                              \
    }
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_f32, F32, F32)
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_f32_f16, F32, F16)
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_f32_bf16, F32, BF16)
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_f16, F16, F16)
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_bf16, BF16, BF16)

#endif
