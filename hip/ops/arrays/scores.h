// What the kernels of attention_tiles.hip and attention_parts.hip share: arguments, and what becomes of a product of a
// query and a key. Scores are in base 2: times log2(e).
#pragma once

#include "dtype.h"

#define LOG2_E 1.44269504088896340736f

// The score of what is not there.
DEVICE f32 nothing() { return bits_f32(0xff800000u); }

template <typename T> struct Scores {
    const void *mask;
    const T *sinks;
    u32 heads, kv_heads, rows, keys, dim, mask_is_truth, causal;
    f32 scale;
    i32 mask_batch, mask_head, mask_row, mask_key;

    // What a hidden key has: the dtype's lowest number, so that a query that sees no key takes their mean.
    static METHOD f32 hidden();
    // How many keys the queries up to `last` need, of which `first` is the first: all where one sees none.
    METHOD u32 seen(u32 first, u32 last) const {
        return causal && first + keys >= rows ? minimum(keys, last + keys + 1 - rows) : keys;
    }
    METHOD i64 mask_of(u32 batch, u32 head, u32 row) const {
        return (i64)batch * mask_batch + (i64)head * mask_head + (i64)row * mask_row;
    }
    // Of an additive mask; lowest numbers stay numbers.
    static METHOD f32 addend(f32 more) {
        return more < -2.3e38f && more >= -3.4028235e38f ? -3.3e38f : more * LOG2_E;
    }
    // What the mask tells of a key: 0 or 1, or an addend. `of_row`: what mask_of gives.
    METHOD f32 told(u32 key, i64 of_row) const {
        if (causal || !mask) return 0.0f;
        const i64 at = of_row + (i64)key * mask_key;
        return mask_is_truth ? (f32)((const u8 *)mask)[at] : to_f32(((const T *)mask)[at]);
    }
    METHOD f32 score_told(f32 product, u32 row, u32 key, f32 told) const {
        const f32 score = product * (scale * LOG2_E);
        if (causal) return key + rows > row + keys ? hidden() : score;
        if (!mask) return score;
        return mask_is_truth ? (told != 0.0f ? score : hidden()) : score + addend(told);
    }
    METHOD f32 score(f32 product, u32 row, u32 key, i64 of_row) const {
        return key >= keys ? nothing() : score_told(product, row, key, told(key, of_row));
    }
    METHOD f32 sink_weight(u32 head, f32 top) const {
        return sinks ? fast_exp2(to_f32(sinks[head]) * LOG2_E - top) : 0.0f;
    }
};
template <> METHOD f32 Scores<f16>::hidden() { return -65504.0f * LOG2_E; }
template <> METHOD f32 Scores<bf16>::hidden() { return -3.3e38f; }
template <> METHOD f32 Scores<f32>::hidden() { return -3.3e38f; }

// How much of what was found with `top` before is left with `now`.
DEVICE f32 fade(f32 top, f32 now) { return now == nothing() ? 0.0f : fast_exp2(top - now); }

// The end of a kernel's arguments, and they.
#define SCORES_PARAMETERS                                                                                            \
    u32 heads, u32 kv_heads, u32 rows, u32 keys, u32 dim, u32 mask_is_truth, u32 causal, f32 scale, i32 mask_batch, \
        i32 mask_head, i32 mask_row, i32 mask_key
#define SCORES_ARGUMENTS                                                                                        \
    {mask, sinks, heads, kv_heads, rows, keys, dim, mask_is_truth, causal, scale, mask_batch, mask_head, mask_row, \
     mask_key}
