// Quantized weights as the GPU kernels take them: the file's own codes and scales, only moved.
//
// A matrix [rows, cols] is cut into *tiles* of 16 rows and *blocks* of 64 columns. A tile is worked
// on by a *team* of 32 lanes: lane 4·g + t (g < 8, t < 4) has rows g and g+8 of the tile and, of
// every 32 columns, the columns 8t … 8t+7. Its codes of a block are 16 pairs of neighbouring columns;
// pair i (i < 4) of step s (s < 4) is
//
//   row g + 8·(i % 2), columns 32·(s / 2) + 8t + 4·(s % 2) + 2·(i / 2) and the next.
//
// So a step is one A fragment of an m16n8k16 matrix product (with the columns of a product in the
// order above), and what a lane needs of x is 16 bytes of f16 for every 32 columns.
//
// Codes lie in planes: bits 2, 4, 8 have one, 3 = 2+1, 5 = 4+1, 6 = 4+2. A plane of b bits packs
// 16/b pairs into each 32-bit word: pair p (in order of block, step, i) of a lane is
// (word >> b·(p % (16/b))) & mask of its word p / (16/b), the even column in the low 16 bits, the odd
// one in the high 16 bits. All planes are read 16 bytes a lane.
//
// Blocks are grouped into *units*, as many as one 16-byte read of the thinnest plane spans, or one
// group of scales, or the 256 columns of a K-quant. A matrix is
//
//   [tile][unit][first plane: vector][lane][16 bytes] [second plane …] [scales]
//
// padded at the end of rows and columns by codes and scales of 0. The scales of a unit:
//
//   pairs (f16, bf16, f32):  [group][g][row g, row g+8][scale, bias]            w = scale·q + bias
//   zero:                    [group][g][row g, row g+8] f16                     w = d·(q − zero)
//   super zero:              [g][2 rows] f16 d, [group][g][2 rows] i8 s         w = d·s·(q − zero)
//   super min:               [g][2 rows][d, dmin] f16, [group][g][2 rows][s, m] u8
//                                                                         w = d·s·q − dmin·m
//   power:                   [group][g][2 rows] u8                        w = 2^(s − 127) · value(q)
//   point:                   as pairs of f16: scale, zero                 w = scale·(q − zero)
//   float8:                  [group][g][2 rows] u8                        w = e4m3(s) · value(q)
//   single:                  [group][g][2 rows] f32                       w = s · value(q)
//   table of 16:             [g][2 rows] f16 d, [group][g][2 rows] f16 s, [16] i8
//                                                                         w = d·s·table[q]
//   table of 8:              the same with i8 s, [8] i8 and 8 bytes of nothing
//                                                                         w = d·s/8·table[q]
//
// Values of 8 bits with powers and singles are e4m3 numbers (one sign bit, four of exponent, three of mantissa), those of 4
// bits e2m1 numbers: 0, 0.5, 1, 1.5, 2, 3, 4, 6. Of these kernels take twice the number and half the scale. The table is
// the same in all units of a matrix.
#pragma once

#include "platform.h"

#define TILE_ROWS 16
#define BLOCK_COLS 64
#define TEAM 32

enum Scales { PAIR_F16, PAIR_BF16, PAIR_F32, ZERO, SUPER_ZERO, SUPER_MIN, POWER, POINT, FLOAT8, SINGLE, TABLE16, TABLE8 };

