// Attention over the paged KV cache (cache.h) for what paged.hip and flash.hip have no form of: heads of up to 768 columns
// (latent attention has 576), scores with a soft cap, keys of the query's own run of tokens only:
//
//   out[r][h] = Σ_j softmax_j(s(scale · q[r][h]·K[j])) V[j],  s(x) = cap · tanh(x / cap), or x where cap is 0,
//   j ≤ position of r, > position − window where there is a window, ≥ position / chunk · chunk where there is a chunk
//
// where the softmax's sum also has exp(sinks[h]), if there are sinks. q: [rows][heads · dim] f32, before norm and rotation.
// The queries are those of `tokens`, their places in the list are their rows of q; without a list they are all rows. Keys
// and values are in the cache already (`…_wide_write`, which takes what write.hip takes). All sums are f32, and a query's
// are made in an order of its own.
//
// Launch: 256 threads; grid (queries, kv_heads · ceil(heads / kv_heads / HEADS), parts): the keys of a query are cut into parts as in
// paged.hip, whose last block adds them in order; each team of 32 lanes takes every eighth key for all heads of the block,
// eight columns a lane. `counters`: [queries · head groups] zeros, left zero. `parts`: as in paged.hip, COLUMNS = 256 N.
// Writing: 256 threads; grid (tokens, kv_heads).
#include "ops/attention/wide.h"

#define HEADS 4

