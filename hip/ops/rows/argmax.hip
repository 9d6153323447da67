// token[r] = the first index of the largest of logits[r]: greedy sampling; 0xffffffff where a logit is
// not finite.
//
// Launch: 1024 threads, a block a row.
#include "common/reduce.h"

#define NO_TOKEN 0xffffffffu

KERNEL(1024) void mlxrocm_argmax_f32(const f32 *logits, u32 *tokens, u32 cols) {
    SHARED f32 best[1024 / 32];
    SHARED u32 where[1024 / 32], finite[1024 / 32];
    grid_dependency_launch();
    grid_dependency_wait();
    const f32 *x = logits + (u64)block_x() * cols;
    const u32 thread = thread_x();
    f32 most = bits_f32(0xff800000u);
    u32 at = NO_TOKEN, is_finite = 1;
    for (u32 base = 0; base < cols; base += 8192) {
        f32 v[8];
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 c = base + i * 1024 + thread;
            v[i] = c < cols ? x[c] : x[0];
        }
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 c = base + i * 1024 + thread;
            if ((f32_bits(v[i]) & 0x7f800000u) == 0x7f800000u) is_finite = 0;
            if (c < cols && v[i] > most) most = v[i], at = c;
        }
    }
    const f32 top = wave_max<32>(most);
    // The smallest index among the lanes that have it: as a maximum of its complement.
    u32 key = most == top ? ~at : 0, lost = is_finite ^ 1;
    key = maximum(key, shuffle_xor<1>(key)), key = maximum(key, shuffle_xor<2>(key));
    key = maximum(key, shuffle_xor<4>(key)), key = maximum(key, shuffle_xor<8>(key));
    key = maximum(key, shuffle_xor<16>(key));
    lost |= shuffle_xor<1>(lost), lost |= shuffle_xor<2>(lost), lost |= shuffle_xor<4>(lost);
    lost |= shuffle_xor<8>(lost), lost |= shuffle_xor<16>(lost);
    if (thread % 32 == 0) best[thread / 32] = top, where[thread / 32] = ~key, finite[thread / 32] = lost ^ 1;
    barrier();
    if (thread != 0) return;
    f32 largest = best[0];
    u32 token = where[0], all = finite[0];
    for (u32 i = 1; i < 1024 / 32; i++) {
        if (best[i] > largest || (best[i] == largest && where[i] < token)) largest = best[i], token = where[i];
        all &= finite[i];
    }
    tokens[block_x()] = all ? token : NO_TOKEN;
}
