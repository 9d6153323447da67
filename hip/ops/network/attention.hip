// Attention of networks (attention.h) for heads of any size, one query a thread; sums in order, in f32.
//
// Launch: 64 threads; grid (heads, items).
#include "ops/network/attention.h"

template <typename T> DEVICE void attend(const NetworkAttention<T> &p, f32 (*scores)[MOST_ROWS + 1]) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = thread_x(), head = block_x(), item = block_y(), of_kv = head / (p.heads / p.kv_heads);
    if (row >= p.rows) return;
    const T *q = p.q.head(item, head) + (u64)row * p.q.of_row;
    const T *k = p.k.head(item, of_kv), *v = p.v.head(item, of_kv);
    const T *bias = p.bias ? p.bias + (((u64)item * p.heads + head) * p.rows + row) * p.keys : nullptr;
    f32 most = -3.0e38f;
    for (u32 j = 0; j < p.keys; j++) {
        f32 sum = 0.0f;
        for (u32 c = 0; c < p.dim; c++) sum = mul_add(to_f32(q[c]), to_f32(k[(u64)j * p.k.of_row + c]), sum);
        const f32 score = sum * p.scale + (bias ? to_f32(bias[j]) : 0.0f);
        scores[row][j] = score;
        most = maximum(most, score);
    }
    f32 total = 0.0f;
    for (u32 j = 0; j < p.keys; j++) {
        const f32 weight = fast_exp(scores[row][j] - most);
        scores[row][j] = weight;
        total += weight;
    }
    const f32 share = 1.0f / total;
    T *out = p.place(item, head, row);
    for (u32 c = 0; c < p.width; c++) {
        f32 sum = 0.0f;
        for (u32 j = 0; j < p.keys; j++) sum = mul_add(scores[row][j], to_f32(v[(u64)j * p.v.of_row + c]), sum);
        put(out + c, sum * share);
    }
}

#define ATTENTION_KERNEL(NAME, T)                        \
    KERNEL(64) void NAME(ATTENTION_PARAMETERS(T)) {      \
        SHARED f32 scores[MOST_ROWS][MOST_ROWS + 1];     \
        const NetworkAttention<T> p = ATTENTION_ARGUMENTS; \
        attend<T>(p, scores);                            \
    }
ATTENTION_KERNEL(mlxrocm_network_attention_f16, f16)
ATTENTION_KERNEL(mlxrocm_network_attention_f32, f32)
