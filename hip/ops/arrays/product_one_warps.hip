// Products (product.h) of one row with affine codes of 4 bits along k, by NVIDIA's matrix unit:
//
//   out[n] = back · Σ_groups (scale · Σ_k (code - 8) · x'[k] + (bias + 8 · scale) · Σ_k x'[k])
//
// x' is x times a power of two with which the largest number is just below 2^15, as the sum of two f16: the rest that the first
// leaves is rounded to the second, so that x' is as exact as f32 but for what is 2^-39 of the largest and less; back is the
// power's inverse. Codes are exact in f16. A warp takes tiles of 16 columns of the result and 128 numbers of k: a lane the 32
// codes of a group (or of a part of a larger one) of two columns, as they lie. The unit's eight columns are four groups' two
// parts of x' (zero outside of their group), so that a lane is given the sums of the very groups whose scales it has read. With
// infinities and NaN in x everything is multiplied one by one.
//
// Launch: 8 warps, which share k out, four steps of codes on their way; grid (across · batches): each block makes every `across`th
// tile of a batch. Dynamic shared memory: 128 bytes of x' and a sum (f32) a group of 32. k is a multiple of 32, codes lie on
// multiples of 16 bytes, groups are 32 times a power of two.
#include "product_few.h"
#include "common/matrix_nvidia.h"

#if PLATFORM_NVIDIA

#define WARPS 8
#define AHEAD 4

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