template <int BITS_, int SCALES_, int GROUP_> struct Quant {
    static constexpr int BITS = BITS_, SCALES = SCALES_;
    // Columns that share their scales: 16, 32 or 64 (groups of 128 are stored as two of 64).
    static constexpr int GROUP = GROUP_;
    static constexpr int FIRST = BITS == 3 ? 2 : BITS == 5 || BITS == 6 ? 4 : BITS;
    static constexpr int SECOND = BITS - FIRST;
    static constexpr bool TABLE = SCALES == TABLE16 || SCALES == TABLE8;
    static constexpr bool SUPER = SCALES == SUPER_ZERO || SCALES == SUPER_MIN || TABLE;
    // What codes are, if neither numbers nor places in a table.
    static constexpr bool E4M3 = BITS == 8 && (SCALES == POWER || SCALES == SINGLE);
    static constexpr bool E2M1 = BITS == 4 && (SCALES == POWER || SCALES == FLOAT8);
    // Blocks of a unit.
    static constexpr int UNIT = SUPER || SECOND == 1 ? 4 : FIRST == 2 || SECOND == 2 ? 2 : 1;
    static constexpr int FIRST_VECTORS = UNIT * FIRST / 4, SECOND_VECTORS = UNIT * SECOND / 4;
    // The zero point that is no part of the file's scales.
    static constexpr f32 ZERO_POINT = SCALES == ZERO ? (f32)(1 << (BITS - 1)) : BITS == 6 ? 32.0f : 4.0f;
    // Bytes of the scales of a group, and of those of a K-quant's 256 columns.
    static constexpr int GROUP_BYTES = SCALES == PAIR_F32 ? 128
                                       : SCALES == ZERO || SCALES == SUPER_MIN || SCALES == TABLE16 ? 32
                                       : SCALES == SUPER_ZERO || SCALES == TABLE8 ? 16
                                       : SCALES == POWER || SCALES == FLOAT8      ? 16
                                                                                  : 64;
    static constexpr int SUPER_BYTES = SCALES == SUPER_ZERO || TABLE ? 32 : SCALES == SUPER_MIN ? 64 : 0;
    static constexpr int CODE_BYTES = (FIRST_VECTORS + SECOND_VECTORS) * TEAM * 16;
    static constexpr int UNIT_BYTES =
        CODE_BYTES + SUPER_BYTES + UNIT * BLOCK_COLS / GROUP * GROUP_BYTES + (TABLE ? 16 : 0);
};

// The table that codes are places of; of other forms it is not read.
struct Table {
    u32 words[4];
};
// `weights`: any unit of the matrix, the same for all lanes.
template <typename Q> DEVICE Table table_of(const u8 *weights) {
    Table table = {};
    if constexpr (Q::TABLE) {
        const u32x4 v = load16(weights + Q::UNIT_BYTES - 16);
        UNROLL for (u32 i = 0; i < 4; i++) table.words[i] = uniform(word(v, i));
    }
    return table;
}
// Four codes, one a byte, as the table's signed bytes.
template <typename Q> DEVICE u32 table_bytes(const Table &table, u32 codes) {
    if constexpr (Q::SCALES == TABLE8) return byte_select(table.words[1], table.words[0], codes);
    const u32 low = byte_select(table.words[1], table.words[0], codes & 0x07070707u);
    const u32 high = byte_select(table.words[3], table.words[2], codes & 0x07070707u);
    const u32 fourth = codes & 0x08080808u, mask = (fourth << 5) - (fourth >> 3);
    return (low & ~mask) | (high & mask);
}

// 2^(byte - 128); for the smallest byte 0.
DEVICE f32 half_power(u32 byte) { return bits_f32(byte << 23) * 0.5f; }
// Twice the numbers of four e2m1 codes, one a byte, as signed bytes.
DEVICE u32 e2m1_bytes(u32 codes) {
    const u32 sizes = byte_select(0x0c080604u, 0x03020100u, codes & 0x07070707u);
    const u32 negative = byte_select(0xf4f8fafcu, 0xfdfeff00u, codes & 0x07070707u);
    const u32 signs = codes & 0x08080808u, mask = (signs << 5) - (signs >> 3);
    return (sizes & ~mask) | (negative & mask);
}
#if PLATFORM_NVIDIA
// The same of the codes of a word's quad of row g + 8h. prmt selects by nibbles, as codes lie; where a nibble's fourth bit is
// set, it gives the sign of what it selects, here 0. So one selects the positive numbers, one the negative ones.
DEVICE u32 e2m1_quad(u32 codes, int h) {
    auto half = [&](u32 shift) {
        const u32 positive = nibble_select(0x0c080604u, 0x03020100u, codes >> shift);
        const u32 negative = nibble_select(0x0c080604u, 0x03020100u, (codes ^ 0x88888888u) >> shift);
        return ((positive | 0x80808080u) - negative) ^ 0x80808080u;
    };
    return byte_select(half(16), half(0), h ? 0x07050301u : 0x06040200u);
}
#endif
// The same of one code; and of a pair's, in the low and the high 16 bits, as f16: their bits are an exponent and a
// mantissa, 2^15 too small.
DEVICE f32 e2m1_number(u32 code) {
    const u32 m = code & 7, size = m < 2 ? m : (2 + (m & 1)) << ((m >> 1) - 1);
    return code & 8 ? -(f32)size : (f32)size;
}
DEVICE f16x2 e2m1_pair(u32 codes) {
    return mul(f16x2{(codes & 0x00070007u) << 9 | (codes & 0x00080008u) << 12}, f16x2{0x78007800u});
}
// e4m3 numbers in the low and the high 16 bits as f16: their bits are, 2^8 too small. NaN is 480.
DEVICE f16x2 e4m3_pair(u32 codes) {
    return mul(f16x2{(codes & 0x007f007fu) << 7 | (codes & 0x00800080u) << 8}, f16x2{0x5c005c00u});
}
DEVICE f32 e4m3_number(u32 code) { return low(e4m3_pair(code)); }

