// Weights as they lie in a file, to the tiles of quant.h: nothing is computed anew, codes and scales are only moved.
//
// A launch takes rows of one matrix: `rows` of them, of `stride` bytes each, in runs of `run` that begin `jump` rows apart, into
// `tiles` tiles (rows past the last are codes and scales of 0) of which each is `step` tiles after the one before (2: gate
// and up by turns). Rows of `scales` and `biases`, of formats that keep them apart, have `scale_stride` bytes. `peak` is
// raised to a bound of the weights' absolute values, as bits: numbers that are not negative are ordered as their bits are.
//
// A format F says what a row holds:
//   F::BITS               bits of a code
//   F::KIND               its scales (enum Scales), or ANY_KIND: as the launch says
//   F::quad(row, q)       the codes of columns 4·q to 4·q + 3, one a byte
//   F::scale(row, kind, group)   what is stored for a group of the file's `group` columns:
//      pairs, point scale, bias or zero point: their bits
//      zero         d; power, float8: the byte; single: the bits
//      super zero   d, s           super min   d | dmin << 16, s | m << 8
//      tables       d, s
//
// For tables `scales` is what the host knows of the codes: the table (16 bytes), what the numbers of one of 16 are
// multiplied with (f32), 12 bytes of nothing, and the grid's entries, if there is one (words of src/formats/quantization/grid.rs).
//
// Launch: 256 threads; grid: the blocks of 64 columns (of whole units) of all tiles, eight a block: a team of 32 lanes
// makes each, a lane the codes that it would have in a product.
#pragma once

#include "common/any_quant.h"
#include "common/reduce.h"

#define ANY_KIND 99
#define TEAMS 8

// What a launch is given.
struct Pack {
    const u8 *data, *scales, *biases;
    u8 *out;
    u32 *peak;
    u32 rows, cols, tiles, step, stride, scale_stride, run, jump, kind, group;
};

struct FileRow {
    const u8 *data, *scales, *biases;
};

DEVICE FileRow file_row(const Pack &p, u32 row) {
    const u64 place = row / p.run * p.jump + row % p.run, scale = place * p.scale_stride;
    return FileRow{p.data + place * p.stride, p.scales + scale, p.biases ? p.biases + scale : nullptr};
}

DEVICE u32 load2(const u8 *from) { return *(const u16 *)from; }
// Four bytes from any address on. Up to seven more than are asked for are read: parts of a piece have room for them.
DEVICE u32 load4_any(const u8 *from) {
    const u32 *words = (const u32 *)((u64)from & ~3ull);
    return (u32)(((u64)words[1] << 32 | words[0]) >> ((u64)from & 3) * 8);
}

// Writes a plane of BITS bits, from bit SHIFT on, of a block: `quads` are the lane's codes, [step][row g, row g + 8].
template <int BITS, int SHIFT> DEVICE void put_plane(u8 *plane, u32 block, u32 lane, const u32 (&quads)[8]) {
    constexpr u32 MASK = (1u << BITS) - 1;
    u32 words[BITS] = {};
    UNROLL for (int i = 0; i < 8; i++) {
        const u32 q = quads[i] >> SHIFT & MASK * 0x01010101u;
        UNROLL for (int half = 0; half < 2; half++) {
            const int pair = i / 2 * 4 + i % 2 + 2 * half;
            const u32 two = half ? q >> 16 : q & 0xffff;
            words[pair * BITS / 16] |= ((two & 0xff) | (two & 0xff00) << 8) << pair * BITS % 16;
        }
    }
    const u32 at = block * BITS;
    u8 *to = plane + at / 4 * 512 + lane * 16 + at % 4 * 4;
    if constexpr (BITS == 1) *(u32 *)to = words[0];
    if constexpr (BITS == 2) store8(to, u32x2{words[0], words[1]});
    if constexpr (BITS >= 4) {
        UNROLL for (int v = 0; v < BITS / 4; v++)
            store16(to + v * 512, u32x4{words[4 * v], words[4 * v + 1], words[4 * v + 2], words[4 * v + 3]});
    }
}

