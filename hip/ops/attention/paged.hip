// Attention of single queries over the paged KV cache (flash form, split over keys):
//
//   out[r][h] = Σ_j softmax_j(scale · q[r][h]·K[j]) V[j],  j ≤ position of r (and > position - window)
//
// q: [rows][heads · dim] f32, before norm and rotation; the queries are those of `tokens`, which also are
// their rows of q if `by_token`, else their places in the list are. The keys of a query are cut at multiples of
// SPLIT positions, or of as many times 2 as it takes for at most PARTS parts; a block takes one part for up
// to HEADS query heads of one key head. The block that
// ends last adds the parts, in order, so that results do not depend on timing, on the batch or on how
// a prompt was cut. `counters`: [queries · head groups] zeros, left zero.
//
// Where every sequence has one new token, `k` and `v` are its key and value, [tokens][kv_heads · dim] f32
// before norm and rotation, and the kernel puts them into the cache itself, as write.hip would; else null.
//
// Launch: 256 threads; grid (queries, kv_heads · ceil(heads / kv_heads / HEADS), parts); parts past a
// query's length end at once. LANES · 8 ≥ dim lanes share a key.
// `parts`: [queries · head groups][parts]([HEADS][dim] sums, [HEADS][maximum, sum of weights]).
#include "ops/attention/cache.h"

#define SPLIT 128
#define PARTS 64
#define HEADS 4
#define TEAMS 8
#define THREADS (TEAMS * 32)

struct Paged {
    const f32 *q;
    f32 *out;
    u8 *cache;
    const u32 *positions, *slots, *pages, *tokens;
    const f32 *q_norm;
    const f32x2 *rope;
    const f32 *k, *v, *k_norm;
    f32 *parts;
    u32 *counters;
    u64 page_stride, layer_start;
    u32 max_pages, heads, kv_heads, dim, pairs, interleaved, window, by_token;
    f32 eps, scale, k_eps;
};

