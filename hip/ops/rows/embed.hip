// out[t] = table[token[t]]: rows of a quantized (layout of quant.h) or unquantized table, to f32.
//
// Launch: 1024 threads, a block a token: one takes few columns, as it waits for memory at each. A token of CHOSEN + i is the one that the step before left in
// chosen[i], i < choices, and is put in its place. Tokens at or past `vocab` (rows of a batch that are not used) give zeros.
// `form`: bits, then the kind of scales (enum Scales), then columns of a group.
#include "common/any_quant.h"

#define CHOSEN 0x80000000u
#define THREADS 1024

DEVICE u32 token_of(u32 *tokens, const u32 *chosen, u32 choices) {
    const u32 token = tokens[block_x()], i = token - CHOSEN;
    if (i >= choices) return token;
    barrier();
    const u32 choice = chosen[i];
    if (thread_x() == 0) tokens[block_x()] = choice;
    return choice;
}

DEVICE f32 weight(const u8 *unit, const AnyQuant &q, u32 row, u32 col) {
    const u32 code = any_codes(unit, q, row, col) >> 16 * (col % 2) & 0xffff;
    const AnyScale s = any_scale(unit, q, row, col);
    return s.scale * any_number(unit, q, code) + s.bias;
}

KERNEL(THREADS) void mlxrocm_embed_quant(const u8 *table, u32 *tokens, const u32 *chosen, f32 *out, u32 choices,
                                     u32 bits, u32 scales, u32 group, u32 vocab, u32 cols) {
    grid_dependency_launch();
    grid_dependency_wait();
    const AnyQuant q = any_quant(bits, scales, group);
    const u32 token = token_of(tokens, chosen, choices);
    for (u32 c = thread_x(); c < cols; c += THREADS) {
        const u64 at = any_unit(q, token / 16, c, cols);
        out[(u64)block_x() * cols + c] = token < vocab ? weight(table + at, q, token % 16, c % (q.unit * 64)) : 0.0f;
    }
}

#define EMBED_DENSE(NAME, T, GET)                                                                               \
    KERNEL(THREADS) void NAME(const T *table, u32 *tokens, const u32 *chosen, f32 *out, u32 choices, u32 vocab, \
                          u32 cols) {                                                                           \
        grid_dependency_launch();                                                                               \
        grid_dependency_wait();                                                                                 \
        const u32 token = token_of(tokens, chosen, choices);                                                    \
        for (u32 c = thread_x(); c < cols; c += THREADS)                                                            \
            out[(u64)block_x() * cols + c] = token < vocab ? GET(table[(u64)token * cols + c]) : 0.0f;          \
    }
EMBED_DENSE(mlxrocm_embed_f32, f32, )
EMBED_DENSE(mlxrocm_embed_f16, f16, to_f32)
EMBED_DENSE(mlxrocm_embed_bf16, bf16, to_f32)
