// GPTQ and AWQ, 4 bits, to tiles: see pack.h. The files hold the transposed matrix, so a launch takes some columns of all its
// rows: `count` of them, from column `first` on, both multiples of 64 and of the group.
//
// Words are 32 bits of eight codes, the lowest first: of GPTQ eight columns of a row, [columns / 8][rows], of AWQ eight rows
// of a column, [columns][rows / 8], in the order 0 2 4 6 1 3 5 7. Zero points are [groups][rows / 8], packed along the rows
// (AWQ in its order; GPTQ's first version less one); scales are f16 [groups][rows].
//
// Launch: 256 threads; grid: the blocks of 64 columns of all tiles, eight a block, as there.
#include "pack.h"

// `PLUS`: what is added to a zero point.
template <int PLUS> struct Gptq {
    DEVICE u32 quad(const u8 *words, u32 rows, u32 row, u32 col) {
        const u32 four = load4(words + ((u64)(col / 8) * rows + row) * 4) >> col % 8 * 4;
        return (four & 15) | (four >> 4 & 15) << 8 | (four >> 8 & 15) << 16 | (four >> 12 & 15) << 24;
    }
    DEVICE u32 zero(const u8 *zeros, u32 rows, u32 row, u32 group) {
        return (load4(zeros + ((u64)group * (rows / 8) + row / 8) * 4) >> row % 8 * 4 & 15) + PLUS;
    }
};
struct Awq {
    // The nibble of a row in its word.
    DEVICE u32 of_row(const u8 *words, u64 at, u32 row) { return load4(words + at * 4) >> (row % 2 * 4 + row % 8 / 2) * 4 & 15; }
    DEVICE u32 quad(const u8 *words, u32 rows, u32 row, u32 col) {
        u32 codes = 0;
        UNROLL for (u32 i = 0; i < 4; i++) codes |= of_row(words, (u64)(col + i) * (rows / 8) + row / 8, row) << 8 * i;
        return codes;
    }
    DEVICE u32 zero(const u8 *zeros, u32 rows, u32 row, u32 group) {
        return of_row(zeros, (u64)group * (rows / 8) + row / 8, row);
    }
};

// What is stored: scale and zero point, or scale and bias.
DEVICE u32x2 point(u32 kind, u32 scale, u32 zero) {
    if (kind == POINT) return u32x2{scale, to_f16((f32)zero).bits};
    const f32 number = low(f16x2{scale});
    return u32x2{f32_bits(number), f32_bits(-number * (f32)zero)};
}

template <typename F> DEVICE void pack_transposed(const Pack &p, u32 first, u32 count) {
    const u32 group = minimum(p.group, p.kind == PAIR_F32 ? 32u : 64u), a_block = BLOCK_COLS / group;
    const AnyQuant q = any_quant(4, p.kind, group);
    const u32 units = divide_up(p.cols, BLOCK_COLS), blocks = divide_up(count, BLOCK_COLS);
    const u32 item = block_x() * TEAMS + thread_x() / TEAM, lane = thread_x() % TEAM;
    const u32 tile = item / blocks, block = item % blocks;
    f32 most = 0.0f;
    if (tile < p.tiles) {
        u8 *unit = p.out + ((u64)tile * p.step * units + first / BLOCK_COLS + block) * q.unit_bytes;
        u32 quads[8];
        UNROLL for (u32 i = 0; i < 8; i++) {
            const u32 row = tile * TILE_ROWS + lane / 4 + i % 2 * 8;
            const u32 col = block * BLOCK_COLS + i / 4 * 32 + lane % 4 * 8 + i / 2 % 2 * 4;
            quads[i] = row < p.rows && col < count ? F::quad(p.data, p.rows, row, col) : 0;
        }
        put_plane<4, 0>(unit, 0, lane, quads);
        for (u32 i = lane; i < a_block * TILE_ROWS; i += TEAM) {
            const u32 row = tile * TILE_ROWS + i % TILE_ROWS, col = block * BLOCK_COLS + i / TILE_ROWS * group;
            u32x2 stored = {};
            if (row < p.rows && col < count) {
                const u32 of = col / p.group;
                stored = point(p.kind, load2(p.scales + ((u64)of * p.rows + row) * 2), F::zero(p.biases, p.rows, row, of));
                most = maximum(most, bound(4, p.kind, stored, 0.0f));
            }
            put_scale(unit + q.code_bytes, p.kind, i / TILE_ROWS, i % TILE_ROWS, stored);
        }
    }
    most = wave_max(most);
    if (lane_id() == 0 && most > 0.0f) atomic_max(p.peak, f32_bits(most));
}

#define TRANSPOSED_KERNEL(NAME, ...)                                                                                   \
    KERNEL(256) void NAME(const u8 *data, const u8 *scales, const u8 *zeros, u32 *peak, u8 *out, u32 rows, u32 cols,   \
                          u32 tiles, u32 step, u32 first, u32 count, u32 kind, u32 group) {                            \
        pack_transposed<__VA_ARGS__>(Pack{data, scales, zeros, out, peak, rows, cols, tiles, step, 0, 0, 1, 1, kind, group}, \
                                     first, count);                                                                    \
    }
TRANSPOSED_KERNEL(mlxrocm_pack_gptq, Gptq<1>)
TRANSPOSED_KERNEL(mlxrocm_pack_gptq_v2, Gptq<0>)
TRANSPOSED_KERNEL(mlxrocm_pack_awq, Awq)
