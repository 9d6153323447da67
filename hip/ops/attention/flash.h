// What the kernels of flash.hip and flash_warpgroup.hip, which take the same arguments, share.
#pragma once

#include "ops/attention/cache.h"

#define QUERIES 64

struct Flash {
    const f32 *q;
    f32 *out;
    u8 *cache;
    const u32 *positions, *slots, *pages, *tiles;
    const f32 *q_norm, *sinks;
    const f32x2 *rope;
    u64 page_stride, layer_start;
    u32 max_pages, heads, kv_heads, dim, pairs, interleaved, window;
    f32 eps, scale;
};

// A kernel's arguments, and they as a Flash.
#define FLASH_PARAMETERS                                                                                       \
    const f32 *q, f32 *out, u8 *cache, const u32 *positions, const u32 *slots, const u32 *pages,               \
        const u32 *tiles, const f32 *q_norm, const f32 *sinks, const f32x2 *rope, u64 page_stride,              \
        u64 layer_start, u32 max_pages, u32 heads, u32 kv_heads, u32 dim, u32 pairs, u32 interleaved, u32 window, f32 eps, f32 scale
#define FLASH_ARGUMENTS                                                                                        \
    {q, out, cache, positions, slots, pages, tiles, q_norm, sinks, rope, page_stride, layer_start, max_pages, heads,  \
     kv_heads, dim, pairs, interleaved, window, eps, scale}
