// Attention over the paged KV cache (cache.h) of heads of 769 to 4,096 columns: the formula, the arguments and the cutting of a
// query's keys into parts are wide.hip's, which writes the cache for these, too.
//
// Launch: 256 threads; grid (queries, heads, parts). A block takes 32 keys at a time: for the scores a team of 32 lanes has a
// key, for the sums a thread has columns (eight from 8 · thread on, and eight from 2,048 + 8 · thread on) of all of them.
// `counters`: [queries · heads] zeros, left zero. `parts`: [queries · heads][parts][4,096 sums, highest score, weight].
#include "ops/attention/wide.h"

#define COLUMNS 4096
#define TILE 32u
#define PIECES 2
#define STRIDE (COLUMNS + 2)

template <int KV> DEVICE void attend(const Wide &p) {
    SHARED __attribute__((aligned(16))) f32 columns[COLUMNS];
    SHARED f32 scores[TILE];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 query = block_x(), head = block_y(), part = block_z(), thread = thread_x(), team = thread / 32, lane = thread % 32;
    const u32 token = p.tokens ? p.tokens[query] : query, position = token == UNUSED ? UNUSED : p.positions[token];
    const u32 index = query * p.heads + head;
    f32 *out = p.out + (u64)index * p.dim;
    if (position == UNUSED) {
        // Rows that are not used are zeros, so that nothing undefined goes on.
        for (u32 i = thread; part == 0 && i < p.dim; i += THREADS) out[i] = 0.0f;
        return;
    }
    const Keys keys = keys_of(p, position, part);
    if (!keys.mine) return;
    const u32 kv_head = head / (p.heads / p.kv_heads);
    const u32 *pages = p.pages + (u64)p.slots[token] * p.max_pages;
    const Cache cache = {p.cache, p.page_stride, p.layer_start, p.dim};

    // Each team sums the squares for itself.
    const f32 *q = p.q + (u64)index * p.dim;
    const f32 factor = norm_factor(q, p.q_norm, p.eps, p.dim, lane) * p.scale * (p.cap > 0.0f ? 1.0f : 1.44269504f);
    const f32x2 *rope = p.rope + (u64)position * p.pairs;
    for (u32 i = thread; i < COLUMNS; i += THREADS)
        columns[i] = i < p.dim ? turned(q, p.q_norm, rope, p.pairs, p.interleaved, i) * factor : 0.0f;
    barrier();

    // Scores in base 2.
    f32 sum[PIECES][8] = {}, top = -1e30f, total = 0.0f;
    for (u32 base = keys.begin; base < keys.end; base += TILE) {
        const u32 count = minimum(keys.end - base, TILE);
        for (u32 k = team; k < TILE; k += TEAMS) {
            const u32 j = base + minimum(k, count - 1);
            const u8 *key = cache_keys<KV>(cache, pages[j / PAGE_TOKENS], kv_head);
            f32 s = 0.0f;
            for (u32 column = lane * 8; column < padded<KV>(p.dim); column += 256) {
                const u32x4 pairs = decode<KV>(load_piece<KV>(key, p.dim, j % PAGE_TOKENS, column));
                UNROLL for (u32 i = 0; i < 4; i++) {
                    const f16x2 pair = {word(pairs, i)};
                    s = mul_add(low(pair), columns[column + 2 * i], s), s = mul_add(high(pair), columns[column + 2 * i + 1], s);
                }
            }
            s = wave_sum<32>(s);
            if (p.cap > 0.0f) s = p.cap * fast_tanh(s / p.cap) * 1.44269504f;
            if (lane == 0) scores[k] = k < count ? s : -1e30f;
        }
        barrier();
        f32 most = top;
        for (u32 k = 0; k < TILE; k++) most = maximum(most, scores[k]);
        const f32 keep = fast_exp2(top - most);
        top = most, total *= keep;
        UNROLL for (u32 n = 0; n < PIECES; n++) UNROLL for (u32 i = 0; i < 8; i++) sum[n][i] *= keep;
        for (u32 k = 0; k < count; k++) {
            const u32 j = base + k;
            const u8 *value = cache_keys<KV>(cache, pages[j / PAGE_TOKENS], kv_head) + tokens_bytes<KV>(p.dim);
            const f32 w = fast_exp2(scores[k] - most);
            total += w;
            UNROLL for (u32 n = 0; n < PIECES; n++) {
                const u32 column = n * (COLUMNS / PIECES) + thread * 8;
                if (column >= padded<KV>(p.dim)) continue;
                const u32x4 pairs = decode<KV>(load_piece<KV>(value, p.dim, j % PAGE_TOKENS, column));
                UNROLL for (u32 i = 0; i < 4; i++) {
                    const f16x2 pair = {word(pairs, i)};
                    sum[n][2 * i] = mul_add(w, low(pair), sum[n][2 * i]);
                    sum[n][2 * i + 1] = mul_add(w, high(pair), sum[n][2 * i + 1]);
                }
            }
        }
        barrier();
    }

    const u32 count = keys.last - keys.first + 1;
    f32 *all_parts = p.parts + (u64)index * grid_blocks_z() * STRIDE, *to = all_parts + part * STRIDE;
    const f32 all = total + sink_weight(p.sinks, head, top);
    UNROLL for (u32 n = 0; n < PIECES; n++) UNROLL for (u32 i = 0; i < 8; i++) {
        const u32 column = n * (COLUMNS / PIECES) + thread * 8 + i;
        if (column >= p.dim) continue;
        if (count > 1) to[column] = sum[n][i];
        else out[column] = sum[n][i] / all;
    }
    if (count > 1 && thread == 0) to[COLUMNS] = top, to[COLUMNS + 1] = total;
    if (count == 1 || !is_last_block(p.counters + index, count)) return;
    const f32 *from = all_parts + keys.first * STRIDE;
    f32 most = -1e30f, weight = 0.0f;
    for (u32 k = 0; k < count; k++) most = maximum(most, from[k * STRIDE + COLUMNS]);
    for (u32 k = 0; k < count; k++)
        weight = mul_add(fast_exp2(from[k * STRIDE + COLUMNS] - most), from[k * STRIDE + COLUMNS + 1], weight);
    weight += sink_weight(p.sinks, head, most);
    for (u32 i = thread; i < p.dim; i += THREADS) {
        f32 y = 0.0f;
        for (u32 k = 0; k < count; k++) y = mul_add(fast_exp2(from[k * STRIDE + COLUMNS] - most), from[k * STRIDE + i], y);
        out[i] = y / weight;
    }
}

WIDE_KERNEL(mlxrocm_attention_widest, attend<KV_F16>)
WIDE_KERNEL(mlxrocm_attention_widest_q8, attend<KV_Q8>)
WIDE_KERNEL(mlxrocm_attention_widest_q4, attend<KV_Q4>)
