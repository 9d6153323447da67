// Rotations of pairs of columns as mlxrocm_array_rope (attention.hip) makes them, 16 bytes at a time: an angle is computed once
// for all heads. x[batch][head][row][column]; pairs are columns c and c + dims / 2 or (pairs_adjoin) neighbours; columns from
// `dims` on stay. All of it aligned to 16 bytes, as are columns, dims and (pairs that are apart) half of dims.
//
// rope_update: of one batch q to `out`, k to its rows in `keys` [head][room][column], which begin where `start` says, and v,
// as it is, to its rows in `values`: the steps of one decoded token, which would each be a launch.
//
// Launch: 256 threads, grid (blocks of `part` rows, batches): part · dims / 2 <= ANGLES; rope_update: a thread 16 bytes of each half
// of a pair (or of what stays, or of v), rows · dims / 2 <= ANGLES.
#include "rope.h"
#include "scatter.h"
#include "vectors.h"

#define ANGLES 1024
#define ROPE                                                                                                             \
    const void *x, const void *offset, const f32 *periods, void *out, u32 heads, u32 rows, u32 columns, u32 dims, u32 part, \
        u32 offset_dtype, u32 one_offset, u32 pairs_adjoin, f32 log2_base, f32 scale

// The angles of `mine` rows from place `first` on.
DEVICE void make_angles(const f32 *periods, i64 first, u32 mine, u32 half, f32 log2_base, f32 scale, f32 *sines, f32 *cosines) {
    for (u32 i = thread_x(); i < mine * half; i += 256) {
        const u32 row = i / half, pair = i % half;
        const f32 angle = angle_at(first + row, scale, rate_of_pair(periods, log2_base, pair, half));
        sines[i] = exact_sin(angle, 0), cosines[i] = exact_sin(angle, 1);
    }
    barrier();
}
// Group `group` of a row: of first halves (or of neighbours), then of what stays.
template <u32 DTYPE> struct Group {
    static constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    Bits<16> bits, others;

    METHOD void load(const u8 *from, u32 group, u32 turned, u32 dims, bool pairs_adjoin) {
        bits = load_group<16>(from + (group < turned ? group * 16 : dims * SIZE + (group - turned) * 16));
        if (group < turned && !pairs_adjoin) others = load_group<16>(from + dims / 2 * SIZE + group * 16);
    }
    // `angles`: the first of the row's.
    METHOD void store(u8 *to, u32 group, u32 turned, u32 dims, bool pairs_adjoin, u32 angles, const f32 *sines, const f32 *cosines) const {
        const u32 half = dims / 2;
        f32 a[V], b[V];
        if (group >= turned) {
            store16(to + dims * SIZE + (group - turned) * 16, u32x4{bits.words[0], bits.words[1], bits.words[2], bits.words[3]});
        } else if (pairs_adjoin) {
            angles += group * (V / 2);
            UNROLL for (int j = 0; j < V / 2; j++) {
                const f32 low = number_in<DTYPE>(bits, 2 * j), high = number_in<DTYPE>(bits, 2 * j + 1);
                turn_pair(low, high, sines[angles + j], cosines[angles + j], a[2 * j], a[2 * j + 1]);
            }
            store_numbers<DTYPE>(to, group * V, a);
        } else {
            angles += group * V;
            UNROLL for (int j = 0; j < V; j++) {
                const f32 low = number_in<DTYPE>(bits, j), high = number_in<DTYPE>(others, j);
                turn_pair(low, high, sines[angles + j], cosines[angles + j], a[j], b[j]);
            }
            store_numbers<DTYPE>(to, group * V, a);
            store_numbers<DTYPE>(to, half + group * V, b);
        }
    }
};

template <u32 DTYPE> DEVICE void rope(ROPE, f32 *sines, f32 *cosines) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    const u32 half = dims / 2, first = block_x() * part, mine = minimum(part, rows - first);
    const i64 start = load_whole(offset, one_offset ? 0 : block_y(), offset_dtype);
    make_angles(periods, start + first, mine, half, log2_base, scale, sines, cosines);
    const u32 turned = (pairs_adjoin ? dims : half) / V, each = turned + (columns - dims) / V, units = mine * heads * each;
    for (u32 i = thread_x(); i < units; i += 256) {
        const u32 line = i / each, group = i - line * each, head = line / mine, row = line - head * mine;
        const u64 at = (((u64)block_y() * heads + head) * rows + first + row) * columns;
        Group<DTYPE> of;
        of.load((const u8 *)x + at * SIZE, group, turned, dims, pairs_adjoin);
        of.store((u8 *)out + at * SIZE, group, turned, dims, pairs_adjoin, row * half, sines, cosines);
    }
}
#define ROPE_KERNEL(NAME, DTYPE)                                                                                     \
    KERNEL(256) void NAME(ROPE) {                                                                                    \
        SHARED f32 sines[ANGLES], cosines[ANGLES];                                                                   \
        grid_dependency_launch();                                                                                    \
        grid_dependency_wait();                                                                                      \
        rope<DTYPE>(x, offset, periods, out, heads, rows, columns, dims, part, offset_dtype, one_offset, pairs_adjoin, \
                    log2_base, scale, sines, cosines);                                                               \
    }