// Writes what is stored for row `row` (of the tile) of a group (of the unit), `groups` being where the unit's begin.
DEVICE void put_scale(u8 *groups, u32 kind, u32 group, u32 row, u32x2 stored) {
    const u32 g = row % 8, high_row = row / 8;
    if (kind == PAIR_F32) {
        store8(groups + group * 128 + g * 16 + high_row * 8, stored);
    } else if (kind == PAIR_F16 || kind == PAIR_BF16 || kind == POINT) {
        *(u32 *)(groups + group * 64 + g * 8 + high_row * 4) = stored.x | stored.y << 16;
    } else if (kind == SINGLE) {
        *(u32 *)(groups + group * 64 + g * 8 + high_row * 4) = stored.x;
    } else if (kind == ZERO) {
        *(u16 *)(groups + group * 32 + g * 4 + high_row * 2) = (u16)stored.x;
    } else if (kind == SUPER_ZERO || kind == TABLE8) {
        groups[group * 16 + g * 2 + high_row] = (u8)stored.y;
    } else if (kind == POWER || kind == FLOAT8) {
        groups[group * 16 + g * 2 + high_row] = (u8)stored.x;
    } else {
        *(u16 *)(groups + group * 32 + g * 4 + high_row * 2) = (u16)stored.y;
    }
}
// The same of the numbers of a K-quant's 256 columns.
DEVICE void put_super(u8 *supers, u32 kind, u32 row, u32x2 stored) {
    const u32 g = row % 8, high_row = row / 8;
    if (kind == SUPER_ZERO || kind == TABLE16 || kind == TABLE8) *(u16 *)(supers + g * 4 + high_row * 2) = (u16)stored.x;
    if (kind == SUPER_MIN) *(u32 *)(supers + g * 8 + high_row * 4) = stored.x;
}

// The largest absolute value of a table's numbers.
DEVICE f32 table_most(const u8 *table) {
    i32 most = 0;
    for (u32 i = 0; i < 16; i++) most = maximum(most, maximum((i32)(i8)table[i], -(i32)(i8)table[i]));
    return (f32)most;
}
// Whether one of four bytes is an e4m3 number that is none.
DEVICE bool any_nan(u32 bytes) { return (((bytes & 0x7f7f7f7fu) + 0x01010101u) & 0x80808080u) != 0; }

// The largest absolute value that a code may come to (`most`: of a table's numbers); what is no number counts as 0, 8-bit
// floats that are none as infinite.
DEVICE f32 bound(u32 bits, u32 kind, u32x2 stored, f32 most_number) {
    if (kind == POWER) {
        // 6 or 448 times 2^(byte − 127), without numbers below the normal ones on the way.
        const u32 byte = stored.x, up = bits == 8 ? 8 : 2;
        return bits_f32(byte + up >= 255 ? 0x7f800000u : (byte + up) << 23 | (bits == 8 ? 3u << 21 : 1u << 22));
    }
    if (kind == FLOAT8) return any_nan(stored.x) ? bits_f32(0x7f800000u) : 6.0f * absolute(e4m3_number(stored.x));
    if (kind == SINGLE) return maximum(0.0f, absolute(bits_f32(stored.x)) * 448.0f);
    if (kind == TABLE16 || kind == TABLE8) {
        const f32 sub = kind == TABLE16 ? low(f16x2{stored.y}) : (f32)(i8)stored.y * 0.125f;
        return maximum(0.0f, absolute(low(f16x2{stored.x}) * sub) * most_number);
    }
    f32 scale, bias;
    const f32 d = low(f16x2{stored.x});
    if (kind == PAIR_F32) {
        scale = bits_f32(stored.x), bias = bits_f32(stored.y);
    } else if (kind == PAIR_BF16) {
        scale = bits_f32(stored.x << 16), bias = bits_f32(stored.y << 16);
    } else if (kind == PAIR_F16) {
        scale = d, bias = low(f16x2{stored.y});
    } else if (kind == POINT) {
        scale = d, bias = -(d * low(f16x2{stored.y}));
    } else if (kind == SUPER_MIN) {
        scale = d * (f32)(stored.y & 0xff), bias = -(high(f16x2{stored.x}) * (f32)(stored.y >> 8));
    } else {
        const f32 zero = kind == ZERO ? (f32)(1u << (bits - 1)) : bits == 6 ? 32.0f : 4.0f;
        scale = kind == ZERO ? d : d * (f32)(i8)stored.y;
        bias = -(scale * zero);
    }
    // Rounded as the host rounds it.
    const f32 most = product(scale, (f32)((1u << bits) - 1)) + bias;
    return maximum(maximum(0.0f, absolute(most)), absolute(bias));
}

