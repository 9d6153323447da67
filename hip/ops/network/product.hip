// Products of networks in f16 (product.h) by the matrix unit, sums in f32 in the order of taps and columns of x,
// whatever the block is: a row gets the same bits in any batch.
//
// Launch: 256 threads; grid (columns / COLUMNS, rows / ROWS), rounded up, so that
// blocks that share rows of x run together: 128 by 128, and 64 by 32 where that gives
// too few blocks. For every 64 columns of a tap the block's rows of x and its part of a tile of W lie in shared
// memory, pieces swapped as W's are; what comes next is loaded to registers meanwhile. A wave makes every
// WAVES_DOWN-th group of 16 rows of its tiles.
#include "common/tile.h"
#include "ops/network/product.h"

// A lane's part of 16 rows of 64 numbers with swapped pieces, from number `k` on. `first` is a row whose number is
// a multiple of 8.
template <bool IS_A> DEVICE Tile16 swapped_tile(const u16 *first, u32 k) {
    Tile16 tile;
    const u32 lane = lane_id(), from = k + tile_k(lane);
    UNROLL for (u32 row = 0; row < LANE_ROWS; row++) {
        const u32 index = IS_A ? tile_a_row(lane, row) : tile_b_row(lane, row);
        const u16 *in_row = first + index * STEP_COLS;
        u32 *r = tile.r + row * (LANE_K / 2);
        if constexpr (LANE_K == 4) {
            const u32x2 v = load8(in_row + ((from / 8 ^ index % 8) * 8 + from % 8));
            r[0] = v.x, r[1] = v.y;
        } else {
            UNROLL for (u32 i = 0; i < LANE_K / 8; i++) {
                const u32x4 v = load16(in_row + (((from / 8 + i) ^ index % 8) * 8));
                r[4 * i] = v.x, r[4 * i + 1] = v.y, r[4 * i + 2] = v.z, r[4 * i + 3] = v.w;
            }
        }
    }
    return tile;
}

// Eight numbers of a row from `column` on, zeros past its end.
DEVICE u32x4 load_piece(const ProductF16 &p, u64 row, u32 column) {
    if (column >= p.cols) return u32x4{0, 0, 0, 0};
    if (p.cols % 8 == 0 && (p.first | p.item) % 8 == 0) return load16(p.x + row + column);
    u32 words[4];
    UNROLL for (u32 i = 0; i < 4; i++) {
        const u32 at = column + 2 * i;
        const u32 low = at < p.cols ? p.x[row + at].bits : 0, high = at + 1 < p.cols ? p.x[row + at + 1].bits : 0;
        words[i] = low | high << 16;
    }
    return u32x4{words[0], words[1], words[2], words[3]};
}

