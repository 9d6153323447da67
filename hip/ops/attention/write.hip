// Keys and values of new tokens to the KV cache: cache key = rotate(norm(k)), value = v, both in f16.
//
// k, v: [tokens][kv_heads · dim] f32. Tokens whose position is UNUSED are skipped.
// Launch: 64 threads; grid (tokens, kv heads). The first 32 threads write the key, the others the value.
#include "ops/attention/cache.h"

KERNEL(64) void mlxrocm_attention_write(const f32 *k, const f32 *v, u16 *cache, const u32 *positions,
                                        const u32 *slots, const u32 *pages, const f32 *k_norm, const f32x2 *rope,
                                        u64 page_stride, u64 layer_start, u32 max_pages, u32 kv_heads, u32 dim,
                                        u32 pairs, u32 interleaved, f32 eps) {
    SHARED f32 heads[2][256];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 token = block_x(), kv_head = block_y(), position = positions[token], lane = thread_x() % 32;
    if (position == UNUSED) return;
    const Cache c = {cache, page_stride, layer_start, dim, (dim + 7) / 8 * 8};
    const u32 page = pages[slots[token] * max_pages + position / PAGE_TOKENS];
    u16 *key = cache_key(c, page, kv_head, position % PAGE_TOKENS), *value = key + PAGE_TOKENS * c.padded;
    const u64 at = (u64)token * kv_heads * dim + kv_head * dim;
    // Both halves prepare the key, each for itself: lanes of a wide wave stay together.
    f32 *head = heads[thread_x() / 32];
    prepare_head(k + at, k_norm, eps, rope + (u64)position * pairs, pairs, interleaved, dim, 1.0f, lane, head);
    barrier();
    for (u32 i = lane; i < c.padded; i += 32) {
        if (thread_x() < 32) key[i] = i < dim ? to_f16(head[i]).bits : 0;
        else value[i] = i < dim ? to_f16(v[at + i]).bits : 0;
    }
}
