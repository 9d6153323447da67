// What attention_parts.hip and attention_step.hip share: queries of a head of keys and values by parts of the keys.
//
// The queries of a head of keys and values are [heads that share it][rows]; a block takes four of them, reads each key
// and value of its part once, and leaves for each query of the part [sums of dim numbers, top, sum of weights] (f32). The
// last block of these queries joins their parts, 64 threads a query: there are MOST_PARTS at most, so that each thread finds
// what one of them counts.
#pragma once

#include "common/reduce.h"
#include "scores.h"

#define LANES 16
#define TEAMS (256 / LANES)
#define SHARED_QUERIES 4
// Most of keys and values.
#define COLUMNS 128
// Keys of a team on their way; on NVIDIA as few as leave room for two blocks on a multiprocessor.
#if PLATFORM_NVIDIA
#define AHEAD 2
#define OF_PARTS KERNEL_WAVES(256, 4)
#else
#define AHEAD 4
#define OF_PARTS KERNEL(256)
#endif
#define MOST_PARTS 64
// Groups of queries that are taken in several parts.
#define MOST_GROUPS 512

template <typename T> DEVICE void unpack(const u32x4 &piece, f32 *to) {
    UNROLL for (u32 i = 0; i < 4; i++) {
        if constexpr (sizeof(T) == 4)
            to[i] = bits_f32(word(piece, i));
        else
            to[2 * i] = to_f32(T{(u16)word(piece, i)}), to[2 * i + 1] = to_f32(T{(u16)(word(piece, i) >> 16)});
    }
}

// What lies at an address on its way to the cache that all share.
#if PLATFORM_NVIDIA
DEVICE void prefetch(const void *at) { asm volatile("prefetch.global.L2 [%0];" ::"l"(at)); }
#else
DEVICE void prefetch(const void *) {}
#endif

// Joins the parts of the block's queries, the first of which is `first` of the `queries` of its head, whose parts begin with
// those of query `from`. By all threads; `shared`: 8 · MOST_PARTS numbers.
template <typename T>
DEVICE void join(const Scores<T> &p, const f32 *parts, u64 from, u32 queries, u32 first, T *out, f32 *shared) {
    const u32 mine = thread_x() / 64, part = thread_x() % 64, count = grid_blocks_x(), query = first + mine;
    f32 *tops = shared + mine * MOST_PARTS, *shares = shared + (4 + mine) * MOST_PARTS;
    f32 numbers[COLUMNS / 64][16];
    // Queries past the last are the last again.
    const u32 i = minimum(query, queries - 1), heads_first = block_z() % p.kv_heads * (p.heads / p.kv_heads);
    const f32 *of_query = parts + (from + i) * count * (p.dim + 2);
    const f32 *own = of_query + (u64)minimum(part, count - 1) * (p.dim + 2) + p.dim;
    const f32 own_top = own[0], own_total = own[1];
    const auto load = [&](u32 j, u32 n) {
        const u32 c = minimum(j * 64 + part, p.dim - 1);
        UNROLL for (u32 i = 0; i < 16; i++) numbers[j][i] = of_query[(u64)minimum(n + i, count - 1) * (p.dim + 2) + c];
    };
    UNROLL for (u32 j = 0; j < COLUMNS / 64; j++) load(j, 0);
    const f32 sink = p.sinks ? to_f32(p.sinks[heads_first + i / p.rows]) * LOG2_E : nothing();
    tops[part] = own_top;
    barrier();
    f32 top = sink;
    UNROLL for (u32 n = 0; n < MOST_PARTS; n++) top = maximum(top, tops[n]);
    shares[part] = part < count ? fade(own_top, top) : 0.0f;
    barrier();
    tops[part] = part < count ? own_total * shares[part] : 0.0f;
    barrier();
    f32 total = p.sinks ? fade(sink, top) : 0.0f;
    UNROLL for (u32 n = 0; n < MOST_PARTS; n++) total += tops[n];
    if (query >= queries) return;
    const u32 head = block_z() / p.kv_heads * p.heads + heads_first + i / p.rows;
    UNROLL for (u32 j = 0; j < COLUMNS / 64; j++) {
        f32 sum = 0.0f;
        for (u32 n = 0; n < count; n += 16) {
            if (n > 0) load(j, n);
            UNROLL for (u32 i = 0; i < 16; i++) if (n + i < count) sum = mul_add(numbers[j][i], shares[n + i], sum);
        }
        const u32 c = j * 64 + part;
        if (c < p.dim) out[((u64)head * p.rows + i % p.rows) * p.dim + c] = from_f32<T>::make(sum / total);
    }
}