template <int N, int KV> DEVICE void attend(const Wide &p) {
    // AT_ONCE: keys of a team at a time; two of wide heads would spill.
    constexpr u32 COLUMNS = 256 * N, STRIDE = HEADS * (2 + COLUMNS), AT_ONCE = N > 1 ? 1 : 2;
    SHARED __attribute__((aligned(16))) f32 queries[HEADS][COLUMNS];
    SHARED __attribute__((aligned(16))) f32 sums[TEAMS][COLUMNS];
    SHARED f32 states[TEAMS][HEADS][2];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 query = block_x(), part = block_z(), thread = thread_x(), team = thread / 32, lane = thread % 32;
    const u32 a_key_head = p.heads / p.kv_heads, groups = (a_key_head + HEADS - 1) / HEADS;
    const u32 kv_head = block_y() / groups, first = block_y() % groups * HEADS, head0 = kv_head * a_key_head + first;
    const u32 heads = a_key_head - first < HEADS ? a_key_head - first : HEADS;
    const u32 token = p.tokens ? p.tokens[query] : query, position = token == UNUSED ? UNUSED : p.positions[token];
    f32 *out = p.out + ((u64)query * p.heads + head0) * p.dim;
    if (position == UNUSED) {
        // Rows that are not used are zeros, so that nothing undefined goes on.
        for (u32 i = thread; part == 0 && i < heads * p.dim; i += THREADS) out[i] = 0.0f;
        return;
    }
    const Keys keys_here = keys_of(p, position, part);
    if (!keys_here.mine) return;
    const u32 begin = keys_here.begin, end = keys_here.end, first_part = keys_here.first, last_part = keys_here.last;
    const u32 *pages = p.pages + (u64)p.slots[token] * p.max_pages;
    const Cache cache = {p.cache, p.page_stride, p.layer_start, p.dim};

    // Team h prepares head h; lanes of a wave stay together.
    const f32 *q = p.q + ((u64)query * p.heads + head0 + minimum(team, heads - 1)) * p.dim;
    const f32 factor = norm_factor(q, p.q_norm, p.eps, p.dim, lane) * p.scale * (p.cap > 0.0f ? 1.0f : 1.44269504f);
    if (team < HEADS) {
        for (u32 i = lane; i < COLUMNS; i += 32)
            queries[team][i] = i < p.dim && team < heads
                                   ? turned(q, p.q_norm, p.rope + (u64)position * p.pairs, p.pairs, p.interleaved, i) * factor
                                   : 0.0f;
    }
    barrier();

    // Scores in base 2.
    f32 sum[HEADS][N][8] = {}, top[HEADS], total[HEADS];
    UNROLL for (u32 h = 0; h < HEADS; h++) top[h] = -1e30f, total[h] = 0.0f;
    for (u32 base = begin; base < end; base += TEAMS * AT_ONCE) {
        u32x4 keys[AT_ONCE][N], values[AT_ONCE][N];
        UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
            const u32 j = minimum(base + u * TEAMS + team, end - 1);
            const u8 *key = cache_keys<KV>(cache, pages[j / PAGE_TOKENS], kv_head), *value = key + tokens_bytes<KV>(p.dim);
            UNROLL for (u32 n = 0; n < N; n++) {
                const u32 column = n * 256 + lane * 8;
                keys[u][n] = values[u][n] = u32x4{0, 0, 0, 0};
                if (column < padded<KV>(p.dim)) {
                    keys[u][n] = decode<KV>(load_piece<KV>(key, p.dim, j % PAGE_TOKENS, column));
                    values[u][n] = decode<KV>(load_piece<KV>(value, p.dim, j % PAGE_TOKENS, column));
                }
            }
        }
        UNROLL for (u32 h = 0; h < HEADS; h++) {
            f32 score[AT_ONCE] = {}, most = top[h];
            UNROLL for (u32 n = 0; n < N; n++) {
                const f32x4 a = *(const f32x4 *)(queries[h] + n * 256 + lane * 8);
                const f32x4 b = *(const f32x4 *)(queries[h] + n * 256 + lane * 8 + 4);
                UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
                    const u32x4 k = keys[u][n];
                    f32 s = score[u];
                    s = mul_add(low(f16x2{k.x}), a.x, s), s = mul_add(high(f16x2{k.x}), a.y, s);
                    s = mul_add(low(f16x2{k.y}), a.z, s), s = mul_add(high(f16x2{k.y}), a.w, s);
                    s = mul_add(low(f16x2{k.z}), b.x, s), s = mul_add(high(f16x2{k.z}), b.y, s);
                    s = mul_add(low(f16x2{k.w}), b.z, s), s = mul_add(high(f16x2{k.w}), b.w, s);
                    score[u] = s;
                }
            }
            UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
                f32 s = wave_sum<32>(score[u]);
                if (p.cap > 0.0f) s = p.cap * fast_tanh(s / p.cap) * 1.44269504f;
                score[u] = base + u * TEAMS + team < end ? s : -1e30f;
                most = maximum(most, score[u]);
            }
            const f32 keep = fast_exp2(top[h] - most);
            top[h] = most, total[h] *= keep;
            UNROLL for (u32 n = 0; n < N; n++) UNROLL for (u32 i = 0; i < 8; i++) sum[h][n][i] *= keep;
            UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
                const f32 w = base + u * TEAMS + team < end ? fast_exp2(score[u] - most) : 0.0f;
                total[h] += w;
                UNROLL for (u32 n = 0; n < N; n++) UNROLL for (u32 i = 0; i < 4; i++) {
                    const f16x2 v = {word(values[u][n], i)};
                    sum[h][n][2 * i] = mul_add(w, low(v), sum[h][n][2 * i]);
                    sum[h][n][2 * i + 1] = mul_add(w, high(v), sum[h][n][2 * i + 1]);
                }
            }
        }
    }
    UNROLL for (u32 h = 0; h < HEADS; h++)
        if (lane == 0) states[team][h][0] = top[h], states[team][h][1] = total[h];

    const u32 count = last_part - first_part + 1, index = query * grid_blocks_y() + block_y();
    f32 *all_parts = p.parts + (u64)index * grid_blocks_z() * STRIDE, *to = all_parts + part * STRIDE;
    UNROLL for (u32 h = 0; h < HEADS; h++) {
        barrier();
        UNROLL for (u32 n = 0; n < N; n++) UNROLL for (u32 i = 0; i < 8; i++)
            sums[team][n * 256 + lane * 8 + i] = sum[h][n][i];
        barrier();
        if (h >= heads) continue;
        f32 most = -1e30f, all = 0.0f;
        UNROLL for (u32 t = 0; t < TEAMS; t++) most = maximum(most, states[t][h][0]);
        UNROLL for (u32 t = 0; t < TEAMS; t++) all = mul_add(fast_exp2(states[t][h][0] - most), states[t][h][1], all);
        for (u32 c = thread; c < p.dim; c += THREADS) {
            f32 y = 0.0f;
            UNROLL for (u32 t = 0; t < TEAMS; t++) y = mul_add(fast_exp2(states[t][h][0] - most), sums[t][c], y);
            if (count > 1) to[h * COLUMNS + c] = y;
            else out[h * p.dim + c] = y / (all + sink_weight(p.sinks, head0 + h, most));
        }
        if (count > 1 && thread == 0) to[HEADS * COLUMNS + 2 * h] = most, to[HEADS * COLUMNS + 2 * h + 1] = all;
    }
    if (count == 1 || !is_last_block(p.counters + index, count)) return;
    const f32 *from = all_parts + first_part * STRIDE;
    for (u32 i = thread; i < heads * p.dim; i += THREADS) {
        const u32 h = i / p.dim, c = i % p.dim;
        const f32 *state = from + HEADS * COLUMNS + 2 * h;
        f32 most = -1e30f, all = 0.0f, y = 0.0f;
        for (u32 k = 0; k < count; k++) most = maximum(most, state[k * STRIDE]);
        for (u32 k = 0; k < count; k++) {
            const f32 w = fast_exp2(state[k * STRIDE] - most);
            all = mul_add(w, state[k * STRIDE + 1], all), y = mul_add(w, from[k * STRIDE + h * COLUMNS + c], y);
        }
        out[i] = y / (all + sink_weight(p.sinks, head0 + h, most));
    }
}

