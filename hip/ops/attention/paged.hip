// Attention of single queries over the paged KV cache (flash form, split over keys):
//
//   out[r][h] = Σ_j softmax_j(scale · q[r][h]·K[j]) V[j],  j ≤ position of r (and > position - window)
//
// where the softmax's sum also has exp(sinks[h]), if there are sinks; times sigmoid(gate[r][h]), if there is a gate.
//
// q: [rows][heads · dim] f32, before norm and rotation; the queries are those of `tokens`, which also are
// their rows of q if `by_token`, else their places in the list are. The keys of a query are cut at multiples
// of SPLIT positions, or of as many times SPLIT as it takes for at most PARTS parts; a block takes one part for up
// to HEADS query heads of one key head (part.h). The block that ends last adds the parts, in order, so that
// results do not depend on timing, on the batch or on how a prompt was cut. `counters`: [queries · head
// groups] zeros, left zero.
//
// Where every sequence has one new token, `k` and `v` are its key and value, [tokens][kv_heads · dim] f32
// before norm and rotation, and the kernel puts them into the cache itself, as write.hip would; else null.
//
// `gate`: as out, or null.
//
// Launch: 256 threads; grid (queries, kv_heads · ceil(heads / kv_heads / HEADS), parts); parts past a
// query's length end at once. COLUMNS ≥ dim.
// `parts`: [queries · head groups][parts]([HEADS][COLUMNS] sums, [HEADS][maximum, sum of weights]).
#include "common/math.h"
#include "ops/attention/part_nvidia.h"

// On NVIDIA as many as make one wave of blocks of eight key heads on 132 multiprocessors, two on each.
#define PARTS (PLATFORM_NVIDIA ? 33 : 64)

struct Paged {
    const f32 *q;
    f32 *out;
    u8 *cache;
    const u32 *positions, *slots, *pages, *tokens;
    const f32 *q_norm, *sinks;
    const f32x2 *rope;
    const f32 *k, *v, *k_norm;
    f32 *parts;
    u32 *counters;
    u64 page_stride, layer_start;
    u32 max_pages, heads, kv_heads, dim, pairs, interleaved, window, by_token;
    f32 eps, scale, k_eps;
    const f32 *gate;
};