// Whether some code is an e4m3 number that is none.
template <typename F> DEVICE bool pack_codes(const Pack &p, u8 *unit, u32 blocks, u32 tile, u32 block, u32 lane) {
    using Q = Quant<F::BITS, ZERO, 32>;
    u32 quads[8];
    bool is_nan = false;
    UNROLL for (u32 i = 0; i < 8; i++) {
        const u32 row = tile * TILE_ROWS + lane / 4 + i % 2 * 8;
        const u32 col = block * BLOCK_COLS + i / 4 * 32 + lane % 4 * 8 + i / 2 % 2 * 4;
        quads[i] = row < p.rows && col < p.cols ? F::quad(file_row(p, row), col / 4) : 0;
        if constexpr (F::BITS == 8) is_nan |= any_nan(quads[i]);
    }
    put_plane<Q::FIRST, 0>(unit, block % blocks, lane, quads);
    if constexpr (Q::SECOND > 0)
        put_plane<Q::SECOND, Q::FIRST>(unit + blocks * Q::FIRST * 128, block % blocks, lane, quads);
    return is_nan;
}

template <typename F> DEVICE void pack(const Pack &p) {
    const u32 kind = F::KIND == ANY_KIND ? p.kind : F::KIND;
    const u32 most_group = kind == PAIR_F32 ? 32 : kind == TABLE8 ? 16 : 64;
    const u32 group = minimum(p.group, most_group), a_block = BLOCK_COLS / group;
    const AnyQuant q = any_quant(F::BITS, kind, group);
    const u32 units = divide_up(p.cols, q.unit * BLOCK_COLS), blocks = units * q.unit;
    const u32 item = block_x() * TEAMS + thread_x() / TEAM, lane = thread_x() % TEAM;
    const u32 tile = item / blocks, block = item % blocks;
    f32 most = 0.0f;
    if (tile < p.tiles) {
        u8 *unit = p.out + ((u64)tile * p.step * units + block / q.unit) * q.unit_bytes;
        const bool is_nan = pack_codes<F>(p, unit, q.unit, tile, block, lane);
        if (is_nan && any_e4m3(F::BITS, kind)) most = bits_f32(0x7f800000u);
        u8 *scales = unit + q.code_bytes;
        f32 most_number = 0.0f;
        if (kind == TABLE16 || kind == TABLE8) {
            most_number = table_most(p.scales);
            if (block % q.unit == 0 && lane == 0) store16(unit + q.unit_bytes - 16, load16(p.scales));
        }
        for (u32 i = lane; i < a_block * TILE_ROWS; i += TEAM) {
            const u32 row = i % TILE_ROWS, col = block * BLOCK_COLS + i / TILE_ROWS * group;
            u32x2 stored = {};
            if (tile * TILE_ROWS + row < p.rows && col < p.cols) {
                stored = F::scale(file_row(p, tile * TILE_ROWS + row), kind, col / p.group);
                most = maximum(most, bound(F::BITS, kind, stored, most_number));
            }
            put_scale(scales + q.super_bytes, kind, block % q.unit * a_block + i / TILE_ROWS, row, stored);
            if (block % q.unit == 0 && i < TILE_ROWS) put_super(scales, kind, row, stored);
        }
    }
    most = wave_max(most);
    if (lane_id() == 0 && most > 0.0f) atomic_max(p.peak, f32_bits(most));
}

#define PACK_KERNEL(NAME, ...)                                                                                     \
    KERNEL(256) void NAME(const u8 *data, const u8 *scales, const u8 *biases, u32 *peak, u8 *out, u32 rows, u32 cols, \
                          u32 tiles, u32 step, u32 stride, u32 scale_stride, u32 run, u32 jump, u32 kind,             \
                          u32 group) {                                                                                \
        pack<__VA_ARGS__>(Pack{data, scales, biases, out, peak, rows, cols, tiles, step, stride, scale_stride, run,   \
                               jump, kind, group});                                                                   \
    }
