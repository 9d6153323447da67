// Quantized weights (the layout of quant.h) of any format: what the matrix kernels know at compile time is
// computed here.
#pragma once

#include "quant.h"

struct AnyQuant {
    u32 bits, scales, group, first, second, unit, unit_bytes, code_bytes, group_bytes, super_bytes;
};

// `bits`, the kind of scales (enum Scales), columns of a group.
DEVICE AnyQuant any_quant(u32 bits, u32 scales, u32 group) {
    AnyQuant q = {};
    q.bits = bits, q.scales = scales, q.group = group;
    q.first = bits == 3 ? 2 : bits == 5 || bits == 6 ? 4 : bits;
    q.second = bits - q.first;
    const bool table = scales == TABLE16 || scales == TABLE8, super = scales == SUPER_ZERO || scales == SUPER_MIN || table;
    const bool byte = scales == SUPER_ZERO || scales == POWER || scales == FLOAT8 || scales == TABLE8;
    q.unit = super || q.second == 1 ? 4 : q.first == 2 || q.second == 2 ? 2 : 1;
    q.code_bytes = q.unit * bits * 128;
    q.group_bytes = scales == PAIR_F32 ? 128 : byte ? 16 : scales == ZERO || scales == SUPER_MIN || scales == TABLE16 ? 32 : 64;
    q.super_bytes = scales == SUPER_ZERO || table ? 32 : scales == SUPER_MIN ? 64 : 0;
    q.unit_bytes = q.code_bytes + q.super_bytes + q.unit * 64 / group * q.group_bytes + (table ? 16 : 0);
    return q;
}

// Bytes of the units of a tile before column `col`, rounded down to a whole unit.
DEVICE u64 any_unit(const AnyQuant &q, u32 tile, u32 col, u32 cols) {
    const u32 units = (cols + q.unit * 64 - 1) / (q.unit * 64);
    return ((u64)tile * units + col / (q.unit * 64)) * q.unit_bytes;
}

// A pair of a lane, counted through the unit, out of one plane.
DEVICE u32 any_plane(const u8 *plane, u32 bits, u32 lane, u32 pair) {
    const u32 a_word = 16 / bits, at = pair / a_word, mask = (1u << bits) - 1;
    const u32 word = *(const u32 *)(plane + (at / 4) * 512 + lane * 16 + at % 4 * 4);
    return word >> (bits * (pair % a_word)) & (mask | mask << 16);
}

// The codes of row `row` (within the tile) at column `col` (within the unit, even) and the next: in the low
// and the high 16 bits.
DEVICE u32 any_codes(const u8 *unit, const AnyQuant &q, u32 row, u32 col) {
    const u32 e = col % 8, lane = row % 8 * 4 + col % 32 / 8, pair = col / 32 * 8 + e / 4 * 4 + e % 4 / 2 * 2 + row / 8;
    u32 codes = any_plane(unit, q.first, lane, pair);
    if (q.second) codes |= any_plane(unit + q.unit * q.first * 128, q.second, lane, pair) << q.first;
    return codes;
}

// Whether codes of such scales are 8-bit floats.
DEVICE bool any_e4m3(u32 bits, u32 scales) { return scales == SINGLE || (scales == POWER && bits == 8); }

// The number of a code of a unit, and the codes of a pair as f16: what `any_scale` is of.
DEVICE f32 any_number(const u8 *unit, const AnyQuant &q, u32 code) {
    if (any_e4m3(q.bits, q.scales)) return e4m3_number(code);
    if (q.scales == POWER || q.scales == FLOAT8) return e2m1_number(code);
    const bool table = q.scales == TABLE16 || q.scales == TABLE8;
    return table ? (f32)((const i8 *)(unit + q.unit_bytes - 16))[code] : (f32)code;
}
DEVICE f16x2 any_pair(const u8 *unit, const AnyQuant &q, u32 codes) {
    return pack_f16x2(any_number(unit, q, codes & 0xffff), any_number(unit, q, codes >> 16));
}

// Their scale and bias: w = scale·q + bias.
struct AnyScale {
    f32 scale, bias;
};

DEVICE AnyScale any_scale(const u8 *unit, const AnyQuant &q, u32 row, u32 col) {
    const u32 g = row % 8, high_row = row / 8, group = col / q.group;
    const u8 *scales = unit + q.code_bytes;
    AnyScale s;
    if (q.scales == PAIR_F32) {
        const f32 *v = (const f32 *)(scales + group * 128 + g * 16 + high_row * 8);
        s.scale = v[0], s.bias = v[1];
    } else if (q.scales == PAIR_F16 || q.scales == PAIR_BF16) {
        const u32 v = *(const u32 *)(scales + group * 64 + g * 8 + high_row * 4);
        s.scale = q.scales == PAIR_F16 ? low(f16x2{v}) : low(bf16x2{v});
        s.bias = q.scales == PAIR_F16 ? high(f16x2{v}) : high(bf16x2{v});
    } else if (q.scales == ZERO) {
        s.scale = to_f32(*(const f16 *)(scales + group * 32 + g * 4 + high_row * 2));
        s.bias = -s.scale * (f32)(1u << (q.bits - 1));
    } else if (q.scales == SUPER_ZERO) {
        const f32 d = to_f32(*(const f16 *)(scales + g * 4 + high_row * 2));
        s.scale = d * (f32) * (const i8 *)(scales + 32 + group * 16 + g * 2 + high_row);
        s.bias = -s.scale * (q.bits == 6 ? 32.0f : 4.0f);
    } else if (q.scales == POWER || q.scales == FLOAT8) {
        const u32 byte = scales[group * 16 + g * 2 + high_row];
        s.scale = q.scales == FLOAT8 ? 0.5f * e4m3_number(byte) : half_power(byte) * (q.bits == 8 ? 2.0f : 1.0f);
        s.bias = 0.0f;
    } else if (q.scales == SINGLE) {
        s.scale = *(const f32 *)(scales + group * 64 + g * 8 + high_row * 4), s.bias = 0.0f;
    } else if (q.scales == POINT) {
        const f16x2 pair = {*(const u32 *)(scales + group * 64 + g * 8 + high_row * 4)};
        s.scale = low(pair), s.bias = -low(pair) * high(pair);
    } else if (q.scales == TABLE16 || q.scales == TABLE8) {
        const f32 d = to_f32(*(const f16 *)(scales + g * 4 + high_row * 2));
        const u8 *subs = scales + 32 + (group * 16 + g * 2 + high_row) * (q.scales == TABLE16 ? 2 : 1);
        s.scale = d * (q.scales == TABLE16 ? to_f32(*(const f16 *)subs) : (f32)*(const i8 *)subs * 0.125f);
        s.bias = 0.0f;
    } else {
        const u32 d = *(const u32 *)(scales + g * 8 + high_row * 4);
        const u8 *sub = scales + 64 + group * 32 + g * 4 + high_row * 2;
        s.scale = low(f16x2{d}) * (f32)sub[0];
        s.bias = -(high(f16x2{d}) * (f32)sub[1]);
    }
    return s;
}