template <int LANES, int KV> DEVICE void attend(const Paged &p) {
    constexpr u32 KEYS = 32 / LANES, AT_ONCE = 2; // keys of a team at a time, and how many times ahead
    SHARED __attribute__((aligned(16))) f32 heads_of[TEAMS][LANES * 8]; // queries, then the new key
    SHARED __attribute__((aligned(16))) u16 fresh[2][LANES * 8];
    SHARED f32 shares[PARTS][HEADS];
    SHARED f32 state[TEAMS * KEYS][HEADS][2];
    SHARED f32 sums[TEAMS * KEYS][HEADS][LANES * 8];
    SHARED u32 last;
    grid_dependency_launch();
    const bool writes = p.k != nullptr;
    // What was in the cache before may be read before the kernel before this one has ended.
    if (!writes) grid_dependency_wait();
    const u32 query = block_x(), part = block_z(), thread = thread_x(), team = thread / 32, lane = thread % 32;
    const u32 a_key_head = p.heads / p.kv_heads, groups = (a_key_head + HEADS - 1) / HEADS;
    const u32 kv_head = block_y() / groups, first = block_y() % groups * HEADS;
    const u32 heads = a_key_head - first < HEADS ? a_key_head - first : HEADS;
    // Then the list names every row.
    const u32 token = writes ? query : p.tokens[query], row = p.by_token ? token : query;
    if (row == UNUSED) return;
    const u32 position = token == UNUSED ? UNUSED : p.positions[token];
    if (position == UNUSED) {
        // Rows that are not used are zeros, so that nothing undefined goes on.
        if (writes) grid_dependency_wait();
        f32 *zeros = p.out + ((u64)row * p.heads + kv_head * a_key_head + first) * p.dim;
        for (u32 i = thread; part == 0 && i < heads * p.dim; i += THREADS) zeros[i] = 0.0f;
        return;
    }
    const u32 begin_all = p.window && position + 1 > p.window ? position + 1 - p.window : 0;
    u32 split = SPLIT;
    while (position / split >= PARTS) split *= 2;
    const u32 first_part = begin_all / split, last_part = position / split;
    if (part < first_part || part > last_part) return;
    const u32 begin = part * split > begin_all ? part * split : begin_all;
    const u32 end = (part + 1) * split < position + 1 ? (part + 1) * split : position + 1;
    const Cache c = {p.cache, p.page_stride, p.layer_start, p.dim};

    const u32 group = lane / LANES, in = lane % LANES, column = in * 8;
    const bool inside = column < padded<KV>(p.dim);
    const u32 *pages = p.pages + (u64)p.slots[token] * p.max_pages;
    const bool has_fresh = writes && part == last_part;
    Piece<KV> key[AT_ONCE], value[AT_ONCE];
    // Keys and values of the cache; those of the new token come from `fresh`.
    auto load = [&](u32 base) {
        UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
            const u32 j = base + (u * TEAMS + team) * KEYS + group, at = j < end ? j : end - 1;
            if (has_fresh && at == position) continue;
            const u8 *k = cache_keys<KV>(c, pages[at / PAGE_TOKENS], kv_head);
            key[u] = load_piece<KV>(k, p.dim, at % PAGE_TOKENS, inside ? column : 0);
            value[u] = load_piece<KV>(k + tokens_bytes<KV>(p.dim), p.dim, at % PAGE_TOKENS, inside ? column : 0);
        }
    };
    load(begin);
    // Scores are kept in base 2. Team `heads` prepares the new key; teams past it the last query again:
    // lanes stay together.
    const u32 head0 = kv_head * a_key_head + first;
    const bool is_key = has_fresh && team == heads;
    const u32 mine = team < heads ? team : heads - 1;
    const u64 fresh_at = ((u64)token * p.kv_heads + kv_head) * p.dim;
    const f32 *norm = is_key ? p.k_norm : p.q_norm;
    const Turn<LANES / 4> turn =
        load_turn<LANES / 4>(norm, p.rope + (u64)position * p.pairs, p.pairs, p.interleaved, p.dim, lane);
    if (writes) grid_dependency_wait();

    auto fresh_value = [&](u32 d) { return d < p.dim ? p.v[fresh_at + d] : 0.0f; };
    const f32 early = has_fresh && team % 2 ? fresh_value(team / 2 * 32 + lane) : 0.0f;
    const f32 *q = p.q + (u64)row * p.heads * p.dim + (u64)(head0 + mine) * p.dim;
    prepare_head<LANES / 4>(is_key ? p.k + fresh_at : q, norm, is_key ? p.k_eps : p.eps, turn, p.dim,
                            is_key ? 1.0f : p.scale * 1.44269504f, lane, heads_of[team]);
    barrier();
    if (has_fresh) {
        // Attended to as the cache gives it back, as later tokens will. Of the blocks that share the key
        // head one writes it.
        u8 *to = cache_keys<KV>(c, pages[position / PAGE_TOKENS], kv_head);
        for (u32 i = team; i < (p.dim + 31) / 32 * 2; i += TEAMS) {
            const u32 which = i % 2, d = i / 2 * 32 + lane;
            const f32 number = which == 0 ? heads_of[heads][d] : i == team ? early : fresh_value(d);
            fresh[which][d] = store_group<KV>(number, first ? nullptr : to + which * tokens_bytes<KV>(p.dim), p.dim,
                                              position % PAGE_TOKENS, i / 2, lane);
        }
        barrier();
    }

    f32 sum[HEADS][8], top[HEADS], total[HEADS];
    UNROLL for (u32 h = 0; h < HEADS; h++) {
        top[h] = -1e30f, total[h] = 0.0f;
        UNROLL for (u32 i = 0; i < 8; i++) sum[h][i] = 0.0f;
    }
    for (u32 base = begin; base < end; base += TEAMS * KEYS * AT_ONCE) {
        u32x4 keys[AT_ONCE], values[AT_ONCE];
        UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
            const u32 j = base + (u * TEAMS + team) * KEYS + group, at = j < end ? j : end - 1;
            if (has_fresh && at == position) {
                keys[u] = load16(fresh[0] + (inside ? column : 0));
                values[u] = load16(fresh[1] + (inside ? column : 0));
            } else {
                keys[u] = decode<KV>(key[u]), values[u] = decode<KV>(value[u]);
            }
        }
        if (base + TEAMS * KEYS * AT_ONCE < end) load(base + TEAMS * KEYS * AT_ONCE);
        UNROLL for (u32 h = 0; h < HEADS; h++) {
            if (h >= heads) break;
            f32 score[AT_ONCE], most = top[h];
            const f32x4 a = *(const f32x4 *)(heads_of[h] + column), b = *(const f32x4 *)(heads_of[h] + column + 4);
            UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
                f32 s = low(f16x2{keys[u].x}) * a.x;
                s = mul_add(high(f16x2{keys[u].x}), a.y, s);
                s = mul_add(low(f16x2{keys[u].y}), a.z, s), s = mul_add(high(f16x2{keys[u].y}), a.w, s);
                s = mul_add(low(f16x2{keys[u].z}), b.x, s), s = mul_add(high(f16x2{keys[u].z}), b.y, s);
                s = mul_add(low(f16x2{keys[u].w}), b.z, s), s = mul_add(high(f16x2{keys[u].w}), b.w, s);
                s = wave_sum<LANES>(inside ? s : 0.0f);
                const u32 j = base + (u * TEAMS + team) * KEYS + group;
                score[u] = j < end ? s : -1e30f;
                most = maximum(most, score[u]);
            }
            const f32 keep = fast_exp2(top[h] - most);
            top[h] = most, total[h] *= keep;
            UNROLL for (u32 i = 0; i < 8; i++) sum[h][i] *= keep;
            UNROLL for (u32 u = 0; u < AT_ONCE; u++) {
                const u32 j = base + (u * TEAMS + team) * KEYS + group;
                const f32 w = j < end ? fast_exp2(score[u] - most) : 0.0f;
                total[h] += w;
                f32 *y = sum[h];
                y[0] = mul_add(w, low(f16x2{values[u].x}), y[0]), y[1] = mul_add(w, high(f16x2{values[u].x}), y[1]);
                y[2] = mul_add(w, low(f16x2{values[u].y}), y[2]), y[3] = mul_add(w, high(f16x2{values[u].y}), y[3]);
                y[4] = mul_add(w, low(f16x2{values[u].z}), y[4]), y[5] = mul_add(w, high(f16x2{values[u].z}), y[5]);
                y[6] = mul_add(w, low(f16x2{values[u].w}), y[6]), y[7] = mul_add(w, high(f16x2{values[u].w}), y[7]);
            }
        }
    }
    // The key groups of the block, in order.
    const u32 place = team * KEYS + group;
    UNROLL for (u32 h = 0; h < HEADS; h++) {
        if (in == 0) state[place][h][0] = top[h], state[place][h][1] = total[h];
        UNROLL for (u32 i = 0; i < 8; i++) sums[place][h][column + i] = sum[h][i];
    }
    barrier();
    const u32 index = query * grid_blocks_y() + block_y(), count = last_part - first_part + 1;
    const u32 stride = HEADS * (2 + p.dim);
    f32 *to = p.parts + ((u64)index * grid_blocks_z() + part) * stride;
    f32 *out = p.out + (u64)row * p.heads * p.dim + (u64)head0 * p.dim;
    for (u32 i = thread; i < heads * p.dim; i += THREADS) {
        const u32 h = i / p.dim, d = i % p.dim;
        f32 most = -1e30f, all = 0.0f, y = 0.0f;
        for (u32 g = 0; g < TEAMS * KEYS; g++) most = maximum(most, state[g][h][0]);
        for (u32 g = 0; g < TEAMS * KEYS; g++) {
            const f32 w = fast_exp2(state[g][h][0] - most);
            all = mul_add(w, state[g][h][1], all), y = mul_add(w, sums[g][h][d], y);
        }
        if (count == 1) {
            out[i] = y / all;
        } else {
            to[i] = y;
            if (d == 0) to[HEADS * p.dim + 2 * h] = most, to[HEADS * p.dim + 2 * h + 1] = all;
        }
    }
    if (count == 1) return;
    fence_device();
    barrier();
    if (thread == 0) last = atomic_add_acq_rel(p.counters + index, 1) == count - 1;
    barrier();
    if (!last) return;
    fence_device();
    // Team h: what each part's sums of head h are multiplied with.
    const f32 *from = p.parts + ((u64)index * grid_blocks_z() + first_part) * stride;
    f32 tops[PARTS / 32], weights[PARTS / 32], most = -1e30f, all = 0.0f;
    UNROLL for (u32 i = 0; i < PARTS / 32; i++) {
        const f32 *state_of = from + (i * 32 + lane) * stride + HEADS * p.dim + 2 * mine;
        const bool there = i * 32 + lane < count;
        tops[i] = there ? state_of[0] : -1e30f, weights[i] = there ? state_of[1] : 0.0f;
        most = maximum(most, tops[i]);
    }
    most = wave_max<32>(most);
    UNROLL for (u32 i = 0; i < PARTS / 32; i++) tops[i] = fast_exp2(tops[i] - most), all = mul_add(tops[i], weights[i], all);
    all = wave_sum<32>(all);
    UNROLL for (u32 i = 0; i < PARTS / 32; i++) {
        if (team < heads && i * 32 + lane < count) shares[i * 32 + lane][team] = tops[i] / all;
    }
    barrier();
    for (u32 i = thread; i < heads * p.dim; i += THREADS) {
        f32 y = 0.0f;
        _Pragma("unroll 8") for (u32 k = 0; k < count; k++) y = mul_add(shares[k][i / p.dim], from[k * stride + i], y);
        out[i] = y;
    }
    if (thread == 0) p.counters[index] = 0;
}

