// attention (attention.hip) in parts of the keys, for few queries or where no matrix unit takes the dtype: heads of up to
// PIECES · 256 bytes, a multiple of 16, as many of values as of keys. A query's parts are joined in order (attention_parts.h).
//
// Launch: 256 threads, 16 lanes a key, AHEAD keys at a time; grid (parts, groups of four queries, batch · kv_heads).
// `counters`: where there are several parts one of each group of each of these heads, 0 before and after.
#include "attention_parts.h"

#define PARTS_KERNEL(NAME, T, PIECES)                                                                           \
    OF_PARTS                                                                                                    \
    void NAME(const T *q, const T *k, const T *v, const void *mask, const T *sinks, f32 *parts, T *out, u32 *counters, \
              u32 of_part, SCORES_PARAMETERS) {                                                                 \
        const Scores<T> p = SCORES_ARGUMENTS;                                                                   \
        attend<T, PIECES>(p, q, k, v, parts, out, counters, of_part, NoStep{});                                 \
    }
PARTS_KERNEL(mlxrocm_array_attention_parts_f16, f16, 1)
PARTS_KERNEL(mlxrocm_array_attention_parts_bf16, bf16, 1)
PARTS_KERNEL(mlxrocm_array_attention_parts_f32, f32, 2)
