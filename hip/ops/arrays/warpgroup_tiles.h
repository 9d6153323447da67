// NVIDIA's compute capability 9.0 only: what the kernels of arrays by warpgroups share. Tiles of 16-bit numbers in shared memory
// are rows of 64 numbers along k, as common/warpgroup_nvidia.h says.
#pragma once

#include "common/warpgroup_nvidia.h"
#include "ops/network/turn.h"

#if PLATFORM_NVIDIA && defined(__CUDA_ARCH_FEAT_SM90_ALL)

#define STEP 64

// c += a · b of m64nNk16; ACROSS: rows of b are k.
#define PRODUCT_128(TYPE, ACROSS)                                                                                          \
    asm volatile("wgmma.mma_async.sync.aligned.m64n128k16.f32." TYPE "." TYPE " {" WGMMA_64 "}, %64, %65, 1, 1, 1, 0, %66;" \
                 : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16), ACCUMULATORS16(c, 32), ACCUMULATORS16(c, 48)               \
                 : "l"(a), "l"(b), "n"(ACROSS)                                                                             \
                 : "memory")
#define PRODUCT_256(TYPE, ACROSS)                                                                                            \
    asm volatile("wgmma.mma_async.sync.aligned.m64n256k16.f32." TYPE "." TYPE " {" WGMMA_128 "}, %128, %129, 1, 1, 1, 0, %130;" \
                 : ACCUMULATORS16(c, 0), ACCUMULATORS16(c, 16), ACCUMULATORS16(c, 32), ACCUMULATORS16(c, 48),                \
                   ACCUMULATORS16(c, 64), ACCUMULATORS16(c, 80), ACCUMULATORS16(c, 96), ACCUMULATORS16(c, 112)               \
                 : "l"(a), "l"(b), "n"(ACROSS)                                                                               \
                 : "memory")
template <u32 COLUMNS, bool IS_BF16, u32 ACROSS> DEVICE void product_of(f32 *c, u64 a, u64 b) {
    if constexpr (COLUMNS == 128 && IS_BF16) PRODUCT_128("bf16", ACROSS);
    if constexpr (COLUMNS == 128 && !IS_BF16) PRODUCT_128("f16", ACROSS);
    if constexpr (COLUMNS == 256 && IS_BF16) PRODUCT_256("bf16", ACROSS);
    if constexpr (COLUMNS == 256 && !IS_BF16) PRODUCT_256("f16", ACROSS);
}

// A thread's pieces of 16 bytes, `rows` rows apart; the distance is not looked through: else all of them would be kept.
DEVICE i64 pace_of(i64 stride, u32 rows) {
    i64 pace = stride * rows;
    asm volatile("" : "+l"(pace));
    return pace;
}
// COUNT rows of 64 numbers along k, from `first` on; those past `rows` and numbers past `depth` are zeros.
template <u32 COUNT>
DEVICE void copy_along(u32 to, const u16 *x, i64 stride, u32 first, u32 rows, u32 k, u32 depth, u32 thread) {
    const u32 piece = thread % 8, begin = thread / 8, left = k + piece * 8 < depth && first + begin < rows ? rows - first - begin : 0;
    const u16 *from = x + (i64)(first + begin) * stride + (k + piece * 8);
    const i64 pace = pace_of(stride, 16);
    to += begin * 128 + (piece ^ begin % 8) * 16;
    UNROLL for (u32 i = 0; i < COUNT / 16; i++) {
        const bool there = 16 * i < left;
        copy16_or_zero(to + 2048 * i, there ? from : x, there);
        from += pace;
    }
}
// 64 rows of k, each COLUMNS numbers from `first` on; 64 columns lie together.
template <u32 COLUMNS>
DEVICE void copy_across(u32 to, const u16 *x, i64 stride, u32 first, u32 columns, u32 k, u32 depth, u32 thread) {
    constexpr u32 PIECES = COLUMNS / 8, ROWS = 1024 / COLUMNS;
    const u32 piece = thread % PIECES, begin = thread / PIECES;
    const u32 left = first + piece * 8 < columns && k + begin < depth ? depth - k - begin : 0;
    const u16 *from = x + (i64)(k + begin) * stride + (first + piece * 8);
    const i64 pace = pace_of(stride, ROWS);
    to += piece / 8 * 8192 + begin * 128;
    UNROLL for (u32 i = 0; i < COLUMNS / 16; i++) {
        const bool there = ROWS * i < left;
        const u32 swapped = piece % 8 ^ (begin + ROWS * i) % 8;
        copy16_or_zero(to + ROWS * 128 * i + swapped * 16, there ? from : x, there);
        from += pace;
    }
}

// Stores sums of a warp's 16 rows in 16 bits: a lane gets eight numbers that follow each other. to(row, column): where these
// go, null: nowhere.
template <u32 COLUMNS, bool IS_BF16, typename TO> DEVICE void store_sums(const f32 *c, const TO &to) {
    const u32 lane = lane_id();
    UNROLL for (u32 i = 0; i < COLUMNS / 16; i++) {
        u32 w[4];
        UNROLL for (u32 j = 0; j < 4; j++) {
            const u32 at = (i / 2 * 4 + j) * 4 + i % 2 * 2;
            w[j] = IS_BF16 ? pack_bf16x2(c[at], c[at + 1]).bits : pack_f16x2(c[at], c[at + 1]).bits;
        }
        turn(w);
        u16 *out = to(lane / 4 + i % 2 * 8, i / 2 * 32 + lane % 4 * 8);
        if (out) store16(out, u32x4{w[0], w[1], w[2], w[3]});
    }
}
#endif
