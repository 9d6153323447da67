// attention: out[b][h][i] = Σ_j softmax_j(scale · q[b][h][i] · k[b][g][j] + mask[b][h][i][j]) · v[b][g][j], g the head of
// keys that head h shares; a sink of h is one more score that only the sum sees. Query i sees keys up to i + keys − rows
// if causal; what a mask of truth values hides has the dtype's lowest score. Elements lie row after row, but for the
// mask, which has strides.
// rope: pairs of x[b][h][i] turned by (offset[b] + i) · scale · rate of the pair; rates 1 / periods, or base^(−pair / pairs).
//
// Launch: attention 256 threads, a block a query, 256 keys at a time; rope 256 threads, a thread an element or a pair.
#include "dtype.h"
#include "functions.h"
#include "rope.h"
#include "common/reduce.h"

#define WIDEST 512

KERNEL(256) void mlxrocm_array_attention(const void *q, const void *k, const void *v, const void *mask, const void *sinks,
                                         void *out, u32 heads, u32 kv_heads, u32 rows, u32 keys, u32 dim, u32 width,
                                         u32 dtype, u32 mask_dtype, u32 causal, f32 scale, i32 mask_batch,
                                         i32 mask_head, i32 mask_row, i32 mask_key) {
    SHARED f32 query[WIDEST], weights[256], scratch[256 / WAVE], sums[256 / WAVE];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = block_x() % rows, head = block_x() / rows % heads, batch = block_x() / rows / heads;
    const u32 shared_head = batch * kv_heads + head / (heads / kv_heads);
    const f32 lowest = dtype == F16 ? -65504.0f : dtype == BF16 ? bits_f32(0xff7f0000u) : bits_f32(0xff7fffffu);
    for (u32 c = thread_x(); c < dim; c += 256) query[c] = load_float(q, (i64)block_x() * dim + c, dtype) * scale;
    f32 most = sinks ? load_float(sinks, head, dtype) : -infinity(), sum = sinks ? 1.0f : 0.0f;
    f32 mine[WIDEST / 256] = {};
    for (u32 first = 0; first < keys; first += 256) {
        barrier();
        const u32 key = first + thread_x();
        f32 score = -infinity();
        if (key < keys) {
            score = 0.0f;
            const i64 at = ((i64)shared_head * keys + key) * dim;
            for (u32 c = 0; c < dim; c++) score = mul_add(query[c], load_float(k, at + c, dtype), score);
            if (mask) {
                const i64 place = (i64)batch * mask_batch + (i64)head * mask_head + (i64)row * mask_row + (i64)key * mask_key;
                if (mask_dtype == BOOL)
                    score = load_whole(mask, place, BOOL) ? score : lowest;
                else
                    score += load_float(mask, place, mask_dtype);
            }
            if (causal && key + rows > row + keys) score = lowest;
        }
        const f32 top = maximum(most, block_max<256>(score, scratch));
        const f32 weight = key < keys ? exact_exp(score - top) : 0.0f;
        weights[thread_x()] = weight;
        // All keys hidden by infinities: NaN, as in MLX.
        const f32 fade = most == -infinity() ? 0.0f : exact_exp(most - top);
        sum = sum * fade + block_sum<256>(weight, sums);
        barrier();
        const u32 here = minimum(256u, keys - first);
        UNROLL for (u32 i = 0; i < WIDEST / 256; i++) {
            const u32 c = thread_x() + i * 256;
            if (c >= width) continue;
            f32 total = mine[i] * fade;
            for (u32 j = 0; j < here; j++)
                total = mul_add(weights[j], load_float(v, ((i64)shared_head * keys + first + j) * width + c, dtype), total);
            mine[i] = total;
        }
        most = top;
    }
    UNROLL for (u32 i = 0; i < WIDEST / 256; i++) {
        const u32 c = thread_x() + i * 256;
        if (c < width) store_float(out, (i64)block_x() * width + c, dtype, mine[i] / sum);
    }
}

KERNEL(256) void mlxrocm_array_rope(const void *x, const void *offset, const f32 *periods, void *out, u32 count,
                                    u32 per_batch, u32 rows, u32 columns, u32 dims, u32 dtype, u32 offset_dtype,
                                    u32 one_offset, u32 pairs_adjoin, f32 log2_base, f32 scale) {
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 i = block_x() * 256 + thread_x();
    if (i >= count) return;
    const u32 c = i % columns, row = i / columns % rows, half = dims / 2;
    if (c >= dims) {
        store_float(out, i, dtype, load_float(x, i, dtype));
        return;
    }
    const u32 pair = pairs_adjoin ? c / 2 : c % half;
    if (pairs_adjoin ? c % 2 : c >= half) return; // the other element's thread does both
    const i64 start = load_whole(offset, one_offset ? 0 : i / per_batch, offset_dtype);
    const f32 angle = angle_at(start + row, scale, rate_of_pair(periods, log2_base, pair, half));
    const f32 sine = exact_sin(angle, 0), cosine = exact_sin(angle, 1);
    const u32 other = pairs_adjoin ? i + 1 : i + half;
    const f32 a = load_float(x, i, dtype), b = load_float(x, other, dtype);
    f32 first, second;
    turn_pair(a, b, sine, cosine, first, second);
    store_float(out, i, dtype, first);
    store_float(out, other, dtype, second);
}
