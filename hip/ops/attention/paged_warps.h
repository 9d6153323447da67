// NVIDIA: what a warp of paged_warps.hip does: 16 keys and values of up to eight query heads at a time by the
// matrix unit (m16n8k16):
//
//   scores  S[key][head] = K · Qᵀ      values  O[dim][head] += Vᵀ · Pᵀ
//
// Of queries and weights both is multiplied, numbers rounded to f16 and what rounding left of them: sums are as exact as
// in f32. Keys and values come to shared memory of the warp's own, so that no warp waits for another one and registers
// hold none of them: the next keys when these were multiplied with, then the next values. Piece i (16 bytes) of row r lies at
// i ^ r % 8, so that the eight rows of a matrix lie in different banks.
//
// Twice the memory, with two tiles on the way, was slower for heads of 128 columns behind a kernel whose blocks have a
// multiprocessor each (8,192 keys: 11.1 us instead of 10.2), and so were twice as many blocks, two a multiprocessor (12.4).
//
// Lane 4g + t has scores of keys g and g + 8, sums of dims g and g + 8 of each 16, heads 2t and 2t + 1 of both.
#pragma once

#include "common/matrix_loads_nvidia.h"
#include "ops/attention/part_nvidia.h"

// Query heads of a block, and bytes of all its tiles for each column of a head.
#define GROUP_HEADS 8
#define TILE_BYTES 512

#if PLATFORM_NVIDIA
// As copy_async, for memory that is read from one end to the other.
DEVICE void copy_ahead(u32 shared, const void *global) {
    asm volatile("cp.async.cg.shared.global.L2::256B [%0], [%1], 16;" ::"r"(shared), "l"(global) : "memory");
}

// As load_turn (in two parts) and load_head of cache.h, of fewer instructions: 32 columns none of which is turned ask for no more.
template <int N> DEVICE Turn<N> load_norms_fast(const f32 *norm, u32 pairs, u32 interleaved, u32 dim, u32 lane) {
    Turn<N> turn;
    UNROLL for (u32 n = 0; n < N; n++) {
        const u32 i = n * 32 + lane;
        turn.partner[n] = i;
        turn.norm[n] = norm && i < dim ? norm[i] : 1.0f;
        turn.partner_norm[n] = turn.norm[n], turn.cosine[n] = 1.0f, turn.sine[n] = 0.0f;
        if (n * 32 < 2 * pairs && i < 2 * pairs) {
            turn.partner[n] = interleaved ? i ^ 1 : i >= pairs ? i - pairs : i + pairs;
            if (norm) turn.partner_norm[n] = norm[turn.partner[n]];
        }
    }
    return turn;
}
template <int N> DEVICE void load_angles_fast(Turn<N> &turn, const f32x2 *rope, u32 pairs, u32 interleaved, u32 lane) {
    UNROLL for (u32 n = 0; n < N; n++) {
        const u32 i = n * 32 + lane;
        if (n * 32 < 2 * pairs && i < 2 * pairs) {
            const bool second = interleaved ? i % 2 : i >= pairs;
            const f32x2 angle = rope[interleaved ? i / 2 : second ? i - pairs : i];
            turn.cosine[n] = angle.x, turn.sine[n] = second ? angle.y : -angle.y;
        }
    }
}
template <int N> DEVICE Head<N> load_head_fast(const f32 *x, const Turn<N> &turn, u32 pairs, u32 dim, u32 lane) {
    Head<N> head;
    UNROLL for (u32 n = 0; n < N; n++) {
        const bool inside = n * 32 + lane < dim;
        head.other[n] = head.own[n] = inside ? x[n * 32 + lane] : 0.0f;
        if (n * 32 < 2 * pairs && inside) head.other[n] = x[turn.partner[n]];
    }
    return head;
}