// Scale and bias of a lane's two rows for one group: w = scale·q + bias.
struct GroupScale {
    f32 scale[2], bias[2];
};

// The same as it is stored, so that it can be loaded ahead.
struct ScaleWords {
    u32 words[4];
};

// Reads the scales of group `group` (in its unit) from the unit's scales.
template <typename Q, typename P> DEVICE ScaleWords scale_words(P scales, u32 group, u32 g) {
    ScaleWords w = {};
    if constexpr (Q::GROUP_BYTES == 64) {
        const u32x2 v = *(const u32x2 *)(scales + group * 64 + g * 8);
        w.words[0] = v.x, w.words[1] = v.y;
    } else if constexpr (Q::SCALES == PAIR_F32) {
        const u32x4 v = *(const u32x4 *)(scales + group * 128 + g * 16);
        w.words[0] = v.x, w.words[1] = v.y, w.words[2] = v.z, w.words[3] = v.w;
    } else if constexpr (Q::SCALES == ZERO) {
        w.words[0] = *(const u32 *)(scales + group * 32 + g * 4);
    } else if constexpr (Q::SCALES == SUPER_ZERO || Q::SCALES == TABLE8) {
        w.words[0] = *(const u32 *)(scales + g * 4);
        w.words[1] = *(const u16 *)(scales + 32 + group * 16 + g * 2);
    } else if constexpr (Q::SCALES == POWER || Q::SCALES == FLOAT8) {
        w.words[0] = *(const u16 *)(scales + group * 16 + g * 2);
    } else if constexpr (Q::SCALES == TABLE16) {
        w.words[0] = *(const u32 *)(scales + g * 4);
        w.words[1] = *(const u32 *)(scales + 32 + group * 32 + g * 4);
    } else {
        const u32x2 d = *(const u32x2 *)(scales + g * 8);
        w.words[0] = d.x, w.words[1] = d.y;
        w.words[2] = *(const u32 *)(scales + 64 + group * 32 + g * 4);
    }
    return w;
}

