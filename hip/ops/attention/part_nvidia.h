// NVIDIA: a part of paged.hip by the matrix unit, one warp 16 keys at a time (m16n8k16):
//
//   scores  S[key][column] = K · Qᵀ      keys are rows, so that they come as they lie
//   values  O[dim][column] += Vᵀ · Pᵀ    dims are rows; two keys' numbers of a dim make a word
//
// Of the eight columns a query head has two, h and h + 4: its numbers rounded to f16, and what
// rounding left of them; so have its weights. Sums are as exact as in f32.
//
// Lane 4g + t: of K it loads rows g and g + 8, columns 32s + 8t … + 7 for each s; of V rows 2t, 2t+1,
// 2t+8, 2t+9, columns 64s + 8g … + 7. Which column of K is which step of the product is free as long as Q
// agrees, and so is which dim is which row of O.
#pragma once

#include "common/matrix_nvidia.h"
#include "ops/attention/part.h"

#if PLATFORM_NVIDIA
// Eight rows of eight 16-bit numbers, row g in lanes 4g …, two a lane: turned over.
DEVICE u32 transposed(u32 pair) {
    u32 y;
    asm("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(y) : "r"(pair));
    return y;
}

// A piece that is read once.
template <int KV> DEVICE Piece<KV> load_once(const u8 *tokens, u32 dim, u32 token, u32 column) {
    if constexpr (KV == KV_F16) return {load16_stream(piece_codes<KV>(tokens, dim, token, column))};
    else return load_piece<KV>(tokens, dim, token, column);
}

template <int DIM, int KV> struct WarpSums {
    static constexpr u32 PLACES = TEAMS, KEYS = 16, STEP = TEAMS * KEYS;
    static constexpr u32 K_PIECES = DIM / 32, V_PIECES = DIM / 64, TILES = DIM / 16;
    // Rows that are read together lie in different banks.
    static constexpr u32 WIDE = DIM + 8;
    struct Prepared {
        u16 numbers[2 * HEADS][WIDE];
    };

    u32 team, g, t, first;
    Piece<KV> key[2][K_PIECES], value[4][V_PIECES];
    f32 sum[TILES][4], top[2], total[2];

    METHOD WarpSums(const Part &p, u32 thread)
        : team(thread / 32), g(thread % 32 / 4), t(thread % 4),
          first(p.begin / KEYS * KEYS + team * KEYS) {}

    // Keys past the last are the last again; those before the first were kept in the cache.
    METHOD u32 key_at(const Part &p, u32 base, u32 r) const { return minimum(base + g + 8 * r, p.end - 1); }
    METHOD u32 value_at(const Part &p, u32 base, u32 i) const {
        return minimum(base + 2 * t + i % 2 + i / 2 * 8, p.end - 1);
    }
    // Columns past the head's last are the first again: queries are zero there, and such sums not kept.
    METHOD u32 key_column(const Part &p, u32 s) const { return s * 32 + t * 8 < padded<KV>(p.dim) ? s * 32 + t * 8 : 0; }
    METHOD u32 value_column(const Part &p, u32 s) const { return s * 64 + g * 8 < padded<KV>(p.dim) ? s * 64 + g * 8 : 0; }
    // Keeps the compiler from working out all steps' places ahead: there are no registers for them.
    METHOD void hide() { asm volatile("" : "+r"(g), "+r"(t)); }
    METHOD void load_keys(const Part &p, const u8 *k, u32 base) {
        hide();
        UNROLL for (u32 r = 0; r < 2; r++) {
            const u32 j = key_at(p, base, r);
            UNROLL for (u32 s = 0; s < K_PIECES; s++) {
                key[r][s] = load_once<KV>(k, p.dim, j % PAGE_TOKENS, key_column(p, s));
            }
        }
    }
    METHOD void load_values(const Part &p, const u8 *k, u32 base) {
        hide();
        const u8 *v = k + tokens_bytes<KV>(p.dim);
        UNROLL for (u32 i = 0; i < 4; i++) {
            const u32 j = value_at(p, base, i);
            UNROLL for (u32 s = 0; s < V_PIECES; s++) {
                value[i][s] = load_once<KV>(v, p.dim, j % PAGE_TOKENS, value_column(p, s));
            }
        }
    }
    METHOD void load(const Part &p, u32 base) {
        const u8 *k = keys_at(p, base);
        load_keys(p, k, base);
        load_values(p, k, base);
    }
    METHOD void load(const Part &p) {
        if (first < p.end) load(p, first);
    }

    // The query of head `head`, of which the lane has columns lane, lane + 32, …
    METHOD void prepare(Prepared &to, const f32 *query, u32 head, u32 lane) {
        UNROLL for (u32 n = 0; n < DIM / 32; n++) {
            const f16 rounded = to_f16(query[n]);
            to.numbers[head][n * 32 + lane] = rounded.bits;
            to.numbers[head + HEADS][n * 32 + lane] = to_f16(query[n] - to_f32(rounded)).bits;
        }
    }

    // The 16 keys from `base` on, which are loaded.
    METHOD void step(const Part &p, const Prepared &queries, u32 base) {
        f32 score[4] = {0.0f, 0.0f, 0.0f, 0.0f}, other[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        UNROLL for (u32 s = 0; s < K_PIECES; s++) {
            const u32x4 q = load16(queries.numbers[g] + s * 32 + t * 8);
            const u32x4 k[2] = {decode<KV>(key[0][s]), decode<KV>(key[1][s])};
            const u32 a[4] = {k[0].x, k[1].x, k[0].y, k[1].y}, b[4] = {k[0].z, k[1].z, k[0].w, k[1].w};
            matrix_product(score, a, q.x, q.y);
            matrix_product(other, b, q.z, q.w);
        }

        // score: (key g, columns 2t, 2t + 1), (key g + 8, the same).
        f32 most[2] = {top[0], top[1]}, keep[2];
        UNROLL for (u32 i = 0; i < 4; i++) {
            const u32 j = base + g + i / 2 * 8;
            score[i] += other[i];
            score[i] += shuffle_xor<2>(score[i]);
            score[i] = j >= p.begin && j < p.end ? score[i] : -1e30f;
            most[i % 2] = maximum(most[i % 2], score[i]);
        }
        UNROLL for (u32 c = 0; c < 2; c++) {
            most[c] = maximum(most[c], shuffle_xor<4>(most[c]));
            most[c] = maximum(most[c], shuffle_xor<8>(most[c]));
            most[c] = maximum(most[c], shuffle_xor<16>(most[c]));
            keep[c] = fast_exp2(top[c] - most[c]);
            top[c] = most[c], total[c] *= keep[c];
        }
        u32 weights[2];
        UNROLL for (u32 r = 0; r < 2; r++) {
            f32 w[2];
            UNROLL for (u32 c = 0; c < 2; c++) {
                const u32 j = base + g + r * 8;
                w[c] = j >= p.begin && j < p.end ? fast_exp2(score[2 * r + c] - top[c]) : 0.0f;
                total[c] += w[c];
            }
            const f16x2 rounded = pack_f16x2(w[0], w[1]);
            const f16x2 rest = pack_f16x2(w[0] - low(rounded), w[1] - high(rounded));
            weights[r] = transposed(t < 2 ? rounded.bits : rest.bits);
        }
        UNROLL for (u32 i = 0; i < TILES; i++) UNROLL for (u32 c = 0; c < 4; c++) sum[i][c] *= keep[c % 2];
        UNROLL for (u32 s = 0; s < V_PIECES; s++) {
            u32x4 v[4];
            UNROLL for (u32 i = 0; i < 4; i++) v[i] = decode<KV>(value[i][s]);
            UNROLL for (u32 i = 0; i < 4; i++) {
                // Rows g and g + 8 of a tile: columns i and i + 4 of the piece.
                u32 a[4];
                UNROLL for (u32 r = 0; r < 2; r++) {
                    const u32 pair = i / 2 + 2 * r, selector = i % 2 ? 0x07060302u : 0x05040100u;
                    a[r] = byte_select(word(v[1], pair), word(v[0], pair), selector);
                    a[r + 2] = byte_select(word(v[3], pair), word(v[2], pair), selector);
                }
                matrix_product(sum[4 * s + i], a, weights[0], weights[1]);
            }
        }
    }
    METHOD void run(const Part &p, const f32 (*)[DIM], const Prepared &queries, u32) {
        UNROLL for (u32 i = 0; i < TILES; i++) UNROLL for (u32 c = 0; c < 4; c++) sum[i][c] = 0.0f;
        top[0] = top[1] = -1e30f, total[0] = total[1] = 0.0f;
        if (first < p.end) step(p, queries, first);
        for (u32 base = first + STEP; base < p.end; base += STEP) {
            load(p, base);
            step(p, queries, base);
        }
    }

    METHOD void store(f32 (*states)[HEADS][2], f32 (*sums)[HEADS][DIM]) {
        UNROLL for (u32 c = 0; c < 2; c++) {
            total[c] += shuffle_xor<4>(total[c]);
            total[c] += shuffle_xor<8>(total[c]);
            total[c] += shuffle_xor<16>(total[c]);
            const u32 head = 2 * t + c;
            if (head < HEADS && g == 0) states[team][head][0] = top[c], states[team][head][1] = total[c];
        }
        // Lanes t and t + 2 have the two columns of a head: each adds up half of the tiles.
        const bool upper = t >= 2;
        UNROLL for (u32 i = 0; i < TILES / 2; i++) UNROLL for (u32 c = 0; c < 4; c++) {
            const f32 mine = upper ? sum[i + TILES / 2][c] : sum[i][c];
            const f32 sent = upper ? sum[i][c] : sum[i + TILES / 2][c];
            const u32 tile = i + (upper ? TILES / 2 : 0), head = 2 * t % HEADS + c % 2;
            sums[team][head][tile / 4 * 64 + g * 8 + tile % 4 + c / 2 * 4] = mine + shuffle_xor<2>(sent);
        }
    }
};
#endif

// Which of them: SumsOf<LANES, KV>::type.
#if PLATFORM_NVIDIA
template <int LANES, int KV> struct SumsOf {
    typedef WarpSums<LANES * 8, KV> type;
};
template <int KV> struct SumsOf<4, KV> {
    typedef LaneSums<4, KV> type;
};
template <int KV> struct SumsOf<32, KV> {
    typedef LaneSums<32, KV> type;
};
#else
template <int LANES, int KV> struct SumsOf {
    typedef LaneSums<LANES, KV> type;
};
#endif
