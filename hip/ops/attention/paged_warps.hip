// Attention of single queries over a cache of f16 as paged.hip has it (arguments mean the same), on NVIDIA, where many
// query heads share a key head or heads are wide: a block takes a part of the keys for up to GROUP_HEADS query heads
// of one key head, so that keys and values are read once. Eight warps attend (paged_warps.h), a ninth one prepares
// the query's own key and value.
//
// The keys of a query are cut at multiples of SPLIT positions, or of as many times SPLIT as it takes for at most
// `most` parts, which depends on the shape alone; below ONE_PART positions they are not, below LONG_PARTS at
// multiples of 2 · SPLIT: to add parts takes longer than to attend to a few keys more. `adders` of the blocks that
// end last wait for the others of their heads and add the parts, in order, every adders-th head each (of 8 parts and
// heads of 128 columns one block took 8 us longer than eight). Those others may not have begun, for want of a
// multiprocessor that launches of other streams keep: who waited long enough leaves its heads to the last block.
//
// Launch: 288 threads; grid (queries, kv_heads · ceil(heads / kv_heads / GROUP_HEADS), parts); dynamic shared
// memory TILE_BYTES · COLUMNS. most ≤ MOST_PARTS.
// `parts`: [queries · head groups][parts]([GROUP_HEADS][COLUMNS] sums, [GROUP_HEADS][maximum, sum of weights]).
#include "common/math.h"
#include "ops/attention/paged_warps.h"

#define MOST_PARTS 132
#define ONE_PART 512
#define LONG_PARTS 4096
#define WARP_THREADS 288
// How often a block looks whether the others have come: some 100 us, where a few are usual.
#define LOOKS 256

#if PLATFORM_NVIDIA
struct Grouped {
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
    u32 most, adders;
    const f32 *gate;
};

// A thread of those that add up parts: which heads its block adds, and how many parts there are.
template <int DIM> DEVICE void add_parts(const f32 *from, u32 first, u32 step, u32 heads, u32 count, u32 dim,
                                         const f32 *sinks, const f32 *gate, f32 *out, f32 *shares, f32x4 *slices) {
    constexpr u32 QUADS = DIM / 4, SLICES = TEAMS * 32 / QUADS, OWN = (MOST_PARTS + SLICES - 1) / SLICES;
    constexpr u32 AHEAD = OWN < 17 ? OWN : 17, STATES = (MOST_PARTS + 31) / 32;
    constexpr u32 STRIDE = GROUP_HEADS * (2 + DIM);
    const u32 thread = thread_x(), lane = thread % 32, quad = thread % QUADS, slice = thread / QUADS;
    const bool is_adder = thread < TEAMS * 32;
    for (u32 h = first; h < heads; h += step) {
        f32x4 y = {0.0f, 0.0f, 0.0f, 0.0f};
        for (u32 begin = 0; begin < OWN && begin * SLICES < count; begin += AHEAD) {
            f32x4 some[AHEAD];
            UNROLL for (u32 i = 0; i < AHEAD; i++) {
                const u32 k = (begin + i) * SLICES + slice;
                some[i] = f32x4{0.0f, 0.0f, 0.0f, 0.0f};
                if (is_adder && k < count) some[i] = *(const f32x4 *)(from + k * STRIDE + h * DIM + 4 * quad);
            }
            if (begin == 0) {
                // Meanwhile, the ninth warp: what each part's sums are multiplied with.
                if (!is_adder) {
                    f32 tops[STATES], weights[STATES], most = -1e30f, all = 0.0f;
                    UNROLL for (u32 i = 0; i < STATES; i++) {
                        const f32 *state = from + (i * 32 + lane) * STRIDE + GROUP_HEADS * DIM + 2 * h;
                        const bool there = i * 32 + lane < count;
                        tops[i] = there ? state[0] : -1e30f, weights[i] = there ? state[1] : 0.0f;
                        most = maximum(most, tops[i]);
                    }
                    most = wave_max<32>(most);
                    UNROLL for (u32 i = 0; i < STATES; i++)
                        tops[i] = fast_exp2(tops[i] - most), all = mul_add(tops[i], weights[i], all);
                    const f32 factor = 1.0f / (wave_sum<32>(all) + sink_weight(sinks, h, most));
                    UNROLL for (u32 i = 0; i < STATES; i++)
                        if (i * 32 + lane < count) shares[i * 32 + lane] = tops[i] * factor;
                }
                barrier();
            }
            UNROLL for (u32 i = 0; i < AHEAD; i++) {
                const u32 k = (begin + i) * SLICES + slice;
                const f32 share = is_adder && k < count ? shares[k] : 0.0f;
                y.x = mul_add(share, some[i].x, y.x), y.y = mul_add(share, some[i].y, y.y);
                y.z = mul_add(share, some[i].z, y.z), y.w = mul_add(share, some[i].w, y.w);
            }
        }
        if (is_adder) slices[slice * QUADS + quad] = y;
        barrier();
        for (u32 d = thread; d < dim; d += WARP_THREADS) {
            f32 all = 0.0f;
            UNROLL for (u32 s = 0; s < SLICES; s++) all += ((const f32 *)(slices + s * QUADS))[d];
            out[h * dim + d] = gate ? all * sigmoid(gate[h * dim + d]) : all;
        }
        barrier();
    }
}