// What the words say.
template <typename Q> DEVICE GroupScale decode_scale(const ScaleWords &w) {
    GroupScale s;
    if constexpr (Q::SCALES == PAIR_F16 || Q::SCALES == PAIR_BF16) {
        const u32x2 v = {w.words[0], w.words[1]};
        if constexpr (Q::SCALES == PAIR_F16) {
            s.scale[0] = low(f16x2{v.x}), s.bias[0] = high(f16x2{v.x});
            s.scale[1] = low(f16x2{v.y}), s.bias[1] = high(f16x2{v.y});
        } else {
            s.scale[0] = low(bf16x2{v.x}), s.bias[0] = high(bf16x2{v.x});
            s.scale[1] = low(bf16x2{v.y}), s.bias[1] = high(bf16x2{v.y});
        }
    } else if constexpr (Q::SCALES == PAIR_F32) {
        s.scale[0] = bits_f32(w.words[0]), s.bias[0] = bits_f32(w.words[1]);
        s.scale[1] = bits_f32(w.words[2]), s.bias[1] = bits_f32(w.words[3]);
    } else if constexpr (Q::SCALES == ZERO) {
        const f16x2 d = {w.words[0]};
        s.scale[0] = low(d), s.scale[1] = high(d);
        s.bias[0] = -Q::ZERO_POINT * s.scale[0], s.bias[1] = -Q::ZERO_POINT * s.scale[1];
    } else if constexpr (Q::SCALES == SUPER_ZERO) {
        const f16x2 d = {w.words[0]};
        const u32 sub = w.words[1];
        s.scale[0] = low(d) * (f32)(i8)(sub & 0xff), s.scale[1] = high(d) * (f32)(i8)(sub >> 8);
        s.bias[0] = -Q::ZERO_POINT * s.scale[0], s.bias[1] = -Q::ZERO_POINT * s.scale[1];
    } else if constexpr (Q::SCALES == POWER) {
        UNROLL for (u32 h = 0; h < 2; h++)
            s.scale[h] = half_power(w.words[0] >> 8 * h & 0xff) * (Q::E2M1 ? 1.0f : 2.0f), s.bias[h] = 0.0f;
    } else if constexpr (Q::SCALES == FLOAT8) {
        const f16x2 both = e4m3_pair((w.words[0] & 0xff) | (w.words[0] & 0xff00) << 8);
        s.scale[0] = 0.5f * low(both), s.scale[1] = 0.5f * high(both);
        s.bias[0] = s.bias[1] = 0.0f;
    } else if constexpr (Q::SCALES == SINGLE) {
        UNROLL for (u32 h = 0; h < 2; h++) s.scale[h] = bits_f32(w.words[h]), s.bias[h] = 0.0f;
    } else if constexpr (Q::SCALES == POINT) {
        UNROLL for (u32 h = 0; h < 2; h++) {
            const f16x2 pair = {w.words[h]};
            s.scale[h] = low(pair), s.bias[h] = -low(pair) * high(pair);
        }
    } else if constexpr (Q::SCALES == TABLE8) {
        const f16x2 d = {w.words[0]};
        s.scale[0] = low(d) * ((f32)(i8)(w.words[1] & 0xff) * 0.125f);
        s.scale[1] = high(d) * ((f32)(i8)(w.words[1] >> 8) * 0.125f);
        s.bias[0] = s.bias[1] = 0.0f;
    } else if constexpr (Q::SCALES == TABLE16) {
        const f16x2 d = {w.words[0]}, sub = {w.words[1]};
        s.scale[0] = low(d) * low(sub), s.scale[1] = high(d) * high(sub);
        s.bias[0] = s.bias[1] = 0.0f;
    } else {
        const u32x2 d = {w.words[0], w.words[1]};
        const u32 sub = w.words[2];
        s.scale[0] = low(f16x2{d.x}) * (f32)(sub & 0xff);
        s.bias[0] = -high(f16x2{d.x}) * (f32)(sub >> 8 & 0xff);
        s.scale[1] = low(f16x2{d.y}) * (f32)(sub >> 16 & 0xff);
        s.bias[1] = -high(f16x2{d.y}) * (f32)(sub >> 24);
    }
    return s;
}

// A pair of a lane, counted through the unit, out of the vectors of a plane of BITS bits.
template <int BITS> DEVICE u32 plane_pair(const u32x4 *vectors, int pair) {
    constexpr int A_WORD = 16 / BITS;
    constexpr u32 MASK = (1u << BITS) - 1;
    const int at = pair / A_WORD;
    return word(vectors[at / 4], at % 4) >> (BITS * (pair % A_WORD)) & (MASK | MASK << 16);
}

