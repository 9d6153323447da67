// The gated delta rule: for each token of a sequence and each value head, with the head's state S [value_dim][key_dim],
//   S <- decay · S,  S <- S + beta · (v − S·k) kᵀ,  out = S·q,
// k = k' / |k'|, q = q' / (|q'| √key_dim) (lengths with ε under the root). decay and beta are given, or made of a and b:
// decay = exp(rate · log(exp(a) + exp(floor))), beta = sigmoid(b). COLUMNWISE: each column of S has a decay of its own, given as
// [tokens][value heads · key_dim] (Kimi's). Without CORRECTS S <- S + beta · v kᵀ, of k and q as they are: a state space model (Mamba 2's). Token after token by the same operations, however many
// are in the batch: a row's result does not depend on how a sequence was cut.
//
// S is read from one copy of the slot and written to the other (sequence.h), as [head][block][piece][thread][4]: what a
// block's threads load at once lies side by side. Rows of S do not see each other: 8 lanes take two, 32 columns a piece.
//
// Launch: 128 threads; grid (value_dim / 32, value heads, slots of the batch). Keys of up to 64, 128 or 256 columns.
#pragma once

#include "common/log_add_exp.h"
#include "common/reduce.h"
#include "ops/recurrent/sequence.h"

#define THREADS 128
#define LANES 8
// Rows of a thread: what it reads of q and k serves both.
#define OWN 2
#define GROUPS (THREADS / LANES)
#define ROWS (OWN * GROUPS)

struct Delta {
    const f32 *q, *k, *v, *decay, *beta, *rate, *floor;
    f32 *out, *state;
    u32 slots, floats;
    const Sequence *sequences;
    u32 q_width, k_width, v_width, heads, ratio, tiled, key_dim, value_dim;
    f32 eps;
    u32 most; // tokens of sequences that are taken
};

// A token: a thread's part of its rows of S decays and takes k and what v (`values`) is off; `sums`: its part of S·q.
template <u32 PIECES, bool CORRECTS, typename F>
DEVICE void take_token(f32x4 (&s)[OWN][PIECES], const f32x4 (&key)[PIECES], const f32x4 (&query)[PIECES], F decayed, f32 beta,
                       const f32 (&values)[OWN], f32 (&sums)[OWN]) {
    UNROLL for (u32 r = 0; r < OWN; r++) {
        sums[r] = 0.0f;
        UNROLL for (u32 c = 0; c < PIECES; c++) {
            f32x4 &x = s[r][c];
            x = decayed(x, c);
            if constexpr (!CORRECTS) continue;
            sums[r] = mul_add(x.x, key[c].x, sums[r]), sums[r] = mul_add(x.y, key[c].y, sums[r]);
            sums[r] = mul_add(x.z, key[c].z, sums[r]), sums[r] = mul_add(x.w, key[c].w, sums[r]);
        }
    }
    UNROLL for (u32 r = 0; r < OWN; r++) {
        f32 change = beta * values[r];
        if constexpr (CORRECTS) change = beta * (values[r] - wave_sum<LANES>(sums[r]));
        sums[r] = 0.0f;
        UNROLL for (u32 c = 0; c < PIECES; c++) {
            f32x4 &x = s[r][c];
            x.x = mul_add(change, key[c].x, x.x), x.y = mul_add(change, key[c].y, x.y);
            x.z = mul_add(change, key[c].z, x.z), x.w = mul_add(change, key[c].w, x.w);
            sums[r] = mul_add(x.x, query[c].x, sums[r]), sums[r] = mul_add(x.y, query[c].y, sums[r]);
            sums[r] = mul_add(x.z, query[c].z, sums[r]), sums[r] = mul_add(x.w, query[c].w, sums[r]);
        }
    }
}