template <int LANES, int KV> DEVICE void attend(const Paged &p) {
    typedef typename SumsOf<LANES, KV>::type Sums;
    constexpr u32 PLACES = Sums::PLACES, COLUMNS = LANES * 8, STRIDE = HEADS * (2 + COLUMNS);
    SHARED __attribute__((aligned(16))) f32 heads_of[TEAMS][COLUMNS]; // queries, then the new key
    SHARED __attribute__((aligned(16))) typename Sums::Prepared prepared;
    SHARED __attribute__((aligned(16))) u16 own_key[2][COLUMNS];
    SHARED f32 shares[PARTS][HEADS];
    SHARED f32 state[PLACES + 1][HEADS][2]; // the query's own key is the last place
    SHARED __attribute__((aligned(16))) f32 sums[PLACES + 1][HEADS][COLUMNS];
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
    // Read together, as what follows waits for both.
    const u32 position = token == UNUSED ? UNUSED : p.positions[token];
    const u32 slot = token == UNUSED ? 0 : p.slots[token];
    if (position == UNUSED) {
        // Rows that are not used are zeros, so that nothing undefined goes on.
        grid_dependency_wait();
        f32 *zeros = p.out + ((u64)row * p.heads + kv_head * a_key_head + first) * p.dim;
        for (u32 i = thread; part == 0 && i < heads * p.dim; i += THREADS) zeros[i] = 0.0f;
        return;
    }
    const u32 begin_all = p.window && position + 1 > p.window ? position + 1 - p.window : 0;
    const u32 split = SPLIT * (position / (SPLIT * PARTS) + 1);
    const u32 first_part = begin_all / split, last_part = position / split;
    if (part < first_part || part > last_part) return;
    const u32 begin = maximum(part * split, begin_all), end = minimum((part + 1) * split, position + 1);
    const u32 *pages = p.pages + (u64)slot * p.max_pages;
    // The query's own key and value are added for themselves, whether new or not: the same bits.
    const bool has_own = part == last_part;
    u8 *head = p.cache + p.layer_start + (u64)kv_head * 2 * tokens_bytes<KV>(p.dim);
    const Part cached = {head, p.page_stride, pages, p.dim, begin, has_own ? position : end};
    const u32 own_page = has_own ? pages[position / PAGE_TOKENS] : 0;
    // NVIDIA: they come while the kernel before this one ends. AMD: loads come back in order, the query first.
    Sums own(cached, thread);
    if (PLATFORM_NVIDIA) own.load(cached);
    // Scores are kept in base 2. Team `heads` prepares the new key; teams past it the last query again:
    // lanes stay together.
    const u32 head0 = kv_head * a_key_head + first;
    const bool is_key = writes && has_own && team == heads;
    const u32 mine = team < heads ? team : heads - 1;
    const u64 new_at = ((u64)token * p.kv_heads + kv_head) * p.dim;
    const f32 *norm = is_key ? p.k_norm : p.q_norm;
    const Turn<LANES / 4> turn =
        load_turn<LANES / 4>(norm, p.rope + (u64)position * p.pairs, p.pairs, p.interleaved, p.dim, lane);
    // A second time costs nothing, and shows on every way what is behind it.
    grid_dependency_wait();

    auto new_value = [&](u32 d) { return d < p.dim ? p.v[new_at + d] : 0.0f; };
    const f32 early = writes && has_own && team % 2 ? new_value(team / 2 * 32 + lane) : 0.0f;
    const f32 *q = p.q + (u64)row * p.heads * p.dim + (u64)(head0 + mine) * p.dim;
    const Head<LANES / 4> loaded = load_head<LANES / 4>(is_key ? p.k + new_at : q, turn, p.dim, lane);
    if (PLATFORM_AMD) own.load(cached);
    f32 columns[LANES / 4];
    turn_head<LANES / 4>(loaded, norm, is_key ? p.k_eps : p.eps, turn, p.dim, is_key ? 1.0f : p.scale * 1.44269504f,
                         columns);
    UNROLL for (u32 n = 0; n < LANES / 4; n++) heads_of[team][n * 32 + lane] = columns[n];
    if (team < heads) own.prepare(prepared, columns, team, lane);
    barrier();
    if (has_own) {
        constexpr u32 PIECES = COLUMNS / 8;
        u8 *own_at = head + own_page * p.page_stride;
        if (writes) {
            // Attended to as the cache gives it back, as later tokens will. Of the blocks that share the
            // key head one writes it.
            for (u32 i = team; i < (p.dim + 31) / 32 * 2; i += TEAMS) {
                const u32 which = i % 2, d = i / 2 * 32 + lane;
                const f32 number = which == 0 ? heads_of[heads][d] : i == team ? early : new_value(d);
                own_key[which][d] =
                    store_group<KV>(number, first ? nullptr : own_at + which * tokens_bytes<KV>(p.dim), p.dim,
                                    position % PAGE_TOKENS, i / 2, lane);
            }
        } else if (thread < 2 * PIECES && thread % PIECES * 8 < padded<KV>(p.dim)) {
            const u32 which = thread / PIECES, column = thread % PIECES * 8;
            const u8 *tokens = own_at + which * tokens_bytes<KV>(p.dim);
            store16(own_key[which] + column,
                    decode<KV>(load_piece<KV>(tokens, p.dim, position % PAGE_TOKENS, column)));
        }
        barrier();
        f32 score = 0.0f;
        UNROLL for (u32 d = lane; d < COLUMNS; d += 32) {
            const bool inside = d < p.dim;
            if (inside) score = mul_add(heads_of[mine][d], to_f32(f16{own_key[0][d]}), score);
            if (team < heads) sums[PLACES][team][d] = inside ? to_f32(f16{own_key[1][d]}) : 0.0f;
        }
        score = wave_sum<32>(score);
        if (team < heads && lane == 0) state[PLACES][team][0] = score, state[PLACES][team][1] = 1.0f;
    }

    own.run(cached, heads_of, prepared, heads);
    own.store(state, sums);
    barrier();
    const u32 count = last_part - first_part + 1, index = query * grid_blocks_y() + block_y();
    f32 *all_parts = p.parts + (u64)index * grid_blocks_z() * STRIDE;
    const u64 at = ((u64)row * p.heads + head0) * p.dim;
    f32 *to = all_parts + part * STRIDE, *out = p.out + at;
    auto gated = [&](f32 v, u32 i) { return p.gate ? v * sigmoid(p.gate[at + i]) : v; };
    for (u32 i = thread; i < heads * COLUMNS; i += THREADS) {
        const u32 h = i / COLUMNS, d = i % COLUMNS;
        f32 tops[PLACES + 1], weights[PLACES + 1], values[PLACES + 1], most = -1e30f, all = 0.0f, y = 0.0f;
        UNROLL for (u32 g = 0; g <= PLACES; g++) {
            const bool there = g < PLACES || has_own;
            tops[g] = there ? state[g][h][0] : -1e30f, weights[g] = there ? state[g][h][1] : 0.0f;
            values[g] = there ? sums[g][h][d] : 0.0f, most = maximum(most, tops[g]);
        }
        UNROLL for (u32 g = 0; g <= PLACES; g++) {
            const f32 w = fast_exp2(tops[g] - most);
            all = mul_add(w, weights[g], all), y = mul_add(w, values[g], y);
        }
        if (count > 1) {
            to[i] = y;
            if (d == 0) to[HEADS * COLUMNS + 2 * h] = most, to[HEADS * COLUMNS + 2 * h + 1] = all;
        } else if (d < p.dim) {
            out[h * p.dim + d] = gated(y / (all + sink_weight(p.sinks, head0 + h, most)), h * p.dim + d);
        }
    }
    if (count == 1 || !is_last_block(p.counters + index, count)) return;

    // All parts' sums: a thread has four columns of every SLICES-th part, AHEAD of which are on the way.
    constexpr u32 QUADS = HEADS * COLUMNS / 4, SLICES = THREADS / QUADS, OWN = (PARTS + SLICES - 1) / SLICES;
    constexpr u32 AHEAD = OWN < 17 ? OWN : 17, STATES = (PARTS + 31) / 32;
    const u32 quad = thread % QUADS, slice = thread / QUADS, h = quad / (COLUMNS / 4);
    const f32 *from = all_parts + first_part * STRIDE;
    f32x4 y = {0.0f, 0.0f, 0.0f, 0.0f};
    for (u32 begin = 0; begin < OWN && begin * SLICES < count; begin += AHEAD) {
        f32x4 some[AHEAD];
        UNROLL for (u32 i = 0; i < AHEAD; i++) {
            const u32 k = (begin + i) * SLICES + slice;
            some[i] = f32x4{0.0f, 0.0f, 0.0f, 0.0f};
            if (h < heads && k < count) some[i] = *(const f32x4 *)(from + k * STRIDE + 4 * quad);
        }
        if (begin == 0) {
            // Meanwhile, team h: what each part's sums of head h are multiplied with.
            f32 tops[STATES], weights[STATES], most = -1e30f, all = 0.0f;
            UNROLL for (u32 i = 0; i < STATES; i++) {
                const f32 *state_of = from + (i * 32 + lane) * STRIDE + HEADS * COLUMNS + 2 * mine;
                const bool there = i * 32 + lane < count;
                tops[i] = there ? state_of[0] : -1e30f, weights[i] = there ? state_of[1] : 0.0f;
                most = maximum(most, tops[i]);
            }
            most = wave_max<32>(most);
            UNROLL for (u32 i = 0; i < STATES; i++)
                tops[i] = fast_exp2(tops[i] - most), all = mul_add(tops[i], weights[i], all);
            all = wave_sum<32>(all) + sink_weight(p.sinks, head0 + mine, most);
            UNROLL for (u32 i = 0; i < STATES; i++)
                if (team < heads && i * 32 + lane < count) shares[i * 32 + lane][team] = tops[i] / all;
            barrier();
        }
        UNROLL for (u32 i = 0; i < AHEAD; i++) {
            const u32 k = (begin + i) * SLICES + slice;
            const f32 share = h < heads && k < count ? shares[k][h] : 0.0f;
            y.x = mul_add(share, some[i].x, y.x), y.y = mul_add(share, some[i].y, y.y);
            y.z = mul_add(share, some[i].z, y.z), y.w = mul_add(share, some[i].w, y.w);
        }
    }
    *(f32x4 *)(sums[slice][0] + 4 * quad) = y;
    barrier();
    for (u32 i = thread; i < heads * COLUMNS; i += THREADS) {
        f32 all = 0.0f;
        UNROLL for (u32 s = 0; s < SLICES; s++) all += sums[s][0][i];
        const u32 place = i / COLUMNS * p.dim + i % COLUMNS;
        if (i % COLUMNS < p.dim) out[place] = gated(all, place);
    }
}

#define PAGED_KERNEL(NAME, LANES, KV)                                                                                   \
    KERNEL_WAVES(THREADS, PLATFORM_NVIDIA ? 4 : 2) void NAME(                                                           \
        const f32 *q, f32 *out, u8 *cache, const u32 *positions, const u32 *slots, const u32 *pages, const u32 *tokens, \
        const f32 *q_norm, const f32 *sinks, const f32x2 *rope, const f32 *k, const f32 *v, const f32 *k_norm,          \
        f32 *parts, u32 *counters, u64 page_stride, u64 layer_start, u32 max_pages, u32 heads,                          \
        u32 kv_heads, u32 dim, u32 pairs, u32 interleaved, u32 window, u32 by_token, f32 eps, f32 scale,                \
        f32 k_eps, const f32 *gate) {                                                                                   \
        const Paged p = {q, out, cache, positions, slots, pages, tokens, q_norm, sinks, rope, k, v, k_norm,             \
                         parts, counters, page_stride, layer_start, max_pages, heads, kv_heads, dim, pairs,             \
                         interleaved, window, by_token, eps, scale, k_eps, gate};                                       \
        attend<LANES, KV>(p);                                                                                           \
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
