// What a block of paged.hip attends to, and how: two ways of adding up weights times values. Each has
//
//   PLACES                      sums of a block that are added when all keys were seen
//   load(part)                  the first keys and values start to come
//   prepare(query, ...)         takes a team's query head
//   run(part, ...)              all keys of the part
//   store(states, sums, ...)    each head's maximum, sum of weights, and sums of weights times values
//
// Here: LANES lanes share a key, eight columns each; products in f32.
#pragma once

#include "ops/attention/cache.h"

#define SPLIT 128
#define HEADS 4
#define TEAMS 8
#define THREADS (TEAMS * 32)

struct Part {
    const u8 *head; // of the layer in the first page
    u64 page_stride;
    const u32 *pages;
    u32 dim, begin, end; // keys of positions begin ..< end, which are in the cache
};

DEVICE const u8 *keys_at(const Part &p, u32 position) {
    return p.head + p.pages[position / PAGE_TOKENS] * p.page_stride;
}

template <int LANES, int KV> struct LaneSums {
    static constexpr u32 KEYS = 32 / LANES, PLACES = TEAMS;
    static constexpr u32 AT_ONCE = 2, STEP = TEAMS * KEYS * AT_ONCE; // keys of a lane, of a block at a time
    struct Prepared {};

    u32 team, group, in, column;
    bool inside;
    Piece<KV> key[AT_ONCE], value[AT_ONCE];
    f32 sum[HEADS][8], top[HEADS], total[HEADS];

    METHOD LaneSums(const Part &p, u32 thread)
        : team(thread / 32), group(thread % 32 / LANES), in(thread % LANES), column(in * 8),
          inside(column < padded<KV>(p.dim)) {}

    METHOD u32 at(u32 base, u32 u) const { return base + (u * TEAMS + team) * KEYS + group; }
    METHOD void load(const Part &p, u32 base) {
        UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
            const u32 j = minimum(at(base, u), p.end - 1), d = p.dim;
            const u8 *k = keys_at(p, j);
            key[u] = load_piece<KV>(k, d, j % PAGE_TOKENS, inside ? column : 0);
            value[u] = load_piece<KV>(k + tokens_bytes<KV>(d), d, j % PAGE_TOKENS, inside ? column : 0);
        }
    }
    METHOD void load(const Part &p) {
        if (p.begin < p.end) load(p, p.begin);
    }
    METHOD void prepare(Prepared &, const f32 *, u32, u32) {}

    METHOD void run(const Part &p, const f32 (*queries)[LANES * 8], const Prepared &, u32 heads) {
        UNROLL for (u32 h = 0; h < HEADS; h++) {
            top[h] = -1e30f, total[h] = 0.0f;
            UNROLL for (u32 i = 0; i < 8; i++) sum[h][i] = 0.0f;
        }
        for (u32 base = p.begin; base < p.end; base += STEP) {
            u32x4 keys[AT_ONCE], values[AT_ONCE];
            UNROLL for (u32 u = 0; u < AT_ONCE; u++)
                keys[u] = decode<KV>(key[u]), values[u] = decode<KV>(value[u]);
            if (base + STEP < p.end) load(p, base + STEP);
            UNROLL for (u32 h = 0; h < HEADS; h++) {
                if (h >= heads) break;
                f32 score[AT_ONCE], most = top[h];
                const f32x4 a = *(const f32x4 *)(queries[h] + column), b = *(const f32x4 *)(queries[h] + column + 4);
                UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
                    f32 s = low(f16x2{keys[u].x}) * a.x;
                    s = mul_add(high(f16x2{keys[u].x}), a.y, s);
                    s = mul_add(low(f16x2{keys[u].y}), a.z, s), s = mul_add(high(f16x2{keys[u].y}), a.w, s);
                    s = mul_add(low(f16x2{keys[u].z}), b.x, s), s = mul_add(high(f16x2{keys[u].z}), b.y, s);
                    s = mul_add(low(f16x2{keys[u].w}), b.z, s), s = mul_add(high(f16x2{keys[u].w}), b.w, s);
                    s = wave_sum<LANES>(inside ? s : 0.0f);
                    score[u] = at(base, u) < p.end ? s : -1e30f;
                    most = maximum(most, score[u]);
                }
                const f32 keep = fast_exp2(top[h] - most);
                top[h] = most, total[h] *= keep;
                f32 *y = sum[h];
                UNROLL for (u32 i = 0; i < 8; i++) y[i] *= keep;
                UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
                    const f32 w = at(base, u) < p.end ? fast_exp2(score[u] - most) : 0.0f;
                    total[h] += w;
                    UNROLL for (u32 i = 0; i < 4; i++) {
                        const f16x2 v = {word(values[u], i)};
                        y[2 * i] = mul_add(w, low(v), y[2 * i]), y[2 * i + 1] = mul_add(w, high(v), y[2 * i + 1]);
                    }
                }
            }
        }
    }

    // Adds the sums of the lanes OFFSET and more further, up to all groups of a team.
    template <int OFFSET> METHOD void add_groups() {
        if constexpr (OFFSET < 32) {
            UNROLL for (u32 h = 0; h < HEADS; h++) {
                const f32 most = maximum(top[h], shuffle_xor<OFFSET>(top[h])), keep = fast_exp2(top[h] - most);
                top[h] = most, total[h] *= keep, total[h] += shuffle_xor<OFFSET>(total[h]);
                UNROLL for (u32 i = 0; i < 8; i++) {
                    sum[h][i] *= keep;
                    sum[h][i] += shuffle_xor<OFFSET>(sum[h][i]);
                }
            }
            add_groups<OFFSET * 2>();
        }
    }

    METHOD void store(f32 (*states)[HEADS][2], f32 (*sums)[HEADS][LANES * 8]) {
        add_groups<LANES>();
        if (group) return;
        UNROLL for (u32 h = 0; h < HEADS; h++) {
            if (in == 0) states[team][h][0] = top[h], states[team][h][1] = total[h];
            UNROLL for (u32 i = 0; i < 8; i++) sums[team][h][column + i] = sum[h][i];
        }
    }
};
