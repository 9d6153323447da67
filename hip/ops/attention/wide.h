// What the kernels of wide.hip and widest.hip share: their arguments, a query's norm and turn, which keys a block takes.
#pragma once

#include "common/math.h"
#include "ops/attention/cache.h"

#define SPLIT 128
#define PARTS (PLATFORM_NVIDIA ? 33 : 64)
#define TEAMS 8
#define THREADS (TEAMS * 32)

struct Wide {
    const f32 *q;
    f32 *out;
    u8 *cache;
    const u32 *positions, *slots, *pages, *tokens;
    const f32 *q_norm, *sinks;
    const f32x2 *rope;
    f32 *parts;
    u32 *counters;
    u64 page_stride, layer_start;
    u32 max_pages, heads, kv_heads, dim, pairs, interleaved, window, chunk;
    f32 eps, scale, cap;
};

// Column `i` of a head behind its norm's weights and its turn; `rope`: (cos, sin) of the position's pairs.
DEVICE f32 turned(const f32 *x, const f32 *norm, const f32x2 *rope, u32 pairs, u32 interleaved, u32 i) {
    const f32 own = norm ? x[i] * norm[i] : x[i];
    if (i >= 2 * pairs) return own;
    const bool second = interleaved ? i % 2 : i >= pairs;
    const u32 partner = interleaved ? i ^ 1 : second ? i - pairs : i + pairs;
    const f32x2 angle = rope[interleaved ? i / 2 : i % pairs];
    const f32 other = norm ? x[partner] * norm[partner] : x[partner];
    return own * angle.x + other * (second ? angle.y : -angle.y);
}
// A head's factor of its norm, by a team.
DEVICE f32 norm_factor(const f32 *x, bool has_norm, f32 eps, u32 dim, u32 lane) {
    f32 squares = 0.0f;
    for (u32 i = lane; i < dim; i += 32) squares = mul_add(x[i], x[i], squares);
    squares = wave_sum<32>(squares);
    return has_norm ? fast_rsqrt(squares / (f32)dim + eps) : 1.0f;
}

// Keys from `begin` to before `end` are this block's; `part` is one of the query's from `first` to `last`.
struct Keys {
    u32 begin, end, first, last;
    bool mine;
};
DEVICE Keys keys_of(const Wide &p, u32 position, u32 part) {
    u32 begin = p.window && position + 1 > p.window ? position + 1 - p.window : 0;
    if (p.chunk) begin = maximum(begin, position / p.chunk * p.chunk);
    const u32 split = SPLIT * (position / (SPLIT * PARTS) + 1), first = begin / split, last = position / split;
    return {maximum(part * split, begin), minimum((part + 1) * split, position + 1), first, last,
            part >= first && part <= last};
}

// A kernel of these arguments.
#define WIDE_KERNEL(NAME, ATTEND)                                                                              \
    KERNEL(THREADS) void NAME(const f32 *q, f32 *out, u8 *cache, const u32 *positions, const u32 *slots,       \
                              const u32 *pages, const u32 *tokens, const f32 *q_norm, const f32 *sinks,        \
                              const f32x2 *rope, f32 *parts, u32 *counters, u64 page_stride, u64 layer_start,  \
                              u32 max_pages, u32 heads, u32 kv_heads, u32 dim, u32 pairs, u32 interleaved,     \
                              u32 window, u32 chunk, f32 eps, f32 scale, f32 cap) {                            \
        const Wide p = {q, out, cache, positions, slots, pages, tokens, q_norm, sinks, rope, parts, counters,  \
                        page_stride, layer_start, max_pages, heads, kv_heads, dim, pairs, interleaved, window, \
                        chunk, eps, scale, cap};                                                               \
        ATTEND(p);                                                                                             \
    }
