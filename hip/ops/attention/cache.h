// What the attention kernels share: the paged KV cache, head norms, rotary position embedding.
//
// The cache is f16: [page][layer][kv head][key, value][PAGE_TOKENS][dim padded to 8]. A sequence's
// token at position p lies in page pages[slot · max_pages + p / PAGE_TOKENS].
#pragma once

#include "common/reduce.h"

#define PAGE_TOKENS 32
#define UNUSED 0xffffffffu

struct Cache {
    u16 *memory;
    u64 page_stride; // numbers of a page, all layers
    u64 layer_start; // first number of the layer in a page
    u32 dim, padded; // columns of a head; `padded` is a multiple of 8
};

// The key of a token of a head; its value is PAGE_TOKENS · padded further.
DEVICE u16 *cache_key(const Cache &c, u32 page, u32 kv_head, u32 token) {
    return c.memory + page * c.page_stride + c.layer_start +
           ((u64)kv_head * 2 * PAGE_TOKENS + token) * c.padded;
}

// One head by a team of 32 lanes: RMSNorm (if `norm`), then rotation of the first 2·pairs columns by
// the position's (cos, sin), from `x` to `head` (shared memory), times `scale`. All teams of a wave
// call it together.
DEVICE void prepare_head(const f32 *x, const f32 *norm, f32 eps, const f32x2 *rope, u32 pairs, u32 interleaved,
                         u32 dim, f32 scale, u32 lane, f32 *head) {
    f32 factor = scale;
    if (norm) {
        f32 squares = 0.0f;
        for (u32 i = lane; i < dim; i += 32) squares = mul_add(x[i], x[i], squares);
        factor = scale * fast_rsqrt(wave_sum<32>(squares) / (f32)dim + eps);
    }
    for (u32 i = lane; i < dim; i += 32) {
        f32 v = x[i] * (norm ? norm[i] : 1.0f);
        if (i < 2 * pairs) {
            const u32 pair = interleaved ? i / 2 : i % pairs;
            const bool second = interleaved ? i % 2 : i >= pairs;
            const u32 partner = interleaved ? i ^ 1 : second ? i - pairs : i + pairs;
            const f32 other = x[partner] * (norm ? norm[partner] : 1.0f);
            const f32x2 turn = rope[pair];
            v = second ? other * turn.y + v * turn.x : v * turn.x - other * turn.y;
        }
        head[i] = v * factor;
    }
}