template <int DIM, bool CORRECTS = true, bool COLUMNWISE = false> DEVICE void gated_delta(Delta p) {
    // Tokens that are prepared together.
    constexpr u32 TOKENS = DIM > 128 ? 8 : 16;
    constexpr u32 WAVES = THREADS / WAVE, COLUMNS = DIM / WAVE, VECTORS = 2 * TOKENS / WAVES, PIECES = DIM / 32;
    static_assert(COLUMNS > 0 && VECTORS > 0, "a wave takes whole vectors");
    // q and k of the tokens, then v of the block's rows, then decay and beta.
    SHARED f32x4 keys[TOKENS][2][DIM / 4];
    SHARED f32 values[TOKENS][ROWS];
    SHARED f32 gates[TOKENS][2];
    SHARED f32x4 decays[COLUMNWISE ? TOKENS : 1][DIM / 4];
    grid_dependency_launch();
    grid_dependency_wait();
    const Sequence sequence = p.sequences[block_z()];
    if (sequence.tokens == 0 || sequence.tokens > p.most) return;
    const u32 block = block_x(), head = block_y(), thread = thread_x(), lane = lane_id(), wave = wave_id();
    const u32 key_head = p.tiled ? head % p.ratio : head / p.ratio;
    const u32 part = thread % LANES, row = thread / LANES, first_row = block * ROWS;
    const u64 place = (((u64)head * grid_blocks_x() + block) * OWN * PIECES * THREADS + thread) * 4;
    const u64 from = state_place(sequence, p.slots, p.floats, false) + place;
    const u64 to = state_place(sequence, p.slots, p.floats, true) + place;
    f32x4 s[OWN][PIECES];
    UNROLL for (u32 r = 0; r < OWN; r++)
        UNROLL for (u32 c = 0; c < PIECES; c++)
            s[r][c] = sequence.fresh() ? f32x4{0.0f, 0.0f, 0.0f, 0.0f}
                                       : *(const f32x4 *)(p.state + from + (u64)(r * PIECES + c) * THREADS * 4);
    const f32 rate = p.rate ? p.rate[head] : 0.0f, floor = p.floor ? p.floor[head] : 0.0f;
    const f32 q_scale = fast_rsqrt((f32)p.key_dim);
    for (u32 start = 0; start < sequence.tokens; start += TOKENS) {
        const u32 count = minimum(TOKENS, sequence.tokens - start);
        const u64 batch = sequence.first + start;
        barrier();
        UNROLL for (u32 i = 0; i < VECTORS; i++) {
            const u32 vector = i * WAVES + wave, token = vector / 2;
            if (token >= count) continue;
            const bool is_k = vector % 2;
            const f32 *x = is_k ? p.k + (batch + token) * p.k_width : p.q + (batch + token) * p.q_width;
            x += (u64)key_head * p.key_dim;
            f32 kept[COLUMNS], squares = 0.0f;
            UNROLL for (u32 c = 0; c < COLUMNS; c++) {
                const u32 column = c * WAVE + lane;
                kept[c] = column < p.key_dim ? x[column] : 0.0f;
                squares = mul_add(kept[c], kept[c], squares);
            }
            f32 scale = 1.0f;
            if constexpr (CORRECTS) scale = fast_rsqrt(wave_sum(squares) + p.eps) * (is_k ? 1.0f : q_scale);
            UNROLL for (u32 c = 0; c < COLUMNS; c++) ((f32 *)keys[token][is_k])[c * WAVE + lane] = kept[c] * scale;
        }
        for (u32 i = thread; i < count * ROWS; i += THREADS) {
            const u32 token = i / ROWS, r = first_row + i % ROWS;
            const f32 *v = p.v + (batch + token) * p.v_width + (u64)head * p.value_dim;
            values[token][i % ROWS] = r < p.value_dim ? v[r] : 0.0f;
        }
        if constexpr (COLUMNWISE) {
            for (u32 i = thread; i < count * DIM; i += THREADS) {
                const u32 token = i / DIM, column = i % DIM;
                const f32 *decay = p.decay + ((batch + token) * p.heads + head) * p.key_dim;
                ((f32 *)decays[token])[column] = column < p.key_dim ? decay[column] : 0.0f;
            }
        }
        if (thread < count) {
            const u64 at = (batch + thread) * p.heads + head;
            const f32 a = COLUMNWISE ? 0.0f : p.decay[at], b = p.beta[at];
            gates[thread][0] = p.rate ? fast_exp(rate * log_add_exp(a, floor)) : a;
            gates[thread][1] = p.rate ? sigmoid(b) : b;
        }
        barrier();
        for (u32 token = 0; token < count; token++) {
            f32x4 key[PIECES], query[PIECES];
            UNROLL for (u32 c = 0; c < PIECES; c++)
                query[c] = keys[token][0][c * LANES + part], key[c] = keys[token][1][c * LANES + part];
            const f32 decay = gates[token][0], beta = gates[token][1];
            f32 of_rows[OWN], sums[OWN];
            UNROLL for (u32 r = 0; r < OWN; r++) of_rows[r] = values[token][r * GROUPS + row];
            auto decayed = [&](const f32x4 &x, u32 c) {
                f32x4 of = {decay, decay, decay, decay};
                if constexpr (COLUMNWISE) of = decays[token][c * LANES + part];
                return f32x4{x.x * of.x, x.y * of.y, x.z * of.z, x.w * of.w};
            };
            take_token<PIECES, CORRECTS>(s, key, query, decayed, beta, of_rows, sums);
            UNROLL for (u32 r = 0; r < OWN; r++) {
                const f32 sum = wave_sum<LANES>(sums[r]);
                const u32 column = first_row + r * GROUPS + row;
                if (part == 0 && column < p.value_dim)
                    p.out[((batch + token) * p.heads + head) * p.value_dim + column] = sum;
            }
        }
    }
    // What reads all rows of the batch finds numbers.
    const u64 end = sequence.first + sequence.tokens;
    for (u32 i = thread; i < sequence.unused() * ROWS; i += THREADS)
        if (first_row + i % ROWS < p.value_dim)
            p.out[((end + i / ROWS) * p.heads + head) * p.value_dim + first_row + i % ROWS] = 0.0f;
    UNROLL for (u32 r = 0; r < OWN; r++)
        UNROLL for (u32 c = 0; c < PIECES; c++)
            *(f32x4 *)(p.state + to + (u64)(r * PIECES + c) * THREADS * 4) = s[r][c];
}

#define GATED_DELTA(NAME, ...)                                                                                          \
    KERNEL(THREADS) void NAME(                                                                                         \
        const f32 *q, const f32 *k, const f32 *v, const f32 *decay, const f32 *beta, const f32 *rate,                  \
        const f32 *floor, f32 *out, f32 *state, u32 slots, u32 floats, const Sequence *sequences, u32 q_width,         \
        u32 k_width, u32 v_width, u32 heads, u32 ratio, u32 tiled, u32 key_dim, u32 value_dim, f32 eps, u32 most) {    \
        gated_delta<__VA_ARGS__>({q,       k,       v,       decay, beta,  rate,  floor,   out,       state, slots, floats,   \
                          sequences, q_width, k_width, v_width, heads, ratio, tiled, key_dim, value_dim, eps, most}); \
    }