ROPE_KERNEL(mlxrocm_array_rope_f32, F32)
ROPE_KERNEL(mlxrocm_array_rope_f16, F16)
ROPE_KERNEL(mlxrocm_array_rope_bf16, BF16)

struct Update {
    const void *q, *k, *v, *offset, *start;
    void *out, *keys, *values;
    u32 q_heads, kv_heads, rows, columns, dims, v_columns, k_room, v_room, offset_dtype, start_dtype, pairs_adjoin;
    f32 log2_base, scale;
};
template <u32 DTYPE> DEVICE void rope_update(const Update &p, f32 *sines, f32 *cosines) {
    constexpr u32 SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    const u32 half = p.dims / 2, turned = (p.pairs_adjoin ? p.dims : half) / V, each = turned + (p.columns - p.dims) / V;
    const u32 of_v = p.v_columns / V, rotated = (p.q_heads + p.kv_heads) * p.rows * each;
    const u32 i = block_x() * 256 + thread_x(), rest = i - rotated;
    const i64 first = load_whole(p.offset, 0, p.offset_dtype);
    const auto place = [&](u32 room) { return begin_of(p.start, 0, p.start_dtype, room, p.rows); };
    if (i >= rotated && rest < p.kv_heads * p.rows * of_v) {
        const u32 line = rest / of_v, group = rest - line * of_v, head = line / p.rows, row = line - head * p.rows;
        const u64 to = ((u64)head * p.v_room + place(p.v_room) + row) * p.v_columns;
        store16((u8 *)p.values + to * SIZE + group * 16, load16((const u8 *)p.v + (u64)rest * 16));
    }
    const u32 all = i / each, group = i - all * each, row = all % p.rows, head = all / p.rows;
    const bool is_q = head < p.q_heads;
    const u32 line = is_q ? all : all - p.q_heads * p.rows;
    Group<DTYPE> of;
    if (i < rotated) of.load((const u8 *)(is_q ? p.q : p.k) + (u64)line * p.columns * SIZE, group, turned, p.dims, p.pairs_adjoin);
    // Blocks of v alone need none.
    if (block_x() * 256 >= rotated) return;
    make_angles(nullptr, first, p.rows, half, p.log2_base, p.scale, sines, cosines);
    if (i >= rotated) return;
    const u64 at = is_q ? (u64)line * p.columns : ((u64)(head - p.q_heads) * p.k_room + place(p.k_room) + row) * p.columns;
    of.store((u8 *)(is_q ? p.out : p.keys) + at * SIZE, group, turned, p.dims, p.pairs_adjoin, row * half, sines, cosines);
}
#define UPDATE_KERNEL(NAME, DTYPE)                                                                                          \
    KERNEL(256) void NAME(const void *q, const void *k, const void *v, const void *offset, const void *start, void *out,    \
                          void *keys, void *values, u32 q_heads, u32 kv_heads, u32 rows, u32 columns, u32 dims,             \
                          u32 v_columns, u32 k_room, u32 v_room, u32 offset_dtype, u32 start_dtype, u32 pairs_adjoin,       \
                          f32 log2_base, f32 scale) {                                                                       \
        SHARED f32 sines[ANGLES], cosines[ANGLES];                                                                          \
        grid_dependency_launch();                                                                                           \
        grid_dependency_wait();                                                                                             \
        rope_update<DTYPE>(Update{q, k, v, offset, start, out, keys, values, q_heads, kv_heads, rows, columns, dims,        \
                                  v_columns, k_room, v_room, offset_dtype, start_dtype, pairs_adjoin, log2_base, scale},    \
                           sines, cosines);                                                                                 \
    }
UPDATE_KERNEL(mlxrocm_array_rope_update_f32, F32)
UPDATE_KERNEL(mlxrocm_array_rope_update_f16, F16)
UPDATE_KERNEL(mlxrocm_array_rope_update_bf16, BF16)
