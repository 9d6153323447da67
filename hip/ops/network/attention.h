// Attention over the rows of an item:
//
//   out[r][h] = Σ_j softmax_j(scale · q[r][h]·k[j][h'] + bias[h][r][j]) v[j][h']
//
// where heads h' of keys are shared by heads / kv_heads of queries. Up to 64 rows and 64 keys. A side has its number
// c of row r of head h of an item at item · of_item + first + h · of_head + r · of_row + c. bias: T [items][heads][rows]
// [keys] or null. out: [items][rows][heads][width] if `rows_first`, else [items][heads][rows][width].
#pragma once

#include "ops/network/numbers.h"

#define MOST_ROWS 64

template <typename T> struct Side {
    const T *numbers;
    u32 of_item, first, of_head, of_row;

    METHOD const T *head(u32 item, u32 head) const { return numbers + (u64)item * of_item + first + (u64)head * of_head; }
};
template <typename T> struct NetworkAttention {
    Side<T> q, k, v;
    const T *bias;
    T *out;
    u32 heads, kv_heads, rows, keys, dim, width, rows_first;
    f32 scale;

    METHOD T *place(u32 item, u32 head, u32 row) const {
        const u64 at = rows_first ? ((u64)item * rows + row) * heads + head : ((u64)item * heads + head) * rows + row;
        return out + at * width;
    }
};
#define ATTENTION_PARAMETERS(T)                                                                              \
    const T *q, u32 q_item, u32 q_first, u32 q_head, u32 q_row, const T *k, u32 k_item, u32 k_first, u32 k_head, \
        u32 k_row, const T *v, u32 v_item, u32 v_first, u32 v_head, u32 v_row, const T *bias, T *out, u32 heads, \
        u32 kv_heads, u32 rows, u32 keys, u32 dim, u32 width, u32 rows_first, f32 scale
#define ATTENTION_ARGUMENTS                                                                            \
    {{q, q_item, q_first, q_head, q_row}, {k, k_item, k_first, k_head, k_row}, {v, v_item, v_first, v_head, v_row}, \
     bias, out, heads, kv_heads, rows, keys, dim, width, rows_first, scale}
