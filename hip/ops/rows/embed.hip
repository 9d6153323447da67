// out[t] = table[token[t]]: rows of a quantized (layout of quant.h) or unquantized table, to f32.
//
// Launch: 1024 threads, a block a token: one takes few columns, as it waits for memory at each. A token of CHOSEN + i is the one that the step before left in
// chosen[i], i < choices, and is put in its place. Tokens at or past `vocab` (rows of a batch that are not used) give zeros.
// `form`: bits, then the kind of scales (enum Scales), then columns of a group.
#include "common/quant.h"

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

// One weight, for any format: what the matrix kernels know at compile time is computed here.
struct AnyQuant {
    u32 bits, scales, group, first, second, unit, unit_bytes, code_bytes, group_bytes, super_bytes;
};

DEVICE AnyQuant any_quant(u32 bits, u32 scales, u32 group) {
    AnyQuant q = {};
    q.bits = bits, q.scales = scales, q.group = group;
    q.first = bits == 3 ? 2 : bits == 5 || bits == 6 ? 4 : bits;
    q.second = bits - q.first;
    const bool super = scales == SUPER_ZERO || scales == SUPER_MIN;
    q.unit = super || q.second == 1 ? 4 : q.first == 2 || q.second == 2 ? 2 : 1;
    q.code_bytes = q.unit * bits * 128;
    q.group_bytes = scales == PAIR_F32 ? 128 : scales == ZERO ? 32 : scales == SUPER_ZERO ? 16 : scales == SUPER_MIN ? 32 : 64;
    q.super_bytes = scales == SUPER_ZERO ? 32 : scales == SUPER_MIN ? 64 : 0;
    q.unit_bytes = q.code_bytes + q.super_bytes + q.unit * 64 / group * q.group_bytes;
    return q;
}

DEVICE u32 plane_code(const u8 *plane, u32 bits, u32 lane, u32 pair, u32 odd) {
    const u32 a_word = 16 / bits, at = pair / a_word;
    const u32 word = *(const u32 *)(plane + (at / 4) * 512 + lane * 16 + at % 4 * 4);
    return word >> (bits * (pair % a_word) + 16 * odd) & ((1u << bits) - 1);
}

DEVICE f32 weight(const u8 *unit, const AnyQuant &q, u32 row, u32 col) {
    // `row` within the tile, `col` within the unit.
    const u32 g = row % 8, high_row = row / 8, in = col % 32, t = in / 8, e = in % 8;
    const u32 lane = g * 4 + t, pair = col / 32 * 8 + e / 4 * 4 + e % 4 / 2 * 2 + high_row;
    u32 code = plane_code(unit, q.first, lane, pair, e % 2);
    if (q.second) code |= plane_code(unit + q.unit * q.first * 128, q.second, lane, pair, e % 2) << q.first;
    const u8 *scales = unit + q.code_bytes;
    const u32 group = col / q.group;
    f32 scale, bias;
    if (q.scales == PAIR_F32) {
        const f32 *s = (const f32 *)(scales + group * 128 + g * 16 + high_row * 8);
        scale = s[0], bias = s[1];
    } else if (q.scales == PAIR_F16 || q.scales == PAIR_BF16) {
        const u32 s = *(const u32 *)(scales + group * 64 + g * 8 + high_row * 4);
        scale = q.scales == PAIR_F16 ? low(f16x2{s}) : low(bf16x2{s});
        bias = q.scales == PAIR_F16 ? high(f16x2{s}) : high(bf16x2{s});
    } else if (q.scales == ZERO) {
        scale = to_f32(*(const f16 *)(scales + group * 32 + g * 4 + high_row * 2));
        bias = -scale * (f32)(1u << (q.bits - 1));
    } else if (q.scales == SUPER_ZERO) {
        const f32 d = to_f32(*(const f16 *)(scales + g * 4 + high_row * 2));
        scale = d * (f32) * (const i8 *)(scales + 32 + group * 16 + g * 2 + high_row);
        bias = -scale * (q.bits == 6 ? 32.0f : 4.0f);
    } else {
        const u32 d = *(const u32 *)(scales + g * 8 + high_row * 4);
        const u8 *sub = scales + 64 + group * 32 + g * 4 + high_row * 2;
        scale = low(f16x2{d}) * (f32)sub[0];
        bias = -(high(f16x2{d}) * (f32)sub[1]);
    }
    return scale * (f32)code + bias;
}

KERNEL(THREADS) void mlxrocm_embed_quant(const u8 *table, u32 *tokens, const u32 *chosen, f32 *out, u32 choices,
                                     u32 bits, u32 scales, u32 group, u32 vocab, u32 cols) {
    grid_dependency_launch();
    grid_dependency_wait();
    const AnyQuant q = any_quant(bits, scales, group);
    const u32 token = token_of(tokens, chosen, choices), units = (cols + q.unit * 64 - 1) / (q.unit * 64);
    for (u32 c = thread_x(); c < cols; c += THREADS) {
        const u64 at = ((u64)(token / 16) * units + c / (q.unit * 64)) * q.unit_bytes;
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