template <u32 ROWS, u32 COLUMNS> DEVICE void multiply(const ProductF16 &p, u16 *xs, u16 *ws) {
    constexpr u32 WAVES = 256 / WAVE, WAVES_DOWN = ROWS == 128 ? 2 : 4, WAVES_ACROSS = WAVES / WAVES_DOWN;
    constexpr u32 GROUPS = ROWS / 16 / WAVES_DOWN, TILES = COLUMNS / 16 / WAVES_ACROSS;
    constexpr u32 X_PIECES = ROWS / 32, W_PIECES = COLUMNS / 32;
    const u32 thread = thread_x(), piece = thread % 8, wave = uniform(thread / WAVE);
    const u32 first_row = block_y() * ROWS, first_column = block_x() * COLUMNS;
    const u32 across = divide_up(p.cols, STEP_COLS), steps = p.taps * across;
    const u8 *weights = p.weights + (u64)(first_column / 128) * steps * TILE_BYTES + first_column % 128 * 128;
    u64 starts[X_PIECES];
    UNROLL for (u32 i = 0; i < X_PIECES; i++) {
        const u32 row = first_row + thread / 8 + 32 * i;
        starts[i] = p.row_start(row < p.rows ? row : p.rows - 1);
    }
    u32x4 x[X_PIECES], w[W_PIECES];
    u32 tap = 0, column = 0;
    auto load = [&](u32 step) {
        UNROLL for (u32 i = 0; i < X_PIECES; i++) {
            const u32 row = first_row + thread / 8 + 32 * i;
            const bool there = p.taps == 1 || tap_is_there(row, tap);
            const u64 start = p.taps == 1 ? starts[i] : starts[i] + (i64)tap_rows(tap) * (i64)p.cols;
            x[i] = there && row < p.rows ? load_piece(p, start, column + piece * 8) : u32x4{0, 0, 0, 0};
        }
        UNROLL for (u32 i = 0; i < W_PIECES; i++)
            w[i] = load16(weights + (u64)step * TILE_BYTES + (thread + 256 * i) * 16);
        column += STEP_COLS;
        if (column >= p.cols) column = 0, tap++;
    };
    TileC sums[GROUPS][TILES];
    UNROLL for (u32 m = 0; m < GROUPS; m++) UNROLL for (u32 n = 0; n < TILES; n++) sums[m][n] = tile_zero();
    const u32 wave_row = wave % WAVES_DOWN * 16, wave_tile = wave / WAVES_DOWN * TILES;
    load(0);
    for (u32 step = 0; step < steps; step++) {
        barrier();
        UNROLL for (u32 i = 0; i < X_PIECES; i++) {
            const u32 row = thread / 8 + 32 * i;
            store16(xs + row * STEP_COLS + ((piece ^ row % 8) * 8), x[i]);
        }
        UNROLL for (u32 i = 0; i < W_PIECES; i++) store16(ws + (thread + 256 * i) * 8, w[i]);
        barrier();
        if (step + 1 < steps) load(step + 1);
        _Pragma("unroll 1") for (u32 k = 0; k < STEP_COLS; k += 16) {
            Tile16 tiles[TILES];
            UNROLL for (u32 n = 0; n < TILES; n++)
                tiles[n] = swapped_tile<false>(ws + (wave_tile + n) * 16 * STEP_COLS, k);
            UNROLL for (u32 m = 0; m < GROUPS; m++) {
                const Tile16 rows = swapped_tile<true>(xs + (wave_row + m * 16 * WAVES_DOWN) * STEP_COLS, k);
                UNROLL for (u32 n = 0; n < TILES; n++) tile_multiply_f16(sums[m][n], rows, tiles[n]);
            }
        }
    }
    const u32 lane = lane_id();
    UNROLL for (u32 n = 0; n < TILES; n++) UNROLL for (u32 m = 0; m < GROUPS; m++) {
        f32 *v = sums[m][n].c;
        const u32 first_of_m = first_row + wave_row + m * 16 * WAVES_DOWN, first_of_n = first_column + (wave_tile + n) * 16;
        UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const u32 r = first_of_m + tile_c_row(lane, i), o = first_of_n + tile_c_column(lane, i);
            const bool there = r < p.rows && o < p.columns;
            v[i] += (p.bias && there ? p.bias[o] : 0.0f) + (there ? p.beside(r, o) : 0.0f);
        }
        activate<TILE_C>(v, p.activation);
        UNROLL for (u32 i = 0; i < TILE_C; i++) {
            const u32 r = first_of_m + tile_c_row(lane, i), o = first_of_n + tile_c_column(lane, i);
            if (r < p.rows && o < p.columns) p.store(r, o, v[i]);
        }
    }
}

#define PRODUCT_KERNEL(NAME, ROWS, COLUMNS)                                                   \
    KERNEL(256) void NAME(PRODUCT_PARAMETERS(f16, u8)) {                                      \
        SHARED __attribute__((aligned(16))) u16 xs[ROWS * STEP_COLS], ws[COLUMNS * STEP_COLS]; \
        grid_dependency_launch();                                                             \
        grid_dependency_wait();                                                               \
        multiply<ROWS, COLUMNS>(PRODUCT_ARGUMENTS, xs, ws);                                   \
    }
PRODUCT_KERNEL(mlxrocm_network_product, 128, 128)
PRODUCT_KERNEL(mlxrocm_network_product_small, 64, 32)
