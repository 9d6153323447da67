// Rows of x as the matrix units take them:
//
//   operand[r][c] = f16(n(x[r])[c] / scale[r]),  n(x) = x · rsqrt(mean x² + eps) · norm, scale `norm_scale`,
//                                                the power of two that brings the largest there can be,
//                                                max |norm| · √cols, to [2^14, 2^15);
//                                                or x, scale the power of two that brings the row's
//                                                largest element to [4096, 8192)
//
// x: [rows][cols] f32, cols a multiple of 8; padded by zeros to `stride`, a multiple of 256 columns.
// Layouts of the operand: for block.h rows, [rows][stride]; for warpgroup.h tiles of 128 rows and 64
// columns, [rows / 128][stride / 64][128][64], where of every 32 columns the one at 8t + 4s + 2j + e
// (e, s, j < 2, t < 4) lies at 16s + 8j + 2t + e, as quant.h has them, and the 16-byte pieces of a row are
// swapped: piece i lies at i ^ (row % 8); for experts_warpgroup.h the same, where `places` says: of [rows][copies],
// so that each copy lies among the rows of its expert.
//
// Launch: 256 threads, a block a row.
#include "common/reduce.h"

template <bool TILES>
DEVICE void make_operand(const f32 *x, const f32 *norm, u16 *operand, f32 *scales, u32 cols, f32 eps,
                         f32 norm_scale, const u32 *places = nullptr, u32 copies = 1) {
    SHARED f32 scratch[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = block_x(), thread = thread_x(), stride = (cols + 255) / 256 * 256;
    x += (u64)row * cols;
    f32 q = 0.0f;
    for (u32 c = thread * 4; c < cols; c += 1024) {
        const f32x4 v = *(const f32x4 *)(x + c);
        if (norm) q += mul_add(v.x, v.x, v.y * v.y) + mul_add(v.z, v.z, v.w * v.w);
        else q = maximum(q, maximum(maximum(absolute(v.x), absolute(v.y)), maximum(absolute(v.z), absolute(v.w))));
    }
    f32 factor, back = 1.0f;
    if (norm) {
        factor = fast_rsqrt(block_sum<256>(q, scratch) / (f32)cols + eps) / norm_scale, back = norm_scale;
    } else {
        // Rows of zeros and of NaN stay what they are.
        i32 exponent = (i32)(f32_bits(block_max<256>(q, scratch)) >> 23 & 255) - 127 - 12;
        exponent = exponent < -100 ? 0 : exponent;
        factor = bits_f32((u32)(127 - exponent) << 23), back = bits_f32((u32)(127 + exponent) << 23);
    }
    auto place = [&](u32 copy) { return places ? places[row * copies + copy] : row; };
    if (thread < copies) scales[place(thread)] = back;
    for (u32 c = thread * 8; c < stride; c += 2048) {
        u32x4 words = {0, 0, 0, 0};
        if (c < cols) {
            f32x4 a = *(const f32x4 *)(x + c), b = *(const f32x4 *)(x + c + 4);
            a.x *= factor, a.y *= factor, a.z *= factor, a.w *= factor;
            b.x *= factor, b.y *= factor, b.z *= factor, b.w *= factor;
            if (norm) {
                const f32x4 m = *(const f32x4 *)(norm + c), n = *(const f32x4 *)(norm + c + 4);
                a.x *= m.x, a.y *= m.y, a.z *= m.z, a.w *= m.w;
                b.x *= n.x, b.y *= n.y, b.z *= n.z, b.w *= n.w;
            }
            words.x = pack_f16x2(a.x, a.y).bits, words.y = pack_f16x2(a.z, a.w).bits;
            words.z = pack_f16x2(b.x, b.y).bits, words.w = pack_f16x2(b.z, b.w).bits;
        }
        if constexpr (TILES) {
            for (u32 copy = 0; copy < copies; copy++) {
                const u32 at = place(copy);
                u32 *to = (u32 *)operand + ((u64)(at / 128 * (stride / 64) + c / 64) * 128 + at % 128) * 32 + c / 8 % 4;
                UNROLL for (u32 i = 0; i < 4; i++) to[((c / 32 % 2 * 4 + i) ^ at % 8) * 4] = word(words, i);
            }
        } else {
            store16(operand + (u64)row * stride + c, words);
        }
    }
}

#define OPERAND_KERNEL(NAME, TILES)                                                                             \
    KERNEL(256) void NAME(const f32 *x, const f32 *norm, u16 *operand, f32 *scales, u32 cols, f32 eps,          \
                          f32 norm_scale) {                                                                     \
        make_operand<TILES>(x, norm, operand, scales, cols, eps, norm_scale);                                   \
    }
OPERAND_KERNEL(mlxrocm_matmul_operand, false)
OPERAND_KERNEL(mlxrocm_matmul_operand_tiles, true)

#if PLATFORM_NVIDIA
KERNEL(256) void mlxrocm_matmul_operand_places(const f32 *x, const f32 *norm, u16 *operand, f32 *scales, u32 cols,
                                               f32 eps, f32 norm_scale, const u32 *places, u32 copies) {
    make_operand<true>(x, norm, operand, scales, cols, eps, norm_scale, places, copies);
}
#endif
