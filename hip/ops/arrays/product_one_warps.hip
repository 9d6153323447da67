// Products (product.h) of one row with affine codes of 4 bits along k, by NVIDIA's matrix unit; `products_warps`: of one row, or its
// norm, with up to three matrices, what is added to the one included:
//
//   out[n] = Σ_groups back · (scale · Σ_k (code - 8) · x'[k] + (bias + 8 · scale) · Σ_k x'[k]) + plus[n]
//
// x' is x times a power of two, of 32 numbers each, with which the largest of them is just below 2^15, as the sum of two f16: the
// rest that the first leaves is rounded to the second, so that x' is as exact as f32 but for what is 2^-39 of the largest and less;
// back is the power's inverse. Codes are exact in f16. A warp takes tiles of 16 columns of the result and 128 numbers of k: a lane
// the 32 codes of a group (or of a part of a larger one) of two columns, as they lie. The unit's eight columns are four groups' two
// parts of x' (zero outside of their group), so that a lane is given the sums of the very groups whose scales it has read. Groups of
// x with infinities and NaN are multiplied one by one. (x' as whole numbers of four bytes for the unit's i8 takes a third of the
// instructions for the codes, and was 3 % slower on an H200: these are not what it waits for.)
//
// Launch: 8 warps, which share k out, four steps of codes on their way; grid (across · batches): each block makes every `across`th
// tile of a batch, or of all matrices. Dynamic shared memory: 136 bytes a group of 32: x', or x where it is odd, its sum, back. k is
// a multiple of 32, codes lie on multiples of 16 bytes, groups are 32 times a power of two. What lies where no kernel of a program
// writes (`stays`) is read before the launch in front has ended.
#include "product_few.h"
#include "norm_rows.h"
#include "common/matrix_nvidia.h"

#if PLATFORM_NVIDIA

#define WARPS 8
#define AHEAD 4

struct Matrix {
    const void *words, *scales, *biases;
    void *out;
    u32 n;
};
// x times up to three matrices; those that are not there have n 0. With a norm's weight x is normed first. `plus` is added to the
// result of a matrix that is alone.
struct OneRow {
    const void *x, *weight, *plus;
    Matrix a, b, c;
    u32 k, group, first, across, lanes;
    f32 eps;
    bool stays;

    METHOD u32 first_b() const { return divide_up(a.n, 16); }
    METHOD u32 first_c() const { return first_b() + divide_up(b.n, 16); }
    METHOD u32 tiles() const { return first_c() + divide_up(c.n, 16); }
    template <typename T> METHOD T choose(u32 tile, T of_a, T of_b, T of_c) const {
        return tile < first_b() ? of_a : tile < first_c() ? of_b : of_c;
    }
    // The matrix of a tile, and the tile's first column there.
    METHOD Matrix matrix(u32 tile) const {
        return Matrix{choose(tile, a.words, b.words, c.words), choose(tile, a.scales, b.scales, c.scales),
                      choose(tile, a.biases, b.biases, c.biases), choose(tile, a.out, b.out, c.out), choose(tile, a.n, b.n, c.n)};
    }
    METHOD u32 column(u32 tile) const { return (tile - choose(tile, 0u, first_b(), first_c())) * 16; }
};

struct LargestBits {
    DEVICE u32 identity() { return 0; }
    DEVICE u32 combine(u32 a, u32 b) { return a > b ? a : b; }
};

// Piece `piece` (16 bytes, of four) of the line of a group's part, so that eight lines' pieces lie in different banks.
DEVICE u32 piece_at(u32 line, u32 piece) { return line * 64 + (piece ^ (line / 2 % 4)) * 16; }

