// token[r] = the first index of the largest of the first `cols` of logits[r]: greedy sampling; 0xffffffff where
// one of these is not finite. Rows are `stride` numbers apart: an embedding may have more rows than there are
// tokens.
//
// `told`: the same in the host's memory, or null.
//
// Launch: 1024 threads; grid (rows, BLOCKS): each block takes a part of the columns, and the one that ends
// last compares the parts. `parts`: [rows][BLOCKS] of (largest, its index, whether all are finite).
// `counters`: [rows] zeros, left zero.
#include "common/reduce.h"

#define NO_TOKEN 0xffffffffu
#define BLOCKS 32
#define THREADS 1024

struct Largest {
    f32 value;
    u32 at, finite;
};

// The largest of a team of 32 lanes, the first of equal ones.
DEVICE Largest largest_of_team(Largest of) {
    const f32 top = wave_max<32>(of.value);
    // The smallest index as a maximum of its complement.
    u32 key = of.value == top ? ~of.at : 0, lost = of.finite ^ 1;
    key = maximum(key, shuffle_xor<1>(key)), key = maximum(key, shuffle_xor<2>(key));
    key = maximum(key, shuffle_xor<4>(key)), key = maximum(key, shuffle_xor<8>(key));
    key = maximum(key, shuffle_xor<16>(key));
    lost |= shuffle_xor<1>(lost), lost |= shuffle_xor<2>(lost), lost |= shuffle_xor<4>(lost);
    lost |= shuffle_xor<8>(lost), lost |= shuffle_xor<16>(lost);
    return {top, ~key, lost ^ 1};
}

KERNEL(THREADS) void mlxrocm_argmax_f32(const f32 *logits, u32 *tokens, u32 *told, Largest *parts, u32 *counters, u32 cols,
                                        u32 stride) {
    SHARED Largest teams[THREADS / 32];
    grid_dependency_launch();
    grid_dependency_wait();
    const u32 row = block_x(), part = block_y(), thread = thread_x(), lane = thread % 32;
    const u32 size = divide_up(cols, BLOCKS), begin = part * size, end = minimum(begin + size, cols);
    const f32 *x = logits + (u64)row * stride;
    Largest mine = {bits_f32(0xff800000u), NO_TOKEN, 1};
    for (u32 base = begin; base < end; base += THREADS * 8) {
        f32 v[8];
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 c = base + i * THREADS + thread;
            v[i] = c < end ? x[c] : 0.0f;
        }
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 c = base + i * THREADS + thread;
            if ((f32_bits(v[i]) & 0x7f800000u) == 0x7f800000u) mine.finite = 0;
            if (c < end && v[i] > mine.value) mine.value = v[i], mine.at = c;
        }
    }
    mine = largest_of_team(mine);
    if (lane == 0) teams[thread / 32] = mine;
    barrier();
    mine = largest_of_team(teams[lane]);
    if (thread == 0) parts[row * BLOCKS + part] = mine;
    if (!is_last_block(counters + row, BLOCKS)) return;
    mine = largest_of_team(parts[row * BLOCKS + lane]);
    if (thread != 0) return;
    const u32 token = mine.finite ? mine.at : NO_TOKEN;
    tokens[row] = token;
    if (told) told[row] = token;
}
