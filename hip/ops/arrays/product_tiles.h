// Tiles of 16-bit numbers for the matrix unit: a block's part of an operand lies in shared memory as rows of 64 numbers
// along k, whose pieces of 16 bytes are swapped so that neither writing nor reading meets one bank often.
#pragma once

#include "common/tile.h"
#include "product.h"

#define STEP 64

// An operand of an array: `outer` rows of `inner` numbers that lie side by side; WHOLE: in pieces of 16 bytes.
template <bool WHOLE> struct Plain16 {
    const u16 *x;
    i64 stride;
    u32 outer, inner;

    METHOD u32x4 piece(u32 row, u32 i) const {
        if (row >= outer || i >= inner) return u32x4{0, 0, 0, 0};
        const u16 *from = x + (i64)row * stride + i;
        if constexpr (WHOLE) return load16(from);
        if (inner - i >= 8 && ((u64)from & 15) == 0) return load16(from);
        u64 words[2] = {0, 0};
        _Pragma("unroll 1") for (u32 j = 0; j < minimum(inner - i, 8u); j++) {
            const u64 number = (u64)from[j] << (j % 4 * 16);
            words[0] |= j < 4 ? number : 0, words[1] |= j < 4 ? 0 : number;
        }
        return u32x4{(u32)words[0], (u32)(words[0] >> 32), (u32)words[1], (u32)(words[1] >> 32)};
    }
};
template <bool WHOLE> DEVICE Plain16<WHOLE> plain(const void *x, i64 first, i64 stride, u32 along, u32 from, u32 depth, u32 rows) {
    const u16 *begin = (const u16 *)x + first + (along ? from : from * stride);
    return {begin, stride, along ? rows : depth, along ? depth : rows};
}
template <bool IS_BF16> DEVICE u32 pair_16(f32 low, f32 high) {
    return IS_BF16 ? pack_bf16x2(low, high).bits : pack_f16x2(low, high).bits;
}
// An operand of codes.
template <bool IS_BF16> struct Coded16 {
    Codes codes;
    u32 outer;

    METHOD u32x4 piece(u32 row, u32 i) const {
        if (row >= outer || i >= codes.inner) return u32x4{0, 0, 0, 0};
        f32 v[8];
        codes.numbers<8>(row, i, v);
        return u32x4{pair_16<IS_BF16>(v[0], v[1]), pair_16<IS_BF16>(v[2], v[3]), pair_16<IS_BF16>(v[4], v[5]),
                     pair_16<IS_BF16>(v[6], v[7])};
    }
};

DEVICE u32 swap(u32 row, u32 piece) { return (piece ^ row ^ row / 8) % 8; }

// A thread's part of ROWS rows of a tile, on its way from memory to shared memory.
template <u32 ROWS> struct Side {
    static constexpr u32 PIECES = ROWS / 32, GROUPS = ROWS / 8;
    u32x4 pieces[PIECES];

    // Across k a thread takes two pieces of eight rows, at two neighbouring numbers of k.
    template <typename OPERAND> METHOD void load(const OPERAND &x, u32 along, u32 first, u32 k) {
        const u32 thread = thread_x();
        if (along) {
            UNROLL for (u32 i = 0; i < PIECES; i++)
                pieces[i] = x.piece(first + thread / 8 + 32 * i, k + thread % 8 * 8);
        } else {
            UNROLL for (u32 i = 0; i < PIECES; i++) {
                const u32 unit = thread + 256 * (i / 2);
                pieces[i] = x.piece(k + unit / GROUPS * 2 + i % 2, first + unit % GROUPS * 8);
            }
        }
    }
    METHOD void store(u16 *tile, u32 along) const {
        const u32 thread = thread_x();
        if (along) {
            UNROLL for (u32 i = 0; i < PIECES; i++) {
                const u32 row = thread / 8 + 32 * i;
                store16(tile + row * STEP + swap(row, thread % 8) * 8, pieces[i]);
            }
        } else {
            UNROLL for (u32 i = 0; i < PIECES; i += 2) {
                const u32 unit = thread + 256 * (i / 2), pair = unit / GROUPS;
                UNROLL for (u32 j = 0; j < 8; j++) {
                    const u32 row = unit % GROUPS * 8 + j;
                    const u32 low = word(pieces[i], j / 2) >> (j % 2 * 16) & 0xffff;
                    const u32 high = word(pieces[i + 1], j / 2) >> (j % 2 * 16);
                    ((u32 *)tile)[row * (STEP / 2) + swap(row, pair / 4) * 4 + pair % 4] = low | high << 16;
                }
            }
        }
    }
};