// Codes i and i + 4 (i from 0 to 3) of a word, less 8.
DEVICE void decode(u32 word, u32 (&pairs)[4]) {
    UNROLL for (u32 i = 0; i < 4; i += 2) {
        const u32 bits = word >> (4 * i);
        pairs[i] = sub(f16x2{and_or(bits, 0x000f000fu, 0x64006400u)}, f16x2{0x64086408u}).bits;
        // 1024 + 16 · code
        pairs[i + 1] = mul_add(f16x2{and_or(bits, 0x00f000f0u, 0x64006400u)}, f16x2{0x2c002c00u}, f16x2{0xd480d480u}).bits;
    }
}

// Affine scales or biases as they lie, until they are needed.
template <u32 DTYPE> DEVICE u32 scale_bits(const void *scales, u64 at) {
    if constexpr (DTYPE == F32) return ((const u32 *)scales)[at];
    return ((const u16 *)scales)[at];
}
template <u32 DTYPE> DEVICE f32 scale_of(u32 bits) {
    if constexpr (DTYPE == F32) return bits_f32(bits);
    return DTYPE == F16 ? to_f32(f16{(u16)bits}) : to_f32(bf16{(u16)bits});
}

// A step of a warp: 128 numbers of k of 16 columns.
struct Step {
    u32x4 words[2];
    u32 scales[2], biases[2];
};

// The factor of x's norm, by the sums of norm_rows.h.
template <int LANES> DEVICE f32 norm_factor(const OneRow &p, f32 *scratch) {
    Row<F32, LANES> row;
    row.load(p.x, 1, p.k);
    return row_factor<false>(row, 0.0f, p.k, p.eps, scratch);
}

// Four numbers of x' to shared memory; of eight lanes, which have a group.
DEVICE void prepare(const f32 (&x)[4], u32 at, u32 k, u8 *memory, f32x2 *sums) {
    u32 most = 0;
    UNROLL for (u32 i = 0; i < 4; i++) most = LargestBits::combine(most, f32_bits(x[i]) & 0x7fffffffu);
    most = wave_reduce<LargestBits, 8>(most);
    const bool is_odd = most >= 0x7f800000u;
    // Of the smallest numbers the power is the largest whose inverse is no subnormal number.
    const u32 exponent = LargestBits::combine(most >> 23, 16);
    const f32 power = bits_f32((268 - exponent) << 23), back = is_odd ? 0.0f : bits_f32((exponent - 14) << 23);
    u32 words[2], rests[2];
    f32 sum = 0.0f;
    UNROLL for (u32 i = 0; i < 2; i++) {
        const f32 low = x[2 * i] * power, high = x[2 * i + 1] * power;
        const f16x2 both = pack_f16x2(low, high);
        words[i] = both.bits;
        rests[i] = pack_f16x2(low - to_f32(f16{(u16)both.bits}), high - to_f32(f16{(u16)(both.bits >> 16)})).bits;
        sum += low + high;
    }
    sum = wave_sum<8>(sum);
    if (at >= k) return;
    const u32 line = at / 32 * 2, piece = at / 8 % 4, half = at / 4 % 2 * 8;
    if (is_odd) {
        store16(memory + at * 4, u32x4{f32_bits(x[0]), f32_bits(x[1]), f32_bits(x[2]), f32_bits(x[3])});
    } else {
        store8(memory + piece_at(line, piece) + half, u32x2{words[0], words[1]});
        store8(memory + piece_at(line + 1, piece) + half, u32x2{rests[0], rests[1]});
    }
    if (lane_id() % 8 == 0) sums[at / 32] = f32x2{sum, back};
}