#define PAGED_KERNEL(NAME, LANES, KV)                                                                             \
    KERNEL_WAVES(THREADS, PLATFORM_NVIDIA ? 4 : 2) void NAME(const f32 *q, f32 *out, u8 *cache, const u32 *positions, const u32 *slots,     \
                              const u32 *pages, const u32 *tokens, const f32 *q_norm, const f32x2 *rope,      \
                              const f32 *k, const f32 *v, const f32 *k_norm, f32 *parts, u32 *counters,       \
                              u64 page_stride, u64 layer_start, u32 max_pages, u32 heads, u32 kv_heads,       \
                              u32 dim, u32 pairs, u32 interleaved, u32 window, u32 by_token, f32 eps,         \
                              f32 scale, f32 k_eps) {                                                         \
        const Paged p = {q, out, cache, positions, slots, pages, tokens, q_norm, rope, k, v, k_norm, parts,   \
                         counters, page_stride, layer_start, max_pages, heads, kv_heads, dim, pairs,          \
                         interleaved, window, by_token, eps, scale, k_eps};                                   \
        attend<LANES, KV>(p);                                                                                     \
    }
PAGED_KERNEL(mlxrocm_attention_paged_32, 4, KV_F16)
PAGED_KERNEL(mlxrocm_attention_paged_64, 8, KV_F16)
PAGED_KERNEL(mlxrocm_attention_paged_128, 16, KV_F16)
PAGED_KERNEL(mlxrocm_attention_paged_256, 32, KV_F16)
PAGED_KERNEL(mlxrocm_attention_paged_32_q8, 4, KV_Q8)
PAGED_KERNEL(mlxrocm_attention_paged_64_q8, 8, KV_Q8)
PAGED_KERNEL(mlxrocm_attention_paged_128_q8, 16, KV_Q8)
PAGED_KERNEL(mlxrocm_attention_paged_256_q8, 32, KV_Q8)
PAGED_KERNEL(mlxrocm_attention_paged_32_q4, 4, KV_Q4)
PAGED_KERNEL(mlxrocm_attention_paged_64_q4, 8, KV_Q4)
PAGED_KERNEL(mlxrocm_attention_paged_128_q4, 16, KV_Q4)
PAGED_KERNEL(mlxrocm_attention_paged_256_q4, 32, KV_Q4)
