// What the kernels of sample.hip share: a row's choice, what they know of the row, and the arithmetic of the host's sampler
// (src/session/sampling), to the bit: all sums are integers, so that their order does not matter.
#pragma once

#include "common/reduce.h"

#define NO_TOKEN 0xffffffffu
#define ALL_BANNED 0xfffffffeu
#define UNDECIDED 0xfffffffdu
#define CHOSEN 0x80000000u
#define BANNED bits_f32(0xff7fffffu)
#define ALL 0xffffffffu

#define THREADS 1024
// That share a row.
#define BLOCKS 32
#define BINS (2 * THREADS)
// Bins a logit.
#define STEPS 64.0f
// The most candidates that are sorted, and of a block.
#define LISTED BINS
#define BLOCK_LISTED 128
#define LIST 64
#define CHOICE_WORDS (12 + 3 * LIST)
// Bytes of what is known of a row.
#define ROW_BYTES 59392

struct Choice {
    f32 temperature; // 0: the first of the largest
    u32 top_k;       // 0: off
    u32 top_p;       // of 2^32; 0: off
    f32 min_p;       // its logarithm; -infinity: off
    u32 random_high, random_low; // of 2^64
    f32 repetition, presence, frequency;
    u32 recent, biases, unused;

    METHOD bool is_greedy() const { return temperature == 0.0f || top_k == 1; }
    METHOD bool has_k(u32 cols) const { return top_k != 0 && top_k < cols; }
    METHOD bool has_p() const { return top_p != 0; }
    // What is that share of `total`, and at least 1.
    METHOD u64 share_of(u64 total) const {
        const u64 goal = (total >> 32) * top_p + ((u64)(u32)total * top_p >> 32);
        return goal ? goal : 1;
    }
};

// Logits with larger keys than that one, and those of this very key up to a place.
struct Cut {
    u32 key, last;
    METHOD bool has(u32 k, u32 place) const { return k > key || (k == key && place <= last); }
};
// What another logit was put in place of; nothing: at NO_TOKEN.
struct Edit {
    u32 token;
    f32 old;
};
// The largest of a part of the row: its key, above the complement of its place.
struct Top {
    u64 rank;
    u32 lost, unused; // whether not all are finite
};

struct Row {
    u64 masses[BINS]; // of logits by their distance from the largest
    u64 listed[BLOCKS][BLOCK_LISTED];
    u32 counts[BINS];
    Top tops[BLOCKS];
    u64 sums[BLOCKS];
    Edit biases[LIST], penalties[LIST];
    // Of what top_k leaves, and of what top_p then leaves: the masses before the bin (for top_p the first one) in which it ends.
    u64 before_k, before_p, total;
    u32 bin_k, count_before_k, first_p, last_p;
    u32 found[BLOCKS]; // candidates, of which the first are listed
    u32 top, token;
    Cut cut;
};
static_assert(sizeof(Row) <= ROW_BYTES, "a row has no room");

DEVICE Row &row_of(u8 *memory) { return *(Row *)(memory + (u64)block_x() * ROW_BYTES); }

// The block's columns.
struct Span {
    u32 begin, end;
    METHOD bool owns(u32 token) const { return token >= begin && (token < end || block_y() == BLOCKS - 1); }
};
DEVICE Span span_of(u32 part, u32 cols) {
    const u32 size = divide_up(cols, BLOCKS), begin = minimum(part * size, cols);
    return {begin, minimum(begin + size, cols)};
}
// Calls `with(place, logit)` for a span, some loads at a time.
template <typename F> DEVICE void each_logit(const f32 *row, const Span &span, F with) {
    constexpr u32 EACH = 8;
    for (u32 base = span.begin; base < span.end; base += THREADS * EACH) {
        f32 l[EACH];
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const u32 c = base + i * THREADS + thread_x();
            l[i] = row[c < span.end ? c : span.begin];
        }
        UNROLL for (u32 i = 0; i < EACH; i++) {
            const u32 c = base + i * THREADS + thread_x();
            if (c < span.end) with(c, l[i]);
        }
    }
}