template <u32 DTYPE, u32 SCALES> DEVICE void one_row(const OneRow &p, u8 *memory) {
    constexpr u32 BATCH = 4;
    SHARED f32 partial[2][WARPS][16], scratch[WARPS];
    grid_dependency_launch();
    if (!p.stays) grid_dependency_wait();
    const u32 lane = lane_id(), warp = wave_id(), g = lane / 4, t = lane % 4, groups = p.k / 32;
    const u32 tiles = p.tiles(), of_tile = divide_up(divide_up(groups, 4), WARPS);
    const u32 of_row = p.k / p.group, group_shift = 26 - leading_zeros(p.group); // groups of 32 in one of the scales'
    // Of a group: the sum of x', and back (0 of odd ones).
    f32x2 *sums = (f32x2 *)(memory + groups * 128);
    // Steps of this warp, tile after tile, those that follow on their way.
    u32 next_tile = p.first, next_step = 0;
    const auto load = [&](Step &step) {
        const u32 group = minimum((next_step * WARPS + warp) * 4 + t, groups - 1);
        const Matrix m = p.matrix(next_tile);
        const u32 first = p.column(next_tile);
        UNROLL for (u32 r = 0; r < 2; r++) {
            const u32 row = minimum(first + g + 8 * r, m.n - 1);
            const u64 at = (u64)row * of_row + (group >> group_shift);
            step.words[r] = load16_stream((const u32 *)m.words + (u64)row * (p.k / 8) + group * 4);
            step.scales[r] = scale_bits<SCALES>(m.scales, at), step.biases[r] = scale_bits<SCALES>(m.biases, at);
        }
        if (++next_step == of_tile) next_step = 0, next_tile += p.across;
        // What is behind the last is the last again, and not used.
        if (next_tile >= tiles) next_tile = tiles - 1;
    };
    Step ahead[AHEAD];
    UNROLL for (u32 a = 0; a < AHEAD; a++) load(ahead[a]);
    if (p.stays) grid_dependency_wait();
    f32 factor = 1.0f;
    if constexpr (DTYPE == F32) {
        if (p.weight) {
            factor = p.lanes == 256   ? norm_factor<256>(p, scratch)
                     : p.lanes == 128 ? norm_factor<128>(p, scratch)
                     : p.lanes == 32  ? norm_factor<32>(p, scratch)
                                      : norm_factor<8>(p, scratch);
        }
    }
    for (u32 from = warp * 128; from < p.k; from += 1024 * BATCH) {
        Numbers<DTYPE, 4> x[BATCH], weight[BATCH];
        UNROLL for (u32 j = 0; j < BATCH; j++) {
            const u32 at = minimum(from + 1024 * j + lane * 4, p.k - 4);
            x[j].load(p.x, at, 4);
            if (DTYPE == F32 && p.weight) weight[j].load(p.weight, at, 4);
        }
        UNROLL for (u32 j = 0; j < BATCH; j++) {
            if (from + 1024 * j >= p.k) break;
            f32 numbers[4];
            UNROLL for (u32 i = 0; i < 4; i++) {
                numbers[i] = x[j].number(i);
                if (DTYPE == F32 && p.weight) numbers[i] = numbers[i] * factor * weight[j].number(i);
            }
            prepare(numbers, from + 1024 * j + lane * 4, p.k, memory, sums);
        }
    }
    barrier();
    const bool has_x = g / 2 == t;
    u32 tile = p.first, step = 0, turn = 0;
    f32 total[2] = {};
    while (tile < tiles) {
        UNROLL for (u32 a = 0; a < AHEAD; a++) {
            const u32 group = (step * WARPS + warp) * 4 + t;
            const bool is_there = group < groups;
            const f32x2 of_group = is_there ? sums[group] : f32x2{0.0f, 0.0f};
            const bool is_even = of_group.y != 0.0f;
            f32 dots[2][4] = {};
            UNROLL for (u32 w = 0; w < 4; w++) {
                u32x4 x = {0, 0, 0, 0};
                if (has_x && is_even) x = load16(memory + piece_at(2 * group + g % 2, w));
                u32 upper[4], lower[4];
                decode(word(ahead[a].words[0], w), upper), decode(word(ahead[a].words[1], w), lower);
                const u32 front[4] = {upper[0], lower[0], upper[1], lower[1]};
                const u32 behind[4] = {upper[2], lower[2], upper[3], lower[3]};
                matrix_product(dots[0], front, x.x, x.y);
                matrix_product(dots[1], behind, x.z, x.w);
            }
            UNROLL for (u32 r = 0; r < 2; r++) {
                const f32 scale = scale_of<SCALES>(ahead[a].scales[r]), bias = scale_of<SCALES>(ahead[a].biases[r]);
                const f32 dot = dots[0][2 * r] + dots[0][2 * r + 1] + dots[1][2 * r] + dots[1][2 * r + 1];
                const f32 made = mul_add(scale, dot, mul_add(scale, 8.0f, bias) * of_group.x);
                if (is_even) total[r] = mul_add(made, of_group.y, total[r]);
                if (is_there && !is_even)
                    for (u32 i = 0; i < 32; i++) {
                        const f32 code = (f32)(word(ahead[a].words[r], i / 8) >> (i % 8 * 4) & 15);
                        total[r] = mul_add(((const f32 *)memory)[group * 32 + i], mul_add(scale, code, bias), total[r]);
                    }
            }
            load(ahead[a]);
            if (++step < of_tile) continue;
            UNROLL for (u32 r = 0; r < 2; r++) {
                total[r] = wave_sum<4>(total[r]);
                if (t == 0) partial[turn][warp][g + 8 * r] = total[r];
                total[r] = 0.0f;
            }
            barrier();
            const Matrix m = p.matrix(tile);
            const u32 column = p.column(tile) + thread_x();
            if (thread_x() < 16 && column < m.n) {
                f32 sum = 0.0f;
                UNROLL for (u32 i = 0; i < WARPS; i++) sum += partial[turn][i][thread_x()];
                store_float(m.out, column, DTYPE, sum);
                // As an operation of its own would add it.
                if (p.plus) store_float(m.out, column, DTYPE, load_float(m.out, column, DTYPE) + load_float(p.plus, column, DTYPE));
            }
            step = 0, turn ^= 1, tile += p.across;
            if (tile >= tiles) break;
        }
    }
}