// By one thread of a block that has stored its part: which of the `adders` shares of heads it adds, a bit each. All parts
// are there then. The counter has in its low half how many blocks have come, then besides how many have added; above, who
// does not wait any more.
DEVICE u32 shares_to_add(u32 *counter, u32 count, u32 adders) {
    const u32 old = atomic_add_acq_rel(counter, 1), came = old & 0xffff;
    if (came + adders < count) return 0;
    u32 mine = 1u << (came + adders - count);
    if (came + 1 == count)
        mine |= old >> 16;
    else
        for (u32 looks = 0, now = load_acquire(counter); (now & 0xffff) < count; looks++, now = load_acquire(counter))
            if (looks >= LOOKS && atomic_compare_exchange(counter, now, now | mine << 16) == now) return 0;
    return mine;
}
// By that thread when its block has added, so that nobody waits for it: the last of those who add sets the counter to 0 again.
DEVICE void have_added(u32 *counter, u32 count, u32 adders) {
    const u32 passed = atomic_add(counter, 1) + 1, gave_up = popcount(passed >> 16);
    if ((passed & 0xffff) == count + adders - gave_up) *counter = 0;
}

template <int DIM> DEVICE void attend(const Grouped &p, u8 *memory) {
    typedef Tiles<DIM> Sums;
    constexpr u32 STRIDE = GROUP_HEADS * (2 + DIM);
    SHARED __attribute__((aligned(16))) typename Sums::Queries queries;
    SHARED __attribute__((aligned(16))) u16 own_key[2][DIM];
    SHARED f32 shares[MOST_PARTS];
    SHARED f32 state[TEAMS + 1][GROUP_HEADS][2]; // the query's own key is the last place
    SHARED u32 mine;
    grid_dependency_launch();
    const bool writes = p.k != nullptr;
    // What was in the cache before may be read before the kernel before this one has ended.
    if (!writes) grid_dependency_wait();
    const u32 query = block_x(), part = block_z(), thread = thread_x(), team = thread / 32, lane = thread % 32;
    const u32 a_key_head = p.heads / p.kv_heads, groups = (a_key_head + GROUP_HEADS - 1) / GROUP_HEADS;
    const u32 kv_head = block_y() / groups, first = block_y() % groups * GROUP_HEADS;
    const u32 heads = a_key_head - first < GROUP_HEADS ? a_key_head - first : GROUP_HEADS;
    const u32 head0 = kv_head * a_key_head + first;
    // Then the list names every row.
    const u32 token = writes ? query : p.tokens[query], row = p.by_token ? token : query;
    if (row == UNUSED) return;
    // Read together, as what follows waits for both.
    const u32 position = token == UNUSED ? UNUSED : p.positions[token];
    const u32 slot = token == UNUSED ? 0 : p.slots[token];
    // Meanwhile, as nothing here waits for the position.
    const bool is_ninth = team == TEAMS;
    const f32 *norm = is_ninth ? p.k_norm : p.q_norm;
    Turn<DIM / 32> turn = load_norms_fast<DIM / 32>(norm, p.pairs, p.interleaved, p.dim, lane);
    const u64 result = ((u64)row * p.heads + head0) * p.dim;
    f32 *out = p.out + result;
    const f32 *gate = p.gate ? p.gate + result : nullptr;
    if (position == UNUSED) {
        // Rows that are not used are zeros, so that nothing undefined goes on.
        grid_dependency_wait();
        for (u32 i = thread; part == 0 && i < heads * p.dim; i += WARP_THREADS) out[i] = 0.0f;
        return;
    }
    const u32 begin_all = p.window && position + 1 > p.window ? position + 1 - p.window : 0;
    u32 split = ONE_PART, first_part = 0, last_part = 0;
    if (position >= ONE_PART) {
        const u32 least = position < LONG_PARTS ? 2 * SPLIT : SPLIT;
        split = maximum(least, SPLIT * (position / (SPLIT * p.most) + 1));
        first_part = begin_all / split, last_part = position / split;
    }
    if (part < first_part || part > last_part) return;
    const u32 begin = maximum(part * split, begin_all), end = minimum((part + 1) * split, position + 1);
    const u32 *pages = p.pages + (u64)slot * p.max_pages;
    // The query's own key and value are added for themselves, whether new or not: the same bits.
    const bool has_own = part == last_part;
    u8 *head = p.cache + p.layer_start + (u64)kv_head * 2 * tokens_bytes<KV_F16>(p.dim);
    const Part cached = {head, p.page_stride, pages, p.dim, begin, has_own ? position : end};
    u8 *tile = memory + (is_ninth ? 0 : team) * Sums::BYTES;
    // Pages and angles are asked for together, then keys and values, which come while the kernel before this one ends.
    Sums own(cached, team, lane, shared_address(tile));
    if (!is_ninth) own.look_up(cached, 0);
    const u32 own_page = is_ninth && has_own ? pages[position / PAGE_TOKENS] : 0;
    load_angles_fast<DIM / 32>(turn, p.rope + (u64)position * p.pairs, p.pairs, p.interleaved, lane);
    if (!is_ninth) own.start(cached);
    u8 *own_at = head + own_page * p.page_stride;
    // A second time costs nothing, and shows on every way what is behind it.
    grid_dependency_wait();

    f32 columns[DIM / 32];
    if (is_ninth && has_own && writes) {
        // Attended to as the cache gives it back, as later tokens will. Of the blocks that share the key head one
        // writes it.
        const u64 at = ((u64)token * p.kv_heads + kv_head) * p.dim;
        f32 value[DIM / 32];
        UNROLL for (u32 n = 0; n < DIM / 32; n++) value[n] = n * 32 + lane < p.dim ? p.v[at + n * 32 + lane] : 0.0f;
        const Head<DIM / 32> loaded = load_head_fast<DIM / 32>(p.k + at, turn, p.pairs, p.dim, lane);
        turn_head<DIM / 32>(loaded, norm, p.k_eps, turn, p.dim, 1.0f, columns);
        UNROLL for (u32 n = 0; n < DIM / 32; n++) UNROLL for (u32 which = 0; which < 2; which++) {
            u8 *to = first ? nullptr : own_at + which * tokens_bytes<KV_F16>(p.dim);
            own_key[which][n * 32 + lane] = store_group<KV_F16>(which ? value[n] : columns[n], to, p.dim,
                                                                position % PAGE_TOKENS, n, lane);
        }
    } else if (is_ninth && has_own) {
        UNROLL for (u32 n = 0; n < DIM / 32; n++) UNROLL for (u32 which = 0; which < 2; which++) {
            const u8 *tokens = own_at + which * tokens_bytes<KV_F16>(p.dim);
            const u32 d = n * 32 + lane;
            own_key[which][d] =
                d < p.dim ? *(const u16 *)(piece_codes<KV_F16>(tokens, p.dim, position % PAGE_TOKENS, 0) + d * 2) : 0;
        }
    } else if (team < heads) {
        const f32 *q = p.q + (u64)row * p.heads * p.dim + (u64)(head0 + team) * p.dim;
        // Scores are kept in base 2.
        turn_head<DIM / 32>(load_head_fast<DIM / 32>(q, turn, p.pairs, p.dim, lane), norm, p.eps, turn, p.dim,
                            p.scale * 1.44269504f, columns);
        own.prepare(queries, columns, team);
    }
    barrier();
    if (!is_ninth) {
        if (has_own && team < heads) {
            f32 score = 0.0f;
            UNROLL for (u32 n = 0; n < DIM / 32; n++)
                score = mul_add(columns[n], to_f32(f16{own_key[0][n * 32 + lane]}), score);
            score = wave_sum<32>(score);
            if (lane == 0) state[TEAMS][team][0] = score, state[TEAMS][team][1] = 1.0f;
        }
        own.run(cached, queries);
        own.store(state[team], (f32 *)tile);
    }
    barrier();
    const u32 count = last_part - first_part + 1, index = query * grid_blocks_y() + block_y();
    f32 *all_parts = p.parts + (u64)index * grid_blocks_z() * STRIDE, *to = all_parts + part * STRIDE;
    if (team < heads) {
        // Warp h adds what the warps have of head h.
        f32 shares_of[TEAMS + 1], most = -1e30f, all = 0.0f;
        UNROLL for (u32 i = 0; i <= TEAMS; i++) {
            shares_of[i] = i < TEAMS || has_own ? state[i][team][0] : -1e30f;
            most = maximum(most, shares_of[i]);
        }
        UNROLL for (u32 i = 0; i <= TEAMS; i++) {
            shares_of[i] = fast_exp2(shares_of[i] - most);
            all = mul_add(shares_of[i], i < TEAMS || has_own ? state[i][team][1] : 0.0f, all);
        }
        const f32 factor = fast_rcp(all + sink_weight(p.sinks, head0 + team, most));
        UNROLL for (u32 n = 0; n < DIM / 128; n++) {
            const u32 d = n * 128 + lane * 4;
            f32x4 y = {0.0f, 0.0f, 0.0f, 0.0f};
            UNROLL for (u32 i = 0; i < TEAMS; i++) {
                const f32 *sums = (const f32 *)(memory + i * Sums::BYTES) + team * Sums::SUMS_ROW;
                const f32x4 x = *(const f32x4 *)(sums + d);
                y.x = mul_add(shares_of[i], x.x, y.x), y.y = mul_add(shares_of[i], x.y, y.y);
                y.z = mul_add(shares_of[i], x.z, y.z), y.w = mul_add(shares_of[i], x.w, y.w);
            }
            f32 of[4] = {y.x, y.y, y.z, y.w};
            UNROLL for (u32 c = 0; c < 4; c++) {
                if (has_own) of[c] = mul_add(shares_of[TEAMS], to_f32(f16{own_key[1][d + c]}), of[c]);
                if (count == 1 && d + c < p.dim) {
                    const u32 at = team * p.dim + d + c;
                    out[at] = gate ? of[c] * factor * sigmoid(gate[at]) : of[c] * factor;
                }
            }
            if (count > 1) *(f32x4 *)(to + team * DIM + d) = f32x4{of[0], of[1], of[2], of[3]};
        }
        if (count > 1 && lane == 0) to[GROUP_HEADS * DIM + 2 * team] = most, to[GROUP_HEADS * DIM + 2 * team + 1] = all;
    }
    if (count == 1) return;
    const u32 adders = minimum(p.adders, count);
    barrier();
    if (thread == 0) mine = shares_to_add(p.counters + index, count, adders);
    barrier();
    for (u32 share = 0; share < adders; share++) {
        if (!(mine >> share & 1)) continue;
        add_parts<DIM>(all_parts + first_part * STRIDE, share, adders, heads, count, p.dim,
                       p.sinks ? p.sinks + head0 : nullptr, gate, out, shares, (f32x4 *)memory);
    }
    if (thread == 0 && mine) have_added(p.counters + index, count, adders);
}