DEVICE bool is_finite(f32 x) { return (f32_bits(x) & 0x7f800000u) != 0x7f800000u; }
DEVICE f32 clamp(f32 x) { return x < BANNED ? BANNED : x > -BANNED ? -BANNED : x; }
// Larger logits have larger keys; both zeros are one.
DEVICE u32 key_of(f32 l) {
    const u32 raw = f32_bits(l + 0.0f);
    return raw ^ ((u32)((i32)raw >> 31) | 0x80000000u);
}
DEVICE f32 logit_of(u32 key) { return bits_f32(key ^ (key >> 31 ? 0x80000000u : 0xffffffffu)); }
// The bin of a logit: none of a larger one is behind it.
DEVICE u32 bin_of(f32 max, f32 l) { return (u32)minimum((max - l) * STEPS, (f32)(BINS - 1)); }

// e^x of x <= 0 in units of 2^-40, 0 from e^-29 on: the exponential of src/session/sampling/exp.rs.
DEVICE u64 weight(f32 x) {
    const f32 clamped = x > -40.0f ? x : -40.0f;
    const f32 n = round_even(product(clamped, 1.44269504f));
    const f32 r = clamped - product(n, 0.693359375f) - product(n, -2.12194440e-4f);
    f32 e = 1.0f / 5040.0f;
    e = product(e, r) + 1.0f / 720.0f, e = product(e, r) + 1.0f / 120.0f, e = product(e, r) + 1.0f / 24.0f;
    e = product(e, r) + 1.0f / 6.0f, e = product(e, r) + 0.5f, e = product(e, r) + 1.0f, e = product(e, r) + 1.0f;
    return ((u64)(u32)product(e, 1073741824.0f) << 10) >> (u32)(i32)-n;
}
DEVICE u64 high_product(u64 a, u64 b) {
    const u64 al = (u32)a, ah = a >> 32, bl = (u32)b, bh = b >> 32;
    const u64 middle = ah * bl + (al * bl >> 32), other = al * bh + (u32)middle;
    return ah * bh + (middle >> 32) + (other >> 32);
}

DEVICE u64 shuffle64(u64 v, u32 lane) { return (u64)shuffle((u32)(v >> 32), lane) << 32 | shuffle((u32)v, lane); }
template <int MASK> DEVICE u64 shuffle_xor64(u64 v) {
    return (u64)shuffle_xor<MASK>((u32)(v >> 32)) << 32 | shuffle_xor<MASK>((u32)v);
}
template <int MASK = WAVE / 2> DEVICE u64 wave_sum64(u64 v) {
    v += shuffle_xor64<MASK>(v);
    if constexpr (MASK > 1) v = wave_sum64<MASK / 2>(v);
    return v;
}
template <int MASK> DEVICE u64 wave_max64(u64 v) {
    const u64 other = shuffle_xor64<MASK>(v);
    v = other > v ? other : v;
    if constexpr (MASK > 1) v = wave_max64<MASK / 2>(v);
    return v;
}
// The sum over the block's threads up to and with this one; barriers before and inside. `waves`: [THREADS / 32].
DEVICE u64 scan(u64 value, u64 *waves) {
    const u32 lane = lane_id();
    UNROLL for (u32 d = 1; d < WAVE; d *= 2) {
        const u64 other = shuffle64(value, lane >= d ? lane - d : 0);
        value += lane >= d ? other : 0;
    }
    barrier();
    if (lane == WAVE - 1) waves[wave_id()] = value;
    barrier();
    u64 before = 0;
    for (u32 w = 0; w < wave_id(); w++) before += waves[w];
    return before + value;
}
// Whether a running sum of `before`, and then `more`, reaches the goal here.
DEVICE bool reaches(u64 before, u64 more, u64 goal) { return before < goal && before + more >= goal; }
