// What a step of one decoded token does with q, k and v up to what attention gives, as one launch: q and k are rotated as
// rope_vectors.hip does it, k and v take the place of their rows of keys and values (`start`), and attention is that of
// attention_parts.hip over all of these. One batch, a query a head; the bits are those of the three operations.
//
// Each block rotates its own queries, a thread a pair. The row that the step brings is read where it comes from by the blocks
// in whose part it lies; those of the first queries of a head of keys and values store it when they have read their keys.
//
// Launch: as attention_parts.hip; dims <= COLUMNS; q [heads][dim], new_k and new_v [kv_heads][dim].
#include "attention_parts.h"
#include "rope.h"
#include "scatter.h"

#define PAIRS (COLUMNS / 2)

template <typename T> struct Step {
    static constexpr bool BRINGS_A_ROW = true;

    const T *k, *v;
    T *keys, *values;
    const void *offset, *start;
    u32 dims, offset_dtype, start_dtype, pairs_adjoin;
    f32 log2_base, scale;
    // Rotated queries, and the row of keys and values where it lies in the block's part: in shared memory.
    f32 (*queries)[COLUMNS];
    T *key, *value;

    f32 rate = 0.0f;
    // Where the row comes, once that is known.
    u32 place = ~0u;

    // What needs nothing of the launch in front.
    METHOD void prepare() { rate = rate_of_pair(nullptr, log2_base, thread_x() % PAIRS, dims / 2); }
    // By all threads.
    METHOD void make(const Scores<T> &p, const T *q, u32 begin, u32 end) {
        const u32 pair = thread_x() % PAIRS, n = thread_x() / PAIRS, shared = p.heads / p.kv_heads;
        const bool turns = pair < dims / 2;
        const u32 low = pairs_adjoin ? 2 * pair : pair, high = pairs_adjoin ? low + 1 : low + dims / 2;
        // Queries past the last are the last again.
        const T *of_query = q + (block_z() * shared + minimum(block_y() * SHARED_QUERIES + n, shared - 1)) * p.dim;
        const T *of_key = k + block_z() * p.dim, *of_value = v + block_z() * p.dim;
        T a = {}, b = {};
        if (turns) a = of_query[low], b = of_query[high];
        const i64 first = load_whole(offset, 0, offset_dtype);
        place = begin_of(start, 0, start_dtype, p.keys, 1);
        const bool is_here = place >= begin && place < end, brings = is_here && n == 0;
        T key_a = {}, key_b = {};
        if (turns && brings) key_a = of_key[low], key_b = of_key[high];
        const f32 angle = angle_at(first, scale, rate), sine = exact_sin(angle, 0), cosine = exact_sin(angle, 1);
        const auto turn = [&](T &a, T &b) {
            f32 x, y;
            turn_pair(to_f32(a), to_f32(b), sine, cosine, x, y);
            a = from_f32<T>::make(x), b = from_f32<T>::make(y);
        };
        if (turns) {
            turn(a, b);
            queries[n][low] = to_f32(a), queries[n][high] = to_f32(b);
            turn(key_a, key_b);
            if (brings) key[low] = key_a, key[high] = key_b;
        }
        // What stays, and zeros up to where lanes read.
        for (u32 c = dims + pair; c < COLUMNS; c += PAIRS) {
            queries[n][c] = c < p.dim ? to_f32(of_query[c]) : 0.0f;
            if (brings) key[c] = c < p.dim ? of_key[c] : T{};
        }
        if (is_here && n == 1) for (u32 c = pair; c < COLUMNS; c += PAIRS) value[c] = c < p.dim ? of_value[c] : T{};
        barrier();
    }
    // The row, once the block has read its keys.
    METHOD void store(const Scores<T> &p, u32 begin, u32 end) const {
        if (block_y() > 0 || place < begin || place >= end || thread_x() >= p.dim) return;
        const u64 to = ((u64)block_z() * p.keys + place) * p.dim + thread_x();
        keys[to] = key[thread_x()], values[to] = value[thread_x()];
    }
};

#define STEP_KERNEL(NAME, T, PIECES)                                                                                          \
    OF_PARTS                                                                                                                  \
    void NAME(const T *q, T *k, T *v, const void *mask, const T *sinks, const T *new_k, const T *new_v, const void *offset,   \
              const void *start, f32 *parts, T *out, u32 *counters, u32 of_part, u32 dims, u32 offset_dtype,                  \
              u32 start_dtype, u32 pairs_adjoin, f32 log2_base, f32 rope_scale, SCORES_PARAMETERS) {                          \
        SHARED __attribute__((aligned(16))) f32 queries[SHARED_QUERIES][COLUMNS];                                             \
        SHARED __attribute__((aligned(16))) T row[2][COLUMNS];                                                                \
        const Scores<T> p = SCORES_ARGUMENTS;                                                                                 \
        const Step<T> step = {new_k, new_v, k, v, offset, start, dims, offset_dtype, start_dtype, pairs_adjoin, log2_base,    \
                              rope_scale, queries, row[0], row[1]};                                                           \
        attend<T, PIECES>(p, q, (const T *)k, (const T *)v, parts, out, counters, of_part, step);                             \
    }
STEP_KERNEL(mlxrocm_array_attention_step_f16, f16, 1)
STEP_KERNEL(mlxrocm_array_attention_step_bf16, bf16, 1)
STEP_KERNEL(mlxrocm_array_attention_step_f32, f32, 2)