#define PAGED_WARPS_KERNEL(NAME, DIM)                                                                                      \
    KERNEL_WAVES(WARP_THREADS, 2) void NAME(                                                                               \
        const f32 *q, f32 *out, u8 *cache, const u32 *positions, const u32 *slots, const u32 *pages, const u32 *tokens,    \
        const f32 *q_norm, const f32 *sinks, const f32x2 *rope, const f32 *k, const f32 *v, const f32 *k_norm,             \
        f32 *parts, u32 *counters, u64 page_stride, u64 layer_start, u32 max_pages, u32 heads,                             \
        u32 kv_heads, u32 dim, u32 pairs, u32 interleaved, u32 window, u32 by_token, f32 eps, f32 scale, f32 k_eps,        \
        u32 most, u32 adders, const f32 *gate) {                                                                           \
        DYNAMIC_SHARED(memory);                                                                                            \
        const Grouped p = {q, out, cache, positions, slots, pages, tokens, q_norm, sinks, rope, k, v, k_norm,              \
                           parts, counters, page_stride, layer_start, max_pages, heads, kv_heads, dim, pairs, interleaved, \
                           window, by_token, eps, scale, k_eps, most, adders, gate};                                       \
        attend<DIM>(p, memory);                                                                                            \
    }
PAGED_WARPS_KERNEL(mlxrocm_attention_paged_warps_128, 128)
PAGED_WARPS_KERNEL(mlxrocm_attention_paged_warps_256, 256)
#endif