struct Write {
    const f32 *k, *v;
    u8 *cache;
    const u32 *positions, *slots, *pages;
    const f32 *k_norm;
    const f32x2 *rope;
    u64 page_stride, layer_start;
    u32 max_pages, kv_heads, dim, pairs, interleaved;
    f32 eps;
};

template <int KV> DEVICE void write(const Write &p) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 token = block_x(), kv_head = block_y(), position = p.positions[token];
    const u32 team = thread_x() / 32, lane = thread_x() % 32;
    if (position == UNUSED) return;
    const Cache cache = {p.cache, p.page_stride, p.layer_start, p.dim};
    u8 *keys = cache_keys<KV>(cache, p.pages[p.slots[token] * p.max_pages + position / PAGE_TOKENS], kv_head);
    const u64 at = ((u64)token * p.kv_heads + kv_head) * p.dim;
    // Each team for itself: lanes of a wide wave stay together, also where one has no group left.
    const f32 factor = norm_factor(p.k + at, p.k_norm, p.eps, p.dim, lane);
    const u32 pieces = (p.dim + 31) / 32 * 2;
    for (u32 first = 0; first < pieces; first += TEAMS) {
        const u32 piece = first + team, group = piece / 2, i = group * 32 + lane;
        const bool is_key = piece % 2 == 0;
        f32 number = 0.0f;
        if (i < p.dim)
            number = is_key ? turned(p.k + at, p.k_norm, p.rope + (u64)position * p.pairs, p.pairs, p.interleaved, i) * factor
                            : p.v[at + i];
        u8 *to = keys + (is_key ? 0 : tokens_bytes<KV>(p.dim));
        store_group<KV>(number, piece < pieces ? to : nullptr, p.dim, position % PAGE_TOKENS, group, lane);
    }
}

WIDE_KERNEL(mlxrocm_attention_wide_256, (attend<1, KV_F16>))
WIDE_KERNEL(mlxrocm_attention_wide_768, (attend<3, KV_F16>))
WIDE_KERNEL(mlxrocm_attention_wide_256_q8, (attend<1, KV_Q8>))
WIDE_KERNEL(mlxrocm_attention_wide_768_q8, (attend<3, KV_Q8>))
WIDE_KERNEL(mlxrocm_attention_wide_256_q4, (attend<1, KV_Q4>))
WIDE_KERNEL(mlxrocm_attention_wide_768_q4, (attend<3, KV_Q4>))

#define WRITE_KERNEL(NAME, KV)                                                                              \
    KERNEL(THREADS) void NAME(const f32 *k, const f32 *v, u8 *cache, const u32 *positions, const u32 *slots, \
                         const u32 *pages, const f32 *k_norm, const f32x2 *rope, u64 page_stride,           \
                         u64 layer_start, u32 max_pages, u32 kv_heads, u32 dim, u32 pairs, u32 interleaved, \
                         f32 eps) {                                                                         \
        const Write p = {k, v, cache, positions, slots, pages, k_norm, rope, page_stride, layer_start,      \
                         max_pages, kv_heads, dim, pairs, interleaved, eps};                                \
        write<KV>(p);                                                                                       \
    }
WRITE_KERNEL(mlxrocm_attention_wide_write, KV_F16)
WRITE_KERNEL(mlxrocm_attention_wide_write_q8, KV_Q8)
WRITE_KERNEL(mlxrocm_attention_wide_write_q4, KV_Q4)