template <u32 DTYPE, u32 SCALES> DEVICE void one_row(const Product &p, u8 *memory) {
    SHARED f32 partial[2][WARPS][16];
    SHARED u32 largest[WARPS];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 lane = lane_id(), warp = wave_id(), g = lane / 4, t = lane % 4, z = block_x() / p.across, groups = p.k / 32;
    const u32 tiles = divide_up(p.n, 16), steps = divide_up(groups, 4), of_tile = divide_up(steps, WARPS);
    const i64 left = p.left_offset(z);
    const Codes codes = p.codes(z, SCALES);
    const u32 of_row = p.k / p.group, group_shift = 26 - leading_zeros(p.group); // groups of 32 in one of the scales'
    f32 *sums = (f32 *)(memory + groups * 128);
    // Steps of this warp, tile after tile, those that follow on their way.
    u32 next_tile = block_x() % p.across, next_step = 0;
    const auto load = [&](Step &step) {
        const u32 group = minimum((next_step * WARPS + warp) * 4 + t, groups - 1);
        UNROLL for (u32 r = 0; r < 2; r++) {
            const u32 row = minimum(next_tile * 16 + g + 8 * r, p.n - 1);
            const u64 at = (u64)row * of_row + (group >> group_shift);
            step.words[r] = load16_stream(codes.words + (u64)row * (p.k / 8) + group * 4);
            step.scales[r] = scale_bits<SCALES>(codes.scales, at), step.biases[r] = scale_bits<SCALES>(codes.biases, at);
        }
        if (++next_step == of_tile) next_step = 0, next_tile += p.across;
        // What is behind the last is the last again, and not used.
        if (next_tile >= tiles) next_tile = tiles - 1;
    };
    Step ahead[AHEAD];
    UNROLL for (u32 a = 0; a < AHEAD; a++) load(ahead[a]);
    u32 most = 0;
    for (u32 k = thread_x() * 8; k < p.k; k += 256 * 8) {
        Numbers<DTYPE, 8> x;
        x.load_all(p.left, left + k);
        u32 bits[8];
        UNROLL for (u32 i = 0; i < 8; i++) bits[i] = f32_bits(x.number(i)), most = LargestBits::combine(most, bits[i] & 0x7fffffffu);
        const u32 line = k / 32 * 2, piece = k / 8 % 4;
        store16(memory + piece_at(line, piece), u32x4{bits[0], bits[1], bits[2], bits[3]});
        store16(memory + piece_at(line + 1, piece), u32x4{bits[4], bits[5], bits[6], bits[7]});
    }
    most = wave_reduce<LargestBits>(most);
    if (lane == 0) largest[warp] = most;
    barrier();
    UNROLL for (u32 i = 0; i < WARPS; i++) most = LargestBits::combine(most, largest[i]);
    const bool is_odd = most >= 0x7f800000u;
    // Of the smallest numbers the power is the largest whose inverse is no subnormal number.
    const u32 exponent = LargestBits::combine(most >> 23, 16);
    const f32 power = bits_f32((268 - exponent) << 23), back = bits_f32((exponent - 14) << 23);
    for (u32 k = thread_x() * 8; k < divide_up(p.k, 2048) * 2048; k += 256 * 8) {
        f32 sum = 0.0f;
        if (k < p.k) {
            const u32 line = k / 32 * 2, piece = k / 8 % 4;
            const u32x4 first = load16(memory + piece_at(line, piece)), second = load16(memory + piece_at(line + 1, piece));
            u32 words[4], rests[4];
            UNROLL for (u32 i = 0; i < 4; i++) {
                const f32 low = bits_f32(word(first, i)) * power, high = bits_f32(word(second, i)) * power;
                const f16x2 both = pack_f16x2(low, high);
                words[i] = both.bits;
                rests[i] = pack_f16x2(low - to_f32(f16{(u16)both.bits}), high - to_f32(f16{(u16)(both.bits >> 16)})).bits;
                sum += low + high;
            }
            store16(memory + piece_at(line, piece), u32x4{words[0], words[1], words[2], words[3]});
            store16(memory + piece_at(line + 1, piece), u32x4{rests[0], rests[1], rests[2], rests[3]});
        }
        sum = wave_sum<4>(sum);
        if (k < p.k && lane % 4 == 0) sums[k / 32] = sum;
    }
    barrier();
    const bool has_x = g / 2 == t;
    u32 tile = block_x() % p.across, step = 0, turn = 0;
    f32 total[2] = {};
    while (tile < tiles) {
        UNROLL for (u32 a = 0; a < AHEAD; a++) {
            const u32 group = (step * WARPS + warp) * 4 + t;
            const bool is_there = group < groups;
            if (!is_odd) {
                f32 dots[2][4] = {};
                UNROLL for (u32 w = 0; w < 4; w++) {
                    u32x4 x = {0, 0, 0, 0};
                    if (has_x && is_there) x = load16(memory + piece_at(2 * group + g % 2, w));
                    u32 upper[4], lower[4];
                    decode(word(ahead[a].words[0], w), upper), decode(word(ahead[a].words[1], w), lower);
                    const u32 front[4] = {upper[0], lower[0], upper[1], lower[1]};
                    const u32 behind[4] = {upper[2], lower[2], upper[3], lower[3]};
                    matrix_product(dots[0], front, x.x, x.y);
                    matrix_product(dots[1], behind, x.z, x.w);
                }
                const f32 sum = is_there ? sums[group] : 0.0f;
                UNROLL for (u32 r = 0; r < 2; r++) {
                    const f32 scale = scale_of<SCALES>(ahead[a].scales[r]), bias = scale_of<SCALES>(ahead[a].biases[r]);
                    const f32 dot = dots[0][2 * r] + dots[0][2 * r + 1] + dots[1][2 * r] + dots[1][2 * r + 1];
                    const f32 made = mul_add(scale, dot, mul_add(scale, 8.0f, bias) * sum);
                    total[r] += is_there ? made : 0.0f;
                }
            } else if (is_there) {
                UNROLL for (u32 r = 0; r < 2; r++) {
                    const f32 scale = scale_of<SCALES>(ahead[a].scales[r]), bias = scale_of<SCALES>(ahead[a].biases[r]);
                    for (u32 i = 0; i < 32; i++) {
                        const f32 code = (f32)(word(ahead[a].words[r], i / 8) >> (i % 8 * 4) & 15);
                        total[r] = mul_add(load_float(p.left, left + group * 32 + i, DTYPE), mul_add(scale, code, bias), total[r]);
                    }
                }
            }
            load(ahead[a]);
            if (++step < of_tile) continue;
            UNROLL for (u32 r = 0; r < 2; r++) {
                total[r] = wave_sum<4>(total[r]);
                if (t == 0) partial[turn][warp][g + 8 * r] = is_odd ? total[r] : total[r] * back;
                total[r] = 0.0f;
            }
            barrier();
            const u32 column = tile * 16 + thread_x();
            if (thread_x() < 16 && column < p.n) {
                f32 sum = 0.0f;
                UNROLL for (u32 i = 0; i < WARPS; i++) sum += partial[turn][i][thread_x()];
                p.store(z, p.plus_offset(z), 0, column, DTYPE, sum);
            }
            step = 0, turn ^= 1, tile += p.across;
            if (tile >= tiles) break;
        }
    }
}

#define ONE_ROW_KERNEL(NAME, ...)              \
    KERNEL_WAVES(256, 4)                       \
    void NAME(PRODUCT_PARAMETERS) {            \
        DYNAMIC_SHARED(memory);                \
        const Product p = PRODUCT_ARGUMENTS;   \
        one_row<__VA_ARGS__>(p, (u8 *)memory); \
    }
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_f32, F32, F32)
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_f32_f16, F32, F16)
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_f32_bf16, F32, BF16)
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_f16, F16, F16)
ONE_ROW_KERNEL(mlxrocm_array_product_warps_codes_bf16, BF16, BF16)

#endif