template <u32 DTYPE, u32 SCALES> DEVICE void of_batch(const Product &p, u8 *memory) {
    const u32 z = block_x() / p.across;
    const Codes codes = p.codes(z, SCALES);
    const u8 *x = (const u8 *)p.left + p.left_offset(z) * bytes_of(DTYPE);
    u8 *out = (u8 *)p.out + (u64)z * p.n * bytes_of(DTYPE);
    const Matrix matrix = {codes.words, codes.scales, codes.biases, out, p.n}, none = {};
    one_row<DTYPE, SCALES>(OneRow{x, nullptr, nullptr, matrix, none, none, p.k, p.group, block_x() % p.across, p.across, 0, 0.0f, false}, memory);
}

#define ONE_ROW_KERNEL(NAME, ...)                              \
    KERNEL_WAVES(256, 4)                                       \
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
    KERNEL_WAVES(256, 4)                                                                                                    \
    void NAME(const void *x, const void *weight, const void *plus, const void *words_a, const void *scales_a,              \
              const void *biases_a, void *out_a, const void *words_b, const void *scales_b, const void *biases_b,          \
              void *out_b, const void *words_c, const void *scales_c, const void *biases_c, void *out_c, u32 n_a, u32 n_b, \
              u32 n_c, u32 k, u32 group, u32 across, u32 lanes, f32 eps, u32 stays) {                                       \
        DYNAMIC_SHARED(memory);                                                                                             \
        const Matrix a = {words_a, scales_a, biases_a, out_a, n_a};                                                   \
        const Matrix b = {words_b, scales_b, biases_b, out_b, n_b};                                                \
        const Matrix c = {words_c, scales_c, biases_c, out_c, n_c};                                                \
        one_row<__VA_ARGS__>(OneRow{x, weight, plus, a, b, c, k, group, block_x(), across, lanes, eps, stays != 0}, (u8 *)memory); \
    }
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_f32, F32, F32)
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_f32_f16, F32, F16)
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_f32_bf16, F32, BF16)
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_f16, F16, F16)
SIBLINGS_KERNEL(mlxrocm_array_products_warps_codes_bf16, BF16, BF16)

#endif
