// token[r] = the first index of the largest of logits[r]: greedy sampling. NaN never wins; a row of
// nothing but NaN and -inf gives 0.
//
// Launch: 1024 threads, a block a row.
#include "common/reduce.h"

KERNEL(1024) void mlxrocm_argmax_f32(const f32 *logits, u32 *tokens, u32 cols) {
    SHARED f32 best[1024 / 32];
    SHARED u32 where[1024 / 32];
    grid_dependency_launch();
    grid_dependency_wait();
    const f32 *x = logits + (u64)block_x() * cols;
    f32 most = bits_f32(0xff800000u);
    u32 at = 0xffffffffu;
    for (u32 c = thread_x(); c < cols; c += 1024) {
        if (x[c] > most) most = x[c], at = c;
    }
    const f32 top = wave_max<32>(most);
    // The smallest index among the lanes that have it: as a maximum of its complement.
    u32 key = most == top ? ~at : 0;
    key = maximum(key, shuffle_xor<1>(key)), key = maximum(key, shuffle_xor<2>(key));
    key = maximum(key, shuffle_xor<4>(key)), key = maximum(key, shuffle_xor<8>(key));
    key = maximum(key, shuffle_xor<16>(key));
    if (thread_x() % 32 == 0) best[thread_x() / 32] = top, where[thread_x() / 32] = ~key;
    barrier();
    if (thread_x() != 0) return;
    for (u32 i = 1; i < 32; i++) {
        if (best[i] > best[0] || (best[i] == best[0] && where[i] < where[0])) best[0] = best[i], where[0] = where[i];
    }
    tokens[block_x()] = where[0] == 0xffffffffu ? 0 : where[0];
}
