// Keys and values of new tokens to the KV cache: cache key = rotate(norm(k)), value = v, as cache.h says.
//
// k, v: [tokens][kv_heads · dim] f32. Tokens whose position is UNUSED are skipped.
// Launch: 64 threads; grid (tokens, kv heads). The first 32 threads write the key, the others the value.
#include "ops/attention/cache.h"

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
    const u32 token = block_x(), kv_head = block_y(), position = p.positions[token], lane = thread_x() % 32;
    if (position == UNUSED) return;
    const Cache c = {p.cache, p.page_stride, p.layer_start, p.dim};
    const u32 page = p.pages[p.slots[token] * p.max_pages + position / PAGE_TOKENS];
    const u64 at = (u64)token * p.kv_heads * p.dim + kv_head * p.dim;
    // Both halves make the key, each for itself: lanes of a wide wave stay together.
    const Turn<8> turn = load_turn<8>(p.k_norm, p.rope + (u64)position * p.pairs, p.pairs, p.interleaved, p.dim, lane);
    f32 key[8];
    turn_head<8>(load_head<8>(p.k + at, turn, p.dim, lane), p.k_norm, p.eps, turn, p.dim, 1.0f, key);
    const bool is_key = thread_x() < 32;
    u8 *to = cache_keys<KV>(c, page, kv_head) + (is_key ? 0 : tokens_bytes<KV>(p.dim));
    UNROLL for (u32 group = 0; group < 8; group++) {
        if (group * 32 >= p.dim) break;
        const u32 i = group * 32 + lane;
        const f32 number = i >= p.dim ? 0.0f : is_key ? key[group] : p.v[at + i];
        store_group<KV>(number, to, p.dim, position % PAGE_TOKENS, group, lane);
    }
}

#define WRITE_KERNEL(NAME, KV)                                                                              \
    KERNEL(64) void NAME(const f32 *k, const f32 *v, u8 *cache, const u32 *positions, const u32 *slots,     \
                         const u32 *pages, const f32 *k_norm, const f32x2 *rope, u64 page_stride,           \
                         u64 layer_start, u32 max_pages, u32 kv_heads, u32 dim, u32 pairs, u32 interleaved, \
                         f32 eps) {                                                                         \
        const Write p = {k, v, cache, positions, slots, pages, k_norm, rope, page_stride, layer_start,      \
                         max_pages, kv_heads, dim, pairs, interleaved, eps};                                \
        write<KV>(p);                                                                                       \
    }
WRITE_KERNEL(mlxrocm_attention_write, KV_F16)
WRITE_KERNEL(mlxrocm_attention_write_q8, KV_Q8)
WRITE_KERNEL(mlxrocm_attention_write_q4, KV_Q4)