template <int DIM> struct Tiles {
    static constexpr u32 KEYS = 16, STEP = TEAMS * KEYS, ROW = DIM * 2, PIECES = DIM / 8, TILES = DIM / 16;
    static constexpr u32 ROWS = 32 / PIECES; // that a warp copies at once
    static constexpr u32 HALF = KEYS * ROW, BYTES = 2 * HALF; // keys, or values, of a tile; both
    // Rows that are read together lie in different banks.
    static constexpr u32 WIDE = DIM + 8, SUMS_ROW = DIM + 4;
    static_assert(TEAMS * BYTES == TILE_BYTES * DIM, "what a launch asks for");
    static_assert(GROUP_HEADS * SUMS_ROW * 4 <= BYTES, "a warp's sums fit into its tile");
    struct Queries {
        u16 numbers[2 * GROUP_HEADS][WIDE];
    };

    u32 lane, shared, first, page;
    f32 sum[TILES][4], top[2], total[2];

    METHOD Tiles(const Part &p, u32 team, u32 its_lane, u32 its_shared)
        : lane(its_lane), shared(its_shared), first(p.begin / KEYS * KEYS + team * KEYS) {}

    // Lane i knows the page of tile n + i.
    METHOD void look_up(const Part &p, u32 n) {
        const u32 of = first + (n + lane) * STEP;
        page = of < p.end ? p.pages[of / PAGE_TOKENS] : 0;
    }
    // Keys (0) or values (1) of the warp's nth tile begin to come, if there is one. Rows past the last are the last
    // again; those before the first were kept in the cache. Columns past the head's last are the first again: queries are
    // zero there, and such sums not kept.
    METHOD void copy(const Part &p, u32 n, u32 which) {
        const u32 base = first + n * STEP;
        if (base < p.end) {
            if (which == 0 && n % 32 == 0 && n > 0) look_up(p, n);
            const u8 *from = p.head + shuffle(page, n % 32) * p.page_stride + which * tokens_bytes<KV_F16>(p.dim);
            const u32 to = shared + which * HALF, row = lane / PIECES, piece = lane % PIECES;
            if (p.dim == DIM && base + KEYS <= p.end) {
                // Places known to the compiler, but for the lane's.
                const u8 *at = from + (base % PAGE_TOKENS + row) * ROW + piece * 16;
                UNROLL for (u32 i = 0; i < KEYS / ROWS; i++)
                    copy_ahead(to + row * ROW + (piece ^ (i * ROWS % 8 + row)) * 16 + i * ROWS * ROW, at + i * ROWS * ROW);
            } else {
                const u32 column = piece * 8 < p.dim ? piece * 8 : 0;
                _Pragma("nounroll") for (u32 r = row; r < KEYS; r += ROWS) {
                    const u32 j = minimum(base + r, p.end - 1);
                    copy_ahead(to + r * ROW + (piece ^ r % 8) * 16,
                               piece_codes<KV_F16>(from, p.dim, j % PAGE_TOKENS, column));
                }
            }
        }
        copy_commit();
    }
    METHOD void start(const Part &p) {
        _Pragma("nounroll") for (u32 which = 0; which < 2; which++) copy(p, 0, which);
    }
    // All copies but those asked for last are there.
    METHOD void arrived() {
        copy_wait<1>();
        wave_barrier();
    }

    // The query of head `head`, of which the lane has columns lane, lane + 32, …
    METHOD void prepare(Queries &to, const f32 *query, u32 head) {
        UNROLL for (u32 n = 0; n < DIM / 32; n++) {
            const f16 rounded = to_f16(query[n]);
            to.numbers[head][n * 32 + lane] = rounded.bits;
            to.numbers[head + GROUP_HEADS][n * 32 + lane] = to_f16(query[n] - to_f32(rounded)).bits;
        }
    }

    METHOD void multiply_keys(f32 *score, u32 keys, u32 queries) {
        // Row and piece that the lane names for ldmatrix.
        const u32 row = lane % 16, half = lane / 16;
        const u32 k_at = keys + row * ROW, k_piece = (half ^ row % 8) * 16;
        const u32 q_at = queries + (lane % 8 + lane / 16 * GROUP_HEADS) * WIDE * 2 + lane / 8 % 2 * 16;
        // Sums of even and of odd steps, of numbers and of their rests: products do not wait for each other.
        f32 part[2][2][4] = {};
        UNROLL for (u32 s = 0; s < TILES; s++) {
            u32 k[4], q[4];
            load_matrices(k, k_at + (k_piece ^ s * 32));
            load_matrices(q, q_at + s * 32);
            matrix_product(part[0][s % 2], k, q[0], q[1]);
            matrix_product(part[1][s % 2], k, q[2], q[3]);
        }
        UNROLL for (u32 i = 0; i < 4; i++) score[i] = part[0][0][i] + part[0][1][i] + (part[1][0][i] + part[1][1][i]);
    }
    METHOD void multiply_values(const u32 (*weights)[2], u32 values) {
        const u32 row = lane % 8 + lane / 16 * 8, half = lane / 8 % 2;
        const u32 v_at = values + row * ROW, v_piece = (half ^ row % 8) * 16;
        UNROLL for (u32 i = 0; i < TILES; i++) {
            u32 v[4];
            load_matrices_turned(v, v_at + (v_piece ^ i * 32));
            matrix_product(sum[i], v, weights[0][0], weights[0][1]);
            matrix_product(sum[i], v, weights[1][0], weights[1][1]);
        }
    }

    METHOD void run(const Part &p, const Queries &queries) {
        UNROLL for (u32 i = 0; i < TILES; i++) UNROLL for (u32 c = 0; c < 4; c++) sum[i][c] = 0.0f;
        top[0] = top[1] = -1e30f, total[0] = total[1] = 0.0f;
        const u32 query = shared_address(&queries), g = lane / 4;
        u32 n = 0;
        for (u32 base = first; base < p.end; base += STEP, n++) {
            f32 score[4];
            arrived();
            multiply_keys(score, shared, query);
            wave_barrier();
            copy(p, n + 1, 0);

            // score: (key g, heads 2t, 2t + 1), (key g + 8, the same).
            f32 keep[2];
            UNROLL for (u32 i = 0; i < 4; i++) {
                const u32 j = base + g + i / 2 * 8;
                score[i] = j >= p.begin && j < p.end ? score[i] : -1e30f;
            }
            UNROLL for (u32 c = 0; c < 2; c++) {
                f32 most = maximum(top[c], maximum(score[c], score[2 + c]));
                most = maximum(most, shuffle_xor<4>(most));
                most = maximum(most, shuffle_xor<8>(most));
                most = maximum(most, shuffle_xor<16>(most));
                keep[c] = fast_exp2(top[c] - most);
                top[c] = most, total[c] *= keep[c];
            }
            u32 weights[2][2];
            UNROLL for (u32 r = 0; r < 2; r++) {
                f32 w[2];
                UNROLL for (u32 c = 0; c < 2; c++) {
                    const u32 j = base + g + r * 8;
                    w[c] = j >= p.begin && j < p.end ? fast_exp2(score[2 * r + c] - top[c]) : 0.0f;
                    total[c] += w[c];
                }
                const f16x2 rounded = pack_f16x2(w[0], w[1]);
                weights[0][r] = transposed(rounded.bits);
                weights[1][r] = transposed(pack_f16x2(w[0] - low(rounded), w[1] - high(rounded)).bits);
            }
            // Times 1, mostly.
            if (n > 0 && ballot(keep[0] != 1.0f || keep[1] != 1.0f)) {
                UNROLL for (u32 i = 0; i < TILES; i++) UNROLL for (u32 c = 0; c < 4; c++) sum[i][c] *= keep[c % 2];
            }
            arrived();
            multiply_values(weights, shared + HALF);
            wave_barrier();
            copy(p, n + 1, 1);
        }
    }

    // The warp's maxima and sums of weights, and to its tile, [GROUP_HEADS][SUMS_ROW], sums of weights times values.
    METHOD void store(f32 (*states)[2], f32 *sums) {
        copy_wait<0>();
        wave_barrier();
        const u32 g = lane / 4, t = lane % 4;
        UNROLL for (u32 c = 0; c < 2; c++) {
            total[c] += shuffle_xor<4>(total[c]);
            total[c] += shuffle_xor<8>(total[c]);
            total[c] += shuffle_xor<16>(total[c]);
            if (g == 0) states[2 * t + c][0] = top[c], states[2 * t + c][1] = total[c];
        }
        UNROLL for (u32 i = 0; i < TILES; i++) UNROLL for (u32 c = 0; c < 4; c++)
            sums[(2 * t + c % 2) * SUMS_ROW + i * 16 + g + c / 2 * 8] = sum[i][c];
    }
};
#endif