// A lane's part of 16 rows from `first` on, whose number is a multiple of 16; from number `k` on.
template <bool IS_A> DEVICE Tile16 tile_of(const u16 *tile, u32 first, u32 k) {
    Tile16 part;
    const u32 lane = lane_id(), from = k + tile_k(lane);
    UNROLL for (u32 i = 0; i < LANE_ROWS; i++) {
        const u32 row = first + (IS_A ? tile_a_row(lane, i) : tile_b_row(lane, i));
        const u16 *in_row = tile + row * STEP;
        u32 *r = part.r + i * (LANE_K / 2);
        if constexpr (LANE_K == 4) {
            const u32x2 v = load8(in_row + swap(row, from / 8) * 8 + from % 8);
            r[0] = v.x, r[1] = v.y;
        } else {
            UNROLL for (u32 j = 0; j < LANE_K / 8; j++) {
                const u32x4 v = load16(in_row + swap(row, from / 8 + j) * 8);
                r[4 * j] = v.x, r[4 * j + 1] = v.y, r[4 * j + 2] = v.z, r[4 * j + 3] = v.w;
            }
        }
    }
    return part;
}

// The sums of a block's ROWS by COLUMNS numbers over `depth`, and what becomes of each: finish(row, column, sum).
template <bool IS_BF16, u32 ROWS, u32 COLUMNS, typename A, typename B, typename FINISH>
DEVICE void multiply_tiles(const A &left, u32 left_along, const B &right, u32 right_along, u32 m, u32 n, u32 depth,
                           u32 first_row, u32 first_column, u16 *a, u16 *b, const FINISH &finish) {
    constexpr u32 WAVES = 256 / WAVE, DOWN = ROWS == 128 ? 2 : 4, ACROSS = WAVES / DOWN;
    constexpr u32 GROUPS = ROWS / 16 / DOWN, TILES = COLUMNS / 16 / ACROSS;
    const u32 wave = wave_id(), wave_row = wave % DOWN * 16, wave_column = wave / DOWN * TILES * 16;
    TileC sums[GROUPS][TILES];
    UNROLL for (u32 i = 0; i < GROUPS; i++) UNROLL for (u32 j = 0; j < TILES; j++) sums[i][j] = tile_zero();
    Side<ROWS> of_left;
    Side<COLUMNS> of_right;
    // What comes next is on its way while what is there is multiplied.
    for (u32 k = 0;; k += STEP) {
        if (k < depth) of_left.load(left, left_along, first_row, k), of_right.load(right, right_along, first_column, k);
        if (k > 0) {
            _Pragma("unroll 1") for (u32 i = 0; i < STEP; i += 16) {
                Tile16 columns[TILES];
                UNROLL for (u32 j = 0; j < TILES; j++) columns[j] = tile_of<false>(b, wave_column + j * 16, i);
                UNROLL for (u32 g = 0; g < GROUPS; g++) {
                    const Tile16 rows = tile_of<true>(a, wave_row + g * 16 * DOWN, i);
                    UNROLL for (u32 j = 0; j < TILES; j++)
                        IS_BF16 ? tile_multiply_bf16(sums[g][j], rows, columns[j]) : tile_multiply_f16(sums[g][j], rows, columns[j]);
                }
            }
        }
        barrier();
        if (k >= depth) break;
        of_left.store(a, left_along), of_right.store(b, right_along);
        barrier();
    }
    const u32 lane = lane_id();
    UNROLL for (u32 g = 0; g < GROUPS; g++) UNROLL for (u32 j = 0; j < TILES; j++) UNROLL for (u32 i = 0; i < TILE_C; i++) {
        const u32 row = first_row + wave_row + g * 16 * DOWN + tile_c_row(lane, i);
        const u32 column = first_column + wave_column + j * 16 + tile_c_column(lane, i);
        if (row < m && column < n) finish(row, column, sums[g][j].c[i]);
    }
}
