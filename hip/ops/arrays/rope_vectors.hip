// Rotations of pairs of columns as mlxrocm_array_rope (attention.hip) makes them, 16 bytes at a time: an angle is computed once
// for all heads. x[batch][head][row][column]; pairs are columns c and c + dims / 2 or (pairs_adjoin) neighbours; columns from
// `dims` on stay. All of it aligned to 16 bytes, as are columns, dims and (pairs that are apart) half of dims.
//
// Launch: 256 threads, grid (blocks of `part` rows, batches): part · dims / 2 <= ANGLES.
#include "vectors.h"

#define ANGLES 1024
#define ROPE                                                                                                             \
    const void *x, const void *offset, const f32 *periods, void *out, u32 heads, u32 rows, u32 columns, u32 dims, u32 part, \
        u32 offset_dtype, u32 one_offset, u32 pairs_adjoin, f32 log2_base, f32 scale
template <u32 DTYPE> DEVICE void rope(ROPE, f32 *sines, f32 *cosines) {
    constexpr int SIZE = bytes_of(DTYPE), V = 16 / SIZE;
    const u32 half = dims / 2, first = block_x() * part, mine = minimum(part, rows - first);
    const i64 start = load_whole(offset, one_offset ? 0 : block_y(), offset_dtype);
    for (u32 i = thread_x(); i < mine * half; i += 256) {
        const u32 row = first + i / half, pair = i % half;
        const f32 rate = periods ? 1.0f / periods[pair] : exact_pow(2.0f, -log2_base * (f32)pair / (f32)half);
        const f32 angle = (f32)(start + row) * scale * rate;
        sines[i] = exact_sin(angle, 0), cosines[i] = exact_sin(angle, 1);
    }
    barrier();
    // Groups of a row: those of first halves (or of neighbours), and those that stay.
    const u32 turned = (pairs_adjoin ? dims : half) / V, each = turned + (columns - dims) / V, units = mine * heads * each;
    for (u32 i = thread_x(); i < units; i += 256) {
        const u32 line = i / each, group = i - line * each, head = line / mine, row = line - head * mine;
        const u64 at = (((u64)block_y() * heads + head) * rows + first + row) * columns;
        const u8 *from = (const u8 *)x + at * SIZE;
        u8 *to = (u8 *)out + at * SIZE;
        if (group >= turned) {
            const u32 column = dims + (group - turned) * V;
            store16(to + column * SIZE, load16(from + column * SIZE));
            continue;
        }
        const Bits<16> bits = load_group<16>(from + group * 16);
        f32 a[V], b[V];
        if (pairs_adjoin) {
            const u32 angles = row * half + group * (V / 2);
            UNROLL for (int j = 0; j < V / 2; j++) {
                const f32 s = sines[angles + j], c = cosines[angles + j];
                const f32 low = number_in<DTYPE>(bits, 2 * j), high = number_in<DTYPE>(bits, 2 * j + 1);
                a[2 * j] = low * c - high * s, a[2 * j + 1] = low * s + high * c;
            }
            store_numbers<DTYPE>(to, group * V, a);
        } else {
            const Bits<16> others = load_group<16>(from + half * SIZE + group * 16);
            const u32 angles = row * half + group * V;
            UNROLL for (int j = 0; j < V; j++) {
                const f32 s = sines[angles + j], c = cosines[angles + j];
                const f32 low = number_in<DTYPE>(bits, j), high = number_in<DTYPE>(others, j);
                a[j] = low * c - high * s, b[j] = low * s + high * c;
            }
            store_numbers<DTYPE>(to, group * V, a);
            store_numbers<DTYPE>(to, half + group * V, b);
        }
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