// The values of a pair's codes (of e2m1 twice the numbers) as f16, exactly: 1024 + q has q in its low bits.
template <typename Q> DEVICE f16x2 pair_f16(const Table &table, const u32x4 *first, const u32x4 *second, int pair) {
    const f16x2 magic = {0x64006400u};
    if constexpr (Q::E2M1) return e2m1_pair(plane_pair<Q::FIRST>(first, pair));
    if constexpr (Q::E4M3) return e4m3_pair(plane_pair<Q::FIRST>(first, pair));
    // Of numbers with a sign: 1024 + (v + 128) − 1152.
    const f16x2 middle = {0x64806480u};
    if constexpr (Q::SCALES == TABLE16) {
        // The pair after the next is of the same four columns: one look-up is for both.
        const u32 quad = word(first[pair / 16], pair / 4 % 4) >> (4 * (pair % 2)) & 0x0f0f0f0fu;
        const u32 bytes = (table_bytes<Q>(table, quad) ^ 0x80808080u) >> (8 * (pair % 4 / 2));
        return sub(f16x2{and_or(bytes, 0x00ff00ffu, magic.bits)}, middle);
    }
    if constexpr (Q::BITS == 4) {
        // Every second pair is taken where it stands, as 16·q, which saves a shift.
        const u32 bits = word(first[pair / 16], pair / 4 % 4) >> (8 * (pair % 4 / 2));
        if (pair % 2 == 0) return sub(f16x2{and_or(bits, 0x000f000fu, magic.bits)}, magic);
        return mul_add(f16x2{and_or(bits, 0x00f000f0u, magic.bits)}, f16x2{0x2c002c00u}, f16x2{0xd400d400u});
    }
    u32 q = plane_pair<Q::FIRST>(first, pair);
    if constexpr (Q::SECOND > 0) q |= plane_pair<Q::SECOND>(second, pair) << Q::FIRST;
    if constexpr (Q::SCALES == TABLE8)
        return sub(f16x2{and_or(table_bytes<Q>(table, q) ^ 0x80808080u, 0x00ff00ffu, magic.bits)}, middle);
    return sub(f16x2{q | magic.bits}, magic);
}

// A lane's codes of one block: the words of each plane.
template <typename Q> struct BlockCodes {
    u32 first[Q::FIRST], second[Q::SECOND + 1];
};

// What a step of the block has of row g + 8h, out of a plane of BITS bits: its four columns as bytes, in the
// order 0, 2, 1, 3.
template <int BITS> DEVICE u32 plane_quad(const u32 *words, int step, int h) {
    const int pair = step * 4 + h;
    const u32 bits = words[pair * BITS / 16] >> pair * BITS % 16;
    if constexpr (BITS == 4) return bits & 0x0f0f0f0fu;
    // The pairs of columns 0, 1 and 2, 3 lie 2 · BITS apart.
    if constexpr (BITS == 2) return ((bits & 0x00330033u) | (bits & 0x00330033u) << 4) & 0x03030303u;
    if constexpr (BITS == 1) return ((bits & 0x00050005u) | (bits & 0x00050005u) << 6) & 0x01010101u;
    if constexpr (BITS == 8) return byte_select(words[step * 2 + 1], words[step * 2], h ? 0x07030501u : 0x06020400u);
}

// The values of a quad, signed: codes of 8 bits less 128, of e2m1 twice the numbers. e4m3 numbers are no bytes.
template <typename Q> DEVICE u32 quad(const Table &table, const BlockCodes<Q> &codes, int step, int h) {
    static_assert(!Q::E4M3);
#if PLATFORM_NVIDIA
    if constexpr (Q::E2M1) return e2m1_quad(codes.first[step], h);
#endif
    u32 q = plane_quad<Q::FIRST>(codes.first, step, h);
    if constexpr (Q::SECOND > 0) q |= plane_quad<Q::SECOND>(codes.second, step, h) << Q::FIRST;
    if constexpr (Q::E2M1) return e2m1_bytes(q);
    if constexpr (Q::TABLE) return table_bytes<Q>(table, q);
    return Q::BITS == 8 ? q ^ 0x80808080u : q;
}

// An e4m3 pair of a block, counted through it.
template <typename Q> DEVICE f16x2 e4m3_of(const BlockCodes<Q> &codes, int pair) {
    return e4m3_pair(codes.first[pair / 2] >> (8 * (pair % 2)) & 0x00ff00ffu);
}

// Scale and bias of what `quad` gives.
template <typename Q> DEVICE GroupScale quad_scale(const ScaleWords &words) {
    GroupScale s = decode_scale<Q>(words);
    if constexpr (Q::BITS == 8 && !Q::E4M3) {
        UNROLL for (u32 h = 0; h < 2; h++) s.bias[h] = mul_add(128.0f, s.scale[h], s.bias[h]);
    }
    return s;
}
