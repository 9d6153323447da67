// Products of many rows x with a constant matrix W, and convolutions of boards by kernels of 3x3:
//
//   y[r][o] = f(Σ_t Σ_c W[o][t][c] · x[r + t][c] + bias[o] + residual[r][o])
//
// One tap t without convolution. With nine, rows are squares of boards of 8x8, and x[r + t] is the square beside
// r in the tap's direction, zeros outside of the board.
//
// x: row r at `item` · (r / item_rows) + `first` + (r % item_rows) · cols. W: f16 tiles of 128 columns of y by 64 of
// x, [columns / 128][tap][cols / 64][TILE_BYTES], rounded up with zeros; a tile has rows of 128 bytes whose pieces
// of 16 bytes are swapped: piece i of row r lies at i ^ (r % 8). bias: f32 or null. residual: as y or null.
#pragma once

#include "ops/network/numbers.h"

#define TILE_BYTES 16384
#define STEP_COLS 64

template <typename T, typename W> struct NetworkProduct {
    const T *x;
    const W *weights;
    const f32 *bias;
    const T *residual;
    T *y; // [rows][columns]
    u32 rows, item_rows, item, first, cols, columns, taps, activation;

    // Where row `r` begins.
    METHOD u64 row_start(u32 r) const {
        return (u64)(r / item_rows) * item + first + (u64)(r % item_rows) * cols;
    }
    // What is added to the sum of number `o` of row `r`, besides the bias.
    METHOD f32 beside(u32 r, u32 o) const { return residual ? to_f32(residual[(u64)r * columns + o]) : 0.0f; }
    // Stores number `o` of row `r`.
    METHOD void store(u32 r, u32 o, f32 v) const { put(y + (u64)r * columns + o, v); }
};
typedef NetworkProduct<f16, u8> ProductF16;
#define PRODUCT_PARAMETERS(T, W)                                                                             \
    const T *x, const W *weights, const f32 *bias, const T *residual, T *y, u32 rows, u32 item_rows, u32 item, \
        u32 first, u32 cols, u32 columns, u32 taps, u32 activation
#define PRODUCT_ARGUMENTS \
    {x, weights, bias, residual, y, rows, item_rows, item, first, cols, columns, taps, activation}

// The distance in rows of the square beside square `r` in a tap's direction, and whether it is on the board.
DEVICE i32 tap_rows(u32 tap) { return ((i32)tap / 3 - 1) * 8 + (i32)tap % 3 - 1; }
DEVICE bool tap_is_there(u32 r, u32 tap) {
    const u32 row = r / 8 % 8 + tap / 3, column = r % 8 + tap % 3;
    return row >= 1 && row <= 8 && column >= 1 && column <= 8;
}