// No step: queries are rotated, and keys and values whole.
struct NoStep {
    static constexpr bool BRINGS_A_ROW = false;
};

template <typename T, u32 PIECES, typename Step>
DEVICE void attend(const Scores<T> &p, const T *q, const T *k, const T *v, f32 *parts, T *out, u32 *counters, u32 of_part, Step step) {
    constexpr u32 V = 16 / sizeof(T), MINE = PIECES * V, Q = SHARED_QUERIES;
    static_assert(MINE * LANES == COLUMNS && Q * AHEAD <= LANES, "lanes");
    // Of two queries at once.
    SHARED f32 sums[2][TEAMS][COLUMNS], tops[TEAMS][Q], totals[TEAMS][Q], shares[TEAMS][Q], joint[Q];
    grid_dependency_launch();
    const u32 begin = block_x() * of_part, end_of_part = minimum(begin + of_part, p.keys);
    k += (u64)block_z() * p.keys * p.dim, v += (u64)block_z() * p.keys * p.dim;
    // On their way while the launch in front ends, up to the cache that it writes through: it may replace some of them.
    const u32 early = begin + thread_x() * (128 / sizeof(T)) / p.dim;
    if (early < end_of_part) {
        prefetch(k + (u64)begin * p.dim + thread_x() * (128 / sizeof(T)));
        prefetch(v + (u64)begin * p.dim + thread_x() * (128 / sizeof(T)));
    }
    if constexpr (Step::BRINGS_A_ROW) step.prepare();
    grid_dependency_wait();
    const u32 lane = thread_x() % LANES, team = thread_x() / LANES, rows = Step::BRINGS_A_ROW ? 1 : p.rows;
    const u32 shared = p.heads / p.kv_heads, all = shared * rows;
    const u32 batch = block_z() / p.kv_heads, first_head = block_z() % p.kv_heads * shared, first = block_y() * Q;
    f32 query[Q][MINE], mine[Q][MINE] = {}, top[Q], total[Q] = {};
    u32 row[Q];
    i64 of_row[Q];
    u32 last = 0, least = p.rows;
    UNROLL for (u32 n = 0; n < Q; n++) {
        // Queries past the last are the last again.
        const u32 i = minimum(first + n, all - 1), head = first_head + i / rows;
        row[n] = i % rows, of_row[n] = p.mask_of(batch, head, row[n]), top[n] = nothing();
        last = row[n] > last ? row[n] : last, least = minimum(least, row[n]);
        if constexpr (Step::BRINGS_A_ROW) continue;
        const T *from = q + ((u64)(batch * p.heads + head) * p.rows + row[n]) * p.dim;
        UNROLL for (u32 j = 0; j < PIECES; j++) {
            const u32 column = (j * LANES + lane) * V;
            unpack<T>(column < p.dim ? load16(from + column) : u32x4{0, 0, 0, 0}, query[n] + j * V);
        }
    }
    // A lane finds what the mask tells of one query and one key of those on their way.
    const bool masked = p.mask && !p.causal;
    i64 own_row = 0;
    UNROLL for (u32 n = 0; n < Q; n++) own_row = lane % Q == n ? of_row[n] : own_row;
    const u32 end = minimum(end_of_part, p.seen(least, last));
    u32x4 keys[AHEAD][PIECES], values[AHEAD][PIECES];
    f32 own = 0.0f;
    const auto load = [&](u32 at) {
        UNROLL for (u32 a = 0; a < AHEAD; a++) UNROLL for (u32 j = 0; j < PIECES; j++) {
            const u32 key = at + a * TEAMS + team, column = (j * LANES + lane) * V;
            keys[a][j] = values[a][j] = u32x4{0, 0, 0, 0};
            bool is_there = key < end && column < p.dim;
            if constexpr (Step::BRINGS_A_ROW) is_there = is_there && key != step.place;
            if (is_there) {
                keys[a][j] = load16(k + (u64)key * p.dim + column);
                values[a][j] = load16(v + (u64)key * p.dim + column);
            }
        }
        const u32 own_key = at + lane / Q % AHEAD * TEAMS + team;
        own = masked && own_key < end ? p.told(own_key, own_row) : 0.0f;
    };
    if constexpr (Step::BRINGS_A_ROW) {
        // Where no other block reads the row that comes, the first keys are on their way meanwhile.
        const bool is_alone = grid_blocks_y() == 1;
        if (is_alone) load(begin);
        step.make(p, q, begin, end_of_part);
        if (!is_alone) load(begin);
    }
    for (u32 at = begin; at < end; at += TEAMS * AHEAD) {
        if (!Step::BRINGS_A_ROW || at > begin) load(at);
        if constexpr (Step::BRINGS_A_ROW) if (step.place - at < TEAMS * AHEAD && step.place < end) {
            UNROLL for (u32 a = 0; a < AHEAD; a++) UNROLL for (u32 j = 0; j < PIECES; j++) {
                if (at + a * TEAMS + team != step.place) continue;
                keys[a][j] = load16(step.key + (j * LANES + lane) * V), values[a][j] = load16(step.value + (j * LANES + lane) * V);
            }
        }
        f32 scores[AHEAD][Q];
        UNROLL for (u32 n = 0; n < Q; n++) {
            if constexpr (Step::BRINGS_A_ROW) UNROLL for (u32 j = 0; j < PIECES; j++) UNROLL for (u32 c = 0; c < V; c += 4) {
                const u32x4 four = load16(step.queries[n] + (j * LANES + lane) * V + c);
                UNROLL for (u32 i = 0; i < 4; i++) query[n][j * V + c + i] = bits_f32(word(four, i));
            }
            UNROLL for (u32 a = 0; a < AHEAD; a++) {
                f32 numbers[MINE], sum = 0.0f;
                UNROLL for (u32 j = 0; j < PIECES; j++) unpack<T>(keys[a][j], numbers + j * V);
                UNROLL for (u32 c = 0; c < MINE; c++) sum = mul_add(query[n][c], numbers[c], sum);
                scores[a][n] = wave_sum<LANES>(sum);
            }
        }
        UNROLL for (u32 n = 0; n < Q; n++) {
            f32 now = top[n];
            UNROLL for (u32 a = 0; a < AHEAD; a++) {
                const u32 key = at + a * TEAMS + team;
                const f32 told = masked ? shuffle(own, lane_id() - lane + a * Q + n) : 0.0f;
                scores[a][n] = key < end ? p.score_told(scores[a][n], row[n], key, told) : nothing();
                now = maximum(now, scores[a][n]);
            }
            const f32 keep = fade(top[n], now);
            top[n] = now, total[n] *= keep;
            UNROLL for (u32 c = 0; c < MINE; c++) mine[n][c] *= keep;
            UNROLL for (u32 a = 0; a < AHEAD; a++) scores[a][n] = fade(scores[a][n], now), total[n] += scores[a][n];
        }
        UNROLL for (u32 a = 0; a < AHEAD; a++) {
            f32 numbers[MINE];
            UNROLL for (u32 j = 0; j < PIECES; j++) unpack<T>(values[a][j], numbers + j * V);
            UNROLL for (u32 n = 0; n < Q; n++)
                UNROLL for (u32 c = 0; c < MINE; c++) mine[n][c] = mul_add(scores[a][n], numbers[c], mine[n][c]);
        }
    }
    if (lane == 0) UNROLL for (u32 n = 0; n < Q; n++) tops[team][n] = top[n], totals[team][n] = total[n];
    barrier();
    if constexpr (Step::BRINGS_A_ROW) step.store(p, begin, end);
    if (thread_x() < TEAMS * Q) {
        const u32 n = thread_x() % Q, t = thread_x() / Q;
        f32 now = tops[0][n];
        UNROLL for (u32 i = 1; i < TEAMS; i++) now = maximum(now, tops[i][n]);
        shares[t][n] = fade(tops[t][n], now);
        if (t == 0) joint[n] = now;
    }
    UNROLL for (u32 pair = 0; pair < Q; pair += 2) {
        if (pair > 0) barrier();
        UNROLL for (u32 n = 0; n < 2; n++) UNROLL for (u32 j = 0; j < PIECES; j++)
            UNROLL for (u32 c = 0; c < V; c++) sums[n][team][(j * LANES + lane) * V + c] = mine[pair + n][j * V + c];
        barrier();
        const u32 half = thread_x() / COLUMNS, c = thread_x() % COLUMNS, n = pair + half;
        f32 *to = parts + (((u64)block_z() * all + first + n) * grid_blocks_x() + block_x()) * (p.dim + 2);
        f32 sum = 0.0f, total = 0.0f;
        UNROLL for (u32 t = 0; t < TEAMS; t++) sum = mul_add(shares[t][n], sums[half][t][c], sum);
        if (c == 0) UNROLL for (u32 t = 0; t < TEAMS; t++) total = mul_add(shares[t][n], totals[t][n], total);
        if (first + n < all && c < p.dim) to[c] = sum;
        if (first + n < all && c == 0) to[p.dim] = joint[n], to[p.dim + 1] = total;
    }
    if (counters && !is_last_block(counters + block_z() * divide_up(all, Q) + block_y(), grid_blocks_x())) return;
    barrier();
    join<T>(p, parts, (u64)block_z() * all, all, first, out, &sums[0][0][0]);
}

