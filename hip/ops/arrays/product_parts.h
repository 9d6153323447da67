// f32 as three numbers of bf16, x = x1 + x2 + x3, each the nearest to what is left: exact where the last is no subnormal number.
// Products of those (product_warpgroup_f32.hip) are as good as f32's while the products of parts are neither too small nor too
// large for f32; what exponents there are is noted beside the parts, and product_f32.hip multiplies where they do not fit.
#pragma once

#include "common/platform.h"

// Blocks that split an array. Each leaves the least exponent of its numbers but 0, as what is missing to 255, and the largest in
// bits 8 … 15.
#define SPLIT_BLOCKS 512

#if PLATFORM_NVIDIA
// Whether sums of `depth` products of two arrays' numbers must be made in f32; of all threads of a block alike.
// `exponents`: of left, then of right.
DEVICE bool must_be_f32(const u32 *exponents, u32 depth) {
    SHARED u32 below[2], most[2];
    if (thread_x() < 2) below[thread_x()] = most[thread_x()] = 0;
    barrier();
    for (u32 i = thread_x(); i < 2 * SPLIT_BLOCKS; i += block_size_x()) {
        const u32 both = exponents[i];
        atomic_max(&below[i / SPLIT_BLOCKS], both & 255), atomic_max(&most[i / SPLIT_BLOCKS], both >> 8);
    }
    barrier();
    const u32 least[2] = {255 - below[0], 255 - below[1]};
    // 127 is the exponent of 1; a third part has one that is less by 17 to 24, and sums of products grow with the depth.
    const u32 growth = 32 - leading_zeros(depth) + 2;
    const bool fits = least[0] > 27 && least[1] > 27 && least[0] + least[1] > 2 * 127 - 100 && most[0] < 253 && most[1] < 253 &&
                      most[0] + most[1] + growth < 3 * 127;
    barrier();
    return !fits;
}
#endif
